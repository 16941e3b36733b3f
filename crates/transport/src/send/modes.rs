//! The modes of `layercast send`: what each uses of what can be given, and why it refuses the rest.

use std::net::SocketAddr;

use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::modes::{CHOOSES, Cell, Reason, Row, Rule, USED, bars, needs, no, row};
use layercast_core::units::Rate;
use layercast_delivery::announce::sap::{announcement_group, is_global};

/// What is sent, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// Files and folders.
    Files,
    /// Live data.
    Stream,
    /// Files in order, over routers that take part.
    Reliable,
}

const UNICAST: Cell = no(
    "nothing is sent to groups: packets go from the address of --serve to relays and receivers",
    "leave it out; --serve has the address and port",
);
const OWN_RATE: Cell = no(
    "amca and nca find one rate for all receivers, and have no layers",
    "leave it out; with amca --set rate_min=N and --set rate_max=N bound the rate",
);
const ENDS: Cell = no("it ends when all receivers that came have all files", "leave it out");
const UNANNOUNCED: Cell = no("reliable sessions are announced with --announce only", "leave it out");
const AS_THEY_ARE: Cell = no(
    "reliable sessions send each file once, as it is at the start",
    "leave it out, or send without --reliable",
);
const NO_FILES: Cell = no("live data has no files", "leave it out");
const INPUTS: Cell = no("live data ends with its inputs", "end it before by --for");
const LIVE: Cell = no("it is of live data; files have no deadline", "add --stream, or leave it out");
const LIVE_ONLY: Cell = no("it is of live data; files have no deadline", "leave it out");
const GATHER: Cell = no("only a reliable session waits for its receivers", "add --reliable, or leave it out");

/// With what a stream is signed.
pub(crate) const STREAM_KEY: Rule = Rule {
    with: &["stream"],
    without: &["group_key"],
    reason: Reason {
        why: "a signature is of the description of live data, and the group key alone authenticates its packets",
        instead: "add --group-key FILE, which `layercast key new --group FILE` makes",
    },
};

const ALL: &[Cell] = &[USED, USED, USED];
const GROUPS: &[Cell] = &[USED, USED, UNICAST];
const RATES: &[Cell] = &[USED, USED, OWN_RATE];
const OF_STREAM: &[Cell] = &[LIVE, USED, LIVE_ONLY];
const SERVED: &str = "it is about those that are served by unicast";
const BY_PAIR: &str = "rates are given by the lowest and the highest, or layer by layer";

/// The protocol of a reliable session, if none is named.
pub const RELIABLE: &str = "amca";

/// The layer of a reliable session. Its protocol decides on the rate itself: this one has no effect.
///
/// # Errors
/// None.
pub fn only_layer() -> Result<LayerTable, LayerError> {
    let any = Rate::from_mbps(1.0);
    LayerTable::between(any, any)
}

/// With what a lowest rate and a ratio of rates cannot be used, which live data of several inputs has.
pub const ONE_INPUT: &str = "a stream of one input";
/// Why.
pub const ONE_LAYER: &str = "it has one layer";

/// Which flag each mode uses or refuses, in the order of [`SendMode`]. Flags have the names of their arguments in `layercast send`.
pub const ROWS: &[Row] = &[
    row("paths", ALL),
    row("group", ALL),
    row("interface", ALL),
    row("from", RATES).rules(&[bars(
        &["base", "factor", "layers", "rates"],
        BY_PAIR,
        "leave one of them out",
    )]),
    row("to", RATES).rules(&[bars(&["base", "factor", "layers", "rates"], BY_PAIR, "leave one of them out")]),
    row("base", RATES),
    row("factor", RATES),
    row("layers", &[USED, no("each PATH is a layer", "name as many inputs as layers"), OWN_RATE]),
    row("rates", RATES).rules(&[bars(
        &["base", "factor", "layers"],
        "it gives the rate of each layer",
        "leave one of them out",
    )]),
    row("packet", ALL),
    row("control", ALL),
    row("ttl", GROUPS).rules(&[bars(&["serve_only"], "nothing is sent to groups", "leave one of them out")]),
    row("feedback_port", GROUPS),
    row("after", &[USED, USED, ENDS]),
    row("rounds", &[USED, INPUTS, ENDS]),
    row("until_complete", &[USED, INPUTS, ENDS]),
    row("no_reports", &[USED, USED, no("amca and nca need the reports of receivers", "leave it out")]),
    row("all_layers", RATES),
    row("group_key", ALL),
    row("encrypt", ALL).rules(&[needs(
        &["group_key"],
        "packets are encrypted by the group key",
        "add --group-key FILE, which `layercast key new --group FILE` makes",
    )]),
    row("follow", &[USED, NO_FILES, AS_THEY_ARE]).rules(&[bars(
        &["until_complete"],
        "what changes is never complete",
        "end it by --for, or with Ctrl-C",
    )]),
    row("no_packages", &[USED, NO_FILES, USED]),
    row("state", &[USED, no("live data is gone after a restart", "leave it out"), AS_THEY_ARE]),
    row("describe", ALL),
    row("name", ALL),
    row("announce", ALL).rules(&[bars(
        &["no_announce"],
        "one contradicts the other",
        "leave one of them out",
    )]),
    row("no_announce", &[USED, USED, UNANNOUNCED]),
    row("key", ALL).rules(&[STREAM_KEY]),
    row("options", ALL),
    row("serve", ALL),
    row("reliable", &[CHOOSES, no("live data is not repaired until all have it", "use one of them"), USED])
        .rules(&[needs(&["serve"], "it sends to those that are served", "add --serve ADDRESS:PORT")]),
    row("gather", &[GATHER, GATHER, USED]),
    row("serve_only", &[USED, USED, UNICAST]).rules(&[needs(
        &["serve"],
        "nothing would be sent to anybody",
        "add --serve ADDRESS:PORT",
    )]),
    row("relays", ALL).rules(&[needs(
        &["described"],
        "receivers learn the relays from these alone",
        "add --describe FILE.sdp or --announce, or leave it out",
    )]),
    row("max_children", ALL).rules(&[needs(&["serve"], SERVED, "add --serve ADDRESS:PORT, or leave it out")]),
    row("stream", &[CHOOSES, USED, CHOOSES]),
    row("deadline", OF_STREAM),
    row("units", OF_STREAM),
    row("repair", OF_STREAM),
    row("json", ALL),
    row("metrics", ALL),
    row("quiet", ALL),
];

/// Whether to announce the session of a group, as was asked for or not: of itself not to the whole internet.
pub fn is_announced(group: SocketAddr, announce: bool, no_announce: bool) -> bool {
    announce || !no_announce && !is_global(announcement_group(group.ip()))
}
