//! Packets: what is written is read again, and any input is read or rejected, never a panic.

use std::num::NonZeroU64;

use layercast_core::family::AnyHeader as _;
use layercast_core::lct::LONG_CCI;
use layercast_core::units::{Channel, Duration, Layer, Level, WireSeq};
use layercast_delivery::packet::{
    Completion, Demand, EXPONENT_MAX, Fdt, Fti, MAX_HEADER, NotOurs, PacketError, PayloadId, Poll,
    REPORT_BYTES, ReceptionReport, Refusal, Repr, View,
};
use layercast_protocols::elm::header::{Base, Data, Echo, ReceiverId, TableEntry, WireRate};
use layercast_protocols::registry::Header;
use layercast_protocols::{elm, fixed, rlc, webrc};
use proptest::prelude::*;

fn echo() -> impl Strategy<Value = Echo> {
    (1u64.., any::<u32>(), any::<u32>()).prop_map(|(receiver, timestamp_us, hold_us)| Echo {
        receiver: ReceiverId(NonZeroU64::new(receiver).unwrap()),
        timestamp_us,
        hold_us,
    })
}

fn elm_header() -> impl Strategy<Value = Header> {
    let base = (any::<u32>(), any::<u8>(), 1u32.., proptest::option::of(echo()));
    let numbers = (any::<u32>(), any::<bool>(), any::<u32>(), any::<u32>());
    (1u8..=32, any::<u8>(), numbers, base).prop_map(|(layer_count, layer, numbers, base)| {
        let layer = layer % layer_count;
        let (session, end_of_session, seq, timestamp_us) = numbers;
        let (feedback_interval_ms, entry, rate, echo) = base;
        let entry = TableEntry { layer: entry % layer_count, rate: WireRate(rate) };
        let base = (layer == 0).then_some(Base { feedback_interval_ms, entry, echo });
        let seq = WireSeq(seq);
        let data = Data { session, layer, layer_count, end_of_session, seq, timestamp_us, base };
        Header::Elm(elm::Header::Data(data))
    })
}

fn rlc_header() -> impl Strategy<Value = Header> {
    (any::<u8>(), any::<u16>(), any::<bool>(), any::<u8>(), any::<u32>(), any::<[u8; 2]>()).prop_map(
        |(layer, seq, is_point, copy, point, burst)| {
            let burst_length = burst[0].max(burst[1]);
            Header::Rlc(rlc::Header {
                layer,
                seq,
                is_point,
                copy: if is_point { copy } else { 0 },
                point: WireSeq(point),
                burst_place: if is_point { 0 } else { burst[0].min(burst[1]) },
                burst_length,
            })
        },
    )
}

fn fixed_header() -> impl Strategy<Value = Header> {
    (any::<u16>(), any::<u32>())
        .prop_map(|(layer, seq)| Header::Fixed(fixed::Header { layer: Layer(layer), seq: WireSeq(seq) }))
}

fn webrc_header() -> impl Strategy<Value = Header> {
    let numbers = (any::<u16>(), any::<u16>(), any::<u32>());
    (any::<bool>(), 1u16..1000, numbers, any::<bool>()).prop_map(|(is_long, cycle, numbers, end)| {
        let (slot, channel, number) = numbers;
        let cycle = if is_long { cycle } else { 1 + cycle % 255 };
        Header::Webrc(webrc::Header {
            slot: slot % cycle,
            channel: Channel(channel % (cycle + 1)),
            number: if is_long { number } else { number & 0xffff },
            cycle,
            is_long,
            end_of_session: end,
        })
    })
}

fn poll() -> impl Strategy<Value = Poll> {
    (any::<u8>(), 0..=EXPONENT_MAX, any::<u8>(), any::<u16>(), 0u64..255).prop_map(
        |(number, all, slow, floor, left)| {
            Poll::new(number, all, slow, floor).with_left(Duration::from_ms(20 * left))
        },
    )
}

fn reception_report() -> impl Strategy<Value = ReceptionReport> {
    let flags = any::<[bool; 3]>();
    let numbers = (any::<u32>(), 1u64.., any::<u8>(), 0..=EXPONENT_MAX, any::<u16>(), 0u16..256);
    let known = (proptest::option::of(0u16..=1000), proptest::option::of(0u16..65_535));
    (flags, numbers, known, any::<u32>(), any::<u32>()).prop_map(
        |(flags, numbers, known, objects, failed)| {
            let (tsi, receiver, poll, exponent, share, level) = numbers;
            ReceptionReport {
                tsi,
                receiver: NonZeroU64::new(receiver).unwrap(),
                poll,
                exponent,
                is_complete: flags[0],
                is_leaving: flags[1],
                disk_fails: flags[2],
                share,
                level: Level::from_count(level),
                lost: known.0,
                left_s: known.1,
                objects,
                failed,
            }
        },
    )
}

fn repr() -> impl Strategy<Value = (Header, Repr)> {
    let header = prop_oneof![3 => elm_header(), 1 => rlc_header(), 1 => fixed_header(), 2 => webrc_header()];
    let options = (
        proptest::option::of(any::<u32>()),
        any::<bool>(),
        proptest::option::of(any::<[u8; 14]>()),
        proptest::option::of(poll()),
        proptest::option::of(any::<u16>().prop_map(Level::from_count)),
    );
    (header, any::<u32>(), any::<u32>(), any::<bool>(), any::<u8>(), options).prop_map(
        |(header, tsi, toi, close_object, codepoint, (fdt, is_compressed, fti, poll, known_level))| {
            let mut fields = header.to_lct().unwrap();
            let tsi = *fields.session.get_or_insert(tsi);
            let (fdt, fti) = (fdt.map(Fdt::new), fti.map(Fti));
            let repr = Repr {
                fields,
                tsi,
                toi,
                close_object,
                codepoint,
                fdt,
                is_compressed,
                fti,
                poll,
                known_level,
            };
            (header, repr)
        },
    )
}

fn written(repr: &Repr, payload: &[u8]) -> Vec<u8> {
    let mut room = [0; MAX_HEADER];
    let length = repr.write(&mut room);
    [&room[..length], payload].concat()
}

/// Reads all that can be read; returns whether it was a packet of this transport.
fn read_all(bytes: &[u8]) -> bool {
    let _ = Completion::from_bytes(bytes);
    let _ = Demand::from_bytes(bytes);
    let _ = (Refusal::from_bytes(bytes), ReceptionReport::from_bytes(bytes));
    let _ = Header::decode_report(bytes);
    let Ok(view) = View::new(bytes) else { return false };
    let _ = (view.tsi(), view.toi(), view.close_object(), view.extensions().count());
    let _ = PayloadId::split(view.payload());
    let Ok(repr) = Repr::read(&view) else { return false };
    Header::from_lct(&repr.fields).is_ok()
}

proptest! {
    #[test]
    fn what_is_written_is_read((header, repr) in repr(), payload in proptest::collection::vec(any::<u8>(), 0..40)) {
        let bytes = written(&repr, &payload);
        // The size of symbols depends on it.
        prop_assert!(bytes.len() - payload.len() <= MAX_HEADER - LONG_CCI);
        let view = View::new(&bytes).unwrap();
        let read = Repr::read(&view).unwrap();
        prop_assert_eq!(read, repr);
        prop_assert_eq!(Header::from_lct(&read.fields), Ok(header));
        prop_assert_eq!(view.payload(), &payload[..]);
    }

    #[test]
    fn every_truncation_is_refused((_, repr) in repr()) {
        let bytes = written(&repr, &[]);
        for length in 0..bytes.len() {
            prop_assert!(View::new(&bytes[..length]).is_err(), "{length} of {}", bytes.len());
        }
    }

    #[test]
    fn flipped_bits_never_panic((_, repr) in repr()) {
        let bytes = written(&repr, &[1, 2, 3, 4, 5]);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            read_all(&flipped);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), version in any::<bool>()) {
        if let Some(first) = bytes.first_mut().filter(|_| version) {
            *first = *first & 15 | 0x10;
        }
        read_all(&bytes);
    }

    #[test]
    fn ids_and_completions_come_back(block in any::<u8>(), esi in 0u32..1 << 24, tsi in any::<u32>(), toi in any::<u32>(), receiver in 1u64..) {
        let id = PayloadId::new(block, esi).unwrap();
        prop_assert_eq!(PayloadId::from_bytes(id.to_bytes()), id);
        let done = Completion { tsi, toi, receiver: NonZeroU64::new(receiver).unwrap() };
        prop_assert_eq!(Completion::from_bytes(&done.to_bytes()), Ok(done));
        for length in 0..20 {
            prop_assert!(Completion::from_bytes(&done.to_bytes()[..length]).is_err());
        }
        let refusal = Refusal { tsi };
        prop_assert_eq!(Refusal::from_bytes(&refusal.to_bytes()), Ok(refusal));
        for length in 0..8 {
            prop_assert!(Refusal::from_bytes(&refusal.to_bytes()[..length]).is_err());
        }
        prop_assert!(Refusal::from_bytes(&done.to_bytes()).is_err());
        prop_assert!(Completion::from_bytes(&refusal.to_bytes()).is_err());
    }
}

proptest! {
    #[test]
    fn demands_come_back(tsi in any::<u32>(), count in any::<u16>(), more in proptest::collection::vec(any::<u8>(), 0..9)) {
        let demand = Demand { tsi, level: Level::from_count(count), lost: count as u8 };
        let bytes = demand.to_bytes();
        prop_assert!(Demand::is_demand(&bytes));
        prop_assert_eq!(Demand::from_bytes(&[&bytes[..], &more].concat()), Ok(demand));
        for length in 0..bytes.len() {
            prop_assert!(Demand::from_bytes(&bytes[..length]).is_err());
        }
        prop_assert!(ReceptionReport::from_bytes(&bytes).is_err() && Completion::from_bytes(&bytes).is_err());
    }

    #[test]
    fn reception_reports_come_back(report in reception_report(), more in proptest::collection::vec(any::<u8>(), 0..9)) {
        let bytes = report.to_bytes();
        prop_assert!(ReceptionReport::is_report(&bytes) && !Completion::is_completion(&bytes));
        prop_assert_eq!(ReceptionReport::from_bytes(&[&bytes[..], &more].concat()), Ok(report));
        for length in 0..REPORT_BYTES {
            prop_assert!(ReceptionReport::from_bytes(&bytes[..length]).is_err());
        }
        prop_assert!(Header::decode_report(&bytes).is_err(), "no protocol's report");
    }

    #[test]
    fn any_bytes_after_the_first_are_a_reception_report_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 32..40)) {
        bytes[0] = 0x19;
        if let Ok(report) = ReceptionReport::from_bytes(&bytes) {
            prop_assert!(report.exponent <= EXPONENT_MAX && report.lost.is_none_or(|lost| lost <= 1000));
            prop_assert_eq!(ReceptionReport::from_bytes(&report.to_bytes()), Ok(report));
        }
    }
}

#[test]
fn reports_and_polls_beyond_their_range_are_refused() {
    let report = |at: usize, byte: u8| {
        let mut bytes = [0; REPORT_BYTES];
        (bytes[0], bytes[15]) = (0x19, 1);
        bytes[at] = byte;
        ReceptionReport::from_bytes(&bytes).map(|report| report.level)
    };
    assert_eq!(report(18, 255), Ok(Level::NONE));
    assert_eq!(report(3, EXPONENT_MAX + 1), Err(PacketError::Report));
    assert_eq!(report(20, 4), Err(PacketError::Report), "1024 of 1000");
    assert_eq!(report(15, 0), Err(PacketError::Receiver));
    assert_eq!(report(0, 0x13), Err(PacketError::Feedback(0x13)));
    // A packet with a poll that nobody understands is good all the same.
    let header = fixed::Header { layer: Layer(0), seq: WireSeq(1) };
    let fields = Header::Fixed(header).to_lct().unwrap();
    let poll = Some(Poll::new(1, 2, 200, 3));
    let repr = Repr {
        fields,
        tsi: 1,
        toi: 0,
        close_object: false,
        codepoint: 0,
        fdt: None,
        is_compressed: false,
        fti: None,
        poll,
        known_level: None,
    };
    let mut bytes = written(&repr, &[]);
    assert_eq!(
        Repr::read(&View::new(&bytes).unwrap()).unwrap().poll.map(|poll| (poll.all(), poll.slow())),
        Some((2, 2))
    );
    // The exponent of slow receivers above that of all.
    let slow = bytes.len() - 3;
    bytes[slow] = 3;
    assert_eq!(Repr::read(&View::new(&bytes).unwrap()).unwrap().poll, None);
}

/// A header put together by hand: version 1, C = 1, H = 1, S = 1, O = 0, one word of extension.
#[test]
fn every_shape_that_the_rfc_allows_is_seen() {
    let bytes = [
        0x14, 0x93, 7, 6, // V = 1, C = 1; S = 1, O = 0, H = 1, A, B; 7 words; codepoint 6
        1, 2, 3, 4, 5, 6, 7, 8, // CCI of 64 bits
        0, 0, 0, 9, 1, 0, // TSI of 48 bits
        0, 5, // TOI of 16 bits
        0, 1, 0xaa, 0xbb, // EXT_NOP
        200, 1, 2, 3, // a word of an unknown extension
        0, 0, 0, 7, // payload id
    ];
    let view = View::new(&bytes).unwrap();
    assert_eq!(view.cci(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((view.tsi(), view.toi()), (Some(0x9_0100), Some(5)));
    assert!(view.close_session() && view.close_object());
    assert_eq!(view.extensions().map(|extension| extension.kind).collect::<Vec<_>>(), [0, 200]);
    assert_eq!(PayloadId::split(view.payload()).unwrap().0.esi(), 7);
    assert_eq!(Repr::read(&view), Err(NotOurs::Ids { lengths: (6, 2) }));
    // The same with C = 2: four bytes more of congestion control information.
    let longer = [&[0x18, 0x93, 8, 6, 0, 0, 0, 0], &bytes[4..]].concat();
    let view = View::new(&longer).unwrap();
    assert_eq!((view.cci().len(), view.toi()), (12, Some(5)));
    assert_eq!(Repr::read(&view), Err(NotOurs::Cci { len: 12 }));
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(View::new(&[]).err(), Some(PacketError::Truncated { need: 4, have: 0 }));
    assert_eq!(View::new(&[0x20; 40]).err(), Some(PacketError::Version(2)));
    assert_eq!(View::new(&[0x10, 0, 1, 0, 0]).err(), Some(PacketError::HeaderLength { words: 1 }));
    let no_length = [0x10, 0, 3, 0, 0, 0, 0, 0, 5, 0, 0, 0];
    assert_eq!(View::new(&no_length).err(), Some(PacketError::ExtensionLength { kind: 5 }));
    let too_long = [0x10, 0, 3, 0, 0, 0, 0, 0, 5, 2, 0, 0];
    assert_eq!(View::new(&too_long).err(), Some(PacketError::ExtensionLength { kind: 5 }));
    let nobodys = [0x10, 0xa0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    assert_eq!(Repr::read(&View::new(&nobodys).unwrap()), Err(NotOurs::NoProtocol));
    let mut long = [0; 24];
    long[..4].copy_from_slice(&[0x18, 0xa0, 6, 0]);
    assert_eq!(Repr::read(&View::new(&long).unwrap()), Err(NotOurs::Cci { len: 12 }));
}
