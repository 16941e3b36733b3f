//! Layercast with one protocol more: all its commands, with PLM next to the built-in protocols.

use std::process::ExitCode;

use layercast_cli::BuiltIn;
use layercast_core::family::Union;
use layercast_outside::Outside;

fn main() -> ExitCode {
    layercast_cli::main::<Union<Outside, BuiltIn>>("layercast-outside")
}
