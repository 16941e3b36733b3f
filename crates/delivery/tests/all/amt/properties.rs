//! Readers never panic, and read what writers write.

use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::gateway::{Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::{Message, TunnelEndpoint};
use layercast_delivery::amt::relay::{Relay, RelaySettings};
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::subscriptions::Subscription;
use proptest::prelude::*;

use crate::membership::{bytes, damage, group, unicast};

fn endpoint() -> impl Strategy<Value = TunnelEndpoint> {
    (any::<u16>(), any::<[u8; 16]>()).prop_map(|(port, address)| TunnelEndpoint { port, address })
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in bytes(200)) {
        let _ = Message::read(&bytes).map(|message| message.to_bytes());
        let _ = Inner::read(&bytes);
    }

    /// Bytes that look right at the start reach the depths of the readers.
    #[test]
    fn damaged_packets_never_panic(
        is_v4: bool, places in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in 0usize..40,
    ) {
        let (from, group) = if is_v4 { ("192.0.2.1:1", "232.0.0.1:2") } else { ("[2001:db8::1]:1", "[ff3e::1]:2") };
        let (from, group) = (from.parse().unwrap(), group.parse().unwrap());
        let mut packet = Inner { from, group, ecn: Ecn::Capable, payload: &[7; 100] }.to_bytes();
        damage(&mut packet, &places, cut);
        let _ = Inner::read(&packet);
    }

    #[test]
    fn messages_come_back(
        mac: [u8; 6], nonce in 1u32.., is_full: bool, gateway in prop::option::of(endpoint()),
        payload in bytes(100), relay in any::<bool>().prop_flat_map(unicast), is_mld: bool,
        to in endpoint(),
    ) {
        let reporting = if is_mld { Reporting::Mld } else { Reporting::Igmp };
        for message in [
            Message::RelayDiscovery { nonce },
            Message::RelayAdvertisement { nonce, relay },
            Message::Request { reporting, nonce },
            Message::MembershipQuery { is_full, mac, nonce, query: &payload, gateway },
            Message::MembershipUpdate { mac, nonce, report: &payload },
            Message::MulticastData(&payload),
            Message::Teardown { mac, nonce, gateway: to },
        ] {
            let bytes = message.to_bytes();
            prop_assert_eq!(Message::read(&bytes), Ok(message));
        }
    }

    #[test]
    fn packets_come_back(
        (source, group) in any::<bool>().prop_flat_map(|v4| (unicast(v4), group(v4))),
        ports: (u16, u16), ecn in prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable, Ecn::Marked]),
        payload in bytes(1500),
    ) {
        let (from, group) = (SocketAddr::new(source, ports.0), SocketAddr::new(group, ports.1));
        let inner = Inner { from, group, ecn, payload: &payload };
        let bytes = inner.to_bytes();
        prop_assert_eq!(Inner::read(&bytes), Ok(inner));
    }

    /// Machines take anything at any time, keep their deadlines after now, and do not grow.
    #[test]
    fn machines_take_anything(
        steps in prop::collection::vec((0u64..3000, 0u8..8, bytes(120), any::<u8>()), 1..80),
    ) {
        let relay_at = SocketAddr::from(([198, 51, 100, 7], 2268));
        let at = RelayAddress::Discover(relay_at);
        let mut gateway = Gateway::new(GatewaySettings::new(at, Reporting::Igmp), &[1; 32]);
        let settings = RelaySettings { tunnels: 4, subscriptions: 4, ..RelaySettings::default() };
        let mut relay = Relay::new(settings, &[2; 32]);
        let mut now = Time::ZERO;
        for (wait, kind, mut bytes, number) in steps {
            now += Duration::from_ms(wait);
            let subscription = Subscription { group: IpAddr::from([232, 0, 0, number % 8]), source: None };
            if let Some(first) = bytes.first_mut() {
                *first = *first % 7 + 1;
            }
            match kind {
                0 => gateway.join(now, subscription),
                1 => gateway.leave(now, subscription),
                2 => gateway.stop(),
                3..=5 => {
                    gateway.receive(now, relay_at, &bytes);
                }
                _ => {
                    relay.receive(now, SocketAddr::from(([203, 0, 113, number], 5)), &bytes);
                }
            }
            if gateway.deadline() <= now {
                gateway.timer(now);
            }
            prop_assert!(gateway.deadline() > now, "{:?} at {:?}", gateway.deadline(), now);
            relay.timer(now);
            prop_assert!(relay.deadline() > now);
            prop_assert!(relay.tunnels() <= 4);
            let queued = std::iter::from_fn(|| gateway.transmit()).count();
            prop_assert!(queued <= 16, "{} messages at once", queued);
        }
    }
}
