//! Vegas: the window follows the packets that a flow keeps in queues.
//!
//! Once a round trip it compares the rate it gets with the rate it would get with no queue, and a loss may
//! be detected by the age of a packet before the third duplicate. Source: Brakmo and Peterson 1995, as ns-2
//! 2.35's agent has it with alpha 1, beta 3, gamma 1 packets.

use layercast_core::units::{Duration, Size, Time};

use super::connection::{Connection, DUPLICATES, LastCut, Output};
use super::variant::Variant;
use super::{Ack, Segment};

mod records;

use records::{Records, Sent};

/// With fewer packets in queues the window grows.
const ALPHA: i64 = 1;
/// With more it shrinks.
const BETA: i64 = 3;
/// With more slow start ends.
const GAMMA: i64 = 1;

/// Records packets as they are sent.
struct Recorder<'a, O> {
    records: &'a mut Records,
    zero: &'a mut Time,
    /// The lowest packet not acknowledged.
    first: i64,
    now: Time,
    ns2_compat: bool,
    out: &'a mut O,
}

impl<O: Output> Output for Recorder<'_, O> {
    fn send(&mut self, segment: Segment, size: Size, is_ecn_capable: bool) {
        if segment.seq == 0 {
            *self.zero = self.now;
        }
        self.records.record(segment.seq, self.first, self.now, self.ns2_compat);
        self.out.send(segment, size, is_ecn_capable);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Vegas {
    records: Records,
    /// When packet 0 was sent last: there ns-2 starts its clock.
    zero: Time,
    /// The smallest round-trip time, in seconds; infinite before the first acknowledgement.
    base: Option<f64>,
    /// Eight times the smoothed round-trip time, four times its variation, and the age at which a packet is
    /// considered lost, all in seconds.
    smoothed: f64,
    variation: f64,
    expiry: f64,
    /// Round-trip times since the last comparison.
    sum: f64,
    samples: u32,
    /// The next comparison is when this packet is acknowledged.
    begin: i64,
    begun: Time,
    /// By how much each acknowledgement opens the window.
    increment: f64,
    /// Slow start grows in every second round trip.
    resting: bool,
    /// The window that duplicates inflate, and when it was cut, by the clock of then.
    deflated: f64,
    cut_at: Option<Duration>,
    /// The number of further new acknowledgements that check the age of the first packet.
    worried: i64,
}

impl Variant for Vegas {
    fn start(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        if c.options.ns2_compat {
            self.records.prepare();
        }
        c.send_next(now, &mut self.record(c, now, out));
    }

    fn ack(&mut self, c: &mut Connection, now: Time, ack: &Ack, out: &mut impl Output) {
        if self.base.is_none() {
            self.first_ack(now);
        }
        if ack.cumulative > c.last_ack {
            self.new_ack(c, now, ack.cumulative, out);
        } else if ack.cumulative == c.last_ack && (c.outstanding() || c.options.ns2_compat) {
            self.duplicate(c, now, out);
        }
        if c.duplicates == 0 || c.duplicates >= DUPLICATES {
            self.send(c, now, out);
        }
    }

    fn send(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.send_window(now, c.window(), usize::MAX, &mut self.record(c, now, out));
    }

    fn reset(&mut self) {
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        *self = Vegas { records, ..Vegas::default() };
    }

    fn timeout(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.duplicates = 0;
        c.go_back(now);
        c.cwnd = 2.0;
        self.deflated = 0.0;
        self.cut_at = Some(now.since(self.zero));
        self.send(c, now, out);
    }
}

impl Vegas {
    fn record<'a, O: Output>(&'a mut self, c: &Connection, now: Time, out: &'a mut O) -> Recorder<'a, O> {
        let ns2_compat = c.options.ns2_compat;
        let (records, zero, first) = (&mut self.records, &mut self.zero, c.last_ack + 1);
        Recorder { records, zero, first, now, ns2_compat, out }
    }

    /// The estimates start from packet 0, however often it was sent.
    fn first_ack(&mut self, now: Time) {
        self.begun = self.zero;
        let rtt = now.since(self.begun).as_secs_f64();
        self.base = Some(rtt);
        self.smoothed = 8.0 * rtt;
        self.variation = rtt;
        self.expiry = (self.smoothed / 4.0 + self.variation) / 2.0;
    }

    fn new_ack(&mut self, c: &mut Connection, now: Time, cumulative: i64, out: &mut impl Output) {
        if c.last_ack == 0 {
            // The loss of packet 0 does not shrink it in ns-2.
            let whole = f64::from(c.options.initial_window);
            c.cwnd = if c.options.ns2_compat { whole } else { c.initial_window() };
        }
        if c.duplicates > DUPLICATES && c.cwnd > self.deflated {
            c.cwnd = self.deflated;
            // In Vegas this only says that slow start is over.
            c.ssthresh = 2;
        }
        let lowest = c.last_ack + 1;
        c.new_ack(now, cumulative);
        if cumulative >= self.begin {
            self.compare(c, now);
        }
        if self.increment == 1.0 && c.cwnd >= c.ssthresh as f64 {
            self.increment = 0.0;
        }
        // A window that is not used does not grow.
        if self.increment > 0.0 && c.cwnd - (c.next - c.last_ack) as f64 <= 2.0 {
            c.cwnd += self.increment;
        }
        let array = c.options.ns2_compat.then_some(i64::from(c.options.window.max(1)));
        let covered = self.records.acknowledge(lowest, cumulative, array);
        if let Sent { at: Some(at), times: 1 } = covered
            // ns-2 treats a packet that was sent at 0 s of its clock as one that was never sent.
            && !(c.options.ns2_compat && at == self.zero)
        {
            self.sample(now.since(at));
        }
        if self.worried > 0 {
            self.worried -= 1;
            if self.has_expired(c, self.records.first(c.last_ack + 1), now) && c.last_ack + 1 < c.end {
                c.duplicates = DUPLICATES;
                c.transmit(now, c.last_ack + 1, &mut self.record(c, now, out));
            } else {
                self.worried = 0;
            }
        }
    }

    /// Once per round trip: estimates the flow's packets in queues and steers the window.
    fn compare(&mut self, c: &mut Connection, now: Time) {
        let rtt = if self.samples > 0 {
            self.sum / f64::from(self.samples)
        } else {
            now.since(self.begun).as_secs_f64()
        };
        (self.sum, self.samples) = (0.0, 0);
        let length = c.next - self.begin;
        if rtt > 0.0 {
            let old = self.base.unwrap_or(rtt);
            let base = if rtt < old || length <= 1 { rtt } else { old };
            self.base = Some(base);
            let expected = (c.next - c.last_ack) as f64 / base;
            let actual = length as f64 / rtt;
            self.steer(c, ((expected - actual) * base + 0.5) as i64);
        }
        self.begin = c.next;
        self.begun = now;
    }

    fn steer(&mut self, c: &mut Connection, queued: i64) {
        self.increment = 0.0;
        if c.cwnd < c.ssthresh as f64 {
            self.resting = !self.resting;
            if !self.resting && queued > GAMMA {
                c.ssthresh = 2;
                c.cwnd = (c.cwnd - c.cwnd / 8.0).max(2.0);
            } else if !self.resting {
                self.increment = 1.0;
            }
        } else if queued > BETA {
            c.cwnd = (c.cwnd - 1.0).max(2.0);
        } else if queued < ALPHA {
            self.increment = 1.0 / c.cwnd;
        }
    }

    fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.sum += rtt;
        self.samples += 1;
        self.base = self.base.map(|base| base.min(rtt));
        let error = rtt - self.smoothed / 8.0;
        self.smoothed += error;
        self.variation += error.abs() - self.variation / 4.0;
        self.expiry = (self.smoothed / 4.0 + self.variation) / 2.0 * (17.0 / 16.0);
    }

    /// Whether the age of a packet shows that it is lost. ns-2 treats a packet that was not sent as one
    /// sent a second before its clock began; what it then resends is new.
    fn has_expired(&self, c: &Connection, packet: Sent, now: Time) -> bool {
        let age_s = match packet.at {
            Some(at) => now.since(at).as_secs_f64(),
            None if c.options.ns2_compat => now.since(self.zero).as_secs_f64() + 1.0,
            None => return false,
        };
        age_s >= self.expiry
    }

    fn duplicate(&mut self, c: &mut Connection, now: Time, out: &mut impl Output) {
        c.duplicates += 1;
        let first = self.records.first(c.last_ack + 1);
        if self.has_expired(c, first, now) || c.duplicates == DUPLICATES {
            if c.highest_ack > c.recover || c.last_cut != LastCut::Timeout {
                self.resend_first(c, now, first, out);
            }
        } else if c.duplicates > DUPLICATES {
            c.cwnd += 1.0;
        }
    }

    fn resend_first(&mut self, c: &mut Connection, now: Time, first: Sent, out: &mut impl Output) {
        c.recover = c.highest_sent;
        c.note_cut(LastCut::Loss);
        self.expiry *= if first.times > 1 { 2.0 } else { 9.0 / 8.0 };
        // One cut for the losses of one window: those sent before the last cut are of that window.
        if first.at.is_some_and(|sent| self.cut_at.is_none_or(|cut| cut < sent.since(self.zero))) {
            let window = c.window() as i64;
            let cut = match window {
                ..=3 => 2,
                _ if first.times > 1 => window / 2,
                _ => window - window / 4,
            };
            self.deflated = cut as f64;
            c.cwnd = (cut + c.duplicates) as f64;
            self.cut_at = Some(now.since(self.zero));
        }
        c.rto.back_off();
        c.restart_timer(now);
        c.stop_timing();
        c.transmit(now, c.last_ack + 1, &mut self.record(c, now, out));
        if first.times == 1 {
            c.duplicates = DUPLICATES;
        }
        self.worried = (c.next - c.last_ack).min(2);
    }
}
