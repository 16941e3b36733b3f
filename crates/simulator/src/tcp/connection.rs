//! What all senders share: sequence numbers, the timer, the timed packet, the plain window rules.

use std::sync::Arc;

use layercast_core::stream::Stream;
use layercast_core::units::{Size, Time};

use super::rto::RtoEstimator;
use super::{Segment, TcpOptions, TcpVariant};

/// Duplicate acknowledgements that trigger a retransmission.
pub(super) const DUPLICATES: i64 = 3;

/// The output of a sender's segments.
pub(crate) trait Output {
    fn send(&mut self, segment: Segment, size: Size, is_ecn_capable: bool);
}

/// What cut the window last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastCut {
    None,
    Loss,
    Mark,
    Timeout,
}

/// The state of a connection with unlimited data, for any variant.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Shared by connections with the same, so that the caches hold them once.
    pub(super) options: Arc<TcpOptions>,
    pub(super) rto: RtoEstimator,
    /// When the retransmission timer expires.
    pub(super) timeout_at: Option<Time>,
    /// When sending resumes: after its random delay, or at its next pacing time.
    pub(super) send_at: Option<Time>,
    /// The random delay is over.
    delay_over: bool,
    pub(super) stream: Stream,
    pub(super) cwnd: f64,
    pub(super) ssthresh: i64,
    /// The packet to send next.
    pub(super) next: i64,
    /// There is no data from this packet on.
    pub(super) end: i64,
    pub(super) incarnation: u32,
    pub(super) highest_sent: i64,
    /// The acknowledgement that a duplicate repeats.
    pub(super) last_ack: i64,
    pub(super) highest_ack: i64,
    /// How many packets the last new acknowledgement covered.
    newly_acked: i64,
    pub(super) duplicates: i64,
    /// The highest packet sent when the window was cut last.
    pub(super) recover: i64,
    pub(super) last_cut: LastCut,
    /// The acknowledgement being served echoes a mark.
    pub(super) echo: bool,
    /// The next packet carries CWR for the last cut.
    cwr_pending: bool,
    /// The last mark came with a window of one packet or less, which cannot be cut.
    marked_at_floor: bool,
    initial_window: u32,
    /// The size of packet 0.
    first_size: Size,
    /// When the packet being timed was sent.
    timed: Option<Time>,
    timed_seq: i64,
}

impl Connection {
    pub(super) fn new(options: Arc<TcpOptions>, mut stream: Stream) -> Connection {
        let boot = stream.uniform_duration(options.tick);
        // Vegas of ns-2 has no small first packet.
        let small_first = options.variant != TcpVariant::Vegas;
        Connection {
            rto: RtoEstimator::new(&options, boot),
            timeout_at: None,
            send_at: None,
            delay_over: false,
            stream,
            cwnd: 1.0,
            ssthresh: i64::from(options.window),
            next: 0,
            end: i64::MAX,
            incarnation: 0,
            highest_sent: -1,
            last_ack: -1,
            highest_ack: -1,
            newly_acked: 0,
            duplicates: 0,
            recover: 0,
            last_cut: LastCut::None,
            echo: false,
            cwr_pending: false,
            marked_at_floor: false,
            initial_window: options.initial_window,
            first_size: if small_first { options.ack_size } else { options.packet_size },
            timed: None,
            timed_seq: -1,
            options,
        }
    }

    /// Resets to the next connection between the same ends, with this many packets of data.
    pub(super) fn restart(&mut self, packets: i64) {
        let first = i64::from(self.first_size != self.options.packet_size);
        let fresh = Connection::new(Arc::clone(&self.options), self.stream.clone());
        let incarnation = self.incarnation.wrapping_add(1);
        *self = Connection { end: first + packets, incarnation, ..fresh };
    }

    /// Whether all data has been acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.highest_ack + 1 >= self.end
    }

    /// Takes a new acknowledgement: the timer starts again, a covered timed packet is a sample.
    pub(super) fn new_ack(&mut self, now: Time, cumulative: i64) {
        self.duplicates = 0;
        self.advance(cumulative);
        if let Some(sent) = self.timed
            && cumulative >= self.timed_seq
        {
            self.timed = None;
            // Marks at a window of one packet: only a longer timeout can help.
            if !(self.echo && self.marked_at_floor) {
                self.rto.reset_back_off();
                self.marked_at_floor = false;
            }
            self.rto.sample(sent, now.since(sent));
        }
        self.restart_timer(now);
    }

    /// Moves on to an acknowledgement.
    pub(super) fn advance(&mut self, cumulative: i64) {
        self.newly_acked = cumulative - self.highest_ack;
        self.last_ack = cumulative;
        self.highest_ack = cumulative;
        self.next = self.next.max(cumulative + 1);
    }

    /// Drops the present measurement if the acknowledgement covers its packet: during recovery it would
    /// measure the repair. It does show that packets get through, so the back-off ends.
    pub(super) fn discard_covered_sample(&mut self, cumulative: i64) {
        if self.timed.is_some() && cumulative >= self.timed_seq {
            self.timed = None;
            self.rto.reset_back_off();
        }
    }

    pub(super) fn stop_timing(&mut self) {
        self.timed = None;
    }

    pub(super) fn is_timed(&self, seq: i64) -> bool {
        self.timed.is_some() && self.timed_seq == seq
    }

    /// The window when packet 0 has been acknowledged.
    pub(super) fn initial_window(&self) -> f64 {
        f64::from(self.initial_window)
    }

    /// By how many packets a new acknowledgement may open the window in slow start.
    pub(super) fn countable(&self) -> f64 {
        if !self.options.byte_counting {
            return 1.0;
        }
        // After a timeout it may cover packets that arrived long ago (RFC 3465, section 2.3).
        let most = if self.highest_ack <= self.recover { 2 } else { i64::MAX };
        self.newly_acked.min(most) as f64
    }

    /// Grows the window by a new acknowledgement, unless it echoes a mark.
    pub(super) fn open_window(&mut self) {
        if self.last_ack == 0 {
            self.cwnd = self.initial_window();
        } else if !self.echo {
            self.grow(self.countable());
        }
    }

    /// Grows the window for `acked` packets: by so many up to the threshold, above it by one in a window.
    pub(super) fn grow(&mut self, acked: f64) {
        let threshold = self.ssthresh as f64;
        if self.cwnd < threshold {
            self.cwnd = (self.cwnd + acked).min(threshold.max(self.cwnd + 1.0));
        } else {
            self.cwnd += acked / self.cwnd;
        }
    }

    /// The congestion window within the receiver's.
    pub(super) fn window(&self) -> f64 {
        self.cwnd.min(f64::from(self.options.window))
    }

    /// The highest packet that there is and that the receiver's window allows.
    pub(super) fn limit(&self) -> i64 {
        (self.highest_ack + i64::from(self.options.window)).min(self.end - 1)
    }

    /// A third duplicate cuts the window only once for each window of data. For Reno ns-2 has an exception
    /// that never applies: any new acknowledgement reverts it.
    pub(super) fn may_retransmit(&self) -> bool {
        self.highest_ack > self.recover || self.highest_ack == 0
    }

    /// A third duplicate came: cuts `window` by half if it has not been cut for this window of data. If
    /// a mark has cut it already, the loss is repaired all the same. Returns whether to repair.
    pub(super) fn begin_repair(&mut self, now: Time, window: f64) -> bool {
        if self.may_retransmit() {
            self.halve(now, window);
            return true;
        }
        let marked = self.last_cut == LastCut::Mark;
        if marked {
            self.last_cut = LastCut::Loss;
            self.restart_timer(now);
            self.timed = None;
        }
        marked
    }

    /// Halves `window` for the mark that an acknowledgement echoes: once for each window of data, since all
    /// acknowledgements echo it until CWR has arrived. What remains may be less than a packet: nothing is
    /// sent then until the timer expires, and the next mark makes that last longer.
    pub(super) fn answer_mark(&mut self, cumulative: i64, window: f64) {
        if cumulative <= self.recover && self.last_cut != LastCut::Timeout {
            return;
        }
        if self.cwnd <= 1.0 && self.marked_at_floor {
            self.rto.back_off();
        }
        self.marked_at_floor = self.cwnd <= 1.0;
        let half = window / 2.0;
        self.ssthresh = (half as i64).max(2);
        self.cwnd = half;
        self.note_mark();
    }

    /// The window was cut for a mark.
    pub(super) fn note_mark(&mut self) {
        self.recover = self.highest_sent;
        self.note_cut(LastCut::Mark);
    }

    /// The window was cut; the next packet carries CWR.
    pub(super) fn note_cut(&mut self, cut: LastCut) {
        self.last_cut = cut;
        self.cwr_pending = true;
    }

    /// Halves `window` at the start of fast recovery.
    pub(super) fn halve(&mut self, now: Time, window: f64) {
        let half = window / 2.0;
        self.ssthresh = (half as i64).max(2);
        self.cwnd = half.max(1.0);
        self.mark_recovery(now);
    }

    /// Packets in flight now belong to the loss just detected.
    pub(super) fn mark_recovery(&mut self, now: Time) {
        self.recover = self.highest_sent;
        self.note_cut(LastCut::Loss);
        self.restart_timer(now);
        self.timed = None;
    }

    /// The timer expired: back to the first packet not acknowledged with a window of one.
    pub(super) fn go_back(&mut self, now: Time) {
        // A mark has already reduced the threshold for these packets.
        let answered = self.last_cut == LastCut::Mark && self.highest_ack < self.recover;
        if self.outstanding() && !answered {
            self.ssthresh = ((self.window() / 2.0) as i64).max(2);
        }
        self.cwnd = 1.0;
        self.restart_from_first(now);
    }

    /// What a timeout does to all but the window.
    pub(super) fn restart_from_first(&mut self, now: Time) {
        self.recover = self.highest_sent;
        self.note_cut(LastCut::Timeout);
        // Vegas of ns-2 does not mind that its first packet was lost.
        if self.highest_ack == -1 && self.options.variant != TcpVariant::Vegas {
            self.initial_window = self.initial_window.min(1);
        }
        if self.outstanding() {
            self.rto.back_off();
        }
        self.restart_timer(now);
        self.next = self.highest_ack + 1;
        self.timed = None;
    }

    pub(super) fn outstanding(&self) -> bool {
        self.highest_ack != self.highest_sent
    }

    /// The first two duplicates each release a new packet (RFC 3042).
    pub(super) fn limited_transmit(&mut self, now: Time, out: &mut impl Output) {
        let within_cwnd = self.next <= self.highest_ack + self.cwnd as i64 + self.duplicates;
        if self.options.limited_transmit && self.next <= self.limit() && within_cwnd {
            self.send_next(now, out);
        }
    }

    /// Sends what `window` allows, at most `burst` packets.
    pub(super) fn send_window(&mut self, now: Time, window: f64, burst: usize, out: &mut impl Output) {
        let last = (self.highest_ack + window as i64).min(self.end - 1);
        let burst = burst.min(self.burst());
        let mut sent = 0;
        while self.next <= last && sent < burst && !self.holds_back(now) {
            self.send_next(now, out);
            sent += 1;
        }
    }

    /// How many packets one acknowledgement may release.
    pub(super) fn burst(&self) -> usize {
        if self.options.max_burst == 0 { usize::MAX } else { self.options.max_burst as usize }
    }

    /// Whether sending has to wait for a random delay. Only one wait is pending at a time, so that packets
    /// keep their order.
    pub(super) fn holds_back(&mut self, now: Time) -> bool {
        let overhead = self.options.overhead.unwrap_or_default();
        if overhead.is_zero() || self.delay_over {
            return false;
        }
        if self.send_at.is_none() {
            self.send_at = Some(now + self.stream.uniform_duration(overhead));
        }
        true
    }

    /// The wait is over for the sending that follows, which may begin another.
    pub(super) fn end_wait(&mut self) {
        self.delay_over = true;
        self.send_at = None;
    }

    /// Packets sent from now on have to wait again.
    pub(super) fn expect_wait(&mut self) {
        self.delay_over = false;
    }

    pub(super) fn send_next(&mut self, now: Time, out: &mut impl Output) {
        let seq = self.next;
        self.next += 1;
        self.transmit(now, seq, out);
    }

    pub(super) fn transmit(&mut self, now: Time, seq: i64, out: &mut impl Output) {
        let nothing_outstanding = !self.outstanding();
        let size = if seq == 0 { self.first_size } else { self.options.packet_size };
        let is_new = seq > self.highest_sent;
        // Neither the packet that opens the connection nor a resent one may be marked.
        let is_ecn_capable = self.options.ecn && is_new && seq > 0;
        let reduced = self.options.ecn && std::mem::take(&mut self.cwr_pending);
        out.send(Segment { seq, incarnation: self.incarnation, reduced }, size, is_ecn_capable);
        if is_new {
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

    pub(super) fn restart_timer(&mut self, now: Time) {
        self.timeout_at = Some(now + self.rto.timeout());
    }
}
