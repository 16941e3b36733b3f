//! Bandwidth from packet pairs, and the smallest estimate of a check period.

use layercast_core::units::{Duration, Rate, Seq, Size, Time};

use super::Counted;

/// A packet of a layer that arrived, and was not seen before.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Its number on its layer.
    pub seq: Seq,
    /// When it arrived.
    pub at: Time,
    /// Its size.
    pub size: Size,
    /// The bytes that have arrived of the session, this packet included.
    pub session_bytes: u64,
    /// Whether it is the first packet of a pair.
    pub is_first: bool,
}

/// Measures the pairs of one layer.
#[derive(Clone, Debug)]
pub struct PairMeter {
    counted: Counted,
    /// The first packet of a pair whose second has not arrived.
    first: Option<Arrived>,
}

impl PairMeter {
    /// A meter that counts these packets.
    pub fn new(counted: Counted) -> PairMeter {
        PairMeter { counted, first: None }
    }

    /// The next packet of the layer. The second packet of a pair gives an estimate, provided that it is the
    /// very next one after the first.
    pub fn on_packet(&mut self, packet: Arrived) -> Option<Rate> {
        if packet.is_first {
            self.first = Some(packet);
            return None;
        }
        let first = self.first.take().filter(|first| packet.seq == first.seq.next())?;
        let bytes = match self.counted {
            Counted::Pair => u64::from(packet.size.as_bytes()),
            Counted::Session => packet.session_bytes.saturating_sub(first.session_bytes),
        };
        Some(rate_of(bytes, packet.at.since(first.at)))
    }

    /// Forgets a pair that is not complete.
    pub fn reset(&mut self) {
        self.first = None;
    }
}

/// So many bytes in that time, which counts as at least a nanosecond.
fn rate_of(bytes: u64, spacing: Duration) -> Rate {
    Rate::from_bytes_per_s(bytes as f64 * 1e9 / spacing.as_ns().max(1) as f64)
}

/// Collects the estimates of all layers until it is time to decide.
#[derive(Clone, Debug)]
pub struct CheckPeriod {
    length: Duration,
    least_estimates: u32,
    estimates: u32,
    smallest: Option<Rate>,
    /// The end of the period; none before the first estimate.
    ends: Option<Time>,
}

impl CheckPeriod {
    /// Periods of `length` with no fewer than `least_estimates`.
    pub fn new(length: Duration, least_estimates: u32) -> CheckPeriod {
        CheckPeriod { length, least_estimates, estimates: 0, smallest: None, ends: None }
    }

    /// Takes an estimate. The one that ends the period gives the smallest of all of them, and the next period
    /// begins.
    pub fn on_estimate(&mut self, now: Time, rate: Rate) -> Option<Rate> {
        self.estimates = self.estimates.saturating_add(1);
        let smallest = self.smallest.map_or(rate, |smallest| if rate < smallest { rate } else { smallest });
        self.smallest = Some(smallest);
        let ends = *self.ends.get_or_insert(now + self.length);
        if now < ends || self.estimates < self.least_estimates {
            return None;
        }
        self.restart(now);
        Some(smallest)
    }

    /// Begins a period at `now` without the estimates so far.
    pub fn restart(&mut self, now: Time) {
        self.estimates = 0;
        self.smallest = None;
        self.ends = Some(now + self.length);
    }

    /// Waits for the first estimate, as at the start of a session.
    pub fn reset(&mut self) {
        self.restart(Time::ZERO);
        self.ends = None;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn packet(seq: u64, at_us: u64, is_first: bool) -> Arrived {
        let at = Time::ZERO + Duration::from_us(at_us);
        Arrived { seq: Seq(seq), at, size: Size::from_bytes(500), session_bytes: 500 * (seq + 1), is_first }
    }

    /// The estimate of a pair of 500 bytes with this spacing and these bytes of the session before its second.
    fn pair(counted: Counted, spacing_ns: u64, other_bytes: u64) -> Rate {
        let mut meter = PairMeter::new(counted);
        let first = packet(0, 0, true);
        let at = first.at + Duration::from_ns(spacing_ns);
        let session_bytes = first.session_bytes.saturating_add(other_bytes).saturating_add(500);
        assert_eq!(meter.on_packet(first), None);
        let second = Arrived { at, session_bytes, ..packet(1, 0, false) };
        meter.on_packet(second).expect("an estimate")
    }

    #[test]
    fn a_pair_shows_the_bandwidth_of_its_spacing() {
        // 500 bytes in 8 ms.
        assert_eq!(pair(Counted::Pair, 8_000_000, 0), Rate::from_kbps(500.0));
        assert_eq!(pair(Counted::Session, 8_000_000, 0), Rate::from_kbps(500.0));
        // Another layer's packet between the two took a part of the time.
        assert_eq!(pair(Counted::Pair, 16_000_000, 500), Rate::from_kbps(250.0));
        assert_eq!(pair(Counted::Session, 16_000_000, 500), Rate::from_kbps(500.0));
    }

    #[test]
    fn only_a_complete_pair_in_sequence_counts() {
        let mut meter = PairMeter::new(Counted::Pair);
        assert_eq!(meter.on_packet(packet(1, 0, false)), None, "a second packet without its first");
        assert_eq!(meter.on_packet(packet(2, 0, true)), None);
        assert_eq!(meter.on_packet(packet(4, 10, true)), None, "the second packet was lost");
        assert_eq!(
            meter.on_packet(packet(7, 20, false)),
            None,
            "a second packet and the next first were lost"
        );
        assert_eq!(meter.on_packet(packet(8, 30, true)), None);
        meter.reset();
        assert_eq!(meter.on_packet(packet(9, 40, false)), None, "the pair was forgotten");
        assert_eq!(meter.on_packet(packet(10, 50, true)), None);
        assert!(meter.on_packet(packet(11, 60, false)).is_some());
        assert_eq!(meter.on_packet(packet(12, 70, false)), None, "a pair counts once");
    }

    #[test]
    fn the_smallest_estimate_decides_at_the_end_of_a_period() {
        let mut check = CheckPeriod::new(Duration::from_secs(1), 3);
        let kbps = Rate::from_kbps;
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        assert_eq!(
            check.on_estimate(at(500), kbps(300.0)),
            None,
            "the period begins with the first estimate"
        );
        assert_eq!(check.on_estimate(at(1499), kbps(200.0)), None);
        assert_eq!(check.on_estimate(at(1500), kbps(400.0)), Some(kbps(200.0)));
        assert_eq!(check.on_estimate(at(2500), kbps(300.0)), None, "three at least");
        assert_eq!(check.on_estimate(at(2600), kbps(500.0)), None);
        assert_eq!(check.on_estimate(at(2700), kbps(400.0)), Some(kbps(300.0)));
        check.on_estimate(at(2800), kbps(100.0));
        check.restart(at(3000));
        for ms in [3100, 3200, 3999] {
            assert_eq!(check.on_estimate(at(ms), kbps(300.0)), None);
        }
        assert_eq!(
            check.on_estimate(at(4000), kbps(300.0)),
            Some(kbps(300.0)),
            "what came before is forgotten"
        );
    }

    proptest! {
        #[test]
        fn an_estimate_falls_with_the_spacing_and_rises_with_what_came(
            spacings: [u64; 2], others: [u64; 2], session: bool,
        ) {
            let counted = if session { Counted::Session } else { Counted::Pair };
            let (near, far) = (spacings[0].min(spacings[1]), spacings[0].max(spacings[1]));
            let (few, many) = (others[0].min(others[1]), others[0].max(others[1]));
            prop_assert!(pair(counted, near, few) >= pair(counted, far, few));
            prop_assert!(pair(counted, near, few) <= pair(counted, near, many));
            prop_assert!(pair(counted, near, few).as_bps().is_finite());
        }

        #[test]
        fn any_packets_are_measured(
            packets in prop::collection::vec(any::<(u64, u64, u32, u64, bool)>(), 0..40), session: bool,
        ) {
            let mut meter = PairMeter::new(if session { Counted::Session } else { Counted::Pair });
            let mut check = CheckPeriod::new(Duration::from_secs(1), 2);
            let mut now = Time::ZERO;
            for (seq, ns, bytes, session_bytes, is_first) in packets {
                now += Duration::from_ns(ns >> 8);
                let size = Size::from_bytes(bytes);
                let packet = Arrived { seq: Seq(seq % 8), at: now, size, session_bytes, is_first };
                if let Some(rate) = meter.on_packet(packet) {
                    prop_assert!(rate.as_bps().is_finite());
                    check.on_estimate(now, rate);
                }
            }
        }

        #[test]
        fn a_decision_is_the_smallest_of_its_period(
            steps in prop::collection::vec((0..400u64, 1..1000u32), 1..60), least in 1..6u32,
        ) {
            let mut check = CheckPeriod::new(Duration::from_secs(1), least);
            let (mut now, mut since, mut seen) = (Time::ZERO, None, Vec::new());
            for (ms, kbps) in steps {
                now += Duration::from_ms(ms);
                since.get_or_insert(now);
                seen.push(kbps);
                let decision = check.on_estimate(now, Rate::from_kbps(f64::from(kbps)));
                let is_due = since.is_some_and(|since| now.since(since) >= Duration::from_secs(1));
                let is_due = is_due && seen.len() >= least as usize;
                prop_assert_eq!(decision.is_some(), is_due);
                if let Some(rate) = decision {
                    let smallest = seen.drain(..).min().expect("an estimate");
                    prop_assert_eq!(rate, Rate::from_kbps(f64::from(smallest)));
                    since = Some(now);
                }
            }
        }
    }
}
