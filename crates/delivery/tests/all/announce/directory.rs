//! What a listener keeps.

use std::net::IpAddr;

use layercast_core::units::{Duration, Time};
use layercast_delivery::announce::directory::{Change, Directory, FindError, Limits, Owner, Refusal};
use layercast_delivery::announce::interval::{LIMIT_BPS, Pace, lifetime};
use layercast_delivery::announce::sap::Kind;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::signature::Signer;
use proptest::prelude::*;

use crate::announce::support::{Check, Toy, address, packet, session};

const EPOCH_S: u64 = 3_900_000_000;

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

fn empty() -> Directory {
    Directory::new(Limits::default(), EPOCH_S)
}

/// Announces a session from its own host.
fn announce(
    directory: &mut Directory,
    of: &Description,
    signer: Option<&dyn Signer>,
    now: Time,
) -> Result<Change, Refusal> {
    let host = of.origin.address.parse().unwrap();
    directory.receive(&packet(Kind::Announcement, of, signer), host, &Check, now)
}

fn names(directory: &Directory) -> Vec<&str> {
    directory.sessions().map(|entry| entry.description.name.as_str()).collect()
}

#[test]
fn sessions_come_are_repeated_change_and_end() {
    let mut directory = empty();
    let first = session(1, "news", 1);
    assert!(matches!(announce(&mut directory, &first, None, at(0)), Ok(Change::New(_))));
    assert!(matches!(announce(&mut directory, &first, None, at(9)), Ok(Change::Repeated(_))));
    let second = session(1, "more news", 2);
    let Ok(Change::Changed(id)) = announce(&mut directory, &second, None, at(18)) else { panic!() };
    assert_eq!(names(&directory), ["more news"]);
    let entry = directory.get(&id).unwrap();
    assert_eq!((entry.first, entry.last, entry.announcements), (at(0), at(18), 3));
    let late = packet(Kind::Deletion, &first, None);
    let refused = directory.receive(&late, address(1), &Check, at(19));
    assert_eq!(refused, Err(Refusal::Outdated { known: 2, given: 1 }), "the new version stays");
    let end = packet(Kind::Deletion, &second, None);
    let Ok(Change::Deleted(entry)) = directory.receive(&end, address(1), &Check, at(20)) else { panic!() };
    assert_eq!(entry.description, second);
    assert_eq!(names(&directory), [""; 0]);
    assert_eq!(directory.receive(&end, address(1), &Check, at(21)), Err(Refusal::NotDeleted));
}

#[test]
fn only_the_owner_deletes_and_changes() {
    let mut directory = empty();
    let (owner, thief) = (Toy([1; 32]), Toy([2; 32]));
    let news = session(1, "news", 1);
    announce(&mut directory, &news, Some(&owner), at(0)).unwrap();
    for (signer, from) in [(None, address(1)), (Some(&thief), address(1)), (Some(&thief), address(2))] {
        let signer = signer.map(|toy| toy as &dyn Signer);
        let refused = directory.receive(&packet(Kind::Deletion, &news, signer), from, &Check, at(1));
        assert_eq!(refused, Err(Refusal::NotDeleted));
    }
    // A change by another is another session (RFC 2974, section 5).
    let changed = session(1, "fake news", 2);
    assert!(matches!(announce(&mut directory, &changed, Some(&thief), at(2)), Ok(Change::New(_))));
    assert!(matches!(announce(&mut directory, &changed, None, at(2)), Ok(Change::New(_))));
    assert_eq!(directory.sessions().count(), 3);
    assert_eq!(directory.find("news").unwrap().owner, Owner::Key([1; 32]));
    // The key is the owner, wherever its packets come from.
    let end = packet(Kind::Deletion, &news, Some(&owner));
    assert!(matches!(directory.receive(&end, address(9), &Check, at(3)), Ok(Change::Deleted(_))));
}

#[test]
fn an_unsigned_session_belongs_to_the_host_that_sends_it() {
    let mut directory = empty();
    let news = session(1, "news", 1);
    announce(&mut directory, &news, None, at(0)).unwrap();
    // The source in the header of SAP says host 1, and the packet comes from host 2.
    let end = packet(Kind::Deletion, &news, None);
    assert_eq!(directory.receive(&end, address(2), &Check, at(1)), Err(Refusal::NotDeleted));
    assert_eq!(names(&directory), ["news"]);
}

#[test]
fn forged_and_recorded_packets_are_counted() {
    let mut directory = empty();
    let owner = Toy([1; 32]);
    let (first, second) = (session(1, "news", 1), session(1, "news", 2));
    let recorded = packet(Kind::Announcement, &first, Some(&owner));
    announce(&mut directory, &second, Some(&owner), at(0)).unwrap();
    let refused = directory.receive(&recorded, address(1), &Check, at(1));
    assert_eq!(refused, Err(Refusal::Outdated { known: 2, given: 1 }));
    let mut forged = recorded.clone();
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(directory.receive(&forged, address(1), &Check, at(1)), Err(Refusal::Forged));
    let mut named = session(3, "other", 1);
    named.key = Some([9; 32]);
    assert_eq!(announce(&mut directory, &named, Some(&owner), at(1)), Err(Refusal::OtherKey));
    assert!(matches!(directory.receive(b"hello", address(1), &Check, at(1)), Err(Refusal::Sap(_))));
    let counters = directory.counters();
    assert_eq!((counters.announcements, counters.outdated), (1, 1));
    assert_eq!((counters.forged, counters.unreadable), (2, 1));
}

#[test]
fn a_session_that_is_no_longer_announced_expires() {
    let mut directory = empty();
    announce(&mut directory, &session(1, "once", 1), None, at(0)).unwrap();
    for round in 0..10 {
        announce(&mut directory, &session(2, "often", 1), None, at(30 * round)).unwrap();
    }
    // Ten times the longest time between two of its announcements.
    assert_eq!(directory.deadline(), Some(at(270 + 300)));
    assert_eq!(directory.expire(at(569)), []);
    let expired = directory.expire(at(570));
    assert_eq!(expired.iter().map(|entry| entry.description.name.as_str()).collect::<Vec<_>>(), ["often"]);
    // Announced once: the RFC's hour.
    assert_eq!(directory.deadline(), Some(at(3600)));
    assert_eq!(directory.expire(at(3600)).len(), 1);
    assert_eq!(directory.deadline(), None);
}

#[test]
fn a_session_ends_at_its_own_time() {
    let mut directory = empty();
    let mut news = session(1, "news", 1);
    news.stop_s = EPOCH_S + 100;
    announce(&mut directory, &news, None, at(0)).unwrap();
    assert_eq!(directory.expire(at(99)), []);
    assert_eq!(directory.expire(at(100)).len(), 1);
    assert_eq!(announce(&mut directory, &news, None, at(100)), Err(Refusal::Over));
}

#[test]
fn memory_is_bounded_and_a_flood_displaces_nobody_who_is_trusted() {
    let mut directory = Directory::new(Limits { sessions: 10, per_owner: 4 }, EPOCH_S);
    let owner = Toy([1; 32]);
    announce(&mut directory, &session(1, "signed", 1), Some(&owner), at(0)).unwrap();
    let from = address(99);
    let flood = |directory: &mut Directory, host: u32, from: IpAddr| {
        directory.receive(
            &packet(Kind::Announcement, &session(host, "x", 1), None),
            from,
            &Check,
            at(host.into()),
        )
    };
    for host in 100..104 {
        assert!(flood(&mut directory, host, from).is_ok());
    }
    assert_eq!(flood(&mut directory, 104, from), Err(Refusal::Full), "one host has its share");
    for host in 105..1000 {
        let _ = flood(&mut directory, host, address(host));
    }
    assert_eq!(directory.sessions().count(), 10);
    assert_eq!(directory.counters().full, 1 + 890);
    // A signed session takes the place of the unsigned one that was not announced for the longest time.
    announce(&mut directory, &session(2, "also signed", 1), Some(&owner), at(2000)).unwrap();
    assert_eq!(directory.sessions().count(), 10);
    assert_eq!(directory.counters().evicted, 1);
    assert!(directory.find("signed").is_ok() && directory.find("also signed").is_ok());
    assert!(directory.sessions().all(|entry| entry.announcer != address(100)));
    // Anyone can make keys, so a flood may be signed. It takes the place of what is not signed, and no more.
    for host in 3000u32..3020 {
        let [.., high, low] = host.to_be_bytes();
        let mut key = [high; 32];
        key[0] = low;
        let _ = announce(&mut directory, &session(host, "y", 1), Some(&Toy(key)), at(host.into()));
    }
    assert!(directory.find("signed").is_ok() && directory.find("also signed").is_ok());
    let trusted = Toy([200; 32]);
    assert_eq!(announce(&mut directory, &session(3, "z", 1), Some(&trusted), at(4000)), Err(Refusal::Full));
    directory.trust([200; 32]);
    assert!(announce(&mut directory, &session(3, "z", 1), Some(&trusted), at(4001)).is_ok());
    assert_eq!(directory.sessions().count(), 10);
}

#[test]
fn names_lead_to_sessions() {
    let mut directory = empty();
    let error = directory.find("news").unwrap_err();
    assert_eq!(error.to_string(), "no session `news` is announced; none is known yet");
    announce(&mut directory, &session(1, "news", 1), None, at(0)).unwrap();
    announce(&mut directory, &session(2, "sports", 1), Some(&Toy([0; 32])), at(0)).unwrap();
    assert_eq!(directory.find("news").unwrap().announcer, address(1));
    let error = directory.find("film").unwrap_err();
    assert_eq!(error.to_string(), "no session `film` is announced; known: news, sports");
    let url = directory.find("sports").unwrap().url().unwrap();
    assert_eq!(url.key, Some([0; 32]), "the key that signed");
    announce(&mut directory, &session(3, "news", 1), None, at(0)).unwrap();
    let Err(FindError::Ambiguous { lines, .. }) = directory.find("news") else { panic!() };
    assert_eq!(lines[0], "layercast://239.1.0.1:5500?source=10.0.0.1&name=news");
    let rule = format!("key={},*", "A".repeat(43)).parse().unwrap();
    assert_eq!(directory.matching(&rule).count(), 1);
    assert_eq!(directory.matching(&"n*".parse().unwrap()).count(), 2);
}

#[test]
fn intervals_are_those_of_the_rfc() {
    // Section 3.1: at least 300 s; a thousand announcements of 600 bytes take longer.
    assert_eq!(Pace::RFC.interval(1, 600, true), Duration::from_secs(300));
    let shared = Duration::from_secs(8 * 1000 * 600 / LIMIT_BPS);
    assert_eq!(Pace::RFC.interval(1000, 600, false), shared.scaled(1.5));
    assert_eq!(Pace::LOCAL.interval(1, 600, true), Duration::from_secs(5));
    assert_eq!(Pace::LOCAL.interval(1, 600, false), Duration::from_secs(30));
    assert_eq!(Pace::for_group("ff0e::2:7ffe".parse().unwrap()), Pace::RFC);
    // Section 4: ten intervals or an hour.
    assert_eq!(lifetime(1, 600, None), Duration::from_secs(3600));
    assert_eq!(lifetime(1000, 600, None), shared.scaled(15.0));
    assert_eq!(lifetime(1, 600, Some(Duration::from_secs(1))), Duration::from_secs(300));
    assert_eq!(lifetime(1, 600, Some(Duration::from_secs(3000))), Duration::from_secs(3600));
    assert_eq!(lifetime(1000, 600, Some(Duration::from_secs(1))), shared.scaled(15.0));
}

proptest! {
    #[test]
    fn whatever_comes_the_bounds_hold(
        steps in proptest::collection::vec((0u32..6, 0u64..4, 0u8..4, any::<bool>(), 0u32..3, 0u64..2000), 0..60),
        noise in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut directory = Directory::new(Limits { sessions: 4, per_owner: 2 }, EPOCH_S);
        let mut now = Time::ZERO;
        for (host, version, key, is_deletion, from, wait) in steps {
            now += Duration::from_secs(wait);
            let kind = if is_deletion { Kind::Deletion } else { Kind::Announcement };
            let toy = (key > 0).then_some(Toy([key; 32]));
            let bytes = packet(kind, &session(host, "x", version), toy.as_ref().map(|toy| toy as _));
            let known = directory.sessions().count();
            let change = directory.receive(&bytes, address(from), &Check, now);
            let after = directory.sessions().count();
            match change {
                Ok(Change::New(id)) => prop_assert!(directory.get(&id).is_some()),
                Ok(Change::Deleted(_)) => prop_assert_eq!(after, known - 1),
                _ => prop_assert_eq!(after, known),
            }
            prop_assert!(after <= 4);
            let _ = directory.receive(&noise, address(from), &Check, now);
            directory.expire(now);
            prop_assert!(directory.deadline().is_none_or(|deadline| deadline > now));
        }
    }
}
