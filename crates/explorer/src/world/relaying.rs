//! The machines of relays.

use std::net::{IpAddr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::node::{Relay, RelayOutput};
use layercast_delivery::relay::message::DATA_HEAD_MAX;

use super::{Sent, Step, World, say};
use crate::relay::{relay, relay_at};
use crate::wire::CHANNELS;

/// The machine of a relay.
pub(super) struct RelayPlace {
    pub(super) program: Option<Relay>,
    pub(super) starts_at: Option<Time>,
    pub(super) lives: u64,
    /// The relays above it.
    pub(super) above: Vec<usize>,
}

/// From where a machine asks relays.
pub(super) fn child_at(machine: IpAddr) -> SocketAddr {
    SocketAddr::new(machine, 7000)
}

impl World {
    pub(super) fn start_relays(&mut self, watch: &mut dyn FnMut(&Step)) {
        let (seed, now) = (self.plan.seed, self.now);
        for (number, place) in self.relays.iter_mut().enumerate() {
            if place.starts_at.take_if(|at| *at <= now).is_some() {
                place.lives += 1;
                let stream = Stream::new(seed, &format!("relay/{number}/{}", place.lives));
                place.program = Some(relay(&place.above, stream, now));
                self.outcome.starts += 1;
                say(watch, now, || format!("relay {number} starts"));
            }
        }
    }

    pub(super) fn kill_relay(&mut self, number: usize, down: Option<Duration>) {
        let Some(place) = self.relays.get_mut(number) else { return };
        place.program = None;
        place.starts_at = down.map(|down| self.now + down);
        for channel in 0..CHANNELS {
            self.hold(self.receivers.len() + number, Channel(channel), false);
        }
    }

    /// Does something with a relay, if it runs, and carries out what it wants.
    pub(super) fn with_relay(&mut self, number: usize, act: impl FnOnce(&mut Relay, Time)) {
        let now = self.now;
        let Some(program) = self.relays.get_mut(number).and_then(|place| place.program.as_mut()) else {
            return;
        };
        act(program, now);
        while let Some(place) = self.relays.get_mut(number)
            && let Some(output) = place.program.as_mut().and_then(Relay::poll)
        {
            let here = relay_at(number);
            let (from, to, message) = match output {
                RelayOutput::Channel(change) if place.above.is_empty() => {
                    self.hold(self.receivers.len() + number, change.channel, change.is_join);
                    continue;
                }
                RelayOutput::ToChild(to, message) => (here, to, message),
                RelayOutput::ToRelay(_, to, message) => (child_at(here.ip()), to, message),
                RelayOutput::ToSource(to, message) => (SocketAddr::new(here.ip(), 9001), to, message),
                // It is no source, and has one socket for the one session that it carries.
                RelayOutput::Heard(..) | RelayOutput::Close(_) => continue,
                RelayOutput::Channel(_) | RelayOutput::Notice(_) => continue,
            };
            self.send(Sent { from, to, bytes: message.bytes().to_vec() });
        }
    }

    /// A datagram came to a relay by unicast: of a child, or of a relay above it.
    pub(super) fn pass_to_relay(&mut self, number: usize, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        if to == relay_at(number) {
            return self.with_relay(number, |relay, now| relay.handle(now, from, bytes));
        }
        let mut found = None;
        self.with_relay(number, |relay, now| found = relay.handle_above(now, 0, from, bytes));
        if let Some((data, length)) = found {
            let packet = bytes.get(length..).unwrap_or_default();
            self.relay_packet(number, SocketAddr::new(data.source, 0), data.channel, packet);
        }
    }

    /// A packet came to a relay.
    pub(super) fn relay_packet(&mut self, number: usize, source: SocketAddr, channel: Channel, bytes: &[u8]) {
        let now = self.now;
        let Some(program) = self.relays.get_mut(number).and_then(|place| place.program.as_mut()) else {
            return;
        };
        // The one session that it carries.
        let Some(mut copies) = program.copies(0, channel, source) else { return };
        let mut room = [0; DATA_HEAD_MAX];
        let length = copies.head.write(&mut room);
        let bytes = [room.get(..length).unwrap_or_default(), bytes].concat();
        while let Some(program) = self.relays.get_mut(number).and_then(|place| place.program.as_mut())
            && let Some(holder) = program.next_holder(&mut copies)
        {
            let sent = u64::from(program.may_send(now, bytes.len()));
            program.sent(holder, 1, sent, sent * bytes.len() as u64);
            if let Some(to) = holder.address.filter(|_| sent > 0) {
                self.send(Sent { from: relay_at(number), to, bytes: bytes.clone() });
            }
        }
    }
}
