//! Several timers inside an endpoint, one deadline outside.

use core::fmt::Debug;

use crate::units::Time;

/// The timers of an endpoint. Declare them with [`timers!`](crate::timers).
pub trait TimerKind: Copy + Debug + 'static {
    /// All timers, in the order of declaration.
    const ALL: &'static [Self];

    /// Room for one deadline of each timer.
    type Deadlines: Clone + Debug + AsRef<[Option<Time>]> + AsMut<[Option<Time>]>;

    /// No timer is set.
    const UNSET: Self::Deadlines;

    /// The timer's index in [`ALL`](TimerKind::ALL).
    fn index(self) -> usize;
}

/// Declares the timers of an endpoint: an enum for [`Timers`], whose order breaks ties between timers that are
/// due at the same time.
///
/// ```
/// use layercast_core::contract::Timers;
/// use layercast_core::units::Time;
///
/// layercast_core::timers! {
///     /// What the timers are for.
///     enum Timer {
///         /// A report is due.
///         Report,
///         /// No packet came for too long.
///         Silence,
///     }
/// }
///
/// let mut timers = Timers::<Timer>::default();
/// timers.arm(Timer::Report, Time::from_ns(5));
/// while let Some(timer) = timers.take_expired(Time::from_ns(5)) {
///     match timer {
///         Timer::Report => { /* send it */ }
///         Timer::Silence => { /* leave a layer */ }
///     }
/// }
/// ```
#[macro_export]
macro_rules! timers {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $( $(#[$timer_meta:meta])* $timer:ident ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $( $(#[$timer_meta])* $timer, )+ }

        impl $crate::contract::TimerKind for $name {
            const ALL: &'static [Self] = &[$( $name::$timer ),+];
            type Deadlines = [Option<$crate::units::Time>; [$( $name::$timer ),+].len()];
            const UNSET: Self::Deadlines = [None; [$( $name::$timer ),+].len()];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

/// The deadlines of an endpoint's timers, each of which is set or not.
///
/// All endpoints serve them by a loop over [`take_expired`](Timers::take_expired) with a `match`
/// that has an arm for each timer, so that the compiler finds a timer that is not served.
#[derive(Clone, Debug)]
pub struct Timers<T: TimerKind> {
    at: T::Deadlines,
}

impl<T: TimerKind> Default for Timers<T> {
    fn default() -> Self {
        Timers { at: T::UNSET }
    }
}

impl<T: TimerKind> Timers<T> {
    /// Sets a timer, replacing an earlier setting.
    pub fn arm(&mut self, timer: T, at: Time) {
        self.set(timer, Some(at));
    }

    /// Clears a timer.
    pub fn disarm(&mut self, timer: T) {
        self.set(timer, None);
    }

    /// Sets a timer, or clears it if there is nothing to wait for.
    pub fn set(&mut self, timer: T, at: Option<Time>) {
        self.at.as_mut()[timer.index()] = at;
    }

    /// Clears all timers.
    pub fn clear(&mut self) {
        *self = Timers::default();
    }

    /// When a timer is due, if it is set.
    pub fn at(&self, timer: T) -> Option<Time> {
        self.at.as_ref()[timer.index()]
    }

    /// The earliest deadline.
    pub fn next(&self) -> Option<Time> {
        self.at.as_ref().iter().flatten().min().copied()
    }

    /// Clears and returns one timer that is due at `now`: the earliest, and among equal ones the one
    /// declared first.
    pub fn take_expired(&mut self, now: Time) -> Option<T> {
        let due = |(at, &timer): (&Option<Time>, &T)| at.filter(|&at| at <= now).map(|at| (at, timer));
        let expired = self.at.as_ref().iter().zip(T::ALL).filter_map(due);
        let (_, timer) = expired.min_by_key(|&(at, _)| at)?;
        self.disarm(timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    timers! {
        enum Timer { Report, Silence, Join }
    }

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn expires_in_order_of_time_then_declaration() {
        let mut timers = Timers::default();
        timers.arm(Timer::Report, at(30));
        timers.arm(Timer::Join, at(10));
        timers.arm(Timer::Silence, at(10));
        assert_eq!((timers.next(), timers.at(Timer::Report)), (Some(at(10)), Some(at(30))));
        assert_eq!(timers.take_expired(at(9)), None);
        assert_eq!(timers.take_expired(at(30)), Some(Timer::Silence));
        assert_eq!(timers.take_expired(at(30)), Some(Timer::Join));
        assert_eq!(timers.take_expired(at(30)), Some(Timer::Report));
        assert_eq!((timers.next(), timers.take_expired(at(99))), (None, None));
    }

    #[test]
    fn the_last_setting_holds() {
        let mut timers = Timers::default();
        timers.arm(Timer::Join, at(10));
        timers.set(Timer::Join, Some(at(20)));
        assert_eq!(timers.take_expired(at(10)), None);
        timers.disarm(Timer::Join);
        timers.arm(Timer::Report, at(5));
        timers.clear();
        assert_eq!((timers.next(), timers.take_expired(at(99))), (None, None));
    }

    #[test]
    fn timers_know_their_places() {
        for (place, timer) in Timer::ALL.iter().enumerate() {
            assert_eq!(timer.index(), place);
        }
        assert_eq!(size_of::<Timers<Timer>>(), 3 * size_of::<Option<Time>>());
    }
}
