//! Packets and the tables in them.

use std::ops::Range;

use layercast_core::family::AnyHeader as _;
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::object::{
    Coding, Content, ContentEncoding, FEC_NO_CODE, FEC_RAPTORQ, Instance, TABLE_MAX, decompressed, safe_path,
};
use layercast_delivery::package::Head;
use layercast_delivery::packet::{
    Completion, Demand, Fdt, Fti, MAX_HEADER, PayloadId, ReceptionReport, Repr, View,
};
use layercast_delivery::part::Part;
use layercast_delivery::placing::identity;
use layercast_delivery::table_reader::TableReader;
use layercast_protocols::amca;
use layercast_protocols::registry::Header;

/// A data packet: the view of its LCT header, the packet as a value, the header of its protocol.
///
/// # Panics
/// If a value that was read does not come back from its bytes.
pub fn lct(bytes: &[u8]) {
    let Ok(view) = View::new(bytes) else { return };
    let _ = (view.tsi(), view.toi(), view.close_object(), view.extensions().count());
    let _ = PayloadId::split(view.payload());
    let Ok(packet) = Repr::read(&view) else { return };
    assert_eq!(reread(&packet), packet);
    let Ok(header) = Header::from_lct(&packet.fields) else { return };
    let _ = (header.layer(), header.channel());
    let fields = header.to_lct();
    let Some(fields) = fields else { panic!("no LCT fields of {header:?}") };
    let again = reread(&Repr { fields, ..packet });
    assert_eq!(Header::from_lct(&again.fields), Ok(header));
}

/// Writes a packet and reads it.
fn reread(packet: &Repr) -> Repr {
    let mut room = [0; MAX_HEADER];
    let length = packet.write(&mut room);
    let read = View::new(&room[..length]).map(|view| Repr::read(&view));
    match read {
        Ok(Ok(read)) => read,
        other => panic!("{packet:?} is written, but not read: {other:?}"),
    }
}

/// A packet to the source: a report of any protocol, a reception report, or a completion.
///
/// # Panics
/// If a value that was read does not come back from its bytes.
pub fn report(bytes: &[u8]) {
    if let Ok(done) = Completion::from_bytes(bytes) {
        assert_eq!(Completion::from_bytes(&done.to_bytes()), Ok(done));
    }
    if let Ok(demand) = Demand::from_bytes(bytes) {
        assert_eq!(Demand::from_bytes(&demand.to_bytes()), Ok(demand));
    }
    if let Ok(report) = ReceptionReport::from_bytes(bytes) {
        assert_eq!(ReceptionReport::from_bytes(&report.to_bytes()), Ok(report));
    }
    let Ok(header) = Header::decode_report(bytes) else { return };
    let mut room = [0; MAX_REPORT];
    let length = header.encode_report(&mut room);
    let Some(length) = length else { panic!("no bytes of {header:?}") };
    assert_eq!(Header::decode_report(&room[..length]), Ok(header));
}

/// The file delivery table: all bytes as the XML of an instance, as zlib, and as packets of it.
///
/// # Panics
/// If an instance that was read does not come back from its XML.
pub fn object_table(bytes: &[u8]) {
    if let Ok(mut instance) = Instance::from_xml(bytes) {
        // What cannot be received is not written.
        instance.entries.retain(|entry| !matches!(entry.content, Content::Unsupported(_)));
        assert_eq!(Instance::from_xml(instance.to_xml().as_bytes()).as_ref(), Ok(&instance));
        for entry in &instance.entries {
            let _ = (safe_path(&entry.path), identity(entry));
            if let Content::File { coding: Coding::RaptorQ(oti), .. } = entry.content {
                let last = oti.blocks() - 1;
                let end = oti.block_start(last) + u64::from(oti.block_symbols(last));
                assert_eq!(end, oti.symbols());
            }
        }
    }
    let encodings = [ContentEncoding::Zlib, ContentEncoding::Deflate, ContentEncoding::Gzip];
    for encoding in encodings {
        let _ = decompressed(Some(encoding), bytes);
    }
    let mut reader = TableReader::default();
    let mut rest = bytes;
    while let Some((&[instance, length, ref fti @ ..], left)) = rest.split_first_chunk::<16>() {
        let (payload, left) = left.split_at(left.len().min(usize::from(length)));
        let part = Part {
            tsi: 1,
            toi: 0,
            codepoint: if instance & 1 == 0 { FEC_NO_CODE } else { FEC_RAPTORQ },
            fdt: Some(Fdt::new(u32::from(instance))),
            encoding: None,
            fti: Some(Fti(*fti)),
        };
        if let Some(table) = reader.insert(&part, payload, TABLE_MAX) {
            assert!(table.len() <= TABLE_MAX);
            let _ = Instance::from_xml(&table);
        }
        rest = left;
    }
}

/// A packet of AMCA as it is, and with the checksum that it should have.
///
/// # Panics
/// If an accepted packet is not the one that its header and payload are written as.
pub fn amca(bytes: &[u8]) {
    for packet in [bytes.to_vec(), with_checksum(bytes)] {
        let Ok((header, payload)) = amca::Header::decode(&packet) else { continue };
        let mut written = Vec::new();
        assert_eq!(header.encode(payload, &mut written), Ok(()));
        assert_eq!(written, packet);
    }
}

/// Where AMCA's checksum stands in a packet.
const CHECKSUM: Range<usize> = 12..16;

/// A copy of a packet of AMCA with the right checksum (CRC-32 of ISO 3309), which no random input has.
pub fn with_checksum(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let Some(field) = packet.get_mut(CHECKSUM) else { return packet };
    field.fill(0);
    let sum = packet.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    });
    packet[CHECKSUM].copy_from_slice(&(!sum).to_be_bytes());
    packet
}

/// The head of a package, after the number of its files (16 bits) and its length (32 bits).
///
/// # Panics
/// If a head that was read does not come back after it is written.
pub fn package(bytes: &[u8]) {
    let Some((&[f1, f0, l3, l2, l1, l0], head)) = bytes.split_first_chunk() else { return };
    let length = u64::from(u32::from_be_bytes([l3, l2, l1, l0]));
    if let Some(prefix) = head.first_chunk() {
        let _ = Head::length(prefix);
    }
    if let Ok(read) = Head::decode(head, u32::from(u16::from_be_bytes([f1, f0])), length) {
        let written = Head::encode(read.members()).unwrap_or_else(|error| panic!("{error}"));
        let files = read.members().len() as u32;
        // Another compression of the same index has another length.
        let length = length - head.len() as u64 + written.len() as u64;
        let again = Head::decode(&written, files, length).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.members(), read.members());
    }
}
