//! Our receiver gets the packets of its sender: sessions without congestion control and without what is ours.

use std::time::Duration;

use flute::core::lct::Cenc;
use flute::core::{Oti, UDPEndpoint};
use flute::sender::{
    CarouselRepeatMode, Config, CreateFromBuffer, FDTPublishMode, ObjectDesc, Sender, TransferConfig,
};
use layercast_delivery::memory::MemoryDisk;
use layercast_delivery::object::{OtiError, TableError};
use layercast_delivery::packet::View;
use layercast_delivery::part::FlutePacket;
use layercast_delivery::reception::{ObjectError, Reception, ReceptionEvent, ReceptionSettings};

const SETTINGS: ReceptionSettings = ReceptionSettings { replace: false, mirror: false };

fn content(length: usize, seed: u32) -> Vec<u8> {
    // It can be compressed.
    (0..length as u32).map(|at| (((at / 5) ^ seed).wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

fn sender(tsi: u64, oti: &Oti, config: &Config) -> Sender {
    Sender::new(UDPEndpoint::new(None, "239.1.2.0".to_owned(), 5500), tsi, oti, config)
}

fn object(uri: &str, content: &[u8], config: TransferConfig) -> Box<ObjectDesc> {
    CreateFromBuffer::builder()
        .content(content.to_vec())
        .content_type("application/octet-stream".to_owned())
        .content_location(url::Url::parse(uri).unwrap())
        .config(config)
        .build()
        .create()
        .unwrap()
}

/// An object that is sent twice.
fn twice(cenc: Cenc) -> TransferConfig {
    let mode = CarouselRepeatMode::DelayBetweenTransfers(Duration::ZERO);
    TransferConfig::builder().max_transfer_count(2).carousel_mode(mode).cenc(cenc).build()
}

/// Passes the packets of a session until all is there, without those that `lost` says; how many there were.
fn pass(
    sender: &mut Sender,
    reception: &mut Reception<MemoryDisk>,
    tsi: u64,
    lost: impl Fn(usize) -> bool,
) -> usize {
    let mut count = 0;
    let mut now = crate::flute::begin();
    while !reception.is_complete()
        && let Some(packet) = sender.read(now)
    {
        now += Duration::from_millis(1);
        count += 1;
        if lost(count) {
            continue;
        }
        let view = View::new(&packet).unwrap();
        let header = FlutePacket::read(&view).unwrap();
        assert_eq!(header.tsi, tsi);
        reception.packet(header.part.unwrap(), view.payload()).unwrap();
        while reception.work().unwrap() {}
        assert!(count < 100_000, "session {tsi}: {:?}", reception.progress());
    }
    count
}

fn assert_placed(reception: &Reception<MemoryDisk>, files: &[(&str, &[u8])]) {
    let mut wanted: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    wanted.sort();
    let placed: Vec<(String, Vec<u8>)> =
        reception.disk().files().map(|(path, bytes)| (path.to_owned(), bytes)).collect();
    let names = |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&placed), names(&wanted));
    assert!(placed == wanted);
}

#[test]
fn files_of_both_codes_arrive_with_numbers_of_all_sizes() {
    let no_code = Oti::new_no_code(400, 50);
    let raptorq = Oti::new_raptorq(400, 300, 60, 1, 4).unwrap();
    // Session numbers of 16, 32 and 48 bits, object numbers of up to 112.
    let numbers = [(7, 1), (0x1_0000, 0xffff_fffe), (0xffff_ffff_ffff, (1 << 112) - 9), (9, 1 << 70)];
    for (oti, coded) in [(no_code, false), (raptorq, true)] {
        for (tsi, toi) in numbers {
            let config = Config { toi_initial_value: Some(toi), fdt_start_id: 0xf_fffe, ..Config::default() };
            let mut sender = sender(tsi, &oti, &config);
            let (big, mid, small) = (content(300_000, 1), content(9_000, 2), content(10, 3));
            let files: [(&str, &[u8]); 3] = [("a/big", &big), ("mid file", &mid), ("small", &small)];
            for (path, bytes) in files {
                sender.add_object(0, object(&format!("file:///{path}"), bytes, twice(Cenc::Null))).unwrap();
            }
            sender.set_complete();
            sender.publish(crate::flute::begin()).unwrap();
            let mut reception = Reception::of_any_sender(MemoryDisk::default(), SETTINGS);
            pass(&mut sender, &mut reception, tsi, |number| number % 11 == 7);
            assert!(reception.is_complete(), "{tsi} {toi}: {:?}", reception.progress());
            assert_placed(&reception, &files);
            assert_eq!(reception.counters().decoded > 0, coded);
            assert_eq!(reception.counters().refused, 0);
        }
    }
}

#[test]
fn compressed_files_and_tables_arrive_and_are_verified() {
    for cenc in [Cenc::Zlib, Cenc::Deflate, Cenc::Gzip] {
        let config = Config { fdt_cenc: cenc, ..Config::default() };
        let mut sender = sender(7, &Oti::new_no_code(400, 50), &config);
        let (big, small) = (content(300_000, 1), content(100, 2));
        sender.add_object(0, object("http://host/big?of=1", &big, twice(cenc))).unwrap();
        sender.add_object(0, object("http://host/small", &small, twice(cenc))).unwrap();
        sender.set_complete();
        sender.publish(crate::flute::begin()).unwrap();
        let mut reception = Reception::of_any_sender(MemoryDisk::default(), SETTINGS);
        let packets = pass(&mut sender, &mut reception, 7, |number| number % 13 == 5);
        assert!(packets < 2 * 300_000 / 400, "it was compressed");
        assert!(reception.is_complete(), "{cenc:?}");
        assert_placed(&reception, &[("big?of=1", &big), ("small", &small)]);
        // What is there already is known by its MD5, and stays.
        let events: Vec<_> = reception.drain_events().collect();
        assert!(
            events.contains(&ReceptionEvent::Complete { path: "small".into(), length: 100 }),
            "{events:?}"
        );
    }
}

#[test]
fn a_file_that_is_there_is_known_by_its_md5() {
    let big = content(30_000, 1);
    let mut disk = MemoryDisk::default();
    disk.put("same", &big);
    disk.put("other", &content(30_000, 2));
    let mut sender = sender(7, &Oti::new_no_code(400, 50), &Config::default());
    for name in ["same", "other"] {
        sender.add_object(0, object(&format!("file:///{name}"), &big, twice(Cenc::Gzip))).unwrap();
    }
    sender.set_complete();
    sender.publish(crate::flute::begin()).unwrap();
    let mut reception = Reception::of_any_sender(disk, SETTINGS);
    pass(&mut sender, &mut reception, 7, |_| false);
    let events: Vec<_> = reception.drain_events().collect();
    assert!(events.contains(&ReceptionEvent::Present { path: "same".into() }), "{events:?}");
    let failed = ReceptionEvent::Failed { path: "other".into(), reason: ObjectError::Exists };
    assert!(events.contains(&failed), "{events:?}");
}

/// A changed symbol of a compressed file and of one that is not: received again in the second round.
#[test]
fn damage_is_noticed_by_md5_and_by_the_compression() {
    for cenc in [Cenc::Null, Cenc::Gzip, Cenc::Zlib] {
        let mut sender = sender(7, &Oti::new_no_code(400, 50), &Config::default());
        let (big, small) = (content(100_000, 1), content(300, 2));
        sender.add_object(0, object("file:///big", &big, twice(cenc))).unwrap();
        sender.add_object(0, object("file:///small", &small, twice(cenc))).unwrap();
        sender.set_complete();
        sender.publish(crate::flute::begin()).unwrap();
        let mut reception = Reception::of_any_sender(MemoryDisk::default(), SETTINGS);
        let mut damaged = 0;
        let mut now = crate::flute::begin();
        while !reception.is_complete()
            && let Some(packet) = sender.read(now)
        {
            now += Duration::from_millis(1);
            let view = View::new(&packet).unwrap();
            let part = FlutePacket::read(&view).unwrap().part.unwrap();
            let mut payload = view.payload().to_vec();
            if part.toi == 1 && damaged == 0 {
                payload[40] ^= 1;
                damaged += 1;
            }
            reception.packet(part, &payload).unwrap();
            while reception.work().unwrap() {}
        }
        assert_placed(&reception, &[("big", &big), ("small", &small)]);
        let events: Vec<_> = reception.drain_events().collect();
        assert!(events.contains(&ReceptionEvent::WrongHash { path: "big".into() }), "{cenc:?} {events:?}");
    }
}

#[test]
fn what_is_not_supported_is_refused_object_by_object() {
    let mut sender = sender(7, &Oti::new_no_code(400, 50), &Config::default());
    let (bytes, reed_solomon) = (content(5_000, 1), Oti::new_reed_solomon_rs28(400, 20, 4).unwrap());
    let sub_blocks = Oti::new_raptorq(400, 300, 60, 2, 4).unwrap();
    let with = |oti: Oti| TransferConfig::builder().oti(oti).build();
    sender.add_object(0, object("file:///good", &bytes, TransferConfig::default())).unwrap();
    sender.add_object(0, object("file:///reed", &bytes, with(reed_solomon))).unwrap();
    sender.add_object(0, object("file:///sub", &bytes, with(sub_blocks))).unwrap();
    sender.add_object(0, object("file:///.ssh/keys", &bytes, TransferConfig::default())).unwrap();
    sender.set_complete();
    sender.publish(crate::flute::begin()).unwrap();
    let mut reception = Reception::of_any_sender(MemoryDisk::default(), SETTINGS);
    pass(&mut sender, &mut reception, 7, |_| false);
    assert!(reception.is_complete());
    assert_placed(&reception, &[("good", &bytes)]);
    let reasons: Vec<(String, String)> = reception
        .results()
        .filter_map(|(path, result)| Some((path.to_owned(), result.err()?.to_string())))
        .collect();
    let reason = |path: &str| reasons.iter().find(|(of, _)| of == path).map(|(_, reason)| reason.clone());
    let table = |error| Some(ObjectError::Table(TableError::Oti(error)).to_string());
    assert_eq!(reason("reed"), table(OtiError::Encoding(5)));
    assert_eq!(reason("sub"), table(OtiError::SubBlocks(2)));
    assert!(reason("reed").unwrap().contains("FEC encoding 5; 0 (no code) and 6 (RaptorQ) are supported"));
    assert!(reason(".ssh/keys").unwrap().contains("hides"), "{reasons:?}");
}

/// Every instance stands alone: it names what is sent now, and says nothing of the others.
#[test]
fn files_are_added_while_sending_in_either_form_of_the_table() {
    for mode in [FDTPublishMode::FullFDT, FDTPublishMode::ObjectsBeingTransferred] {
        let config = Config { fdt_publish_mode: mode, ..Config::default() };
        let mut sender = sender(7, &Oti::new_no_code(400, 50), &config);
        let mut reception = Reception::of_any_sender(MemoryDisk::default(), SETTINGS);
        let (one, two) = (content(5_000, 1), content(6_000, 2));
        sender.add_object(0, object("file:///one", &one, TransferConfig::default())).unwrap();
        sender.publish(crate::flute::begin()).unwrap();
        pass(&mut sender, &mut reception, 7, |_| false);
        assert_placed(&reception, &[("one", &one)]);
        assert!(!reception.is_complete(), "more may follow");
        sender.add_object(0, object("file:///two", &two, TransferConfig::default())).unwrap();
        sender.publish(crate::flute::begin()).unwrap();
        pass(&mut sender, &mut reception, 7, |_| false);
        assert_placed(&reception, &[("one", &one), ("two", &two)]);
        assert_eq!(reception.progress().complete, 2);
    }
}

#[test]
fn the_end_of_a_session_is_recognised() {
    for tsi in [7, 0x12_3456, 0xffff_ffff_ffff] {
        let mut sender = sender(tsi, &Oti::new_no_code(400, 50), &Config::default());
        let packet = sender.read_close_session(crate::flute::begin());
        let header = FlutePacket::read(&View::new(&packet).unwrap()).unwrap();
        assert_eq!((header.tsi, header.close_session, header.part), (tsi, true, None));
    }
}
