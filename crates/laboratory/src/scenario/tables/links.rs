//! The tables of links: rates and losses.

use super::{QUEUE, REQUIRED, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

const BY_MODEL: Absent = Absent::Means("as the model needs");

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

/// A model of loss in one direction.
pub const LOSS_MODEL: TableSpec = TableSpec {
    name: "loss-model",
    doc: "A model of what one direction of a link loses beside its queue; see `docs/queues.md`.",
    example: "{ model = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.25 }",
    choice: Some("model"),
    fields: &[
        field(
            "model",
            FieldKind::Choice(&[
                "bernoulli",
                "bernoulli-per-byte",
                "gilbert-elliott",
                "two-state",
                "periodic",
                "list",
            ]),
            REQUIRED,
            "Independent losses by packet or by byte, losses in bursts or in periods, at regular distances, \
             or of given packets.",
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
            "good_length",
            FieldKind::Count(1, u32::MAX),
            BY_MODEL,
            "Of `two-state`: the mean length of a period without losses, in `unit`.",
        ),
        field(
            "bad_length",
            FieldKind::Count(1, u32::MAX),
            BY_MODEL,
            "Of `two-state`: the mean length of a period in which all is lost, in `unit`.",
        ),
        field(
            "unit",
            FieldKind::Choice(&["packets", "bytes"]),
            Absent::Default("packets"),
            "Of `two-state`: what lengths are counted in.",
        ),
        field(
            "law",
            FieldKind::Choice(&["exponential", "constant"]),
            Absent::Default("exponential"),
            "Of `two-state`: how lengths are distributed.",
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
        field(
            "mark",
            FieldKind::Flag,
            Absent::Default("false"),
            "Mark packets whose senders take marks instead of losing them.",
        ),
    ],
};
