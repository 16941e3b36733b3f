//! An independent reader: the dissector of Wireshark recognises LCT, ALC and FLUTE in our packets, without
//! errors.

use std::fs;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::path::PathBuf;

use layercast_core::family::AnyHeader as _;
use layercast_core::units::{Channel, Layer, Level, WireSeq};
use layercast_delivery::object::{
    Coding, Content, Entry, FEC_NO_CODE, FEC_RAPTORQ, Instance, TOI_TABLE, table_fti,
};
use layercast_delivery::packet::{Fdt, Fti, MAX_HEADER, PayloadId, Poll, Repr};
use layercast_protocols::elm;
use layercast_protocols::elm::header::{Base, Data, Echo, ReceiverId, TableEntry, WireRate};
use layercast_protocols::registry::Header;
use layercast_protocols::{fixed, flid, rlc, webrc};
use layercast_testkit::tshark;

const TSI: u32 = 0x89ab_cdef;
const PORT: u16 = layercast_core::wire::DATA_PORT;
const SYMBOL: usize = 900;

/// A packet, and what the dissector must find in it.
pub(crate) struct Sent {
    pub(crate) bytes: Vec<u8>,
    pub(crate) layer: u8,
    pub(crate) repr: Repr,
    pub(crate) id: Option<PayloadId>,
}

fn sent(header: Header, toi: u32, codepoint: u8, flute: (Option<Fdt>, Option<Fti>), payload: &[u8]) -> Sent {
    let fields = header.to_lct().unwrap();
    let (fdt, fti) = flute;
    let poll = fdt.map(|_| Poll::new(1, 2, 3, 4));
    let known_level = fdt.map(|_| Level::from_count(5));
    let repr = Repr {
        fields,
        tsi: TSI,
        toi,
        close_object: false,
        codepoint,
        fdt,
        is_compressed: false,
        fti,
        poll,
        known_level,
    };
    let mut room = [0; MAX_HEADER];
    let length = repr.write(&mut room);
    let id = PayloadId::split(payload).ok().map(|(id, _)| id);
    Sent { bytes: [&room[..length], payload].concat(), layer: header.layer().unwrap().0 as u8, repr, id }
}

fn elm(layer: u8, end_of_session: bool, echo: Option<Echo>) -> Header {
    let entry = TableEntry { layer: 2, rate: WireRate(0x1234) };
    let base = (layer == 0).then_some(Base { feedback_interval_ms: 1000, entry, echo });
    let seq = WireSeq(0xffff_fff0 + u32::from(layer));
    let (session, timestamp_us) = (TSI, 0x0102_0304);
    Header::Elm(elm::Header::Data(Data {
        session,
        layer,
        layer_count: 3,
        end_of_session,
        seq,
        timestamp_us,
        base,
    }))
}

/// The packets of a session: a table, source and repair symbols on all layers, an end; then packets of
/// other protocols, some of them with congestion control information of 64 bits.
fn packets() -> Vec<Sent> {
    let coding = Coding::plan(1_000_000, SYMBOL as u16).unwrap();
    let table = Instance {
        number: Some(0),
        first: Some(0),
        complete: true,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        entries: vec![Entry::new(1, "a file", Content::File { coding, sha256: Some([7; 32]) })],
        removed: Vec::new(),
        removed_files: Vec::new(),
    };
    let table = table.to_xml().into_bytes();
    let flute = (Some(Fdt::new(0)), Some(table_fti(table.len(), table.len() as u16)));
    let table = [&[0; 4], table.as_slice()].concat();
    let echo = Echo { receiver: ReceiverId(NonZeroU64::MIN), timestamp_us: 1, hold_us: 2 };
    let symbol = |block, esi| {
        let id = PayloadId::new(block, esi).unwrap();
        [&id.to_bytes()[..], &[0xa5; SYMBOL]].concat()
    };
    let file = |header, payload: &[u8]| sent(header, 1, FEC_RAPTORQ, (None, None), payload);
    let rlc = rlc::Header {
        layer: 1,
        seq: 9,
        is_point: false,
        copy: 0,
        point: WireSeq(3),
        burst_place: 1,
        burst_length: 4,
    };
    let webrc = |is_long| {
        let (slot, channel, number) = (5, Channel(9), 65_535);
        Header::Webrc(webrc::Header { slot, channel, number, cycle: 50, is_long, end_of_session: false })
    };
    let flid = flid::Header {
        session: TSI,
        slot: WireSeq(126_989),
        signal: None,
        first_of_slot: true,
        channel: 7,
        seq: 258,
        layer: 3,
        end_of_session: false,
    };
    vec![
        sent(elm(0, false, Some(echo)), TOI_TABLE, FEC_NO_CODE, flute, &table),
        file(elm(0, false, None), &symbol(0, 0)),
        file(elm(1, false, None), &symbol(1, 555)),
        file(elm(2, false, None), &symbol(1, 0x00ab_cdef)),
        file(elm(0, false, Some(echo)), &symbol(0, 1)),
        sent(elm(0, true, None), TOI_TABLE, FEC_NO_CODE, (None, None), &[]),
        file(Header::Rlc(rlc), &symbol(0, 2)),
        file(Header::FlidDl(flid), &symbol(0, 4)),
        file(Header::Fixed(fixed::Header { layer: Layer(2), seq: WireSeq(77) }), &symbol(0, 3)),
        file(webrc(false), &symbol(0, 4)),
        file(webrc(true), &symbol(0, 5)),
    ]
}

/// A capture file of raw IPv4 packets (link type 228), one second apart.
fn capture(packets: &[Sent]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0002_0004, 0, 0, 65_535, 228u32] {
        file.extend(word.to_be_bytes());
    }
    for (second, packet) in (0u32..).zip(packets) {
        let udp = 8 + packet.bytes.len() as u16;
        let mut ip = [0; 20];
        (ip[0], ip[1], ip[8], ip[9]) = (0x45, 2, 4, 17);
        ip[2..4].copy_from_slice(&(20 + udp).to_be_bytes());
        ip[12..16].copy_from_slice(&Ipv4Addr::new(10, 77, 0, 1).octets());
        ip[16..20].copy_from_slice(&Ipv4Addr::new(239, 1, 2, packet.layer).octets());
        let sum: u32 = ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        ip[10..12].copy_from_slice(&(!((sum >> 16) + (sum & 0xffff)) as u16).to_be_bytes());
        for word in [second, 0, u32::from(20 + udp), u32::from(20 + udp)] {
            file.extend(word.to_be_bytes());
        }
        file.extend(ip);
        // A UDP checksum of zero is none (RFC 768).
        for half in [40_000, PORT, udp, 0] {
            file.extend(half.to_be_bytes());
        }
        file.extend(&packet.bytes);
    }
    file
}

/// A file that is removed when it is dropped.
pub(crate) struct Capture(PathBuf);

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A capture of packets in a file of that name.
pub(crate) fn saved(name: &str, packets: &[Sent]) -> Capture {
    let name = format!("layercast-{name}-{}.pcap", std::process::id());
    let file = Capture(std::env::temp_dir().join(name));
    fs::write(&file.0, capture(packets)).unwrap();
    file
}

/// Fields of every packet of a capture.
pub(crate) fn dissected(file: &Capture, fields: &[&str], arguments: &[&str]) -> Option<Vec<Vec<String>>> {
    tshark::dissected(&file.0, PORT, arguments, fields)
}

pub(crate) fn number(text: &str) -> u64 {
    let hex = text.strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16).unwrap());
    hex.unwrap_or_else(|| text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number")))
}

#[test]
fn wireshark_reads_our_packets_as_alc() {
    let packets = packets();
    let file = saved("dissector", &packets);
    let fields = [
        "frame.protocols",
        "alc.version",
        "rmt-lct.cci",
        "rmt-lct.tsi",
        "rmt-lct.toi",
        "rmt-lct.codepoint",
        "rmt-lct.flags.close_session",
        "rmt-lct.fdt_instance_id",
        "rmt-fec.sbn",
        "rmt-fec.esi",
        "rmt-lct.hec.type",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    let Some(lines) = dissected(&file, &fields, &[]) else { return };
    assert_eq!(lines.len(), packets.len());
    for (line, packet) in lines.iter().zip(&packets) {
        let [protocols, version, cci, tsi, toi, codepoint, close, fdt, block, esi, kinds, malformed, expert] =
            line.as_slice()
        else {
            panic!("{line:?}")
        };
        let repr = &packet.repr;
        assert!(protocols.contains("udp:alc:rmt-lct"), "{line:?}");
        assert_eq!((malformed.as_str(), expert.as_str()), ("", ""), "{line:?}");
        assert_eq!(number(version), 1);
        let hex: String = repr.fields.cci.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(cci.replace(':', ""), hex);
        assert_eq!(number(tsi), u64::from(repr.fields.session.unwrap_or(TSI)));
        assert_eq!((number(toi), number(codepoint)), (u64::from(repr.toi), u64::from(repr.codepoint)));
        assert_eq!(number(close), u64::from(repr.fields.end_of_session));
        assert_eq!(fdt.is_empty(), repr.fdt.is_none());
        let own = repr.fields.extension.kind().to_string();
        assert!(kinds.split(',').any(|kind| kind == own), "{line:?}");
        if let Some(id) = packet.id {
            assert!(protocols.contains("rmt-fec"), "{line:?}");
            assert_eq!((number(block), number(esi)), (u64::from(id.block), u64::from(id.esi())));
        }
    }
}

/// The dissector does report errors.
#[test]
fn wireshark_finds_fault_with_a_cut_packet() {
    let mut packets = packets();
    packets.truncate(1);
    packets[0].bytes.truncate(30);
    let file = saved("dissector-cut", &packets);
    let Some(lines) = dissected(&file, &["_ws.malformed", "_ws.expert.message"], &[]) else { return };
    assert!(lines[0].iter().any(|field| !field.is_empty()), "{lines:?}");
}
