//! A gateway behind a NAT, relays, and a source that all relays hear, over channels that lose, repeat and reorder.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_delivery::amt::PORT;
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::gateway::{Arrived, Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::Message;
use layercast_delivery::amt::relay::{Relay, RelaySettings};
use layercast_delivery::membership::Reporting;

/// How often the source sends to each group.
const SOURCE_EVERY: Duration = Duration::from_ms(100);

/// A datagram on its path.
struct Flight {
    at: Time,
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// The settings of a world.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The share of datagrams that are lost, in either direction.
    pub(crate) loss: f64,
    /// Whether IPv6 groups are asked for.
    pub(crate) is_v6: bool,
    /// Whether the relay is discovered.
    pub(crate) is_discovered: bool,
    pub(crate) relay: RelaySettings,
}

impl Plan {
    pub(crate) fn new(seed: u64, loss: f64) -> Plan {
        Plan { seed, loss, is_v6: false, is_discovered: false, relay: RelaySettings::default() }
    }
}

pub(crate) struct World {
    plan: Plan,
    pub(crate) now: Time,
    random: Stream,
    pub(crate) gateway: Gateway,
    /// The gateway's address outside of its NAT.
    pub(crate) outside: SocketAddr,
    /// The relays by address; none while one is down.
    pub(crate) relays: BTreeMap<SocketAddr, Option<Relay>>,
    /// Where discoveries go.
    pub(crate) anycast_to: SocketAddr,
    flights: Vec<Flight>,
    next_source: Time,
    pub(crate) source: IpAddr,
    /// When packets of each group last arrived.
    pub(crate) heard: BTreeMap<IpAddr, Time>,
    /// How many datagrams of each type went to relays.
    pub(crate) sent: BTreeMap<u8, u64>,
    /// Multicast Data that went to an address that the gateway no longer has.
    pub(crate) stray: u64,
    restarts: u8,
}

pub(crate) fn relay_at(number: u8) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, number], PORT))
}

fn anycast() -> SocketAddr {
    SocketAddr::from(([192, 52, 193, 1], PORT))
}

impl World {
    pub(crate) fn new(plan: Plan) -> World {
        let reporting = if plan.is_v6 { Reporting::Mld } else { Reporting::Igmp };
        let address = if plan.is_discovered {
            RelayAddress::Discover(anycast())
        } else {
            RelayAddress::Given(relay_at(1))
        };
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&plan.seed.to_be_bytes());
        let mut world = World {
            plan,
            now: Time::ZERO,
            random: Stream::new(plan.seed, "channel"),
            gateway: Gateway::new(GatewaySettings::new(address, reporting), &seed),
            outside: SocketAddr::from(([203, 0, 113, 9], 50_000)),
            relays: BTreeMap::new(),
            anycast_to: relay_at(1),
            flights: Vec::new(),
            next_source: Time::ZERO,
            source: if plan.is_v6 { "2001:db8::1".parse().unwrap() } else { "192.0.2.1".parse().unwrap() },
            heard: BTreeMap::new(),
            sent: BTreeMap::new(),
            stray: 0,
            restarts: 0,
        };
        world.start_relay(1);
        world.start_relay(2);
        world
    }

    /// Starts a relay, which knows nothing of an earlier run.
    pub(crate) fn start_relay(&mut self, number: u8) {
        self.restarts += 1;
        let IpAddr::V4(address) = relay_at(number).ip() else { unreachable!() };
        let settings = RelaySettings { address_v4: Some(address), ..self.plan.relay };
        self.relays.insert(relay_at(number), Some(Relay::new(settings, &[self.restarts; 32])));
    }

    pub(crate) fn stop_relay(&mut self, number: u8) {
        self.relays.insert(relay_at(number), None);
    }

    pub(crate) fn relay(&self, number: u8) -> &Relay {
        self.relays[&relay_at(number)].as_ref().expect("a relay that runs")
    }

    pub(crate) fn set_loss(&mut self, loss: f64) {
        self.plan.loss = loss;
    }

    fn put(&mut self, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        // Now and then a datagram arrives twice.
        let copies = if self.random.chance(0.05) { 2 } else { 1 };
        for _ in 0..copies {
            if !self.random.chance(self.plan.loss) {
                let at =
                    self.now + Duration::from_ms(5) + self.random.uniform_duration(Duration::from_ms(60));
                self.flights.push(Flight { at, from, to, bytes: bytes.clone() });
            }
        }
    }

    /// Sends what the gateway has queued.
    pub(crate) fn flush(&mut self) {
        while let Some(message) = self.gateway.transmit() {
            *self.sent.entry(message.bytes[0]).or_default() += 1;
            let from = self.outside;
            self.put(from, message.to, message.bytes);
        }
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, length: Duration) {
        let end = self.now + length;
        self.flush();
        loop {
            let flight = self.flights.iter().map(|flight| flight.at).min();
            let relays = self.relays.values().flatten().map(Relay::deadline).min();
            let due = [flight, relays, Some(self.gateway.deadline()), Some(self.next_source)];
            let next = due.into_iter().flatten().min().unwrap();
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            let now = self.now;
            while let Some(place) = self.flights.iter().position(|flight| flight.at <= now) {
                let flight = self.flights.swap_remove(place);
                self.arrive(flight);
            }
            if self.gateway.deadline() <= now {
                self.gateway.timer(now);
                assert!(self.gateway.deadline() > now, "a deadline that is over");
            }
            self.relays.values_mut().flatten().for_each(|relay| relay.timer(now));
            if self.next_source <= now {
                self.next_source = now + SOURCE_EVERY;
                self.send_data();
            }
            self.flush();
        }
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { from, to, bytes, .. } = flight;
        if to == self.outside {
            if let Arrived::Packet(inner) = self.gateway.receive(self.now, from, &bytes) {
                self.heard.insert(inner.group.ip(), self.now);
            }
            return;
        }
        let host = if to == anycast() { self.anycast_to } else { to };
        match self.relays.get_mut(&host) {
            Some(Some(relay)) => {
                if let Some(answer) = relay.receive(self.now, from, &bytes) {
                    self.put(to, from, answer);
                }
            }
            Some(None) => {}
            None => self.stray += u64::from(bytes.first() == Some(&6)),
        }
    }

    /// The source sends a packet to each of 8 groups.
    fn send_data(&mut self) {
        for number in 0..8 {
            let group = group(self.plan.is_v6, number);
            let (from, to) = (SocketAddr::new(self.source, 5501), SocketAddr::new(group, 5500));
            let packet = Inner { from, group: to, ecn: Ecn::Capable, payload: &[number; 100] }.to_bytes();
            let bytes = Message::MulticastData(&packet).to_bytes();
            let mut to = Vec::new();
            for (&at, relay) in &self.relays {
                let gateways = relay.iter().flat_map(|relay| relay.gateways(group, self.source));
                to.extend(gateways.map(|gateway| (at, gateway)));
            }
            for (at, gateway) in to {
                self.put(at, gateway, bytes.clone());
            }
        }
    }
}

/// The groups of the source.
pub(crate) fn group(is_v6: bool, number: u8) -> IpAddr {
    if is_v6 {
        IpAddr::from([0xff3e, 0, 0, 0, 0, 0, 0x8000, u16::from(number)])
    } else {
        IpAddr::from([232, 1, 0, number])
    }
}
