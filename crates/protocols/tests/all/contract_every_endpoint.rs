//! Every endpoint of the registry keeps the contract, whatever its inputs. A protocol that is added
//! to the list is covered without a change here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

use layercast_core::contract::{
    Action, Arrival, ChildLink, Ecn, Endpoint, GaugeSpec, Host, Input, Origin, Peer, Send, Target,
    TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::{LayerTable, Phases};
use layercast_core::option::RawValue;
use layercast_core::session::{Rates, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, Size, Time};
use layercast_protocols::registry::{Header, NAMES, Protocol, Receiver, Source};
use layercast_testkit::{Operation, cases, check_endpoint, check_source};
use proptest::prelude::*;

const SIZE: Size = Size::from_bytes(1000);
const DELAY: Duration = Duration::from_ms(20);
/// Traffic not used before this much more has come is dropped.
const BACKLOG: usize = 64;

fn plan() -> SessionPlan {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 7).expect("a layer structure");
    SessionPlan { layers, packet_size: SIZE }
}

fn protocol(name: &str) -> Protocol {
    let mut protocol = Protocol::named(name).expect("a name of the registry");
    if name == "amca" {
        // Its rate is not bounded by layers, and there is no bottleneck here.
        protocol.set("rate_max", RawValue::Integer(200)).expect("an option of amca");
    }
    protocol
}

fn source(name: &str) -> Source {
    protocol(name).source(plan(), Stream::new(1, "source"))
}

fn receiver(name: &str, seed: u64) -> Receiver {
    protocol(name).receiver(plan(), Stream::new(seed, "receiver"))
}

/// A session without faults, from which traffic is taken: one source, one receiver, a fixed delay.
struct Shadow {
    source: Source,
    receiver: Receiver,
    net: Net,
    deadlines: [Option<Time>; 2],
}

/// Packets in flight, and copies of those sent.
#[derive(Default)]
struct Net {
    /// Whether routers take part: the source distinguishes its child links.
    has_routers: bool,
    now: Time,
    order: u64,
    on_the_way: BTreeMap<(Time, u64), (bool, Arrival<Header>)>,
    held: BTreeSet<Channel>,
    data: VecDeque<Arrival<Header>>,
    reports: VecDeque<Arrival<Header>>,
}

impl Host<Header> for Net {
    fn send(&mut self, send: Send<Header>) {
        use layercast_core::contract::Header as _;
        let (origin, up) = match send.target {
            Target::Channel(channel) => (Origin::Channel(channel), false),
            Target::Source if self.has_routers => (Origin::Child(ChildLink(0), Peer(0)), true),
            Target::Source => (Origin::Peer(Peer(0)), true),
            Target::Peer(_) => (Origin::Peer(Peer(u32::MAX)), false),
            Target::Children(_) => (Origin::Channel(Channel(0)), false),
        };
        for index in 0..send.count {
            let header = if index == 0 { send.header } else { send.header.nth(index) };
            let arrival = Arrival { origin, size: send.size, ecn: Ecn::Capable, header };
            let copies = if up { &mut self.reports } else { &mut self.data };
            copies.push_back(arrival);
            if copies.len() > BACKLOG {
                copies.pop_front();
            }
            self.order += 1;
            self.on_the_way.insert((self.now + DELAY, self.order), (up, arrival));
        }
    }

    fn join(&mut self, channel: Channel) {
        self.held.insert(channel);
    }

    fn leave(&mut self, channel: Channel) {
        self.held.remove(&channel);
    }

    fn trace(&mut self, _: TraceEvent) {}
}

impl Shadow {
    fn new(name: &str) -> Shadow {
        let has_routers = protocol(name).requirements().has_routers();
        let net = Net { has_routers, now: Time::from_ns(1), ..Net::default() };
        let mut shadow =
            Shadow { source: source(name), receiver: receiver(name, 2), net, deadlines: [None; 2] };
        shadow.give(true, Input::Start);
        shadow.give(false, Input::Start);
        shadow
    }

    fn give(&mut self, to_source: bool, input: Input<Header>) {
        let now = self.net.now;
        let deadline = if to_source {
            drive(&mut self.source, now, input, &mut self.net)
        } else {
            drive(&mut self.receiver, now, input, &mut self.net)
        };
        self.deadlines[usize::from(!to_source)] = deadline;
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let arrival = self.net.on_the_way.first_key_value().map(|(&(at, _), _)| at);
            let next = [arrival, self.deadlines[0], self.deadlines[1]].into_iter().flatten().min();
            let Some(at) = next.filter(|&at| at <= end) else { break };
            self.net.now = at;
            if arrival == Some(at) {
                let Some((_, (up, arrival))) = self.net.on_the_way.pop_first() else { break };
                let held = match arrival.origin {
                    Origin::Channel(channel) => self.net.held.contains(&channel),
                    Origin::Peer(_) | Origin::Child(..) => true,
                };
                if held {
                    self.give(up, Input::Packet(arrival));
                }
            } else {
                self.give(self.deadlines[0] == Some(at), Input::Timer);
            }
        }
        self.net.now = end.max(self.net.now);
    }
}

/// The next packet of a parallel session on a channel that is held, or was just left.
fn data_of(name: &str) -> impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<Header>> + use<> {
    let mut shadow = Shadow::new(name);
    let mut turn = 0;
    move |now, held| {
        shadow.run_until(now);
        turn += 1;
        let data = &mut shadow.net.data;
        let wanted = data.iter().position(|arrival| match arrival.origin {
            Origin::Channel(channel) => held.contains(&channel) || turn % 20 == 0,
            Origin::Peer(_) | Origin::Child(..) => true,
        });
        data.drain(..wanted?);
        data.pop_front()
    }
}

/// The next report of the receiver of a parallel session.
fn reports_of(name: &str) -> impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<Header>> + use<> {
    let mut shadow = Shadow::new(name);
    move |now, _| {
        shadow.run_until(now);
        shadow.net.reports.pop_front()
    }
}

/// Headers of all kinds.
static HEADERS: LazyLock<Vec<Header>> = LazyLock::new(|| {
    let mut headers = Vec::new();
    for name in NAMES {
        let mut shadow = Shadow::new(name);
        shadow.run_until(Time::from_secs_f64(20.0));
        headers.extend(shadow.net.data.iter().chain(&shadow.net.reports).map(|arrival| arrival.header));
    }
    headers
});

fn operation(headers: &'static [Header]) -> impl Strategy<Value = Operation<Header>> {
    let origin = prop_oneof![
        4 => (0u16..9).prop_map(|channel| Origin::Channel(Channel(channel))),
        1 => any::<u16>().prop_map(|channel| Origin::Channel(Channel(channel))),
        1 => any::<u32>().prop_map(|peer| Origin::Peer(Peer(peer))),
        1 => (0u16..70, 0u32..9).prop_map(|(link, peer)| Origin::Child(ChildLink(link), Peer(peer))),
    ];
    let forged = (0..headers.len(), origin, 0u32..3000).prop_map(move |(index, origin, bytes)| {
        let size = Size::from_bytes(bytes);
        Operation::Forged(Arrival { origin, size, ecn: Ecn::NotCapable, header: headers[index] })
    });
    prop_oneof![
        12 => (0u64..300_000).prop_map(|us| Operation::Wait(Duration::from_us(us))),
        1 => (0u64..30).prop_map(|s| Operation::Wait(Duration::from_secs(s))),
        30 => Just(Operation::Packet),
        3 => (0u16..50).prop_map(Operation::Lose),
        2 => Just(Operation::Duplicate),
        1 => Just(Operation::Mark),
        3 => forged,
        1 => Just(Operation::Timer),
        1 => Just(Operation::JoinFailed),
        1 => (0u16..9).prop_map(|channel| Operation::SendRefused(Channel(channel))),
        1 => (0u16..12).prop_map(|count| Operation::Demand(Level::from_count(count))),
        1 => Just(Operation::DataExhausted),
        1 => Just(Operation::DataAvailable),
        1 => Just(Operation::Finish),
    ]
}

/// Runs `check` over random operations, and names the protocol if it fails.
fn over_operations(names: &[&str], length: usize, check: impl Fn(&str, &[Operation<Header>])) {
    let operations = proptest::collection::vec(operation(&HEADERS), 0..length);
    for name in names {
        let config =
            ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let result = runner.run(&operations, |operations| {
            check(name, &operations);
            Ok(())
        });
        if let Err(error) = result {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn every_receiver_keeps_the_contract() {
    over_operations(NAMES, 300, |name, operations| {
        check_endpoint(|| receiver(name, 3), data_of(name), operations)
    });
}

#[test]
fn every_source_keeps_the_contract() {
    over_operations(NAMES, 100, |name, operations| {
        check_source(|| source(name), reports_of(name), operations)
    });
}

/// The inputs of a router between the two: data comes down, reports of two receivers come up.
fn passing(name: &str) -> impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<Header>> + use<> {
    let mut shadow = Shadow::new(name);
    let mut turn = 0;
    move |now, _| {
        shadow.run_until(now);
        turn += 1;
        if turn % 2 == 0 {
            return shadow.net.data.pop_front();
        }
        let mut arrival = shadow.net.reports.pop_front()?;
        arrival.origin = Origin::Child(ChildLink((turn / 2 % 2) as u16), Peer(7));
        Some(arrival)
    }
}

#[test]
fn every_router_keeps_the_contract() {
    let router = |name: &str| protocol(name).router(plan(), Stream::new(4, "router"));
    for &name in NAMES {
        assert_eq!(router(name).is_some(), protocol(name).requirements().has_routers(), "{name}");
    }
    let with_routers: Vec<&str> = NAMES.iter().copied().filter(|name| router(name).is_some()).collect();
    over_operations(&with_routers, 300, |name, operations| {
        check_endpoint(|| router(name).expect("a router"), passing(name), operations);
    });
}

/// The traffic is realistic: the parallel session joins, sends, and reports where it should.
#[test]
fn the_parallel_session_is_alive() {
    for name in NAMES {
        let mut shadow = Shadow::new(name);
        shadow.run_until(Time::from_secs_f64(20.0));
        assert!(!shadow.net.held.is_empty(), "{name} joins");
        assert!(shadow.receiver.estimates(shadow.net.now).level.layer_count() > 0, "{name}");
        assert_eq!(shadow.net.data.len(), BACKLOG, "{name} sends");
        assert!(
            !["elm", "nca", "tfmcc", "pgmcc", "rla", "golestani-sabnani"].contains(name)
                || !shadow.net.reports.is_empty(),
            "{name} reports"
        );
    }
}

/// Gauges are read by name, so a name must have one meaning everywhere, and not be one that probes define.
#[test]
fn gauges_are_named_once_and_documented() {
    const TAKEN: [&str; 6] =
        ["throughput_kbps", "level", "rate_kbps", "smoothed_rate_kbps", "loss", "rtt_ms"];
    let mut kinds = BTreeMap::new();
    for name in NAMES {
        let protocol = protocol(name);
        for gauges in [protocol.source_gauges(), protocol.receiver_gauges()] {
            let names: BTreeSet<&str> = gauges.iter().map(|gauge| gauge.name).collect();
            assert_eq!(names.len(), gauges.len(), "{name} has a name twice");
            for gauge in gauges {
                let is_snake = gauge.name.chars().all(|c| matches!(c, 'a'..='z' | '_' | '0'..='9'));
                assert!(is_snake && !TAKEN.contains(&gauge.name), "{name}: {}", gauge.name);
                assert!(gauge.doc.ends_with('.') && !gauge.unit.is_empty(), "{name}: {gauge:?}");
                assert_eq!(*kinds.entry(gauge.name).or_insert(gauge.kind), gauge.kind, "{}", gauge.name);
            }
        }
    }
}

#[test]
fn what_endpoints_count_can_be_seen() {
    let mut shadow = Shadow::new("elm");
    shadow.run_until(Time::from_secs_f64(20.0));
    let elm = protocol("elm");
    let of = |gauges: &[GaugeSpec], name: &str| gauges.iter().position(|gauge| gauge.name == name);
    let received = of(elm.receiver_gauges(), "received").expect("a gauge of receivers");
    let sent = of(elm.source_gauges(), "sent").expect("a gauge of sources");
    let [received, sent] =
        [shadow.receiver.gauge(received, shadow.net.now), shadow.source.gauge(sent, shadow.net.now)];
    assert!(received.zip(sent).is_some_and(|(received, sent)| received > 500.0 && sent > received));
}

/// The packets that a source sends to each channel in ten seconds.
fn packets(source: &mut Source, from: Time) -> Vec<u32> {
    let mut counted = vec![0; 256];
    let end = from + Duration::from_secs(10);
    while let Some(next) = source.deadline().filter(|&next| next < end) {
        source.handle(next.max(from), Input::Timer);
        while let Some(action) = source.poll_action() {
            if let Action::Send(Send { target: Target::Channel(channel), count, .. }) = action {
                counted[channel.index()] += u32::from(count);
            }
        }
    }
    counted
}

#[test]
fn sources_whose_receivers_choose_their_layers_send_no_more_than_is_in_demand() {
    let plan = plan();
    let mut honoured = Vec::new();
    for &name in NAMES {
        let protocol = protocol(name);
        let needs = protocol.requirements();
        if needs.character().rates != Rates::Layers || needs.has_routers() {
            continue;
        }
        let mut source = protocol.source(plan.clone(), Stream::new(1, "source"));
        let second = |at: u64| Time::ZERO + Duration::from_secs(at);
        source.handle(Time::ZERO, Input::Start);
        let all: u32 = packets(&mut source, Time::ZERO).iter().sum();
        source.handle(second(10), Input::Demand(Level::from_count(3)));
        // What a slot has begun with, it may end with.
        packets(&mut source, second(10));
        let some = packets(&mut source, second(20));
        source.handle(second(30), Input::Demand(Level::from_count(99)));
        packets(&mut source, second(30));
        let again: u32 = packets(&mut source, second(40)).iter().sum();
        let rate =
            |level| needs.level_rate(&plan, Level::from_count(level)).as_bps() * 10.0 / SIZE.as_bits() as f64;
        let sent = f64::from(some.iter().sum::<u32>());
        assert!(f64::from(again) > 0.9 * f64::from(all), "{name}: {all} packets, and {again}");
        if sent < 0.9 * f64::from(all) {
            honoured.push(name);
            // RLC's bursts and FLID's slots add a little, and SMCC's layers have channels to grow by.
            let share = sent / rate(3);
            let silent = |above: &[u32]| above.iter().all(|&count| count == 0);
            let holds = if name == "smcc" { silent(&some[3..7]) } else { (0.7..1.4).contains(&share) };
            assert!(holds, "{name}: {sent} packets, not {}", rate(3));
        }
    }
    let expected = [
        "elm",
        "rlc",
        "rlm",
        "wei-zhang",
        "smcc",
        "webrc",
        "flid-sl",
        "flid-dl",
        "e-flid-dl",
        "tide",
        "fixed",
    ];
    assert_eq!(honoured, expected);
}

/// Channels of the packets that a source sends within a tenth of the base's spacing after it starts, with layers that begin so.
/// FLID moves each packet by up to a tenth of its spacing.
fn first_channels(name: &str, phases: Phases) -> BTreeSet<Channel> {
    let plan = plan();
    let plan = SessionPlan { layers: plan.layers.beginning(phases), ..plan };
    let mut source = protocol(name).source(plan, Stream::new(1, "source"));
    let mut net = Net { now: Time::from_ns(1), ..Net::default() };
    let end = net.now + Duration::from_us(6_250);
    let mut deadline = drive(&mut source, net.now, Input::Start, &mut net);
    while let Some(at) = deadline.filter(|at| *at <= end) {
        net.now = at;
        deadline = drive(&mut source, at, Input::Timer, &mut net);
    }
    let channel = |arrival: &Arrival<Header>| match arrival.origin {
        Origin::Channel(channel) => Some(channel),
        _ => None,
    };
    net.data.iter().filter_map(channel).collect()
}

#[test]
fn layers_begin_together_where_a_protocol_has_a_clock_for_each() {
    let mut with_phases = Vec::new();
    for name in NAMES {
        if protocol(name).requirements().has_phases() {
            with_phases.push(*name);
            let together = first_channels(name, Phases::Together);
            assert!(together.len() >= usize::from(plan().layers.count()), "{name}: {together:?}");
            assert!(first_channels(name, Phases::Random).len() < together.len(), "{name}");
        } else {
            // What has no phases sends the same whatever a plan says of them.
            assert_eq!(
                first_channels(name, Phases::Together),
                first_channels(name, Phases::Random),
                "{name}"
            );
        }
    }
    assert!(with_phases.contains(&"elm") && with_phases.contains(&"rlc"), "{with_phases:?}");
}
