//! Objects: how they are cut into symbols, and how they are described.

use layercast_delivery::disk::{Attributes, DiskFile as _};
use layercast_delivery::memory::MemoryFile;
use layercast_delivery::object::{
    Attempt, BlockHashes, Coding, Compressed, Content, ContentEncoding, Entry, FEC_NO_CODE, FilePart,
    Instance, Layout, MAX_BLOCK_SYMBOLS, Oti, OtiError, Reassembly, SymbolOutcome, TABLE_MAX, TableError,
    compressed, decompressed, table_fti,
};
use layercast_delivery::packet::{Fdt, Fti, PayloadId};
use layercast_delivery::part::Part;
use layercast_delivery::table_reader::TableReader;
use proptest::prelude::*;

#[test]
fn cuts_follow_the_partition_of_the_rfc() {
    let oti = Oti::new(1050, 100, [4, 0, 1, 4]).unwrap();
    // Eleven symbols over four blocks: three longer blocks, then a short one.
    assert_eq!((0..5).map(|block| oti.block_symbols(block)).collect::<Vec<_>>(), [3, 3, 3, 2, 0]);
    assert_eq!((0..4).map(|block| oti.block_start(block)).collect::<Vec<_>>(), [0, 3, 6, 9]);
    assert_eq!(oti.position(3, 1), (1000, 50));
    assert_eq!(Oti::new(100, 0, [1, 0, 1, 4]), Err(OtiError::Symbol(0)));
    assert_eq!(Oti::new(100, 10, [1, 0, 1, 4]), Err(OtiError::Alignment(4)));
    assert_eq!(Oti::new(100, 8, [1, 0, 2, 4]), Err(OtiError::SubBlocks(2)));
    assert_eq!(Oti::new(100, 8, [0, 0, 1, 4]), Err(OtiError::Blocks(0)));
    assert_eq!(Oti::new(100, 100, [2, 0, 1, 4]), Err(OtiError::Blocks(2)));
    assert_eq!(Oti::new(1 << 40, 8, [1, 0, 1, 4]), Err(OtiError::Length(1 << 40)));
    assert!(matches!(Oti::plan(1 << 39, 100), Err(OtiError::Length(_))));
}

#[test]
fn the_beginning_of_a_file_is_known_to_be_complete_when_its_first_blocks_are() {
    let oti = Oti::new(1050, 100, [4, 0, 1, 4]).unwrap();
    let mut reassembly = Reassembly::new(Coding::RaptorQ(oti), MemoryFile::default(), BlockHashes::None);
    let mut prefixes = Vec::new();
    for block in [1, 0, 3, 2] {
        for esi in 0..oti.block_symbols(block) {
            reassembly.insert(PayloadId::new(block, esi).unwrap(), &[7; 100]).unwrap();
        }
        prefixes.push(reassembly.prefix());
    }
    assert_eq!(prefixes, [0, 600, 600, 1050]);
    reassembly.restart();
    assert_eq!(reassembly.prefix(), 0);
}

#[test]
fn symbols_that_come_while_a_block_is_decoded_are_for_the_next_attempt() {
    const NEEDED: u32 = 20;
    let data: Vec<u8> = (0..8 * NEEDED).map(|at| (at * at) as u8).collect();
    let oti = Oti::new(data.len() as u64, 8, [1, 0, 1, 8]).unwrap();
    let encoder = raptorq::SourceBlockEncoder::new(0, &oti_of_coder(data.len()), &data);
    let repair = |number: u32| encoder.repair_packets(number, 1).remove(0).data().to_vec();
    let new = || Reassembly::new(Coding::RaptorQ(oti), MemoryFile::default(), BlockHashes::None);
    let insert = |reassembly: &mut Reassembly<MemoryFile>, number: u32| {
        reassembly.insert(PayloadId::new(0, NEEDED + number).unwrap(), &repair(number)).unwrap()
    };
    // Some sets of as many symbols as the block has cannot be decoded.
    let is_stuck = |&first: &u32| {
        let mut reassembly = new();
        (first..first + NEEDED)
            .for_each(|number| assert_ne!(insert(&mut reassembly, number), SymbolOutcome::Needless));
        reassembly.complete_next().unwrap() == Some((0, Attempt::Undecodable))
    };
    let first = (0..10_000).find(is_stuck).expect("one in 200");

    let mut reassembly = new();
    let mut next = first..;
    let mut more = |reassembly: &mut Reassembly<MemoryFile>| insert(reassembly, next.next().unwrap());
    for _ in 0..NEEDED {
        assert!(!reassembly.is_ready());
        more(&mut reassembly);
    }
    let job = reassembly.take_job().unwrap().expect("it is ready");
    assert!(!reassembly.has_enough(), "one in 200 cannot be decoded");
    let outcomes = [(); 3].map(|()| more(&mut reassembly));
    assert_eq!(outcomes, [SymbolOutcome::Surplus, SymbolOutcome::Surplus, SymbolOutcome::Needless]);
    assert!(reassembly.has_enough() && !reassembly.is_ready());
    assert_eq!(reassembly.finish_job(job.run()).unwrap(), Some((0, Attempt::Undecodable)));
    assert_eq!(reassembly.complete_next().unwrap(), Some((0, Attempt::Complete)));
    let mut read = vec![0; data.len()];
    reassembly.file().read_at(0, &mut read).unwrap();
    assert_eq!(read, data);
}

fn oti_of_coder(length: usize) -> raptorq::ObjectTransmissionInformation {
    raptorq::ObjectTransmissionInformation::new(length as u64, 8, 1, 1, 8)
}

/// The second of three parts.
fn part() -> FilePart {
    FilePart { layout: Layout::new(250_000, 100_000).unwrap(), number: 1, sha256: [0xcd; 32] }
}

fn instance(path: &str) -> Instance {
    let file = |toi, length| Entry {
        // Two blocks, and one.
        leaves: (0..length / 900_000 * 2).map(|number| [number as u8; 32]).collect(),
        package: (toi == 1).then_some(300),
        part: (toi == 3).then(part),
        attributes: Attributes { mode: Some(0o755), modified_ns: Some(1_700_000_000_123_456_789) },
        ..Entry::new(
            toi,
            format!("{path}{toi}"),
            Content::File { coding: Coding::plan(length, 916).unwrap(), sha256: Some([0xab; 32]) },
        )
    };
    Instance {
        number: Some(3),
        first: Some(3),
        complete: true,
        expires_s: 4_000_000_000,
        wants_completions: true,
        session: "layercast = 1\nlayers = [1, 2] # <&>".to_owned(),
        entries: vec![file(1, 1_234_567), file(2, 5), file(3, 100_000), Entry::new(4, path, Content::Folder)],
        removed: vec![7, 9],
        removed_files: vec![(8, path.to_owned())],
    }
}

/// Other FLUTE receivers know these names alone.
#[test]
fn attributes_have_the_names_of_the_rfc() {
    let xml = instance("a folder/a file").to_xml();
    // RFC 6726, section 3.4.2.
    for attribute in [
        "Content-Location=\"a%20folder/a%20file1\"",
        "Content-Length=\"1234567\"",
        "TOI=\"1\"",
        "Expires=\"4000000000\"",
        "Complete=\"true\"",
        "FEC-OTI-FEC-Encoding-ID=\"6\"",
        "FEC-OTI-FEC-Encoding-ID=\"0\"",
        "FEC-OTI-Maximum-Source-Block-Length=\"1\"",
        // A part of a file is a file of its own for them.
        "Content-Location=\"a%20folder/a%20file3.part-2-of-3\"",
        "Content-Length=\"100000\"",
    ] {
        assert!(xml.contains(&format!(" {attribute}")), "{attribute} is missing in {xml}");
    }
    // The length of the transfer is that of the file where it is not given.
    let short = xml.replacen(" Transfer-Length=\"1234567\"", "", 1);
    assert_ne!(short, xml);
    assert_eq!(Instance::from_xml(short.as_bytes()), Ok(instance("a folder/a file")));
}

#[test]
fn parts_of_files_that_contradict_themselves_are_refused_one_by_one() {
    let genuine = instance("x").to_xml();
    let of = |from: &str, to: &str| {
        assert!(genuine.contains(from), "{from}");
        let read = Instance::from_xml(genuine.replacen(from, to, 1).as_bytes()).unwrap();
        assert_eq!(read.entries.len(), 4, "the others of the instance can be received");
        assert_eq!(read.entries[1], instance("x").entries[1]);
        match read.entries[2].content {
            Content::Unsupported(reason) => reason.to_string(),
            content => panic!("{content:?}"),
        }
    };
    let place = "the file delivery table has a part of a file that is not where the lengths want it: parts would overlap, or leave a gap";
    for (from, to, reason) in [
        ("lc:Offset=\"100000\"", "lc:Offset=\"99999\"", place),
        ("lc:Offset=\"100000\"", "lc:Offset=\"18446744073709551615\"", place),
        ("lc:Length=\"250000\"", "lc:Length=\"300001\"", place),
        ("lc:Length=\"250000\"", "lc:Length=\"18446744073709551615\"", place),
        ("lc:Parts=\"3\"", "lc:Parts=\"4\"", place),
        (
            "lc:Parts=\"3\"",
            "lc:Parts=\"4000000000\"",
            "the file delivery table has a file of 4000000000 parts; there are 2 to 4096",
        ),
        ("lc:Part=\"2\"", "lc:Part=\"9\"", "the file delivery table has part 9 of 3 of a file"),
        ("lc:Part=\"2\"", "lc:Part=\"-1\"", "the file delivery table has no valid Part"),
        ("lc:Offset=\"100000\"", "", "the file delivery table has no valid Offset"),
        (
            "part-2-of-3",
            "part-1-of-3",
            "the file delivery table has a part of a file with the name of another part",
        ),
        (
            &format!("lc:Whole=\"{}\"", "cd".repeat(32)),
            "",
            "the file delivery table has a part of a file without a hash, its own or that of the file",
        ),
        (
            "lc:Part=\"2\"",
            "Content-Encoding=\"gzip\" lc:Part=\"2\"",
            "the file delivery table has a part of a file that is compressed, or a package",
        ),
    ] {
        assert_eq!(of(from, to), reason);
    }
}

#[test]
fn line_ends_in_the_session_description_stay() {
    let instance = Instance { session: "layercast = 1\r\nlayers = [1]\n\r".to_owned(), ..instance("x") };
    assert_eq!(Instance::from_xml(instance.to_xml().as_bytes()), Ok(instance));
}

#[test]
fn rights_of_other_users_are_not_taken() {
    let xml = instance("x").to_xml().replace("lc:Mode=\"755\"", "lc:Mode=\"7755\"");
    assert_eq!(Instance::from_xml(xml.as_bytes()), Ok(instance("x")));
}

const ZLIB: Option<ContentEncoding> = Some(ContentEncoding::Zlib);

fn part_of(fdt: Fdt, fti: Fti) -> Part {
    Part { tsi: 1, toi: 0, codepoint: FEC_NO_CODE, fdt: Some(fdt), encoding: ZLIB, fti: Some(fti) }
}

/// What other sources write: FEC attributes at the instance, absolute URIs, MD5, compression, unknown encodings.
#[test]
fn tables_of_other_sources_are_read_file_by_file() {
    let instance = |files: &str| {
        let xml = format!(
            r#"<?xml version="1.0"?><FDT-Instance xmlns="urn:IETF:metadata:2005:FLUTE:FDT" Expires="1" FEC-OTI-FEC-Encoding-ID="0"
            FEC-OTI-Maximum-Source-Block-Length="64" FEC-OTI-Encoding-Symbol-Length="1400">{files}</FDT-Instance>"#
        );
        Instance::from_xml(xml.as_bytes())
    };
    let of = |file: &str| instance(file).unwrap().entries.remove(0);
    let plain = of(r#"<File Content-Location="http://host/a%20b" TOI="5192296858534827628530496329220095"
        Content-Length="10" Transfer-Length="9" Content-Encoding="gzip" Content-MD5="XUFAKrxLKna5cZ2REBfFkg=="/>"#);
    assert_eq!((plain.path.as_str(), plain.toi), ("a b", (1 << 112) - 1));
    assert_eq!(plain.compressed, Some(Compressed { encoding: ContentEncoding::Gzip, length: 10 }));
    assert_eq!(plain.md5.unwrap()[..3], [0x5d, 0x41, 0x40]);
    let refused = |attributes: &str| {
        let file = format!(r#"<File Content-Location="x" TOI="1" Transfer-Length="9" {attributes}/>"#);
        of(&file).content
    };
    let field = |name| Content::Unsupported(TableError::Field(name));
    assert_eq!(refused(r#"Content-Encoding="br""#), Content::Unsupported(TableError::Compression));
    assert_eq!(refused(r#"Content-Encoding="gzip""#), field("Content-Length"));
    assert_eq!(refused(r#"Content-Encoding="gzip" Content-Length="99999999""#), field("Content-Length"));
    assert_eq!(refused(r#"Content-MD5="no""#), field("Content-MD5"));
    let other = Content::Unsupported(TableError::Oti(OtiError::Encoding(5)));
    assert_eq!(refused(r#"FEC-OTI-FEC-Encoding-ID="5""#), other);
    // Without a number or a place it is nothing.
    assert!(instance(r#"<File Content-Location="x" Transfer-Length="9"/>"#).is_err());
    assert!(instance(r#"<File TOI="1" Transfer-Length="9"/>"#).is_err());
}

#[test]
fn a_table_in_several_packets_is_put_together() {
    let xml = instance("a file.bin").to_xml().into_bytes();
    let bytes = compressed(&xml);
    assert!(bytes.len() < xml.len());
    let (fdt, fti) = (Fdt::new(7), table_fti(bytes.len(), 100));
    let mut reader = TableReader::default();
    let mut whole = None;
    for (number, chunk) in bytes.chunks(100).enumerate().rev() {
        assert!(whole.is_none());
        let mut payload = (number as u32).to_be_bytes().to_vec();
        payload.extend_from_slice(chunk);
        payload.resize(104, 0);
        whole = reader.insert(&part_of(fdt, fti), &payload, TABLE_MAX);
    }
    assert_eq!(decompressed(ZLIB, &whole.unwrap()), Some(xml));
    // Parts that are too long, too short or out of range are ignored.
    assert_eq!(reader.insert(&part_of(fdt, table_fti(1 << 30, 100)), &[0; 104], TABLE_MAX), None);
    assert_eq!(reader.insert(&part_of(fdt, table_fti(300, 100)), &[0; 50], TABLE_MAX), None);
    assert_eq!(reader.insert(&part_of(fdt, table_fti(300, 100)), &[0, 0, 0, 3], TABLE_MAX), None);
    assert_eq!(reader.insert(&part_of(fdt, table_fti(300, 0)), &[0; 104], TABLE_MAX), None);
}

/// A short packet could otherwise make a receiver take gigabytes.
#[test]
fn a_table_that_grows_without_bound_is_not_decompressed() {
    assert_eq!(decompressed(ZLIB, &compressed(&vec![b' '; 2 << 20])), None);
    assert_eq!(decompressed(ZLIB, b"no zlib"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cuts_cover_the_object(length in 0u64..1 << 36, symbol in 4u16..2000) {
        let Ok(oti) = Oti::plan(length, symbol) else { return Ok(()) };
        let sum: u64 = (0..oti.blocks()).map(|block| u64::from(oti.block_symbols(block))).sum();
        prop_assert_eq!(sum, oti.symbols());
        prop_assert!((0..oti.blocks()).all(|block| oti.block_symbols(block) <= MAX_BLOCK_SYMBOLS));
        prop_assert_eq!(Oti::new(length, oti.symbol_size() as u16, oti.scheme()), Ok(oti));
    }

    #[test]
    fn tables_come_back(name in "\\PC{1,80}") {
        let instance = instance(&name);
        prop_assert_eq!(Instance::from_xml(instance.to_xml().as_bytes()), Ok(instance));
    }

    #[test]
    fn no_table_panics(cut in 0usize..1500, flip in 0usize..1500, with in any::<u8>()) {
        let mut xml = instance("x").to_xml().into_bytes();
        let at = flip % xml.len();
        xml[at] ^= with;
        let _ = Instance::from_xml(&xml);
        xml.truncate(cut);
        let _ = Instance::from_xml(&xml);
        let mut zlib = compressed(&xml);
        let at = flip % zlib.len();
        zlib[at] ^= with;
        let _ = decompressed(ZLIB, &zlib);
    }
}
