//! Tahoe: any loss reduces the window to one packet.
//!
//! Source: Jacobson 1988, as ns-2 2.35's agent has it.

use layercast_core::units::Time;

use super::Ack;
use super::connection::{Connection, DUPLICATES, Output};
use super::variant::Variant;

#[derive(Clone, Debug)]
pub(super) struct Tahoe;

impl Variant for Tahoe {
    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative > c.last_ack {
            c.new_ack(now, ack.cumulative);
            c.open_window();
        } else if ack.cumulative == c.last_ack {
            c.duplicates += 1;
            if c.duplicates == DUPLICATES && c.begin_repair(now, c.window()) {
                c.cwnd = 1.0;
                c.next = c.highest_ack + 1;
            } else if c.duplicates < DUPLICATES {
                c.limited_transmit(now, out);
            }
        }
        self.send(c, now, out);
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.send_window(now, c.window(), usize::MAX, out);
    }

    fn reset(&mut self) {}

    /// The count of duplicates stays: a third one after a timeout starts nothing.
    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.go_back(now);
        self.send(c, now, out);
    }
}
