//! What a relay, its children and an AMT gateway read.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::gateway::{Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::Message as AmtMessage;
use layercast_delivery::amt::relay::{Relay, RelaySettings};
use layercast_delivery::ip::Datagram;
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::query::Query;
use layercast_delivery::membership::report::Report;
use layercast_delivery::membership::subscriptions::Subscription;
use layercast_delivery::relay::child::Child;
use layercast_delivery::relay::message::{Alternatives, DATA_HEAD_MAX, Data, MESSAGE_MAX, Message};
use layercast_delivery::relay::parent::{Limits, Parent};
use layercast_delivery::relay::session::{Allowed, SessionKey};

const RELAY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 5600);
const CHILD: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 4000);
const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);
const STEP: Duration = Duration::from_ms(100);

/// Datagrams in a row, each after a byte with its length.
fn datagrams(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = bytes.split_first()?;
        let (one, rest) = rest.split_at(usize::from(length).min(rest.len()));
        bytes = rest;
        Some(one)
    })
}

/// Datagrams to a relay from a child that it has let in and from a stranger, and to a child from its relay.
///
/// # Panics
/// If a message that was read does not come back after it is written, or a stranger gets a longer answer than its question.
pub fn relay(bytes: &[u8]) {
    let session = SessionKey { group: GROUP, source: None };
    let allowed = Allowed { sessions: vec![session], prefixes: Vec::new() };
    let mut parent = Parent::new(Limits::default(), allowed, Alternatives::default(), [1; 32]);
    let mut now = Time::ZERO;
    let mut child = Child::new(session, &[RELAY], now, Duration::ZERO, [2; 32]);
    child.join(now, Channel(0));
    let mut room = [0; MESSAGE_MAX];
    for datagram in std::iter::repeat_n(&[][..], 8).chain(datagrams(bytes)) {
        now += STEP;
        round_trip(datagram);
        while let Some((_, length)) = child.poll(now, &mut room) {
            parent.message(now, CHILD, &room[..length]);
        }
        while let Some((_, length)) = parent.take_reply(&mut room) {
            child.message(now, RELAY, &room[..length]);
        }
        parent.message(now, SocketAddr::new(RELAY.ip(), 1), datagram);
        while let Some((to, length)) = parent.take_reply(&mut room) {
            assert!(to == CHILD || length <= datagram.len(), "{length} bytes to {to}");
        }
        parent.message(now, CHILD, datagram);
        if Data::is_data(datagram) {
            child.data(now, RELAY, datagram);
        } else {
            child.message(now, RELAY, datagram);
        }
        parent.poll(now);
    }
    assert!(parent.count() <= 2);
}

fn round_trip(bytes: &[u8]) {
    if let Some((data, length)) = Data::read(bytes) {
        let mut room = [0; DATA_HEAD_MAX];
        assert_eq!(data.write(&mut room), length);
        assert_eq!(Data::read(&room[..length]), Some((data, length)));
    }
    match Message::read(bytes) {
        Ok(message) => {
            let mut room = [0; MESSAGE_MAX];
            let length = message.write(&mut room);
            assert_eq!(Message::read(&room[..length]).as_ref(), Ok(&message));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Datagrams to an AMT gateway and to an AMT relay, and what is inside of them.
///
/// # Panics
/// If a message that was read does not come back after it is written.
pub fn amt(bytes: &[u8]) {
    let settings = GatewaySettings::new(RelayAddress::Given(RELAY), Reporting::Igmp);
    let mut gateway = Gateway::new(settings, &[1; 32]);
    let mut relay = Relay::new(RelaySettings::default(), &[2; 32]);
    let mut now = Time::ZERO;
    gateway.join(now, Subscription { group: GROUP.ip(), source: None });
    for datagram in std::iter::repeat_n(&[][..], 8).chain(datagrams(bytes)) {
        now += STEP;
        inside(datagram);
        gateway.timer(now);
        while let Some(out) = gateway.transmit() {
            if let Some(answer) = relay.receive(now, CHILD, &out.bytes) {
                gateway.receive(now, RELAY, &answer);
            }
        }
        gateway.receive(now, RELAY, datagram);
        relay.receive(now, CHILD, datagram);
        relay.timer(now);
    }
}

fn inside(bytes: &[u8]) {
    let message = match AmtMessage::read(bytes) {
        Ok(message) => message,
        Err(error) => return drop(error.to_string()),
    };
    let written = message.to_bytes();
    assert_eq!(AmtMessage::read(&written).as_ref(), Ok(&message));
    match message {
        AmtMessage::MembershipQuery { query: inner, .. }
        | AmtMessage::MembershipUpdate { report: inner, .. } => {
            if let Ok(datagram) = Datagram::read(inner) {
                let _ = (Query::read(&datagram), Report::read(&datagram));
            }
        }
        AmtMessage::MulticastData(inner) => {
            if let Ok(inner) = Inner::read(inner) {
                let written = inner.to_bytes();
                assert_eq!(Inner::read(&written).as_ref(), Ok(&inner));
            }
        }
        _ => {}
    }
}
