//! Multicast through an AMT relay, to a receiver that has none.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::amt::data::{Inner, decapsulated};
use layercast_delivery::amt::gateway::{Arrived, Gateway, GatewaySettings, RelayAddress};
use layercast_delivery::amt::message::Message;
use layercast_delivery::amt::relay::{Demand, Relay, RelaySettings};
use layercast_delivery::amt::{PORT, discovery_address};
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::subscriptions::Subscription;

use super::{Passing, Sent, Step, World, receiver_at, say};
use crate::fault::Forgery;
use crate::forgery::{Heard, flip};
use crate::judge::Broken;
use crate::relay::secret;
use crate::source::GROUP;
use crate::wire::CHANNELS;

/// The relay's address.
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 40);
const RELAY: SocketAddr = SocketAddr::new(IpAddr::V4(ADDRESS), PORT);
/// Each gateway has a port of its own, from this one on.
const PORTS: u16 = 7100;

/// The machine of an AMT relay.
pub(super) struct AmtPlace {
    program: Option<Relay>,
    pub(super) starts_at: Option<Time>,
    lives: u64,
    /// Messages for those who replay and change them.
    heard: Heard<(SocketAddr, SocketAddr, Vec<u8>)>,
    /// Messages that are forged, and the genuine ones that they were made of.
    forged: Vec<Forged>,
}

struct Forged {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
    genuine: Vec<u8>,
}

/// A receiver's tunnel.
pub(super) struct Tunnel {
    gateway: Gateway,
    port: u16,
}

impl Tunnel {
    pub(super) fn deadline(&self) -> Time {
        self.gateway.deadline()
    }
}

/// The machine of an address: anycast leads to the only relay.
pub(super) fn machine_of(address: IpAddr) -> IpAddr {
    if address == discovery_address(true) { ADDRESS.into() } else { address }
}

pub(super) fn group_of(channel: Channel) -> IpAddr {
    match GROUP.ip() {
        IpAddr::V4(group) => IpAddr::V4(Ipv4Addr::from(u32::from(group) + u32::from(channel.0))),
        group => group,
    }
}

fn channel_of(group: IpAddr) -> Option<Channel> {
    (0..CHANNELS).map(Channel).find(|&channel| group_of(channel) == group)
}

impl AmtPlace {
    pub(super) fn new() -> AmtPlace {
        let (heard, forged) = (Heard::new(), Vec::new());
        AmtPlace { program: None, starts_at: Some(Time::ZERO), lives: 0, heard, forged }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.program.as_ref().map(Relay::deadline)
    }
}

impl World {
    /// The machine of the relay comes after those of receivers and other relays.
    fn amt_host(&self) -> usize {
        self.receivers.len() + self.relays.len()
    }

    /// Whether a machine is that of the AMT relay.
    pub(super) fn is_amt_host(&self, host: usize) -> bool {
        self.amt.is_some() && host == self.amt_host()
    }

    /// The receiver without multicast gets a tunnel.
    pub(super) fn open_tunnel(&mut self, number: usize) {
        let Some(amt) = self.plan.amt.filter(|amt| amt.receiver == number) else { return };
        let receiver = &mut self.receivers[number];
        let mut random = Stream::new(self.plan.seed, &format!("gateway/{}", receiver.lives));
        let relay = match amt.is_discovered {
            true => RelayAddress::Discover(SocketAddr::new(discovery_address(true), PORT)),
            false => RelayAddress::Given(RELAY),
        };
        let settings = GatewaySettings::new(relay, Reporting::of(GROUP.ip()));
        let port = PORTS + receiver.lives as u16;
        receiver.tunnel = Some(Tunnel { gateway: Gateway::new(settings, &secret(&mut random)), port });
    }

    /// A receiver ends, and its tunnel with it.
    pub(super) fn close_tunnel(&mut self, number: usize) {
        if let Some(tunnel) = &mut self.receivers[number].tunnel {
            tunnel.gateway.stop();
        }
        self.carry_tunnel(number);
        self.receivers[number].tunnel = None;
    }

    /// Joins or leaves by the tunnel of a receiver, if it has one.
    pub(super) fn subscribe(&mut self, number: usize, channel: Channel, joins: bool) -> bool {
        if self.plan.amt.is_none_or(|amt| amt.receiver != number) {
            return false;
        }
        let receiver = &mut self.receivers[number];
        let (local, subscription) =
            (self.now + receiver.ahead, Subscription { group: group_of(channel), source: None });
        if let Some(Tunnel { gateway, .. }) = &mut receiver.tunnel {
            if joins { gateway.join(local, subscription) } else { gateway.leave(local, subscription) }
        }
        self.carry_tunnel(number);
        true
    }

    /// Serves the relay, and the tunnel of its receiver.
    pub(super) fn serve_tunnels(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let now = self.now;
        let Some(amt) = &mut self.amt else { return Ok(()) };
        if amt.starts_at.take_if(|at| *at <= now).is_some() {
            amt.lives += 1;
            let mut random = Stream::new(self.plan.seed, &format!("amt/{}", amt.lives));
            let settings = RelaySettings { address_v4: Some(ADDRESS), ..RelaySettings::default() };
            amt.program = Some(Relay::new(settings, &secret(&mut random)));
            self.outcome.starts += 1;
            say(watch, now, || "the AMT relay starts".to_owned());
        }
        if let Some(relay) = &mut amt.program {
            relay.timer(now);
            let tunnels = relay.tunnels();
            // Each is of a gateway that has asked: addresses are forged in vain.
            let lives =
                self.plan.amt.and_then(|amt| self.receivers.get(amt.receiver)).map_or(0, |one| one.lives);
            if tunnels as u64 > lives {
                return Err(Broken::Tunnels { at: now, tunnels });
            }
        }
        self.demand();
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            let local = now + receiver.ahead;
            if let Some(tunnel) = receiver.tunnel.as_mut().filter(|tunnel| tunnel.deadline() <= local) {
                tunnel.gateway.timer(local);
                self.carry_tunnel(number);
            }
        }
        Ok(())
    }

    pub(super) fn kill_amt(&mut self, down: Duration) {
        let Some(amt) = &mut self.amt else { return };
        (amt.program, amt.starts_at) = (None, Some(self.now + down));
        let host = self.amt_host();
        (0..CHANNELS).for_each(|channel| self.hold(host, Channel(channel), false));
    }

    /// Has the network send to the relay what tunnels want.
    fn demand(&mut self) {
        let host = self.amt_host();
        while let Some(demand) =
            self.amt.as_mut().and_then(|amt| amt.program.as_mut()).and_then(Relay::take_demand)
        {
            let (Demand::Join(of) | Demand::Leave(of)) = demand;
            if let Some(channel) = channel_of(of.group) {
                self.hold(host, channel, matches!(demand, Demand::Join(_)));
            }
        }
    }

    /// Sends what a gateway has to say.
    fn carry_tunnel(&mut self, number: usize) {
        while let Some(Tunnel { gateway, port }) = &mut self.receivers[number].tunnel
            && let Some(message) = gateway.transmit()
        {
            let from = SocketAddr::new(receiver_at(number), *port);
            self.send_tunnelled(Some(number), Sent { from, to: message.to, bytes: message.bytes });
        }
    }

    fn send_tunnelled(&mut self, receiver: Option<usize>, sent: Sent) {
        if let Some(amt) = &mut self.amt {
            amt.heard.keep((sent.from, sent.to, sent.bytes.clone()), &mut self.chaos);
        }
        match receiver {
            Some(receiver) => self.send_from(receiver, sent),
            None => self.send(sent),
        }
    }

    /// A message comes to the relay.
    pub(super) fn pass_to_amt(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let now = self.now;
        let Some(relay) = self.amt.as_mut().and_then(|amt| amt.program.as_mut()) else { return };
        let answer = relay.receive(now, from, bytes);
        self.demand();
        if let Some(bytes) = answer {
            self.send_tunnelled(None, Sent { from: to, to: from, bytes });
        }
    }

    /// A multicast packet comes to the relay.
    pub(super) fn tunnel_packet(&mut self, from: SocketAddr, channel: Channel, bytes: &[u8]) {
        let Some(relay) = self.amt.as_ref().and_then(|amt| amt.program.as_ref()) else { return };
        let group = SocketAddr::new(group_of(channel), GROUP.port());
        let gateways = relay.gateways(group.ip(), from.ip());
        let packet = Inner { from, group, ecn: Ecn::NotCapable, payload: bytes }.to_bytes();
        let bytes = Message::MulticastData(&packet).to_bytes();
        for to in gateways {
            self.send_tunnelled(None, Sent { from: RELAY, to, bytes: bytes.clone() });
        }
    }

    /// A message comes to a gateway: `genuine` is what it was made of, if it is forged.
    pub(super) fn pass_to_gateway(
        &mut self,
        number: usize,
        from: SocketAddr,
        to: SocketAddr,
        bytes: &[u8],
        genuine: Option<&[u8]>,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        let Some(tunnel) = receiver.tunnel.as_mut().filter(|tunnel| tunnel.port == to.port()) else {
            return Ok(());
        };
        if receiver.partitioned_until > self.now {
            return Ok(());
        }
        let arrived = match tunnel.gateway.receive(local, from, bytes) {
            Arrived::Packet(inner) => Some((inner, decapsulated(inner.ecn, Ecn::NotCapable))),
            Arrived::Control | Arrived::Nothing => None,
        };
        let Some((inner, Some(ecn))) = arrived.filter(|(inner, _)| inner.group.port() == GROUP.port()) else {
            self.carry_tunnel(number);
            return Ok(());
        };
        let Some(channel) = channel_of(inner.group.ip()) else { return Ok(()) };
        let is_forged = genuine.is_some_and(|genuine| !genuine.ends_with(inner.payload));
        let bytes = inner.payload.to_vec();
        self.pass(Passing { receiver: number, from: inner.from, channel, ecn, bytes, is_forged }, watch)
    }

    /// Lets forged messages arrive.
    pub(super) fn deliver_forged(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let forged = self.amt.as_mut().map(|amt| std::mem::take(&mut amt.forged));
        for Forged { from, to, bytes, genuine } in forged.into_iter().flatten() {
            if machine_of(to.ip()) == ADDRESS {
                self.pass_to_amt(from, to, &bytes);
            } else if let Some(number) = (0..self.receivers.len()).find(|&one| receiver_at(one) == to.ip()) {
                self.pass_to_gateway(number, from, to, &bytes, Some(&genuine), watch)?;
            }
        }
        Ok(())
    }

    /// Somebody who reads what passes between the relay and its gateway forges messages.
    pub(super) fn forge_tunnelled(&mut self, count: u32, kind: Forgery) {
        let Some(amt) = &mut self.amt else { return };
        let chaos = &mut self.chaos;
        for _ in 0..count {
            let Some((mut from, to, genuine)) = amt.heard.pick(chaos) else { return };
            let mut bytes = genuine.clone();
            match kind {
                Forgery::Random => bytes.iter_mut().for_each(|byte| *byte = chaos.bits() as u8),
                Forgery::Mutated => match Message::read(&genuine) {
                    // Its checksum is right.
                    Ok(Message::MulticastData(packet)) if chaos.chance(0.7) => {
                        let Ok(inner) = Inner::read(packet) else { continue };
                        let mut payload = inner.payload.to_vec();
                        flip(&mut payload, chaos);
                        let packet = Inner { payload: &payload, ..inner }.to_bytes();
                        bytes = Message::MulticastData(&packet).to_bytes();
                    }
                    _ => flip(&mut bytes, chaos),
                },
                Forgery::Replayed => {}
                // From another address.
                Forgery::OtherSession => from.set_port(from.port() ^ (1 + chaos.bits() as u16 % 1000)),
            }
            amt.forged.push(Forged { from, to, bytes, genuine });
        }
    }
}
