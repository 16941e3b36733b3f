//! The table of edge routers.

use super::{LeaveChoice, NONE, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

const QUERIERS: Absent = Absent::Means("the querier's");

/// An edge router.
pub const EDGE: TableSpec = TableSpec {
    name: "network-edge",
    doc: "The edge router at a node, between the network and the receivers there, which are hosts on one \
          local network. What it does: `docs/membership.md`.",
    example: "{ querier = \"igmpv3\", leave = \"fast\" }",
    choice: None,
    options: None,
    fields: &[
        field(
            "querier",
            FieldKind::Choice(&["none", "igmpv2", "igmpv3", "mldv1", "mldv2"]),
            Absent::Default("none"),
            "Which protocol it speaks with its hosts. With `none` it forwards for a session's `leave_latency` \
             after the last leave; any other has a time of its own.",
        ),
        field(
            "leave",
            FieldKind::Choice(&LeaveChoice::NAMES),
            Absent::Default("check"),
            "What a leave does: ask whether others are there; ask only when the last known host leaves; prune \
             at once when the last known host leaves. The last two need `igmpv3` or `mldv2`.",
        ),
        field(
            "last_member_interval",
            FieldKind::Period,
            QUERIERS,
            "From one query of a check to the next, and the longest wait of an answer.",
        ),
        field("last_member_count", FieldKind::Count(1, 255), QUERIERS, "How many queries a check has."),
        field(
            "processing",
            FieldKind::Duration,
            Absent::Default("10 ms"),
            "Of `fast`: what the router needs for a leave.",
        ),
        field(
            "report_loss",
            FieldKind::Chance,
            Absent::Default("0"),
            "The probability that a report or an answer is lost.",
        ),
        field("leave_loss", FieldKind::Chance, Absent::Default("0"), "The probability that a leave is lost."),
        field(
            "report_repeat",
            FieldKind::Period,
            QUERIERS,
            "After what time a host repeats the report of a join; 10 s with `none`.",
        ),
        field(
            "robustness",
            FieldKind::Count(1, 255),
            Absent::Default("2"),
            "How often a host reports a join, and how many general queries may go unanswered.",
        ),
        field(
            "query_interval",
            FieldKind::Period,
            Absent::Default("125 s"),
            "From one general query to the next.",
        ),
        field(
            "query_response",
            FieldKind::Duration,
            Absent::Default("10 s"),
            "The longest wait of an answer to a general query.",
        ),
        field(
            "group_limit",
            FieldKind::Count(1, u32::MAX),
            NONE,
            "How many channels of all sessions together it keeps; it refuses further joins.",
        ),
        field(
            "crash",
            FieldKind::Duration,
            NONE,
            "When all hosts at the node crash: they fall silent and leave nothing.",
        ),
    ],
};
