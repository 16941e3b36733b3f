//! The tools, and how each is used: with the options that its manual offers for such a transfer.

use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::process::Place;
use crate::program::Program;
use crate::trial::group;

/// A tool that sends files by multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Our own.
    Layercast,
    /// UFTP 4.10: `uftp` and `uftpd`.
    Uftp,
    /// NORM (RFC 5740) by libnorm, with the small program of tools/trials/norm.
    Norm,
    /// udpcast: `udp-sender` and `udp-receiver`.
    Udpcast,
}

/// Programs that are not found by their name.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// Our own command.
    pub(super) ours: Program,
    /// The program of tools/trials/norm.
    pub(super) norm: Option<PathBuf>,
}

/// What a transfer is like.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The file to send.
    pub(super) file: PathBuf,
    /// The rates of layers in Mbit/s; a tool of one rate takes the first.
    pub(super) mbps: Vec<f64>,
    /// How many receivers are there from the start.
    pub(super) receivers: usize,
    /// A group key, for tools that have one.
    pub(super) key: Option<PathBuf>,
    /// Where a sender may keep its state.
    pub(super) state: PathBuf,
}

/// The group of announcements and the group of data, for tools with two.
const GROUPS: [&str; 2] = ["239.1.9.1", "239.1.9.2"];
/// The port of NORM's session.
const NORM_PORT: &str = "6003";
const TTL: &str = "8";

impl Tool {
    /// All of them.
    pub const ALL: [Tool; 4] = [Tool::Layercast, Tool::Uftp, Tool::Norm, Tool::Udpcast];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Layercast => "layercast",
            Tool::Uftp => "UFTP",
            Tool::Norm => "NORM",
            Tool::Udpcast => "udpcast",
        }
    }

    /// What is missing here to use it.
    pub(super) fn missing(self, programs: &Programs) -> Option<String> {
        let lacks = |names: &[&str]| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let is_there =
                |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
            names.iter().find(|name| !is_there(name)).map(|name| format!("no {name}"))
        };
        match self {
            Tool::Layercast => None,
            Tool::Uftp => lacks(&["uftp", "uftpd"]),
            Tool::Norm if programs.norm.as_ref().is_some_and(|path| path.is_file()) => None,
            Tool::Norm => Some("no norm-file: libnorm-dev and `make peers` build it".to_owned()),
            Tool::Udpcast => lacks(&["udp-sender", "udp-receiver"]),
        }
    }

    /// Where data of a session goes, for who wants to disturb it.
    pub(super) fn data_group(self) -> SocketAddrV4 {
        match self {
            Tool::Layercast => group(9),
            Tool::Uftp => SocketAddrV4::new([239, 1, 9, 2].into(), 1044),
            Tool::Norm => SocketAddrV4::new([239, 1, 9, 1].into(), 6003),
            Tool::Udpcast => SocketAddrV4::new([239, 1, 9, 2].into(), 9000),
        }
    }

    /// The command of a sender.
    pub(super) fn sender(self, programs: &Programs, setting: &Setting, place: &Place) -> Command {
        let rate = setting.mbps.first().copied().unwrap_or(1.0);
        let interface = place.interface();
        let file = setting.file.display().to_string();
        let kbps = format!("{:.0}", rate * 1e3);
        match self {
            Tool::Layercast => {
                let rates: Vec<String> = setting.mbps.iter().map(|mbps| format!("{mbps} Mbit/s")).collect();
                let mut command = programs.ours.command(&["send", &file, "--group", &group(9).to_string()]);
                command.args([
                    "--interface",
                    interface,
                    "--rates",
                    &rates.join(","),
                    "--packet",
                    "1400 bytes",
                ]);
                command.args(["--no-announce", "--control", "elm", "--state"]).arg(&setting.state);
                with_key(command, setting)
            }
            // Without a time-out of its own it waits for clients for about ten seconds.
            Tool::Uftp => {
                let mut command = Command::new("uftp");
                command
                    .args(["-I", interface, "-t", TTL, "-M", GROUPS[0], "-P", GROUPS[1], "-R", &kbps, &file]);
                command
            }
            Tool::Norm => {
                let mut command = Command::new(programs.norm.clone().unwrap_or_default());
                command.args(["send", &file, GROUPS[0], NORM_PORT, interface, &format!("{:.0}", rate * 1e6)]);
                command
            }
            Tool::Udpcast => {
                let mut command = Command::new("udp-sender");
                command.args(["--file", &file, "--interface", interface, "--ttl", TTL, "--nokbd"]);
                command.args(["--mcast-rdv-address", GROUPS[0], "--mcast-data-address", GROUPS[1]]);
                command.args(["--max-bitrate", &format!("{kbps}k"), "--fec", "8x8/128", "--no-progress"]);
                command.args(["--min-receivers", &setting.receivers.to_string(), "--max-wait", "15"]);
                // With one receiver it would send by unicast.
                command.arg("--nopointopoint");
                // Its hello may be sent before the network has a path to the receivers.
                command.args(["--rexmit-hello-interval", "1000"]);
                command
            }
        }
    }

    /// The command of a receiver, which puts the file into a folder under its own name.
    pub(super) fn receiver(
        self,
        programs: &Programs,
        setting: &Setting,
        place: &Place,
        into: &Path,
    ) -> Command {
        let interface = place.interface();
        let path = into.display().to_string();
        match self {
            Tool::Layercast => {
                let mut command = programs.ours.command(&["receive", "--group", &group(9).to_string()]);
                command.args(["--interface", interface, "--into", &path]);
                with_key(command, setting)
            }
            // In the foreground; what is not complete stays in a folder of its own.
            Tool::Uftp => {
                let mut command = Command::new("uftpd");
                let temporary = format!("{path}/temporary");
                let _ = std::fs::create_dir_all(&temporary);
                command.args(["-d", "-I", interface, "-M", GROUPS[0], "-D", &path, "-T", &temporary]);
                command
            }
            Tool::Norm => {
                let mut command = Command::new(programs.norm.clone().unwrap_or_default());
                command.args(["receive", &path, GROUPS[0], NORM_PORT, interface]);
                command
            }
            Tool::Udpcast => {
                let mut command = Command::new("udp-receiver");
                let name = setting.file.file_name().unwrap_or_default();
                command.arg("--file").arg(into.join(name));
                command.args(["--interface", interface, "--ttl", TTL, "--nokbd", "--no-progress"]);
                command.args(["--mcast-rdv-address", GROUPS[0]]);
                command
            }
        }
    }
}

fn with_key(mut command: Command, setting: &Setting) -> Command {
    if let Some(key) = &setting.key {
        command.arg("--group-key").arg(key);
    }
    command
}
