use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate};
use layercast_testkit::golden;
use proptest::prelude::*;

use super::*;
use crate::link::LinkConfig;
use crate::loss::{LossModel, LossPlace, PeriodicLoss};
use crate::measure::LinkCounters;
use crate::packet::CopyKind;
use crate::queue::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, PieConfig, QueueConfig,
    QueueLimit, RedConfig, RedVictim, RedWeight, RemConfig,
};
use crate::tcp::Segment;

const LINK: LinkId = LinkId(0);

/// An engine with one link.
fn one_link(rate: Rate, delay: Duration, queue: QueueConfig) -> Engine<()> {
    let (loss, loss_place, loss_marks) = (LossModel::None, LossPlace::BeforeQueue, false);
    let config = LinkConfig { rate, delay, queue, loss, loss_place, loss_marks };
    Engine::<()>::new(vec![Link::new(config, Stream::new(1, "link"), Stream::new(1, "queue"))])
}

/// Serves the events up to `end` and adds the packets that arrive: their numbers and when.
fn serve(engine: &mut Engine<()>, end: Time, arrived: &mut Vec<(i64, Time)>) {
    while let Some((key, event)) = engine.events.pop(end) {
        engine.current = key;
        match event {
            Event::Free(_) => engine.transmitter_free(LINK),
            Event::Arrival(_) => {
                let (copy, next) = engine.pop_arrival(0).unwrap();
                let &Body::Segment(Segment { seq, .. }) = engine.slab.body(copy.packet) else { panic!() };
                arrived.push((seq, key.time));
                engine.slab.release(copy.packet);
                if let Some(next) = next {
                    engine.events.push(next, Event::Arrival(0));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    engine.current = Key { time: end, order: engine.events.next_order() };
    engine.links[0].account_queue(end);
}

/// Offers numbered packets at their times and serves all. Returns the arrivals and the counters.
fn carry(engine: &mut Engine<()>, offers: &[(Time, u32)]) -> (Vec<(i64, Time)>, LinkCounters) {
    let mut arrived = Vec::new();
    for (seq, &(at, bytes)) in offers.iter().enumerate() {
        serve(engine, at, &mut arrived);
        engine.send(
            Body::Segment(Segment::numbered(seq as i64)),
            Size::from_bytes(bytes),
            EcnField::NotCapable,
            LINK,
            0,
            0,
        );
    }
    serve(engine, Time::from_secs_f64(1e6), &mut arrived);
    (arrived, engine.links[0].counters())
}

#[test]
fn golden_store_and_forward() {
    let case = golden::vector("vectors-active-and-unicast.json", "link-01");
    let rate = Rate::from_bps(case.number("rate_bps"));
    let mut engine = one_link(rate, Duration::from_secs_f64(case.number("prop")), QueueConfig::default());
    let offers: Vec<_> =
        golden::numbers(&case.input["bytes"]).iter().map(|&b| (Time::ZERO, b as u32)).collect();
    let (arrived, counters) = carry(&mut engine, &offers);
    let at: Vec<f64> = arrived.iter().map(|(_, at)| at.as_secs_f64()).collect();
    case.check_list("arrival", &at, &case.expected["arrival"]);
    assert_eq!((counters.packets, counters.bytes), (2, 2000));
    // The second packet waited while the first was sent: 1 ms.
    assert_eq!(counters.queue_packet_ns, 1_000_000);
}

#[test]
fn golden_queue_limits() {
    let drop_tail = |limit| QueueConfig::drop_tail(limit);
    let out_of_reach = |packets| RedConfig {
        limit: Some(QueueLimit::Packets(packets)),
        min_threshold: Some(1000.0),
        ..RedConfig::classic()
    };
    let out_of_reach = |packets| RedConfig { max_threshold: Some(3000.0), ..out_of_reach(packets) };
    let rem = |packets| RemConfig { limit: QueueLimit::Packets(packets), gamma: 0.0, ..RemConfig::default() };
    let queue = |id: &str, limit: u32| match id {
        "queue-limit-droptail-packets" => drop_tail(QueueLimit::Packets(limit)),
        "queue-limit-droptail-bytes-mean1000" => drop_tail(QueueLimit::Bytes(u64::from(limit) * 1000)),
        "queue-limit-rem-gamma0" => QueueConfig::Rem(rem(limit)),
        _ => QueueConfig::Red(out_of_reach(limit)),
    };
    for id in [
        "queue-limit-droptail-packets",
        "queue-limit-droptail-bytes-mean1000",
        "queue-limit-red-packets-thresholds-out-of-reach",
        "queue-limit-rem-gamma0",
    ] {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let queue = queue(id, case.whole("limit") as u32);
        let mut engine = one_link(Rate::from_mbps(0.8), Duration::from_ms(1), queue);
        // An access link of 100 Mbit/s delivers a packet every 80 us.
        for arrival in 0..case.whole("arrivals") {
            serve(&mut engine, Time::from_ns(80_000 * arrival), &mut Vec::new());
            engine.send(
                Body::Segment(Segment::numbered(0)),
                Size::from_bytes(1000),
                EcnField::NotCapable,
                LINK,
                0,
                0,
            );
        }
        let link = &engine.links[0];
        assert_eq!(link.waiting() as u64, golden::whole(&case.expected["waiting"]), "{id}");
        assert_eq!(link.counters().queue_drops, golden::whole(&case.expected["dropped"]), "{id}");
        assert_eq!(link.counters().packets, 1, "{id}: one more is in transmission");
    }
}

#[test]
fn a_packet_that_comes_as_the_transmitter_frees_starts_at_once() {
    let mut engine = one_link(Rate::from_mbps(8.0), Duration::ZERO, QueueConfig::default());
    let millisecond = |ms: u64| Time::from_ns(ms * 1_000_000);
    let (arrived, counters) = carry(&mut engine, &[(millisecond(0), 1000), (millisecond(1), 1000)]);
    assert_eq!(arrived, [(0, millisecond(1)), (1, millisecond(2))]);
    assert_eq!(counters.queue_packet_ns, 0);
}

/// What a link does, packet by packet and without events: (arrivals, drops, integral of the queue).
fn by_hand(
    offers: &[(Time, u32)],
    ns_per_byte: u64,
    delay: u64,
    (limit, ns2_compat): (QueueLimit, bool),
) -> (Vec<(i64, Time)>, u64, u128) {
    let (mut arrived, mut dropped, mut integral) = (Vec::new(), 0, 0);
    // When each accepted packet leaves the queue, and its size.
    let mut starts: Vec<(u64, u32)> = Vec::new();
    let mut free = 0;
    for (seq, &(at, bytes)) in offers.iter().enumerate() {
        let at = at.as_ns();
        let waiting = || starts.iter().filter(|&&(start, _)| start > at);
        let (filled, limit) = match limit {
            QueueLimit::Unlimited => (0, u64::MAX),
            QueueLimit::Packets(limit) => (waiting().count() as u64 + 1, u64::from(limit)),
            QueueLimit::Bytes(limit) => {
                (waiting().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>() + u64::from(bytes), limit)
            }
        };
        if filled > limit || (ns2_compat && filled == limit) {
            dropped += 1;
            continue;
        }
        let start = free.max(at);
        free = start + ns_per_byte * u64::from(bytes);
        starts.push((start, bytes));
        integral += u128::from(start - at);
        arrived.push((seq as i64, Time::from_ns(free + delay)));
    }
    (arrived, dropped, integral)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any load on any queue: arrivals, drops and queue are as counted by hand.
    #[test]
    fn a_link_does_what_a_count_by_hand_says(
        gaps in prop::collection::vec((0u64..4000, 1u32..2000), 1..200),
        delay in 0u64..1_000_000,
        limit in prop_oneof![
            Just(QueueLimit::Unlimited),
            (2u32..12).prop_map(QueueLimit::Packets),
            (2000u64..20_000).prop_map(QueueLimit::Bytes),
        ],
        ns2_compat in any::<bool>(),
    ) {
        let mut at = 0;
        let offers: Vec<_> = gaps.iter().map(|&(gap, bytes)| {
            at += gap;
            (Time::from_ns(at), bytes)
        }).collect();
        let queue = QueueConfig::DropTail(DropTailConfig { limit, ns2_compat, drop_front: false });
        let (expected, dropped, integral) = by_hand(&offers, 2, delay, (limit, ns2_compat));
        let mut engine = one_link(Rate::from_mbps(4000.0), Duration::from_ns(delay), queue);
        let (arrived, counters) = carry(&mut engine, &offers);
        prop_assert_eq!(arrived, expected);
        prop_assert_eq!(counters.queue_drops, dropped);
        prop_assert_eq!(counters.queue_packet_ns, integral);
        prop_assert_eq!(counters.packets + counters.queue_drops, offers.len() as u64);
        let bytes: u64 = offers.iter().map(|&(_, bytes)| u64::from(bytes)).sum();
        prop_assert!(counters.bytes <= bytes);
        // Dropped copies stay until the simulation accounts for them; nothing else is left.
        prop_assert_eq!(engine.slab.copies(), engine.dropped.len());
        prop_assert_eq!(engine.carried(), 0);
    }
}

/// Every managed queue, with bounds that a short test reaches.
fn managed() -> Vec<QueueConfig> {
    let limit = QueueLimit::Packets(12);
    vec![
        QueueConfig::Red(RedConfig { weight: RedWeight::Fixed(0.1), ..RedConfig::classic() }),
        QueueConfig::Red(RedConfig {
            min_threshold: Some(2.0),
            victim: RedVictim::Random,
            limit: Some(limit),
            adaptive: true,
            ..RedConfig::ns2()
        }),
        QueueConfig::CoDel(CoDelConfig {
            limit,
            target: Duration::from_us(5),
            interval: Duration::from_us(50),
            ..CoDelConfig::default()
        }),
        QueueConfig::Rem(RemConfig {
            gamma: 10.0,
            update: Duration::from_us(10),
            limit,
            ..RemConfig::default()
        }),
        QueueConfig::Pie(PieConfig {
            target: Duration::from_us(5),
            update: Duration::from_us(5),
            max_burst: Duration::from_us(10),
            alpha: 1e3,
            beta: 1e4,
            limit,
            ..PieConfig::default()
        }),
        QueueConfig::DropTail(DropTailConfig {
            limit: QueueLimit::Bytes(9000),
            ns2_compat: false,
            drop_front: true,
        }),
        QueueConfig::FqCoDel(FqCoDelConfig {
            target: Duration::from_us(5),
            interval: Duration::from_us(50),
            limit,
            ..FqCoDelConfig::default()
        }),
        QueueConfig::DualPi2(DualPi2Config {
            target: Duration::from_us(5),
            update: Duration::from_us(5),
            alpha: 1e3,
            beta: 1e4,
            limit: Some(limit),
            ..DualPi2Config::default()
        }),
        QueueConfig::Fair(FairConfig { limit, ..FairConfig::default() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any load on any managed queue: each packet is carried or dropped and counted, once, in order,
    /// and the link is never idle while packets wait.
    #[test]
    fn a_managed_link_carries_or_drops_each_packet(
        gaps in prop::collection::vec((0u64..4000, 1u32..2000), 1..300),
        kind in 0..managed().len(),
    ) {
        let mut at = 0;
        let offers: Vec<_> = gaps.iter().map(|&(gap, bytes)| {
            at += gap;
            (Time::from_ns(at), bytes)
        }).collect();
        let mut engine = one_link(Rate::from_mbps(4000.0), Duration::from_us(3), managed()[kind]);
        let (arrived, counters) = carry(&mut engine, &offers);
        prop_assert_eq!(arrived.len() as u64, counters.packets);
        prop_assert_eq!(counters.packets + counters.queue_drops, offers.len() as u64);
        prop_assert!(counters.chosen_drops <= counters.queue_drops);
        prop_assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order");
        prop_assert_eq!(engine.dropped.len() as u64, counters.queue_drops);
        prop_assert_eq!(engine.slab.copies(), engine.dropped.len());
        prop_assert_eq!(engine.carried(), 0);
        // A packet that finds the link idle is sent at once, so no packet arrives later than the
        // back-to-back transmission of all packets up to it.
        let total: u64 = gaps.iter().map(|&(_, bytes)| u64::from(bytes) * 2).sum();
        if let Some(&(_, last)) = arrived.last() {
            prop_assert!(last.as_ns() <= at + total + 3000);
        }
    }
}

/// The error model hits every third packet: it marks ECN-capable packets and loses the others, on either
/// side of the link.
#[test]
fn an_error_model_marks_ecn_capable_packets() {
    let every_third = LossModel::Periodic(PeriodicLoss { period: 3, offset: 1, burst: 1 });
    for loss_place in [LossPlace::BeforeQueue, LossPlace::AfterLink] {
        for (ecn, loss_marks) in
            [(EcnField::Classic, true), (EcnField::NotCapable, true), (EcnField::Classic, false)]
        {
            let (rate, queue, loss) = (Rate::from_mbps(8.0), QueueConfig::default(), every_third.clone());
            let config = LinkConfig { rate, delay: Duration::ZERO, queue, loss, loss_place, loss_marks };
            let link = Link::new(config, Stream::new(1, "link"), Stream::new(1, "queue"));
            let mut engine = Engine::<()>::new(vec![link]);
            let mut marked = Vec::new();
            for seq in 0..9 {
                let packet = engine.slab.insert(Body::Segment(Segment::numbered(seq)));
                let (size_bytes, route, position, channel) = (1000, 0, 0, 0);
                let (ecn, kind) = (ecn.into(), CopyKind::PATH);
                engine.offer(LINK, PacketCopy { packet, route, position, size_bytes, ecn, kind, channel });
                engine.current.time += Duration::from_ms(2);
                if let Some((mut copy, _)) = engine.pop_arrival(0)
                    && !engine.loses_on_arrival(0, &mut copy)
                {
                    marked.push(copy.is_marked());
                }
            }
            let counters = engine.links[0].counters();
            let is_marking = ecn == EcnField::Classic && loss_marks;
            let expected = if is_marking { (0, 3, 9, 0) } else { (3, 0, 6, 3) };
            let dropped = engine.dropped.len();
            assert_eq!((counters.losses, counters.marks, marked.len(), dropped), expected, "{ecn:?}");
            assert_eq!(marked[0], is_marking, "{ecn:?}");
            assert_eq!(marked.iter().filter(|&&marked| marked).count() as u64, counters.marks);
        }
    }
}
