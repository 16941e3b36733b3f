//! What a TCP variant decides.

use layercast_core::units::{Duration, Time};

use super::Ack;
use super::connection::{Connection, Output};

/// The event handlers of a TCP variant. It keeps its own state and works on the connection.
pub(super) trait Variant {
    /// Sends the first packet.
    fn start(&mut self, connection: &mut Connection, now: Time, out: &mut impl Output) {
        connection.send_next(now, out);
    }

    /// An acknowledgement arrived.
    fn ack(&mut self, connection: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output);

    /// An acknowledgement of packets up to `cumulative`, to be served next, echoes a mark.
    fn mark(&mut self, connection: &mut Connection, cumulative: i64) {
        connection.answer_mark(cumulative, connection.window());
    }

    /// Sends what the window allows.
    fn send(&mut self, connection: &mut Connection, now: Time, out: &mut impl Output);

    /// There is data again after a pause. A long one leaves no more than the initial window (RFC 5681,
    /// section 4.1).
    fn resume(&mut self, connection: &mut Connection, pause: Duration) {
        if connection.is_done() && pause > connection.rto.timeout() {
            connection.cwnd = connection.cwnd.min(connection.initial_window());
        }
    }

    /// Resets the state: another connection begins.
    fn reset(&mut self);

    /// The retransmission timer expired.
    fn timeout(&mut self, connection: &mut Connection, now: Time, out: &mut impl Output);
}
