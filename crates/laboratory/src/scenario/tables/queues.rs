//! The table of queues.

use super::field;
use crate::scenario::field::{Absent, FieldKind, TableSpec};

const BY_KIND: Absent = Absent::Means("the kind's");

/// A queue.
pub const QUEUE: TableSpec = TableSpec {
    name: "queue",
    doc: "What waits for transmission on a link. The kinds and their defaults: `docs/queues.md`.",
    example: "{ kind = \"drop-tail\", limit = \"50 packets\" }",
    choice: Some("kind"),
    fields: &[
        field(
            "kind",
            FieldKind::Choice(&["drop-tail", "red", "codel", "rem", "pie", "fq-codel", "dualpi2", "fair"]),
            Absent::Default("drop-tail"),
            "What it drops, and when.",
        ),
        field(
            "limit",
            FieldKind::Limit,
            Absent::Means(
                "50 packets of red and rem (in bytes with `average_bytes`), 10240 packets of fq-codel, what the \
                 link sends in 250 ms of dualpi2, otherwise unlimited",
            ),
            "How much it holds.",
        ),
        field(
            "ns2_compat",
            FieldKind::Flag,
            Absent::Default("true"),
            "Of `drop-tail`: compare with the limit as ns-2 does, the simulator of the papers.",
        ),
        field(
            "drop_front",
            FieldKind::Flag,
            Absent::Default("false"),
            "Of `drop-tail`: an arrival that finds no room takes that of the first that waits.",
        ),
        field(
            "ecn",
            FieldKind::Flag,
            Absent::Means("true of fq-codel, otherwise false"),
            "Of `red`, `codel`, `rem`, `pie`, `fq-codel`: mark packets whose senders take marks instead of \
             dropping them.",
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
            "mark_probability",
            FieldKind::Share,
            Absent::Default("0.1"),
            "Of `red` with `ecn`: above this probability packets are dropped even if they take marks.",
        ),
        field(
            "use_mark_probability",
            FieldKind::Flag,
            Absent::Default("true"),
            "Of `red`: otherwise packets are marked with any probability, but all are dropped from \
             `max_threshold` on (twice of it if gentle).",
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
            "Of `codel`, `pie`, `fq-codel`, `dualpi2`: the delay that is aimed at; of `red`: that of the \
             automatic `min_threshold`.",
        ),
        field(
            "interval",
            FieldKind::Period,
            BY_KIND,
            "Of `codel`, `fq-codel`: how long the wait may stay above the target; about the longest round-trip time.",
        ),
        field(
            "max_packet",
            FieldKind::Size,
            BY_KIND,
            "Of `codel`, `fq-codel`: with no more than this left behind it, no packet is dropped.",
        ),
        field(
            "update",
            FieldKind::Period,
            BY_KIND,
            "Of `rem`, `pie`, `dualpi2`: the time between two updates.",
        ),
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
        field("max_burst", FieldKind::Duration, BY_KIND, "Of `pie`: how long a burst passes after calm."),
        field(
            "alpha",
            FieldKind::Positive,
            BY_KIND,
            "Of `pie`, `dualpi2`: the weight of the distance from the target, per second.",
        ),
        field(
            "beta",
            FieldKind::Positive,
            BY_KIND,
            "Of `pie`, `dualpi2`: the weight of the delay's change, per second.",
        ),
        field(
            "quantum",
            FieldKind::Size,
            BY_KIND,
            "Of `fq-codel`, `fair`: what a flow may send before it is another's turn.",
        ),
        field(
            "queues",
            FieldKind::Count(1, 65_536),
            BY_KIND,
            "Of `fq-codel`: how many queues flows are hashed into.",
        ),
        field(
            "coupling",
            FieldKind::Positive,
            BY_KIND,
            "Of `dualpi2`: how many times the base probability scalable packets are marked with; the others \
             get its square.",
        ),
        field(
            "ramp_start",
            FieldKind::Duration,
            BY_KIND,
            "Of `dualpi2`: the wait from which scalable packets are marked, whatever the controller says.",
        ),
        field(
            "ramp_range",
            FieldKind::Duration,
            BY_KIND,
            "Of `dualpi2`: by how much longer a wait marks all scalable packets.",
        ),
        field(
            "low_delay_weight",
            FieldKind::Count(1, u32::MAX),
            BY_KIND,
            "Of `dualpi2`: how many scalable packets go for one of the others while both wait.",
        ),
    ],
};
