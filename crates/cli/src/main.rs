//! The `layercast` command, with Layercast's own protocols.

use std::process::ExitCode;

use layercast_cli::BuiltIn;

fn main() -> ExitCode {
    layercast_cli::main::<BuiltIn>("layercast")
}
