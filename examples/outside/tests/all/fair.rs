//! PLM at a bottleneck with fair queueing (deficit round robin) that a greedy flow shares.
//!
//! The greedy flow always has a packet in the queue, as a TCP connection with a large enough window has.

use std::collections::{BTreeMap, VecDeque};

use layercast_core::contract::{Arrival, Ecn, Host, Input, Origin, Send, Target, TraceEvent, drive};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_outside::plm::{Counted, Header, Options, Receiver, Source};

const SIZE: Size = Size::from_bytes(500);
const RATE: Rate = Rate::from_kbps(1000.0);
const GREEDY: u16 = u16::MAX;

/// What the fair queue takes for a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flows {
    PerSession,
    PerChannel,
}

/// The queues, served in turns of one packet: all packets are equally large.
struct Bottleneck {
    flows: Flows,
    queues: BTreeMap<u16, VecDeque<Option<Arrival<Header>>>>,
    round: VecDeque<u16>,
    sent: (u64, u64),
    longest: usize,
    held: Vec<Channel>,
    notes: Vec<TraceEvent>,
}

impl Bottleneck {
    fn push(&mut self, flow: u16, packet: Option<Arrival<Header>>) {
        let queue = self.queues.entry(flow).or_default();
        if queue.is_empty() {
            self.round.push_back(flow);
        }
        queue.push_back(packet);
        if flow != GREEDY {
            let of_session = self.queues.iter().filter(|&(&flow, _)| flow != GREEDY);
            self.longest = self.longest.max(of_session.map(|(_, queue)| queue.len()).sum());
        }
    }

    /// The next packet of the round; none of the session if it is one of the greedy flow.
    fn take(&mut self) -> Option<Arrival<Header>> {
        let flow = self.round.pop_front()?;
        let queue = self.queues.get_mut(&flow)?;
        let packet = queue.pop_front()?;
        if !queue.is_empty() {
            self.round.push_back(flow);
        }
        if flow == GREEDY {
            self.push(GREEDY, None);
            self.sent.1 += 1;
        } else {
            self.sent.0 += 1;
        }
        packet
    }
}

impl Host<Header> for Bottleneck {
    fn send(&mut self, send: Send<Header>) {
        use layercast_core::contract::Header as _;
        let Target::Channel(channel) = send.target else { panic!("PLM has no feedback") };
        if !self.held.contains(&channel) {
            return;
        }
        for nth in 0..send.count {
            let (origin, header) = (Origin::Channel(channel), send.header.nth(nth));
            let arrival = Arrival { origin, size: send.size, ecn: Ecn::NotCapable, header };
            self.push(if self.flows == Flows::PerChannel { channel.0 } else { 0 }, Some(arrival));
        }
    }

    fn join(&mut self, channel: Channel) {
        self.held.push(channel);
    }

    fn leave(&mut self, channel: Channel) {
        self.held.retain(|&held| held != channel);
    }

    fn trace(&mut self, note: TraceEvent) {
        self.notes.push(note);
    }
}

/// A session of fifteen layers of 60 kbit/s, and the number of layers held every 100 ms.
fn run(
    flows: Flows,
    counted: Counted,
    seed: u64,
    greedy_from: Time,
    seconds: u64,
) -> (Bottleneck, Vec<usize>) {
    let layers = LayerTable::from_rates([Rate::from_kbps(60.0); 15]).expect("a layer structure");
    let plan = SessionPlan { layers, packet_size: SIZE };
    let options = Options { counted, ..Options::default() };
    let mut source = Source::new(&options, plan.clone(), Stream::new(seed, "source"));
    let mut receiver = Receiver::new(&options, plan, Stream::new(seed, "receiver"));
    let (queues, round, held, notes) = (BTreeMap::new(), VecDeque::new(), Vec::new(), Vec::new());
    let mut link = Bottleneck { flows, queues, round, sent: (0, 0), longest: 0, held, notes };

    let mut now = Time::from_ns(1);
    let mut next_receiver = drive(&mut receiver, now, Input::Start, &mut link);
    let mut next_source = drive(&mut source, now, Input::Start, &mut link);
    // The packet on the link, if it is the session's, and when it has arrived.
    let mut arriving: Option<(Time, Option<Arrival<Header>>)> = None;
    let mut greedy = Some(greedy_from);
    let mut sample = now;
    let mut levels = Vec::new();
    while levels.len() < 10 * seconds as usize {
        if arriving.is_none() && !link.round.is_empty() {
            arriving = Some((now + RATE.time_to_send(SIZE), link.take()));
        }
        let arrives = arriving.as_ref().map(|&(at, _)| at);
        let next = [arrives, next_source, next_receiver, greedy, Some(sample)].into_iter().flatten().min();
        now = next.expect("a time");
        if arrives == Some(now) {
            if let Some((_, Some(arrival))) = arriving.take() {
                next_receiver = drive(&mut receiver, now, Input::Packet(arrival), &mut link);
            }
        } else if next_source == Some(now) {
            next_source = drive(&mut source, now, Input::Timer, &mut link);
        } else if next_receiver == Some(now) {
            next_receiver = drive(&mut receiver, now, Input::Timer, &mut link);
        } else if greedy == Some(now) {
            greedy = None;
            // Two, so that one always waits while the other is on the link.
            link.push(GREEDY, None);
            link.push(GREEDY, None);
        } else {
            levels.push(link.held.len());
            sample = now + Duration::from_ms(100);
        }
    }
    (link, levels)
}

const FROM_THE_START: Time = Time::from_ns(1);

#[test]
fn the_level_below_the_fair_share_is_reached_after_one_period_and_kept() {
    for flows in [Flows::PerSession, Flows::PerChannel] {
        for seed in 1..=10 {
            let (link, levels) = run(flows, Counted::Session, seed, FROM_THE_START, 60);
            // Eight layers are 480 kbit/s of 500.
            assert!(levels[15..].iter().all(|&level| level == 8), "{flows:?}, seed {seed}: {levels:?}");
            assert!(link.longest <= 40, "{} packets of the session wait, {flows:?}", link.longest);
            let (session, greedy) = link.sent;
            let share = session as f64 / (session + greedy) as f64;
            assert!((0.46..0.49).contains(&share), "{share}, {flows:?}, seed {seed}");
        }
    }
}

#[test]
fn a_flow_that_begins_shows_within_half_a_second() {
    for flows in [Flows::PerSession, Flows::PerChannel] {
        for seed in 1..=10 {
            let (link, levels) = run(flows, Counted::Session, seed, Time::from_secs_f64(10.0), 20);
            assert!(levels[15..100].iter().all(|&level| level == 15), "{flows:?}, seed {seed}: {levels:?}");
            assert!(levels[105..].iter().all(|&level| level == 8), "{flows:?}, seed {seed}: {levels:?}");
            assert!(!link.notes.iter().any(|note| matches!(note, TraceEvent::LossEvent { .. })));
        }
    }
}

#[test]
fn what_is_counted_makes_no_difference_where_a_session_is_one_flow() {
    for seed in 1..=10 {
        let of = |counted| run(Flows::PerSession, counted, seed, FROM_THE_START, 30).1;
        assert_eq!(of(Counted::Pair), of(Counted::Session));
    }
}

#[test]
fn pairs_alone_underestimate_where_each_channel_is_a_flow() {
    let (_, levels) = run(Flows::PerChannel, Counted::Pair, 1, FROM_THE_START, 60);
    let mean = levels[15..].iter().sum::<usize>() as f64 / (levels.len() - 15) as f64;
    assert!(mean < 6.0, "{mean} of 8 layers: {levels:?}");
}
