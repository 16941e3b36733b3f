//! The sending end: window rules, loss recovery, the retransmission timer.

use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Size, Time};

use super::rto::RtoEstimator;
use super::scoreboard::Scoreboard;
use super::{Ack, Segment, TcpOptions, TcpVariant};

/// Duplicate acknowledgements that trigger a retransmission.
const DUPLICATES: i64 = 3;

/// What a sender can be seen doing, for traces.
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

/// Where a sender puts its segments.
pub(crate) trait Output {
    fn send(&mut self, segment: Segment, size: Size);
}

/// How losses are repaired.
#[derive(Clone, Debug)]
enum Recovery {
    /// Reno: in recovery the window is inflated by the duplicates; otherwise by 0.
    Reno { inflation: i64 },
    /// Sack1: a count of the packets in flight while in recovery.
    Sack { board: Scoreboard, pipe: Option<i64>, ignore_duplicates: bool },
}

/// A sender with data without end.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    options: TcpOptions,
    recovery: Recovery,
    rto: RtoEstimator,
    timeout_at: Option<Time>,
    cwnd: f64,
    ssthresh: i64,
    initial_window: u32,
    next: i64,
    highest_sent: i64,
    last_ack: i64,
    highest_ack: i64,
    duplicates: i64,
    recover: i64,
    /// The packet being timed, and when it was sent.
    timed: Option<Time>,
    timed_seq: i64,
}

impl Sender {
    pub(crate) fn new(options: TcpOptions, mut stream: Stream) -> Sender {
        let boot = stream.uniform_span(options.tick);
        let recovery = match options.variant {
            TcpVariant::Reno => Recovery::Reno { inflation: 0 },
            TcpVariant::Sack => {
                Recovery::Sack { board: Scoreboard::default(), pipe: None, ignore_duplicates: false }
            }
        };
        Sender {
            rto: RtoEstimator::new(&options, boot),
            recovery,
            timeout_at: None,
            cwnd: 1.0,
            ssthresh: i64::from(options.window),
            initial_window: options.initial_window,
            next: 0,
            highest_sent: -1,
            last_ack: -1,
            highest_ack: -1,
            duplicates: 0,
            recover: 0,
            timed: None,
            timed_seq: -1,
            options,
        }
    }

    /// Starts to send.
    pub(crate) fn start(&mut self, now: Time, out: &mut impl Output) {
        self.send_window(now, out);
    }

    /// When to call [`Sender::handle_timeout`].
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timeout_at
    }

    pub(crate) fn state(&self) -> TcpState {
        TcpState {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            highest_ack: self.highest_ack,
            duplicates: self.duplicates,
            highest_sent: self.highest_sent,
            next: self.next,
            backoff: self.rto.backoff(),
        }
    }

    /// An acknowledgement arrived.
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Output) {
        match self.recovery {
            Recovery::Reno { .. } => self.reno_ack(now, ack, out),
            Recovery::Sack { pipe: None, .. } => self.sack_ack(now, ack, out),
            Recovery::Sack { pipe: Some(pipe), .. } => self.sack_recovery_ack(now, ack, pipe - 1, out),
        }
    }

    /// The retransmission timer expired: go back to the first packet not acknowledged.
    pub(crate) fn handle_timeout(&mut self, now: Time, out: &mut impl Output) {
        self.recover = self.highest_sent;
        if self.highest_ack == -1 {
            self.initial_window = self.initial_window.min(1);
        }
        // An inflated window does not count when a timeout cuts it.
        self.set_inflation(0);
        if self.highest_ack != self.highest_sent {
            self.ssthresh = ((self.cut_window() / 2.0) as i64).max(2);
            self.rto.back_off();
        }
        self.cwnd = 1.0;
        if let Recovery::Sack { board, pipe, ignore_duplicates } = &mut self.recovery {
            board.clear();
            *pipe = None;
            *ignore_duplicates = true;
            self.last_ack = self.highest_ack;
        }
        self.duplicates = 0;
        self.restart_timer(now);
        self.next = self.highest_ack + 1;
        self.timed = None;
        self.send_window(now, out);
    }

    fn reno_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Output) {
        if ack.cumulative > self.last_ack {
            self.set_inflation(0);
            self.new_ack(now, ack.cumulative);
            self.open_window();
        } else if ack.cumulative == self.last_ack {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                if self.may_retransmit() {
                    self.enter_recovery(now);
                    self.transmit(now, self.last_ack + 1, out);
                    self.set_inflation(DUPLICATES);
                }
            } else if self.duplicates < DUPLICATES {
                self.limited_transmit(now, out);
            } else if self.inflation() > 0 {
                self.set_inflation(self.inflation() + 1);
            }
        }
        if self.duplicates == 0 || self.duplicates >= DUPLICATES {
            self.send_window(now, out);
        }
    }

    fn sack_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Output) {
        let Recovery::Sack { board, ignore_duplicates, .. } = &mut self.recovery else { return };
        if ack.cumulative > self.last_ack {
            board.clear();
            *ignore_duplicates = false;
            self.new_ack(now, ack.cumulative);
            self.open_window();
        } else if ack.cumulative == self.last_ack
            && !*ignore_duplicates
            && board.update(ack.cumulative, ack.blocks())
        {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES && self.may_retransmit() {
                self.enter_sack_recovery(now, out);
            } else if self.duplicates < DUPLICATES {
                self.limited_transmit(now, out);
            }
        }
        if self.duplicates == 0 {
            self.send_window(now, out);
        }
    }

    fn enter_sack_recovery(&mut self, now: Time, out: &mut impl Output) {
        let in_flight = self.highest_sent - self.highest_ack - DUPLICATES;
        self.enter_recovery(now);
        let lost = self.last_ack + 1;
        if let Recovery::Sack { board, pipe, .. } = &mut self.recovery {
            board.mark_resent(lost);
            *pipe = Some(in_flight);
        }
        self.transmit(now, lost, out);
    }

    fn sack_recovery_ack(&mut self, now: Time, ack: &Ack, mut in_flight: i64, out: &mut impl Output) {
        let Recovery::Sack { board, pipe, .. } = &mut self.recovery else { return };
        if ack.cumulative >= self.recover {
            board.clear();
            *pipe = None;
            self.recover = 0;
            self.new_ack(now, ack.cumulative);
            self.send_window(now, out);
            return;
        }
        if ack.cumulative > self.highest_ack {
            self.highest_ack = ack.cumulative;
            board.update(ack.cumulative, ack.blocks());
            in_flight -= 1;
            self.rto.reset_back_off();
            self.restart_timer(now);
        } else {
            board.update(ack.cumulative, ack.blocks());
            self.duplicates += 1;
        }
        self.send_in_sack_recovery(now, in_flight, out);
    }

    /// Holes first, then new data, while fewer packets are in flight than the window allows.
    fn send_in_sack_recovery(&mut self, now: Time, mut in_flight: i64, out: &mut impl Output) {
        let limit = self.highest_ack + i64::from(self.options.window);
        while in_flight < self.cwnd as i64 {
            let Recovery::Sack { board, .. } = &mut self.recovery else { return };
            let seq = match board.next_hole() {
                Some(hole) if hole <= limit => {
                    board.mark_resent(hole);
                    hole
                }
                None if self.next <= limit => self.next,
                _ => break,
            };
            self.next = self.next.max(seq + 1);
            self.transmit(now, seq, out);
            in_flight += 1;
        }
        if let Recovery::Sack { pipe, .. } = &mut self.recovery {
            *pipe = Some(in_flight);
        }
    }

    /// A third duplicate cuts the window only once for each window of data. For Reno ns-2 has an
    /// exception that never applies: any new acknowledgement takes it back.
    fn may_retransmit(&self) -> bool {
        self.highest_ack > self.recover || self.highest_ack == 0
    }

    fn enter_recovery(&mut self, now: Time) {
        self.recover = self.highest_sent;
        let half = self.cut_window() / 2.0;
        self.ssthresh = (half as i64).max(2);
        self.cwnd = half.max(1.0);
        self.restart_timer(now);
        self.timed = None;
    }

    /// The window that a cut halves.
    fn cut_window(&self) -> f64 {
        (self.cwnd + self.inflation() as f64).min(f64::from(self.options.window))
    }

    fn inflation(&self) -> i64 {
        match self.recovery {
            Recovery::Reno { inflation } => inflation,
            Recovery::Sack { .. } => 0,
        }
    }

    fn set_inflation(&mut self, packets: i64) {
        if let Recovery::Reno { inflation } = &mut self.recovery {
            *inflation = packets;
        }
    }

    fn new_ack(&mut self, now: Time, cumulative: i64) {
        self.duplicates = 0;
        self.last_ack = cumulative;
        self.highest_ack = cumulative;
        self.next = self.next.max(cumulative + 1);
        if let Some(sent) = self.timed
            && cumulative >= self.timed_seq
        {
            self.timed = None;
            self.rto.reset_back_off();
            self.rto.sample(sent, now.since(sent));
        }
        self.restart_timer(now);
    }

    /// Grows the window by a new acknowledgement.
    fn open_window(&mut self) {
        if self.last_ack == 0 {
            self.cwnd = f64::from(self.initial_window);
        } else if self.cwnd < self.ssthresh as f64 {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }

    fn limited_transmit(&mut self, now: Time, out: &mut impl Output) {
        let within_window = self.next <= self.highest_ack + i64::from(self.options.window);
        let within_cwnd = self.next <= self.highest_ack + self.cwnd as i64 + self.duplicates;
        if self.options.limited_transmit && within_window && within_cwnd {
            let seq = self.next;
            self.next += 1;
            self.transmit(now, seq, out);
        }
    }

    /// Sends what the window allows.
    fn send_window(&mut self, now: Time, out: &mut impl Output) {
        let window = self.cut_window() as i64;
        while self.next <= self.highest_ack + window {
            let seq = self.next;
            self.next += 1;
            self.transmit(now, seq, out);
        }
    }

    fn transmit(&mut self, now: Time, seq: i64, out: &mut impl Output) {
        let nothing_outstanding = self.highest_ack == self.highest_sent;
        let size = if seq == 0 { self.options.header_size } else { self.options.packet_size };
        out.send(Segment { seq }, size);
        if seq > self.highest_sent {
            self.highest_sent = seq;
            if self.timed.is_none() && seq > self.timed_seq {
                self.timed = Some(now);
                self.timed_seq = seq;
            }
        }
        if self.timeout_at.is_none() || nothing_outstanding {
            self.restart_timer(now);
        }
    }

    fn restart_timer(&mut self, now: Time) {
        self.timeout_at = Some(now + self.rto.timeout());
    }
}
