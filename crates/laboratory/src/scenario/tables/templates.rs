//! Tables that are expanded before a scenario is read.

use super::{NONE, NodeNames, Parallel, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

/// A template. It is a static, since templates may have templates in them.
pub static FOR: TableSpec = TableSpec {
    name: "for",
    doc: "A template: its tables are made once for each row of values, and `{variable}` in names and texts stands \
          for the row's value. A text that is a variable alone becomes a number where its key takes one, and an empty \
          one is left out. `{{` and `}}` are braces. What two rows make under the same name is joined key by key, and \
          lists of nodes and flows are added up. `layercast expand` shows what is made.",
    example: "{ each = { site = \"01..30\" }, links.\"CORE-SITE{site}\" = { rate = \"10 Mbit/s\" } }",
    choice: None,
    options: None,
    fields: &[
        field(
            "each",
            FieldKind::Each,
            Absent::Means("not needed with `csv`"),
            "The variables with their values, side by side: each has as many. A range such as `\"01..30\"` has \
             numbers as wide as its first if that begins with 0; a list may have ranges in it.",
        ),
        field(
            "csv",
            FieldKind::Text,
            Absent::Means("not needed with `each`"),
            "A file of comma-separated values whose first line names the variables. The path is relative to the \
             scenario file.",
        ),
        field("links", FieldKind::Templates, NONE, "Links."),
        field("sessions", FieldKind::Templates, NONE, "Sessions, or receivers for one that is there."),
        field("flows", FieldKind::Templates, NONE, "Unicast flows."),
        field("edges", FieldKind::Templates, NONE, "Edge routers."),
        field("groups", FieldKind::Templates, NONE, "Groups, or flows for one that is there."),
        field("paper", FieldKind::Templates, NONE, "Numbers of a paper."),
        field("probes", FieldKind::Templates, NONE, "Probes."),
        field(
            "for",
            FieldKind::TableList(&FOR),
            NONE,
            "Templates for each row; they have its variables too.",
        ),
    ],
};

/// Where links come from.
pub const TOPOLOGY: TableSpec = TableSpec {
    name: "topology",
    doc: "Links from a file. `links` and `defaults.link` give what the file does not: an imported value holds where \
          `links` has none for that link. Paths are relative to the scenario file.",
    example: "{ graphml = \"net.graphml\" }",
    choice: None,
    options: None,
    fields: &[
        field(
            "graphml",
            FieldKind::Text,
            Absent::Means("not needed with `csv`"),
            "GraphML as the Internet Topology Zoo has it; edges from a node to itself are left out. Rates come from \
             `LinkSpeedRaw` or `LinkSpeed` and `LinkSpeedUnits`, delays from `Latitude` and `Longitude` over the great circle at two thirds of the \
             speed of light.",
        ),
        field(
            "csv",
            FieldKind::Text,
            Absent::Means("not needed with `graphml`"),
            "A link a line; the columns are `from`, `to` and keys of a link, such as `rate` or `queue.kind`. An empty \
             value is as if it were not there.",
        ),
        field(
            "names",
            FieldKind::Choice(&NodeNames::NAMES),
            Absent::Default("label"),
            "Of `graphml`: what nodes are called. Latin letters lose their accents (Zürich becomes `Zurich`); all else \
             but letters from A to Z, digits, `_`, `-` and `.` becomes `_`. A node whose label has none of these \
             letters and digits has its `id` as its name; nodes that share a label have their `id` behind it.",
        ),
        field(
            "parallel",
            FieldKind::Choice(&Parallel::NAMES),
            Absent::Default("refuse"),
            "Of `graphml`: what becomes of several edges between two nodes: an error, the fastest alone, or one link \
             with the rates of all.",
        ),
    ],
};
