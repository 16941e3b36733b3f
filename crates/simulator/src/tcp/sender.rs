//! The sending end: a connection and its variant.

use std::sync::Arc;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::bbr::Bbr;
use super::connection::{Connection, Output};
use super::cubic::Cubic;
use super::limits::{LimitClock, TcpLimits};
use super::newreno::NewReno;
use super::reno::Reno;
use super::rfc_sack::{Halving, RfcSack};
use super::sack1::Sack1;
use super::tahoe::Tahoe;
use super::variant::Variant;
use super::vegas::Vegas;
use super::{Ack, TcpOptions, TcpVariant};

/// The visible state of a sender, for traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpState {
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow start threshold in packets.
    pub ssthresh: i64,
    /// Highest cumulative acknowledgement, -1 for none.
    pub highest_ack: i64,
    /// Duplicate acknowledgements in a row.
    pub duplicates: i64,
    /// Highest packet sent, -1 for none.
    pub highest_sent: i64,
    /// The packet to send next.
    pub next: i64,
    /// Back-off of the retransmission timeout.
    pub backoff: u64,
}

/// The variants. One match for each event, and all below it is compiled for one variant.
#[derive(Clone, Debug)]
enum Machine {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack1(Sack1),
    RfcSack(RfcSack<Halving>),
    Vegas(Vegas),
    Cubic(RfcSack<Cubic>),
    // Larger than all others, and one for each connection.
    Bbr(Box<Bbr>),
}

macro_rules! dispatch {
    ($machine:expr, $variant:ident => $act:expr) => {
        match $machine {
            Machine::Tahoe($variant) => $act,
            Machine::Reno($variant) => $act,
            Machine::NewReno($variant) => $act,
            Machine::Sack1($variant) => $act,
            Machine::RfcSack($variant) => $act,
            Machine::Vegas($variant) => $act,
            Machine::Cubic($variant) => $act,
            Machine::Bbr($variant) => $act,
        }
    };
}

/// A sender, with unlimited data unless configured otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    connection: Connection,
    machine: Machine,
    limits: LimitClock,
}

impl Sender {
    pub(crate) fn new(options: impl Into<Arc<TcpOptions>>, stream: Stream) -> Sender {
        let mut options = options.into();
        if options.ecn && !options.variant.answers_marks() {
            Arc::make_mut(&mut options).ecn = false;
        }
        let machine = match options.variant {
            TcpVariant::Tahoe => Machine::Tahoe(Tahoe),
            TcpVariant::Reno => Machine::Reno(Reno::default()),
            TcpVariant::NewReno => Machine::NewReno(NewReno::default()),
            TcpVariant::Sack => Machine::Sack1(Sack1::default()),
            TcpVariant::Sack6675 => Machine::RfcSack(RfcSack::default()),
            TcpVariant::Vegas => Machine::Vegas(Vegas::default()),
            TcpVariant::Cubic => Machine::Cubic(RfcSack::default()),
            TcpVariant::Bbr => Machine::Bbr(Box::default()),
        };
        Sender { connection: Connection::new(options, stream), machine, limits: LimitClock::default() }
    }

    /// Starts sending.
    pub(crate) fn start(&mut self, now: Time, out: &mut impl Output) {
        dispatch!(&mut self.machine, variant => variant.start(&mut self.connection, now, out));
        self.limits.update(&self.connection, now);
    }

    /// Starts the next connection between the same ends, with this many bytes of data. Packets of the
    /// previous one that are still in flight no longer count. Returns the number of the new one.
    pub(crate) fn restart(&mut self, bytes: f64) -> u32 {
        self.connection.restart(self.packets(bytes));
        dispatch!(&mut self.machine, variant => variant.reset());
        self.connection.incarnation
    }

    /// So many bytes more, after all data was acknowledged and none came for `pause`.
    pub(crate) fn add_data(&mut self, now: Time, pause: Duration, bytes: f64, out: &mut impl Output) {
        let packets = self.packets(bytes);
        let connection = &mut self.connection;
        dispatch!(&mut self.machine, variant => {
            variant.resume(connection, pause);
            connection.end = connection.end.saturating_add(packets);
            variant.send(connection, now, out);
        });
        self.limits.update(&self.connection, now);
    }

    /// How many packets so many bytes take: at least one.
    fn packets(&self, bytes: f64) -> i64 {
        let packets = (bytes / f64::from(self.connection.options.packet_size.as_bytes())).ceil() as i64;
        packets.max(1)
    }

    /// No more data: what was sent is the end.
    pub(crate) fn end_data(&mut self, now: Time) {
        self.connection.end = self.connection.highest_sent + 1;
        self.connection.next = self.connection.next.min(self.connection.end);
        self.limits.update(&self.connection, now);
    }

    /// The flow ends: from now on nothing holds it back.
    pub(crate) fn stop(&mut self, now: Time) {
        self.limits.stop(now);
    }

    /// How long it was held back by what until `now`.
    pub(crate) fn limits(&self, now: Time) -> TcpLimits {
        self.limits.read(now)
    }

    /// Unlimited data again, after none for `pause`.
    pub(crate) fn resume_data(&mut self, now: Time, pause: Duration, out: &mut impl Output) {
        let connection = &mut self.connection;
        dispatch!(&mut self.machine, variant => {
            variant.resume(connection, pause);
            connection.end = i64::MAX;
            variant.send(connection, now, out);
        });
        self.limits.update(&self.connection, now);
    }

    /// Whether all data has been acknowledged. It then has no deadline.
    pub(crate) fn is_done(&mut self) -> bool {
        let done = self.connection.is_done();
        if done {
            self.connection.timeout_at = None;
            self.connection.send_at = None;
        }
        done
    }

    /// When to call [`Sender::handle_timeout`].
    pub(crate) fn deadline(&self) -> Option<Time> {
        let Connection { timeout_at, send_at, .. } = self.connection;
        match (timeout_at, send_at) {
            (Some(timeout), Some(send)) => Some(timeout.min(send)),
            (timeout, send) => timeout.or(send),
        }
    }

    pub(crate) fn state(&self) -> TcpState {
        let connection = &self.connection;
        TcpState {
            cwnd: connection.cwnd,
            ssthresh: connection.ssthresh,
            highest_ack: connection.highest_ack,
            duplicates: connection.duplicates,
            highest_sent: connection.highest_sent,
            next: connection.next,
            backoff: connection.rto.backoff(),
        }
    }

    /// An acknowledgement arrived. One of a packet never sent is ignored.
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Output) {
        let connection = &mut self.connection;
        if ack.cumulative > connection.highest_sent || ack.incarnation != connection.incarnation {
            return;
        }
        connection.echo = ack.echo && connection.options.ecn;
        if connection.echo {
            dispatch!(&mut self.machine, variant => variant.mark(connection, ack.cumulative));
        }
        dispatch!(&mut self.machine, variant => variant.ack(connection, now, ack, out));
        self.limits.update(&self.connection, now);
    }

    /// The deadline has come.
    pub(crate) fn handle_timeout(&mut self, now: Time, out: &mut impl Output) {
        let connection = &mut self.connection;
        if connection.send_at.is_some_and(|send| send <= now) {
            connection.end_wait();
            dispatch!(&mut self.machine, variant => variant.send(connection, now, out));
            connection.expect_wait();
        }
        if connection.timeout_at.is_some_and(|timeout| timeout <= now) {
            dispatch!(&mut self.machine, variant => variant.timeout(connection, now, out));
        }
        self.limits.update(&self.connection, now);
    }
}

#[cfg(test)]
mod tests;
