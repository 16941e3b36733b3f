//! Sessions whose table is signed, next to forgers.

use layercast_delivery::packet::Fdt;

use super::*;

/// What a forger makes of a packet of the source.
fn forged(repr: &Repr, payload: &[u8], kind: u64) -> (Repr, Vec<u8>) {
    let (mut repr, mut payload) = (*repr, payload.to_vec());
    match kind {
        // Another symbol under the same number.
        0 => payload.iter_mut().skip(4).for_each(|byte| *byte ^= 0x55),
        // A symbol that the source has not sent yet, and never will with this content.
        1 => payload[1] ^= 0x0f,
        // A part of the table under another number, or damaged.
        _ if repr.fdt.is_some() => {
            repr.fdt = Some(Fdt::new(1));
        }
        _ => payload.truncate(7),
    }
    (repr, payload)
}

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn trusting(disk: MemoryDisk, seeds: &[u8]) -> Reception<MemoryDisk> {
    let keys = seeds.iter().map(|&seed| key(seed).public()).collect();
    Reception::trusting(disk, ReceptionSettings::default(), keys)
}

#[test]
fn no_forged_byte_of_a_signed_session_is_kept_and_everything_arrives() {
    let (big, mid, small) = (content(450_000, 1), content(5_000, 2), content(100, 3));
    let files: [(&str, &[u8]); 4] = [("big", &big), ("mid", &mid), ("small", &small), ("empty", &[])];
    for lost in [0.0, 0.2] {
        let mut source = Source::signing(2, Some(key(1)));
        source.put(&files, &[], true);
        let mut reception = trusting(MemoryDisk::default(), &[2, 1]);
        let (mut stream, mut forgeries) = (Stream::new(3, "forger"), 0);
        for number in 0..200_000u64 {
            let (repr, payload) = source.next((number % 2) as u16);
            // Rare, as each may cost a block of a thousand symbols.
            if number < 2000 || number % 3000 == 0 {
                let (repr, payload) = forged(&repr, &payload, stream.bits() % 3);
                reception.packet(&repr, &payload).unwrap();
                forgeries += 1;
            }
            if !stream.chance(lost) {
                reception.packet(&repr, &payload).unwrap();
            }
            finish(&mut reception);
            if reception.is_complete() {
                break;
            }
        }
        assert!(reception.is_complete(), "{:?}", reception.progress());
        assert_placed(&reception, &files);
        assert!(forgeries > 2000 && reception.counters().forged > 0, "{:?}", reception.counters());
    }
}

#[test]
fn a_table_counts_only_if_a_trusted_key_has_signed_it() {
    let small = content(1000, 3);
    for (signer, trusted, untrusted) in [(None, 1, true), (Some(2), 1, true), (Some(1), 1, false)] {
        let mut source = Source::signing(1, signer.map(key));
        source.put(&[("small", &small)], &[], true);
        let mut reception = trusting(MemoryDisk::default(), &[trusted]);
        run(&mut source, &mut reception, 100);
        assert_eq!(reception.is_complete(), !untrusted);
        assert_eq!(reception.untrusted_tables() > 0, untrusted);
        assert_eq!(names(&reception).is_empty(), untrusted);
    }
    // A genuine table in the packets of another session.
    let mut source = Source::signing(1, Some(key(1)));
    source.put(&[("small", &small)], &[], true);
    let mut reception = trusting(MemoryDisk::default(), &[1]);
    for _ in 0..100 {
        let (mut repr, payload) = source.next(0);
        repr.tsi = 2;
        reception.packet(&repr, &payload).unwrap();
    }
    assert!(reception.untrusted_tables() > 0 && reception.progress().objects == 0);
}

/// Blocks that an earlier receiver recorded are verified again: it may not have verified them, and the disk may be wrong.
#[test]
fn what_is_on_the_disk_is_verified_before_it_counts() {
    let big = content(450_000, 1);
    let mut source = Source::signing(1, Some(key(1)));
    source.put(&[("big", &big)], &[], true);
    let mut first = receiver(ReceptionSettings::default());
    let needed = 450_000 / 200;
    for _ in 0..needed - 100 {
        let (repr, payload) = source.next(0);
        first.packet(&repr, &payload).unwrap();
    }
    first.flush();
    finish(&mut first);
    let mut disk = left(&first);
    let partial = first.disk().files().find(|(path, _)| path.ends_with(".partial"));
    let (path, mut bytes) = partial.map(|(path, bytes)| (path.to_owned(), bytes)).unwrap();
    bytes[100] ^= 1;
    disk.put(&path, &bytes);
    let mut second = trusting(disk, &[1]);
    transfer(&mut source, &mut second, &[0], |_, _| true);
    assert_placed(&second, &[("big", &big)]);
    let counters = second.counters();
    assert!((1..=2).contains(&counters.forged), "without its repair symbols it is still wrong: {counters:?}");
    let events: Vec<ReceptionEvent> = second.drain_events().collect();
    assert!(!events.iter().any(|event| matches!(event, ReceptionEvent::WrongHash { .. })), "{events:?}");
    // One of three blocks, and what was missing of the others.
    assert!(counters.useful < 1000, "{counters:?}");
}

/// The hashes of 19 blocks take some seven packets, next to 75,000.
#[test]
fn the_hashes_of_the_blocks_of_a_long_file_cost_little_even_on_a_base_channel_alone() {
    let big = content(15_000_000, 1);
    let mut source = Source::signing(2, Some(key(1)));
    source.put(&[("big", &big)], &[], true);
    let mut parts = [0; 2];
    for number in 0..40_000u16 {
        let channel = number % 2;
        let (repr, _) = source.next(channel);
        parts[usize::from(channel)] += u32::from(repr.fdt.is_some());
    }
    let encoded = source.sender.catalogue().instances();
    assert_eq!(encoded.len(), 1);
    let all = encoded[0].bytes.len().div_ceil(176) as u32;
    assert!((5..=9).contains(&all), "{all}");
    // At the start on both, then on the base channel every 0.8 s, which is more than nine times as many packets.
    assert_eq!(parts[1], all);
    assert!((45 * all..=51 * all).contains(&parts[0]), "{parts:?} of {all}");
}
