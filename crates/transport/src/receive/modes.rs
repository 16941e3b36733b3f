//! The modes of `layercast receive`: what each uses of what can be given, and why it refuses the rest.

use layercast_core::modes::{CHOOSES, Cell, Reason, Row, Rule, USED, bars, needs, no, row};

use crate::send::modes::STREAM_KEY;

/// What is received, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveMode {
    /// Files and folders.
    Files,
    /// Files of a sender other than Layercast.
    Flute,
    /// Live data.
    Stream,
    /// Files in order, over routers that take part.
    Reliable,
}

const FOREIGN: Cell =
    no("other FLUTE senders have no congestion control and take no reports", "leave it out");
const IN_URL: Cell = no("the URL names group, port, number and source", "write it into the URL");
const NO_RELAYS: Cell = no("the description of another FLUTE sender names no relays", "leave it out");
const NO_MESSAGES: Cell = no("other FLUTE senders take no messages", "leave it out");
const FLUTE_FILES: Cell = no("other FLUTE senders send files", "leave it out");
const FROM_RELAY: Cell = no("packets come from --relay alone", "leave it out");
const NO_LAYERS: Cell = no("reliable sessions have no layers, of which a trace is", "use --json");
const NO_FILES: Cell = no("live data has no files", "leave it out");
const OUTPUT: Cell = no("only layers of live data have outputs", "name a directory by --into");

const ALL: &[Cell] = &[USED, USED, USED, USED];
const BY_RELAY: &[Cell] = &[USED, USED, USED, FROM_RELAY];

/// Which flag each mode uses or refuses, in the order of [`ReceiveMode`]. Flags have the names of their arguments in `layercast receive`.
pub const ROWS: &[Row] = &[
    row("named", ALL).rules(&[bars(&["group", "session"], "they name one session each", "use one of them")]),
    row("group", &[USED, IN_URL, USED, USED]).rules(&[bars(
        &["session"],
        "they name one session each",
        "use one of them",
    )]),
    row("source", &[USED, IN_URL, USED, FROM_RELAY]).rules(&[needs(
        &["group"],
        "URLs, descriptions and announcements name their source",
        "add --group, or leave it out",
    )]),
    row("session", &[USED, IN_URL, USED, USED]),
    row("silent", &[USED, FOREIGN, USED, no("amca and nca need the reports of receivers", "leave it out")]),
    row(
        "group_key",
        &[
            USED,
            no("other FLUTE senders do not authenticate packets", "leave it out and take any"),
            USED,
            USED,
        ],
    ),
    row(
        "keys",
        &[
            USED,
            no(
                "a session of another FLUTE sender is not signed",
                "name its file, if there is FILE.sig, or leave it out",
            ),
            USED,
            USED,
        ],
    )
    .rules(&[STREAM_KEY]),
    row("interface", &[USED, USED, USED, FROM_RELAY]).rules(&[Rule {
        with: &["relay_only"],
        without: &["announced"],
        reason: Reason { why: "nothing is joined", instead: "leave one of them out" },
    }]),
    row("into", ALL),
    row("replace", ALL),
    row(
        "mirror",
        &[
            USED,
            no("the tables of other FLUTE senders do not say what is gone", "use --replace and --keep-going"),
            NO_FILES,
            USED,
        ],
    ),
    row("keep_going", ALL),
    row("on_complete", &[USED, USED, NO_FILES, USED]),
    row("start_within", ALL),
    row("patience", ALL),
    row("within", ALL),
    row(
        "options",
        &[USED, FOREIGN, USED, no("the options of the source hold for all", "give them to `send`")],
    ),
    row("trace", &[USED, FOREIGN, USED, NO_LAYERS]),
    row("relays", ALL),
    row("amt", &[USED, USED, USED, no("AMT relays have no routers", "use --relay")]).rules(&[bars(
        &["relays"],
        "one tunnel is used",
        "use one of them",
    )]),
    row("relay_only", BY_RELAY).rules(&[needs(
        &["relays", "amt"],
        "nothing would be received",
        "add --relay HOST or --amt HOST",
    )]),
    row(
        "reliable",
        &[CHOOSES, FLUTE_FILES, no("live data is not repaired until all have it", "use one of them"), USED],
    )
    .rules(&[needs(
        &["relays", "described", "session"],
        "relays carry these sessions",
        "add --relay HOST, a relay or the source",
    )]),
    row("no_relays", &[USED, NO_RELAYS, USED, USED]).rules(&[needs(
        &["described", "session"],
        "nothing else names relays",
        "leave it out",
    )]),
    row("feedback", &[USED, NO_MESSAGES, USED, FROM_RELAY]).rules(&[needs(
        &["relays"],
        "messages go to the sender by multicast's way otherwise",
        "add --relay HOST",
    )]),
    row("stream", &[CHOOSES, FLUTE_FILES, USED, CHOOSES]),
    row("outputs", &[OUTPUT, OUTPUT, USED, OUTPUT]).rules(&[bars(
        &["into"],
        "they name the same outputs",
        "use one of them",
    )]),
    row("json", ALL),
    row("metrics", ALL),
    row("quiet", ALL),
];
