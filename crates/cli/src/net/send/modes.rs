//! The modes of `layercast send`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgMatches, Args as _};
use layercast_transport::finding::is_sdp;
use layercast_transport::send::modes::{ROWS, SendMode, is_announced};

use crate::modes::{Fact, Mode, Table};
use crate::net::send::arguments::Send;

pub(crate) static SEND: Table<SendMode> = Table {
    command: "send",
    arguments: Send::augment_args,
    default: SendMode::Files,
    modes: &[
        Mode { mode: SendMode::Files, by: "", name: "PATH" },
        Mode { mode: SendMode::Stream, by: "stream", name: "--stream" },
        Mode { mode: SendMode::Reliable, by: "reliable", name: "--reliable" },
    ],
    facts: &[Fact { name: "described", text: "an announcement or --describe FILE.sdp", holds: is_described }],
    rows: ROWS,
};

/// Whether receivers can learn relays.
fn is_described(matches: &ArgMatches) -> bool {
    let group = matches.get_one::<SocketAddr>("group");
    let describes = matches.get_one::<PathBuf>("describe");
    let (announce, no_announce) = (matches.get_flag("announce"), matches.get_flag("no_announce"));
    describes.is_some_and(|path| is_sdp(path))
        || group.is_some_and(|group| is_announced(*group, announce, no_announce))
}
