//! Receivers whose packets come from outside by another path than the tree of their session, such as through relays: what
//! the tree counts for others is counted for them from outside, too.

use layercast_core::contract::Ecn;
use layercast_core::family::Family;
use layercast_core::units::{Channel, Size};

use super::Simulation;
use super::foreign::ForeignPath;
use super::session::ReceiverId;
use crate::measure::ReceiverEvent;

impl<F: Family> Simulation<F> {
    /// A packet with data of the session has reached a receiver, which is a member of its channel.
    pub fn count_relayed(&mut self, id: ReceiverId, size: Size, ecn: Ecn) {
        let to = &mut self.sessions[id.session as usize];
        let received = &mut to.received[id.receiver as usize];
        received.bytes += u64::from(size.as_bytes());
        received.packets += 1;
        to.exceptions[id.receiver as usize].marked_packets += u64::from(ecn == Ecn::Marked);
        if to.object.is_some() {
            self.count_towards_object(id.session, id.receiver);
        }
    }

    /// A packet of the session has reached a receiver that has left its channel.
    pub fn count_relayed_late(&mut self, id: ReceiverId, size: Size) {
        let to = &mut self.sessions[id.session as usize];
        to.exceptions[id.receiver as usize].late_bytes += u64::from(size.as_bytes());
    }

    /// A packet to a receiver, which is a member of its channel, was lost.
    pub fn count_relayed_loss(&mut self, id: ReceiverId) {
        self.sessions[id.session as usize].exceptions[id.receiver as usize].lost_packets += 1;
    }

    /// A receiver has joined a channel by a message that is carried as a packet from outside.
    pub fn note_relayed_join(&mut self, id: ReceiverId, channel: Channel) {
        let now = self.engine.now();
        let log = &mut self.sessions[id.session as usize].logs[id.receiver as usize];
        log.requests.joins = log.requests.joins.saturating_add(1);
        log.record(now, ReceiverEvent::Join(channel));
    }

    /// A receiver has left a channel by a message that is carried as a packet from outside.
    pub fn note_relayed_leave(&mut self, id: ReceiverId, channel: Channel) {
        let now = self.engine.now();
        let log = &mut self.sessions[id.session as usize].logs[id.receiver as usize];
        log.requests.leaves = log.requests.leaves.saturating_add(1);
        log.record(now, ReceiverEvent::Leave(channel));
    }

    /// Keeps the headers of packets that count and are lost on paths from now on, until
    /// [`drain_foreign_losses`](Simulation::drain_foreign_losses) takes them.
    pub fn keep_foreign_losses(&mut self) {
        self.foreign_losses.get_or_insert_default();
    }

    /// Takes out what was lost on paths since the last call. The bytes of a lost packet stay valid until the next packet is
    /// brought in, as those of an arrival do.
    pub fn drain_foreign_losses(&mut self, sink: &mut impl FnMut(ForeignPath, F::Header)) {
        let Some(losses) = &mut self.foreign_losses else { return };
        losses.drain(..).for_each(|(path, header)| sink(path, header));
    }
}
