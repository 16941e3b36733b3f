//! What source and receivers agree on.

use core::fmt;
use core::ops::RangeInclusive;

use layercast_core::units::Duration;
use toml_edit::TableLike;

/// The shortest and the longest deadline.
pub const DEADLINES: RangeInclusive<Duration> = Duration::from_ms(10)..=Duration::from_secs(60);

/// The longest unit in bytes: a frame of video in the highest quality has less.
pub const LONGEST_UNIT: usize = 1 << 20;

/// How an input is divided into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Units of this many bytes, the last one of an input of up to so many; outputs have them one after the other.
    Fixed(u32),
    /// Before each unit its length in bytes, in 32 bits, network byte order; in outputs as well.
    Length,
}

/// What source and receivers of a stream agree on, as the session description says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPlan {
    /// The time from the arrival of a unit at the source until its delivery, less the shortest transit time of the path.
    pub deadline: Duration,
    /// How inputs and outputs are divided.
    pub units: Units,
}

impl StreamPlan {
    /// Whether the deadline and the length of units are in their ranges.
    pub fn is_valid(&self) -> bool {
        let fits = match self.units {
            Units::Fixed(bytes) => (1..=LONGEST_UNIT).contains(&(bytes as usize)),
            Units::Length => true,
        };
        fits && DEADLINES.contains(&self.deadline)
    }

    /// The plan in a session description; none if it is invalid.
    pub(crate) fn read(table: &dyn TableLike) -> Option<StreamPlan> {
        let integer = |key| table.get(key).and_then(toml_edit::Item::as_integer);
        let ms = u64::try_from(integer("deadline_ms")?).ok()?;
        let units = match table.get("unit_bytes") {
            None => Units::Length,
            Some(_) => Units::Fixed(u32::try_from(integer("unit_bytes")?).ok()?),
        };
        // Beyond the longest deadline, and without overflow.
        let deadline = Duration::from_ms(ms.min(DEADLINES.end().as_ns()));
        Some(StreamPlan { deadline, units }).filter(StreamPlan::is_valid)
    }
}

/// As in a session description.
impl fmt::Display for StreamPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{ deadline_ms = {}", self.deadline.as_ns() / 1_000_000)?;
        match self.units {
            Units::Fixed(bytes) => write!(f, ", unit_bytes = {bytes} }}"),
            Units::Length => write!(f, " }}"),
        }
    }
}
