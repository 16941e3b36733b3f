//! What a mirror does when its disk fails while it removes files.

use layercast_core::family::AnyHeader as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, WireSeq};
use layercast_delivery::disk::Disk as _;
use layercast_delivery::object::{Coding, Content, Entry, FEC_NO_CODE, Instance, sha256};
use layercast_delivery::packet::{Fdt, Repr};
use layercast_delivery::reception::{Reception, ReceptionEvent, ReceptionSettings};
use layercast_explorer::disk::FaultyDisk;
use layercast_protocols::fixed;
use layercast_protocols::registry::Header;

fn instance(entries: Vec<Entry>, removed: Vec<u128>) -> Instance {
    Instance {
        number: None,
        first: Some(1),
        complete: true,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        entries,
        removed,
        removed_files: Vec::new(),
    }
}

/// A file at the path `a`.
fn file(toi: u128, bytes: &[u8]) -> Entry {
    let coding = Coding::plan(bytes.len() as u64, 100).unwrap();
    Entry::new(toi, "a", Content::File { coding, sha256: Some(sha256(bytes)) })
}

/// A part of an instance that is known.
fn known_part() -> Repr {
    Repr {
        fields: Header::Fixed(fixed::Header { layer: Layer::BASE, seq: WireSeq(0) }).to_lct().unwrap(),
        tsi: 1,
        toi: 0,
        close_object: false,
        codepoint: FEC_NO_CODE,
        fdt: Some(Fdt::new(1)),
        is_compressed: false,
        fti: None,
        poll: None,
        known_level: None,
    }
}

#[test]
fn a_file_that_cannot_be_removed_is_removed_when_the_disk_works_again() {
    let disk = FaultyDisk::new(Stream::new(1, "disk"));
    let settings = ReceptionSettings { replace: true, mirror: true };
    let mut reception = Reception::new(disk.clone(), settings);
    reception.begin(1, &instance(vec![file(1, &[])], Vec::new())).unwrap();
    while reception.work().unwrap() {}
    reception.packet(&known_part(), &[0; 4]).unwrap();
    assert!(reception.is_in_step());

    disk.set(|disk| disk.failing = 1.0);
    reception.begin(2, &instance(Vec::new(), vec![1])).unwrap();
    for _ in 0..10 {
        reception.packet(&known_part(), &[0; 4]).unwrap();
    }
    assert!(!reception.is_in_step());
    let is_failure =
        |event: &ReceptionEvent| matches!(event, ReceptionEvent::Failed { path, .. } if path == "a");
    assert_eq!(reception.drain_events().filter(is_failure).count(), 1, "it is said once");

    disk.set(|disk| disk.failing = 0.0);
    reception.packet(&known_part(), &[0; 4]).unwrap();
    assert!(reception.is_in_step());
    assert!(!disk.files().iter().any(|(path, _)| path == "a"));
}

/// Seed 3184 of the explorer.
#[test]
fn a_file_is_removed_though_its_removal_is_known_before_its_last_version() {
    let disk = FaultyDisk::new(Stream::new(1, "disk"));
    let mut reception = Reception::new(disk.clone(), ReceptionSettings { replace: true, mirror: true });
    reception.begin(1, &instance(vec![file(1, &[])], Vec::new())).unwrap();
    while reception.work().unwrap() {}
    reception.packet(&known_part(), &[0; 4]).unwrap();
    assert!(reception.is_in_step());

    reception.begin(3, &instance(Vec::new(), vec![2])).unwrap();
    reception.packet(&known_part(), &[0; 4]).unwrap();
    assert!(!reception.is_complete(), "an instance is missing");
    reception.begin(2, &instance(vec![file(2, b"other")], Vec::new())).unwrap();
    assert!(!reception.is_in_step());
    reception.packet(&known_part(), &[0; 4]).unwrap();
    assert!(reception.is_in_step());
    assert!(!disk.files().iter().any(|(path, _)| path == "a"));
}

/// Seed 2158 of the explorer: a service whose disk had failed for seconds lacked a file for ever.
#[test]
fn what_the_disk_refused_is_put_in_its_place_when_it_works_again() {
    let disk = FaultyDisk::new(Stream::new(1, "disk"));
    let mut reception = Reception::new(disk.clone(), ReceptionSettings { replace: true, mirror: false });
    let table = instance(vec![file(1, &[])], Vec::new());
    let has_file = || disk.files().iter().any(|(path, _)| path == "a");
    // In the same session, and in the next one.
    for is_followed in [false, true] {
        disk.set(|disk| disk.failing = 1.0);
        reception.begin(1, &table).unwrap();
        while reception.work().unwrap() {}
        assert_eq!(reception.progress().failed, 1);
        disk.set(|disk| disk.failing = 0.0);
        if is_followed {
            reception.follow();
            reception.begin(1, &table).unwrap();
        } else {
            reception.try_again();
        }
        assert!(!reception.is_up_to_date());
        while reception.work().unwrap() {}
        assert!(has_file() && reception.is_up_to_date() && reception.progress().failed == 0);
        reception = Reception::new(disk.clone(), ReceptionSettings { replace: true, mirror: false });
        disk.clone().remove("a").unwrap();
    }
}
