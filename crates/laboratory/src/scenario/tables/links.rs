//! The tables of links: rates and losses.

use layercast_simulator::{LengthDistribution, LossKind, LossPlace, LossUnit};

use super::{DownQueue, NONE, QUEUE, REQUIRED, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

const SAME: Absent = Absent::Means("as it was");
const BY_MODEL: Absent = Absent::Means("as the model needs");

/// A link.
pub const LINK: TableSpec = TableSpec {
    name: "link",
    doc: "A link `A-B` between two nodes. Forward is from A to B.",
    example: "{ rate = \"100 Mbit/s\", delay = \"10 ms\" }",
    choice: None,
    options: None,
    fields: &[
        field(
            "from",
            FieldKind::Node,
            Absent::Means("the node before the dash of the link's name"),
            "The node A, where the link's name does not say it: `uplink = { from = \"rack-1\", to = \"core\" }`.",
        ),
        field(
            "to",
            FieldKind::Node,
            Absent::Means("the node behind the dash"),
            "The node B, together with `from`.",
        ),
        field(
            "rate",
            FieldKind::Rate,
            REQUIRED,
            "How fast it transmits, in both directions; not needed where `trace` says when.",
        ),
        field("rate_backward", FieldKind::Rate, Absent::Means("as `rate`"), "The rate from B to A."),
        field("delay", FieldKind::Draw, REQUIRED, "Propagation delay, the same in both directions."),
        field("delay_backward", FieldKind::Draw, Absent::Means("as `delay`"), "The delay from B to A."),
        field(
            "queue",
            FieldKind::Table(&QUEUE),
            Absent::Means("drop-tail of what the link carries in 100 ms"),
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
            "Losses other than the queue's: the probability that a packet is lost, independently of \
             others, or a model for each direction. A plain number is forward only.",
        ),
        field(
            "changes",
            FieldKind::TableList(&CHANGE),
            NONE,
            "How it changes during the run, in the order of time; see `docs/links.md`.",
        ),
        field(
            "rates",
            FieldKind::Text,
            NONE,
            "A file of rates for both directions, in addition to `changes`: a time and a rate a line, \
             `10 s 2 Mbit/s`. The path is relative to the scenario file.",
        ),
        field(
            "changes_repeat",
            FieldKind::Period,
            Absent::Means("once"),
            "After how long all `changes` and `rates` happen again, and again; after the last of them.",
        ),
        field(
            "avoid_reordering",
            FieldKind::Flag,
            Absent::Default("false"),
            "Whether packets arrive in order where the delay falls; otherwise one may overtake another.",
        ),
        field("down", FieldKind::Outages, NONE, "When it is down, in both directions."),
        field(
            "down_queue",
            FieldKind::Choice(&DownQueue::NAMES),
            Absent::Default("keep"),
            "Whether what waits when it goes down waits on or is lost.",
        ),
        field(
            "trace",
            FieldKind::Text,
            NONE,
            "A file of delivery times for the direction forward, in place of a rate: one time in ms a line, \
             each for 1500 bytes, as mahimahi has them. The path is relative to the scenario file.",
        ),
        field("trace_backward", FieldKind::Text, NONE, "The same from B to A."),
    ],
};

/// A change of a link.
pub const CHANGE: TableSpec = TableSpec {
    name: "change",
    doc: "A change of a link during the run. What it does not give stays as it is.",
    example: "{ at = \"10 s\", rate = \"2 Mbit/s\" }",
    choice: None,
    options: None,
    fields: &[
        field("at", FieldKind::Duration, REQUIRED, "When, from the start of the run."),
        field("rate", FieldKind::Rate, SAME, "The rate from then on, in both directions."),
        field("rate_backward", FieldKind::Rate, Absent::Means("as `rate`"), "The rate from B to A."),
        field("delay", FieldKind::Duration, SAME, "The delay from then on, in both directions."),
        field("delay_backward", FieldKind::Duration, Absent::Means("as `delay`"), "The delay from B to A."),
        field("loss", FieldKind::Loss, SAME, "What it loses from then on, as a link's `loss`."),
    ],
};

/// A model of loss in one direction.
pub const LOSS_MODEL: TableSpec = TableSpec {
    name: "loss-model",
    doc: "An error model of one direction of a link; see `docs/queues.md`.",
    example: "{ model = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.25 }",
    choice: Some("model"),
    options: None,
    fields: &[
        field(
            "model",
            FieldKind::Choice(&LossKind::NAMES),
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
            "Of `two-state`: the mean length of a period in which all is lost, in `unit`; the share lost is \
             bad_length/(good_length + bad_length).",
        ),
        field(
            "unit",
            FieldKind::Choice(&LossUnit::NAMES),
            Absent::Default("packets"),
            "Of `two-state`: what lengths are counted in.",
        ),
        field(
            "distribution",
            FieldKind::Choice(&LengthDistribution::NAMES),
            Absent::Default("exponential"),
            "Of `two-state`: how lengths are distributed.",
        ),
        field(
            "ns2_compat",
            FieldKind::Flag,
            Absent::Default("false"),
            "Of `two-state`: as ns-2, lose the packet in which a good period ends too: of constant periods in packets \
             (bad_length + 1)/(good_length + bad_length).",
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
            FieldKind::Choice(&LossPlace::NAMES),
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
