//! The modes of `layercast receive`.

use clap::{ArgMatches, Args as _};
use layercast_delivery::announce::flute::FLUTE_SCHEME;
use layercast_transport::receive::modes::{ROWS, ReceiveMode};

use crate::modes::{Fact, Mode, Table};
use crate::net::finding::is_description;
use crate::net::receive::arguments::Receive;

pub(crate) static RECEIVE: Table<ReceiveMode> = Table {
    command: "receive",
    arguments: Receive::augment_args,
    default: ReceiveMode::Files,
    modes: &[
        Mode { mode: ReceiveMode::Files, by: "", name: "SESSION" },
        Mode { mode: ReceiveMode::Flute, by: "flute", name: "flute://..." },
        Mode { mode: ReceiveMode::Stream, by: "stream", name: "--stream" },
        Mode { mode: ReceiveMode::Reliable, by: "reliable", name: "--reliable" },
    ],
    facts: &[
        Fact { name: "flute", text: "flute://", holds: |matches| named(matches).starts_with(FLUTE_SCHEME) },
        Fact {
            name: "announced",
            text: "the name of an announced session",
            holds: |matches| is_name(named(matches)),
        },
        Fact {
            name: "described",
            text: "the file or the announced name of a session",
            holds: |matches| is_name(named(matches)) || is_description(named(matches)),
        },
    ],
    rows: ROWS,
};

fn named(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("named").map_or("", String::as_str)
}

/// Whether a word is neither a URL nor a file.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.contains("://") && !is_description(word)
}
