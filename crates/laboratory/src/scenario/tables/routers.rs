//! The routers of a session.

use super::{NONE, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

/// The routers of a session.
pub const ROUTERS: TableSpec = TableSpec {
    name: "routers",
    doc: "Which nodes of a session's tree take part in its protocol, where the protocol has routers. A node with \
          the source or a receiver is a host and has none. All other nodes forward what passes.",
    example: "{ active = [\"A\", \"B\"] }",
    choice: None,
    options: None,
    fields: &[
        field(
            "active",
            FieldKind::Routers,
            Absent::Default("all"),
            "The nodes at which routers take part; `\"all\"` that can, or `\"none\"`.",
        ),
        field("fail", FieldKind::Duration, NONE, "When routers fail and forget all that they know."),
        field("failing", FieldKind::Nodes, Absent::Means("all that take part"), "Those that fail."),
        field(
            "back",
            FieldKind::Duration,
            Absent::Means("at once"),
            "When they take part again; until then their nodes only forward.",
        ),
    ],
};
