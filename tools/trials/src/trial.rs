//! The trials of our own programs: each a module with its options, run by `layercast-trials NAME`.

pub mod amca;
pub mod crowd;
pub mod forged;
pub mod kills;
pub mod links;
pub mod losses;
pub mod share;
pub mod soak;
pub mod storm;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use clap::Args;

/// What all trials have in common.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// The command to try [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,

    /// Where results are added
    #[arg(long, value_name = "DIR", default_value = "results/trials")]
    pub out: PathBuf,

    /// The seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The port of the trials' groups.
const PORT: u16 = 5500;
/// The port for reports, where a trial must know it.
const FEEDBACK: u16 = 5600;

/// The options of sessions whose layers are fixed, as the results of these trials have them.
const FIXED: [&str; 3] = ["--no-announce", "--control", "elm"];

/// The base layer's group of a session in an emulated network.
pub fn group(number: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(239, 1, number, 0), PORT)
}
