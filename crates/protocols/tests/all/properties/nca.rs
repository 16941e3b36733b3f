//! NCA's endpoints keep the contract whatever numbers arrive.

use layercast_core::contract::{Arrival, ChildLink, Ecn, Origin, Peer};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time, WireSeq};
use layercast_protocols::nca::{
    Ack, Answer, Candidate, Data, Header, MAX_HEADER, Nack, Options, Receiver, Report, Router, Source,
    WireError,
};
use layercast_testkit::{Operation, check_endpoint, check_source};
use proptest::prelude::*;

/// A number near those that are in use, or any.
fn seq() -> impl Strategy<Value = WireSeq> {
    prop_oneof![4 => 0u32..300, 1 => any::<u32>()].prop_map(WireSeq)
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![4 => 0u64..20_000_000_000, 1 => any::<u64>()].prop_map(Time::from_ns)
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![4 => 0u64..2_000_000_000, 1 => any::<u64>()].prop_map(Duration::from_ns)
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let loss = prop_oneof![4 => 0.0f64..1.0, 1 => any::<f64>()];
    (0u32..3, loss, span()).prop_map(|(id, loss, rtt)| Candidate { id, loss, rtt })
}

fn data() -> impl Strategy<Value = Data> {
    let fields = (seq(), proptest::option::of(seq()), proptest::option::of(0u32..3), time());
    fields.prop_map(|(seq, released, nominee, sent)| Data { seq, released, nominee, sent })
}

fn header() -> impl Strategy<Value = Header> {
    prop_oneof![
        4 => data().prop_map(Header::Data),
        2 => data().prop_map(Header::Repair),
        2 => (proptest::option::of(candidate()), seq())
            .prop_map(|(worst, complete)| Header::Report(Report { worst, complete })),
        2 => (candidate(), seq(), time())
            .prop_map(|(nominee, complete, echo)| Header::Ack(Ack { nominee, complete, echo })),
        2 => (seq(), any::<u32>()).prop_map(|(first, more)| Header::Nack(Nack { first, more })),
        1 => time().prop_map(Header::Heartbeat),
        1 => (time(), span()).prop_map(|(echo, rtt)| Header::Answer(Answer { echo, rtt })),
    ]
}

fn operation() -> impl Strategy<Value = Operation<Header>> {
    let origin = prop_oneof![
        3 => Just(Origin::Channel(Channel(0))),
        3 => (0u16..70, 0u32..5).prop_map(|(link, peer)| Origin::Child(ChildLink(link), Peer(peer))),
        1 => (0u32..5).prop_map(|peer| Origin::Peer(Peer(peer))),
    ];
    let size = Size::from_bytes(1000);
    let forged = (origin, header()).prop_map(move |(origin, header)| {
        Operation::Forged(Arrival { origin, size, ecn: Ecn::NotCapable, header })
    });
    prop_oneof![
        20 => forged,
        4 => (0u64..500).prop_map(|ms| Operation::Wait(Duration::from_ms(ms))),
        1 => Just(Operation::DataExhausted),
        1 => Just(Operation::DataAvailable),
        1 => Just(Operation::Finish),
        1 => Just(Operation::JoinFailed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_leave_the_contract_whole(operations in proptest::collection::vec(operation(), 0..200)) {
        let layers = LayerTable::from_rates([Rate::from_mbps(1.0)]).expect("a layer");
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options { buffer: 64, cache: 64, ..Options::default() };
        let stream = || Stream::new(1, "nca");
        check_source(|| Source::new(&options, plan.clone(), stream()), |_, _| None, &operations);
        check_endpoint(|| Router::new(&options, plan.clone(), stream()), |_, _| None, &operations);
        check_endpoint(|| Receiver::new(&options, plan.clone(), stream()), |_, _| None, &operations);
    }

    #[test]
    fn packets_come_back_from_their_bytes(
        header in header(), payload in proptest::collection::vec(any::<u8>(), 0..60), before in 0usize..9,
    ) {
        let payload = if header.data_seq().is_some() { payload } else { Vec::new() };
        let candidate = match header {
            Header::Report(report) => report.worst,
            Header::Ack(ack) => Some(ack.nominee),
            _ => None,
        };
        let mut bytes = vec![7; before];
        let written = header.encode(&payload, &mut bytes);
        if candidate.is_some_and(|candidate| !(0.0..=1.0).contains(&candidate.loss) || candidate.loss.is_sign_negative()) {
            prop_assert_eq!(written, Err(WireError::Loss));
            prop_assert_eq!(bytes.len(), before);
            return Ok(());
        }
        prop_assert_eq!(written, Ok(()));
        prop_assert!(bytes.len() <= before + MAX_HEADER + payload.len());
        let packet = &bytes[before..];
        prop_assert_eq!(Header::decode(packet), Ok((header, &payload[..])));
        for length in 0..packet.len() {
            prop_assert!(Header::decode(&packet[..length]).is_err());
        }
    }

    #[test]
    fn flipped_bits_are_found(header in header(), flips in proptest::collection::btree_set(0usize..320, 1..4)) {
        let mut bytes = Vec::new();
        prop_assume!(header.encode(&[], &mut bytes).is_ok());
        let bits = bytes.len() * 8;
        let flips: Vec<usize> = flips.into_iter().filter(|&bit| bit < bits).collect();
        for bit in &flips {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        prop_assert!(flips.is_empty() || Header::decode(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = Header::decode(&bytes);
        let _ = layercast_protocols::active::decode(&bytes);
    }

    /// Bytes with a valid checksum are decoded or rejected, and decoded headers encode to the same bytes.
    #[test]
    fn bytes_with_a_right_checksum_are_read_or_refused(
        mut bytes in proptest::collection::vec(any::<u8>(), 8..60), kind in 0u8..8, loss in 0.0f64..1.0, has_loss in any::<bool>(),
    ) {
        let flags = bytes[1] & 3;
        bytes[..4].copy_from_slice(&[16 | kind, flags, 0, 2]);
        bytes[4..8].fill(0);
        if has_loss && bytes.len() >= 24 {
            bytes[16..24].copy_from_slice(&loss.to_bits().to_be_bytes());
        }
        let mut remainder = u32::MAX;
        for byte in &bytes {
            remainder ^= u32::from(*byte);
            for _ in 0..8 {
                remainder = if remainder & 1 == 1 { remainder >> 1 ^ 0xedb8_8320 } else { remainder >> 1 };
            }
        }
        bytes[4..8].copy_from_slice(&(!remainder).to_be_bytes());
        let read = Header::decode(&bytes);
        prop_assert!(!matches!(read, Err(WireError::Checksum | WireError::Version(_) | WireError::Service(_))));
        if let Ok((header, payload)) = read {
            let mut again = Vec::new();
            prop_assert_eq!(header.encode(payload, &mut again), Ok(()));
            prop_assert_eq!(again, bytes);
        }
    }
}
