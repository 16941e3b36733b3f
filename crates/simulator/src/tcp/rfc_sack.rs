//! Loss recovery by RFC 6675, for any rule that controls the window.
//!
//! The packets in flight are read from the scoreboard at each acknowledgement, so that lost or partial
//! acknowledgements need no rules of their own. After a timeout packets that have arrived are not sent
//! again; recovery starts no second time for packets sent before the last loss.

use layercast_core::units::Time;

use super::Ack;
use super::connection::{Connection, DUPLICATES, LastCut, Output};
use super::proportion::Proportion;
use super::rfc_board::{NextSegment, RfcBoard};
use super::variant::Variant;

/// A rule that controls the congestion window.
pub(super) trait WindowRule: Default {
    /// `acked` packets were acknowledged outside recovery.
    fn open(&mut self, connection: &mut Connection, now: Time, acked: i64);

    /// A loss was seen with `flight` packets not acknowledged.
    fn cut(&mut self, connection: &mut Connection, flight: i64);

    /// The timer expired with `flight` packets not acknowledged.
    fn timeout(&mut self, connection: &mut Connection, flight: i64);

    /// New data leaves outside recovery.
    fn sent(&mut self, _seq: i64, _now: Time) {}

    /// Resets the state: another connection begins.
    fn reset(&mut self) {
        *self = Self::default();
    }
}

/// The rule of RFC 5681: one packet more in a round trip, half after a loss.
#[derive(Clone, Debug, Default)]
pub(super) struct Halving;

impl WindowRule for Halving {
    fn open(&mut self, c: &mut Connection, _: Time, _: i64) {
        c.open_window();
    }

    fn cut(&mut self, c: &mut Connection, flight: i64) {
        // The RFC counts bytes: half a packet is not rounded away.
        c.cwnd = (flight as f64 / 2.0).max(2.0);
        c.ssthresh = c.cwnd as i64;
    }

    fn timeout(&mut self, c: &mut Connection, flight: i64) {
        c.ssthresh = (flight / 2).max(2);
        c.cwnd = 1.0;
    }
}

/// What the board knew before an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Known {
    delivered: i64,
    lost_below: i64,
}

impl Known {
    fn of(board: &RfcBoard) -> Known {
        Known { delivered: board.delivered(), lost_below: board.lost_below() }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct RfcSack<W> {
    rule: W,
    board: RfcBoard,
    proportion: Proportion,
    in_recovery: bool,
    /// The packet up to which a rescue was sent in this recovery (`RescueRxt` of the RFC).
    rescued_to: i64,
    /// Packets that limited transmit released since the last new acknowledgement.
    released: i64,
    /// The highest acknowledgement when the timer last expired.
    timed_out_at: Option<i64>,
}

impl<W: WindowRule> Variant for RfcSack<W> {
    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative < c.highest_ack {
            return;
        }
        let acked = ack.cumulative - c.highest_ack;
        let before = Known::of(&self.board);
        let news = self.board.update(ack.cumulative, ack.blocks(), c.highest_sent);
        if acked > 0 {
            c.new_ack(now, ack.cumulative);
            self.released = 0;
            if !self.in_recovery {
                if !c.echo {
                    self.rule.open(c, now, acked);
                }
            } else if ack.cumulative >= c.recover {
                self.end_recovery(c);
            } else {
                self.allow(c, before, true);
            }
        } else if news {
            c.duplicates += 1;
            let lost = c.duplicates >= DUPLICATES || self.board.first_is_lost();
            if lost && !self.in_recovery {
                if c.highest_ack >= c.recover {
                    self.rule.cut(c, c.highest_sent - c.highest_ack - self.released);
                    self.enter_recovery(c, now, before, out);
                } else if c.last_cut == LastCut::Mark {
                    // The window was cut for these packets already.
                    self.enter_recovery(c, now, before, out);
                }
            } else if self.in_recovery {
                self.allow(c, before, false);
            }
        }
        if self.in_recovery || c.duplicates == 0 || c.options.limited_transmit || c.highest_ack < c.recover {
            self.send(c, now, out);
        }
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        if self.in_recovery {
            self.fill(c, now, out);
        } else {
            self.send_missing(c, now, out);
        }
    }

    /// RFC 3168 and RFC 9438 cut alike for a loss and a mark, and never for packets sent before the last
    /// cut, a timeout's included.
    fn mark(&mut self, c: &mut Connection, cumulative: i64) {
        if cumulative > c.recover {
            self.rule.cut(c, c.highest_sent - c.highest_ack - self.released);
            c.note_mark();
        }
    }

    fn reset(&mut self) {
        self.board.clear();
        self.rule.reset();
        self.in_recovery = false;
        self.rescued_to = 0;
        self.released = 0;
        self.timed_out_at = None;
    }

    /// A second timeout for the same packet leaves the threshold as it is (RFC 5681). In recovery what is
    /// outstanding may be far more than the window that was cut already; the threshold is to fall with each
    /// loss, so it comes from the smaller of both.
    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        if self.in_recovery && c.options.prr {
            c.cwnd = c.ssthresh as f64;
        }
        if self.timed_out_at == Some(c.highest_ack) {
            c.cwnd = 1.0;
        } else {
            let flight = c.next - c.highest_ack - 1 - self.released;
            self.rule.timeout(c, if self.in_recovery { flight.min(c.cwnd as i64) } else { flight });
        }
        self.timed_out_at = Some(c.highest_ack);
        self.in_recovery = false;
        self.released = 0;
        c.duplicates = 0;
        c.restart_from_first(now);
        self.send(c, now, out);
    }
}

impl<W: WindowRule> RfcSack<W> {
    fn enter_recovery(&mut self, c: &mut Connection, now: Time, before: Known, out: &mut impl Output) {
        c.mark_recovery(now);
        self.in_recovery = true;
        self.board.begin_recovery();
        self.rescued_to = c.highest_ack + 1;
        self.proportion.begin(c.highest_sent + 1 - before.delivered);
        self.allow(c, before, false);
        self.resend(c, now, c.highest_ack + 1, out);
    }

    fn end_recovery(&mut self, c: &mut Connection) {
        self.in_recovery = false;
        if c.options.prr {
            c.cwnd = c.ssthresh as f64;
        }
    }

    /// An acknowledgement arrived in recovery: the window that lets go what PRR allows for it.
    fn allow(&mut self, c: &mut Connection, before: Known, moved_on: bool) {
        if !c.options.prr {
            return;
        }
        let delivered = self.board.delivered() - before.delivered;
        let is_safe = moved_on && self.board.lost_below() <= before.lost_below.max(c.highest_ack + 1);
        let pipe = self.board.pipe(c.highest_sent + 1);
        let count = self.proportion.allowance(delivered, pipe, c.ssthresh, is_safe);
        c.cwnd = (pipe + count) as f64;
    }

    /// While fewer packets are in flight than the window allows: holes, new data, doubtful holes, and once
    /// the highest packet outstanding, so that a tail loss does not wait for the timer.
    fn fill(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        let mut pipe = self.board.pipe(c.highest_sent + 1);
        let (first, burst) = (pipe, c.burst());
        while pipe < c.cwnd as i64 && ((pipe - first) as usize) < burst && !c.holds_back(now) {
            match self.board.next_segment(c.next <= c.limit()) {
                Some(NextSegment::Lost(seq) | NextSegment::Doubtful(seq)) => self.resend(c, now, seq, out),
                Some(NextSegment::New) => {
                    c.send_next(now, out);
                    self.proportion.count_sent();
                }
                None => {
                    let missing = self.board.highest_missing(c.highest_sent + 1);
                    let Some(seq) = missing.filter(|_| c.highest_ack > self.rescued_to) else { return };
                    self.rescued_to = c.recover;
                    c.transmit(now, seq, out);
                    self.proportion.count_sent();
                }
            }
            pipe += 1;
        }
    }

    fn resend(&mut self, c: &mut Connection, now: Time, seq: i64, out: &mut impl Output) {
        self.board.mark_resent(seq);
        self.proportion.count_sent();
        // Its acknowledgement could be that of either copy (Karn).
        if c.is_timed(seq) {
            c.stop_timing();
        }
        c.transmit(now, seq, out);
    }

    /// Outside recovery: what the window allows, leaving out what has arrived. With duplicates this is
    /// limited transmit, for each reports one packet less in flight.
    fn send_missing(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.next = self.board.missing_from(c.next);
        let mut in_flight = self.board.holes_below(c.next);
        let (first, burst) = (in_flight, c.burst());
        while c.next <= c.limit()
            && in_flight < c.cwnd as i64
            && ((in_flight - first) as usize) < burst
            && !c.holds_back(now)
        {
            if c.duplicates > 0 && c.next > c.highest_sent {
                self.released += 1;
            }
            if c.next > c.highest_sent {
                self.rule.sent(c.next, now);
            }
            c.send_next(now, out);
            c.next = self.board.missing_from(c.next);
            in_flight += 1;
        }
    }
}
