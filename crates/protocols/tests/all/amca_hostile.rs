//! Nodes that stall, lie or flood cannot make the source or a router grow, nor move the rate beyond its bounds.

use layercast_core::contract::{
    Action, Arrival, ChildLink, Ecn, Endpoint, Estimates, Input, Origin, Payload, Peer, Target, TraceEvent,
};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Seq, Size, Time, WireSeq};
use layercast_protocols::amca::{Body, Data, Header, Nack, Options, Phase, Receiver, Report, Router, Source};

const NONE: WireSeq = WireSeq(u32::MAX);

fn plan() -> SessionPlan {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 1).unwrap();
    SessionPlan { layers, packet_size: Size::from_bytes(1024) }
}

fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000 + 1)
}

/// Gives an input, and returns the actions.
fn give<E: Endpoint<Header = Header>>(
    endpoint: &mut E,
    now: Time,
    input: Input<Header>,
) -> Vec<Action<Header>> {
    endpoint.handle(now, input);
    std::iter::from_fn(|| endpoint.poll_action()).collect()
}

fn packet(origin: Origin, session: u32, body: Body) -> Input<Header> {
    let header = Header { session, originator: 9, body };
    Input::Packet(Arrival { origin, size: Size::from_bytes(32), ecn: Ecn::NotCapable, header })
}

fn child(link: u16, peer: u32) -> Origin {
    Origin::Child(ChildLink(link), Peer(peer))
}

fn data(seq: u32, group_lo: WireSeq) -> Body {
    let (is_repair, is_last, is_literal) = (false, false, false);
    Body::Data(Data { seq: WireSeq(seq), group_lo, rate_bps: 1_000_000, is_repair, is_last, is_literal })
}

fn nack(seq: u32, lo: WireSeq, lr: u32) -> Body {
    let (lr, max_seq) = (WireSeq(lr), WireSeq(100_000));
    Body::Nack(Nack {
        seq: WireSeq(seq),
        lo,
        lr,
        max_seq,
        rtt_to_source_us: 50_000,
        rtt_to_parent_us: 20_000,
    })
}

fn report(lo: u32, lr: u32, serial: u32) -> Report {
    Report {
        lo: WireSeq(lo),
        lr: WireSeq(lr),
        max_seq: WireSeq(100_000),
        rtt_to_source_us: 50_000,
        rtt_to_parent_us: 20_000,
        rtt_min_us: 50_000,
        period_us: 300_000,
        rtt_var_us: 0,
        count: 32,
        serial,
        is_marked: false,
    }
}

/// Lets time pass for an endpoint.
fn run<E: Endpoint<Header = Header>>(endpoint: &mut E, until: Time) -> Vec<Action<Header>> {
    let mut actions = Vec::new();
    while let Some(due) = endpoint.deadline().filter(|&due| due <= until) {
        actions.extend(give(endpoint, due, Input::Timer));
    }
    actions
}

/// A source that has sent for this long at its lowest rate.
fn source(options: &Options, seconds: u64) -> (Source, u32) {
    let mut source = Source::new(options, plan(), Stream::new(1, "source"));
    give(&mut source, at(0), Input::Start);
    run(&mut source, at(seconds * 1000));
    let session = source.session();
    (source, session)
}

fn rate(source: &Source) -> f64 {
    source.control().rate().as_bps()
}

#[test]
fn what_cannot_be_moves_nothing() {
    let (mut source, session) = source(&Options::default(), 50);
    assert_eq!(source.sent(), 51);
    let good = report(10, 20, 1);
    let forged = [
        Report { lo: WireSeq(60), lr: WireSeq(61), ..good },
        Report { lr: WireSeq(51), ..good },
        Report { lo: WireSeq(20), lr: WireSeq(10), ..good },
        Report { max_seq: WireSeq(9), ..good },
        Report { lo: WireSeq(1 << 31), lr: WireSeq((1 << 31) + 1), ..good },
    ];
    let before = rate(&source);
    for (peer, report) in forged.into_iter().enumerate() {
        give(&mut source, at(50_001), packet(child(0, peer as u32), session, Body::Report(report)));
    }
    let nacks =
        [nack(60, WireSeq(10), 20), nack(5, WireSeq(10), 20), nack(15, WireSeq(20), 10), nack(15, NONE, 70)];
    for body in nacks {
        let actions = give(&mut source, at(50_002), packet(child(0, 1), session, body));
        assert!(actions.is_empty(), "{body:?}");
    }
    give(&mut source, at(50_003), packet(child(0, 1), session + 1, Body::Report(good)));
    assert_eq!((rate(&source), source.control().phase()), (before, Phase::SlowStart));
    // An implausible period or variation does not affect the rate; the count of packets received is used all the same.
    for (peer, bad) in [
        Report { period_us: 0, ..good },
        Report { period_us: 600_000_001, ..good },
        Report { rtt_var_us: 10_000_001, ..good },
        Report { rtt_var_us: i32::MIN, ..good },
    ]
    .into_iter()
    .enumerate()
    {
        let body = Body::Report(Report { lo: WireSeq(peer as u32), ..bad });
        give(&mut source, at(50_004), packet(child(0, 20), session, body));
        assert_eq!(rate(&source), before);
    }
}

#[test]
fn forged_reports_do_not_drive_the_rate() {
    let options = Options { rate_max: 100.0, ..Options::default() };
    let (mut source, session) = source(&options, 50);
    let before = rate(&source);
    // A thousand at once, each as favourable as possible: one counts.
    for serial in 1..1000 {
        let body = Body::Report(Report { rtt_var_us: -9_000_000, period_us: 1, ..report(50, 50, serial) });
        give(&mut source, at(50_001), packet(child(0, 1), session, body));
    }
    let step = 8192.0 / 0.05;
    assert!(rate(&source) <= before + step, "{}", rate(&source));
    assert!(rate(&source) <= 100.0 * 8192.0);
}

#[test]
fn a_flood_of_names_fills_no_memory() {
    let options = Options { children: 50, ..Options::default() };
    let (mut source, session) = source(&options, 50);
    let mut router = Router::new(&options, plan(), Stream::new(1, "router"));
    give(&mut router, at(0), Input::Start);
    give(&mut router, at(1), packet(Origin::Channel(Channel(0)), session, data(50, NONE)));
    for peer in 0..20_000 {
        let now = at(50_000 + u64::from(peer));
        let origin = child((peer % 70) as u16, peer);
        for body in
            [Body::Heartbeat { sent_ns: 1 }, nack(peer % 51, NONE, 50), Body::Report(report(0, 50, peer))]
        {
            give(&mut source, now, packet(origin, session, body));
            give(&mut router, now, packet(origin, session, body));
        }
        assert!(source.state_size() <= 50 + 2 * 512, "{}", source.state_size());
        assert!(router.state_size() <= 50 + 2 * 512, "{}", router.state_size());
    }
    // The children fall silent and are forgotten.
    run(&mut source, at(200_000));
    run(&mut router, at(200_000));
    assert_eq!(router.state_size(), 0);
    assert!(source.state_size() <= 2 * 512);
}

#[test]
fn floods_of_nacks_and_heartbeats_are_cut() {
    let options = Options { stall_limit: Duration::from_secs(3600), ..Options::default() };
    let (mut source, session) = source(&options, 200);
    let answers = |actions: &[Action<Header>]| actions.len();
    let mut sent = 0;
    for _ in 0..500 {
        let beat = packet(child(0, 1), session, Body::Heartbeat { sent_ns: 5 });
        sent += answers(&give(&mut source, at(200_100), beat));
    }
    assert_eq!(sent, 10, "answers of a second");
    // Of the hundred NACKs allowed in a second, half are accepted at once.
    for seq in 0..180 {
        give(&mut source, at(200_100), packet(child(0, 2), session, nack(seq, NONE, 190)));
    }
    // It sends now and then, so that it is not forgotten.
    let mut repairs = Vec::new();
    for second in 201..400 {
        repairs.extend(run(&mut source, at(second * 1000)));
        let beat = packet(child(0, 2), session, Body::Heartbeat { sent_ns: 5 });
        give(&mut source, at(second * 1000), beat);
    }
    let repaired = |actions: &[Action<Header>]| {
        let is_repair = |action: &&Action<Header>| matches!(action, Action::Send(send) if matches!(send.header.body, Body::Data(Data { is_repair: true, .. })));
        actions.iter().filter(is_repair).count()
    };
    assert_eq!(repaired(&repairs), 50);
}

#[test]
fn nacks_for_what_was_acknowledged_are_ignored_and_so_is_their_sender() {
    let (mut source, session) = source(&Options::default(), 100);
    give(&mut source, at(100_100), packet(child(0, 1), session, Body::Report(report(80, 90, 1))));
    for seq in 0..25 {
        give(&mut source, at(100_200), packet(child(0, 1), session, nack(seq, NONE, 90)));
    }
    let before = rate(&source);
    give(&mut source, at(100_300), packet(child(0, 1), session, nack(85, WireSeq(84), 90)));
    assert_eq!(rate(&source), before, "it is ignored for 10 s");
    let late = packet(child(0, 1), session, nack(85, WireSeq(84), 90));
    run(&mut source, at(110_300));
    give(&mut source, at(110_300), late);
    let sends = run(&mut source, at(113_000));
    let stored = |action: &Action<Header>| matches!(action, Action::Send(send) if send.payload == Payload::Stored(Seq(85)));
    assert!(sends.iter().any(stored), "then it is served again");
}

#[test]
fn a_child_that_stalls_is_left_behind() {
    let options = Options { opening: Duration::ZERO, ..Options::default() };
    let (mut source, session) = source(&options, 5);
    let mut left_behind = Vec::new();
    for second in 5..60u64 {
        for (peer, lo) in [(1, 2), (2, second as u32 - 1)] {
            let body = Body::Report(report(lo, source.sent() as u32 - 1, second as u32));
            give(&mut source, at(second * 1000 + 10), packet(child(0, peer), session, body));
        }
        for action in run(&mut source, at(second * 1000 + 1000)) {
            if let Action::Trace(TraceEvent::LeftBehind { child, .. }) = action {
                left_behind.push(child);
            }
        }
    }
    assert_eq!(left_behind, [Peer(1)]);
    assert_eq!(source.group_below(), 59);
}

#[test]
fn a_gap_of_any_size_costs_little() {
    let options = Options { buffer_packets: 16_000_000, ..Options::default() };
    let mut receiver = Receiver::new(&options, plan(), Stream::new(1, "receiver"));
    let mut router = Router::new(&options, plan(), Stream::new(1, "router"));
    give(&mut receiver, at(0), Input::Start);
    give(&mut router, at(0), Input::Start);
    for (index, seq) in [0, 15_000_000, 1 << 31, u32::MAX].into_iter().enumerate() {
        let now = at(10 + index as u64);
        let input = || packet(Origin::Channel(Channel(0)), 5, data(seq, NONE));
        let sends = give(&mut receiver, now, input()).len();
        assert!(sends <= 80, "{sends} packets");
        assert!(give(&mut router, now, input()).len() <= 64);
        assert!(receiver.state_size() <= 70, "{}", receiver.state_size());
        assert!(router.state_size() <= 70, "{}", router.state_size());
    }
}

#[test]
fn a_receiver_without_further_packets_leaves() {
    let mut receiver = Receiver::new(&Options::default(), plan(), Stream::new(1, "receiver"));
    give(&mut receiver, at(0), Input::Start);
    give(&mut receiver, at(10), packet(Origin::Channel(Channel(0)), 5, data(0, NONE)));
    let actions = run(&mut receiver, at(3_600_000));
    let nacks = actions.iter().filter(|action| {
        matches!(action, Action::Send(send) if send.target == Target::Source && matches!(send.header.body, Body::Nack(_)))
    });
    assert_eq!(nacks.count(), 32);
    assert!(actions.contains(&Action::Leave(Channel(0))));
    assert_eq!(receiver.deadline(), None);
    let Estimates { level, .. } = receiver.estimates(at(3_600_000));
    assert_eq!(level.layer_count(), 0);
}
