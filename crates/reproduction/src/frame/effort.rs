//! How much is run.

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What the page tells.
    Full,
    /// Everything, but short and seldom repeated: to see that it works.
    Quick,
}

impl Effort {
    /// What is changed in every cell of a study.
    pub(crate) fn overrides(self) -> Vec<String> {
        match self {
            Effort::Full => Vec::new(),
            Effort::Quick => vec!["duration=90 s".to_owned(), "windows=[[\"30 s\", \"end\"]]".to_owned()],
        }
    }

    /// How many replications each cell has: in full, those of the scenario.
    pub(crate) fn replications(self) -> Option<u32> {
        (self == Effort::Quick).then_some(2)
    }

    /// How often something is repeated that is no scenario.
    pub(crate) fn repetitions(self) -> u32 {
        self.replications().unwrap_or(15)
    }

    /// What its directories are called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Effort::Full => "full",
            Effort::Quick => "quick",
        }
    }
}
