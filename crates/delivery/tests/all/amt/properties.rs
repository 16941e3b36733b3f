//! Readers never panic, and read what writers write.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};
use layercast_delivery::amt::Reporting;
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::gateway::{Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::{Message, TunnelEndpoint};
use layercast_delivery::amt::query::GeneralQuery;
use layercast_delivery::amt::relay::{Relay, RelaySettings};
use layercast_delivery::amt::report::{self, Record, RecordKind};
use layercast_delivery::amt::subscriptions::Subscription;
use proptest::prelude::*;

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn unicast(is_v4: bool) -> impl Strategy<Value = IpAddr> {
    any::<u64>().prop_map(move |bits| {
        if is_v4 {
            Ipv4Addr::from_bits((bits as u32 % 0xdfff_0000) + 1).into()
        } else {
            Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(bits)).into()
        }
    })
}

fn group(is_v4: bool) -> impl Strategy<Value = IpAddr> {
    any::<u32>().prop_map(move |bits| {
        if is_v4 {
            Ipv4Addr::from_bits(0xe000_0000 | bits >> 4).into()
        } else {
            Ipv6Addr::from_bits(0xff3e << 112 | u128::from(bits)).into()
        }
    })
}

fn kind() -> impl Strategy<Value = RecordKind> {
    use RecordKind::{Allow, Block, IsExclude, IsInclude, ToExclude, ToInclude};
    prop::sample::select(vec![IsInclude, IsExclude, ToInclude, ToExclude, Allow, Block])
}

fn records(is_v4: bool) -> impl Strategy<Value = Vec<Record>> {
    let record = (kind(), group(is_v4), prop::collection::vec(unicast(is_v4), 0..20))
        .prop_map(|(kind, group, sources)| Record { kind, group, sources });
    prop::collection::vec(record, 0..60)
}

fn endpoint() -> impl Strategy<Value = TunnelEndpoint> {
    (any::<u16>(), any::<[u8; 16]>()).prop_map(|(port, address)| TunnelEndpoint { port, address })
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in bytes(200)) {
        let _ = Message::read(&bytes).map(|message| message.to_bytes());
        let _ = GeneralQuery::read(&bytes);
        let _ = report::read(&bytes);
        let _ = Inner::read(&bytes);
    }

    /// Bytes that look right at the start reach the depths of the readers.
    #[test]
    fn damaged_datagrams_never_panic(
        is_v4: bool, records in records(true), places in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6),
        cut in 0usize..40,
    ) {
        let from = SocketAddr::from(([192, 0, 2, 1], 1));
        let group = SocketAddr::from(([232, 0, 0, 1], 2));
        let reporting = if is_v4 { Reporting::Igmp } else { Reporting::Mld };
        let query = GeneralQuery { reporting, robustness: 2, interval: Duration::from_secs(125) };
        let mut datagrams = vec![
            query.to_bytes(),
            Inner { from, group, ecn: Ecn::Capable, payload: &[7; 100] }.to_bytes(),
        ];
        datagrams.extend(report::write(Reporting::Igmp, &records));
        for mut datagram in datagrams {
            for &(place, value) in &places {
                let place = usize::from(place) % datagram.len();
                datagram[place] = value;
            }
            datagram.truncate(datagram.len().saturating_sub(cut));
            let _ = GeneralQuery::read(&datagram);
            let _ = report::read(&datagram);
            let _ = Inner::read(&datagram);
        }
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
    fn reports_come_back((is_v4, records) in any::<bool>().prop_flat_map(|v4| (Just(v4), records(v4)))) {
        let reporting = if is_v4 { Reporting::Igmp } else { Reporting::Mld };
        let mut back = Vec::new();
        for datagram in report::write(reporting, &records) {
            prop_assert!(datagram.len() <= 1200);
            back.extend(report::read(&datagram).unwrap());
        }
        prop_assert_eq!(back, records);
    }

    #[test]
    fn queries_come_back(is_mld: bool, robustness in 1u8..8, seconds in 1u64..128) {
        let reporting = if is_mld { Reporting::Mld } else { Reporting::Igmp };
        let query = GeneralQuery { reporting, robustness, interval: Duration::from_secs(seconds) };
        prop_assert_eq!(GeneralQuery::read(&query.to_bytes()), Ok(query));
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
