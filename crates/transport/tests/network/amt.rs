//! A file through an AMT relay (RFC 7450), by which the receiver gets all packets.

mod peer;
mod transfer;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use layercast_delivery::search::Known;
use layercast_transport::Notice;
use layercast_transport::amt::AmtRelay;
use layercast_transport::host::Interface;
use layercast_transport::notice::AmtNews;

use crate::fixture::{TempDir, content};
use crate::lo::works_here;
use peer::{Peer, Running};
use transfer::{receive_into, receiving, sending, start_source};

/// Relays have a port of their own each, since the usual one may be taken.
fn relay_at(number: u8) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, layercast_testkit::port(number)).into()
}

fn group(number: u8) -> SocketAddr {
    (Ipv4Addr::new(239, 255, 77, number), layercast_testkit::port(number)).into()
}

fn peer(at: SocketAddr, group: SocketAddr) -> Peer {
    let interface = Interface::find(Some("127.0.0.1"), group).unwrap();
    Peer { at, interface, port: group.port() }
}

#[test]
fn a_file_arrives_through_a_relay() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("file");
    let bytes = content(1_500_000);
    let (group, at) = (group(0), relay_at(0));
    let _relay = Running::start(peer(at, group), 1);
    let source = start_source(temp.with("file", &bytes), sending(group, "elm"));
    for (name, known) in
        [("any", Known::Group(group, None)), ("one", Known::Group(group, Some(Ipv4Addr::LOCALHOST.into())))]
    {
        let into = temp.directory(name);
        let notices = Mutex::new(Vec::new());
        let options = receiving(known, into.clone(), AmtRelay::At(at));
        let progress = receive_into(&options, &notices).unwrap();
        assert_eq!(std::fs::read(into.join("file")).unwrap(), bytes, "{name}");
        assert!(progress.counters.node.accept.packets > 1000);
        assert_eq!(progress.counters.node.accept.malformed + progress.counters.node.accept.misplaced, 0);
        assert_eq!(notices.into_inner().unwrap(), [Notice::Amt { news: AmtNews::Served(at) }], "{name}");
    }
    source.stop();
}

#[test]
fn a_relay_that_restarts_costs_seconds_and_nothing_else() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("restart");
    let bytes = content(3_000_000);
    let (group, at) = (group(16), relay_at(1));
    let relay = Running::start(peer(at, group), 1);
    let source = start_source(temp.with("file", &bytes), sending(group, "elm"));
    let into = temp.directory("into");
    let options = receiving(Known::Group(group, None), into.clone(), AmtRelay::At(at));
    let begin = Instant::now();
    let receiver = thread::spawn(move || receive_into(&options, &Mutex::new(Vec::new())));
    thread::sleep(Duration::from_secs(2));
    assert!(!receiver.is_finished(), "the file is too short for this test");
    // Its tunnels and its secret are gone.
    drop(relay);
    let _relay = Running::start(peer(at, group), 2);
    receiver.join().unwrap().unwrap();
    assert_eq!(std::fs::read(into.join("file")).unwrap(), bytes);
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(40), "{took:?}");
    eprintln!("with a restart of the relay the file took {:.1} s", took.as_secs_f64());
    source.stop();
}

#[test]
fn without_a_relay_the_operator_learns_why() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("none");
    let notices = Mutex::new(Vec::new());
    // Nobody listens there.
    let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let mut options = receiving(Known::Group(group(32), None), temp.directory("into"), AmtRelay::At(nobody));
    options.start_within = Duration::from_secs(8);
    let error = receive_into(&options, &notices).unwrap_err();
    assert!(error.to_string().contains("no valid packet"), "{error}");
    assert_eq!(notices.into_inner().unwrap(), [Notice::Amt { news: AmtNews::Silent(nobody) }]);
}
