//! Streams: what is sent in units is delivered in units, in order and in time, whatever the network does to packets; and
//! what anyone may send neither panics nor takes memory without bound.

use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_delivery::stream::{
    Gap, GapCause, Head, LayerCounters, LayerSource, PayloadError, StreamPlan, StreamReceiver, SymbolHead,
    SymbolId, Unit, Units, symbol_size,
};
use proptest::prelude::*;

const DEADLINE: Duration = Duration::from_ms(500);
const PLAN: StreamPlan = StreamPlan { deadline: DEADLINE, units: Units::Length };
const SYMBOL: u16 = 400;
/// The interval of packets, and the rate of the layer with their 500 bytes.
const TICK: Duration = Duration::from_ms(5);
const RATE_KBPS: f64 = 800.0;
/// The shortest transit time.
const TRANSIT: Duration = Duration::from_ms(20);

/// A unit of the input: its number at its start, if it has space, and bytes that follow from the number.
fn unit(number: u32, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|at| (at as u32).wrapping_mul(number ^ 77) as u8).collect();
    for (to, from) in bytes.iter_mut().zip(number.to_be_bytes()) {
        *to = from;
    }
    bytes
}

/// What the network does to the packet of this number: the delays of its copies beyond the shortest, none if it is lost.
type Network<'a> = &'a dyn Fn(usize) -> Vec<Duration>;

struct Outcome {
    /// Numbers of units, their delays from the input to the output, and gaps.
    delivered: Vec<(u32, Duration, Option<Gap>)>,
    counters: LayerCounters,
    packets: usize,
}

/// Notes a unit that is delivered.
fn take(
    now: Time,
    one: Unit<'_>,
    entered: &[Time],
    lengths: &[usize],
    delivered: &mut Vec<(u32, Duration, Option<Gap>)>,
) {
    let index = one.number as usize;
    assert_eq!(one.bytes, unit(one.number, lengths[index]));
    delivered.push((one.number, now.since(entered[index]), one.gap));
}

/// Sends units of these lengths, one every `every`, over a network. Asserts that what is delivered is what was sent, whole and
/// in order.
fn run(lengths: &[usize], every: Duration, share: f64, network: Network<'_>) -> Outcome {
    let mut source = LayerSource::new(&PLAN, Rate::from_kbps(RATE_KBPS), SYMBOL, share);
    let mut receiver = StreamReceiver::new(&PLAN, SYMBOL, 1);
    let mut on_the_way: Vec<(Time, Vec<u8>)> = Vec::new();
    let (mut entered, mut delivered, mut packets) = (Vec::new(), Vec::new(), 0);
    // Clocks of two hosts have nothing in common.
    let (mut now, skew) = (Time::ZERO, Duration::from_secs(3000));
    let mut room = [0; 500];
    while !source.is_done() || !on_the_way.is_empty() {
        let (begin, next) = (now, now + TICK);
        while entered.len() < lengths.len()
            && Time::ZERO + every * entered.len() as u64 <= now
            && !source.is_full()
        {
            source.push(now, &unit(entered.len() as u32, lengths[entered.len()]));
            entered.push(now);
        }
        if entered.len() == lengths.len() {
            source.finish();
        }
        let length = source.next(now, &mut room);
        if length > 0 {
            for delay in network(packets) {
                on_the_way.push((now + TRANSIT + delay, room[..length].to_vec()));
            }
            packets += 1;
        }
        // The receiver's events of this tick, in their order.
        loop {
            let first = on_the_way.iter().enumerate().min_by_key(|(_, (at, _))| *at);
            let arrival = first.map(|(index, (at, _))| (*at, index)).filter(|(at, _)| *at < next);
            let timer = receiver.deadline().map(|at| at - skew).filter(|at| *at < next);
            match (arrival, timer) {
                (Some((at, index)), timer) if timer.is_none_or(|timer| at <= timer) => {
                    let (_, payload) = on_the_way.swap_remove(index);
                    now = now.max(at);
                    receiver.packet(now + skew, 0, &payload, &mut |one| {
                        take(now, one, &entered, lengths, &mut delivered)
                    });
                }
                (_, Some(at)) => {
                    now = now.max(at);
                    receiver
                        .advance(now + skew, &mut |one| take(now, one, &entered, lengths, &mut delivered));
                }
                _ => break,
            }
        }
        now = begin + TICK;
        assert!(now < Time::from_ns(600_000_000_000), "it never ends");
    }
    receiver.finish(now + skew, &mut |one| delivered.push((one.number, Duration::ZERO, one.gap)));
    let numbers: Vec<u32> = delivered.iter().map(|(number, ..)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "in order and once: {numbers:?}");
    Outcome { delivered, counters: receiver.counters().next().unwrap(), packets }
}

fn direct(_: usize) -> Vec<Duration> {
    vec![Duration::ZERO]
}

#[test]
fn without_losses_all_units_come_soon_and_nothing_is_repaired() {
    // 500 bytes every 10 ms: half of the rate.
    let outcome = run(&[500; 400], Duration::from_ms(10), 0.2, &direct);
    assert_eq!(outcome.delivered.len(), 400);
    let counters = outcome.counters;
    assert_eq!((counters.units, counters.lost, counters.late, counters.repaired), (400, 0, 0, 0));
    // The transit, a tick, the hold of a tenth of the deadline at most, and a repair symbol between.
    let longest = outcome.delivered.iter().map(|(_, delay, _)| *delay).max().unwrap();
    assert!(longest <= TRANSIT + Duration::from_ms(50) + TICK * 3, "{longest}");
    assert!(outcome.delivered.iter().all(|(.., gap)| gap.is_none()));
}

#[test]
fn an_input_that_is_too_fast_waits_and_nothing_expires() {
    // Twice the rate: the input is pushed back.
    let outcome = run(&[900; 500], Duration::from_ms(4), 0.2, &direct);
    assert_eq!(outcome.delivered.len(), 500);
}

#[test]
fn one_loss_in_twelve_is_repaired_within_the_deadline() {
    let lossy = |number: usize| if number % 12 == 5 { Vec::new() } else { direct(number) };
    let outcome = run(&[300; 600], Duration::from_ms(6), 0.25, &lossy);
    let counters = outcome.counters;
    assert_eq!((counters.units, counters.lost, counters.late), (600, 0, 0), "{counters:?}");
    assert!(counters.repaired > 10, "{counters:?}");
    let longest = outcome.delivered.iter().map(|(_, delay, _)| *delay).max().unwrap();
    assert!(longest <= DEADLINE + TRANSIT, "{longest}");
    // The same without repair symbols loses about as many units as packets, and says so.
    let bare = run(&[300; 600], Duration::from_ms(6), 0.0, &lossy);
    assert!(bare.packets < outcome.packets);
    assert!(bare.counters.lost > 20 && bare.counters.units + bare.counters.lost + bare.counters.late >= 599);
    let in_gaps: u32 = bare.delivered.iter().filter_map(|(.., gap)| *gap).map(|gap| gap.units).sum();
    assert_eq!(u64::from(in_gaps), bare.counters.lost + bare.counters.late);
    assert!(bare.delivered.iter().filter_map(|(.., gap)| *gap).all(|gap| gap.cause == GapCause::Lost));
}

#[test]
fn what_comes_after_its_deadline_is_counted_and_not_delivered() {
    // From the 200th packet on for a second the path takes 800 ms more.
    let slow = |number: usize| {
        let late = (200..300).contains(&number);
        vec![if late { Duration::from_ms(800) } else { Duration::ZERO }]
    };
    let outcome = run(&[300; 500], Duration::from_ms(6), 0.2, &slow);
    let counters = outcome.counters;
    assert!(counters.late + counters.lost > 50, "{counters:?}");
    assert_eq!(counters.units + counters.late + counters.lost, 500, "{counters:?}");
    assert!(outcome.delivered.iter().all(|(_, delay, _)| *delay <= DEADLINE + TRANSIT));
}

#[test]
fn units_longer_than_blocks_and_empty_ones_are_whole() {
    // A block has 25 symbols of 388 bytes of data: those of a quarter of the deadline.
    let lengths = [0, 1, 399, 388, 384, 380, 5, 0, 9_000, 7, 12_000, 0, 12];
    let lossy = |number: usize| if number % 9 == 4 { Vec::new() } else { direct(number) };
    let outcome = run(&lengths, Duration::from_ms(700), 0.3, &lossy);
    let counters = outcome.counters;
    assert_eq!(
        (counters.units as usize, counters.lost, counters.late),
        (lengths.len(), 0, 0),
        "{counters:?}"
    );
    assert!(counters.repaired > 0);
}

#[test]
fn a_layer_that_is_joined_again_begins_at_a_unit_and_reports_the_gap() {
    let mut source = LayerSource::new(&PLAN, Rate::from_kbps(RATE_KBPS), SYMBOL, 0.2);
    let mut receiver = StreamReceiver::new(&PLAN, SYMBOL, 1);
    let (mut room, mut numbers, mut gaps) = ([0; 500], Vec::new(), Vec::new());
    for tick in 0..600u64 {
        let now = Time::ZERO + TICK * tick;
        source.push(now, &unit(tick as u32, 250));
        let length = source.next(now, &mut room);
        let mut each = |one: Unit<'_>| {
            assert_eq!(one.bytes, unit(one.number, 250));
            numbers.push(one.number);
            gaps.extend(one.gap);
        };
        if tick == 200 {
            receiver.leave(now, 0, &mut each);
        }
        if length > 0 && !(200..400).contains(&tick) {
            receiver.packet(now, 0, &room[..length], &mut each);
        }
    }
    let before = numbers.iter().take_while(|number| **number < 200).count();
    assert!(before > 180 && numbers.len() > before + 150, "{before} of {}", numbers.len());
    let [gap] = gaps[..] else { panic!("{gaps:?}") };
    assert_eq!(gap.cause, GapCause::Absent);
    assert_eq!(gap.units, numbers[before] - numbers[before - 1] - 1);
    let counters = receiver.counters().next().unwrap();
    assert_eq!((counters.absent, counters.lost, counters.late), (u64::from(gap.units), 0, 0));
}

#[test]
fn the_end_of_all_inputs_is_said() {
    let source = LayerSource::new(&PLAN, Rate::from_kbps(RATE_KBPS), SYMBOL, 0.2);
    let (mut receiver, mut room) = (StreamReceiver::new(&PLAN, SYMBOL, 2), [0; 500]);
    let length = source.end(Time::ZERO, &mut room);
    let now = Time::ZERO + TRANSIT;
    receiver.packet(now, 1, &room[..length], &mut |unit| panic!("{unit:?}"));
    receiver.packet(now + TICK, 0, &room[..length], &mut |unit| panic!("{unit:?}"));
    assert_eq!(receiver.ended(), Some(now));
    assert!(receiver.counters().all(|counters| counters == LayerCounters::default()));
}

#[test]
fn units_that_waited_too_long_at_the_source_are_not_sent() {
    let mut source = LayerSource::new(&PLAN, Rate::from_kbps(RATE_KBPS), SYMBOL, 0.2);
    let mut room = [0; 500];
    source.push(Time::ZERO, &unit(0, 100));
    source.push(Time::ZERO + DEADLINE, &unit(1, 100));
    let length = source.next(Time::ZERO + DEADLINE + Duration::from_ms(60), &mut room);
    let (_, symbol) = Head::split(&room[..length]).unwrap();
    let (head, data) = SymbolHead::split(symbol).unwrap();
    assert_eq!((head.unit, head.start, data.len()), (1, Some(0), 104));
    assert_eq!((source.input().expired, source.input().units), (1, 2));
}

#[test]
fn a_session_of_one_packet_size_has_symbols_that_fit() {
    for (packet, headers) in [(1000, 28), (1500, 28 + 24), (256, 48)] {
        let symbol = symbol_size(Size::from_bytes(packet), headers);
        assert!(
            symbol.is_multiple_of(4) && u32::from(symbol) + 12 + headers < packet && symbol > 12,
            "{packet}: {symbol}"
        );
    }
}

fn head() -> impl Strategy<Value = Head> {
    let source = (0u16..256, 0u16..=256).prop_map(|(index, before)| SymbolId::Source { index, before });
    let repair = (0u16..1 << 15, 1u16..=256).prop_map(|(number, count)| SymbolId::Repair { number, count });
    let symbol = prop_oneof![9 => source, 9 => repair, 1 => Just(SymbolId::End)];
    (any::<u32>(), symbol, any::<u32>()).prop_map(|(block, symbol, sent_us)| Head { block, symbol, sent_us })
}

proptest! {
    #[test]
    fn heads_come_back(head in head(), rest in proptest::collection::vec(any::<u8>(), 0..9)) {
        let payload = [&head.to_bytes()[..], &rest].concat();
        prop_assert_eq!(Head::split(&payload), Ok((head, &rest[..])));
    }

    #[test]
    fn symbol_heads_come_back(
        entered_us in any::<u32>(), unit in any::<u32>(), used in 1u16..400, start in proptest::option::of(0u16..400)
    ) {
        let head = SymbolHead { entered_us, unit, used, start: start.filter(|start| *start < used) };
        let symbol = [&head.to_bytes()[..], &[9; 400]].concat();
        prop_assert_eq!(SymbolHead::split(&symbol), Ok((head, &[9; 400][..usize::from(used)])));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        match Head::split(&bytes) {
            Ok((head, rest)) => prop_assert_eq!(&[&head.to_bytes()[..], rest].concat(), &bytes),
            Err(PayloadError::Length(length)) => prop_assert!(length < Head::BYTES),
            Err(_) => {}
        }
        let _ = SymbolHead::split(&bytes);
        let mut receiver = StreamReceiver::new(&PLAN, SYMBOL, 2);
        receiver.packet(Time::ZERO, 1, &bytes, &mut |_| {});
        receiver.packet(Time::ZERO, 7, &bytes, &mut |_| {});
    }

    /// Whatever is lost, comes twice or in another order: what is delivered is in order, whole and in time, and what is not
    /// is counted. [`run`] asserts the first two.
    #[test]
    fn any_network(
        fates in proptest::collection::vec(
            prop_oneof![
                6 => (0u64..30).prop_map(|ms| vec![ms]),
                1 => Just(Vec::new()),
                1 => (0u64..80, 0u64..300).prop_map(|(one, two)| vec![one, two]),
            ],
            1..200,
        ),
        lengths in proptest::collection::vec(0usize..1500, 1..150),
        share in 0.0..0.5f64,
    ) {
        let network = |number: usize| -> Vec<Duration> {
            fates[number % fates.len()].iter().map(|ms| Duration::from_ms(*ms)).collect()
        };
        let outcome = run(&lengths, Duration::from_ms(12), share, &network);
        let LayerCounters { units, lost, late, .. } = outcome.counters;
        prop_assert_eq!(units as usize, outcome.delivered.len());
        prop_assert!(units + lost + late <= lengths.len() as u64);
        // The fastest packet may have taken longer than the shortest transit, by the jitter of 30 ms at most; or by 80 ms if
        // all come twice.
        let most = DEADLINE + TRANSIT + Duration::from_ms(81);
        prop_assert!(outcome.delivered.iter().all(|(_, delay, _)| *delay <= most));
    }

    /// Forged packets of valid form.
    #[test]
    fn forged_packets_neither_panic_nor_take_memory(
        seeds in proptest::collection::vec((head(), 0u32..400, 0usize..=400, any::<u8>()), 1..400)
    ) {
        let mut receiver = StreamReceiver::new(&PLAN, SYMBOL, 4);
        let mut delivered = 0usize;
        let measured = allocation_counter::measure(|| {
            for round in 0..8u32 {
                for (head, block, length, byte) in &seeds {
                    let head = Head { block: block.wrapping_mul(round + 1), ..*head };
                    let payload = [&head.to_bytes()[..], &vec![*byte; *length]].concat();
                    let now = Time::ZERO + Duration::from_ms(u64::from(round));
                    receiver.packet(now, 0, &payload, &mut |unit| delivered += unit.bytes.len());
                }
            }
        });
        // A quarter of 64 MiB, the blocks of a moment, and the encoder's own.
        prop_assert!(measured.bytes_max < 32 << 20, "{}", measured.bytes_max);
    }
}

#[test]
fn what_nobody_holds_is_dropped_and_what_follows_is_whole() {
    let mut source = LayerSource::new(&PLAN, Rate::from_kbps(RATE_KBPS), SYMBOL, 0.0);
    let mut room = [0; 500];
    let later = Time::ZERO + DEADLINE;
    (0..20).for_each(|number| source.push(later, &unit(number, 300)));
    // The rest of the last symbol waits for more data, a tenth of the deadline.
    let mut now = later;
    while !source.is_done() && source.counters().dropped < 16 {
        now += TICK;
        source.drop_next(now, &mut room);
    }
    let counters = source.counters();
    assert_eq!((counters.dropped, counters.source, counters.repair), (16, 0, 0));
    source.push(now, &unit(20, 300));
    source.finish();
    let (mut receiver, mut delivered) = (StreamReceiver::new(&PLAN, SYMBOL, 1), Vec::new());
    let mut take = |one: Unit<'_>| delivered.push((one.number, one.bytes.to_vec()));
    while !source.is_done() {
        now += TICK;
        let length = source.next(now, &mut room);
        receiver.packet(now, 0, &room[..length], &mut take);
    }
    receiver.finish(now, &mut take);
    assert_eq!(delivered, [(20, unit(20, 300))]);
}
