use layercast_core::units::{Duration, Size, Time, WireSeq};
use layercast_protocols::amca::estimates::{
    Summary, backlog, packets_per_report, queue_estimate, repair_gap_s, rtt_variation_us, unacknowledged,
};
use layercast_protocols::amca::{
    Answer, Body, Control, Data, Header, MAX_HEADER, Nack, Options, Report, Rules, Step,
};
use proptest::prelude::*;

fn seq() -> impl Strategy<Value = WireSeq> {
    any::<u32>().prop_map(WireSeq)
}

prop_compose! {
    fn data()(
        seq in seq(), group_lo in seq(), rate_bps in any::<u64>(),
        is_repair in any::<bool>(), is_last in any::<bool>(), is_literal in any::<bool>(),
    ) -> Data {
        Data { seq, group_lo, rate_bps, is_repair, is_last, is_literal }
    }
}

prop_compose! {
    fn nack()(
        seq in seq(), lo in seq(), lr in seq(), max_seq in seq(),
        rtt_to_source_us in any::<u32>(), rtt_to_parent_us in any::<u32>(),
    ) -> Nack {
        Nack { seq, lo, lr, max_seq, rtt_to_source_us, rtt_to_parent_us }
    }
}

prop_compose! {
    fn report()(
        lo in seq(), lr in seq(), max_seq in seq(), times in any::<[u32; 4]>(), rtt_var_us in any::<i32>(),
        count in any::<u16>(), serial in any::<u32>(), is_marked in any::<bool>(),
    ) -> Report {
        let [rtt_to_source_us, rtt_to_parent_us, rtt_min_us, period_us] = times;
        Report {
            lo, lr, max_seq, rtt_to_source_us, rtt_to_parent_us, rtt_min_us, period_us, rtt_var_us, count, serial,
            is_marked,
        }
    }
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        data().prop_map(Body::Data),
        nack().prop_map(Body::Nack),
        report().prop_map(Body::Report),
        any::<u64>().prop_map(|sent_ns| Body::Heartbeat { sent_ns }),
        (any::<u64>(), any::<u32>(), any::<bool>()).prop_map(
            |(echo_ns, rtt_to_source_us, is_from_source)| {
                Body::Answer(Answer { echo_ns, rtt_to_source_us, is_from_source })
            }
        ),
    ]
}

fn packet() -> impl Strategy<Value = (Header, Vec<u8>)> {
    let payload = prop::collection::vec(any::<u8>(), 0..60);
    (any::<u32>(), any::<u32>(), body(), payload).prop_map(|(session, originator, body, payload)| {
        let payload = if matches!(body, Body::Data(_)) { payload } else { Vec::new() };
        (Header { session, originator, body }, payload)
    })
}

fn summary() -> impl Strategy<Value = Summary> {
    (any::<[u64; 3]>(), any::<[u32; 3]>(), any::<i32>(), any::<u16>(), any::<bool>()).prop_map(
        |([below, end, limit], [rtt_max_us, rtt_min_us, period_us], var, count, is_marked)| {
            let rtt_var_us = i64::from(var);
            Summary { below, end, limit, rtt_max_us, rtt_min_us, period_us, rtt_var_us, count, is_marked }
        },
    )
}

proptest! {
    #[test]
    fn packets_come_back_from_their_bytes((header, payload) in packet(), before in 0usize..9) {
        let mut bytes = vec![7; before];
        header.encode(&payload, &mut bytes).unwrap();
        prop_assert!(bytes.len() <= before + MAX_HEADER + payload.len());
        let packet = &bytes[before..];
        prop_assert_eq!(Header::decode(packet), Ok((header, &payload[..])));
        for length in 0..packet.len() {
            prop_assert!(Header::decode(&packet[..length]).is_err());
        }
    }

    /// The checksum detects up to three flipped bits in packets of this length, and no flip causes a panic.
    #[test]
    fn flipped_bits_are_found((header, payload) in packet(), flips in prop::collection::btree_set(0usize..480, 1..4)) {
        let mut bytes = Vec::new();
        header.encode(&payload, &mut bytes).unwrap();
        let bits = bytes.len() * 8;
        let flips: std::collections::BTreeSet<usize> = flips.into_iter().filter(|&bit| bit < bits).collect();
        for bit in &flips {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        prop_assert!(flips.is_empty() || Header::decode(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Header::decode(&bytes);
    }

    /// Bytes with a valid checksum are decoded or rejected, and decoded headers encode to the same bytes.
    #[test]
    fn bytes_with_a_right_checksum_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 16..80), kind in 0u8..7) {
        let flags = bytes[1] & 15;
        bytes[..4].copy_from_slice(&[16 | kind, flags, 0, 1]);
        bytes[12..16].fill(0);
        let mut remainder = u32::MAX;
        for byte in &bytes {
            remainder ^= u32::from(*byte);
            for _ in 0..8 {
                remainder = if remainder & 1 == 1 { remainder >> 1 ^ 0xedb8_8320 } else { remainder >> 1 };
            }
        }
        bytes[12..16].copy_from_slice(&(!remainder).to_be_bytes());
        if let Ok((header, payload)) = Header::decode(&bytes) {
            let mut again = Vec::new();
            header.encode(payload, &mut again).unwrap();
            prop_assert_eq!(again, bytes);
        }
    }

    #[test]
    fn a_payload_without_place_is_refused(nack in nack(), length in 1usize..9) {
        let header = Header { session: 1, originator: 2, body: Body::Nack(nack) };
        let mut bytes = vec![1];
        prop_assert!(header.encode(&vec![0; length], &mut bytes).is_err());
        prop_assert_eq!(bytes, [1]);
    }

    /// Specification, 7.6: gamma (1 + variation / period) = 1, and the growth per packet is in [0, 1) where the
    /// round-trip time grows.
    #[test]
    fn gamma_and_growth_belong_together(period_s in 1e-6..600.0, var_s in -10.0..10.0f64) {
        let estimate = queue_estimate(period_s, var_s, 2.0);
        prop_assert!((0.0..=2.0).contains(&estimate.gamma));
        match estimate.growth {
            None => prop_assert!(period_s + var_s <= 0.0 && estimate.gamma == 2.0),
            Some(growth) => {
                prop_assert!(growth < 1.0 && (growth >= 0.0) == (var_s >= 0.0));
                if estimate.gamma < 2.0 {
                    prop_assert!((estimate.gamma * (1.0 + var_s / period_s) - 1.0).abs() < 1e-9);
                    prop_assert!((1.0 - estimate.gamma - growth).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn counts_are_never_negative(sent in any::<u64>(), acknowledged in any::<i64>(), rate in 0.0..1e12, rtt in 0.0..100.0) {
        prop_assert!(unacknowledged(sent, acknowledged) >= 0.0);
        prop_assert!(backlog(sent, rate, rtt, 8192.0) >= 0.0);
        let every = packets_per_report(32, rate, 8192.0, 2.0);
        prop_assert!((1..=32).contains(&every));
        prop_assert!(repair_gap_s(rate, 8192.0, sent % 1000).is_finite());
    }

    #[test]
    fn a_section_varies_by_what_two_samples_say(
        old_us in 0u64..1_000_000, new_us in 0u64..1_000_000, apart_ms in 0u64..5000, period_ms in 1u64..5000,
    ) {
        let (older, newer) = (Duration::from_us(old_us), Duration::from_us(new_us));
        let (apart, period) = (Duration::from_ms(apart_ms), Duration::from_ms(period_ms));
        let variation = rtt_variation_us(older, newer, apart, period);
        let outside = 4 * apart_ms < period_ms || apart_ms > 4 * period_ms;
        prop_assert!(!outside || variation == 0);
        let largest = (old_us.abs_diff(new_us) * 4 + 1) as i64;
        prop_assert!(variation.abs() <= largest);
        prop_assert!(variation == 0 || (variation > 0) == (new_us > old_us));
    }

    /// The order in which reports are aggregated makes no difference, and one alone is unchanged.
    #[test]
    fn summaries_know_no_order(reports in prop::collection::vec(summary(), 1..8)) {
        let forward = reports.iter().copied().reduce(Summary::with);
        let backward = reports.iter().rev().copied().reduce(Summary::with);
        prop_assert_eq!(forward, backward);
        prop_assert_eq!(reports[0].with(reports[0]), reports[0]);
    }

    /// Whatever is reported, the rate stays in its bounds; it does not move without a report.
    #[test]
    fn the_rate_keeps_its_bounds(steps in prop::collection::vec(
        (0u8..4, 1e-6..600.0, -10.0..10.0f64, 0.0..100.0, prop::option::of(0.0..10.0), any::<bool>(), 0u64..3000), 0..200,
    ), restart_after_cut in any::<bool>(), alpha_hold in any::<bool>(), ce_counts in any::<bool>()) {
        let options = Options { rate_max: 500.0, restart_after_cut, alpha_hold, ce_counts, ..Options::default() };
        let mut control = Control::new(Rules::new(&options, Size::from_bytes(1024)));
        let mut now = Time::ZERO;
        for (kind, period_s, rtt_var_s, unacknowledged, rtt_max_s, is_marked, wait_ms) in steps {
            now += Duration::from_ms(wait_ms);
            let before = control.rate();
            match kind {
                0 => control.on_nack(now, unacknowledged as u64, Duration::from_ms(100)),
                1 if unacknowledged < 5.0 => control.on_silence(),
                _ => control.on_report(now, Step { period_s, rtt_var_s, unacknowledged, received_bps: None, rtt_max_s, is_marked }),
            }
            prop_assert!((8192.0..=500.0 * 8192.0).contains(&control.rate().as_bps()));
            if kind == 0 {
                prop_assert!(control.rate() == before || control.rate().as_bps() <= (before.as_bps() / 2.0).max(8192.0));
            }
        }
    }
}
