//! The relay's machine, and what goes by unicast.

use std::net::SocketAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::node::{Relay, RelayOutput};
use layercast_delivery::relay::message::DATA_HEAD_MAX;
use layercast_simulator::ForeignPath;
use layercast_simulator::outside::Handle;

use super::carrying::packet;
use super::{CHANNELS, RECEIVERS_FROM, Step, World, address, say};
use crate::judge::Broken;
use crate::relay::{RELAY, relay};

/// The relay's machine.
pub(super) struct RelayPlace {
    pub(super) program: Option<Relay>,
    pub(super) starts_at: Option<Time>,
    pub(super) lives: u64,
    /// Paths to each receiver, from each receiver, and to each source.
    pub(super) to_receivers: Vec<ForeignPath>,
    pub(super) from_receivers: Vec<ForeignPath>,
    pub(super) to_sources: Vec<ForeignPath>,
}

impl RelayPlace {
    /// The path to a child.
    fn to_child(&self, receivers: usize, to: SocketAddr) -> Option<ForeignPath> {
        let number = (0..receivers).find(|&number| child_at(number) == to)?;
        self.to_receivers.get(number).copied()
    }
}

/// Where a receiver's messages to a relay come from.
fn child_at(number: usize) -> SocketAddr {
    SocketAddr::new(address(RECEIVERS_FROM + number as u8), 7000)
}

impl World {
    pub(super) fn start_relay(&mut self, watch: &mut dyn FnMut(&Step)) {
        let (seed, now) = (self.plan.seed, self.now);
        let Some(place) = self.relay.as_mut() else { return };
        if place.starts_at.take_if(|at| *at <= now).is_some() {
            place.lives += 1;
            let stream = Stream::new(seed, &format!("relay/{}", place.lives));
            place.program = Some(relay(stream, now));
            self.outcome.starts += 1;
            say(watch, now, || "the relay starts".to_owned());
        }
    }

    pub(super) fn kill_relay(&mut self, down: Duration) {
        let Some(place) = &mut self.relay else { return };
        place.program = None;
        place.starts_at = Some(self.now + down);
        for channel in 0..CHANNELS {
            self.hold(self.receivers.len(), Channel(channel), false);
        }
    }

    /// Does something with the relay, if it runs, and carries out what it wants.
    pub(super) fn with_relay(&mut self, act: impl FnOnce(&mut Relay, Time)) {
        let now = self.now;
        let Some(program) = self.relay.as_mut().and_then(|place| place.program.as_mut()) else { return };
        act(program, now);
        while let Some(place) = &mut self.relay
            && let Some(output) = place.program.as_mut().and_then(Relay::poll)
        {
            match output {
                RelayOutput::Channel(change) => {
                    self.hold(self.receivers.len(), change.channel, change.is_join);
                }
                RelayOutput::ToChild(to, message) => {
                    let path = place.to_child(self.receivers.len(), to);
                    self.unicast(path, message.bytes().to_vec());
                }
                RelayOutput::ToSource(to, message) => {
                    let number = self.sources.iter().position(|source| source.address == to.ip());
                    let path = number.and_then(|number| place.to_sources.get(number).copied());
                    self.unicast(path, message.bytes().to_vec());
                }
                // It has its packets by multicast, and is no source.
                RelayOutput::ToRelay(..) | RelayOutput::Heard(..) => {}
                RelayOutput::Close(_) | RelayOutput::Notice(_) => {}
            }
        }
    }

    /// Sends what a receiver says to the relay.
    pub(super) fn say_to_relay(&mut self, number: usize, bytes: Vec<u8>) {
        let path = self.relay.as_ref().and_then(|place| place.from_receivers.get(number).copied());
        let is_partitioned = self.receivers[number].partitioned_until > self.now;
        self.unicast(path.filter(|_| !is_partitioned), bytes);
    }

    fn unicast(&mut self, path: Option<ForeignPath>, bytes: Vec<u8>) {
        if let Some(path) = path {
            let slot = self.simulation.send_foreign(path, packet(&bytes), Handle);
            self.put(slot, bytes);
        }
    }

    /// What came by unicast on a path to or from the relay. Whether it was one of these.
    pub(super) fn relayed(
        &mut self,
        path: ForeignPath,
        bytes: &mut [u8],
        watch: &mut dyn FnMut(&Step),
    ) -> Result<bool, Broken> {
        let Some(place) = &self.relay else { return Ok(false) };
        let at = |paths: &[ForeignPath]| paths.iter().position(|&own| own == path);
        let (to, from, source) = (at(&place.to_receivers), at(&place.from_receivers), at(&place.to_sources));
        if let Some(number) = from {
            self.with_relay(|relay, now| relay.handle(now, child_at(number), bytes));
        } else if let Some(number) = source {
            let now = self.now;
            if let Some(program) = self.sources.get_mut(number).and_then(|place| place.program.as_mut()) {
                program.report(now, SocketAddr::new(RELAY.ip(), 9001), bytes);
            }
        } else if let Some(number) = to {
            let receiver = &mut self.receivers[number];
            let local = self.now + receiver.ahead;
            if receiver.partitioned_until <= self.now
                && let Some(program) = &mut receiver.program
            {
                let passed = program.unicast(local, bytes);
                if passed.is_again {
                    return Err(Broken::Replayed { at: self.now, receiver: number });
                }
                self.after(number, watch)?;
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// A packet came to the relay by multicast.
    pub(super) fn relay_packet(&mut self, source: SocketAddr, channel: Channel, bytes: &[u8]) {
        let (now, receivers) = (self.now, self.receivers.len());
        let Some(program) = self.relay.as_mut().and_then(|place| place.program.as_mut()) else { return };
        // The one session that it carries.
        let Some(mut copies) = program.copies(0, channel, source) else { return };
        let mut room = [0; DATA_HEAD_MAX];
        let length = copies.head.write(&mut room);
        let packet = [room.get(..length).unwrap_or_default(), bytes].concat();
        while let Some(place) = &mut self.relay
            && let Some(program) = &mut place.program
            && let Some(holder) = program.next_holder(&mut copies)
        {
            let sent = program.may_send(now, packet.len());
            program.sent(holder, 1, u64::from(sent), packet.len() as u64 * u64::from(sent));
            let path = holder.address.filter(|_| sent).and_then(|to| place.to_child(receivers, to));
            self.unicast(path, packet.clone());
        }
    }
}
