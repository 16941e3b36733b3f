//! The distributions that sizes and times are drawn from.

use layercast_core::choices;

use super::{NONE, REQUIRED, field};
use crate::scenario::field::{Absent, FieldKind, TableSpec};

choices! {
    /// A distribution without its parameters.
    pub enum DistributionKind {
        /// Equally likely between two bounds.
        Uniform = "uniform",
        /// The times of a Poisson process.
        Exponential = "exponential",
        /// A heavy tail.
        Pareto = "pareto",
        /// The logarithm is normal.
        LogNormal = "log-normal",
        /// A tail by its shape.
        Weibull = "weibull",
    }
}

const AS_NEEDED: Absent = Absent::Means("as the distribution needs");
const NAME: &str = "`exponential` needs `mean`; `pareto` and `weibull` `mean` and `shape`; `log-normal` `mean` and \
                   `sigma`; `uniform` `low` and `high`.";
const MEAN: &str = "The mean.";
const SHAPE: &str = "Of `pareto`, above 1: the power of the tail, up to 2 with infinite variance. Of `weibull`: 1 is \
                     exponential, less has a heavier tail.";
const SIGMA: &str = "Of `log-normal`: the standard deviation of the natural logarithm.";

/// A distribution of sizes.
pub const SIZE_DISTRIBUTION: TableSpec = TableSpec {
    name: "size-distribution",
    doc: "A distribution that sizes are drawn from.",
    example: "{ distribution = \"pareto\", mean = \"20 kB\", shape = 1.3 }",
    choice: Some("distribution"),
    options: None,
    fields: &[
        field("distribution", FieldKind::Choice(&DistributionKind::NAMES), REQUIRED, NAME),
        field("mean", FieldKind::Size, AS_NEEDED, MEAN),
        field("shape", FieldKind::Positive, AS_NEEDED, SHAPE),
        field("sigma", FieldKind::Positive, AS_NEEDED, SIGMA),
        field("low", FieldKind::Size, NONE, "Of `uniform`: the smallest."),
        field("high", FieldKind::Size, NONE, "Of `uniform`: the largest."),
    ],
};

/// A distribution of times.
pub const TIME_DISTRIBUTION: TableSpec = TableSpec {
    name: "time-distribution",
    doc: "A distribution that times are drawn from.",
    example: "{ distribution = \"exponential\", mean = \"200 ms\" }",
    choice: Some("distribution"),
    options: None,
    fields: &[
        field("distribution", FieldKind::Choice(&DistributionKind::NAMES), REQUIRED, NAME),
        field("mean", FieldKind::Period, AS_NEEDED, MEAN),
        field("shape", FieldKind::Positive, AS_NEEDED, SHAPE),
        field("sigma", FieldKind::Positive, AS_NEEDED, SIGMA),
        field("low", FieldKind::Duration, NONE, "Of `uniform`: the smallest."),
        field("high", FieldKind::Period, NONE, "Of `uniform`: the largest."),
    ],
};
