//! ELM's endpoints keep the contract, whatever their inputs; its headers survive encoding.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use crate::plan::{receiver, source};
use layercast_core::contract::{Arrival, Ecn, Origin, Peer};
use layercast_core::lct::Cci;
use layercast_core::units::{Channel, Duration, Level, Size, Time, WireSeq};
use layercast_core::wire::{MAX_REPORT, Wire as _, WireNumbers};
use layercast_protocols::elm::header::{
    Base, Data, Echo, HeaderError, ReceiverId, Report, TableEntry, WireRate,
};
use layercast_protocols::elm::options::{SilentLayer, Strategy as ElmStrategy};
use layercast_protocols::elm::{Header, Options};
use layercast_testkit::{Operation, cases, check_endpoint, check_source};
use proptest::prelude::*;

const SIZE: Size = Size::from_bytes(1000);

fn receiver_id() -> impl Strategy<Value = ReceiverId> {
    (1..=u64::MAX).prop_map(|id| ReceiverId(NonZeroU64::new(id).expect("not zero")))
}

fn base(layer_count: u8) -> impl Strategy<Value = Base> {
    let echo = proptest::option::of((receiver_id(), any::<u32>(), any::<u32>()));
    (any::<u32>(), 0..layer_count, 1..=u32::MAX, echo).prop_map(
        |(feedback_interval_ms, layer, rate, echo)| {
            let echo = echo.map(|(receiver, timestamp_us, hold_us)| Echo { receiver, timestamp_us, hold_us });
            Base { feedback_interval_ms, entry: TableEntry { layer, rate: WireRate(rate) }, echo }
        },
    )
}

fn data() -> impl Strategy<Value = Data> {
    (1u8..=32).prop_flat_map(|layer_count| {
        (any::<u32>(), 0..layer_count, any::<bool>(), any::<u32>(), any::<u32>(), base(layer_count)).prop_map(
            move |(session, layer, end_of_session, seq, timestamp_us, base)| Data {
                session,
                layer,
                layer_count,
                end_of_session,
                seq: WireSeq(seq),
                timestamp_us,
                base: (layer == 0).then_some(base),
            },
        )
    })
}

fn report() -> impl Strategy<Value = Report> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let newest = proptest::option::of((any::<u32>(), any::<u32>()));
    (flags, numbers, receiver_id(), 0u8..=32, newest).prop_map(
        |(flags, numbers, receiver, layers, newest)| Report {
            session: numbers.0,
            receiver,
            timestamp_us: numbers.1,
            has_rtt: flags.0,
            in_slow_start: flags.1,
            leaving: flags.2,
            layer_count: layers,
            loss: numbers.2,
            rate: WireRate(numbers.3),
            rtt_us: numbers.4,
            newest,
        },
    )
}

fn header() -> impl Strategy<Value = Header> {
    prop_oneof![data().prop_map(Header::Data), report().prop_map(Header::Report)]
}

/// Headers that are correct in some fields and arbitrary in others.
fn hostile() -> impl Strategy<Value = Header> {
    let seven_layers =
        (data(), any::<[bool; 6]>(), 0u8..40, 0u8..40).prop_map(|(mut data, keep, layer, count)| {
            if keep[0] {
                data.session = 5;
            }
            if keep[1] {
                data.layer_count = 7;
            }
            if keep[2] {
                data.end_of_session = false;
            }
            if keep[3] {
                data.layer = layer;
            }
            if keep[4] {
                data.layer_count = count;
            }
            if keep[5] {
                data.seq = WireSeq(data.seq.0 % 64);
            }
            Header::Data(data)
        });
    prop_oneof![4 => seven_layers, 1 => header()]
}

fn operation() -> impl Strategy<Value = Operation<Header>> {
    let forged = (hostile(), 0u16..8, any::<bool>()).prop_map(|(header, channel, unicast)| {
        let origin = if unicast { Origin::Peer(Peer(0)) } else { Origin::Channel(Channel(channel)) };
        Operation::Forged(Arrival { origin, size: SIZE, ecn: Ecn::NotCapable, header })
    });
    prop_oneof![
        6 => (0u64..2_000_000).prop_map(|us| Operation::Wait(Duration::from_us(us))),
        1 => (0u64..30).prop_map(|s| Operation::Wait(Duration::from_secs(s))),
        20 => Just(Operation::Packet),
        3 => (0u16..50).prop_map(Operation::Lose),
        1 => (900u16..1200).prop_map(Operation::Lose),
        2 => Just(Operation::Duplicate),
        1 => Just(Operation::Mark),
        4 => forged,
        1 => Just(Operation::Timer),
        1 => Just(Operation::JoinFailed),
        1 => (0u16..8).prop_map(|channel| Operation::SendRefused(Channel(channel))),
        1 => (0u16..12).prop_map(|count| Operation::Demand(Level::from_count(count))),
        1 => Just(Operation::DataExhausted),
        1 => Just(Operation::DataAvailable),
        1 => Just(Operation::Finish),
    ]
}

/// Packets of a seven-layer source for a receiver: one layer after the other, all of them known.
fn stream_of_data(id: ReceiverId) -> impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<Header>> {
    let mut sent = [0u32; 7];
    let mut turn = 0usize;
    move |now, held| {
        turn = (turn + 1) % 7;
        // A few packets of layers that are not held come too, as they do after a leave.
        let layer = if held.contains(&Channel(turn as u16)) || turn == 6 { turn } else { 0 };
        sent[layer] += 1;
        let entry = TableEntry { layer: layer as u8, rate: WireRate(160) };
        let timestamp_us = now.as_wire_us().wrapping_sub(70_000);
        let echo = sent[0].is_multiple_of(10).then_some(Echo { receiver: id, timestamp_us, hold_us: 10_000 });
        let base = Base { feedback_interval_ms: 300, entry, echo };
        let header = Header::Data(Data {
            session: 5,
            layer: layer as u8,
            layer_count: 7,
            end_of_session: false,
            seq: WireSeq(sent[layer]),
            timestamp_us: now.as_wire_us(),
            base: (layer == 0).then_some(base),
        });
        let origin = Origin::Channel(Channel(layer as u16));
        Some(Arrival { origin, size: SIZE, ecn: Ecn::Capable, header })
    }
}

/// The wire numbers of ELM.
const REPORT: u8 = 0x12;
const NUMBERS: WireNumbers = WireNumbers { extensions: &[80], report: Some(REPORT) };

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(192), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_receiver_keeps_the_contract(
        operations in proptest::collection::vec(operation(), 0..300),
        strategy in prop_oneof![Just(ElmStrategy::Naive), Just(ElmStrategy::Skeptical), Just(ElmStrategy::Lazy)],
        reorder in 1u32..4,
        slow_start in any::<bool>(),
        keep_silent in any::<bool>(),
    ) {
        let join_silent = if keep_silent { SilentLayer::Keep } else { SilentLayer::Leave };
        let options = Options {
            strategy, reorder, slow_start, join_silent, robust_feedback: slow_start, ..Options::default()
        };
        check_endpoint(|| receiver(&options, 3), stream_of_data(receiver(&options, 3).id()), &operations);
    }

    #[test]
    fn a_source_keeps_the_contract(
        operations in proptest::collection::vec(operation(), 0..60),
        reports in proptest::collection::vec(report(), 1..20),
    ) {
        let options = Options::default();
        let session = source(&options).session();
        let mut turn = 0;
        let traffic = move |_: Time, _: &BTreeSet<Channel>| {
            turn += 1;
            let header = Header::Report(Report { session, ..reports[turn % reports.len()] });
            Some(Arrival { origin: Origin::Peer(Peer(1)), size: SIZE, ecn: Ecn::NotCapable, header })
        };
        let short = |operation: &Operation<Header>| match operation {
            Operation::Wait(span) => Operation::Wait(Duration::from_ns(span.as_ns() / 10)),
            other => other.clone(),
        };
        let operations: Vec<_> = operations.iter().map(short).collect();
        check_source(|| source(&options), traffic, &operations);
    }

    #[test]
    fn headers_survive_the_wire(header in header(), rest in proptest::collection::vec(any::<u8>(), 0..20)) {
        if let Some(fields) = header.to_lct(&NUMBERS) {
            prop_assert_eq!(Header::from_lct(&fields, &NUMBERS), Ok(header));
            return Ok(());
        }
        let mut room = [0; MAX_REPORT];
        let length = header.encode_report(REPORT, &mut room).expect("it is data or a report");
        let mut bytes = room[..length].to_vec();
        bytes.extend(rest);
        prop_assert_eq!(Header::decode_report(REPORT, &bytes), Some(Ok(header)));
        let cut = Header::decode_report(REPORT, &bytes[..length - 1]);
        prop_assert!(matches!(cut, Some(Err(HeaderError::Truncated { .. }))), "{:?}", cut);
    }

    #[test]
    fn any_bytes_are_decoded_or_rejected(mut bytes in proptest::collection::vec(any::<u8>(), 0..60), ours: bool) {
        if let Some(first) = bytes.first_mut().filter(|_| ours) {
            *first = REPORT;
        }
        if let Some(Ok(header)) = Header::decode_report(REPORT, &bytes) {
            // An accepted header comes back the same; reserved bits may differ.
            let mut room = [0; MAX_REPORT];
            let length = header.encode_report(REPORT, &mut room).expect("a report");
            prop_assert_eq!(Header::decode_report(REPORT, &room[..length]), Some(Ok(header)));
        }
    }
}

#[test]
fn headers_have_the_documented_bytes() {
    let echo = Echo {
        receiver: ReceiverId(NonZeroU64::new(0x0102_0304_0506_0708).expect("not zero")),
        timestamp_us: 9,
        hold_us: 10,
    };
    let entry = TableEntry { layer: 3, rate: WireRate(0x0A0B) };
    let base = Base { feedback_interval_ms: 1000, entry, echo: Some(echo) };
    let data = Data {
        session: 0xAABB_CCDD,
        layer: 0,
        layer_count: 7,
        end_of_session: true,
        seq: WireSeq(5),
        timestamp_us: 6,
        base: Some(base),
    };
    let fields = Header::Data(data).to_lct(&NUMBERS).expect("data");
    assert_eq!((fields.cci, fields.session), (Cci::Short([0, 0, 0, 5]), Some(0xAABB_CCDD)));
    assert!(fields.end_of_session);
    let expected = [
        0, 7, 0, 0, 0, 6, 0, 0, 3, 0xE8, 3, 0, 0, 0, 0, 0, 0x0A, 0x0B, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 0,
        0, 0, 10,
    ];
    assert_eq!(fields.extension.content(), expected);
    assert_eq!(Header::decode_report(REPORT, &[0x13]), Some(Err(HeaderError::Kind(0x13))));
    assert_eq!(Header::decode_report(REPORT, &[]), Some(Err(HeaderError::Truncated { need: 1, have: 0 })));
}

#[test]
fn headers_stay_small() {
    assert!(size_of::<Header>() <= 56, "{}", size_of::<Header>());
}
