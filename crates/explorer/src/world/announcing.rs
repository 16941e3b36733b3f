//! Announcements: from sources to receivers that listen, and what forgers make of them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::Channel;
use layercast_delivery::announce::directory::Limits;
use layercast_delivery::announce::sap::{Kind, Message, PORT, Packet};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::finding::Place;
use layercast_delivery::search::Known;
use layercast_simulator::outside::Handle;

use super::carrying::packet;
use super::{Passing, RESTART_AFTER, Sent, Step, World, say, source_at};
use crate::fault::ForgedAnnouncement;
use crate::forgery::flip;
use crate::judge::Broken;
use crate::listener::{ANNOUNCED, ANNOUNCEMENTS, Listener, NAME};
use crate::source::{GROUP, key_of, trusted};
use crate::wire::CHANNELS;

/// So many sessions are announced for each announcement of a flood.
const FLOOD: u32 = 60;
/// Sources hear so many of those that are forged at a time. More of them make their own rare, for which there is no remedy.
const HEARD_BY_SOURCES: usize = 8;

impl World {
    /// A receiver's program begins: by the place of its session, or by its name.
    pub(super) fn begin_receiver(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        if !self.knows_name(number) {
            let salt = self.sources.first().and_then(|source| source.salt);
            return self.open_receiver(number, Known::Group(GROUP, None), salt, false);
        }
        let keys = trusted(&self.plan, source_at(0));
        let receiver = &mut self.receivers[number];
        receiver.listener = Some(Listener::new(keys, self.now + receiver.ahead));
        receiver.last = "listens".to_owned();
        self.set_joined(number, ANNOUNCED, true);
        say(watch, self.now, || format!("receiver {number} listens to announcements"));
    }

    /// Whether a receiver knows the name of its session alone. No announcements come through a tunnel.
    pub(super) fn knows_name(&self, number: usize) -> bool {
        self.plan.is_announced && self.plan.amt.is_none_or(|amt| amt.receiver != number)
    }

    /// Sends what sources announce.
    pub(super) fn carry_announcements(&mut self, number: usize) {
        let Some(program) = &mut self.sources[number].program else { return };
        let announced = std::mem::take(&mut program.announcements);
        let session = self.sources[number].session;
        let from = SocketAddr::new(self.sources[number].address, PORT);
        for bytes in announced {
            if let Ok(said) = Packet::read(&bytes) {
                let described = Description::read(said.payload).ok();
                let place = described.and_then(|said| Place::of(&said).ok());
                self.announced.extend(place.filter(|place| !self.announced.contains(place)));
            }
            self.sources_hear(&bytes);
            let slot = self.simulation.multicast_foreign(session, ANNOUNCED, packet(&bytes), Handle);
            self.put(slot, Sent { from, to: ANNOUNCEMENTS, bytes });
        }
    }

    fn sources_hear(&mut self, bytes: &[u8]) {
        let Ok(packet) = Packet::read(bytes) else { return };
        for source in &mut self.sources {
            source.program.iter_mut().for_each(|program| program.hear_announcement(&packet, self.now));
        }
    }

    /// An announcement comes to a receiver.
    pub(super) fn announcement(
        &mut self,
        number: usize,
        from: SocketAddr,
        bytes: &[u8],
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        let sessions = match (&mut receiver.listener, &mut receiver.program) {
            (Some(listener), _) => {
                listener.receive(local, from.ip(), bytes);
                listener.announced_sessions()
            }
            (None, Some(program)) => {
                program.announcement(local, from.ip(), bytes);
                program.announced_sessions()
            }
            (None, None) => return Ok(()),
        };
        let excess = sessions.saturating_sub(Limits::default().sessions);
        if excess > 0 {
            return Err(Broken::Listener { at: self.now, receiver: number, excess });
        }
        if self.receivers[number].listener.is_some() {
            return self.listen(number, watch);
        }
        self.after(number, watch)
    }

    /// Whether a receiver that listens has found its session, or gives up.
    pub(super) fn listen(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        match receiver.listener.as_ref().and_then(|listener| listener.found(local)) {
            None => Ok(()),
            Some(Err(why)) => self.stop_receiver(number, RESTART_AFTER, &why, watch),
            Some(Ok(place)) => {
                receiver.listener = None;
                self.finds(number, &place, watch)?;
                (0..CHANNELS).for_each(|channel| self.set_joined(number, Channel(channel), false));
                self.open_receiver(number, place.known, place.salt, true);
                Ok(())
            }
        }
    }

    /// A receiver finds its session by its name.
    pub(super) fn finds(
        &mut self,
        number: usize,
        place: &Place,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        say(watch, self.now, || format!("receiver {number} finds {:?}", place.known));
        if self.plan.is_signed && !self.announced.contains(place) {
            return Err(Broken::Forged { at: self.now, receiver: number });
        }
        Ok(())
    }

    pub(super) fn forge_announcements(&mut self, number: usize, count: u32, kind: ForgedAnnouncement) {
        let count = if kind == ForgedAnnouncement::Flood { count * FLOOD } else { count };
        for place in 0..count as usize {
            let Some((from, genuine)) = self.heard.pick(&mut self.chaos) else { return };
            let Some((from, bytes)) = self.forged_announcement(from, &genuine, kind) else { continue };
            if place < HEARD_BY_SOURCES {
                self.sources_hear(&bytes);
            }
            let (channel, ecn) = (ANNOUNCED, Ecn::NotCapable);
            self.delay(Passing { receiver: number, from, channel, ecn, bytes, is_forged: true });
        }
    }

    /// What a forger makes of a genuine announcement.
    fn forged_announcement(
        &mut self,
        from: SocketAddr,
        genuine: &[u8],
        kind: ForgedAnnouncement,
    ) -> Option<(SocketAddr, Vec<u8>)> {
        let chaos = &mut self.chaos;
        let mut bytes = genuine.to_vec();
        match kind {
            ForgedAnnouncement::Random => bytes.iter_mut().for_each(|byte| *byte = chaos.bits() as u8),
            ForgedAnnouncement::Mutated => flip(&mut bytes, chaos),
            ForgedAnnouncement::Replayed => {}
            ForgedAnnouncement::OtherSession | ForgedAnnouncement::Flood | ForgedAnnouncement::Ended => {
                let mut description = Description::read(Packet::read(genuine).ok()?.payload).ok()?;
                let origin = description.origin.clone();
                let forger = IpAddr::V4(Ipv4Addr::from(0x0a09_0000 | chaos.bits() as u32 & 0xffff));
                let key = key_of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 99)));
                let signer = chaos.chance(0.3).then_some(&key as &dyn Signer);
                if kind != ForgedAnnouncement::Ended {
                    description.origin.id = chaos.bits() >> 1;
                    description.tsi = chaos.bits() & 0xffff_ffff;
                    description.source = Some(forger);
                    description.key = signer.map(Signer::public_key);
                    let number = chaos.bits() % 1000;
                    description.name =
                        if kind == ForgedAnnouncement::Flood { number.to_string() } else { NAME.to_owned() };
                }
                let hash = (chaos.bits() as u16).max(1);
                // Addresses can be forged as well.
                let from = if chaos.chance(0.3) { from } else { SocketAddr::new(forger, PORT) };
                let (kind, payload) = match kind {
                    ForgedAnnouncement::Ended => (Kind::Deletion, origin.line()),
                    _ => (Kind::Announcement, description.write().ok()?),
                };
                let message = Message { kind, hash, origin: from.ip(), payload: &payload };
                return Some((from, message.write(signer).ok()?));
            }
        }
        Some((from, bytes))
    }
}
