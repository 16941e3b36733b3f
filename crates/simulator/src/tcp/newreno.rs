//! NewReno: Reno whose recovery lasts until all that was in flight is acknowledged.
//!
//! An acknowledgement of only a part of it shows the next loss, which is resent at once. Source:
//! RFC 3782 as ns-2 2.35's agent has it, with the timer restarted by the first partial
//! acknowledgement only.

use layercast_core::units::Time;

use super::Ack;
use super::connection::{Connection, DUPLICATES, Output};
use super::reno::{duplicate, inflated};
use super::variant::Variant;

/// The maximum number of packets that an acknowledgement releases in recovery.
const RECOVERY_BURST: usize = 2;

#[derive(Clone, Debug, Default)]
pub(super) struct NewReno {
    /// In recovery, by how many packets the window is inflated, never less than 1; otherwise 0.
    inflation: i64,
    /// Whether this recovery has seen a partial acknowledgement.
    partial_seen: bool,
}

impl NewReno {
    fn partial_ack(&mut self, c: &mut Connection, now: Time, cumulative: i64, out: &mut impl Output) {
        if !self.partial_seen {
            self.partial_seen = true;
            c.restart_timer(now);
        }
        // What was acknowledged has left the path; the packet resent now enters it.
        let left = cumulative - c.last_ack;
        if self.inflation > left {
            self.inflation -= left - 1;
        } else {
            c.cwnd = (c.cwnd - (left - self.inflation) as f64).max(1.0);
            self.inflation = 1;
        }
        c.advance(cumulative);
        c.discard_covered_sample(cumulative);
        c.transmit(now, cumulative + 1, out);
    }
}

impl Variant for NewReno {
    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative > c.last_ack {
            if self.inflation > 0 && ack.cumulative < c.recover {
                self.partial_ack(c, now, ack.cumulative, out);
            } else {
                *self = NewReno::default();
                c.new_ack(now, ack.cumulative);
                c.open_window();
            }
        } else if ack.cumulative == c.last_ack {
            self.inflation = duplicate(self.inflation, c, now, out);
        }
        if c.duplicates == 0 || c.duplicates >= DUPLICATES {
            self.send(c, now, out);
        }
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        let burst = if c.duplicates == 0 { usize::MAX } else { RECOVERY_BURST };
        c.send_window(now, inflated(c, self.inflation), burst, out);
    }

    fn reset(&mut self) {
        *self = NewReno::default();
    }

    fn mark(&mut self, c: &mut Connection, cumulative: i64) {
        c.answer_mark(cumulative, inflated(c, self.inflation));
    }

    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        *self = NewReno::default();
        c.duplicates = 0;
        c.go_back(now);
        self.send(c, now, out);
    }
}
