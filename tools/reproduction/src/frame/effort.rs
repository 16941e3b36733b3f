//! How much is run.

use layercast_core::units::Duration;

/// How long a replication lasts at most if everything is run briefly.
const BRIEF: Duration = Duration::from_secs(90);

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What the page says.
    Full,
    /// Everything, but short and seldom repeated: to see that it works.
    Quick,
}

impl Effort {
    /// What is changed in every cell of a study whose scenario lasts so long: what is short already keeps
    /// its length.
    pub(crate) fn overrides(self, duration: Duration) -> Vec<String> {
        if self == Effort::Full || duration <= BRIEF {
            return Vec::new();
        }
        vec![format!("duration={BRIEF}"), "windows=[[\"30 s\", \"end\"]]".to_owned()]
    }

    /// How many replications each cell has: in full, those of the scenario.
    pub(crate) fn replications(self) -> Option<u32> {
        (self == Effort::Quick).then_some(2)
    }

    /// The number of repetitions of an experiment that is not a scenario.
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
