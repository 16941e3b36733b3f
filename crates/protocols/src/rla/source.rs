//! RLA's source: one window, a scoreboard for each receiver, and random listening.

use super::header::{Header, ReceiverId, Report};
use super::options::Options;
use super::signals::{Signals, probability};
use super::window::Window;
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, Level, Rate, RateEstimate, Seq, Size, Time};
use layercast_kit::counters::SourceCounters;
use layercast_kit::window::members::{Members, sample_rtt};
use layercast_kit::window::paced_sender::{Limits, PacedSender};
use layercast_kit::window::patience::Patience;
use layercast_kit::window::scoreboard::Scoreboard;

/// What the source keeps of a receiver.
#[derive(Clone, Debug)]
struct Acknowledged {
    board: Scoreboard,
    signals: Signals,
}

/// The source of a session of RLA.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    packet_size: Size,
    paced_sender: PacedSender,
    window: Window,
    members: Members<Acknowledged>,
    /// All receivers have acknowledged what comes before, or it was written off.
    through: Seq,
    patience: Patience,
    stream: Stream,
    signals: u64,
    cuts: u64,
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
            window: Window::new(options),
            members: Members::new(options.most_receivers),
            through: Seq(1),
            patience: Patience::new(options.timeout_minimum),
            stream,
            signals: 0,
            cuts: 0,
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

    /// The window in packets.
    pub fn window(&self) -> f64 {
        self.window.packets()
    }

    /// How many receivers it follows.
    pub fn receivers(&self) -> usize {
        self.members.len()
    }

    /// How many signals of troubled receivers came.
    pub fn signals(&self) -> u64 {
        self.signals
    }

    /// How many of those halved the window.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }

    /// How many receivers are troubled now.
    pub fn troubled(&self, now: Time) -> usize {
        let limit = self.least_interval(now).map_or(0.0, |least| least * self.options.troubled);
        let intervals = self.members.iter().filter_map(|member| member.own.signals.interval_s(now));
        intervals.filter(|&interval| interval <= limit).count()
    }

    fn least_interval(&self, now: Time) -> Option<f64> {
        self.members.iter().filter_map(|member| member.own.signals.interval_s(now)).reduce(f64::min)
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        if !self.paced_sender.accepts(now, report.session) {
            return;
        }
        let highest = self.paced_sender.sent(report.highest);
        if report.leaving {
            self.members.remove(report.receiver);
            self.advance(now);
            return;
        }
        let Some(highest) = highest else {
            self.paced_sender.counters.invalid += 1;
            return;
        };
        // The source waits for a late joiner only from the first packet that it received.
        let joined = || Acknowledged { board: Scoreboard::before(highest), signals: Signals::new(now) };
        let Some(place) = self.members.place(now, report.receiver, highest, joined) else {
            self.paced_sender.counters.surplus_reports += 1;
            return;
        };
        let member = self.members.at(place);
        if !sample_rtt(&mut member.rtt, now, report.heard_us) {
            self.paced_sender.counters.invalid += 1;
            return;
        }
        let progress = member.own.board.on_acknowledgement(highest, report.came, self.options.reorder);
        let open = member.own.board.open();
        if open != member.bound() {
            member.advanced = now;
        }
        let rtt = member.rtt.rtt().unwrap_or(self.options.timeout_minimum);
        let spacing = rtt.scaled(self.options.signal_spacing);
        let weight = self.options.interval_weight;
        let is_signal = progress.lost > 0 && member.own.signals.on_loss(now, spacing, weight);
        let interval = member.own.signals.interval_s(now);
        self.members.set_bound(place, open);
        self.advance(now);
        if is_signal && let (Some(own), Some(least)) = (interval, self.least_interval(now)) {
            if own > least * self.options.troubled {
                return;
            }
            self.signals += 1;
            let longest = self.members.longest_rtt().unwrap_or(rtt);
            let part = rtt.as_secs_f64() / longest.as_secs_f64();
            let part = if self.options.rtt_scaled { part } else { 1.0 };
            // Draw in every case, so that the random sequence does not depend on the decision.
            let listens = self.stream.chance(probability(self.troubled(now), part));
            if listens || self.window.is_cut_due(now, rtt, self.options.forced_cut) {
                self.cuts += 1;
                self.window.cut(now);
            }
        }
    }

    /// What all receivers have acknowledged may be more now.
    fn advance(&mut self, now: Time) {
        let through = self.members.least().unwrap_or(self.through).max(self.through);
        let count = through.0 - self.through.0;
        if count > 0 {
            let under_way = self.paced_sender.next().0 - self.through.0;
            let used = (under_way + u64::from(self.options.burst)) as f64 >= self.window.packets();
            self.window.on_acknowledged(count, used);
            self.through = through;
            self.patience.on_news(now, self.members.longest_rtt(), through < self.paced_sender.next());
        }
    }

    fn run_timers(&mut self, now: Time) {
        if !self.patience.take_due(now) {
            return;
        }
        self.paced_sender.counters.timeouts += 1;
        let next = self.paced_sender.next();
        let gone = self.members.give_up(now, next, self.options.stall_limit);
        self.paced_sender.counters.given_up += gone;
        if gone > 0 || self.members.is_empty() {
            // Packets that probe for receivers are paced evenly.
            self.patience.forgive();
        }
        // Packets in flight are written off, so that new packets can probe whether the receivers are still
        // there.
        self.members.write_off(next, |member| member.board = Scoreboard::before(next));
        self.through = next;
        self.window.on_timeout(now);
    }

    fn send(&mut self, now: Time) {
        while let Some((base, count)) = self.paced_sender.take(now, self.room()) {
            self.actions.send(self.paced_sender.packets(Header::Data(base), count));
            self.patience.on_sent(now, self.members.longest_rtt());
        }
    }

    /// How many packets the window has room for.
    fn room(&self) -> u64 {
        let under_way = self.paced_sender.next().0 - self.through.0;
        (self.window.packets() as u64).saturating_sub(under_way)
    }

    /// Whether a receiver is followed.
    pub fn follows(&self, receiver: ReceiverId) -> bool {
        self.members.has(receiver)
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.paced_sender.start(now),
            Input::Stop | Input::Finish => self.paced_sender.end(now, &mut self.actions, Header::Data),
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
        let departure = self.paced_sender.departure().filter(|_| self.room() > 0);
        [departure, self.patience.due()].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rtt = self.members.longest_rtt();
        let rate = rtt.map_or(RateEstimate::Unknown, |rtt| {
            let bytes = self.window.packets() * f64::from(self.packet_size.as_bytes());
            RateEstimate::Known(Rate::from_bytes_per_s(bytes / rtt.as_secs_f64()))
        });
        Estimates { level: Level::up_to(Layer::BASE), rate, smoothed_rate: rate, rtt, ..Estimates::default() }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        ..self.counters() => SourceCounters {
            sent, refused, reports, surplus_reports, invalid, timeouts, given_up,
        };
        /// The window.
        value window in "packets" = self.window();
        /// Receivers that the source follows.
        value receivers in "receivers" = self.receivers();
        /// Congestion signals of troubled receivers.
        count signals in "signals" = self.signals;
        /// Signals that halved the window.
        count cuts in "times" = self.cuts;
    }
}
