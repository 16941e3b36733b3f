//! The source's clock as a receiver sees it.

use layercast_core::units::{Duration, Time};

/// How long the shortest transit time counts: clocks drift apart, by 50 µs per second at most in practice, and paths change.
const WINDOW: Duration = Duration::from_secs(30);

/// The source's clock as a receiver sees it: its time, and the shortest transit time in the last one or two windows.
///
/// Times are in µs and signed: the source's count from the first packet, the receiver's from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourceClock {
    /// The newest time of a packet: on the wire, and since the first packet.
    newest: Option<(u32, i64)>,
    /// The shortest difference of arrival and sending, in this window and in the one before.
    this: i64,
    before: i64,
    since: Time,
}

impl SourceClock {
    /// A packet that was sent at `sent_us` arrived.
    pub(super) fn packet(&mut self, now: Time, sent_us: u32) {
        let Some((wire, newest)) = self.newest else {
            let transit = micros(now);
            *self = SourceClock { newest: Some((sent_us, 0)), this: transit, before: transit, since: now };
            return;
        };
        let ahead = distance(wire, sent_us);
        let sent = newest.saturating_add(ahead);
        if ahead > 0 {
            self.newest = Some((sent_us, sent));
        }
        let transit = micros(now).saturating_sub(sent);
        if now.since(self.since) >= WINDOW {
            (self.before, self.this, self.since) = (self.this, transit, now);
        }
        self.this = self.this.min(transit);
    }

    /// How long ago a time of the source was, with the shortest transit time subtracted; negative if it is to come.
    pub(super) fn age_us(&self, now: Time, at_us: u32) -> i64 {
        let Some((wire, newest)) = self.newest else { return 0 };
        let at = newest.saturating_add(distance(wire, at_us));
        micros(now).saturating_sub(at).saturating_sub(self.this.min(self.before))
    }
}

/// How far a time is after another, modulo 2^32.
fn distance(from: u32, to: u32) -> i64 {
    i64::from(to.wrapping_sub(from).cast_signed())
}

fn micros(time: Time) -> i64 {
    i64::try_from(time.as_ns() / 1000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn ages_count_from_the_packet_that_came_fastest() {
        let mut clock = SourceClock::default();
        assert_eq!(clock.age_us(at(1), 77), 0, "nothing is known yet");
        // The wire's number wraps; transit times are 500, 300 and 900 µs beyond an unknown difference.
        clock.packet(at(10_500), u32::MAX - 99);
        clock.packet(at(20_300), 9_900);
        clock.packet(at(30_900), 19_900);
        assert_eq!(clock.age_us(at(30_900), 19_900), 600);
        assert_eq!(clock.age_us(at(20_300), 9_900), 0);
        assert_eq!(clock.age_us(at(30_900), 9_900), 10_600);
        assert_eq!(clock.age_us(at(30_900), 30_900), -10_400);
    }

    #[test]
    fn a_path_that_became_longer_counts_after_two_windows() {
        let mut clock = SourceClock::default();
        for second in 0..100u32 {
            let transit = if second < 10 { 1_000 } else { 51_000 };
            clock.packet(at(u64::from(second) * 1_000_000 + transit), second * 1_000_000);
            let age = clock.age_us(at(u64::from(second) * 1_000_000 + transit), second * 1_000_000);
            let expected = if (10..60).contains(&second) { 50_000 } else { 0 };
            assert!(age == expected || (60..=62).contains(&second), "{second}: {age}");
        }
    }
}
