//! How much is run.

use layercast_core::units::Duration;

use crate::readings::rhythm::PHASES;

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

    /// At which of a reading's delays it is run, and how often at each: as often in all as the scenario says where the
    /// reading counts, else once at each.
    pub(crate) fn phases(self, of_scenario: u32, counts: bool) -> (Vec<u8>, u32) {
        let each = if counts { of_scenario.div_ceil(u32::from(PHASES)) } else { 1 };
        match self {
            Effort::Full => ((0..PHASES).collect(), each),
            Effort::Quick => (vec![0, PHASES / 2], 1),
        }
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
