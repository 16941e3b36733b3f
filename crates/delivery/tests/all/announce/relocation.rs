//! A session that is not where it was announced is looked for among the announcements again.

use std::sync::Arc;

use layercast_core::units::{Duration, Time};
use layercast_delivery::announce::sap::Kind;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::finding::{Announced, Place, Relocation};
use layercast_delivery::node::{Discard, Output, Receiver, ReceiverSettings};
use layercast_delivery::search::Known;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_protocols::registry::Registry;

use super::support::{address, packet, session};

const WITHIN: Duration = Duration::from_secs(45);
const PATIENCE: Duration = Duration::from_secs(30);

fn announced() -> Announced {
    Announced { name: "news".to_owned(), within: WITHIN, epoch_s: 0 }
}

fn known(description: &Description) -> Known {
    Place::of(description).unwrap().known
}

fn bytes(description: &Description, key: Option<&SecretKey>) -> Vec<u8> {
    packet(Kind::Announcement, description, key.map(|key| key as &dyn Signer))
}

/// Where a listener of these keys takes the session to be, when nothing comes from that of the first host.
fn relocation(keys: &[PublicKey]) -> impl FnMut(&[u8]) -> Option<Known> + use<> {
    let mut relocation = Relocation::new(announced(), Arc::from(keys));
    let silent = known(&session(1, "news", 1));
    move |bytes| Some(relocation.receive(Time::ZERO, address(1), bytes, &silent, None)?.known)
}

#[test]
fn the_latest_announcement_of_the_name_counts_but_for_that_which_failed() {
    let mut heard = relocation(&[]);
    assert_eq!(heard(&bytes(&session(1, "news", 1), None)), None, "that which failed");
    assert_eq!(heard(&bytes(&session(2, "other", 1), None)), None);
    assert_eq!(heard(&packet(Kind::Deletion, &session(2, "news", 1), None)), None);
    assert_eq!(heard(&[7; 40]), None);
    for host in [2, 3, 2] {
        assert_eq!(heard(&bytes(&session(host, "news", 1), None)), Some(known(&session(host, "news", 1))));
    }
    // Anyone can name the highest version.
    let forged = Description { tsi: 9, ..session(2, "news", 900) };
    assert_eq!(heard(&bytes(&forged, None)), Some(known(&forged)));
    assert_eq!(heard(&bytes(&session(2, "news", 1), None)), Some(known(&session(2, "news", 1))));
}

#[test]
fn with_keys_only_what_they_have_signed_counts_and_no_older_version() {
    let (key, other) = (SecretKey::from_seed(&[7; 32]), SecretKey::from_seed(&[8; 32]));
    let mut heard = relocation(&[key.public()]);
    let (old, new) = (session(2, "news", 1), Description { tsi: 9, ..session(2, "news", 2) });
    assert_eq!(heard(&bytes(&old, None)), None);
    assert_eq!(heard(&bytes(&old, Some(&other))), None);
    assert_eq!(heard(&bytes(&new, Some(&key))), Some(known(&new)));
    assert_eq!(heard(&bytes(&old, Some(&key))), None, "a recording");
    assert_eq!(heard(&bytes(&new, Some(&key))), Some(known(&new)));
}

/// A receiver to which nothing comes, and its time.
struct Silent(Receiver<Registry, Discard>, Time);

impl Silent {
    fn new(keep_going: bool) -> Silent {
        let settings = ReceiverSettings {
            announced: Some(announced()),
            start_within: PATIENCE,
            patience: PATIENCE,
            keep_going,
            ..ReceiverSettings::new(known(&session(1, "news", 1)))
        };
        let mut receiver = Receiver::new(settings, Discard::default());
        receiver.start(Time::ZERO);
        Silent(receiver, Time::ZERO)
    }

    /// What it wants until a time.
    fn until(&mut self, seconds: u64) -> Vec<String> {
        let until = Time::ZERO + Duration::from_secs(seconds);
        let mut wants = Vec::new();
        while let Some(at) = self.0.deadline().filter(|&at| at <= until) {
            self.1 = self.1.max(at);
            self.0.handle_timer(self.1);
            wants.extend(self.wants());
        }
        self.1 = until;
        wants
    }

    fn hears(&mut self, host: u32) -> Vec<String> {
        self.0.handle_announcement(self.1, address(host), &bytes(&session(host, "news", 1), None));
        self.wants()
    }

    /// But for what shows progress.
    fn wants(&mut self) -> Vec<String> {
        let wants = std::iter::from_fn(|| self.0.poll()).filter_map(|output| match output {
            Output::Join(_, group) => Some(format!("join {group}")),
            Output::Leave(_, group) => Some(format!("leave {group}")),
            Output::Listen(begins) => Some(format!("listen {begins}")),
            Output::Relocated(place) => Some(format!("at {}", place.known.group())),
            Output::Ended(result) => Some(format!("ended {}", result.is_ok())),
            Output::Notice(notice) => Some(notice.name().to_owned()),
            _ => None,
        });
        wants.collect()
    }
}

#[test]
fn a_receiver_listens_when_nothing_comes_and_goes_where_its_session_is_announced() {
    for keep_going in [false, true] {
        let mut receiver = Silent::new(keep_going);
        assert_eq!(receiver.until(29), ["join 239.1.0.1:5500"]);
        assert_eq!(receiver.hears(2), [""; 0], "a receiver that does not listen is not led away");
        let listens = ["leave 239.1.0.1:5500", "listening", "listen true", "join 239.1.0.1:5500"];
        assert_eq!(receiver.until(31), listens);
        assert_eq!(receiver.hears(1), [""; 0], "there nothing comes");
        assert_eq!(receiver.until(60), [""; 0]);
        let moves = ["listen false", "leave 239.1.0.1:5500", "at 239.1.0.2:5500", "join 239.1.0.2:5500"];
        assert_eq!(receiver.hears(2), moves);
        assert_eq!(receiver.until(89), [""; 0]);
        // There neither: it is tried where it was.
        let listens = ["leave 239.1.0.2:5500", "listening", "listen true", "join 239.1.0.2:5500"];
        assert_eq!(receiver.until(91), listens);
        let moves = ["listen false", "leave 239.1.0.2:5500", "at 239.1.0.1:5500", "join 239.1.0.1:5500"];
        assert_eq!(receiver.hears(1), moves);
    }
}

#[test]
fn without_another_announcement_a_service_listens_on_and_a_receiver_ends() {
    let mut receiver = Silent::new(false);
    receiver.until(31);
    assert_eq!(receiver.until(74), [""; 0]);
    assert_eq!(receiver.until(76), ["leave 239.1.0.1:5500", "listen false", "ended false"]);
    let mut service = Silent::new(true);
    service.until(31);
    assert_eq!(service.until(10_000), [""; 0]);
    assert_eq!(service.hears(3).last().map(String::as_str), Some("join 239.1.0.3:5500"));
}
