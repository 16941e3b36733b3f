//! An experiment of which readings are taken.

/// A scenario, what is changed in it, and what is reported.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    /// Its name in the tables.
    pub(crate) name: String,
    /// The built-in scenario.
    pub(crate) scenario: &'static str,
    /// Changes, as for `--set`.
    pub(crate) set: Vec<String>,
    /// What is reported, a row each.
    pub(crate) measures: Vec<Measure>,
    /// Whether the page has it; the results have all.
    pub(crate) is_on_page: bool,
}

/// What is reported.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// What the row is called.
    pub(crate) label: String,
    pub(crate) what: What,
}

/// A quantity of flows by patterns of their names, one or several with spaces between, in which `*` stands for anything.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Throughput and loss.
    Rate {
        /// Whose, as a mean over those that match.
        of: String,
        /// Over whose mean throughput; none for kbit/s.
        over: Option<String>,
    },
    /// Jain's index of the throughput of all that match, each pattern in the window of this number.
    Index(Vec<(String, usize)>),
}

impl Experiment {
    /// An experiment without changes.
    pub(crate) fn new(scenario: &'static str) -> Experiment {
        Experiment {
            name: scenario.to_owned(),
            scenario,
            set: Vec::new(),
            measures: Vec::new(),
            is_on_page: true,
        }
    }

    /// The same under another name and with changes.
    pub(crate) fn with(mut self, name: &str, set: impl IntoIterator<Item = String>) -> Experiment {
        self.name = format!("{}, {name}", self.name);
        self.set.extend(set);
        self
    }

    /// The same with one more row.
    pub(crate) fn row(self, label: &str, of: &str, over: Option<&str>) -> Experiment {
        self.reporting(label, What::Rate { of: of.to_owned(), over: over.map(str::to_owned) })
    }

    /// The same with one more row, of Jain's index.
    pub(crate) fn index(self, label: &str, of: &[(&str, usize)]) -> Experiment {
        let of = of.iter().map(|&(pattern, window)| (pattern.to_owned(), window));
        self.reporting(label, What::Index(of.collect()))
    }

    fn reporting(mut self, label: &str, what: What) -> Experiment {
        self.measures.push(Measure { label: label.to_owned(), what });
        self
    }

    /// The same in the results alone.
    pub(crate) fn off_page(self) -> Experiment {
        Experiment { is_on_page: false, ..self }
    }

    /// The name of its directory.
    pub(crate) fn directory(&self) -> String {
        self.name.replace(", ", "+").replace([' ', '='], "-")
    }
}
