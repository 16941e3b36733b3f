//! What fuzzing runs on each input: the readers of packets and texts that come from outside.
//!
//! Each function takes any bytes and panics if a reader panics, or if what a reader accepts does not come
//! back after it is written. The targets in `fuzz/` call them with inputs of the fuzzer; a test of this
//! crate calls them with the files of `fuzz/corpus`, so that a mistake once found stays found without it.

mod announcements;
mod packets;
mod relays;
mod security;
mod texts;

pub use announcements::{announcement, session_url};
pub use packets::{amca, lct, object_table, package, report, with_checksum};
pub use relays::{amt, relay};
pub use security::{PROTECTED_TSI, protection, schemes, signed};
pub use texts::{SWEPT, scenario, session, sweep_axis};

/// A target: its name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets. Each has a file in `fuzz/fuzz_targets` and a folder in `fuzz/corpus`.
pub const TARGETS: [Target; 14] = [
    ("lct", lct),
    ("report", report),
    ("object_table", object_table),
    ("package", package),
    ("session", session),
    ("scenario", scenario),
    ("sweep_axis", sweep_axis),
    ("amca", amca),
    ("protection", protection),
    ("signed", signed),
    ("announcement", announcement),
    ("session_url", session_url),
    ("relay", relay),
    ("amt", amt),
];
