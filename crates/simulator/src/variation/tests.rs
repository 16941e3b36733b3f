use layercast_core::units::{Duration, Rate, Time};

use super::*;

fn ms(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

fn rate_at(at: u64, kbps: f64) -> LinkChange {
    LinkChange { at: ms(at), rate: Some(Rate::from_kbps(kbps)), ..LinkChange::default() }
}

#[test]
fn impossible_variations_are_refused_with_a_remedy() {
    let check = |variation: LinkVariation| variation.check().unwrap_err();
    let changes = |changes| LinkVariation { changes, ..LinkVariation::default() };
    assert_eq!(check(changes(vec![rate_at(5, 0.0)])), VariationError::ZeroRate { at: ms(5) });
    let unsorted = check(changes(vec![rate_at(5, 1.0), rate_at(4, 1.0)]));
    assert_eq!(unsorted.to_string(), "the change at 4 ms comes after a later one; sort them by time");
    let repeated = LinkVariation { repeat: Some(Duration::from_ms(5)), ..changes(vec![rate_at(5, 1.0)]) };
    assert_eq!(check(repeated), VariationError::Repeat { repeat: Duration::from_ms(5), at: ms(5) });
    let trace = Some(Arc::new(DeliveryTrace::parse("1").unwrap()));
    let both = LinkVariation { trace, ..changes(vec![rate_at(5, 1.0)]) };
    assert_eq!(check(both), VariationError::RateOfTrace { at: ms(5) });
    let outages = |times: &[(u64, u64)]| LinkVariation {
        outages: times.iter().map(|&(start, end)| Outage { start: ms(start), end: ms(end) }).collect(),
        ..LinkVariation::default()
    };
    for wrong in [&[(5, 5)][..], &[(1, 5), (4, 6)], &[(1, 5), (5, 6)]] {
        assert!(matches!(check(outages(wrong)), VariationError::Outage { .. }), "{wrong:?}");
    }
    assert_eq!(outages(&[(1, 5), (6, 7)]).check(), Ok(()));
    assert!(LinkVariation::default().is_nothing() && !outages(&[(1, 2)]).is_nothing());
}

#[test]
fn errors_in_a_trace_name_the_line() {
    let parse = |text: &str| DeliveryTrace::parse(text).map(|trace| trace.times_ms().to_vec());
    assert_eq!(parse("0\n3\r\n 3 \n10\n"), Ok(vec![0, 3, 3, 10]));
    assert_eq!(parse("1\n2.5\n"), Err(TraceError::NotATime { line: 2 }));
    assert_eq!(parse("1\n\n3"), Err(TraceError::NotATime { line: 2 }));
    assert_eq!(parse("1\n3\n2"), Err(TraceError::Falls { line: 3 }));
    assert_eq!(parse(""), Err(TraceError::Empty));
    assert_eq!(parse("0\n0"), Err(TraceError::NoLength));
    assert_eq!(parse(&"1\n".repeat(DeliveryTrace::MOST + 1)), Err(TraceError::TooLong));
    let text = parse("1\n3\n2").unwrap_err().to_string();
    assert_eq!(text, "line 3 is earlier than the line before; sort the times");
}

#[test]
fn a_trace_repeats_from_its_end() {
    // Three opportunities each 10 ms: at 0, 4 and 10, then at 10, 14 and 20.
    let trace = DeliveryTrace::parse("0\n4\n10").unwrap();
    assert!((trace.mean_rate().as_bps() - 3.6e6).abs() < 1e-3);
    let counts: Vec<u64> = [0, 3, 4, 9, 10, 13, 14, 20].map(|at| trace.count_until(ms(at))).to_vec();
    assert_eq!(counts, [1, 1, 2, 2, 4, 4, 5, 7]);
    assert_eq!(trace.count_until(Time::from_ns(3_999_999)), 1);
}
