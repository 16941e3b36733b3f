//! How rarely receivers report, so that any number of them sends a few reports a second together.
//!
//! Time is divided into rounds, the source's decision intervals. In a round each receiver reports with a probability that the
//! source announces as a power of two. The source counts: more than one report halves the probability as often as
//! brings them back to about one, none raises it by a fourth root of two. A new receiver begins with a far smaller
//! probability of its own and doubles it in each round, so that many who start at once are counted before all of
//! them have reported.

use layercast_core::math::pow;
use layercast_core::stream::Stream;

/// Steps of a quarter of an octave in a halving.
const OCTAVE: u8 = 4;
/// Rounds after a rise in which reports may still be those of before.
const HOLD: u8 = 4;
/// Octaves by which a new receiver reports more rarely than announced.
const NEWCOMER: u8 = 8;

/// The probability of a report in a round: 2^(-n/4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suppression(u8);

impl Suppression {
    /// n, as packets carry it.
    pub fn wire(self) -> u8 {
        self.0
    }

    /// From n.
    pub fn from_wire(quarters: u8) -> Suppression {
        Suppression(quarters)
    }

    /// The probability.
    pub fn probability(self) -> f64 {
        pow(0.5, f64::from(self.0) / f64::from(OCTAVE))
    }
}

/// The source's side.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportControl {
    suppression: Suppression,
    counted: u32,
    hold: u8,
}

impl ReportControl {
    /// What is announced.
    pub fn suppression(&self) -> Suppression {
        self.suppression
    }

    /// Counts a report.
    pub fn count(&mut self) {
        self.counted = self.counted.saturating_add(1);
    }

    /// A round has ended.
    pub fn end_round(&mut self) {
        let counted = core::mem::take(&mut self.counted);
        if self.hold > 0 {
            self.hold -= 1;
        } else if counted > 1 {
            // The logarithm, rounded up.
            let octaves = (32 - (counted - 1).leading_zeros()) as u8;
            self.suppression = Suppression(self.suppression.0.saturating_add(OCTAVE * octaves));
            self.hold = HOLD;
        } else if counted == 0 {
            self.suppression = Suppression(self.suppression.0.saturating_sub(1));
        }
    }
}

/// A receiver's side.
#[derive(Clone, Copy, Debug)]
pub struct ReportTurn {
    /// Octaves by which this receiver reports more rarely than announced.
    newcomer: u8,
    announced: Suppression,
}

impl Default for ReportTurn {
    fn default() -> Self {
        ReportTurn { newcomer: NEWCOMER, announced: Suppression::default() }
    }
}

impl ReportTurn {
    /// The source announces a probability.
    pub fn announced(&mut self, suppression: Suppression) {
        self.announced = suppression;
    }

    /// Whether to report in the round that begins.
    pub fn begin_round(&mut self, stream: &mut Stream) -> bool {
        let quarters = self.announced.0.saturating_add(OCTAVE * self.newcomer);
        self.newcomer = self.newcomer.saturating_sub(1);
        stream.chance(Suppression(quarters).probability())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Reports in each of `rounds` rounds of receivers that all start in the first one.
    fn rounds(receivers: usize, rounds: usize) -> Vec<u32> {
        let mut stream = Stream::new(1, "suppression");
        let mut control = ReportControl::default();
        let mut turns = vec![ReportTurn::default(); receivers];
        let mut counts = Vec::new();
        for _ in 0..rounds {
            let mut count = 0;
            for turn in &mut turns {
                turn.announced(control.suppression());
                count += u32::from(turn.begin_round(&mut stream));
            }
            (0..count).for_each(|_| control.count());
            control.end_round();
            counts.push(count);
        }
        counts
    }

    #[test]
    fn any_number_of_receivers_sends_about_one_report_in_a_round() {
        for receivers in [1, 3, 10, 100, 1_000, 20_000] {
            let counts = rounds(receivers, 400);
            let most = counts.iter().max().copied().unwrap_or_default();
            assert!(most <= 64.max(receivers as u32 / 40), "{receivers}: {most} at once");
            let later: u32 = counts[100..].iter().sum();
            assert!((60..=600).contains(&later), "{receivers}: {later} in 300 rounds");
        }
    }

    #[test]
    fn a_receiver_alone_reports_within_nine_rounds() {
        let counts = rounds(1, 20);
        assert!(
            counts[..9].iter().sum::<u32>() >= 1 && counts[9..].iter().all(|&count| count == 1),
            "{counts:?}"
        );
    }
}
