//! Several timers inside an endpoint, one deadline outside.

use crate::units::Time;

/// Deadlines by the number of a timer. An endpoint declares an enum of its timers, uses it as index
/// (`Timer::Report as usize`), and sizes the table by the number of variants.
#[derive(Clone, Debug)]
pub struct Timers<const N: usize> {
    at: [Option<Time>; N],
}

impl<const N: usize> Default for Timers<N> {
    fn default() -> Self {
        Timers { at: [None; N] }
    }
}

impl<const N: usize> Timers<N> {
    /// Sets a timer, replacing an earlier setting.
    pub fn arm(&mut self, timer: usize, at: Time) {
        self.at[timer] = Some(at);
    }

    /// Clears a timer.
    pub fn disarm(&mut self, timer: usize) {
        self.at[timer] = None;
    }

    /// When a timer is due, if it is set.
    pub fn at(&self, timer: usize) -> Option<Time> {
        self.at[timer]
    }

    /// The earliest deadline.
    pub fn next(&self) -> Option<Time> {
        self.at.iter().flatten().min().copied()
    }

    /// Clears and returns one timer that is due at `now`: the earliest, and of equal ones the one
    /// declared first.
    pub fn take_expired(&mut self, now: Time) -> Option<usize> {
        let due = |(timer, at): (usize, &Option<Time>)| at.filter(|&at| at <= now).map(|at| (at, timer));
        let (_, timer) = self.at.iter().enumerate().filter_map(due).min()?;
        self.at[timer] = None;
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expires_in_order_of_time_then_declaration() {
        let mut timers = Timers::<3>::default();
        timers.arm(0, Time::from_ns(30));
        timers.arm(1, Time::from_ns(10));
        timers.arm(2, Time::from_ns(10));
        assert_eq!(timers.next(), Some(Time::from_ns(10)));
        assert_eq!(timers.take_expired(Time::from_ns(9)), None);
        assert_eq!(timers.take_expired(Time::from_ns(30)), Some(1));
        assert_eq!(timers.take_expired(Time::from_ns(30)), Some(2));
        assert_eq!(timers.take_expired(Time::from_ns(30)), Some(0));
        assert_eq!(timers.next(), None);
    }
}
