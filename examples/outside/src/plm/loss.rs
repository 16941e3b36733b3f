//! Losses as the last resort: how large a share of packets is lost, and when that costs a layer.

use layercast_core::units::{Duration, Time};

use super::Options;

/// Watches the losses of all layers together.
///
/// A measurement begins with a loss, which it does not count, and ends after `loss_window`, with a decision
/// of the estimates, or when it costs a layer.
#[derive(Clone, Debug)]
pub struct LossWatch {
    threshold: f64,
    least_packets: u64,
    window: Duration,
    blind_period: Duration,
    blind_until: Time,
    measurement: Option<Measurement>,
}

#[derive(Clone, Copy, Debug)]
struct Measurement {
    ends: Time,
    received: u64,
    lost: u64,
}

impl LossWatch {
    /// A watch with these options.
    pub fn new(options: &Options) -> LossWatch {
        LossWatch {
            threshold: options.loss_threshold,
            least_packets: u64::from(options.loss_packets),
            window: options.loss_window,
            blind_period: options.blind_period,
            blind_until: Time::ZERO,
            measurement: None,
        }
    }

    /// A packet arrived, before which `lost` packets of its layer are missing. Whether the highest layer is
    /// to be left; the blind period has begun then.
    pub fn on_packet(&mut self, now: Time, lost: u64) -> bool {
        if let Some(measurement) = &mut self.measurement {
            measurement.received += 1;
            measurement.lost = measurement.lost.saturating_add(lost);
        }
        if lost == 0 {
            return false;
        }
        let is_blind = now < self.blind_until;
        if is_blind || self.measurement.is_none_or(|measurement| measurement.ends <= now) {
            self.measurement = Some(Measurement { ends: now + self.window, received: 0, lost: 0 });
            return false;
        }
        let is_heavy = self.measurement.is_some_and(|measurement| measurement.received >= self.least_packets)
            && self.share().is_some_and(|share| share > self.threshold);
        if is_heavy {
            self.measurement = None;
            self.blind_until = now + self.blind_period;
        }
        is_heavy
    }

    /// Forgets the losses so far. A blind period goes on.
    pub fn restart(&mut self) {
        self.measurement = None;
    }

    /// Whether a measurement runs at `now`: its first loss was a new event.
    pub fn is_measuring(&self, now: Time) -> bool {
        self.measurement.is_some_and(|measurement| now < measurement.ends)
    }

    /// The share of lost packets in the measurement.
    pub fn share(&self) -> Option<f64> {
        let Measurement { received, lost, .. } = self.measurement?;
        let all = received.saturating_add(lost);
        (all > 0).then(|| lost as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Packets every 10 ms from `ms` on, each with so many lost before it; when one of them costs a layer.
    fn run(watch: &mut LossWatch, ms: u64, lost: &[u64]) -> Option<u64> {
        let mut times = (ms..).step_by(10);
        lost.iter().find_map(|&lost| times.next().filter(|&ms| watch.on_packet(at(ms), lost)))
    }

    #[test]
    fn a_tenth_lost_is_borne_and_more_costs_a_layer() {
        let mut watch = LossWatch::new(&Options::default());
        // The first loss begins the measurement; then one of ten, and ten more, is no more than a tenth.
        assert_eq!(run(&mut watch, 0, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(watch.share(), Some(0.1));
        assert_eq!(run(&mut watch, 100, &[0, 0, 0, 1]), Some(130));
        assert_eq!(watch.share(), None);
    }

    #[test]
    fn few_packets_and_old_losses_prove_nothing() {
        let mut watch = LossWatch::new(&Options::default());
        assert_eq!(run(&mut watch, 0, &[5, 5, 5, 5, 5, 5, 5, 5, 5, 5]), None, "nine have arrived");
        assert!(watch.is_measuring(at(4999)) && !watch.is_measuring(at(5000)));
        assert_eq!(run(&mut watch, 5000, &[5]), None, "a new measurement");
        watch.restart();
        assert_eq!(run(&mut watch, 6000, &[5]), None, "another one");
    }

    #[test]
    fn a_blind_period_sees_no_losses() {
        let mut watch = LossWatch::new(&Options::default());
        let heavy = [1; 40];
        assert_eq!(run(&mut watch, 0, &heavy), Some(100));
        assert_eq!(run(&mut watch, 110, &heavy), None, "blind until 600 ms");
        assert_eq!(
            run(&mut watch, 590, &heavy),
            Some(690),
            "measured from the last loss in the blind period on"
        );
    }

    proptest! {
        #[test]
        fn leaves_lie_a_blind_period_apart_and_shares_are_shares(
            packets in prop::collection::vec((0..300u64, any::<u64>()), 0..200),
        ) {
            let mut watch = LossWatch::new(&Options::default());
            let (mut now, mut last) = (Time::ZERO, None);
            for (ms, lost) in packets {
                now += Duration::from_ms(ms);
                if watch.on_packet(now, if lost % 3 == 0 { lost } else { 0 }) {
                    let apart = last.replace(now).is_none_or(|last| now.since(last) >= Duration::from_ms(500));
                    prop_assert!(apart);
                }
                prop_assert!(watch.share().is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }
    }
}
