//! BBR: sends at the rate at which the path delivers, and keeps in flight what that needs.
//!
//! Source: draft-ietf-ccwg-bbr-06 (July 2026), with packets of one size for bytes, and what docs/tcp.md
//! says it leaves out. Here is the sender with its pacing and the loss recovery of RFC 6675; `rate` takes
//! samples, `model` estimates the path from them, `state` reacts to it.

use layercast_core::units::{Duration, Time};

use super::Ack;
use super::connection::{Connection, DUPLICATES, Output};
use super::rfc_board::{NextSegment, RfcBoard};
use super::variant::Variant;

mod model;
mod rate;
mod state;

use rate::Sampler;
use state::{Control, Flow, State};

#[derive(Clone, Debug, Default)]
pub(super) struct Bbr {
    board: RfcBoard,
    sampler: Sampler,
    /// None until the connection is open.
    control: Option<Control>,
    /// When packet 0 was sent, if it was sent once.
    opened: Option<Time>,
    /// The next packet leaves no earlier.
    next_send: Time,
    /// Packets below this that have not arrived are known to be lost.
    lost_to: i64,
    /// The rounds that were over when loss recovery began, while it lasts.
    recovering_since: Option<u64>,
    /// The first packet not acknowledged was resent and is lost again.
    lost_again: bool,
    /// The packet up to which a rescue was sent in this recovery (`RescueRxt` of RFC 6675).
    rescued_to: i64,
    /// The window held the sender back in this round, and in the last.
    window_limited: [bool; 2],
}

impl Variant for Bbr {
    fn start(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        self.sampler.clear(1);
        self.opened = Some(now);
        c.send_next(now, out);
    }

    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative < c.highest_ack || ack.cumulative < 0 {
            return;
        }
        match self.control.take() {
            Some(mut control) => {
                self.serve(&mut control, c, now, ack);
                self.control = Some(control);
            }
            None => self.open(c, now, ack),
        }
        self.send(c, now, out);
    }

    /// The draft leaves the response to marks open, so its packets are not ECN-capable.
    fn mark(&mut self, _: &mut Connection, _: i64) {}

    /// The rate is remembered over a pause: it takes the place of a small window.
    fn resume(&mut self, _: &mut Connection, _: Duration) {}

    /// A packet at a time, as the pacing rate allows.
    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        let Some(mut control) = self.control.take() else { return };
        let mut in_flight = self.board.pipe(c.highest_sent + 1);
        if in_flight == 0 && self.sampler.is_app_limited() {
            control.restart_from_idle(&mut c.cwnd, &self.flow(now, in_flight), &mut c.stream);
        }
        while let Some(segment) = self.next_segment(c) {
            if !self.lost_again && in_flight >= c.cwnd as i64 {
                self.window_limited[0] = true;
                break;
            }
            if now < self.next_send {
                c.send_at = Some(self.next_send);
                break;
            }
            // The copy that was lost again still counts.
            in_flight += i64::from(!self.lost_again);
            self.transmit(c, now, segment, in_flight, out);
            self.next_send = now + Duration::from_secs_f64(1.0 / control.pacing_rate);
        }
        self.control = Some(control);
    }

    fn reset(&mut self) {
        self.board.clear();
        self.control = None;
        self.next_send = Time::ZERO;
        self.lost_to = 0;
        self.recovering_since = None;
        self.lost_again = false;
        self.rescued_to = 0;
        self.window_limited = [false; 2];
    }

    /// All packets that have not arrived are considered lost.
    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.timeout_at = None;
        if !c.outstanding() {
            return;
        }
        c.restart_from_first(now);
        let Some(mut control) = self.control.take() else {
            self.opened = None;
            c.send_next(now, out);
            return;
        };
        // The scoreboard decides what to resend.
        c.next = c.highest_sent + 1;
        control.save_window(c.cwnd, self.recovering_since.is_some());
        self.lost_to = c.highest_ack + 1;
        self.board.presume_lost(c.highest_sent + 1);
        self.mark_losses(&mut control, c, now);
        self.begin_recovery(&control, c);
        self.lost_again = false;
        c.cwnd = 1.0;
        self.next_send = now;
        self.control = Some(control);
        self.send(c, now, out);
    }
}

impl Bbr {
    /// Packet 0 is acknowledged: a first round-trip time, and the initial window.
    fn open(&mut self, c: &mut Connection, now: Time, ack: &Ack) {
        self.board.update(ack.cumulative, ack.blocks(), c.highest_sent);
        c.new_ack(now, ack.cumulative);
        c.cwnd = c.initial_window();
        let rtt = self.opened.map(|sent| now.since(sent));
        self.lost_to = c.highest_ack + 1;
        self.control = Some(Control::new(now, rtt, c.initial_window()));
    }

    fn serve(&mut self, control: &mut Control, c: &mut Connection, now: Time, ack: &Ack) {
        let in_flight = self.board.pipe(c.highest_sent + 1);
        if c.next >= c.end && in_flight < c.cwnd as i64 && !self.board.has_lost_to_resend() {
            self.sampler.limit(in_flight);
        }
        self.arrive(c, now, ack);
        self.board.update(ack.cumulative, ack.blocks(), c.highest_sent);
        if ack.cumulative > c.highest_ack {
            self.lost_again = false;
            c.new_ack(now, ack.cumulative);
            self.sampler.forget(ack.cumulative);
        }
        if self.mark_losses(control, c, now) && self.recovering_since.is_none() {
            control.save_window(c.cwnd, false);
            c.mark_recovery(now);
            self.board.begin_recovery();
            self.begin_recovery(control, c);
        }
        self.check_recovered(control, c);
        self.check_lost_again(control, c, now);
        let in_flight = self.board.pipe(c.highest_sent + 1);
        if let Some(sample) = self.sampler.sample(now, control.model.min_rtt) {
            let flow = self.flow(now, in_flight);
            control.update(&mut c.cwnd, &flow, &sample, &mut c.stream);
            if control.model.rounds.starts {
                self.window_limited = [false, self.window_limited[0]];
            }
        }
        if control.state == State::ProbeRtt {
            // The low rate is intended and says nothing about the path.
            self.sampler.limit(in_flight);
        }
    }

    /// Reports to the sampler all packets that this acknowledgement is the first to cover.
    fn arrive(&mut self, c: &Connection, now: Time, ack: &Ack) {
        let all = (c.highest_ack + 1, ack.cumulative + 1);
        for &(left, right) in std::iter::once(&all).chain(ack.blocks()) {
            let right = right.min(c.highest_sent + 1);
            let mut seq = self.board.missing_from(left.max(c.highest_ack + 1));
            while seq < right {
                self.sampler.arrive(seq, now);
                seq = self.board.missing_from(seq + 1);
            }
        }
    }

    /// Reports packets found lost. True if there are any.
    fn mark_losses(&mut self, control: &mut Control, c: &mut Connection, now: Time) -> bool {
        let end = self.board.lost_below();
        let mut seq = self.board.missing_from(self.lost_to.max(c.highest_ack + 1));
        let found = seq < end;
        let flow = self.flow(now, self.board.pipe(c.highest_sent + 1));
        while seq < end {
            self.lose(control, c, seq, &flow);
            seq = self.board.missing_from(seq + 1);
        }
        self.lost_to = self.lost_to.max(end);
        found
    }

    /// RFC 6675 would leave a repair that is lost to the timer. As in RFC 8985, a packet is lost if later
    /// ones have arrived; here three of them, for the one packet that blocks all others.
    fn check_lost_again(&mut self, control: &mut Control, c: &mut Connection, now: Time) {
        let seq = c.highest_ack + 1;
        let overtaken = self.sampler.is_repair_overtaken(seq, DUPLICATES as u64);
        if self.recovering_since.is_none() || self.lost_again || !overtaken {
            return;
        }
        self.lost_again = true;
        let flow = self.flow(now, self.board.pipe(c.highest_sent + 1));
        self.lose(control, c, seq, &flow);
    }

    fn lose(&mut self, control: &mut Control, c: &mut Connection, seq: i64, flow: &Flow) {
        self.sampler.lost += 1;
        if let Some(sent) = self.sampler.record(seq) {
            let lost = self.sampler.lost - sent.lost;
            control.lose(seq, sent, lost, c.cwnd, flow, &mut c.stream);
        }
    }

    fn begin_recovery(&mut self, control: &Control, c: &Connection) {
        self.recovering_since = Some(control.model.rounds.count);
        self.rescued_to = c.highest_ack + 1;
    }

    /// Recovery ends when all that was in flight at its start is acknowledged, unless more is lost.
    fn check_recovered(&mut self, control: &Control, c: &mut Connection) {
        if self.recovering_since.is_none() || c.highest_ack < c.recover {
            return;
        }
        if self.board.first_is_lost() {
            c.recover = c.highest_sent;
        } else {
            self.recovering_since = None;
            control.restore_window(&mut c.cwnd);
        }
    }

    /// What RFC 6675 would send next; new data alone outside recovery.
    fn next_segment(&self, c: &Connection) -> Option<NextSegment> {
        if self.lost_again {
            return Some(NextSegment::Lost(c.highest_ack + 1));
        }
        let next = self.board.next_segment(c.next <= c.limit());
        if self.recovering_since.is_none() {
            return next.filter(|&next| next == NextSegment::New);
        }
        next.or_else(|| {
            let missing = self.board.highest_missing(c.highest_sent + 1);
            missing.filter(|_| c.highest_ack > self.rescued_to).map(NextSegment::Doubtful)
        })
    }

    fn transmit(
        &mut self,
        c: &mut Connection,
        now: Time,
        segment: NextSegment,
        in_flight: i64,
        out: &mut impl Output,
    ) {
        let seq = match segment {
            NextSegment::New => c.next,
            NextSegment::Lost(seq) | NextSegment::Doubtful(seq) => seq,
        };
        self.sampler.send(seq, now, in_flight);
        if segment == NextSegment::New {
            c.send_next(now, out);
            return;
        }
        if std::mem::take(&mut self.lost_again) {
            // The board knows it as resent.
        } else if self.board.next_segment(false) == Some(segment) {
            self.board.mark_resent(seq);
        } else {
            self.rescued_to = c.recover;
        }
        if c.is_timed(seq) {
            c.stop_timing();
        }
        c.transmit(now, seq, out);
    }

    fn flow(&self, now: Time, in_flight: i64) -> Flow {
        Flow {
            now,
            delivered: self.sampler.delivered,
            in_flight: in_flight as f64,
            window_limited: self.window_limited.contains(&true),
            recovering_since: self.recovering_since,
        }
    }
}
