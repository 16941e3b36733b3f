//! The laws that sizes and times are drawn from.

use super::{NONE, REQUIRED, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

const LAWS: &[&str] = &["uniform", "exponential", "pareto", "log-normal", "weibull"];
const AS_NEEDED: Absent = Absent::Means("as the law needs");
const LAW: &str = "`exponential` needs `mean`; `pareto` and `weibull` `mean` and `shape`; `log-normal` `mean` and \
                   `sigma`; `uniform` `low` and `high`.";
const MEAN: &str = "The mean.";
const SHAPE: &str = "Of `pareto`, above 1: the power of the tail, up to 2 with infinite variance. Of `weibull`: 1 is \
                     exponential, less has a heavier tail.";
const SIGMA: &str = "Of `log-normal`: the standard deviation of the natural logarithm.";

/// A law of sizes.
pub const SIZE_LAW: TableSpec = TableSpec {
    name: "size-law",
    doc: "A law that sizes are drawn from.",
    example: "{ law = \"pareto\", mean = \"20 kB\", shape = 1.3 }",
    choice: Some("law"),
    options: None,
    fields: &[
        field("law", FieldKind::Choice(LAWS), REQUIRED, LAW),
        field("mean", FieldKind::Size, AS_NEEDED, MEAN),
        field("shape", FieldKind::Positive, AS_NEEDED, SHAPE),
        field("sigma", FieldKind::Positive, AS_NEEDED, SIGMA),
        field("low", FieldKind::Size, NONE, "Of `uniform`: the smallest."),
        field("high", FieldKind::Size, NONE, "Of `uniform`: the largest."),
    ],
};

/// A law of times.
pub const TIME_LAW: TableSpec = TableSpec {
    name: "time-law",
    doc: "A law that times are drawn from.",
    example: "{ law = \"exponential\", mean = \"200 ms\" }",
    choice: Some("law"),
    options: None,
    fields: &[
        field("law", FieldKind::Choice(LAWS), REQUIRED, LAW),
        field("mean", FieldKind::Period, AS_NEEDED, MEAN),
        field("shape", FieldKind::Positive, AS_NEEDED, SHAPE),
        field("sigma", FieldKind::Positive, AS_NEEDED, SIGMA),
        field("low", FieldKind::Duration, NONE, "Of `uniform`: the smallest."),
        field("high", FieldKind::Period, NONE, "Of `uniform`: the largest."),
    ],
};
