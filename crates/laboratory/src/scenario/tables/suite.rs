//! The tables of a suite of the scoreboard.

use super::super::field::{Absent, FieldKind, TableSpec};
use super::super::suite::Measure;
use super::{NONE, REQUIRED, field};

/// The whole file.
pub const SUITE: TableSpec = TableSpec {
    name: "suite",
    doc: "The top of the file.",
    example: "",
    choice: None,
    options: None,
    fields: &[
        field("name", FieldKind::Text, REQUIRED, "What the suite is called in tables and reports."),
        field("description", FieldKind::Text, NONE, "What it is for."),
        field(
            "replications",
            FieldKind::Count(1, 1000),
            Absent::Default("5"),
            "How many replications each protocol has in a cell.",
        ),
        field(
            "brief_replications",
            FieldKind::Count(1, 1000),
            Absent::Default("2"),
            "The same with `--brief`.",
        ),
        field(
            "seed",
            FieldKind::Seed,
            Absent::Default("1"),
            "Where the random streams of all cells come from.",
        ),
        field(
            "except",
            FieldKind::Texts,
            NONE,
            "Protocols that take part only if `--protocols` names them. All others with layers do.",
        ),
        field("defaults", FieldKind::Table(&SUITE_DEFAULTS), NONE, "What holds for all cells of a part."),
        field("cells", FieldKind::Tables(&CELL), REQUIRED, "The cells, under their names."),
    ],
};

/// What cells of a part have in common.
pub const SUITE_DEFAULTS: TableSpec = TableSpec {
    name: "suite-defaults",
    doc: "What holds for all cells of a part unless they say otherwise. The lists `set` and `with` are added up, all else \
          is taken over key by key.",
    example: "{ modern = { scenario = \"bottleneck.toml\" } }",
    choice: None,
    options: None,
    fields: &[
        field("papers", FieldKind::Table(&CELL), NONE, "For the cells of papers."),
        field("modern", FieldKind::Table(&CELL), NONE, "For the cells of networks of today."),
    ],
};

/// A cell.
pub const CELL: TableSpec = TableSpec {
    name: "cell",
    doc: "A scenario in which every protocol runs in turn, and how it is judged.",
    example: "{ part = \"modern\", scenario = \"bottleneck.toml\", measure = \"share\", band = [0.7, 1.4], source = \"RFC 5166\" }",
    choice: None,
    options: None,
    fields: &[
        field(
            "part",
            FieldKind::Choice(&["papers", "modern"]),
            REQUIRED,
            "`papers`: protocols are compared with the best by `better`. `modern`: a value lies in `band` or not.",
        ),
        field("about", FieldKind::Text, NONE, "What happens in it."),
        field("source", FieldKind::Text, REQUIRED, "The section of a paper or RFC that it comes from."),
        field(
            "scenario",
            FieldKind::Text,
            REQUIRED,
            "A scenario file, relative to the suite, or the name of a built-in scenario.",
        ),
        field(
            "set",
            FieldKind::Texts,
            NONE,
            "Changes of the scenario for all protocols, as `--set` takes them.",
        ),
        field(
            "brief",
            FieldKind::TextsOrNone,
            Absent::Means("the cell is left out"),
            "Further changes with `--brief`; an empty list for none.",
        ),
        field("sessions", FieldKind::Texts, Absent::Means("all"), "The sessions that the protocols run."),
        field(
            "with",
            FieldKind::Texts,
            NONE,
            "Options of single protocols, their layers, packet size or ECN, as `layercast compare --with` takes them; \
             `*` stands for every protocol, and its own settings come after those.",
        ),
        field(
            "options_if_known",
            FieldKind::Texts,
            NONE,
            "Options that every protocol gets that has them, such as [\"fair_to=cubic\"]. [\"ecn=true\"] is for those to which \
             marks count.",
        ),
        field("measure", FieldKind::Choice(Measure::NAMES), REQUIRED, "What is judged."),
        field(
            "against",
            FieldKind::Texts,
            Absent::Means("the TCP flows of a receiver's group, or else of its node"),
            "The flows whose mean throughput shares refer to: names, in which `*` stands for any characters.",
        ),
        field(
            "target",
            FieldKind::Rate,
            NONE,
            "The rate that `to_80_percent_s`, `others_worst_second` and `others_half_after_s` refer to.",
        ),
        field(
            "band",
            FieldKind::Band,
            Absent::Means("of modern cells required"),
            "The least and the greatest value that are good; \"any\" for no bound.",
        ),
        field(
            "starve",
            FieldKind::Band,
            NONE,
            "The least and the greatest value without starvation: of shares those of each receiver.",
        ),
        field(
            "better",
            FieldKind::Choice(&["higher", "lower", "nearer"]),
            Absent::Means("of cells of papers required"),
            "Which value is better.",
        ),
        field("to", FieldKind::Positive, Absent::Default("1"), "Of `nearer`: to which value."),
        field(
            "negligible",
            FieldKind::Positive,
            Absent::Means("every difference counts"),
            "Of `lower` and `higher`: values up to this one are as good as it.",
        ),
        field(
            "replications",
            FieldKind::Count(1, 1000),
            Absent::Means("those of the suite"),
            "How many replications each protocol has in this cell, with `--brief` at most those of the suite.",
        ),
    ],
};

/// All tables of suites, in the order of the documentation.
pub const SUITE_TABLES: &[&TableSpec] = &[&SUITE, &SUITE_DEFAULTS, &CELL];
