//! The active router: confines repairs to the links that need them, and aggregates reports (report, section 4).

mod recovery;
mod reports;
mod upwards;

use self::recovery::{Recovery, Verdict};
use self::reports::Rounds;
use super::dyram::{ChildKey, ChildNack, Children, Heartbeats, Standing, after_wire, wire_before, wire_us};
use super::{Body, Data, Header, Nack, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, ChildLink, ChildSet, Endpoint, Estimates, Input, Origin, Payload, Peer,
    Send, Target, Timers, TraceEvent,
};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Duration, Seq, Time};

/// How often the router looks for silent children.
const SWEEP: Duration = Duration::from_secs(1);
/// The least time between its own heartbeats until a period is known.
const BEAT: Duration = Duration::from_ms(500);
/// Data that begins before this number belongs to a session that has just begun: then the source itself
/// delays releasing.
const FIRST: u64 = 3;

timers! {
    /// The timers, in the order in which they are served.
    enum Timer {
        Decide,
        Round,
        Sweep,
    }
}

/// A router of a session.
#[derive(Clone, Debug)]
pub struct Router {
    options: Options,
    originator: u32,
    session: Option<u32>,
    is_running: bool,
    children: Children,
    beats: Heartbeats,
    last_beat: Option<Time>,
    /// The number after the newest packet that has passed, once one has.
    end: Option<u64>,
    /// All receivers have the packets before this one, says the source.
    group_below: u64,
    recovery: Recovery,
    rounds: Rounds,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

impl Router {
    /// A router of a session. It draws its number from `stream`.
    pub fn new(options: &Options, _plan: SessionPlan, mut stream: Stream) -> Router {
        Router {
            options: options.clone(),
            originator: stream.bits() as u32,
            session: None,
            is_running: false,
            children: Children::new(options),
            beats: Heartbeats::default(),
            last_beat: None,
            end: None,
            group_below: 0,
            recovery: Recovery::default(),
            rounds: Rounds::default(),
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    /// The number of entries in all tables, which memory grows with.
    pub fn state_size(&self) -> usize {
        self.children.len() + self.recovery.state_size()
    }

    fn send_control(&mut self, target: Target, body: Body) {
        let header = Header { session: self.session.unwrap_or(0), originator: self.originator, body };
        let size = self.options.control_size;
        self.actions.send(Send { target, header, size, payload: Payload::None, count: 1 });
    }

    /// Forwards a repair unchanged.
    fn pass_on(&mut self, target: Target, arrival: &Arrival<Header>) {
        let (header, size) = (arrival.header, arrival.size);
        self.actions.send(Send { target, header, size, payload: Payload::Arrived, count: 1 });
    }

    /// How long an answer from the source takes.
    fn window_up(&self) -> Option<Duration> {
        self.beats.to_source()
    }

    fn nack_up(&mut self, seq: u64, standing: Standing) {
        let body = Body::Nack(Nack {
            seq: Seq(seq).wire(),
            lo: wire_before(standing.below),
            lr: wire_before(standing.end),
            max_seq: wire_before(standing.limit),
            rtt_to_source_us: self.beats.to_source_us(),
            rtt_to_parent_us: self.beats.to_parent().map_or(0, wire_us),
        });
        self.send_control(Target::Source, body);
    }

    /// How far all children have got.
    fn standing(&self) -> Option<Standing> {
        let standing = self.children.standing(self.group_below)?;
        Some(self.rounds.limited(standing))
    }

    fn on_data(&mut self, now: Time, session: u32, data: &Data) {
        if *self.session.get_or_insert(session) != session {
            return;
        }
        let near = self.end.unwrap_or(u64::from(data.seq.0));
        let (seq, group_below) = (data.seq.expand(Seq(near)).0, after_wire(data.group_lo, near));
        let buffer = u64::from(self.options.buffer_packets);
        if group_below > near.max(seq + 1) || seq >= near.saturating_add(buffer) {
            return;
        }
        if group_below > self.group_below {
            self.group_below = group_below;
            self.recovery.forget(group_below);
        }
        if self.end.is_none() && seq >= FIRST {
            // The router starts within a session: the first child to report need not be the one furthest behind.
            self.rounds.hold_back(now + self.options.opening, group_below);
        }
        let end = *self.end.get_or_insert(seq);
        if seq < end {
            self.recovery.arrived(seq);
            return;
        }
        self.end = Some(seq + 1);
        if seq > end {
            self.on_gap(now, end, seq);
        }
    }

    /// Packets from `first` to before `seq` did not arrive: the router requests them at once.
    fn on_gap(&mut self, now: Time, first: u64, seq: u64) {
        let asking = self.links();
        let limit = self.standing().map_or(seq + 1, |standing| standing.limit.max(first));
        let window = self.window_up();
        self.recovery.lost(first, seq);
        for lost in first..seq.min(first + recovery::MOST_ASKED) {
            if self.recovery.ask_early(now, lost, asking, window) {
                self.nack_up(lost, Standing { below: first, end: seq + 1, limit });
            }
        }
    }

    /// All links with known children.
    fn links(&self) -> ChildSet {
        let links = self.children.iter().filter_map(|child| child.key.link);
        ChildSet(links.fold(0, |set, link| set | link.bit()))
    }

    fn on_repair(&mut self, now: Time, session: u32, arrival: &Arrival<Header>, data: &Data) {
        if self.session != Some(session) {
            return;
        }
        let Some(end) = self.end else { return };
        let seq = data.seq.expand(Seq(end)).0;
        let from_above = !matches!(arrival.origin, Origin::Child(..));
        // A packet that was never sent cannot be repaired from below.
        if seq < self.group_below || seq > end || (seq == end && !from_above) {
            return;
        }
        if seq == end {
            self.end = Some(seq + 1);
        }
        self.recovery.arrived(seq);
        let window = self.window_below();
        let Some(wanted) = self.recovery.repaired(now, seq, window) else { return };
        if wanted.links.0 != 0 {
            self.pass_on(Target::Children(wanted.links), arrival);
        }
        if wanted.parent && !from_above {
            self.pass_on(Target::Source, arrival);
        }
    }

    fn window_below(&self) -> Option<Duration> {
        self.children.round_trips().map(|(_, longest)| longest)
    }

    /// A NACK from below.
    fn on_nack(&mut self, now: Time, key: ChildKey, nack: &Nack) {
        let Some(end) = self.end else { return };
        let Some(nack) = self.children.entry(now, key).and_then(|child| child.on_nack(now, nack, end)) else {
            return;
        };
        self.arm_sweep(now);
        if nack.seq < self.group_below {
            return;
        }
        let link = key.link.map_or(0, ChildLink::bit);
        let verdict = self.recovery.asked_by_child(now, nack.seq, ChildSet(link), nack.standing, end);
        self.apply_verdict(now, nack, verdict);
    }

    fn apply_verdict(&mut self, now: Time, nack: ChildNack, verdict: Verdict) {
        match verdict {
            Verdict::Suppress => {}
            Verdict::Up(standing) => {
                let standing = if nack.is_ahead { self.standing().unwrap_or(standing) } else { standing };
                let standing = Standing { end: standing.end.max(nack.standing.end), ..standing };
                let window = self.window_up();
                self.recovery.on_nack_sent(now, nack.seq, window);
                self.nack_up(nack.seq, standing);
            }
            Verdict::Decide => {
                let spread = self.children.round_trips().map_or(Duration::ZERO, |(shortest, longest)| {
                    longest.saturating_sub(shortest).min(self.options.decision_delay)
                });
                self.recovery.decide_at(nack.seq, now + spread);
                self.decide(now);
            }
        }
    }

    /// A NACK from above: one of the children is to repair.
    fn on_nack_from_above(&mut self, now: Time, nack: &Nack) {
        let Some(end) = self.end else { return };
        let seq = nack.seq.expand(Seq(end)).0;
        if seq < self.group_below || seq >= end {
            return;
        }
        let (below, claimed_end) = (after_wire(nack.lo, end), after_wire(nack.lr, end));
        if below > claimed_end || claimed_end > end {
            return;
        }
        let standing = Standing { below, end: claimed_end, limit: below };
        if self.recovery.asked_by_parent(now, seq, standing) {
            self.recovery.decide_at(seq, now);
            self.decide(now);
        }
    }

    /// Elects a replier for every packet whose decision is due, or sends a NACK further up.
    fn decide(&mut self, now: Time) {
        while let Some(choice) = self.recovery.take_decision(now) {
            let live = self.children.iter().filter(|child| child.is_live(now));
            let candidates = live.filter(|child| {
                let has_it = child.standing.is_some_and(|standing| standing.below > choice.seq);
                let link = child.key.link.map_or(0, ChildLink::bit);
                has_it && choice.asking.0 & link == 0 && !choice.tried.contains(&Some(child.key))
            });
            let elected = candidates.min_by_key(|child| (child.asked, child.key)).map(|child| child.key);
            match elected {
                Some(key) => self.ask_child(now, key, choice.seq, choice.standing),
                None if choice.asking.0 != 0 => {
                    let window = self.window_up();
                    self.recovery.on_nack_sent(now, choice.seq, window);
                    self.nack_up(choice.seq, choice.standing);
                }
                None => {}
            }
        }
        self.timers.set(Timer::Decide, self.recovery.next_decision());
    }

    fn ask_child(&mut self, now: Time, key: ChildKey, seq: u64, standing: Standing) {
        let window = self.window_below();
        let turn = self.recovery.elected(now, seq, key, window);
        if let Some(child) = self.children.entry(now, key) {
            child.asked = turn;
        }
        // The source must see losses that are repaired here as well.
        self.rounds.add_nack(standing);
        let body = Body::Nack(Nack {
            seq: Seq(seq).wire(),
            lo: wire_before(standing.below),
            lr: wire_before(standing.end),
            max_seq: wire_before(standing.limit),
            rtt_to_source_us: self.beats.to_source_us(),
            rtt_to_parent_us: 0,
        });
        self.send_control(Target::Peer(key.peer), body);
    }

    /// There are children, so the router checks for silent ones.
    fn arm_sweep(&mut self, now: Time) {
        if self.timers.at(Timer::Sweep).is_none() {
            self.timers.arm(Timer::Sweep, now + SWEEP);
        }
    }

    fn sweep(&mut self, now: Time) {
        let actions = &mut self.actions;
        let end = self.end.unwrap_or(0);
        self.children.sweep(now, end, |child: Peer, waited| {
            actions.trace(TraceEvent::LeftBehind { child, waited });
        });
        self.rounds.release(now);
        self.recovery.sweep(now);
        if self.children.len() > 0 || self.recovery.state_size() > 0 {
            self.timers.arm(Timer::Sweep, now + SWEEP);
        }
    }

    fn on_packet(&mut self, now: Time, arrival: Arrival<Header>) {
        let Header { session, body, .. } = arrival.header;
        // A child that has received no data yet does not know the session.
        let is_own = session == 0 || self.session == Some(session);
        match (body, arrival.origin, ChildKey::of(arrival.origin)) {
            (Body::Data(data), ..) if data.is_repair => self.on_repair(now, session, &arrival, &data),
            (Body::Data(data), Origin::Channel(_), _) => self.on_data(now, session, &data),
            (Body::Nack(nack), Origin::Child(..), Some(key)) if is_own => self.on_nack(now, key, &nack),
            (Body::Nack(nack), Origin::Peer(_), _) if is_own => self.on_nack_from_above(now, &nack),
            (Body::Report(report), Origin::Child(..), Some(key)) if is_own => {
                self.on_report(now, key, &report)
            }
            (Body::Heartbeat { sent_ns }, Origin::Child(..), Some(key)) => self.on_beat(now, key, sent_ns),
            (Body::Answer(answer), Origin::Peer(from), _) if self.beats.on_answer(now, from, answer) => {
                self.answer_held();
            }
            _ => {}
        }
    }
}

impl Endpoint for Router {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.is_running = true,
            Input::Stop => {
                self.is_running = false;
                self.timers.clear();
            }
            Input::Packet(arrival) if self.is_running => self.on_packet(now, arrival),
            _ => {}
        }
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Decide => self.decide(now),
                Timer::Round => self.report(now),
                Timer::Sweep => self.sweep(now),
            }
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates { rtt: self.beats.to_source(), ..Estimates::default() }
    }
}
