//! The `layercast` command as a library: all its commands, for the protocols of any family.
//!
//! A program with protocols of its own is one line; `examples/outside` is one:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use layercast_cli::BuiltIn;
//!
//! fn main() -> ExitCode {
//!     // A family of its own joins Layercast's by `Union<Own, BuiltIn>`.
//!     layercast_cli::main::<BuiltIn>("my-program")
//! }
//! ```
//!
//! Of what is listed here other families have no part, and the command says so: `explore`, the emulated world
//! (`run --world emulated`, `agree`), `sweep --on`, and `send` and `receive` with `--stream` or `--reliable`.
//!
//! The folders: `lab` has the commands of the laboratory, `net` those of sessions on real networks, `emulator` the emulated
//! world and what it runs, `doc` what packages install. `missing` takes the place of `net` and `emulator` where they are
//! not built.

mod command_line;
mod doc;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod emulator;
#[cfg(not(all(feature = "emulator", target_os = "linux")))]
#[path = "missing/emulator.rs"]
mod emulator;
mod failure;
mod lab;
mod log;
#[cfg_attr(
    not(all(feature = "transport", target_os = "linux")),
    allow(dead_code, reason = "rules between flags are those of sessions")
)]
mod modes;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod net;
#[cfg(not(all(feature = "transport", target_os = "linux")))]
#[path = "missing/net.rs"]
mod net;
mod output;
mod program;
mod progress;
mod scenario;

use std::process::ExitCode;

use layercast_core::family::Family;
pub use layercast_laboratory::BuiltIn;

/// Runs the command that the arguments of this process name, with the protocols of a family. The commands that results name,
/// to repeat them, begin with `program`.
///
/// The exit status is 0: done, 1: failed, 2: wrong usage or input. `emulate` keeps that of the command it runs. Wrong usage ends
/// the process.
pub fn main<F: Family>(program: &'static str) -> ExitCode {
    command_line::execute(
        std::env::args_os(),
        &command_line::program::<F>(program),
        &net::Transfers::of::<F>(),
    )
}
