//! IGMP and MLD: readers never panic, and read what writers write.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use layercast_core::units::Duration;
use layercast_delivery::ip::Datagram;
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::query::Query;
use layercast_delivery::membership::report::{Record, RecordKind, Report, write};
use proptest::prelude::*;

/// Any bytes, fewer than so many.
pub(crate) fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

pub(crate) fn unicast(is_v4: bool) -> impl Strategy<Value = IpAddr> {
    any::<u64>().prop_map(move |bits| {
        if is_v4 {
            Ipv4Addr::from_bits((bits as u32 % 0xdfff_0000) + 1).into()
        } else {
            Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(bits)).into()
        }
    })
}

pub(crate) fn group(is_v4: bool) -> impl Strategy<Value = IpAddr> {
    any::<u32>().prop_map(move |bits| {
        if is_v4 {
            Ipv4Addr::from_bits(0xe000_0000 | bits >> 4).into()
        } else {
            Ipv6Addr::from_bits(0xff3e << 112 | u128::from(bits)).into()
        }
    })
}

fn kind() -> impl Strategy<Value = RecordKind> {
    use RecordKind::{Allow, Block, IsExclude, IsInclude, ToExclude, ToInclude};
    prop::sample::select(vec![IsInclude, IsExclude, ToInclude, ToExclude, Allow, Block])
}

fn records(is_v4: bool) -> impl Strategy<Value = Vec<Record>> {
    let record = (kind(), group(is_v4), prop::collection::vec(unicast(is_v4), 0..20))
        .prop_map(|(kind, group, sources)| Record { kind, group, sources });
    prop::collection::vec(record, 0..60)
}

fn query(is_v4: bool) -> impl Strategy<Value = Query> {
    let source = prop::option::of(unicast(is_v4));
    let ms = prop::sample::select(vec![100, 500, 10_000, 12_700]);
    (unicast(is_v4), prop::option::of((group(is_v4), source)), ms, 1u8..8, 1u64..128).prop_map(
        |(from, of, ms, robustness, seconds)| Query {
            from,
            group: of.map(|(group, _)| group),
            source: of.and_then(|(_, source)| source),
            response: Duration::from_ms(ms),
            robustness,
            interval: Duration::from_secs(seconds),
        },
    )
}

/// Changes bytes at some places, and cuts some off.
pub(crate) fn damage(bytes: &mut Vec<u8>, places: &[(u16, u8)], cut: usize) {
    for &(place, value) in places {
        let place = usize::from(place) % bytes.len();
        bytes[place] = value;
    }
    bytes.truncate(bytes.len().saturating_sub(cut));
}

fn read(bytes: &[u8]) {
    if let Ok(datagram) = Datagram::read(bytes) {
        let _ = (Query::read(&datagram), Query::read_general(&datagram), Report::read(&datagram));
    }
}

/// A datagram whose bytes were changed, with its checksums right again, so that what is behind them is reached.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = |bytes: &[u8]| -> [u8; 2] {
        let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        let mut sum: u32 = bytes.chunks(2).map(word).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        (!(sum as u16)).to_be_bytes()
    };
    let is_v4 = bytes[0] >> 4 == 4;
    let message = if is_v4 { 24 } else { 48 };
    bytes[message + 2..message + 4].fill(0);
    let covered = if is_v4 {
        bytes[message..].to_vec()
    } else {
        let length = (bytes.len() - message) as u16;
        [&bytes[8..40], &length.to_be_bytes(), &[0, 58], &bytes[message..]].concat()
    };
    bytes[message + 2..message + 4].copy_from_slice(&sum(&covered));
    bytes
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in bytes(200)) {
        read(&bytes);
    }

    #[test]
    fn damaged_datagrams_never_panic(
        (is_v4, records, query) in any::<bool>().prop_flat_map(|v4| (Just(v4), records(v4), query(v4))),
        places in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in 0usize..40,
    ) {
        let reporting = if is_v4 { Reporting::Igmp } else { Reporting::Mld };
        let mut datagrams = write(reporting, &records);
        datagrams.push(query.to_bytes());
        for mut datagram in datagrams {
            let head = if is_v4 { 24 } else { 48 };
            let mut message = datagram.split_off(head);
            damage(&mut message, &places, 0);
            datagram.append(&mut message);
            let datagram = repaired(datagram);
            prop_assert!(Datagram::read(&datagram).is_ok_and(|datagram| datagram.has_checksum()));
            read(&datagram);
            let mut datagram = datagram;
            damage(&mut datagram, &places, cut);
            read(&datagram);
        }
    }

    #[test]
    fn reports_come_back((is_v4, records) in any::<bool>().prop_flat_map(|v4| (Just(v4), records(v4)))) {
        let reporting = if is_v4 { Reporting::Igmp } else { Reporting::Mld };
        let mut back = Vec::new();
        for bytes in write(reporting, &records) {
            prop_assert!(bytes.len() <= 1200);
            let report = Report::read(&Datagram::read(&bytes).unwrap()).unwrap();
            prop_assert!(report.is_own);
            back.extend(report.records);
        }
        prop_assert_eq!(back, records);
    }

    #[test]
    fn queries_come_back(query in any::<bool>().prop_flat_map(query)) {
        let bytes = query.to_bytes();
        prop_assert_eq!(Query::read(&Datagram::read(&bytes).unwrap()), Ok(query));
        for length in 0..bytes.len() {
            prop_assert!(Datagram::read(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn general_queries_of_amt_come_back(is_mld: bool, robustness in 1u8..8, seconds in 1u64..128) {
        let reporting = if is_mld { Reporting::Mld } else { Reporting::Igmp };
        let query = Query::general(reporting, robustness, Duration::from_secs(seconds));
        prop_assert_eq!(Query::read_general(&Datagram::read(&query.to_bytes()).unwrap()), Ok(query));
    }
}
