//! The table of queues.

use std::sync::LazyLock;

use layercast_simulator::QueueKind;

use super::field;
use super::options::{fields, queue_options};
use crate::scenario::field::{Absent, Field, FieldKind, TableSpec};

/// A queue.
pub const QUEUE: TableSpec = TableSpec {
    name: "queue",
    doc: "What waits for transmission on a link. The kinds, each with its options: `docs/queues.md`.",
    example: "{ kind = \"drop-tail\", limit = \"50 packets\" }",
    choice: Some("kind"),
    options: Some(options),
    fields: &[field(
        "kind",
        FieldKind::Choice(&QueueKind::NAMES),
        Absent::Default("drop-tail"),
        "What it drops, and when.",
    )],
};

fn options() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> =
        LazyLock::new(|| fields(QueueKind::ALL.into_iter().flat_map(queue_options)));
    &FIELDS
}
