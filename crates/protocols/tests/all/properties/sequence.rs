use std::collections::BTreeSet;

use layercast_core::units::{Duration, Layer, Time, WireSeq};
use layercast_kit::estimator::{ArrivalClass, SendTime, SequenceTracker};
use proptest::prelude::*;

/// The order in which packets arrive: some lost, some delayed by a few places, some twice.
fn arrivals() -> impl Strategy<Value = Vec<u32>> {
    let fate = (0..10u32, 0..6u32, 0..10u32);
    prop::collection::vec(fate, 1..400).prop_map(|fates| {
        let mut places = Vec::new();
        for (number, (loss, delay, copy)) in fates.into_iter().enumerate() {
            let number = number as u32;
            if loss > 0 || number == 0 {
                // The first packet defines the start, so it is not delayed.
                let delay = if number == 0 { 0 } else { delay };
                places.push((number * 2 + delay, number));
                if copy == 0 {
                    places.push((number * 2 + delay + 5, number));
                }
            }
        }
        places.sort();
        places.into_iter().map(|(_, number)| number).collect()
    })
}

proptest! {
    /// What is declared lost is exactly what a definition by counting says.
    #[test]
    fn losses_are_what_the_definition_says(arrivals in arrivals(), reorder in 1..5u32, start in any::<u32>()) {
        let mut tracker = SequenceTracker::new(Layer::BASE, reorder, 1000);
        let (mut seen, mut lost) = (BTreeSet::new(), BTreeSet::new());
        for &number in &arrivals {
            let wire = WireSeq(start.wrapping_add(number));
            let sent = SendTime::from_us(u64::from(number) * 1000);
            let mut declared = Vec::new();
            let (_, class) = tracker.on_packet(wire, sent, Time::ZERO, |packet| {
                declared.push((packet.seq.0 as u32).wrapping_sub(start));
                // Stamps are even, so interpolation is exact.
                let number = (packet.seq.0 as u32).wrapping_sub(start);
                assert_eq!(packet.sent.as_us(), u64::from(number) * 1000);
            });
            let expected = match (seen.contains(&number), lost.contains(&number)) {
                (true, _) => ArrivalClass::Duplicate,
                (false, true) => ArrivalClass::Late,
                (false, false) if seen.is_empty() => ArrivalClass::First,
                (false, false) => ArrivalClass::New,
            };
            prop_assert_eq!(class, expected, "number {}", number);
            seen.insert(number);
            // A number is lost if it has not arrived and enough higher ones have.
            let newest = *seen.last().unwrap();
            let is_missing = |number: &u32| !seen.contains(number) && !lost.contains(number);
            let is_lost = |number: &u32| seen.range(number..).count() >= reorder as usize;
            let due: Vec<u32> = (0..newest).filter(is_missing).filter(is_lost).collect();
            prop_assert_eq!(&declared, &due);
            lost.extend(due);
        }
        let counts = tracker.counts();
        prop_assert_eq!(counts.lost, lost.len() as u64);
        prop_assert_eq!(counts.received + counts.late + counts.duplicates, arrivals.len() as u64);
    }

    #[test]
    fn hostile_numbers_do_no_harm(
        packets in prop::collection::vec((any::<u32>(), any::<u64>(), any::<bool>()), 0..200),
        reorder in 0..200u32,
        max_gap in 0..3000u32,
    ) {
        let mut tracker = SequenceTracker::new(Layer::BASE, reorder, max_gap);
        let mut near = 0u32;
        for (number, us, is_near) in packets {
            near = if is_near { near.wrapping_add(number % 2048).wrapping_sub(1024) } else { number };
            let mut declared = 0u64;
            let (sent, now) = (SendTime::from_us(us), Time::from_ns(us));
            tracker.on_packet(WireSeq(near), sent, now, |_| declared += 1);
            prop_assert!(declared <= u64::from(max_gap.max(1)) * u64::from(reorder.clamp(1, 100)));
        }
        tracker.expire(Time::MAX, Duration::ZERO, |_| ());
        prop_assert_eq!(tracker.missing(), 0);
    }
}
