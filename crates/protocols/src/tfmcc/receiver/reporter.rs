//! When a receiver reports to the source of a session and what: at the pace of round trips if it limits
//! the rate, by a random timer if not (RFC 4654, sections 4.4 and 4.5).

use core::num::NonZeroU64;

use super::feedback::{FeedbackTimer, Standing};
use super::reception::Reception;
use crate::tfmcc::header::{Data, FloatRate, ReceiverId, Report};
use crate::tfmcc::options::Options;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

/// After this many largest round-trip times of silence a source may start slowly (RFC 4654, 4.3.1).
const IDLE_ROUND_TRIPS: u64 = 10;

/// The session's fields in the newest packet.
#[derive(Clone, Copy, Debug)]
struct Newest {
    timestamp_us: u32,
    came: Time,
    round: u8,
}

/// The new information in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketOutcome {
    /// A feedback round begins with it.
    new_round: bool,
    /// Packets were found lost with it, for the first time in a round-trip time.
    new_loss: bool,
    /// Its fields about the session.
    max_rtt: Duration,
    suppression: Option<f64>,
    /// The first round-trip time.
    pub(crate) first_rtt: Option<Duration>,
    /// An echo that gave no sample.
    pub(crate) bad_echo: bool,
}

/// Reports for one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    id: ReceiverId,
    stream: Stream,
    timer: FeedbackTimer,
    newest: Option<Newest>,
    is_limiting: bool,
    reported: Option<Time>,
    /// When the last packet of the session arrived.
    last_packet: Time,
}

impl Reporter {
    pub(crate) fn new(options: &Options, mut stream: Stream) -> Reporter {
        Reporter {
            id: ReceiverId(NonZeroU64::new(stream.bits()).unwrap_or(NonZeroU64::MIN)),
            stream,
            timer: FeedbackTimer::new(options),
            newest: None,
            is_limiting: false,
            reported: None,
            last_packet: Time::ZERO,
        }
    }

    pub(crate) fn id(&self) -> ReceiverId {
        self.id
    }

    pub(crate) fn is_limiting(&self) -> bool {
        self.is_limiting
    }

    /// When the last packet of the session arrived, or the session began.
    pub(crate) fn last_packet(&self) -> Time {
        self.last_packet
    }

    /// The session begins for this receiver.
    pub(crate) fn begin(&mut self, now: Time) {
        self.last_packet = now;
    }

    /// The reports belong to another session from now on, whose state is unknown.
    pub(crate) fn reset(&mut self) {
        self.timer.cancel();
        (self.newest, self.reported) = (None, None);
        self.is_limiting = false;
    }

    /// Processes a packet's fields about the session. None if it was overtaken and brings no news.
    pub(crate) fn on_packet(
        &mut self,
        now: Time,
        data: &Data,
        new_loss: bool,
        reception: &mut Reception,
        options: &Options,
    ) -> Option<PacketOutcome> {
        let newest = Newest { timestamp_us: data.timestamp_us, came: now, round: data.round };
        let before = self.newest;
        let is_old = |old: &Newest| (data.timestamp_us.wrapping_sub(old.timestamp_us) as i32) < 0;
        if before.as_ref().is_some_and(is_old) {
            return None;
        }
        if now.since(self.last_packet) > data.max_rtt() * IDLE_ROUND_TRIPS && before.is_some() && !new_loss {
            reception.clear_loss();
        }
        self.newest = Some(newest);
        self.last_packet = now;
        self.is_limiting = data.limiting == Some(self.id);
        let new_round = before.is_none_or(|before| before.round != data.round);
        let suppression = data.suppression.rate().map(Rate::as_bytes_per_s);
        let max_rtt = data.max_rtt();
        let mut outcome =
            PacketOutcome { new_round, new_loss, max_rtt, suppression, first_rtt: None, bad_echo: false };
        if let Some(echo) = data.echo.filter(|echo| echo.receiver == self.id) {
            let weight = if self.is_limiting { options.q_limiting } else { options.q_other };
            match reception.on_echo(now, echo.timestamp_us, data.timestamp_us, weight) {
                Some((rtt, true)) => outcome.first_rtt = Some(rtt),
                Some(_) => {}
                None => outcome.bad_echo = true,
            }
        }
        Some(outcome)
    }

    /// Whether the limiting receiver is to report with this packet. All others have their timer set, moved
    /// or cancelled. `asked` is the rate to ask for, in byte/s.
    pub(crate) fn is_due_with(
        &mut self,
        now: Time,
        outcome: &PacketOutcome,
        asked: f64,
        reception: &Reception,
        options: &Options,
    ) -> bool {
        if self.is_limiting {
            self.timer.cancel();
            let rtt = reception.rtt_in_use();
            let due = self.reported.is_none_or(|last| now.since(last) >= rtt);
            return due || outcome.new_loss && options.report_on_loss;
        }
        let standing = Standing {
            asked,
            sent: reception.sent_rate(),
            has_loss: reception.has_loss(),
            rtt: reception.rtt_in_use(),
            max_rtt: outcome.max_rtt,
            suppression: outcome.suppression,
        };
        if outcome.new_round {
            let x = 1.0 - self.stream.uniform();
            self.timer.begin(now, x, &standing);
        } else {
            self.timer.on_packet(now, &standing);
        }
        false
    }

    /// Whether the timer is due. It is then spent.
    pub(crate) fn take_due(&mut self, now: Time) -> bool {
        self.timer.take_due(now)
    }

    /// When the timer is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timer.deadline()
    }

    /// A report of the present state, asking for `asked` byte/s; none before the first packet.
    pub(crate) fn report(
        &mut self,
        now: Time,
        session: u32,
        asked: f64,
        leaving: bool,
        reception: &Reception,
    ) -> Option<Report> {
        let newest = self.newest?;
        let held_us = now.since(newest.came).as_us() as u32;
        self.reported = Some(now);
        Some(Report {
            session,
            receiver: self.id,
            timestamp_us: now.as_wire_us(),
            heard_us: newest.timestamp_us.wrapping_add(held_us),
            round: newest.round,
            has_rtt: reception.rtt().is_some(),
            has_loss: reception.has_loss(),
            leaving,
            rate: FloatRate::from_rate(Rate::from_bytes_per_s(asked)),
        })
    }
}
