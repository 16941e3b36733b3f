//! Sessions that distribute an object: receivers that hold it leave, and a source that nobody needs stops.

use layercast_core::contract::Input;
use layercast_core::family::Family;

use super::{Agent, ReceiverId, SessionId, Simulation};
use crate::object::{Object, ObjectConfig, ObjectProgress};

impl<F: Family> Simulation<F> {
    /// Lets a session distribute an object. Its source stops when every receiver has it. Reliable protocols
    /// end a session themselves: their object is [`SessionConfig::packets`](super::SessionConfig::packets).
    pub fn distribute(&mut self, session: SessionId, config: ObjectConfig) {
        let to = &mut self.sessions[session.0 as usize];
        to.object = Some(Object::new(config, to.received.len()));
    }

    /// How far a receiver is with the object of its session, or with the packets of a session with an end. None
    /// for a session without end.
    pub fn object_progress(&self, id: ReceiverId) -> Option<ObjectProgress> {
        let session = &self.sessions[id.session as usize];
        let source_start = session.start;
        if let Some(object) = &session.object {
            let share = object.of(id.receiver);
            let (packets, needed) = (share.packets, object.config.packets);
            return Some(ObjectProgress { packets, needed, completed: share.completed, source_start });
        }
        let needed = session.deliveries.packets()?;
        let delivery = session.deliveries.of(id.receiver);
        let (packets, completed) = (delivery.delivered_packets, delivery.completed);
        Some(ObjectProgress { packets, needed, completed, source_start })
    }

    /// A packet with data has reached a member of a session with an object.
    pub(super) fn count_towards_object(&mut self, session: u32, receiver: u32) {
        let now = self.engine.now();
        let to = &mut self.sessions[session as usize];
        if to.is_crashed(receiver) {
            return;
        }
        let Some(object) = to.object.as_mut().filter(|object| !object.is_everywhere()) else { return };
        if !object.count(receiver, now) {
            return;
        }
        let (leaves, is_everywhere, source) =
            (object.config.leave_when_complete, object.is_everywhere(), to.source);
        if leaves {
            self.drive_receiver(session, receiver, Input::Stop);
        }
        if is_everywhere {
            self.drive_endpoint(source, Input::Stop);
        }
    }

    /// Whether an agent was stopped before its time, since it has the object or nobody needs it any more.
    pub(super) fn is_done_with_object(&self, agent: u32) -> bool {
        let object = |session: u32| self.sessions[session as usize].object.as_ref();
        match self.agents[agent as usize] {
            Agent::Source { session, .. } => object(session).is_some_and(Object::is_everywhere),
            Agent::Receiver { session, receiver } => {
                object(session).is_some_and(|object| object.has_left(receiver))
            }
            _ => false,
        }
    }
}
