//! Bars with intervals, of the page's own boxes: they fit any width.

use maud::{Markup, html};

use crate::compare::interval;
use crate::results::Statistic;

/// Their look.
pub(crate) const RULES: &str = "
.bars { display: grid; grid-template-columns: minmax(0, max-content) minmax(80px, 1fr) max-content; gap: 5px 12px; align-items: center; margin: 12px 0 }
.bars .track { position: relative; height: 14px; --edge: var(--ink, var(--muted)) }
.bars .bar { position: absolute; top: 2px; bottom: 2px; background: var(--edge); border-radius: 2px; opacity: .75; min-width: 1px }
.bars .round1 .bar, .bars .round2 .bar, .bars .round3 .bar { background: none; border: 2px solid var(--edge) }
.bars .round2 .bar { border-style: dotted } .bars .round3 .bar { border-style: dashed }
.bars .reach { position: absolute; top: 6px; height: 2px; background: var(--text); min-width: 2px }
.bars .end { position: absolute; top: 3px; bottom: 3px; width: 0; border-left: 2px solid var(--text); margin-left: -1px }
.bars .one { position: absolute; top: -3px; bottom: -3px; width: 0; border-left: 2px dashed var(--muted) }
.bars span { font-size: 14px; overflow-wrap: anywhere } .bars .value { text-align: right; font-variant-numeric: tabular-nums }
@media (max-width: 640px) { .bars { gap: 5px 8px } .bars span { font-size: 12px } }
";

/// A bar: from zero to the mean.
pub(crate) struct Bar<'a> {
    /// What it is of.
    pub(crate) label: &'a str,
    /// The classes that give its colour.
    pub(crate) class: String,
    pub(crate) statistic: &'a Statistic,
    /// What stands at its right.
    pub(crate) text: String,
}

/// Bars on one scale, which holds zero.
pub(crate) struct Bars<'a> {
    /// The metric, which decides whether an interval is possible.
    pub(crate) metric: &'static str,
    /// Where a dashed line stands.
    pub(crate) line: Option<f64>,
    /// The scale reaches at least to here.
    pub(crate) least: f64,
    pub(crate) bars: Vec<Bar<'a>>,
}

impl Bars<'_> {
    pub(crate) fn markup(&self) -> Markup {
        let ends = self.bars.iter().flat_map(|bar| {
            let (low, high) = interval::drawn(bar.statistic, self.metric).unzip();
            [bar.statistic.mean, low, high].into_iter().flatten()
        });
        let (low, high) = ends.fold((0.0_f64, self.least), |(low, high), end| (low.min(end), high.max(end)));
        let span = (high - low).max(f64::MIN_POSITIVE);
        let at = |value: f64| (value - low) / span * 100.0;
        let place = |from: f64, to: f64| {
            format!("left:{:.2}%;width:{:.2}%", at(from.min(to)), (to - from).abs() / span * 100.0)
        };
        html! {
            div.bars { @for bar in &self.bars {
                span { (bar.label) }
                div.track.(bar.class) {
                    @if let Some(mean) = bar.statistic.mean { div.bar style=(place(0.0, mean)) {} }
                    @if let Some((from, to)) = interval::drawn(bar.statistic, self.metric) {
                        div.reach style=(place(from, to)) {}
                        @for end in [from, to] { div.end style=(format!("left:{:.2}%", at(end))) {} }
                    }
                    @if let Some(line) = self.line { div.one style=(format!("left:{:.2}%", at(line))) {} }
                }
                span.value { (bar.text) }
            } }
        }
    }
}
