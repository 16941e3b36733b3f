//! Links driven by a trace of delivery times.

use std::collections::VecDeque;

use super::*;

#[test]
fn golden_deliveries_of_a_trace_counted_by_hand() {
    // Opportunities at 1, 2, 2, 7 and 10 ms, then at 11, 12, 12, 17 and 20 ms, and so on.
    let mut engine = varied(trace("1\n2\n2\n7\n10\n"), QueueConfig::default());
    let offers = [
        (0, 1500),      // all of 1 ms
        (0, 700),       // 2 ms
        (0, 700),       // 2 ms
        (0, 700),       // 100 bytes left of the first of 2 ms, 600 of the second
        (3_000, 1500),  // 7 ms: what was left of 2 ms is gone
        (3_000, 2000),  // 10 ms and 500 bytes of 11 ms
        (3_000, 1000),  // the rest of 11 ms
        (12_000, 40),   // 17 ms: both of 12 ms are gone
        (17_500, 1460), // 20 ms
        (19_000, 4000), // 40 bytes of 20 ms, 1500 of 21 and of 22 ms, 960 of the second of 22 ms
    ];
    let expected = [1, 2, 2, 2, 7, 11, 11, 17, 20, 22];
    let arrived = carry(&mut engine, &offers);
    let at: Vec<(i64, u64)> = expected.iter().zip(0..).map(|(at, seq)| (seq, (at + 5) * 1000)).collect();
    assert_eq!(arrived, at);
    // Until 22 ms: five in each pass of 10 ms, and three more.
    assert_eq!(engine.links[0].capacity_bytes(us(22_000)), Some(13.0 * 1500.0));
}

#[test]
fn a_trace_of_one_opportunity_a_millisecond_is_a_link_of_12_mbps() {
    let mut by_trace = varied(trace("1"), QueueConfig::default());
    let mut by_rate = varied(changes(vec![change(0, Some(12.0), None)]), QueueConfig::default());
    // Half of an opportunity each.
    let offers = [(0, 750); 3000];
    let (trace, rate) = (carry(&mut by_trace, &offers), carry(&mut by_rate, &offers));
    assert_eq!(trace.len(), 3000);
    for (trace, rate) in trace.iter().zip(&rate) {
        // A packet is delivered with the opportunity that its last byte is in: the second half when the
        // link at a rate delivers it too, the first half with it.
        let early = trace.0 % 2 == 0;
        assert_eq!((trace.0, trace.1), (rate.0, rate.1 + if early { 500 } else { 0 }));
    }
}

/// What a link with a trace does, opportunity by opportunity and without events, as mahimahi does it.
fn by_hand(offers: &[(u64, u32)], times_ms: &[u64]) -> Arrived {
    let (mut waiting, mut arrived) = (VecDeque::new(), Vec::new());
    let mut offers = offers.iter().zip(0..).peekable();
    let length = times_ms[times_ms.len() - 1];
    let mut times = (0..).flat_map(|pass| times_ms.iter().map(move |time| (pass * length + time) * 1000));
    while offers.peek().is_some() || !waiting.is_empty() {
        let (time, mut left) = (times.next().unwrap(), 1500);
        while let Some((&(_, bytes), seq)) = offers.next_if(|((at, _), _)| *at < time) {
            waiting.push_back((seq, bytes));
        }
        while left > 0
            && let Some((seq, missing)) = waiting.front_mut()
        {
            let used = left.min(*missing);
            (left, *missing) = (left - used, *missing - used);
            if *missing == 0 {
                arrived.push((*seq, time + 5_000));
                waiting.pop_front();
            }
        }
    }
    arrived
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any load on any trace is delivered as counted by hand.
    #[test]
    fn a_trace_does_what_a_count_by_hand_says(
        gaps in prop::collection::vec((0u64..3000, 1u32..4000), 1..100),
        // Whole milliseconds too, where packets coincide with opportunities.
        whole in any::<bool>(),
        steps in prop::collection::vec(0u64..5, 1..12),
    ) {
        let mut at = 0;
        let offers: Vec<(u64, u32)> = gaps.iter().map(|&(gap, bytes)| {
            at += if whole { gap / 1000 * 1000 } else { gap };
            (at, bytes)
        }).collect();
        let mut end = 0;
        let mut times: Vec<u64> = steps.iter().map(|step| { end += step; end }).collect();
        times.push(end + 1);
        let lines: Vec<String> = times.iter().map(u64::to_string).collect();
        let mut engine = varied(trace(&lines.join("\n")), QueueConfig::default());
        prop_assert_eq!(carry(&mut engine, &offers), by_hand(&offers, &times));
    }
}
