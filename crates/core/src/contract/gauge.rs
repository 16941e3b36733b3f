//! Gauges: named numbers inside endpoints, for probes, metrics and operators.

use crate::units::{Duration, Rate, RateEstimate};

/// The declaration of a gauge, as documentation shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaugeSpec {
    /// The name that probes and metrics refer to.
    pub name: &'static str,
    /// The name with `source_` in front: where a source's gauges stand next to those of its receivers.
    pub source_name: &'static str,
    /// Its meaning and source.
    pub doc: &'static str,
    /// The unit of its value: `packets`, `ms`, `kbit/s`, `fraction` for 0 to 1, `flag` for 0 or 1.
    pub unit: &'static str,
    /// Whether it is a counter.
    pub kind: GaugeKind,
}

/// How to read a gauge's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaugeKind {
    /// A counter since the endpoint's start: the difference of two readings is the count in between.
    Count,
    /// A current value.
    Value,
}

/// The gauge of that name in a list. For declarations: an unknown name does not compile.
///
/// # Panics
/// If there is no gauge of that name.
pub const fn gauge_named(gauges: &[GaugeSpec], name: &str) -> GaugeSpec {
    let mut place = 0;
    while place < gauges.len() {
        if is_same(gauges[place].name.as_bytes(), name.as_bytes()) {
            return gauges[place];
        }
        place += 1;
    }
    panic!("no gauge has this name")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

/// A type whose values a gauge can show.
pub trait GaugeValue {
    /// The value: durations in milliseconds, rates in kbit/s, flags as 0 or 1; none if unknown.
    fn shown(self) -> Option<f64>;
}

impl GaugeValue for f64 {
    fn shown(self) -> Option<f64> {
        Some(self).filter(|value| !value.is_nan())
    }
}

impl GaugeValue for u64 {
    fn shown(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl GaugeValue for u32 {
    fn shown(self) -> Option<f64> {
        Some(f64::from(self))
    }
}

impl GaugeValue for u16 {
    fn shown(self) -> Option<f64> {
        Some(f64::from(self))
    }
}

impl GaugeValue for u8 {
    fn shown(self) -> Option<f64> {
        Some(f64::from(self))
    }
}

impl GaugeValue for usize {
    fn shown(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl GaugeValue for bool {
    fn shown(self) -> Option<f64> {
        Some(f64::from(u8::from(self)))
    }
}

impl GaugeValue for Duration {
    fn shown(self) -> Option<f64> {
        Some(self.as_secs_f64() * 1e3)
    }
}

impl GaugeValue for Rate {
    fn shown(self) -> Option<f64> {
        Some(self.as_kbps())
    }
}

impl GaugeValue for RateEstimate {
    fn shown(self) -> Option<f64> {
        self.known().and_then(Rate::shown)
    }
}

impl<T: GaugeValue> GaugeValue for Option<T> {
    fn shown(self) -> Option<f64> {
        self.and_then(T::shown)
    }
}

/// Declares a struct of counters, each of which can be a gauge (see [`gauges!`](crate::gauges)).
#[macro_export]
macro_rules! counters {
    (
        $(#[doc = $struct_doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $doc:literal])* $counter:ident in $unit:literal, )*
        }
    ) => {
        $(#[doc = $struct_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $counter: u64, )*
        }

        impl $name {
            /// The counters as gauges.
            pub const GAUGES: &'static [$crate::contract::GaugeSpec] =
                &[$( $crate::gauges!(@spec count $counter, $unit, $($doc),*) ),*];
        }
    };
}

/// Declares the gauges of an endpoint, within its `impl Endpoint`. Counters come first, by their names and
/// that of their struct; then come gauges of its own, each with its meaning, its unit and its value. `count`
/// is for counters, `value` for all others.
///
/// ```
/// # use layercast_core::contract::{Action, Endpoint, Estimates, Header, Input};
/// # use layercast_core::units::Time;
/// # #[derive(Clone, Copy)]
/// # struct Packet;
/// # impl Header for Packet {}
/// layercast_core::counters! {
///     /// What is counted.
///     pub struct Counters {
///         /// Packets received.
///         received in "packets",
///     }
/// }
///
/// struct Receiver {
///     counters: Counters,
///     window: f64,
/// }
///
/// impl Endpoint for Receiver {
///     // ...
/// #   type Header = Packet;
/// #   fn handle(&mut self, _: Time, _: Input<Packet>) {}
/// #   fn poll_action(&mut self) -> Option<Action<Packet>> { None }
/// #   fn deadline(&self) -> Option<Time> { None }
/// #   fn estimates(&self, _: Time) -> Estimates { Estimates::default() }
///     layercast_core::gauges! { |self, _now|
///         ..self.counters => Counters { received };
///         /// The window.
///         value window in "packets" = self.window;
///     }
/// }
///
/// let receiver = Receiver { counters: Counters { received: 7 }, window: 2.5 };
/// assert_eq!(Receiver::gauges()[1].name, "window");
/// assert_eq!(receiver.gauge(0, Time::ZERO), Some(7.0));
/// ```
#[macro_export]
macro_rules! gauges {
    (
        |$self:ident, $now:ident|
        $( ..$counters:expr => $type:ty { $($counter:ident),* $(,)? }; )*
        $( $(#[doc = $doc:literal])* $kind:ident $name:ident in $unit:literal = $value:expr; )*
    ) => {
        fn gauges() -> &'static [$crate::contract::GaugeSpec] {
            const GAUGES: &[$crate::contract::GaugeSpec] = &[
                $( $( $crate::contract::gauge_named(<$type>::GAUGES, stringify!($counter)), )* )*
                $( $crate::gauges!(@spec $kind $name, $unit, $($doc),*), )*
            ];
            GAUGES
        }

        fn gauge(&$self, index: usize, $now: $crate::units::Time) -> Option<f64> {
            use $crate::contract::GaugeValue;
            let mut places = 0..;
            $( $( if places.next() == Some(index) {
                return GaugeValue::shown($counters.$counter);
            } )* )*
            $( if places.next() == Some(index) {
                return GaugeValue::shown($value);
            } )*
            None
        }
    };
    (@spec $kind:ident $name:ident, $unit:literal, $($doc:literal),*) => {
        $crate::contract::GaugeSpec {
            name: stringify!($name),
            source_name: concat!("source_", stringify!($name)),
            doc: concat!($($doc),*).trim_ascii(),
            unit: $unit,
            kind: $crate::gauges!(@kind $kind),
        }
    };
    (@kind count) => { $crate::contract::GaugeKind::Count };
    (@kind value) => { $crate::contract::GaugeKind::Value };
}

#[cfg(test)]
#[allow(unreachable_pub)]
mod tests {
    use super::*;
    use crate::contract::{Action, Endpoint, Estimates, Header, Input};
    use crate::units::Time;

    counters! {
        /// Counters.
        pub struct Counters {
            /// Packets received.
            received in "packets",
            /// Reports
            /// sent.
            reports in "reports",
        }
    }

    #[derive(Clone, Copy)]
    struct Nothing;

    impl Header for Nothing {}

    struct Subject {
        counters: Counters,
        rtt: Option<Duration>,
    }

    impl Endpoint for Subject {
        type Header = Nothing;

        fn handle(&mut self, _: Time, _: Input<Nothing>) {}

        fn poll_action(&mut self) -> Option<Action<Nothing>> {
            None
        }

        fn deadline(&self) -> Option<Time> {
            None
        }

        fn estimates(&self, _: Time) -> Estimates {
            Estimates::default()
        }

        gauges! { |self, now|
            ..self.counters => Counters { reports };
            /// The round-trip time.
            value rtt_ms in "ms" = self.rtt;
            /// Nanoseconds since the start of time.
            count age_ns in "ns" = now.as_ns();
        }
    }

    #[test]
    fn gauges_have_names_units_and_values_in_the_order_of_declaration() {
        let gauges = Subject::gauges();
        let named: Vec<_> = gauges.iter().map(|gauge| (gauge.name, gauge.unit, gauge.doc)).collect();
        let expected = [
            ("reports", "reports", "Reports sent."),
            ("rtt_ms", "ms", "The round-trip time."),
            ("age_ns", "ns", "Nanoseconds since the start of time."),
        ];
        assert_eq!(named, expected);
        assert_eq!(gauges[0].source_name, "source_reports");
        assert_eq!(gauges.iter().filter(|gauge| gauge.kind == GaugeKind::Count).count(), 2);
        let mut subject = Subject { counters: Counters { received: 1, reports: 2 }, rtt: None };
        let values = |subject: &Subject| [0, 1, 2, 3].map(|index| subject.gauge(index, Time::from_ns(5)));
        assert_eq!(values(&subject), [Some(2.0), None, Some(5.0), None]);
        subject.rtt = Some(Duration::from_us(2500));
        assert_eq!(values(&subject), [Some(2.0), Some(2.5), Some(5.0), None]);
    }

    #[test]
    fn unknown_values_are_none() {
        assert_eq!((f64::NAN.shown(), RateEstimate::Unbounded.shown()), (None, None));
        assert_eq!((RateEstimate::Known(Rate::from_kbps(3.0)).shown(), true.shown()), (Some(3.0), Some(1.0)));
    }

    use std::vec::Vec;
}
