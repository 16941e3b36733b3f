//! CBR, a constant rate with TFRC's receiver (thesis, section 4.1).
//!
//! The loop is open: the source sends at the rate of its session's base layer and only measures the
//! round-trip time; the receiver measures losses as TFRC does, but they do not affect the rate. So an
//! estimator's output can be compared with the true loss rate, at any sending rate. LIP, LAP and the packet
//! loss fraction observe the same packets.
//!
//! Packets are those of TFRC, with wire numbers of their own. `docs/protocols/cbr.md` has the
//! tables.

pub mod options;

pub use crate::tfrc::header::Header;
pub use options::Options;

use crate::tfrc;
use layercast_core::contract::{Action, Endpoint, Estimates, GaugeSpec, Input};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{RateEstimate, Time};
use layercast_kit::counters::{ReceiverCounters, SourceCounters};
use layercast_kit::estimator::LossPanel;

/// Sends at a constant rate.
#[derive(Clone, Debug)]
pub struct Source(tfrc::Source);

impl Source {
    /// A source for a session, at the rate of its base layer.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source(tfrc::Source::with(options.settings(), plan, stream))
    }

    /// The counters.
    pub fn counters(&self) -> &SourceCounters {
        self.0.counters()
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.0.session()
    }
}

/// Measures losses and does not react to them.
#[derive(Clone, Debug)]
pub struct Receiver(tfrc::Receiver);

impl Receiver {
    /// A receiver of a session.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let size = options.virtual_packets().map_or(plan.packet_size, |packets| packets.size);
        Receiver(tfrc::Receiver::with(options.settings(), &plan, size))
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        self.0.counters()
    }
}

impl Receiver {
    fn panel(&self) -> Option<&LossPanel> {
        self.0.panel()
    }

    /// The rate that would follow from one of the loss rates.
    fn rate_at(&self, loss: impl FnOnce(&LossPanel) -> f64) -> Option<RateEstimate> {
        self.panel().map(|panel| self.0.rate_at(loss(panel)))
    }
}

macro_rules! as_tfrc {
    ($endpoint:ty { $($gauges:item)* }) => {
        impl Endpoint for $endpoint {
            type Header = Header;

            fn handle(&mut self, now: Time, input: Input<Header>) {
                self.0.handle(now, input);
            }

            fn poll_action(&mut self) -> Option<Action<Header>> {
                self.0.poll_action()
            }

            fn deadline(&self) -> Option<Time> {
                self.0.deadline()
            }

            fn estimates(&self, now: Time) -> Estimates {
                self.0.estimates(now)
            }

            fn session_number(&self) -> Option<u32> {
                self.0.session_number()
            }

            $($gauges)*
        }
    };
}

as_tfrc!(Source {
    fn gauges() -> &'static [GaugeSpec] {
        tfrc::Source::gauges()
    }

    fn gauge(&self, index: usize, now: Time) -> Option<f64> {
        self.0.gauge(index, now)
    }
});

as_tfrc!(Receiver {
    gauges! { |self, _now|
        ..self.0.counters() => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, suspect, resync, restarts,
            join_failed, reports,
        };
        /// The loss event rate by the loss insensitive period (LIP).
        value lip_loss in "fraction" = self.panel().map(|panel| panel.lip().loss_rate());
        /// The loss rate by loss aggregation periods (LAP).
        value lap_loss in "fraction" = self.panel().map(|panel| panel.lap().loss_rate());
        /// The packet loss fraction.
        value packet_loss in "fraction" = self.panel().map(|panel| panel.fraction().fraction());
        /// The rate that follows from the loss event rate (LIP).
        value lip_rate_kbps in "kbit/s" = self.rate_at(|panel| panel.lip().loss_rate());
        /// The rate that follows from the loss rate by aggregation periods (LAP).
        value lap_rate_kbps in "kbit/s" = self.rate_at(|panel| panel.lap().loss_rate());
        /// Packets seen by the loss estimators, received or lost.
        count packets in "packets" = self.panel().map(LossPanel::packets);
        /// Loss events (LIP).
        count lip_losses in "events" = self.panel().map(|panel| panel.lip().events());
        /// Losses counted by aggregation periods (LAP).
        count lap_losses in "losses" = self.panel().map(|panel| panel.lap().counted());
    }
});
