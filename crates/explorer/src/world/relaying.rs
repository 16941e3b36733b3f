//! The relay's machine, and what goes by unicast.

use std::net::{IpAddr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_simulator::ForeignPath;
use layercast_simulator::outside::Handle;

use super::carrying::packet;
use super::{CHANNELS, RECEIVERS_FROM, Step, World, address, say};
use crate::judge::Broken;
use crate::relay::{RELAY, RelayProgram, Wish};

/// The relay's machine.
pub(super) struct RelayPlace {
    pub(super) program: Option<RelayProgram>,
    pub(super) starts_at: Option<Time>,
    pub(super) lives: u64,
    /// Paths to each receiver, from each receiver, and to each source.
    pub(super) to_receivers: Vec<ForeignPath>,
    pub(super) from_receivers: Vec<ForeignPath>,
    pub(super) to_sources: Vec<ForeignPath>,
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
            place.program = Some(RelayProgram::new(stream));
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
    pub(super) fn with_relay(&mut self, act: impl FnOnce(&mut RelayProgram, Time)) {
        let now = self.now;
        let Some(program) = self.relay.as_mut().and_then(|place| place.program.as_mut()) else { return };
        act(program, now);
        for wish in program.take_wishes() {
            match wish {
                Wish::Hold(channel, holds) => self.hold(self.receivers.len(), channel, holds),
                Wish::Child(to, bytes) => {
                    let number = (0..self.receivers.len()).find(|&number| child_at(number) == to);
                    let path = self.relay.as_ref().zip(number);
                    let path = path.and_then(|(place, number)| place.to_receivers.get(number).copied());
                    self.unicast(path, bytes);
                }
                Wish::Source(to, bytes) => {
                    let number = self.sources.iter().position(|source| source.address == to);
                    let path = self.relay.as_ref().zip(number);
                    let path = path.and_then(|(place, number)| place.to_sources.get(number).copied());
                    self.unicast(path, bytes);
                }
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
            self.with_relay(|relay, now| relay.child_says(now, child_at(number), bytes));
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
    pub(super) fn relay_packet(&mut self, source: IpAddr, channel: Channel, bytes: &[u8]) {
        self.with_relay(|relay, _| relay.packet(channel, source, bytes));
    }
}
