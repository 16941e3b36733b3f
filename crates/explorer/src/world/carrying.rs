//! Packets on their way: out of programs, through the network and its mishaps, and into programs.

use std::net::SocketAddr;

use layercast_core::units::{Channel, Duration, Size};
use layercast_delivery::node::Output;
use layercast_simulator::ForeignPacket;
use layercast_simulator::outside::Handle;

use super::relaying::child_at;
use super::tunnel::{ADDRESS, group_of, machine_of};
use super::{Passing, Sent, Step, World, receiver_at};
use crate::judge::Broken;
use crate::listener::{ANNOUNCED, ANNOUNCEMENTS};
use crate::receiver::{Ended, ReceiverProgram};
use crate::relay::relay_at;
use crate::source::GROUP;
use crate::wire::packet_number;

impl World {
    pub(super) fn set_joined(&mut self, number: usize, channel: Channel, is_joined: bool) {
        let Some(joined) = self.receivers[number].joined.get_mut(channel.index()) else { return };
        if std::mem::replace(joined, is_joined) == is_joined {
            return;
        }
        if !self.subscribe(number, channel, is_joined) {
            self.hold(number, channel, is_joined);
        }
    }

    /// Has the network send a channel to a machine, or no longer; those of relays come after those of receivers.
    pub(super) fn hold(&mut self, number: usize, channel: Channel, holds: bool) {
        for source in &self.sources {
            let Some(&id) = source.ids.get(number) else { continue };
            if holds { self.simulation.join(id, channel) } else { self.simulation.leave(id, channel) }
        }
    }

    /// Carries out what programs want.
    pub(super) fn carry_out(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        for number in 0..self.sources.len() {
            let Some(program) = &mut self.sources[number].program else { continue };
            let packets = std::mem::take(&mut program.packets);
            let session = self.sources[number].session;
            let from = SocketAddr::new(self.sources[number].address, 9000);
            for (channel, bytes) in packets {
                self.outcome.packets += 1;
                if let Some(packet) = packet_number(&bytes) {
                    let highest = &mut self.sources[number].highest;
                    // Whatever number its sessions have: the state is there so that one may come again.
                    if packet <= *highest {
                        let (at, highest) = (self.now, *highest);
                        return Err(Broken::NumberAgain { at, source_number: number, packet, highest });
                    }
                    *highest = packet;
                }
                let slot = self.simulation.multicast_foreign(session, channel, packet(&bytes), Handle);
                self.put(slot, Sent { from, to: GROUP, bytes });
            }
            self.carry_announcements(number);
            if let Some(why) = self.sources[number].program.as_mut().and_then(|program| program.failed.take())
            {
                self.source_failed(number, &why, watch);
            }
        }
        Ok(())
    }

    /// Carries out what a receiver wants. How it ended, if it did.
    pub(super) fn carry_receiver(&mut self, number: usize) -> Option<Ended> {
        let mut ended = None;
        while let Some(program) = &mut self.receivers[number].program
            && let Some(output) = program.poll()
        {
            match output {
                // What was announced may name another group, to which nothing is sent.
                Output::Join(channel, group) => {
                    self.set_joined(
                        number,
                        channel,
                        group == SocketAddr::new(group_of(channel), GROUP.port()),
                    );
                }
                Output::Leave(channel, _) => self.set_joined(number, channel, false),
                Output::Send(_, message, to) => {
                    let from = SocketAddr::new(receiver_at(number), 9000);
                    self.send_from(number, Sent { from, to, bytes: message.bytes().to_vec() });
                }
                Output::Ended(result) => ended = Some(program.ended(result)),
                Output::Open(_) => {
                    self.receivers[number].probes = false;
                    (0..ANNOUNCED.0).for_each(|channel| self.set_joined(number, Channel(channel), false));
                }
                Output::Listen(begins) => self.set_joined(number, ANNOUNCED, begins),
                Output::Relocated(place) => self.receivers[number].relocated.push(*place),
                Output::Probe(begins) => {
                    self.receivers[number].probes = begins;
                    self.set_joined(number, Channel(0), begins);
                }
                // No plan has a session whose routers take part.
                Output::Unicast { .. } => {}
                Output::Found(_) | Output::Trace(..) | Output::Notice(_) | Output::Tick => {}
            }
        }
        let said = self.receivers[number].program.as_mut().map(ReceiverProgram::take_said);
        for (to, bytes) in said.into_iter().flatten() {
            self.send_from(number, Sent { from: child_at(receiver_at(number)), to, bytes });
        }
        ended
    }

    pub(super) fn put(&mut self, slot: Option<u32>, sent: Sent) {
        let Some(slot) = slot.map(|slot| slot as usize) else { return };
        if self.store.len() <= slot {
            self.store.resize_with(slot + 1, || None);
        }
        self.store[slot] = Some(sent);
    }

    /// Sends a datagram of a receiver, which may be cut off.
    pub(super) fn send_from(&mut self, receiver: usize, sent: Sent) {
        if self.receivers[receiver].partitioned_until <= self.now {
            self.send(sent);
        }
    }

    /// Sends a datagram by unicast, if there is a path.
    pub(super) fn send(&mut self, sent: Sent) {
        if let Some(&path) = self.paths.get(&(machine_of(sent.from.ip()), machine_of(sent.to.ip()))) {
            let slot = self.simulation.send_foreign(path, packet(&sent.bytes), Handle);
            self.put(slot, sent);
        }
    }

    /// Takes out what has arrived.
    pub(super) fn deliver(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let mut slots = Vec::new();
        self.simulation.drain_foreign(&mut |arrival| slots.push(arrival.header.0));
        for slot in slots {
            let Some(Sent { from, to, mut bytes }) = arrived_in(&self.store, slot) else { continue };
            if let Some(source) = self.sources.iter_mut().find(|source| source.address == to.ip()) {
                if let Some(program) = &mut source.program {
                    program.report(self.now, from, &bytes);
                }
            } else if let Some(number) = (0..self.relays.len()).find(|&relay| relay_at(relay).ip() == to.ip())
            {
                self.pass_to_relay(number, from, to, &bytes);
            } else if machine_of(to.ip()) == ADDRESS {
                self.pass_to_amt(from, to, &bytes);
            } else if let Some(number) = (0..self.receivers.len()).find(|&one| receiver_at(one) == to.ip()) {
                if machine_of(from.ip()) == ADDRESS {
                    self.pass_to_gateway(number, from, to, &bytes, None, watch)?;
                    continue;
                }
                self.pass_unicast(number, from, &mut bytes, watch)?;
            }
        }
        let mut arrived = Vec::new();
        for place in &self.sources {
            let Some(receivers) = self.simulation.receivers_mut(place.session) else { continue };
            let batch: Vec<_> = receivers.drain().collect();
            for arrival in batch {
                let Some(host) = receivers.get_mut(arrival.receiver as usize).map(|one| one.host.0) else {
                    continue;
                };
                let Some(Sent { bytes, from, to }) = arrived_in(&self.store, arrival.header.0) else {
                    continue;
                };
                let known = (to == ANNOUNCEMENTS).then_some(ANNOUNCED);
                let Some(channel) = known.or_else(|| channel_of(&bytes)) else { continue };
                arrived.push(Passing {
                    receiver: host as usize,
                    from,
                    channel,
                    ecn: arrival.ecn,
                    bytes,
                    is_forged: false,
                });
            }
        }
        for packet in arrived {
            match packet.receiver.checked_sub(self.receivers.len()) {
                Some(_) if self.is_amt_host(packet.receiver) => {
                    self.tunnel_packet(packet.from, packet.channel, &packet.bytes);
                }
                Some(relay) => self.relay_packet(relay, packet.from, packet.channel, &packet.bytes),
                None => self.arrive(packet, watch)?,
            }
        }
        self.deliver_forged(watch)?;
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let packet = entry.remove();
            self.pass(packet, watch)?;
        }
        Ok(())
    }

    /// A packet arrives at a machine: once, twice, later or not at all.
    fn arrive(&mut self, packet: Passing, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let Some(path) = self.plan.receivers.get(packet.receiver) else { return Ok(()) };
        let (duplicated, delayed) = (path.duplicated, path.delayed);
        let receiver = &mut self.receivers[packet.receiver];
        if receiver.partitioned_until.max(receiver.without_multicast_until) > self.now {
            return Ok(());
        }
        if packet.channel == ANNOUNCED {
            self.heard.keep((packet.from, packet.bytes.clone()), &mut self.chaos);
        } else {
            receiver.heard.keep((packet.from, packet.channel, packet.bytes.clone()), &mut self.chaos);
        }
        if duplicated > 0.0 && self.chaos.chance(duplicated) {
            self.delay(packet.clone());
        }
        if delayed > 0.0 && self.chaos.chance(delayed) {
            self.delay(packet);
            return Ok(());
        }
        self.pass(packet, watch)
    }

    pub(super) fn delay(&mut self, packet: Passing) {
        let at = self.now + self.chaos.uniform_duration(Duration::from_ms(200));
        self.held_count += 1;
        self.held.insert((at, self.held_count), packet);
    }

    /// A datagram came to a receiver by unicast.
    fn pass_unicast(
        &mut self,
        number: usize,
        from: SocketAddr,
        bytes: &mut [u8],
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        if receiver.partitioned_until <= self.now
            && let Some(program) = &mut receiver.program
        {
            if program.unicast(local, from, bytes).is_again {
                return Err(Broken::Replayed { at: self.now, receiver: number });
            }
            self.after(number, watch)?;
        }
        Ok(())
    }

    /// Passes a packet to a receiver's program, if it has joined the channel.
    pub(super) fn pass(&mut self, packet: Passing, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let Passing { receiver: number, from, channel, ecn, mut bytes, is_forged } = packet;
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        let has_joined = receiver.joined.get(channel.index()) == Some(&true);
        if channel == ANNOUNCED && has_joined {
            return self.announcement(number, from, &bytes, watch);
        }
        let Some(program) = receiver.program.as_mut().filter(|_| has_joined) else { return Ok(()) };
        if receiver.probes {
            program.probed(local, from, &bytes);
            return Ok(());
        }
        let passed = program.packet(local, from, channel, ecn, &mut bytes);
        if passed.is_taken && is_forged {
            return Err(Broken::Forged { at: self.now, receiver: number });
        }
        if passed.is_again {
            return Err(Broken::Replayed { at: self.now, receiver: number });
        }
        self.after(number, watch)
    }
}

/// What the network carries in a slot.
fn arrived_in(store: &[Option<Sent>], slot: u32) -> Option<Sent> {
    store.get(slot as usize)?.clone()
}

/// A packet as the network sees it.
pub(super) fn packet(bytes: &[u8]) -> ForeignPacket {
    ForeignPacket { size: Size::from_bytes(bytes.len() as u32 + 28), ecn: 0, label: 0, counts: true }
}

/// The channel of a genuine packet, by its own header: the network forgets the group of a copy.
fn channel_of(bytes: &[u8]) -> Option<Channel> {
    use layercast_core::family::AnyHeader as _;
    let view = layercast_delivery::packet::View::new(bytes).ok()?;
    let repr = layercast_delivery::packet::Repr::read(&view).ok()?;
    layercast_protocols::registry::Header::from_lct(&repr.fields).ok()?.channel()
}
