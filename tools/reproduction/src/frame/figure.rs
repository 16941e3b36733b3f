//! A paper's figure: where its numbers come from, what is drawn, and what the paper says of it.

use std::collections::BTreeMap;
use std::fmt;

use super::effort::Effort;
use super::scale::Scale;
use super::study::{Measured, Study};
use crate::readings::rhythm::Reading;
use crate::samples::{Placed, Samples};

/// A paper of which figures are regenerated.
pub(crate) struct Paper {
    /// Its name on the command line and in paths.
    pub(crate) name: &'static str,
    /// The heading of its pages.
    pub(crate) title: &'static str,
    /// Its claims, in TOML.
    pub(crate) claims: &'static str,
    /// What a reader of the page must know, in Markdown: what stands above the claims, and after a line of three
    /// dashes what stands below the figures.
    pub(crate) prose: &'static str,
    /// What is run.
    pub(crate) studies: Vec<Study>,
    /// How studies with drop-tail queues are read; the others are run as they are.
    pub(crate) readings: Vec<Read>,
    /// Claims are checked again with each of these.
    pub(crate) variants: Vec<Variant>,
    /// Its figures, in the paper's order.
    pub(crate) figures: Vec<Figure>,
}

/// Studies with drop-tail queues that are read in the same way.
pub(crate) struct Read {
    /// The reading that counts (docs/readings.md).
    pub(crate) primary: Reading,
    /// Whether claims are judged in the other readings too.
    pub(crate) in_all: bool,
    /// Their names.
    pub(crate) studies: Vec<&'static str>,
}

impl Paper {
    /// The reading of a study that counts; none of one that has no readings.
    pub(crate) fn primary(&self, study: &str) -> Option<Reading> {
        Some(self.readings.iter().find(|read| read.studies.contains(&study))?.primary)
    }

    /// The studies that are run in this reading although another one counts.
    pub(crate) fn also_in(&self, reading: Reading) -> impl Iterator<Item = &Study> {
        let read = self.readings.iter().filter(move |read| read.in_all && read.primary != reading);
        let names: Vec<&str> = read.flat_map(|read| read.studies.iter().copied()).collect();
        self.studies.iter().filter(move |study| names.contains(&study.name))
    }
}

/// Studies that stand in for others: the same grids with one thing changed that the paper leaves open.
pub(crate) struct Variant {
    /// Its name, for files.
    pub(crate) name: &'static str,
    /// What is changed, as it follows on "with".
    pub(crate) with: &'static str,
    /// Each study that is replaced, and the one that replaces it.
    pub(crate) replaced: Vec<(&'static str, &'static str)>,
}

/// What kind of numbers a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cells of a study.
    Sweep,
    /// An equation.
    Analytic,
    /// A component of the library fed with an invented series of values.
    Trace,
    /// One short simulation, without luck.
    TimeSeries,
}

impl Kind {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Sweep => "simulated",
            Kind::Analytic => "from equations",
            Kind::Trace => "a component of the library, fed with an invented series of values",
            Kind::TimeSeries => "one short simulation",
        }
    }
}

/// Makes what is drawn of what was measured.
type MakePanels = Box<dyn Fn(&Data) -> Vec<Panel>>;
/// Makes quantities of what was measured and what is drawn.
type Measure = Box<dyn Fn(&Data, &[Panel]) -> Measurements>;

/// What a paper calls something that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// A numbered figure.
    Figure(u32),
    /// A table, an example, or a section about an experiment without a figure: its full name.
    Other(&'static str),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Figure(number) => write!(f, "Figure {number}"),
            Label::Other(name) => f.write_str(name),
        }
    }
}

impl Label {
    /// The name of its files, without an ending.
    pub(crate) fn slug(self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        self.to_string().chars().map(plain).collect()
    }
}

/// A figure, or what else a paper shows.
pub(crate) struct Figure {
    /// What the paper calls it.
    pub(crate) label: Label,
    /// What it shows, in our words.
    pub(crate) title: &'static str,
    /// The section that describes it.
    pub(crate) section: &'static str,
    /// What kind of numbers it shows.
    pub(crate) kind: Kind,
    /// Makes what is drawn.
    pub(crate) panels: MakePanels,
    /// What it supplies to claims.
    pub(crate) supplies: Vec<Supply>,
}

/// Supplies quantities of a figure to claims.
pub(crate) struct Supply {
    /// Measures them.
    pub(crate) measure: Measure,
}

impl Supply {
    /// What studies or panels have.
    pub(crate) fn new(measure: impl Fn(&Data, &[Panel]) -> Measurements + 'static) -> Supply {
        Supply { measure: Box::new(measure) }
    }
}

/// Named quantities: samples at each of some places.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measurements(pub(crate) Vec<(&'static str, Vec<Placed>)>);

impl Measurements {
    /// One quantity.
    pub(crate) fn of(name: &'static str, places: Vec<Placed>) -> Measurements {
        Measurements(vec![(name, places)])
    }

    /// Both.
    pub(crate) fn and(mut self, other: Measurements) -> Measurements {
        self.0.extend(other.0);
        self
    }
}

/// What figures and quantities are made of.
#[derive(Clone)]
pub(crate) struct Data {
    /// How much was run.
    pub(crate) effort: Effort,
    /// By study.
    pub(crate) studies: BTreeMap<&'static str, Measured>,
}

impl Data {
    /// What figures and quantities are made of if some studies stand in for others.
    pub(crate) fn with(&self, variant: &Variant) -> Data {
        let mut studies = self.studies.clone();
        for (of, by) in &variant.replaced {
            studies.insert(of, self.study(by).clone());
        }
        Data { effort: self.effort, studies }
    }

    /// What a study measured; nothing of one that was not run.
    pub(crate) fn study(&self, name: &str) -> &Measured {
        static NOTHING: Measured = Measured::nothing();
        self.studies.get(name).unwrap_or(&NOTHING)
    }
}

/// One plot of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// What is along the side, with its unit.
    pub(crate) title: String,
    /// What is along the bottom, with its unit.
    pub(crate) across: &'static str,
    /// How values lie along the bottom.
    pub(crate) across_scale: Scale,
    /// How values lie along the side.
    pub(crate) up_scale: Scale,
    /// What is drawn.
    pub(crate) curves: Vec<Curve>,
    /// Whether all points stand in the page's table, or a few of them.
    pub(crate) table: Table,
}

/// How the page tabulates a panel's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// All of them.
    Whole,
    /// This many, evenly spread.
    About(usize),
}

/// One curve.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// What it is.
    pub(crate) name: String,
    /// How it looks.
    pub(crate) look: Style,
    /// Its points from left to right.
    pub(crate) points: Vec<(f64, Samples)>,
}

impl Curve {
    /// A curve without an interval of confidence.
    pub(crate) fn exact(name: &str, look: Style, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let points = points.into_iter().map(|(at, value)| (at, Samples::exactly(value)));
        Curve { name: name.to_owned(), look, points: points.collect() }
    }

    /// The samples at a position.
    pub(crate) fn at(&self, position: f64) -> Samples {
        let found = self.points.iter().find(|(at, _)| (at - position).abs() <= 1e-9 * position.abs());
        found.map_or_else(Samples::default, |(_, samples)| samples.clone())
    }
}

/// The curve of a name in a panel; an empty one if it is not there.
pub(crate) fn curve<'p>(panels: &'p [Panel], panel: usize, name: &str) -> Option<&'p Curve> {
    panels.get(panel)?.curves.iter().find(|curve| curve.name == name)
}

/// How a curve looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A line with a dot at each point, in one of eight colours.
    Dots(usize),
    /// A line, in one of eight colours.
    Line(usize),
    /// Dots without a line, in one of eight colours.
    Marks(usize),
    /// A thin grey line, to compare with.
    Guide,
    /// One of a family, from the first to the last.
    Family {
        /// Which.
        index: usize,
        /// Of how many.
        of: usize,
    },
}
