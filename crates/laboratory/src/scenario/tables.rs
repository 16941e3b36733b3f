//! Every table of a scenario file and its keys.

use layercast_protocol::layers::MAX_LAYERS;

use super::field::{Absent, Field, FieldKind, TableSpec};
use super::protocols::{TCP_PROFILES, TCP_PROTOCOLS};

const fn field(key: &'static str, kind: FieldKind, absent: Absent, doc: &'static str) -> Field {
    Field { key, kind, doc, absent }
}

const REQUIRED: Absent = Absent::Required;
const ZERO: Absent = Absent::Default("0 s");
const PROFILE: Absent = Absent::Means("the profile's");
const NONE: Absent = Absent::Means("none");
const END: Absent = Absent::Means("the end of the run");
const BY_SCHEME: Absent = Absent::Means("as the scheme needs");
const BY_MODEL: Absent = Absent::Means("as the model needs");
const BY_KIND: Absent = Absent::Means("the kind's");

/// The whole file.
pub const SCENARIO: TableSpec = TableSpec {
    name: "scenario",
    doc: "The top of the file.",
    example: "",
    choice: None,
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
        field("defaults", FieldKind::Table(&DEFAULTS), NONE, "What holds for all links, sessions, flows."),
        field(
            "links",
            FieldKind::Tables(&LINK),
            REQUIRED,
            "The links, `A-B = {}`. The nodes are the ends of the links; their names are letters, digits \
             and `_`.",
        ),
        field("sessions", FieldKind::Tables(&SESSION), NONE, "The multicast sessions, under their names."),
        field("flows", FieldKind::Tables(&FLOW), NONE, "The unicast flows, under their names."),
        field(
            "groups",
            FieldKind::Groups,
            NONE,
            "Flows whose Jain index is told. A name may contain `*`, which stands for any characters.",
        ),
        field(
            "paper",
            FieldKind::Tables(&PAPER),
            NONE,
            "The numbers that the paper reports, under the name of a flow or group.",
        ),
    ],
};

/// `[defaults]`.
pub const DEFAULTS: TableSpec = TableSpec {
    name: "defaults",
    doc: "What holds for all links, sessions or flows unless they say otherwise. `queue`, `layers`, \
          `options` and `loss` are taken over key by key, all else as a whole.",
    example: "{ link = { rate = \"100 Mbit/s\" } }",
    choice: None,
    fields: &[
        field("link", FieldKind::Table(&LINK), NONE, "For each link."),
        field("session", FieldKind::Table(&SESSION), NONE, "For each session."),
        field("flow", FieldKind::Table(&FLOW), NONE, "For each flow."),
    ],
};

/// A link.
pub const LINK: TableSpec = TableSpec {
    name: "link",
    doc: "A link `A-B` between two nodes. Forward is from A to B.",
    example: "{ rate = \"100 Mbit/s\", delay = \"10 ms\" }",
    choice: None,
    fields: &[
        field("rate", FieldKind::Rate, REQUIRED, "How fast it transmits, in both directions."),
        field("rate_backward", FieldKind::Rate, Absent::Means("as `rate`"), "The rate from B to A."),
        field("delay", FieldKind::Draw, REQUIRED, "Propagation delay, the same in both directions."),
        field("delay_backward", FieldKind::Draw, Absent::Means("as `delay`"), "The delay from B to A."),
        field(
            "queue",
            FieldKind::Table(&QUEUE),
            Absent::Means("unlimited"),
            "The queues of both directions.",
        ),
        field(
            "queue_backward",
            FieldKind::Table(&QUEUE),
            Absent::Means("as `queue`"),
            "The queue from B to A, key by key.",
        ),
        field(
            "loss",
            FieldKind::Loss,
            Absent::Default("0"),
            "What it loses beside the queues: the probability that a packet is lost, independently of \
             others, or a model for each direction. A plain number is forward only.",
        ),
    ],
};

/// A queue.
pub const QUEUE: TableSpec = TableSpec {
    name: "queue",
    doc: "What waits for transmission on a link. The kinds and their defaults: `docs/queues.md`.",
    example: "{ kind = \"drop-tail\", limit = \"50 packets\" }",
    choice: Some("kind"),
    fields: &[
        field(
            "kind",
            FieldKind::Choice(&["drop-tail", "red", "codel", "rem", "pie"]),
            Absent::Default("drop-tail"),
            "What it drops, and when.",
        ),
        field(
            "limit",
            FieldKind::Limit,
            Absent::Means("50 packets of red and rem (in bytes with `average_bytes`), otherwise unlimited"),
            "How much it holds.",
        ),
        field(
            "ns2_compat",
            FieldKind::Flag,
            Absent::Default("true"),
            "Of `drop-tail`: compare with the limit as ns-2 does, the simulator of the papers.",
        ),
        field(
            "profile",
            FieldKind::Choice(&["ns2", "classic"]),
            Absent::Default("ns2"),
            "Of `red`: where its defaults come from; `classic` is what papers before 2001 mean.",
        ),
        field(
            "min_threshold",
            FieldKind::Positive,
            BY_KIND,
            "Of `red`: the average queue from which packets are dropped, in packets of `mean_packet`.",
        ),
        field(
            "max_threshold",
            FieldKind::Positive,
            BY_KIND,
            "Of `red`: the average queue at which `max_probability` is reached; above `min_threshold`.",
        ),
        field(
            "weight",
            FieldKind::Share,
            BY_KIND,
            "Of `red`: the weight of the newest sample in the average.",
        ),
        field(
            "max_probability",
            FieldKind::Share,
            BY_KIND,
            "Of `red`: the probability of a drop at `max_threshold`.",
        ),
        field(
            "gentle",
            FieldKind::Flag,
            BY_KIND,
            "Of `red`: let the probability rise to 1 between `max_threshold` and twice of it, not at once.",
        ),
        field("wait", FieldKind::Flag, BY_KIND, "Of `red`: leave at least one mean distance between drops."),
        field("average_bytes", FieldKind::Flag, BY_KIND, "Of `red`: average the queue in bytes."),
        field(
            "adaptive",
            FieldKind::Flag,
            BY_KIND,
            "Of `red`: move `max_probability` so that the average stays in the middle.",
        ),
        field(
            "victim",
            FieldKind::Choice(&["last", "random", "front"]),
            BY_KIND,
            "Of `red`: which packet goes when one must.",
        ),
        field(
            "byte_mode",
            FieldKind::Flag,
            BY_KIND,
            "Of `red`, `rem`: scale the probability by a packet's size.",
        ),
        field(
            "mean_packet",
            FieldKind::Size,
            BY_KIND,
            "Of `red`, `rem`, `pie`: the size of packets that they reckon with.",
        ),
        field(
            "target",
            FieldKind::Period,
            BY_KIND,
            "Of `codel`, `pie`: the delay that is aimed at; of `red`: that of the automatic `min_threshold`.",
        ),
        field(
            "interval",
            FieldKind::Period,
            BY_KIND,
            "Of `codel`: how long the wait may stay above the target; about the longest round-trip time.",
        ),
        field(
            "max_packet",
            FieldKind::Size,
            BY_KIND,
            "Of `codel`: with no more than this left behind it, no packet is dropped.",
        ),
        field("update", FieldKind::Period, BY_KIND, "Of `rem`, `pie`: the time between two updates."),
        field("gamma", FieldKind::Positive, BY_KIND, "Of `rem`: how fast the price follows."),
        field("phi", FieldKind::Factor, BY_KIND, "Of `rem`: the base of the exponent."),
        field(
            "input_weight",
            FieldKind::Share,
            BY_KIND,
            "Of `rem`: the weight of the newest interval in the average of arrivals.",
        ),
        field(
            "target_packets",
            FieldKind::Positive,
            BY_KIND,
            "Of `rem`: the queue that is aimed at, in packets.",
        ),
        field("max_burst", FieldKind::Span, BY_KIND, "Of `pie`: how long a burst passes after calm."),
        field(
            "alpha",
            FieldKind::Positive,
            BY_KIND,
            "Of `pie`: the weight of the distance from the target, per second.",
        ),
        field(
            "beta",
            FieldKind::Positive,
            BY_KIND,
            "Of `pie`: the weight of the delay's change, per second.",
        ),
    ],
};

/// A model of loss in one direction.
pub const LOSS_MODEL: TableSpec = TableSpec {
    name: "loss-model",
    doc: "A model of what one direction of a link loses beside its queue; see `docs/queues.md`.",
    example: "{ model = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.25 }",
    choice: Some("model"),
    fields: &[
        field(
            "model",
            FieldKind::Choice(&["bernoulli", "bernoulli-per-byte", "gilbert-elliott", "periodic", "list"]),
            REQUIRED,
            "Independent losses by packet or by byte, losses in bursts, at regular distances, or of given \
             packets.",
        ),
        field(
            "probability",
            FieldKind::Probability,
            BY_MODEL,
            "Of `bernoulli`: that a packet is lost; of `bernoulli-per-byte`: a byte, and the packet with it.",
        ),
        field(
            "to_bad",
            FieldKind::Chance,
            BY_MODEL,
            "Of `gilbert-elliott`: from the good state to the bad one, at each packet.",
        ),
        field(
            "to_good",
            FieldKind::Chance,
            BY_MODEL,
            "Of `gilbert-elliott`: from the bad state to the good one; the mean burst is 1 over it.",
        ),
        field(
            "bad_loss",
            FieldKind::Chance,
            Absent::Default("1"),
            "Of `gilbert-elliott`: that a packet is lost in the bad state.",
        ),
        field(
            "good_loss",
            FieldKind::Chance,
            Absent::Default("0"),
            "Of `gilbert-elliott`: that a packet is lost in the good state.",
        ),
        field(
            "period",
            FieldKind::Count(1, u32::MAX),
            BY_MODEL,
            "Of `periodic`: from one loss to the next, in packets.",
        ),
        field(
            "offset",
            FieldKind::Count(0, u32::MAX),
            Absent::Default("0"),
            "Of `periodic`: the first packet lost, counted from 1; 0 is as good as 1.",
        ),
        field(
            "burst",
            FieldKind::Count(0, u32::MAX),
            Absent::Default("0"),
            "Of `periodic`: how many are lost in a row; 0 is as good as 1.",
        ),
        field(
            "packets",
            FieldKind::Arrivals,
            BY_MODEL,
            "Of `list`: the packets lost, counted from 0 as they come.",
        ),
        field(
            "place",
            FieldKind::Choice(&["before-queue", "after-link"]),
            Absent::Default("before-queue"),
            "Whether a lost packet is gone before the queue, or has used queue and link.",
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
    fields: &[
        field("protocol", FieldKind::Protocol, REQUIRED, "The protocol of the source and all receivers."),
        field("source", FieldKind::Node, REQUIRED, "The node of the source."),
        field(
            "receivers",
            FieldKind::Nodes,
            REQUIRED,
            "The nodes of the receivers. A node that is named twice has two receivers.",
        ),
        field("start", FieldKind::Draw, ZERO, "When the source starts."),
        field("stop", FieldKind::Span, END, "When source and receivers stop."),
        field("receivers_start", FieldKind::Draw, Absent::Means("with the source"), "When receivers start."),
        field("layers", FieldKind::Table(&LAYERS), REQUIRED, "How the transmission is cut into layers."),
        field("packet_size", FieldKind::Size, Absent::Default("1000 bytes"), "Data packets on the wire."),
        field(
            "join_latency",
            FieldKind::Span,
            ZERO,
            "What a router needs for a join, beside the delays of the links that the join travels.",
        ),
        field(
            "leave_latency",
            FieldKind::Span,
            ZERO,
            "How long a router keeps forwarding after a leave, beside the delays of the links.",
        ),
        field("options", FieldKind::Options, Absent::Means("the protocol's"), "Options of the protocol."),
    ],
};

/// The layers of a session.
pub const LAYERS: TableSpec = TableSpec {
    name: "layers",
    doc: "The cumulative layers of a session. `doubling` and `equal` need `base` and `count`, \
          `multiplicative` needs `factor` too, `explicit` needs `rates` only.",
    example: "{ scheme = \"doubling\", base = \"128 kbit/s\", count = 7 }",
    choice: Some("scheme"),
    fields: &[
        field(
            "scheme",
            FieldKind::Choice(&["doubling", "equal", "multiplicative", "explicit"]),
            REQUIRED,
            "How the cumulative rate grows: twofold, by the base rate, by a factor, or by a table.",
        ),
        field("base", FieldKind::Rate, BY_SCHEME, "The rate of the base layer."),
        field("count", FieldKind::Count(1, MAX_LAYERS as u32), BY_SCHEME, "How many layers there are."),
        field("factor", FieldKind::Factor, BY_SCHEME, "By how much the cumulative rate grows."),
        field("rates", FieldKind::Rates, BY_SCHEME, "The cumulative rates."),
    ],
};

/// A flow.
pub const FLOW: TableSpec = TableSpec {
    name: "flow",
    doc: "TCP connections with unlimited data. Their names are made as those of sessions.",
    example: "{ protocol = \"tcp-sack\", from = \"S\", to = \"R1\" }",
    choice: None,
    fields: &[
        field("protocol", FieldKind::Choice(TCP_PROTOCOLS), REQUIRED, "Which TCP."),
        field(
            "profile",
            FieldKind::Choice(TCP_PROFILES),
            Absent::Default("ns2"),
            "Where its defaults come from; `ns2-2004` is ns-2 before 18 October 2004.",
        ),
        field("from", FieldKind::Node, REQUIRED, "The node of the senders."),
        field("to", FieldKind::NodeOrNodes, REQUIRED, "The nodes of the sinks."),
        field("count", FieldKind::Count(1, 100_000), Absent::Default("1"), "How many flows go to each node."),
        field("start", FieldKind::Draw, ZERO, "When a flow starts, drawn for each flow."),
        field("stop", FieldKind::Span, END, "When the flows stop."),
        field("packet_size", FieldKind::Size, Absent::Default("1000 bytes"), "Data packets on the wire."),
        field("ack_size", FieldKind::Size, PROFILE, "Acknowledgements on the wire."),
        field("window", FieldKind::Count(1, u32::MAX), PROFILE, "The limit of the window in packets."),
        field("min_rto", FieldKind::Span, PROFILE, "The smallest retransmission timeout."),
        field("initial_rto", FieldKind::Period, PROFILE, "The timeout before the first measurement."),
        field("tick", FieldKind::Period, PROFILE, "The granularity of the retransmission timer."),
        field("delayed_ack", FieldKind::Flag, PROFILE, "Acknowledge every second packet only."),
        field(
            "limited_transmit",
            FieldKind::Flag,
            PROFILE,
            "Whether the first two duplicate acknowledgements each release a new packet.",
        ),
    ],
};

/// What a paper says of a flow or group.
pub const PAPER: TableSpec = TableSpec {
    name: "paper",
    doc: "What the paper reports of a flow (`elm@R1`) or group (`R1/elm`). `\"about 430\"`, `\"< 10\"` \
          and `\"> 300\"` say how exactly it does.",
    example: "{ throughput_kbps = 783, level_changes = \"about 12\" }",
    choice: None,
    fields: &[
        field("throughput_kbps", FieldKind::Told, NONE, "Mean throughput of a flow in kbit/s."),
        field("loss_rate", FieldKind::Told, NONE, "Lost over sent, of a flow."),
        field("level_changes", FieldKind::Told, NONE, "Joins and leaves of a receiver."),
        field("mean_level", FieldKind::Told, NONE, "The mean level of a receiver."),
        field("settled_after_s", FieldKind::Told, NONE, "When a receiver's level came to rest, in seconds."),
        field("jain_index", FieldKind::Told, NONE, "Jain's index of a group."),
    ],
};

/// All tables, in the order of the documentation.
pub const ALL: &[&TableSpec] = &[
    &SCENARIO,
    &DEFAULTS,
    &LINK,
    &QUEUE,
    &super::field::LOSS,
    &LOSS_MODEL,
    &super::field::UNIFORM,
    &SESSION,
    &LAYERS,
    &FLOW,
    &PAPER,
];
