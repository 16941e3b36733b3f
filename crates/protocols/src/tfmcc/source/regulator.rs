//! What determines the rate of a session and the fields of its packets: the limiting receiver,
//! feedback rounds and echoes. TFMCC's source has one regulator; SMCC's has one for each layer.

use super::control::{Bounds, Control, ReportSummary};
use super::echoes::{Echoes, Waiting};
use super::rounds::Rounds;
use crate::tfmcc::header::{Data, FloatRate, ReceiverId, Report};
use crate::tfmcc::options::Options;
use crate::tfmcc::rules::rescaled_rate;
use layercast_core::units::{Duration, Rate, Size, Time, WireSeq};
use layercast_kit::estimator::{MAX_RTT, rtt_sample};
use layercast_kit::response::Response;

/// The shortest spacing of packets, so that an extreme rate cannot stall a host.
const MIN_SPACING: Duration = Duration::from_us(1);

/// The bounds of a session's rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// The lower bound.
    pub(crate) low: Rate,
    /// The upper bound.
    pub(crate) high: Rate,
}

/// A report with plausible numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    report: Report,
    rtt: Duration,
    asked: f64,
}

impl Reported {
    /// None if the report's time stamp or rate is impossible.
    pub(crate) fn new(now: Time, report: &Report) -> Option<Reported> {
        let rtt = rtt_sample(now.as_wire_us(), report.heard_us, 0)?;
        Some(Reported { report: *report, rtt, asked: report.rate.rate()?.as_bytes_per_s() })
    }
}

/// Regulates the rate of a session.
#[derive(Clone, Debug)]
pub(crate) struct Regulator {
    packet_size: Size,
    fair_to: Response,
    /// The part of the rate that is sent elsewhere, and the minimum that is sent here, in byte/s.
    elsewhere: f64,
    least: f64,
    control: Control,
    rounds: Rounds,
    echoes: Echoes,
    rtt: Option<Duration>,
}

impl Regulator {
    pub(crate) fn new(options: &Options, packet_size: Size, range: Range, now: Time) -> Regulator {
        let rounds = Rounds::new(options, now);
        let (low, high) = (range.low.as_bytes_per_s(), range.high.as_bytes_per_s());
        let bounds = Bounds { packet_bytes: f64::from(packet_size.as_bytes().max(1)), low, high };
        let mut regulator = Regulator {
            packet_size,
            fair_to: options.fair_to,
            elsewhere: 0.0,
            least: 0.0,
            control: Control::new(bounds, options.former_memory, rounds.max_rtt(), now),
            rounds,
            echoes: Echoes::new(),
            rtt: None,
        };
        regulator.rounds.on_spacing_change(regulator.spacing());
        regulator
    }

    /// Sets the part of the rate that is sent elsewhere, and the minimum that is sent here all the same.
    pub(crate) fn share(&mut self, elsewhere: Rate, least: Rate) {
        (self.elsewhere, self.least) = (elsewhere.as_bytes_per_s(), least.as_bytes_per_s());
    }

    /// The rate that receivers get in total.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bytes_per_s(self.control.rate())
    }

    /// The rate before a pause, for [`Regulator::resume`].
    pub(crate) fn rate_bytes_per_s(&self) -> f64 {
        self.control.rate()
    }

    /// The spacing of packets that are sent here.
    pub(crate) fn spacing(&self) -> Duration {
        let own = (self.control.rate() - self.elsewhere).max(self.least);
        Rate::from_bytes_per_s(own).time_to_send(self.packet_size).max(MIN_SPACING)
    }

    /// The largest round-trip time of the session.
    pub(crate) fn max_rtt(&self) -> Duration {
        self.rounds.max_rtt()
    }

    /// No receiver reports here: the largest round-trip time is that of those that may join.
    pub(crate) fn expect_max_rtt(&mut self, max_rtt: Duration) {
        self.rounds.set_max_rtt(max_rtt);
        self.rounds.on_spacing_change(self.spacing());
    }

    pub(crate) fn limiting(&self) -> Option<ReceiverId> {
        self.control.limiting()
    }

    pub(crate) fn limiting_changes(&self) -> u64 {
        self.control.clr_changes()
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.control.in_slow_start()
    }

    /// The round-trip time of the limiting receiver, as reports show it.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Lets the rate grow.
    pub(crate) fn advance(&mut self, now: Time) {
        self.control.advance(now, self.rounds.max_rtt());
    }

    /// The source resumes after a pause before which it sent at `rate` byte/s.
    pub(crate) fn resume(&mut self, now: Time, rate: f64) {
        self.control.resume(now, rate);
    }

    /// The header of the next data packet.
    pub(crate) fn data(&mut self, now: Time, session: u32, seq: WireSeq, end_of_session: bool) -> Data {
        let round = self.rounds.number();
        Data {
            session,
            seq,
            timestamp_us: now.as_wire_us(),
            end_of_session,
            round,
            max_rtt_us: self.rounds.max_rtt().min(MAX_RTT).as_us() as u32,
            suppression: self.rounds.suppression(),
            rate: FloatRate::from_rate(self.rate()),
            limiting: self.control.limiting(),
            echo: self.echoes.pop(now, round, self.rounds.is_late(now)),
        }
    }

    /// A report. Returns whether it is from another than the limiting receiver.
    pub(crate) fn on_report(&mut self, now: Time, reported: &Reported) -> bool {
        let Reported { report, rtt, asked } = *reported;
        let Report { receiver, has_loss, leaving, has_rtt, round, .. } = report;
        let before = self.rounds.max_rtt();
        self.rounds.on_rtt(rtt);
        let of_another = self.control.limiting() != Some(receiver);
        if of_another && !leaving {
            self.rounds.on_feedback(round, report.rate);
        }
        let rate = if has_loss && !has_rtt {
            let packet_bytes = f64::from(self.packet_size.as_bytes().max(1));
            rescaled_rate(self.fair_to, packet_bytes, asked, before, rtt)
        } else {
            asked
        };
        let summary = ReportSummary { receiver, rate, has_loss, leaving };
        self.control.on_report(now, &summary, self.rounds.max_rtt(), self.rounds.length());
        self.rounds.on_spacing_change(self.spacing());
        let is_limiting = self.control.limiting() == Some(receiver);
        if is_limiting {
            self.rtt = Some(rtt);
        }
        self.echoes.set_limiting(self.control.limiting());
        if !leaving {
            let Report { timestamp_us, rate, .. } = report;
            let waiting = Waiting { receiver, timestamp_us, arrived: now, has_rtt, round, rate };
            self.echoes.push(waiting, is_limiting);
        }
        of_another
    }

    /// The effects of the clock. Returns how many feedback rounds ended.
    pub(crate) fn poll(&mut self, now: Time) -> u64 {
        let mut ended = 0;
        loop {
            if self.control.poll(now, self.rounds.max_rtt(), self.rounds.length()) {
                self.rounds.on_spacing_change(self.spacing());
            }
            self.echoes.set_limiting(self.control.limiting());
            if self.rounds.poll(now, self.spacing()) {
                ended += 1;
            } else if self.control.deadline(self.rounds.max_rtt()) > now {
                return ended;
            }
        }
    }

    /// When to poll next.
    pub(crate) fn deadline(&self) -> Time {
        self.rounds.end().min(self.control.deadline(self.rounds.max_rtt()))
    }
}
