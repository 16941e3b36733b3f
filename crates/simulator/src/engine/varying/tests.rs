use layercast_core::units::{Duration, Rate, Size};
use proptest::prelude::*;

use super::*;
use crate::link::{Link, LinkConfig};
use crate::loss::{LossModel, LossPlace};
use crate::packet::{Body, EcnField};
use crate::queue::{DropTailConfig, QueueConfig, QueueLimit};
use crate::tcp::Segment;
use crate::variation::{DeliveryTrace, LinkChange, Outage};

mod traces;

const LINK: LinkId = LinkId(0);

fn us(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

/// A link of 8 Mbit/s, where a packet of 1000 bytes takes 1 ms, and of 5 ms delay.
fn varied(variation: LinkVariation, queue: QueueConfig) -> Engine<()> {
    variation.check().unwrap();
    let config = LinkConfig {
        rate: Rate::from_mbps(8.0),
        delay: Duration::from_ms(5),
        queue,
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let link = Link::new(config, Stream::new(1, "link"), Stream::new(1, "queue"));
    let mut engine = Engine::<()>::new(vec![link]);
    engine.vary(LINK, Arc::new(variation), Stream::new(1, "link"));
    engine
}

/// What arrived: the numbers of the packets, and when in microseconds.
type Arrived = Vec<(i64, u64)>;

/// Serves the events up to `end`; packets that are lost on the link do not arrive.
fn serve(engine: &mut Engine<()>, end: Time, arrived: &mut Arrived) {
    while let Some((key, event)) = engine.events.pop(end) {
        engine.current = key;
        match event {
            Event::Free(_) => engine.transmitter_free(LINK),
            Event::Change(_) => engine.change_link(LINK),
            Event::Arrival(_) => {
                let (copy, next) = engine.pop_arrival(0).unwrap();
                if let Some(next) = next {
                    assert!(next > key, "what arrives next arrives later");
                    engine.events.push(next, Event::Arrival(0));
                }
                if !engine.loses_on_arrival(0, &mut { copy }) {
                    let &Body::Segment(Segment { seq, .. }) = engine.slab.body(copy.packet) else { panic!() };
                    arrived.push((seq, key.time.as_ns() / 1000));
                    engine.slab.release(copy.packet);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    engine.current = Key { time: end, order: engine.events.next_order() };
}

/// Offers packets of these sizes at these microseconds and serves all.
fn carry(engine: &mut Engine<()>, offers: &[(u64, u32)]) -> Arrived {
    let mut arrived = Vec::new();
    for (seq, &(at, bytes)) in offers.iter().enumerate() {
        serve(engine, us(at), &mut arrived);
        engine.send(
            Body::Segment(Segment::numbered(seq as i64)),
            Size::from_bytes(bytes),
            EcnField::NotCapable,
            LINK,
            0,
            0,
        );
    }
    serve(engine, Time::from_secs_f64(1000.0), &mut arrived);
    arrived
}

fn change(at: u64, rate_mbps: Option<f64>, delay_ms: Option<u64>) -> LinkChange {
    let (rate, delay) = (rate_mbps.map(Rate::from_mbps), delay_ms.map(Duration::from_ms));
    LinkChange { at: us(at), rate, delay, loss: None }
}

fn changes(changes: Vec<LinkChange>) -> LinkVariation {
    LinkVariation { changes, ..LinkVariation::default() }
}

fn down(start: u64, end: u64) -> LinkVariation {
    let outages = vec![Outage { start: us(start), end: us(end) }];
    LinkVariation { outages, ..LinkVariation::default() }
}

fn trace(text: &str) -> LinkVariation {
    let trace = Some(Arc::new(DeliveryTrace::parse(text).unwrap()));
    LinkVariation { trace, ..LinkVariation::default() }
}

#[test]
fn a_packet_in_transmission_keeps_its_rate() {
    // A quarter of the rate from the middle of the first transmission.
    let mut engine = varied(changes(vec![change(500, Some(2.0), None)]), QueueConfig::default());
    assert_eq!(carry(&mut engine, &[(0, 1000), (0, 1000)]), [(0, 6_000), (1, 10_000)]);
    // 500 us at 1 byte/us, then 0.25 byte/us.
    let capacity = engine.links[0].capacity_bytes(us(10_500)).unwrap();
    assert!((capacity - (500.0 + 2500.0)).abs() < 1e-6, "{capacity}");
}

#[test]
fn a_change_comes_before_packets_of_its_instant_and_happens_again() {
    let fast_then_slow = vec![change(0, Some(16.0), None), change(10_000, Some(4.0), None)];
    let variation = LinkVariation { repeat: Some(Duration::from_ms(20)), ..changes(fast_then_slow) };
    let mut engine = varied(variation, QueueConfig::default());
    let offers: Vec<_> = [0, 10_000, 20_000, 29_999, 30_000, 40_000].map(|at| (at, 1000)).to_vec();
    let took: Vec<u64> = carry(&mut engine, &offers).iter().map(|&(_, at)| at).collect();
    // The fifth waits for the fourth, which began at the higher rate.
    assert_eq!(took, [5_500, 17_000, 25_500, 35_499, 37_499, 45_500]);
}

#[test]
fn packets_overtake_when_the_delay_falls() {
    // Four packets back to back; the delay decreases before the third is sent and increases before the
    // fourth.
    let steps = vec![change(1_500, None, Some(1)), change(2_500, None, Some(2))];
    let offers = [(0, 1000); 4];
    let mut engine = varied(changes(steps.clone()), QueueConfig::default());
    assert_eq!(carry(&mut engine, &offers), [(2, 4_000), (0, 6_000), (3, 6_000), (1, 7_000)]);
    let in_order = LinkVariation { avoid_reordering: true, ..changes(steps) };
    let mut engine = varied(in_order, QueueConfig::default());
    assert_eq!(carry(&mut engine, &offers), [(0, 6_000), (1, 7_000), (2, 7_000), (3, 7_000)]);
}

#[test]
fn a_loss_model_starts_with_its_change() {
    let loss =
        |at, model, place| LinkChange { at: us(at), loss: Some((model, place)), ..LinkChange::default() };
    let variation = changes(vec![
        loss(0, LossModel::List(vec![1]), LossPlace::AfterLink),
        loss(50_000, LossModel::List(vec![0]), LossPlace::BeforeQueue),
        loss(90_000, LossModel::None, LossPlace::BeforeQueue),
    ]);
    let mut engine = varied(variation, QueueConfig::default());
    let offers: Vec<_> = (0..10).map(|number| (number * 10_000, 1000)).collect();
    let arrived: Vec<i64> = carry(&mut engine, &offers).iter().map(|&(seq, _)| seq).collect();
    assert_eq!(arrived, [0, 2, 3, 4, 6, 7, 8, 9]);
    let counters = engine.links[0].counters();
    assert_eq!((counters.packets, counters.losses), (9, 2), "the second is lost before it takes the link");
}

#[test]
fn a_link_that_goes_down_loses_what_it_carries_and_keeps_what_waits() {
    // Down from 2.5 ms to 20 ms: packets 0 to 2 are on the link, 3 and 4 wait, 5 and 6 come too soon.
    let offers = [
        (0, 1000),
        (0, 1000),
        (0, 1000),
        (0, 1000),
        (0, 1000),
        (2_500, 1000),
        (19_999, 1000),
        (20_000, 1000),
    ];
    let mut engine = varied(down(2_500, 20_000), QueueConfig::default());
    assert_eq!(carry(&mut engine, &offers), [(3, 26_000), (4, 27_000), (7, 28_000)]);
    let counters = engine.links[0].counters();
    assert_eq!((counters.packets, counters.losses, counters.queue_drops), (6, 5, 0));
    // 2.5 ms and 1 ms at 1 byte/us.
    assert_eq!(engine.links[0].capacity_bytes(us(21_000)), Some(3500.0));
    // With an emptied queue the last one finds the link idle.
    let flush = LinkVariation { flushes_queue: true, ..down(2_500, 20_000) };
    let mut engine = varied(flush, QueueConfig::default());
    assert_eq!(carry(&mut engine, &offers), [(7, 26_000)]);
    assert_eq!((engine.links[0].counters().packets, engine.links[0].counters().losses), (4, 7));
    assert_eq!(engine.slab.copies(), engine.dropped.len());
}

#[test]
fn an_outage_within_a_transmission_ends_with_it() {
    let mut engine = varied(down(200, 400), QueueConfig::default());
    assert_eq!(carry(&mut engine, &[(0, 1000), (0, 1000), (500, 1000)]), [(1, 7_000), (2, 8_000)]);
    // What was on the wire is lost even if it arrives after the link is up again.
    let mut engine = varied(down(3_000, 3_500), QueueConfig::default());
    assert_eq!(carry(&mut engine, &[(0, 1000), (4_000, 1000)]), [(1, 10_000)]);
}

/// Any variation within 40 ms.
fn any_variation() -> impl Strategy<Value = LinkVariation> {
    let step =
        (0u64..40_000, prop::option::of(1u32..40), prop::option::of(0u64..8), prop::option::of(0.0..0.5));
    let model = |p: f64| (LossModel::Bernoulli(p), LossPlace::AfterLink);
    (
        prop::collection::vec(step, 0..8),
        prop::collection::btree_set(1u64..60_000, 0..6),
        any::<[bool; 4]>(),
        prop::collection::vec(0u32..4, 1..6),
    )
        .prop_map(move |(mut steps, edges, [repeats, in_order, flushes, traced], gaps)| {
            steps.sort_by_key(|step| step.0);
            let edges: Vec<u64> = edges.into_iter().collect();
            let mut end = 1;
            let times: Vec<String> = gaps
                .iter()
                .map(|gap| {
                    end += gap;
                    end.to_string()
                })
                .collect();
            LinkVariation {
                changes: steps
                    .iter()
                    .map(|&(at, mbps, delay, loss)| LinkChange {
                        loss: loss.map(model),
                        ..change(at, mbps.filter(|_| !traced).map(f64::from), delay)
                    })
                    .collect(),
                repeat: repeats.then_some(Duration::from_ms(40)),
                avoid_reordering: in_order,
                trace: traced.then(|| Arc::new(DeliveryTrace::parse(&times.join("\n")).unwrap())),
                outages: edges
                    .chunks_exact(2)
                    .map(|pair| Outage { start: us(pair[0]), end: us(pair[1]) })
                    .collect(),
                flushes_queue: flushes,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any load on any link that changes in any way: at each moment what was offered has arrived, is
    /// lost or dropped and counted, or is on the link; in the end nothing is left.
    #[test]
    fn what_is_offered_arrives_or_is_counted(
        variation in any_variation(),
        gaps in prop::collection::vec((0u64..1500, 1u32..3000), 1..150),
        limit in prop_oneof![Just(QueueLimit::Unlimited), (1u32..12).prop_map(QueueLimit::Packets)],
    ) {
        let in_order = variation.avoid_reordering;
        let repeats = variation.repeat.is_some();
        let mut engine = varied(variation, QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: false, drop_front: false }));
        let (mut arrived, mut at) = (Vec::new(), 0);
        for (seq, &(gap, bytes)) in gaps.iter().enumerate() {
            at += gap;
            serve(&mut engine, us(at), &mut arrived);
            engine.send(Body::Segment(Segment::numbered(seq as i64)), Size::from_bytes(bytes), EcnField::NotCapable, LINK, 0, 0);
            let counters = engine.links[0].counters();
            let gone = arrived.len() as u64 + counters.losses + counters.queue_drops;
            prop_assert_eq!(gone + engine.carried() as u64, seq as u64 + 1);
            prop_assert_eq!(engine.dropped.len() as u64, counters.losses + counters.queue_drops);
            prop_assert_eq!(engine.slab.copies(), engine.dropped.len() + engine.carried());
        }
        serve(&mut engine, us(at) + Duration::from_secs(60), &mut arrived);
        prop_assert_eq!(engine.carried(), 0);
        // At most the next change is left in the event list.
        let left = engine.events.first(Time::MAX);
        prop_assert_eq!(left.is_some_and(|(_, event)| event == Event::Change(0)), left.is_some());
        prop_assert!(repeats || left.is_none());
        prop_assert!(arrived.windows(2).all(|pair| pair[0].1 <= pair[1].1), "by time");
        if in_order {
            prop_assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order");
        }
    }
}
