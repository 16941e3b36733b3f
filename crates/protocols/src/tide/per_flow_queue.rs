//! Queues for each flow: FQ-CoDel gives every channel its own queue, so a session of k channels may take k shares.
//!
//! A queue that all channels share loses packets of each in proportion to its rate. Queues for each flow lose those
//! of the fastest channels only: these exceed the share of one flow, and their rate shows what it is.

/// The weight of a loss.
const WEIGHT: f64 = 1.0 / 32.0;

/// Losses without which nothing is said.
const FEWEST: u32 = 16;

/// Queues are separate if losses are so much more among the fastest channels than in a shared queue.
const SEPARATE: f64 = 0.7;

/// Other flows for which the share is exact (CHOICE). A session does not know how many there are: next to one it takes two
/// thirds of a share, next to sixteen 1.6, which costs each of them four in a hundred.
const OTHERS: f64 = 3.0;

/// One flow's share in units of the rate at which channels lose. With n other flows and a part f = 1 - P of the session's rate on its
/// fastest channel, that channel loses when it has what each of the others has; a flow in place of the session would have (1/f + n) / (n + 1)
/// of it.
fn one_flow(fall: f64) -> f64 {
    (1.0 / (1.0 - fall) + OTHERS) / (1.0 + OTHERS)
}

/// Where losses are among the channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerFlowQueueDetector {
    /// The part of packets on channels at least as fast as that of a loss, relative to its mean in a shared queue.
    place: f64,
    /// The rate of the channels that lose.
    rate: f64,
    losses: u32,
}

impl Default for PerFlowQueueDetector {
    fn default() -> Self {
        PerFlowQueueDetector { place: 1.0, rate: 0.0, losses: 0 }
    }
}

impl PerFlowQueueDetector {
    /// A loss on the channel with this index; `rates` are those of the channels held, slowest first.
    pub(super) fn on_loss(&mut self, rates: impl Iterator<Item = f64> + Clone, channel: usize) {
        let total: f64 = rates.clone().sum();
        let (mut slower, mut expected, mut place, mut of_channel) = (0.0, 0.0, 1.0, 0.0);
        for (index, rate) in rates.enumerate() {
            let faster = (total - slower) / total;
            expected += rate / total * faster;
            if index == channel {
                (place, of_channel) = (faster, rate);
            }
            slower += rate;
        }
        if expected > 0.0 && of_channel > 0.0 {
            let weight = if self.losses == 0 { 1.0 } else { WEIGHT };
            self.rate += weight * (of_channel - self.rate);
            self.place += WEIGHT * (place / expected - self.place);
            self.losses = self.losses.saturating_add(1);
        }
    }

    /// The share of one flow, if each has its own queue, for waves whose rate falls by this factor in a slot.
    pub(super) fn share(&self, fall: f64) -> Option<f64> {
        (self.losses >= FEWEST && self.place < SEPARATE).then_some(one_flow(fall) * self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::math::{floor, pow};

    /// The rates of a base and seven waves.
    fn rates() -> impl Iterator<Item = f64> + Clone {
        (0..8).map(|wave| 100.0 * pow(0.75, -f64::from(wave)))
    }

    #[test]
    fn losses_in_proportion_to_rates_are_of_one_queue() {
        let mut isolation = PerFlowQueueDetector::default();
        for number in 0..1000 {
            // The golden ratio spreads the losses evenly.
            let spread = f64::from(number) * 0.618_034;
            let mut at = (spread - floor(spread)) * rates().sum::<f64>();
            let channel = rates().position(|rate| {
                at -= rate;
                at < 0.0
            });
            isolation.on_loss(rates(), channel.unwrap_or(7));
            assert_eq!(isolation.share(0.75), None);
        }
    }

    #[test]
    fn losses_of_the_fastest_channel_show_the_share_of_one_flow() {
        let mut isolation = PerFlowQueueDetector::default();
        (0..40).for_each(|_| isolation.on_loss(rates(), 7));
        let newest = rates().last().unwrap_or_default();
        assert!(isolation.share(0.75).is_some_and(|share| (share / newest / 1.75 - 1.0).abs() < 1e-6));
    }

    #[test]
    fn few_channels_or_losses_say_nothing() {
        let mut isolation = PerFlowQueueDetector::default();
        (0..15).for_each(|_| isolation.on_loss(rates(), 7));
        assert_eq!(isolation.share(0.75), None);
        (0..100).for_each(|_| isolation.on_loss(rates().take(1), 0));
        assert_eq!(isolation.share(0.75), None);
        isolation.on_loss(rates(), 8);
    }
}
