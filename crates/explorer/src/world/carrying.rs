//! Packets on their way: out of programs, through the network and its mishaps, and into programs.

use std::net::SocketAddr;

use layercast_core::units::{Channel, Duration, Size};
use layercast_delivery::node::Output;
use layercast_simulator::ForeignPacket;
use layercast_simulator::outside::Handle;

use super::{CHANNELS, KEPT, Passing, RECEIVERS_FROM, ReceiverPlace, Step, World, address};
use crate::judge::Broken;
use crate::receiver::{Ended, ReceiverProgram};
use crate::wire::packet_number;

impl World {
    pub(super) fn set_joined(&mut self, number: usize, channel: Channel, is_joined: bool) {
        let Some(joined) = self.receivers[number].joined.get_mut(channel.index()) else { return };
        if std::mem::replace(joined, is_joined) == is_joined {
            return;
        }
        self.hold(number, channel, is_joined);
    }

    /// Has the network send a channel to a machine, or no longer; the relay's comes after those of receivers.
    pub(super) fn hold(&mut self, number: usize, channel: Channel, holds: bool) {
        for source in &self.sources {
            let Some(&id) = source.ids.get(number) else { continue };
            if holds { self.simulation.join(id, channel) } else { self.simulation.leave(id, channel) }
        }
    }

    /// Carries out what programs want.
    pub(super) fn carry_out(&mut self) -> Result<(), Broken> {
        for number in 0..self.sources.len() {
            let Some(program) = &mut self.sources[number].program else { continue };
            let packets = std::mem::take(&mut program.packets);
            let session = self.sources[number].session;
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
                self.put(slot, bytes);
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
                Output::Join(channel, _) => self.set_joined(number, channel, true),
                Output::Leave(channel, _) => self.set_joined(number, channel, false),
                Output::Send(_, message, to) => {
                    let at = self.sources.iter().position(|source| source.address == to.ip());
                    let receiver = &self.receivers[number];
                    if let Some(&path) = at.and_then(|at| receiver.paths.get(at))
                        && receiver.partitioned_until <= self.now
                    {
                        let slot = self.simulation.send_foreign(path, packet(message.bytes()), Handle);
                        self.put(slot, message.bytes().to_vec());
                    }
                }
                Output::Ended(result) => ended = Some(program.ended(result)),
                Output::Open(_) => {
                    self.receivers[number].probes = false;
                    (0..CHANNELS).for_each(|channel| self.set_joined(number, Channel(channel), false));
                }
                Output::Probe(begins) => {
                    self.receivers[number].probes = begins;
                    self.set_joined(number, Channel(0), begins);
                }
                // No plan has a session whose routers take part.
                Output::Unicast { .. } => {}
                Output::Found(_) | Output::Trace(..) | Output::Notice(_) | Output::Look => {}
            }
        }
        let said = self.receivers[number].program.as_mut().map(ReceiverProgram::take_said);
        said.into_iter().flatten().for_each(|bytes| self.say_to_relay(number, bytes));
        ended
    }

    pub(super) fn put(&mut self, slot: Option<u32>, bytes: Vec<u8>) {
        let Some(slot) = slot.map(|slot| slot as usize) else { return };
        if self.store.len() <= slot {
            self.store.resize_with(slot + 1, Vec::new);
        }
        self.store[slot] = bytes;
    }

    /// Takes out what has arrived.
    pub(super) fn deliver(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let mut reports = Vec::new();
        self.simulation.drain_foreign(&mut |arrival| reports.push((arrival.path, arrival.header.0)));
        for (path, slot) in reports {
            let bytes = self.store.get(slot as usize).cloned().unwrap_or_default();
            let of = |receiver: &ReceiverPlace| receiver.paths.iter().position(|&own| own == path);
            let found = self.receivers.iter().enumerate().find_map(|(from, one)| Some((from, of(one)?)));
            let Some((from, to)) = found else {
                let mut bytes = bytes;
                self.relayed(path, &mut bytes, watch)?;
                continue;
            };
            if let Some(program) = self.sources.get_mut(to).and_then(|place| place.program.as_mut()) {
                program.report(self.now, SocketAddr::new(address(RECEIVERS_FROM + from as u8), 9000), &bytes);
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
                let bytes = self.store.get(arrival.header.0 as usize).cloned().unwrap_or_default();
                let Some(channel) = channel_of(&bytes) else { continue };
                arrived.push(Passing {
                    receiver: host as usize,
                    from: SocketAddr::new(place.address, 9000),
                    channel,
                    ecn: arrival.ecn,
                    bytes,
                    is_forged: false,
                });
            }
        }
        for packet in arrived {
            if packet.receiver == self.receivers.len() {
                self.relay_packet(packet.from, packet.channel, &packet.bytes);
            } else {
                self.arrive(packet, watch)?;
            }
        }
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
        if receiver.heard.len() < KEPT {
            receiver.heard.push((packet.from, packet.channel, packet.bytes.clone()));
        } else if let Some(place) = receiver.heard.get_mut(self.outcome.packets as usize % KEPT) {
            *place = (packet.from, packet.channel, packet.bytes.clone());
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

    /// Passes a packet to a receiver's program, if it has joined the channel.
    fn pass(&mut self, packet: Passing, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let Passing { receiver: number, from, channel, ecn, mut bytes, is_forged } = packet;
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        let has_joined = receiver.joined.get(channel.index()) == Some(&true);
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
