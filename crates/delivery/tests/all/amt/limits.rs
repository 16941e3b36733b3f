//! What attackers and crowds can do to a relay and a gateway.

use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::gateway::{Arrived, Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::Message;
use layercast_delivery::amt::relay::{Demand, Relay, RelaySettings};
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::query::Query;
use layercast_delivery::membership::report::{self, Record, RecordKind};
use layercast_delivery::membership::subscriptions::Subscription;

const RELAY: ([u8; 4], u16) = ([198, 51, 100, 7], 2268);

fn gateway_at(number: u32) -> SocketAddr {
    let [_, a, b, c] = number.to_be_bytes();
    SocketAddr::from(([10, a, b, c], 4000))
}

/// Asks for a query from an address; the update that it allows, with these groups.
fn update(relay: &mut Relay, now: Time, from: SocketAddr, groups: std::ops::Range<u8>) -> (bool, Vec<u8>) {
    let answer =
        relay.receive(now, from, &Message::Request { reporting: Reporting::Igmp, nonce: 5 }.to_bytes());
    let answer = answer.unwrap();
    let Ok(Message::MembershipQuery { is_full, mac, nonce, .. }) = Message::read(&answer) else { panic!() };
    let records: Vec<Record> = groups
        .map(|number| Record {
            kind: RecordKind::ToExclude,
            group: IpAddr::from([239, 0, 0, number]),
            sources: vec![],
        })
        .collect();
    let reports = report::write(Reporting::Igmp, &records);
    (is_full, Message::MembershipUpdate { mac, nonce, report: &reports[0] }.to_bytes())
}

#[test]
fn tunnels_and_subscriptions_are_bounded() {
    let settings =
        RelaySettings { tunnels: 10, tunnels_of_address: 2, subscriptions: 3, ..RelaySettings::default() };
    let mut relay = Relay::new(settings, &[1; 32]);
    let now = Time::ZERO;
    for number in 0..20 {
        let (is_full, update) = update(&mut relay, now, gateway_at(number), 0..5);
        assert_eq!(is_full, number >= 10);
        assert_eq!(relay.receive(now, gateway_at(number), &update), None);
        assert_eq!(relay.subscriptions(gateway_at(number)).len(), if number < 10 { 3 } else { 0 });
    }
    assert_eq!(relay.tunnels(), 10);
    let of_all: Vec<Demand> = std::iter::from_fn(|| relay.take_demand()).collect();
    assert_eq!(of_all.len(), 3, "only the first tunnel changes what all want");
    // A tunnel that is there may go on.
    let (is_full, update_again) = update(&mut relay, now, gateway_at(3), 0..3);
    assert!(!is_full);
    relay.receive(now, gateway_at(3), &update_again);
    assert_eq!(relay.counters().refused, 10 + 10 * 2);
    // Two ports of one address, and no third.
    let mut relay = Relay::new(settings, &[1; 32]);
    for port in [1, 2, 3] {
        let from = SocketAddr::new(gateway_at(1).ip(), port);
        let (is_full, update) = update(&mut relay, now, from, 0..1);
        assert_eq!(is_full, port == 3);
        relay.receive(now, from, &update);
    }
    assert_eq!(relay.tunnels(), 2);
}

#[test]
fn spoofed_messages_leave_no_state() {
    let mut relay = Relay::new(RelaySettings::default(), &[1; 32]);
    let now = Time::ZERO;
    let (_, good) = update(&mut relay, now, gateway_at(0), 0..1);
    for number in 1..20_000 {
        let from = gateway_at(number);
        let request = Message::Request { reporting: Reporting::Mld, nonce: number }.to_bytes();
        assert!(relay.receive(now, from, &request).is_some_and(|answer| answer.len() <= 106));
        // An update that was made for another address.
        assert_eq!(relay.receive(now, from, &good), None);
    }
    assert_eq!(relay.tunnels(), 0);
    assert_eq!(relay.counters().forged, 19_999);
    relay.receive(now, gateway_at(0), &good);
    assert_eq!(relay.tunnels(), 1);
    // A teardown needs the MAC too.
    let teardown = Message::Teardown { mac: [0; 6], nonce: 5, gateway: gateway_at(0).into() }.to_bytes();
    relay.receive(now, gateway_at(9), &teardown);
    assert_eq!(relay.tunnels(), 1);
}

#[test]
fn subscriptions_end_without_reports() {
    let mut relay = Relay::new(RelaySettings::default(), &[1; 32]);
    let group = IpAddr::from([239, 0, 0, 0]);
    let (_, good) = update(&mut relay, Time::ZERO, gateway_at(0), 0..1);
    relay.receive(Time::ZERO, gateway_at(0), &good);
    let source = IpAddr::from([192, 0, 2, 1]);
    let mut at = Time::ZERO;
    for second in 1..=261 {
        assert_eq!(relay.gateways(group, source), [gateway_at(0)], "after {} s", second - 1);
        at = Time::ZERO + Duration::from_secs(second);
        relay.timer(at);
        if second == 260 {
            break;
        }
    }
    // 2 * 125 s + 10 s (RFC 7450, section 5.3.3.7).
    assert_eq!(at.as_secs_f64(), 260.0);
    assert!(relay.gateways(group, source).is_empty() && relay.tunnels() == 0);
    let subscription = Subscription { group, source: None };
    assert_eq!(relay.take_demand(), Some(Demand::Join(subscription)));
    assert_eq!(relay.take_demand(), Some(Demand::Leave(subscription)));
}

#[test]
fn a_gateway_takes_packets_of_its_relay_groups_and_sources_only() {
    let relay = SocketAddr::from(RELAY);
    let mut gateway =
        Gateway::new(GatewaySettings::new(RelayAddress::Given(relay), Reporting::Igmp), &[1; 32]);
    let (group, source) = (IpAddr::from([232, 0, 0, 1]), IpAddr::from([192, 0, 2, 1]));
    gateway.join(Time::ZERO, Subscription { group, source: Some(source) });
    let packet = |from: [u8; 4], to: [u8; 4]| {
        let (from, group) = (SocketAddr::from((from, 1)), SocketAddr::from((to, 2)));
        let inner = Inner { from, group, ecn: Ecn::Capable, payload: b"x" };
        Message::MulticastData(&inner.to_bytes()).to_bytes()
    };
    let good = packet([192, 0, 2, 1], [232, 0, 0, 1]);
    assert!(matches!(gateway.receive(Time::ZERO, relay, &good), Arrived::Packet(_)));
    let another = SocketAddr::from(([198, 51, 100, 8], 2268));
    assert_eq!(gateway.receive(Time::ZERO, another, &good), Arrived::Nothing);
    for wrong in [packet([192, 0, 2, 2], [232, 0, 0, 1]), packet([192, 0, 2, 1], [232, 0, 0, 2])] {
        assert_eq!(gateway.receive(Time::ZERO, relay, &wrong), Arrived::Nothing);
    }
    assert_eq!(gateway.receive(Time::ZERO, relay, &packet([192, 0, 2, 1], [10, 0, 0, 1])), Arrived::Nothing);
    let counters = gateway.counters();
    assert_eq!((counters.packets, counters.foreign, counters.unwanted, counters.malformed), (1, 1, 2, 1));
    // A query with another nonce, or from another address, is not the answer.
    let request = gateway.transmit().unwrap();
    let Ok(Message::Request { nonce, .. }) = Message::read(&request.bytes) else { panic!() };
    let query = |nonce| {
        let query = Query::general(Reporting::Igmp, 2, Duration::from_secs(125)).to_bytes();
        Message::MembershipQuery { is_full: false, mac: [1; 6], nonce, query: &query, gateway: None }
            .to_bytes()
    };
    assert_eq!(gateway.receive(Time::ZERO, relay, &query(nonce ^ 1)), Arrived::Nothing);
    assert_eq!(gateway.receive(Time::ZERO, another, &query(nonce)), Arrived::Nothing);
    assert!(!gateway.is_connected() && gateway.transmit().is_none());
    assert_eq!(gateway.receive(Time::ZERO, relay, &query(nonce)), Arrived::Control);
    assert!(gateway.is_connected());
    assert_eq!(gateway.transmit().map(|update| update.bytes[0]), Some(5));
}
