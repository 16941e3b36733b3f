//! What keeps a sender from sending more, and for how long each has done so.

use layercast_core::units::{Duration, Time};

use super::connection::Connection;

/// How long a sender was held back by what, from its start to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpLimits {
    /// By the receiver's window: all that it allows was in flight.
    pub window: Duration,
    /// By the application: there was no more data to send.
    pub application: Duration,
    /// By the network: the congestion window, recovery, pacing, or a wait for the next acknowledgement.
    pub network: Duration,
}

impl TcpLimits {
    /// What was added since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: TcpLimits) -> TcpLimits {
        TcpLimits {
            window: self.window.saturating_sub(earlier.window),
            application: self.application.saturating_sub(earlier.application),
            network: self.network.saturating_sub(earlier.network),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Window,
    Application,
    Network,
}

/// Adds up the time that each limit held.
#[derive(Clone, Debug, Default)]
pub(super) struct LimitClock {
    total: TcpLimits,
    /// The limit since a time; none before the flow starts and after it has stopped.
    now: Option<(Limit, Time)>,
}

impl LimitClock {
    /// The limit may be another from `now` on.
    pub(super) fn update(&mut self, c: &Connection, now: Time) {
        let limit = if c.next >= c.end {
            Limit::Application
        } else if c.next > c.limit() {
            Limit::Window
        } else {
            Limit::Network
        };
        if self.now.is_none_or(|(before, _)| before != limit) {
            self.total = self.read(now);
            self.now = Some((limit, now));
        }
    }

    /// The flow has ended.
    pub(super) fn stop(&mut self, now: Time) {
        self.total = self.read(now);
        self.now = None;
    }

    /// The totals at a time.
    pub(super) fn read(&self, now: Time) -> TcpLimits {
        let mut total = self.total;
        if let Some((limit, since)) = self.now {
            let held = match limit {
                Limit::Window => &mut total.window,
                Limit::Application => &mut total.application,
                Limit::Network => &mut total.network,
            };
            *held += now.since(since);
        }
        total
    }
}
