//! pgmcc's source (draft-ietf-rmt-bb-pgmcc-03, section 3): it follows the acker.

use super::election::{replaces, throughput};
use super::header::{Data, Header, ReceiverId, Report};
use super::options::{Options, RttUnit};
use super::tokens::Tokens;
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, Seq, Size, Time};
use layercast_kit::counters::SourceCounters;
use layercast_kit::estimator::{RttEstimator, rtt_sample};
use layercast_kit::window::members::smoothed_rtt;
use layercast_kit::window::paced_sender::{Limits, PacedSender};
use layercast_kit::window::patience::Patience;
use layercast_kit::window::scoreboard::Scoreboard;

/// The representative.
#[derive(Clone, Debug)]
struct Acker {
    id: ReceiverId,
    /// The throughput that a TCP would have there, from the last report.
    throughput: f64,
    loss: f64,
    rtt: RttEstimator,
    /// Whether it has acknowledged anything yet.
    proved: bool,
}

/// A report and what is derived from it.
#[derive(Clone, Copy, Debug)]
struct ReportSummary {
    highest: Seq,
    sample: Duration,
    throughput: f64,
}

/// The source of a session of pgmcc.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    packet_size: Size,
    paced_sender: PacedSender,
    tokens: Tokens,
    board: Scoreboard,
    patience: Patience,
    acker: Option<Acker>,
    /// The acker before, and the first packet that it no longer acknowledges.
    former: Option<(ReceiverId, Seq)>,
    /// The last acker that never acknowledged anything, and until when it is not chosen.
    barred: Option<(ReceiverId, Time)>,
    /// When a new acker must have acknowledged something.
    proof_due: Option<Time>,
    changes: u64,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source that sends on channel 0, at most at the rate of all layers of the plan.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        let limits =
            Limits { burst: options.burst, reports: options.report_limit, end_packets: options.end_packets };
        Source {
            packet_size: plan.packet_size,
            paced_sender: PacedSender::new(&plan, limits, &mut stream),
            tokens: Tokens::new(options),
            board: Scoreboard::before(Seq(1)),
            patience: Patience::new(options.timeout_minimum),
            acker: None,
            former: None,
            barred: None,
            proof_due: None,
            changes: 0,
            actions: ActionQueue::default(),
            options: options.clone(),
        }
    }

    /// What was counted.
    pub fn counters(&self) -> &SourceCounters {
        &self.paced_sender.counters
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.paced_sender.session()
    }

    /// The receiver that represents all.
    pub fn acker(&self) -> Option<ReceiverId> {
        self.acker.as_ref().map(|acker| acker.id)
    }

    /// How often a receiver became the acker.
    pub fn acker_changes(&self) -> u64 {
        self.changes
    }

    /// The window in packets.
    pub fn window(&self) -> f64 {
        self.tokens.window()
    }

    fn rtt(&self) -> Option<Duration> {
        self.acker.as_ref().and_then(|acker| acker.rtt.rtt())
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        if !self.paced_sender.accepts(now, report.session) {
            return;
        }
        let Some(summary) = self.judge(now, report) else {
            self.paced_sender.counters.invalid += 1;
            return;
        };
        let is_acker = self.acker() == Some(report.receiver);
        match &mut self.acker {
            Some(_) if is_acker && report.leaving => {
                self.acker = None;
                self.proof_due = None;
                self.tokens.on_elected();
            }
            _ if report.leaving => {}
            Some(acker) if is_acker => {
                acker.rtt.on_sample(summary.sample);
                acker.throughput = match (self.options.rtt, acker.rtt.rtt_s()) {
                    (RttUnit::Time, Some(rtt_s)) => throughput(self.options.model, rtt_s, report.loss_rate()),
                    _ => summary.throughput,
                };
                acker.loss = report.loss_rate();
                acker.proved |= report.ack;
                if report.ack {
                    self.proof_due = None;
                    self.on_acknowledgement(now, summary.highest, report.came);
                }
            }
            Some(acker) => {
                let wins = replaces(summary.throughput, acker.throughput, self.options.switch);
                let of_former = self
                    .former
                    .is_some_and(|(id, end)| report.ack && id == report.receiver && summary.highest < end);
                if of_former {
                    self.on_acknowledgement(now, summary.highest, report.came);
                }
                if wins {
                    self.elect(now, report, &summary);
                }
            }
            None => self.elect(now, report, &summary),
        }
    }

    /// The values of a report, if they are plausible.
    fn judge(&self, now: Time, report: &Report) -> Option<ReportSummary> {
        let highest = self.paced_sender.sent(report.highest)?;
        let sample = rtt_sample(now.as_wire_us(), report.heard_us, 0)?;
        let rtt = match self.options.rtt {
            RttUnit::Packets => (self.paced_sender.newest().0 - highest.0).max(1) as f64,
            RttUnit::Time => sample.as_secs_f64(),
        };
        let throughput = throughput(self.options.model, rtt, report.loss_rate());
        Some(ReportSummary { highest, sample, throughput })
    }

    /// Makes the reporter the acker, unless it was dropped a moment ago.
    fn elect(&mut self, now: Time, report: &Report, summary: &ReportSummary) {
        if self.barred.is_some_and(|(id, until)| id == report.receiver && now < until) {
            return;
        }
        match &self.acker {
            Some(before) => self.former = Some((before.id, self.paced_sender.next())),
            None => self.tokens.on_elected(),
        }
        let mut rtt = smoothed_rtt();
        rtt.on_sample(summary.sample);
        let (id, loss) = (report.receiver, report.loss_rate());
        self.acker = Some(Acker { id, throughput: summary.throughput, loss, rtt, proved: false });
        self.proof_due = None;
        self.changes += 1;
        self.patience.forgive();
    }

    fn on_acknowledgement(&mut self, now: Time, highest: Seq, came: u32) {
        let progress = self.board.on_acknowledgement(highest, came, self.options.reorder);
        self.tokens.on_progress(&progress, highest, self.paced_sender.next());
        let awaits = self.board.open() < self.paced_sender.next();
        self.patience.on_news(now, self.rtt(), awaits);
    }

    fn run_timers(&mut self, now: Time) {
        if self.proof_due.is_some_and(|due| due <= now) {
            let silent = self.acker();
            self.barred = silent.map(|id| (id, now + self.options.barred));
            self.give_up();
            self.begin_anew();
        }
        if self.patience.take_due(now) {
            self.paced_sender.counters.timeouts += 1;
            if self.acker.is_none() {
                // Packets that ask for an election leave at an even pace.
                self.patience.forgive();
            } else if self.patience.in_vain() >= self.options.acker_timeouts {
                self.give_up();
            }
            self.begin_anew();
        }
    }

    fn give_up(&mut self) {
        self.acker = None;
        self.former = None;
        self.proof_due = None;
        self.paced_sender.counters.given_up += 1;
        self.patience.forgive();
    }

    /// There is no acker to wait for: the window restarts at one packet.
    fn begin_anew(&mut self) {
        self.tokens.on_timeout(self.paced_sender.next());
        self.board = Scoreboard::before(self.paced_sender.next());
    }

    fn send(&mut self, now: Time) {
        while let Some((base, count)) = self.paced_sender.take(now, self.tokens.available()) {
            let header = Header::Data(Data { base, acker: self.acker() });
            self.actions.send(self.paced_sender.packets(header, count));
            self.tokens.on_sent(count);
            self.patience.on_sent(now, self.rtt());
            if self.acker.as_ref().is_some_and(|acker| !acker.proved) && self.proof_due.is_none() {
                self.proof_due = Some(now + self.patience.once(self.rtt()) * 2);
            }
        }
    }

    fn end(&mut self, now: Time) {
        let acker = self.acker();
        self.paced_sender.end(now, &mut self.actions, |base| Header::Data(Data { base, acker }));
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.paced_sender.start(now),
            Input::Stop | Input::Finish => self.end(now),
            Input::SendRefused(_) => self.paced_sender.counters.refused += 1,
            Input::DataExhausted => self.paced_sender.pause(),
            Input::DataAvailable => self.paced_sender.resume(),
            Input::Packet(arrival) if self.paced_sender.is_running() => match arrival.header {
                Header::Report(report) => self.on_report(now, &report),
                Header::Data(_) => self.paced_sender.counters.invalid += 1,
            },
            Input::Packet(_) | Input::Timer | Input::JoinFailed(..) | Input::Demand(_) => {}
        }
        if self.paced_sender.is_running() {
            self.run_timers(now);
            self.send(now);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        if !self.paced_sender.is_running() {
            return None;
        }
        let departure = self.paced_sender.departure().filter(|_| self.tokens.available() > 0);
        [departure, self.patience.due(), self.proof_due].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rtt = self.rtt();
        let rate = rtt.map_or(RateEstimate::Unknown, |rtt| {
            let bytes = self.tokens.window() * f64::from(self.packet_size.as_bytes());
            RateEstimate::Known(Rate::from_bytes_per_s(bytes / rtt.as_secs_f64()))
        });
        let loss = self.acker.as_ref().map(|acker| acker.loss);
        Estimates { level: Level::up_to(Layer::BASE), rate, smoothed_rate: rate, loss, rtt }
    }

    gauges! { |self, _now|
        ..self.counters() => SourceCounters {
            sent, refused, reports, surplus_reports, invalid, timeouts, given_up,
        };
        /// The window.
        value window in "packets" = self.window();
        /// Times that another receiver became the acker.
        count acker_changes in "times" = self.changes;
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }
}
