//! An independent reader of packets: the dissectors of Wireshark.

use std::path::Path;
use std::process::Command;

use crate::skip::{Missing, skip};

/// Fields of every packet of a capture as tshark prints them, with the ALC dissector at a UDP port and further arguments.
/// None, and the test is shown as skipped, if there is no tshark.
///
/// # Panics
/// If tshark fails, or writes something other than UTF-8.
pub fn dissected(file: &Path, port: u16, arguments: &[&str], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(file).args(["-d", &format!("udp.port=={port},alc"), "-T", "fields"]);
    command.args(arguments).args(fields.iter().flat_map(|field| ["-e", field]));
    match command.output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let lines = String::from_utf8(done.stdout).unwrap_or_else(|error| panic!("tshark: {error}"));
            Some(lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
        }
        Err(error) => {
            skip(Missing::Tshark, format!("no tshark here, which would read our packets: {error}"));
            None
        }
    }
}
