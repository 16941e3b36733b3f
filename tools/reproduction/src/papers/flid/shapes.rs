//! Panels of this paper, with little said.

use crate::frame::figure::{Curve, Panel, Style, Table};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

/// A curve with a dot at each point.
pub(super) fn dots(name: &str, hue: usize, points: impl IntoIterator<Item = (f64, Samples)>) -> Curve {
    Curve { name: name.to_owned(), look: Style::Dots(hue), points: points.into_iter().collect() }
}

/// A line through values that are not from an experiment, or a time series.
pub(super) fn line(name: &str, hue: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
    Curve::exact(name, Style::Line(hue), points)
}

/// A panel with both axes linear and all its points in the table.
pub(super) fn panel(title: &str, across: &'static str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across,
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    }
}

impl Panel {
    /// By factors along the bottom.
    pub(super) fn by_factors_across(self) -> Panel {
        Panel { across_scale: Scale::Logarithmic, ..self }
    }

    /// By factors along the side.
    pub(super) fn by_factors_up(self) -> Panel {
        Panel { up_scale: Scale::Logarithmic, ..self }
    }

    /// The number of points in the table.
    pub(super) fn about(self, count: usize) -> Panel {
        Panel { table: Table::About(count), ..self }
    }
}

/// A number at a position.
pub(super) fn at(name: impl ToString, samples: Samples) -> Placed {
    (name.to_string(), samples)
}
