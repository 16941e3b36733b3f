//! Every table of a scenario file and its keys.

use std::sync::LazyLock;

use layercast_core::layers::{MAX_LAYERS, Phases};

pub use self::choices::{DownQueue, LeaveChoice, NodeNames, Parallel, SchemeKind};
pub use self::distributions::{DistributionKind, SIZE_DISTRIBUTION, TIME_DISTRIBUTION};
pub use self::edges::EDGE;
pub use self::links::{CHANGE, LINK, LOSS_MODEL};
pub use self::queues::QUEUE;
pub use self::routers::ROUTERS;
pub use self::suite::{CELL, SUITE, SUITE_DEFAULTS, SUITE_TABLES};
pub use self::templates::{FOR, TOPOLOGY};
use super::field::{Absent, Field, FieldKind, LOSS, TableSpec, UNIFORM};
use super::protocols::FLOW_PROTOCOLS;
use crate::results::TrafficKind;

mod choices;
mod distributions;
mod edges;
mod links;
pub mod options;
mod queues;
mod routers;
mod suite;
mod templates;

const fn field(key: &'static str, kind: FieldKind, absent: Absent, doc: &'static str) -> Field {
    Field { key, kind, doc, absent }
}

const REQUIRED: Absent = Absent::Required;
const ZERO: Absent = Absent::Default("0 s");
const NONE: Absent = Absent::Means("none");
const END: Absent = Absent::Means("the end of the run");
const BY_SCHEME: Absent = Absent::Means("as the scheme needs");

/// The whole file.
pub const SCENARIO: TableSpec = TableSpec {
    name: "scenario",
    doc: "The top of the file.",
    example: "",
    choice: None,
    options: None,
    fields: &[
        field("name", FieldKind::Text, REQUIRED, "What the experiment is called in tables and reports."),
        field("description", FieldKind::Text, NONE, "What it shows."),
        field("duration", FieldKind::Period, REQUIRED, "How long one replication lasts."),
        field(
            "replications",
            FieldKind::Count(1, u32::MAX),
            Absent::Default("1"),
            "How many times it is run, each time with random streams of its own.",
        ),
        field("seed", FieldKind::Seed, Absent::Default("1"), "Where all random streams come from."),
        field(
            "windows",
            FieldKind::Windows,
            Absent::Means("the whole run"),
            "Over which stretches of the run flows are measured; the first is the main one. \
             `\"end\"` is the end of the run.",
        ),
        field("series_bin", FieldKind::Period, Absent::Default("1 s"), "The bin of the time series."),
        field(
            "defaults",
            FieldKind::Table(&DEFAULTS),
            NONE,
            "What holds for all links, sessions, flows, edges.",
        ),
        field("topology", FieldKind::Table(&TOPOLOGY), NONE, "Links from a file."),
        field(
            "links",
            FieldKind::Tables(&LINK),
            REQUIRED,
            "The links, `A-B = {}`. The nodes are the ends of the links; their names are letters, digits, `_`, \
             `.` and `-`. Where a name has a dash in it, the link gives `from` and `to`.",
        ),
        field("sessions", FieldKind::Tables(&SESSION), NONE, "The multicast sessions, under their names."),
        field("flows", FieldKind::Tables(&FLOW), NONE, "The unicast flows, under their names."),
        field(
            "edges",
            FieldKind::Tables(&EDGE),
            NONE,
            "The edge routers, under the names of their nodes. Without one, hosts are known one by one, and \
             nothing is lost between them and the network.",
        ),
        field(
            "groups",
            FieldKind::Groups,
            NONE,
            "Groups of flows whose Jain index is reported. A name may contain `*`, which stands for any characters.",
        ),
        field(
            "paper",
            FieldKind::Tables(&PAPER),
            NONE,
            "The numbers that the paper reports, under the name of a flow or group.",
        ),
        field(
            "probes",
            FieldKind::Tables(&PROBE),
            NONE,
            "What is kept over time at an interval of its own, under names. Probes change no result.",
        ),
        field(
            "for",
            FieldKind::TableList(&FOR),
            NONE,
            "Templates, each under `[[for]]`: tables that are made for each row of a list, a range or a file.",
        ),
    ],
};

/// `[defaults]`.
pub const DEFAULTS: TableSpec = TableSpec {
    name: "defaults",
    doc: "What holds for all links, sessions, flows or edges unless they say otherwise. `queue`, `layers`, \
          `options` and `loss` are taken over key by key, all else as a whole.",
    example: "{ link = { rate = \"100 Mbit/s\" } }",
    choice: None,
    options: None,
    fields: &[
        field("link", FieldKind::Table(&LINK), NONE, "For each link."),
        field("session", FieldKind::Table(&SESSION), NONE, "For each session."),
        field("flow", FieldKind::Table(&FLOW), NONE, "For each flow."),
        field(
            "edge",
            FieldKind::Table(&EDGE),
            NONE,
            "For each edge; if it is given, every node with receivers has one.",
        ),
    ],
};

/// A session.
pub const SESSION: TableSpec = TableSpec {
    name: "session",
    doc: "A multicast session. Its flows are called `NAME@NODE`, or `NAME-1@NODE`, `NAME-2@NODE` where \
          there are several at a node.",
    example: "{ protocol = \"elm\", source = \"S\", receivers = [\"R1\"] }",
    choice: None,
    options: None,
    fields: &[
        field("protocol", FieldKind::Protocol, REQUIRED, "The protocol of the source and all receivers."),
        field("source", FieldKind::Node, REQUIRED, "The node of the source."),
        field(
            "receivers",
            FieldKind::NodeOrNodes,
            REQUIRED,
            "The nodes of the receivers. A node that is named twice has two receivers. In a name, `*` stands \
             for any characters: all nodes that fit but the source's, in the order of the links.",
        ),
        field(
            "count",
            FieldKind::Count(0, 100_000),
            Absent::Default("1"),
            "How many receivers there are at each node; with 0 the session is not there.",
        ),
        field("start", FieldKind::Draw, ZERO, "When the source starts."),
        field("stop", FieldKind::Duration, END, "When source and receivers stop."),
        field("receivers_start", FieldKind::Draw, Absent::Means("with the source"), "When receivers start."),
        field("layers", FieldKind::Table(&LAYERS), REQUIRED, "How the transmission is cut into layers."),
        field("packet_size", FieldKind::Size, Absent::Default("1000 bytes"), "Data packets on the wire."),
        field(
            "join_latency",
            FieldKind::Draw,
            ZERO,
            "The time a router needs for a join, in addition to the delays of the links that the join travels; a range is \
             drawn from for each join.",
        ),
        field(
            "leave_latency",
            FieldKind::Draw,
            ZERO,
            "How long a router keeps forwarding after a leave, in addition to the delays of the links; a range is drawn \
             from for each leave. Where an edge has a querier, that decides instead.",
        ),
        field(
            "ecn",
            FieldKind::Flag,
            Absent::Default("false"),
            "Whether queues may mark its data instead of dropping it, as ECT(0) of RFC 3168 allows.",
        ),
        field(
            "packets",
            FieldKind::Count(1, u32::MAX),
            Absent::Means("data without end"),
            "How many packets of data the source has; then it ends the session as its protocol does. A receiver \
             of a reliable protocol reports their delivery as one transfer.",
        ),
        field(
            "object",
            FieldKind::DataSize,
            Absent::Means("data without end"),
            "An object that the session distributes, such as a file of this length: receivers report when they have \
             it. See `docs/objects.md`.",
        ),
        field(
            "leave_when_complete",
            FieldKind::Flag,
            Absent::Default("true"),
            "Whether a receiver leaves as soon as it has the object. Receivers of a reliable protocol stay until the \
             protocol ends the session, since others may need them.",
        ),
        field(
            "routers",
            FieldKind::Table(&ROUTERS),
            Absent::Means("all, without failures"),
            "Which routers take part, if the protocol has routers.",
        ),
        field(
            "relays",
            FieldKind::NodesOrNone,
            Absent::Means("no relays: the network carries multicast"),
            "The nodes where relays run: the network carries no multicast of this session, and each relay and each receiver \
             has its packets by unicast from the nearest relay on its path, or from the source. Only the emulated world has \
             them; in the simulated one every router carries multicast. See `docs/relays.md`.",
        ),
        field("options", FieldKind::Options, Absent::Means("the protocol's"), "Options of the protocol."),
    ],
};

/// The layers of a session.
pub const LAYERS: TableSpec = TableSpec {
    name: "layers",
    doc: "The cumulative layers of a session. `doubling`, `equal` and `increase-by-one` need `base` and \
          `count`; `multiplicative` needs `factor` too, or `above` in place of `count`; `heavy-tail` needs \
          `link` and `count`, `explicit` needs `rates`, `fractions` needs `capacities` and `fractions`.",
    example: "{ scheme = \"doubling\", base = \"128 kbit/s\", count = 7 }",
    choice: Some("scheme"),
    options: None,
    fields: &[
        field(
            "scheme",
            FieldKind::Choice(&SchemeKind::NAMES),
            REQUIRED,
            "How the cumulative rate grows: twofold, by the base rate, by one base rate more from layer to layer, \
             by a factor; at C/l, ..., C/2, C for a link of rate C; by a table; or at fractions of capacities.",
        ),
        field("base", FieldKind::Rate, BY_SCHEME, "The rate of the base layer."),
        field(
            "count",
            FieldKind::Count(1, MAX_LAYERS as u32),
            BY_SCHEME,
            "The number of layers; with `above`, the maximum, 30 if absent.",
        ),
        field("factor", FieldKind::Factor, BY_SCHEME, "By how much the cumulative rate grows."),
        field(
            "above",
            FieldKind::Rate,
            BY_SCHEME,
            "As few layers as it takes for the highest cumulative rate to be above this one.",
        ),
        field("link", FieldKind::Rate, BY_SCHEME, "The rate of the link that equal sessions share."),
        field("rates", FieldKind::Rates, BY_SCHEME, "The cumulative rates."),
        field("capacities", FieldKind::Rates, BY_SCHEME, "The capacities that levels are made for."),
        field(
            "fractions",
            FieldKind::Positives,
            BY_SCHEME,
            "The levels of each capacity: such as 0.8 and 0.9 to use it, and 1.1 just above it.",
        ),
        field(
            "phases",
            FieldKind::Choice(&Phases::NAMES),
            Absent::Default("random"),
            "When the source's layers begin: each at a random moment within its spacing, or all at one moment, as in a script \
             that starts the constant rates of ns-2 at one time. See `docs/readings.md`.",
        ),
    ],
};

/// A flow.
pub const FLOW: TableSpec = TableSpec {
    name: "flow",
    doc: "TCP connections, with data without end unless they make transfers or pause, or constant-rate flows; or \
          traffic of the library: web pages, video, downloads, calls (`docs/traffic.md`). \
          Their names are made as those of sessions.",
    example: "{ protocol = \"tcp-sack\", from = \"S\", to = \"R1\" }",
    choice: None,
    options: Some(flow_options),
    fields: &[
        field(
            "protocol",
            FieldKind::Choice(FLOW_PROTOCOLS),
            REQUIRED,
            "Which TCP, or `udp`: packets at a constant rate. Calls are `udp` and need not say so.",
        ),
        field(
            "traffic",
            FieldKind::Choice(&TrafficKind::NAMES),
            NONE,
            "Traffic of the library: `count` users who read web pages, players of video, or loads of one file after \
             another, over the TCP of the table, or so many calls, to each node. It takes the place of `size`, `gap`, \
             `arrivals`, `on`, `off` and `rate`.",
        ),
        field(
            "from",
            FieldKind::Node,
            REQUIRED,
            "The node of the senders; any node, so flows may go either way.",
        ),
        field("to", FieldKind::NodeOrNodes, REQUIRED, "The nodes of the sinks; `*` as in `receivers`."),
        field(
            "count",
            FieldKind::Count(0, 100_000),
            Absent::Default("1"),
            "How many flows go to each node; with 0 there are none of this table.",
        ),
        field("start", FieldKind::Draw, ZERO, "When a flow starts, drawn for each flow."),
        field("stop", FieldKind::Duration, END, "When the flows stop."),
        field(
            "size",
            FieldKind::SizeDistribution,
            Absent::Means("data without end"),
            "The flows make transfers of this size, each from a new connection's start; needs `gap` or \
             `arrivals`.",
        ),
        field(
            "gap",
            FieldKind::TimeDistribution,
            NONE,
            "From the end of a flow's transfer to the start of its next.",
        ),
        field(
            "arrivals",
            FieldKind::TimeDistribution,
            NONE,
            "From one start of a transfer to the next, on whichever of the flows is free; one that finds none \
             waits. An exponential distribution makes a Poisson process.",
        ),
        field(
            "on",
            FieldKind::TimeDistribution,
            Absent::Means("always"),
            "How long a flow has data before it pauses for `off`.",
        ),
        field("off", FieldKind::TimeDistribution, NONE, "How long a flow pauses; needs `on`."),
        field(
            "rate",
            FieldKind::Rate,
            Absent::Means("needed by `udp`"),
            "Of `udp`: the rate while it sends.",
        ),
    ],
};

fn flow_options() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
        let library = TrafficKind::ALL.into_iter().map(options::library_options);
        options::fields(options::tcp_options().into_iter().chain(library))
    });
    &FIELDS
}

/// What a paper says of a flow or group.
pub const PAPER: TableSpec = TableSpec {
    name: "paper",
    doc: "What the paper reports of a flow (`elm@R1`) or group (`R1/elm`). `\"about 430\"`, `\"< 10\"` \
          and `\"> 300\"` say how exactly it does.",
    example: "{ throughput_kbps = 783, level_changes = \"about 12\" }",
    choice: None,
    options: None,
    fields: &[
        field("throughput_kbps", FieldKind::PaperValue, NONE, "Mean throughput of a flow in kbit/s."),
        field("loss_rate", FieldKind::PaperValue, NONE, "Lost over sent, of a flow."),
        field("level_changes", FieldKind::PaperValue, NONE, "Joins and leaves of a receiver."),
        field("mean_level", FieldKind::PaperValue, NONE, "The mean level of a receiver."),
        field(
            "settled_after_s",
            FieldKind::PaperValue,
            NONE,
            "When a receiver's level came to rest, in seconds.",
        ),
        field("jain_index", FieldKind::PaperValue, NONE, "Jain's index of a group."),
    ],
};

/// A probe.
pub const PROBE: TableSpec = TableSpec {
    name: "probe",
    doc: "Values over time: `probes.parquet` has them and the report plots them. A link has `queue_packets`, \
          `queue_bytes`, `queue_average` (RED's), `sent_kbps`, `drops` and `marks`; a TCP connection \
          `throughput_kbps`, `cwnd_packets`, `ssthresh_packets` and `flight_packets`; a constant-rate flow \
          `throughput_kbps`; a receiver `throughput_kbps`, `level`, `rate_kbps`, `smoothed_rate_kbps`, `loss` and \
          `rtt_ms`, and the gauges of its protocol (`layercast list PROTOCOL`), those of its source with `source_` \
          in front; what gauges count is kept as the increase since the last look.",
    example: "{ of = \"link G1-G2\", what = [\"queue_packets\"], every = \"10 ms\" }",
    choice: None,
    options: None,
    fields: &[
        field("of", FieldKind::Subject, REQUIRED, "A link in the direction of its name, or a flow."),
        field("what", FieldKind::Quantities, REQUIRED, "What is kept."),
        field(
            "every",
            FieldKind::Period,
            Absent::Default("100 ms"),
            "How often. Rates of links and flows and counts are over such a stretch, all else is as it is at its end.",
        ),
    ],
};

/// All tables, in the order of the documentation.
pub const ALL: &[&TableSpec] = &[
    &SCENARIO,
    &DEFAULTS,
    &TOPOLOGY,
    &FOR,
    &LINK,
    &QUEUE,
    &LOSS,
    &LOSS_MODEL,
    &CHANGE,
    &UNIFORM,
    &SESSION,
    &LAYERS,
    &ROUTERS,
    &FLOW,
    &EDGE,
    &SIZE_DISTRIBUTION,
    &TIME_DISTRIBUTION,
    &PAPER,
    &PROBE,
];

/// The table whose keys may stand below a key of a kind.
pub(super) fn below(kind: &FieldKind) -> Option<&'static TableSpec> {
    match kind {
        FieldKind::Table(spec) => Some(spec),
        FieldKind::Draw => Some(&UNIFORM),
        FieldKind::Loss => Some(&LOSS),
        FieldKind::DirectionLoss => Some(&LOSS_MODEL),
        FieldKind::SizeDistribution => Some(&SIZE_DISTRIBUTION),
        FieldKind::TimeDistribution => Some(&TIME_DISTRIBUTION),
        _ => None,
    }
}
