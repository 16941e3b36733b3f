//! The host of a router, and what it shares with the host of the source.

use layercast_core::contract::{ChildSet, Header, Host, Peer, Send, Target, TraceEvent};
use layercast_core::units::Channel;

use super::{multicast_copy, nth};
use crate::engine::Engine;
use crate::network::LinkId;
use crate::packet::{Body, EcnField};
use crate::tree::{CHILDREN_CHANNEL, Tree};

/// The host of a session's router.
pub(crate) struct RouterHost<'a, H> {
    pub(crate) engine: &'a mut Engine<H>,
    pub(crate) tree: &'a Tree,
    /// Its node in the tree.
    pub(crate) node: u32,
    /// Its number as a member of the session.
    pub(crate) peer: Peer,
    /// The ECN field of its data packets.
    pub(crate) ecn: EcnField,
}

impl<H: Header> Host<H> for RouterHost<'_, H> {
    fn send(&mut self, send: Send<H>) {
        match send.target {
            Target::Source => {
                let route = self.tree.routes().up;
                let (first, above) = self.tree.up_from(self.node);
                for index in 0..send.count {
                    let body = Body::Unicast { from: self.peer, header: nth(&send, index) };
                    self.engine.send(body, send.size, EcnField::NotCapable, first, route, above);
                }
            }
            Target::Peer(peer) => {
                // A member that is not below this node has no path down from it.
                if let Some(first) = self.tree.down_from(self.node, peer.0) {
                    send_down(self.engine, self.tree, self.peer, peer, first, &send);
                }
            }
            Target::Children(links) => {
                send_over(self.engine, self.tree, self.node, links, &send, self.ecn);
            }
            Target::Channel(_) => debug_assert!(false, "a router sends to child links"),
        }
    }

    fn join(&mut self, _channel: Channel) {
        debug_assert!(false, "a router joins nothing");
    }

    fn leave(&mut self, _channel: Channel) {
        debug_assert!(false, "a router leaves nothing");
    }

    fn trace(&mut self, _note: TraceEvent) {}
}

/// Sends to one member below, by this first link.
pub(super) fn send_down<H: Header>(
    engine: &mut Engine<H>,
    tree: &Tree,
    from: Peer,
    to: Peer,
    first: LinkId,
    send: &Send<H>,
) {
    for index in 0..send.count {
        let body = Body::Unicast { from, header: nth(send, index) };
        engine.send(body, send.size, EcnField::NotCapable, first, tree.routes().down, to.0);
    }
}

/// Sends over some child links of a node: what goes there is data.
pub(super) fn send_over<H: Header>(
    engine: &mut Engine<H>,
    tree: &Tree,
    node: u32,
    links: ChildSet,
    send: &Send<H>,
    ecn: EcnField,
) {
    for index in 0..send.count {
        let copy = multicast_copy(engine, CHILDREN_CHANNEL, send, index, ecn);
        tree.forward_over(engine, node, links, copy);
        engine.slab.release(copy.packet);
    }
}
