//! The rate at which packets arrive (RFC 4654, section 4.3.4).

use alloc::collections::VecDeque;

use layercast_core::units::{Duration, Size, Time};

/// The number of slots in the measured time; the measurement is exact to one of them.
const SLOTS: u32 = 8;

/// A slot of time and what arrived in it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The arrival before the first packet of the slot.
    since: Time,
    bytes: u64,
}

/// The receive rate over the last packets, in a few slots however many packets there are.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    slots: VecDeque<Slot>,
    newest: Option<Time>,
}

impl Meter {
    pub(super) fn new() -> Meter {
        Meter { slots: VecDeque::with_capacity(SLOTS as usize + 1), newest: None }
    }

    /// A packet came. `window` is the time to measure over; fewer packets than slots are measured over
    /// the time that they took.
    pub(super) fn on_packet(&mut self, now: Time, size: Size, window: Duration) {
        let bytes = u64::from(size.as_bytes());
        // Each packet belongs to the time from the one before it. The first one has none.
        let Some(before) = self.newest.replace(now) else { return };
        match self.slots.back_mut() {
            Some(slot) if now.since(slot.since) * u64::from(SLOTS) <= window => slot.bytes += bytes,
            _ => {
                if self.slots.len() > SLOTS as usize {
                    self.slots.pop_front();
                }
                self.slots.push_back(Slot { since: before, bytes });
            }
        }
    }

    /// The rate in byte/s; none before two packets came.
    pub(super) fn rate(&self) -> Option<f64> {
        let elapsed = self.newest?.since(self.slots.front()?.since);
        let bytes: u64 = self.slots.iter().map(|slot| slot.bytes).sum();
        (!elapsed.is_zero()).then(|| bytes as f64 / elapsed.as_secs_f64())
    }

    /// Forgets all packets.
    pub(super) fn reset(&mut self) {
        self.slots.clear();
        self.newest = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size::from_bytes(1000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn the_rate_follows_within_the_window() {
        let mut meter = Meter::new();
        let window = Duration::from_ms(400);
        assert_eq!(meter.rate(), None);
        let mut now = 0;
        for _ in 0..500 {
            meter.on_packet(at(now), SIZE, window);
            now += 5;
        }
        assert_eq!(meter.rate(), Some(200_000.0));
        // Ten times slower: half a second later the old rate has gone.
        for _ in 0..11 {
            now += 45;
            meter.on_packet(at(now), SIZE, window);
            now += 5;
        }
        let rate = meter.rate().unwrap();
        assert!((rate / 20_000.0 - 1.0).abs() < 0.03, "{rate}");
    }

    #[test]
    fn a_few_packets_are_enough_and_one_is_not() {
        let mut meter = Meter::new();
        meter.on_packet(at(0), SIZE, Duration::from_ms(10));
        assert_eq!(meter.rate(), None);
        meter.on_packet(at(500), SIZE, Duration::from_ms(10));
        assert_eq!(meter.rate(), Some(2000.0));
        meter.reset();
        assert_eq!(meter.rate(), None);
    }
}
