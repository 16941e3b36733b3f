//! Selective acknowledgements with a counted pipe: the `Sack1` agent of ns-2 2.35.
//!
//! Source: Fall and Floyd 1996. In recovery a counter tracks the packets in flight: one less for each
//! acknowledgement, two less if it is partial, one more for each packet sent.

use layercast_core::units::Time;

use super::Ack;
use super::connection::{Connection, DUPLICATES, Output};
use super::scoreboard::Scoreboard;
use super::variant::Variant;

#[derive(Clone, Debug, Default)]
pub(super) struct Sack1 {
    board: Scoreboard,
    /// The number of packets in flight, while in recovery.
    pipe: Option<i64>,
    /// After a timeout, until a new acknowledgement.
    ignore_duplicates: bool,
}

impl Variant for Sack1 {
    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        match self.pipe {
            Some(pipe) => self.ack_in_recovery(c, now, ack, pipe - 1, out),
            None => self.ack_outside(c, now, ack, out),
        }
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        match self.pipe {
            Some(pipe) => self.fill(c, now, pipe, out),
            None => c.send_window(now, c.window(), usize::MAX, out),
        }
    }

    fn reset(&mut self) {
        self.board.clear();
        self.pipe = None;
        self.ignore_duplicates = false;
    }

    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        self.board.clear();
        self.pipe = None;
        self.ignore_duplicates = true;
        c.last_ack = c.highest_ack;
        c.duplicates = 0;
        c.go_back(now);
        self.send(c, now, out);
    }
}

impl Sack1 {
    fn ack_outside(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative > c.last_ack {
            self.board.clear();
            self.ignore_duplicates = false;
            c.new_ack(now, ack.cumulative);
            c.open_window();
        } else if ack.cumulative == c.last_ack
            && !self.ignore_duplicates
            && self.board.update(ack.cumulative, ack.blocks())
        {
            c.duplicates += 1;
            if c.duplicates == DUPLICATES && c.begin_repair(now, c.window()) {
                self.enter_recovery(c, now, out);
            } else if c.duplicates < DUPLICATES {
                c.limited_transmit(now, out);
            }
        }
        if c.duplicates == 0 {
            self.send(c, now, out);
        }
    }

    fn enter_recovery(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        self.pipe = Some(first_pipe(c.highest_sent, c.highest_ack));
        let lost = c.last_ack + 1;
        self.board.mark_resent(lost);
        c.transmit(now, lost, out);
    }

    fn ack_in_recovery(
        &mut self,
        c: &mut Connection,
        now: Time,
        ack: &Ack,
        mut pipe: i64,
        out: &mut impl Output,
    ) {
        if ack.cumulative >= c.recover {
            self.board.clear();
            self.pipe = None;
            c.recover = 0;
            c.new_ack(now, ack.cumulative);
            self.send(c, now, out);
            return;
        }
        self.board.update(ack.cumulative, ack.blocks());
        if ack.cumulative > c.highest_ack {
            c.highest_ack = ack.cumulative;
            pipe -= 1;
            c.rto.reset_back_off();
            c.restart_timer(now);
        } else {
            c.duplicates += 1;
        }
        self.fill(c, now, pipe, out);
    }

    /// Holes first, then new data, while fewer packets are in flight than the window allows.
    fn fill(&mut self, c: &mut Connection, now: Time, mut pipe: i64, out: &mut impl Output) {
        let (first, burst) = (pipe, c.burst());
        while pipe < c.cwnd as i64 && ((pipe - first) as usize) < burst && !c.holds_back(now) {
            let seq = match self.board.next_hole() {
                Some(hole) if hole <= c.limit() => {
                    self.board.mark_resent(hole);
                    hole
                }
                None if c.next <= c.limit() => c.next,
                _ => break,
            };
            c.next = c.next.max(seq + 1);
            c.transmit(now, seq, out);
            pipe += 1;
        }
        self.pipe = Some(pipe);
    }
}

/// What is in flight when recovery starts: three duplicates mean that three packets have left.
fn first_pipe(highest_sent: i64, highest_ack: i64) -> i64 {
    highest_sent - highest_ack - DUPLICATES
}

#[cfg(test)]
mod tests {
    use layercast_testkit::golden;

    #[test]
    fn golden_first_pipe() {
        let case = golden::vector("vectors-active-and-unicast.json", "sack1-pipe-01");
        let number = |key: &str| case.input[key].as_i64().unwrap();
        let pipe = super::first_pipe(number("maxseq"), number("highest_ack"));
        assert_eq!(Some(pipe), case.expected["pipe"].as_i64());
    }
}
