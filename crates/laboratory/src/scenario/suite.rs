//! What a suite of the scoreboard describes: cells, each a scenario with what is measured and judged in it.

use std::fmt;

/// A suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What errors call it: its path, or the name of the built-in one.
    pub file: String,
    /// Its own name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// How many replications each cell has, unless it says otherwise.
    pub replications: u32,
    /// The same in the brief version.
    pub brief_replications: u32,
    /// The seed of all cells.
    pub seed: u64,
    /// Protocols that take part only if they are asked for.
    pub except: Vec<String>,
    /// The cells, in the order of the file.
    pub cells: Vec<CellPlan>,
}

/// A cell: a scenario in which every protocol runs in turn, and how it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPlan {
    /// Its name.
    pub name: String,
    /// The line of the suite where it begins.
    pub line: usize,
    /// To which part it belongs.
    pub part: Part,
    /// What happens in it.
    pub about: Option<String>,
    /// The section of a paper or RFC that it comes from.
    pub source: String,
    /// The scenario's name, or the path of its file.
    pub scenario: String,
    /// The scenario's text.
    pub text: String,
    /// What is changed in the scenario for all protocols: `KEY=VALUE`.
    pub set: Vec<String>,
    /// What is changed in addition in the brief version; none if the cell is not in it.
    pub brief: Option<Vec<String>>,
    /// The sessions that the protocols run; all if empty.
    pub sessions: Vec<String>,
    /// Settings of single protocols: `PROTOCOL.OPTION=VALUE`.
    pub with: Vec<String>,
    /// Options that are set where a protocol has them: `OPTION=VALUE`.
    pub options_if_known: Vec<String>,
    /// The measure that is judged.
    pub measure: Measure,
    /// Patterns of the flows that the protocol is judged against; those of its group or node if empty.
    pub against: Vec<String>,
    /// The rate that some measures refer to, in kbit/s.
    pub target_kbps: Option<f64>,
    /// What is good.
    pub criterion: Criterion,
    /// How many replications it has, if not as many as the others.
    pub replications: Option<u32>,
}

/// The parts of a suite, which are judged in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Experiments of papers with their own measures: protocols are compared with the best.
    Papers,
    /// Networks of today: a value is in a band or not.
    Modern,
}

impl Part {
    /// Both, in the order of reports.
    pub const ALL: [Part; 2] = [Part::Papers, Part::Modern];

    /// Its name in suites.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Papers => "papers",
            Part::Modern => "modern",
        }
    }
}

/// What is good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// A value within the band. Outside of `starve`, if it is given, one side starves the other.
    Band {
        /// From and to.
        band: [f64; 2],
        /// From and to.
        starve: Option<[f64; 2]>,
    },
    /// The better value.
    Better {
        /// Which one that is.
        direction: Direction,
        /// Values up to this one are as good as it.
        negligible: f64,
    },
}

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// The higher.
    Higher,
    /// The lower.
    Lower,
    /// The one that is fewer times above or below this one.
    Nearer(f64),
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Band { band, starve } => {
                f.write_str(&range(*band))?;
                match starve {
                    Some([low, high]) if !high.is_finite() => write!(f, "; starves below {low}"),
                    Some([low, high]) if *low <= 0.0 => write!(f, "; starves above {high}"),
                    Some([low, high]) => write!(f, "; starves below {low} and above {high}"),
                    None => Ok(()),
                }
            }
            Criterion::Better { direction, negligible } => {
                match direction {
                    Direction::Higher => f.write_str("higher is better")?,
                    Direction::Lower => f.write_str("lower is better")?,
                    Direction::Nearer(to) => write!(f, "nearer to {to} is better")?,
                }
                if *negligible > 0.0 { write!(f, "; up to {negligible} is the same") } else { Ok(()) }
            }
        }
    }
}

/// `0.7 to 1.4`; an end that bounds nothing is left out.
fn range([low, high]: [f64; 2]) -> String {
    match (low <= 0.0, high.is_finite()) {
        (true, true) => format!("at most {high}"),
        (false, false) => format!("at least {low}"),
        _ => format!("{low} to {high}"),
    }
}

macro_rules! measures {
    ($($variant:ident, $name:literal, $unit:literal, $doc:literal;)+) => {
        /// What is measured of a protocol in a cell. Values are means over the receivers, unless stated otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Measure {
            $(#[doc = $doc] $variant,)+
        }

        impl Measure {
            /// All measures.
            pub const ALL: &'static [Measure] = &[$(Measure::$variant),+];
            /// Their names.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Its name in suites and files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Measure::$variant => $name,)+ }
            }

            /// Its unit; empty for plain numbers.
            #[must_use]
            pub fn unit(self) -> &'static str {
                match self { $(Measure::$variant => $unit,)+ }
            }

            /// What it is.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Measure::$variant => $doc,)+ }
            }
        }
    };
}

measures! {
    Share, "share", "", "Throughput over the mean of the TCP flows of the receiver's group, or else of its node, or of the flows under `against`.";
    LeastShare, "least_share", "", "The share of the receiver that has the least.";
    GreatestShare, "greatest_share", "", "The share of the receiver that has the most.";
    Closeness, "fair_share_closeness", "", "The share, or its inverse where that is less: 1 for an equal share.";
    Throughput, "throughput_kbps", "kbit/s", "Throughput of a receiver.";
    Jain, "jain_index", "", "Jain's index, mean over the groups with a receiver.";
    Loss, "loss_rate", "", "Packets lost over packets sent to a receiver.";
    Utilisation, "utilisation", "", "Use of the links that limit the receivers, or else are the fullest of their paths.";
    LevelChanges, "level_changes_per_min", "1/min", "Layers added and dropped.";
    ChannelJoins, "channel_joins_per_s", "1/s", "Channels joined by a receiver.";
    FairLevel, "fair_level_after_s", "s", "Time until a receiver first held the highest level that is at most a fair share.";
    Settled, "settled_after_s", "s", "Time after which the level stays within one of its final median.";
    LevelSpread, "level_spread", "levels", "The highest less the lowest mean level among the receivers.";
    ToTarget, "to_80_percent_s", "s", "Time from a receiver's start until a bin of the series with 80 % of `target`.";
    OthersLoss, "others_loss_rate", "", "Loss of the other flows, mean over flows.";
    OthersThroughput, "others_throughput_kbps", "kbit/s", "Throughput of the other flows together.";
    OthersWorstSecond, "others_worst_second", "", "The least throughput of the other flows together in a second of the window, over their equal share of `target`.";
    OthersHalf, "others_half_after_s", "s", "Time from the beginning of the window until the other flows together have half of their equal share of `target` for a second.";
    OthersCompletion, "others_completion_s", "s", "Time that a transfer or page of the other flows took, mean over transfers.";
    OthersKept, "others_kept", "", "Throughput of the other flows together over that of a run without multicast.";
    OthersSlowdown, "others_slowdown", "", "Time of the other flows' transfers or pages over that in a run without multicast.";
}

impl Measure {
    /// The measure of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Measure> {
        Measure::ALL.iter().copied().find(|measure| measure.name() == name)
    }

    /// The measure of other flows that it is the ratio of, to the same without multicast.
    #[must_use]
    pub fn relative_to_baseline(self) -> Option<Measure> {
        match self {
            Measure::OthersKept => Some(Measure::OthersThroughput),
            Measure::OthersSlowdown => Some(Measure::OthersCompletion),
            _ => None,
        }
    }

    /// Whether it needs a `target`.
    #[must_use]
    pub fn needs_target(self) -> bool {
        matches!(self, Measure::ToTarget | Measure::OthersWorstSecond | Measure::OthersHalf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_is_found_by_its_name() {
        assert_eq!(Measure::ALL.len(), Measure::NAMES.len());
        for measure in Measure::ALL {
            assert_eq!(Measure::named(measure.name()), Some(*measure));
            assert!(measure.doc().ends_with('.') && !measure.doc().contains('|'));
        }
        assert_eq!(Measure::named("speed"), None);
    }

    #[test]
    fn criteria_are_written_in_words() {
        let band = |band, starve| Criterion::Band { band, starve }.to_string();
        assert_eq!(band([0.7, 1.4], Some([0.3, 3.0])), "0.7 to 1.4; starves below 0.3 and above 3");
        assert_eq!(band([0.5, f64::INFINITY], Some([0.3, f64::INFINITY])), "at least 0.5; starves below 0.3");
        assert_eq!(band([f64::NEG_INFINITY, 1.3], Some([0.0, 3.0])), "at most 1.3; starves above 3");
        assert_eq!(band([0.0, 5.0], None), "at most 5");
        assert_eq!(band([0.5, f64::INFINITY], None), "at least 0.5");
        let better = |direction, negligible| Criterion::Better { direction, negligible }.to_string();
        assert_eq!(better(Direction::Nearer(1.0), 0.0), "nearer to 1 is better");
        assert_eq!(better(Direction::Lower, 0.01), "lower is better; up to 0.01 is the same");
    }
}
