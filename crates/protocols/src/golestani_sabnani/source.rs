//! The source: it sends up to the least number that a receiver allows.

use super::header::{Data, Header, Report};
use super::options::Options;
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, Level, Rate, RateEstimate, Seq, Size, Time};
use layercast_kit::counters::SourceCounters;
use layercast_kit::window::members::{Members, sample_rtt};
use layercast_kit::window::paced_sender::{Limits, PacedSender};
use layercast_kit::window::patience::Patience;

/// What the source keeps of a receiver: the highest number in order there.
#[derive(Clone, Copy, Debug)]
struct InOrder(Seq);

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    packet_size: Size,
    paced_sender: PacedSender,
    /// Receivers. Their bound is the first number that they do not allow.
    members: Members<InOrder>,
    /// Packets below this number leave whether allowed or not: they probe for receivers.
    probe_end: Seq,
    patience: Patience,
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
            members: Members::new(options.most_receivers),
            probe_end: Seq(2),
            patience: Patience::new(options.timeout_minimum),
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

    /// How many receivers it follows.
    pub fn receivers(&self) -> usize {
        self.members.len()
    }

    /// The window of the receiver that limits the source, in packets; 0 without receivers.
    pub fn window(&self) -> u32 {
        let limiting = self.members.iter().min_by_key(|member| member.bound());
        let window = limiting.map_or(0, |member| member.bound().0.saturating_sub(member.own.0.0 + 1));
        u32::try_from(window).unwrap_or(u32::MAX)
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        if !self.paced_sender.accepts(now, report.session) {
            return;
        }
        if report.leaving {
            if self.members.remove(report.receiver) {
                self.patience.on_news(now, self.members.longest_rtt(), self.is_blocked());
            }
            return;
        }
        let Some((in_order, bound)) = self.plausible(report) else {
            self.paced_sender.counters.invalid += 1;
            return;
        };
        let Some(place) = self.members.place(now, report.receiver, bound, || InOrder(Seq(0))) else {
            self.paced_sender.counters.surplus_reports += 1;
            return;
        };
        let least = self.members.least();
        let member = self.members.at(place);
        if !sample_rtt(&mut member.rtt, now, report.heard_us) {
            self.paced_sender.counters.invalid += 1;
            return;
        }
        // A reordered report has no new information.
        if in_order < member.own.0 {
            return;
        }
        if in_order > member.own.0 {
            member.advanced = now;
        }
        let was_limiting = least.is_some_and(|least| member.bound() <= least);
        member.own = InOrder(in_order);
        self.members.set_bound(place, bound);
        if was_limiting {
            self.patience.on_news(now, self.members.longest_rtt(), self.is_blocked());
        }
    }

    /// What is in order at a receiver, and the first number that it does not allow, if both can be true.
    fn plausible(&self, report: &Report) -> Option<(Seq, Seq)> {
        let in_order = self.paced_sender.sent(report.in_order)?;
        let allowed = report.allowed.expand(in_order);
        let window = allowed.0.checked_sub(in_order.0)?;
        (window >= 1 && window as f64 <= self.options.most_window).then_some((in_order, allowed.next()))
    }

    fn is_blocked(&self) -> bool {
        self.room() == 0
    }

    /// How many packets may leave.
    fn room(&self) -> u64 {
        let end = self.members.least().unwrap_or(self.probe_end).max(self.probe_end);
        end.0.saturating_sub(self.paced_sender.next().0)
    }

    fn run_timers(&mut self, now: Time) {
        // A source that may send waits for no receiver.
        if !self.patience.take_due(now) || !self.is_blocked() {
            return;
        }
        self.paced_sender.counters.timeouts += 1;
        let gone = self.members.give_up(now, self.paced_sender.next(), self.options.stall_limit);
        self.paced_sender.counters.given_up += gone;
        if gone > 0 || self.members.is_empty() {
            self.patience.forgive();
        }
        // As many as make a missing packet lost, so that receivers find out; one where there is none.
        let probes = if self.members.is_empty() { 1 } else { 1 + u64::from(self.options.reorder) };
        self.probe_end = Seq(self.paced_sender.next().0 + probes);
    }

    fn send(&mut self, now: Time) {
        while let Some((base, count)) = self.paced_sender.take(now, self.room()) {
            let header = Header::Data(Data { base, window: self.window() });
            self.actions.send(self.paced_sender.packets(header, count));
            self.patience.on_sent(now, self.members.longest_rtt());
        }
    }

    fn end(&mut self, now: Time) {
        let window = self.window();
        self.paced_sender.end(now, &mut self.actions, |base| Header::Data(Data { base, window }));
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
        let departure = self.paced_sender.departure().filter(|_| self.room() > 0);
        [departure, self.patience.due()].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rtt = self.members.longest_rtt();
        let rate = rtt.map_or(RateEstimate::Unknown, |rtt| {
            let bytes = f64::from(self.window()) * f64::from(self.packet_size.as_bytes());
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
        /// The window of the receiver that limits the source; 0 without receivers.
        value window in "packets" = self.window();
        /// Receivers that the source follows.
        value receivers in "receivers" = self.receivers();
    }
}
