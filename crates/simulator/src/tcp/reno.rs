//! Reno: fast retransmit and fast recovery; the first new acknowledgement ends recovery.
//!
//! Source: RFC 2581 with the window inflation of ns-2 2.35's agent.

use layercast_core::units::Time;

use super::Ack;
use super::connection::{Connection, DUPLICATES, Output};
use super::variant::Variant;

#[derive(Clone, Debug, Default)]
pub(super) struct Reno {
    /// In recovery, by how many packets duplicates have inflated the window; otherwise 0.
    inflation: i64,
}

/// The window with its inflation, within the receiver's.
pub(super) fn inflated(c: &Connection, inflation: i64) -> f64 {
    (c.cwnd + inflation as f64).min(f64::from(c.options.window))
}

impl Variant for Reno {
    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative > c.last_ack {
            self.inflation = 0;
            c.new_ack(now, ack.cumulative);
            c.open_window();
        } else if ack.cumulative == c.last_ack {
            self.inflation = duplicate(self.inflation, c, now, out);
        }
        if c.duplicates == 0 || c.duplicates >= DUPLICATES {
            self.send(c, now, out);
        }
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.send_window(now, inflated(c, self.inflation), usize::MAX, out);
    }

    fn reset(&mut self) {
        *self = Reno::default();
    }

    fn mark(&mut self, c: &mut Connection, cumulative: i64) {
        c.answer_mark(cumulative, inflated(c, self.inflation));
    }

    /// An inflated window does not count when a timeout cuts it.
    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        self.inflation = 0;
        c.duplicates = 0;
        c.go_back(now);
        self.send(c, now, out);
    }
}

/// A duplicate came: the third starts recovery, later ones inflate the window while it lasts.
/// Gives the inflation from now on.
pub(super) fn duplicate(inflation: i64, c: &mut Connection, now: Time, out: &mut impl Output) -> i64 {
    c.duplicates += 1;
    if c.duplicates < DUPLICATES {
        c.limited_transmit(now, out);
    } else if c.duplicates == DUPLICATES && c.begin_repair(now, inflated(c, inflation)) {
        c.transmit(now, c.last_ack + 1, out);
        return DUPLICATES;
    } else if c.duplicates > DUPLICATES && inflation > 0 {
        return inflation + 1;
    }
    inflation
}
