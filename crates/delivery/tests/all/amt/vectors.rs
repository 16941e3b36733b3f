//! Messages and the datagrams inside of them, byte by byte, in both directions.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::Duration;
use layercast_delivery::amt::data::{DataError, Inner, decapsulated};
use layercast_delivery::amt::message::{Message, MessageError, ResponseMac};
use layercast_delivery::amt::{PORT, discovery_address};
use layercast_delivery::ip::Datagram;
use layercast_delivery::membership::query::Query;
use layercast_delivery::membership::report::{self, Record, RecordKind, Report};
use layercast_delivery::membership::{MembershipError, Reporting};

const MAC: ResponseMac = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab];
const NONCE: u32 = 0xa1b2_c3d4;

/// The packets of the fixture by name.
fn packets() -> BTreeMap<&'static str, Vec<u8>> {
    let mut packets: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut name = "";
    for line in include_str!("vectors.txt").lines() {
        let fields = line.split('#').next().unwrap().trim();
        if let Some(new) = fields.strip_prefix('[') {
            name = new.strip_suffix(']').unwrap();
            assert!(packets.insert(name, Vec::new()).is_none(), "{name} is there twice");
            continue;
        }
        let digits: Vec<u8> = fields.bytes().filter(|byte| *byte != b' ').collect();
        let text = |pair: &[u8]| String::from_utf8(pair.to_vec()).unwrap();
        let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(&text(pair), 16).unwrap());
        packets.entry(name).or_default().extend(bytes);
    }
    packets.retain(|name, _| !name.is_empty());
    packets
}

fn packet(name: &str) -> Vec<u8> {
    packets().remove(name).unwrap_or_else(|| panic!("no packet {name}"))
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn query(reporting: Reporting) -> Query {
    Query::general(reporting, 2, Duration::from_secs(125))
}

fn read_query(datagram: &[u8]) -> Result<Query, MembershipError> {
    Query::read_general(&Datagram::read(datagram)?)
}

fn read_report(datagram: &[u8]) -> Result<Vec<Record>, MembershipError> {
    Report::read(&Datagram::read(datagram)?).map(|report| report.records)
}

fn igmp_records() -> Vec<Record> {
    vec![
        Record { kind: RecordKind::Allow, group: ip("232.1.2.3"), sources: vec![ip("192.0.2.1")] },
        Record { kind: RecordKind::ToExclude, group: ip("239.1.2.3"), sources: vec![] },
    ]
}

fn mld_records() -> Vec<Record> {
    let (group, sources) = (ip("ff3e::8000:1"), vec![ip("2001:db8::1")]);
    vec![Record { kind: RecordKind::Block, group, sources }]
}

fn inner(from: &str, group: &str, ecn: Ecn) -> Inner<'static> {
    Inner { from: socket(from), group: socket(group), ecn, payload: b"Layercast" }
}

/// Each message, with the datagrams inside of it made here.
fn with_message(name: &str, check: &mut dyn FnMut(Message<'_>)) {
    let nonce = NONCE;
    let of_discovery = 0x1234_5678;
    let igmp = query(Reporting::Igmp).to_bytes();
    let mld = query(Reporting::Mld).to_bytes();
    let endpoint = socket("203.0.113.9:50000").into();
    let gateway = Some(endpoint);
    check(match name {
        "relay discovery" => Message::RelayDiscovery { nonce: of_discovery },
        "relay advertisement v4" => {
            Message::RelayAdvertisement { nonce: of_discovery, relay: ip("198.51.100.7") }
        }
        "relay advertisement v6" => {
            Message::RelayAdvertisement { nonce: of_discovery, relay: ip("2001:db8::7") }
        }
        "request igmp" => Message::Request { reporting: Reporting::Igmp, nonce },
        "request mld" => Message::Request { reporting: Reporting::Mld, nonce },
        "query igmp" => {
            Message::MembershipQuery { is_full: false, mac: MAC, nonce, query: &igmp, gateway: None }
        }
        "query igmp full" => {
            Message::MembershipQuery { is_full: true, mac: MAC, nonce, query: &igmp, gateway }
        }
        "query mld" => {
            let gateway = Some(socket("[2001:db8::9]:50000").into());
            Message::MembershipQuery { is_full: false, mac: MAC, nonce, query: &mld, gateway }
        }
        "update igmp" => {
            let reports = report::write(Reporting::Igmp, &igmp_records());
            return check(Message::MembershipUpdate { mac: MAC, nonce, report: &reports[0] });
        }
        "update mld" => {
            let reports = report::write(Reporting::Mld, &mld_records());
            return check(Message::MembershipUpdate { mac: MAC, nonce, report: &reports[0] });
        }
        "data v4" => {
            let packet = inner("192.0.2.1:5501", "232.1.2.3:5500", Ecn::Capable).to_bytes();
            // The flags and the identification are the writer's choice: DF is set here too.
            return check(Message::MulticastData(&packet));
        }
        "data v6" => {
            let packet = inner("[2001:db8::1]:5501", "[ff3e::8000:1]:5500", Ecn::Marked).to_bytes();
            return check(Message::MulticastData(&packet));
        }
        "teardown" => Message::Teardown { mac: MAC, nonce, gateway: endpoint },
        other => panic!("no message {other}"),
    });
}

#[test]
fn messages_are_written_and_read_byte_by_byte() {
    let mut count = 0;
    for (name, bytes) in packets() {
        if name.starts_with("igmpv2") || name.starts_with("mldv1") {
            continue;
        }
        count += 1;
        with_message(name, &mut |message| {
            assert_eq!(message.to_bytes(), bytes, "{name}");
            assert_eq!(Message::read(&bytes), Ok(message), "{name}");
        });
    }
    assert_eq!(count, 13);
}

#[test]
fn queries_are_read() {
    for (name, reporting) in
        [("query igmp", Reporting::Igmp), ("query igmp full", Reporting::Igmp), ("query mld", Reporting::Mld)]
    {
        let bytes = packet(name);
        let Ok(Message::MembershipQuery { query: datagram, .. }) = Message::read(&bytes) else {
            panic!("{name}")
        };
        assert_eq!(read_query(datagram), Ok(query(reporting)));
        // Bytes after the datagram are ignored; a wrong bit anywhere in the IGMP or MLD message is found.
        assert_eq!(read_query(&[datagram, &[1, 2, 3]].concat()), Ok(query(reporting)));
        let at = if reporting == Reporting::Igmp { 24 } else { 48 };
        for place in at..datagram.len() {
            let mut wrong = datagram.to_vec();
            wrong[place] ^= 0x10;
            assert!(read_query(&wrong).is_err(), "{name}: byte {place}");
        }
        for length in 0..datagram.len() {
            assert!(read_query(&datagram[..length]).is_err(), "{name}: {length} bytes");
        }
    }
    assert_eq!(read_query(&packet("igmpv2 report")), Err(MembershipError::NoQuery(0x16)));
}

#[test]
fn reports_are_read() {
    let one = |kind, group| vec![Record { kind, group: ip(group), sources: vec![] }];
    for (name, records) in [
        ("update igmp", igmp_records()),
        ("update mld", mld_records()),
        ("igmpv2 report", one(RecordKind::ToExclude, "239.1.2.3")),
        ("igmpv2 leave", one(RecordKind::ToInclude, "239.1.2.3")),
        ("mldv1 report", one(RecordKind::ToExclude, "ff1e::8000:1")),
        ("mldv1 done", one(RecordKind::ToInclude, "ff1e::8000:1")),
    ] {
        let bytes = packet(name);
        let datagram = match Message::read(&bytes) {
            Ok(Message::MembershipUpdate { report, .. }) => report,
            _ => &bytes,
        };
        assert_eq!(read_report(datagram), Ok(records), "{name}");
        // TTL and Router Alert are required (section 5.3.3.4).
        let mut far = datagram.to_vec();
        if datagram[0] >> 4 == 4 {
            far[8] = 2;
            // The header's sum stays the same.
            far[9] = 2;
            let sum = u16::from_be_bytes([far[10], far[11]]) - 0x100;
            far[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            far[7] = 2;
        }
        assert_eq!(read_report(&far), Err(MembershipError::Hops(2)), "{name}");
        let mut without = datagram.to_vec();
        if datagram[0] >> 4 == 4 {
            // Another option in its place, with the sum corrected.
            without[20] = 0x44;
            let (sum, carry) = u16::from_be_bytes([without[10], without[11]]).overflowing_add(0x5000);
            without[10..12].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
        } else {
            without[42] = 0x1e;
        }
        assert_eq!(read_report(&without), Err(MembershipError::NoAlert), "{name}");
    }
}

#[test]
fn packets_inside_are_read() {
    let (v4, v6) = (packet("data v4"), packet("data v6"));
    let read = |bytes: &[u8]| {
        Inner::read(&bytes[2..]).map(|inner| (inner.from, inner.group, inner.ecn, inner.payload.to_vec()))
    };
    let expected =
        |from: &str, group: &str, ecn| Ok((socket(from), socket(group), ecn, b"Layercast".to_vec()));
    assert_eq!(read(&v4), expected("192.0.2.1:5501", "232.1.2.3:5500", Ecn::Capable));
    assert_eq!(read(&v6), expected("[2001:db8::1]:5501", "[ff3e::8000:1]:5500", Ecn::Marked));
    // UDP without a checksum is taken over IPv4 only.
    let without = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + 2].fill(0);
        bytes
    };
    assert!(read(&without(&v4, 28)).is_ok());
    assert_eq!(read(&without(&v6, 48)), Err(DataError::Checksum));
    let mut wrong = v4.clone();
    wrong[33] ^= 1;
    assert_eq!(read(&wrong), Err(DataError::Checksum));
    let mut wrong = v6.clone();
    // The length of UDP; that of IPv6 stays.
    wrong[47] += 1;
    assert_eq!(read(&wrong), Err(DataError::Length));
}

#[test]
fn a_tunnel_combines_marks_as_rfc_6040_has_it() {
    use Ecn::{Capable, Marked, NotCapable};
    for (inner, outer, result) in [
        (NotCapable, NotCapable, Some(NotCapable)),
        (NotCapable, Capable, Some(NotCapable)),
        (NotCapable, Marked, None),
        (Capable, NotCapable, Some(Capable)),
        (Capable, Capable, Some(Capable)),
        (Capable, Marked, Some(Marked)),
        (Marked, NotCapable, Some(Marked)),
        (Marked, Capable, Some(Marked)),
        (Marked, Marked, Some(Marked)),
    ] {
        assert_eq!(decapsulated(inner, outer), result, "{inner:?} in {outer:?}");
    }
}

#[test]
fn errors_name_the_field() {
    let text = |bytes: &[u8]| Message::read(bytes).unwrap_err().to_string();
    assert_eq!(text(&[]), "the message is empty");
    assert_eq!(Message::read(&[0x11, 0, 0, 0]), Err(MessageError::Version(1)));
    assert_eq!(Message::read(&[8, 0]), Err(MessageError::Type(8)));
    assert_eq!(Message::read(&[0, 0]), Err(MessageError::Type(0)));
    assert_eq!(text(&[1, 0, 0, 0, 1]), "the message ends after 5 bytes, before the end of Discovery Nonce");
    assert_eq!(text(&[1, 0, 0, 0, 0, 0, 0, 0]), "Discovery Nonce is 0");
    assert_eq!(
        text(&packet("relay advertisement v4")[..11]),
        "Relay Address has 3 bytes; it must have 4 or 16"
    );
    let mut group = packet("relay advertisement v4");
    group[8] = 239;
    assert_eq!(text(&group), "Relay Address 239.51.100.7 is not a unicast address");
    assert_eq!(
        text(&packet("query mld")[..29]),
        "the message ends after 29 bytes, before the end of Gateway Port Number"
    );
    assert_eq!(
        text(&packet("teardown")[..29]),
        "the message ends after 29 bytes, before the end of Gateway IP Address"
    );
    assert_eq!(
        text(&[packet("teardown"), vec![0]].concat()),
        "the message has 31 bytes, which is more than its fields"
    );
}

#[test]
fn numbers_are_those_of_section_7() {
    assert_eq!(PORT, 2268);
    assert_eq!(discovery_address(true), ip("192.52.193.1"));
    assert_eq!(discovery_address(false), ip("2001:3::1"));
}
