//! The simulator's side of the contract: the hosts of endpoints and the output of TCPs.

mod router;

use layercast_core::contract::{Header, Host, Payload, Peer, Send, Target, TraceEvent};
use layercast_core::units::{Channel, Seq, Size};

pub(crate) use self::router::RouterHost;
use self::router::{send_down, send_over};
use crate::engine::Engine;
use crate::measure::{Deliveries, LevelChange, ReceiverEvent, ReceiverLog};
use crate::packet::{Body, CopyKind, EcnField, PacketCopy};
use crate::paths::UnicastPath;
use crate::tcp::{Output, Segment};
use crate::tree::{Latencies, Tree};

/// The host of a session's source.
pub(crate) struct SourceHost<'a, H> {
    pub(crate) engine: &'a mut Engine<H>,
    pub(crate) tree: &'a Tree,
    /// The ECN field of its data packets.
    pub(crate) ecn: EcnField,
    /// The number of packets of new data left; none for unlimited data, or after `Input::Finish`.
    pub(crate) left: &'a mut Option<u64>,
}

/// The source as a sender of unicast packets.
pub(crate) const SOURCE: Peer = Peer(u32::MAX);

impl<H: Header> Host<H> for SourceHost<'_, H> {
    fn send(&mut self, send: Send<H>) {
        if let (Some(left), Payload::Next) = (&mut *self.left, send.payload) {
            *left = left.saturating_sub(u64::from(send.count));
        }
        match send.target {
            Target::Channel(channel) => {
                // Packets of a channel without members stop at the source's node.
                if self.tree.is_wanted(channel) {
                    for index in 0..send.count {
                        self.multicast(channel, &send, index);
                    }
                }
            }
            Target::Peer(peer) => {
                if let Some(first) = self.tree.down_towards(peer.0, None) {
                    send_down(self.engine, self.tree, SOURCE, peer, first, &send);
                }
            }
            Target::Children(links) => {
                debug_assert!(self.tree.has_routers(), "child links exist only in a session with routers");
                send_over(self.engine, self.tree, 0, links, &send, self.ecn);
            }
            Target::Source => debug_assert!(false, "a source does not send to itself"),
        }
    }

    fn join(&mut self, _channel: Channel) {
        debug_assert!(false, "a source joins nothing");
    }

    fn leave(&mut self, _channel: Channel) {
        debug_assert!(false, "a source leaves nothing");
    }

    fn trace(&mut self, _note: TraceEvent) {}
}

impl<H: Header> SourceHost<'_, H> {
    fn multicast(&mut self, channel: Channel, send: &Send<H>, index: u16) {
        let copy = multicast_copy(self.engine, channel, send, index, self.ecn);
        self.tree.forward(self.engine, 0, channel, copy);
        self.engine.slab.release(copy.packet);
    }
}

/// A packet of a run for a channel.
#[inline]
fn multicast_copy<H: Header>(
    engine: &mut Engine<H>,
    channel: Channel,
    send: &Send<H>,
    index: u16,
    ecn: EcnField,
) -> PacketCopy {
    let has_data = send.payload != Payload::None;
    let packet = engine.slab.insert(Body::Channel { channel, header: nth(send, index), has_data });
    let (size_bytes, ecn) = (send.size.as_bytes(), ecn.into());
    let kind = CopyKind::SESSION;
    PacketCopy { packet, route: 0, position: 0, size_bytes, ecn, kind, channel: channel.0 }
}

/// The host of a session's receiver.
pub(crate) struct ReceiverHost<'a, H> {
    pub(crate) engine: &'a mut Engine<H>,
    pub(crate) tree: &'a mut Tree,
    /// This receiver's number in the tree.
    pub(crate) receiver: u32,
    pub(crate) latencies: &'a Latencies,
    pub(crate) log: &'a mut ReceiverLog,
    pub(crate) deliveries: &'a mut Deliveries,
}

impl<H: Header> Host<H> for ReceiverHost<'_, H> {
    fn send(&mut self, send: Send<H>) {
        match send.target {
            Target::Source => {
                let route = self.tree.routes().up;
                let (first, above) = self.tree.up_from(self.tree.node_of(self.receiver));
                for index in 0..send.count {
                    let body = Body::Unicast { from: Peer(self.receiver), header: nth(&send, index) };
                    self.engine.send(body, send.size, EcnField::NotCapable, first, route, above);
                }
            }
            Target::Channel(_) | Target::Peer(_) | Target::Children(_) => {
                debug_assert!(false, "a receiver sends to its source");
            }
        }
    }

    fn join(&mut self, channel: Channel) {
        self.log.requests.joins = self.log.requests.joins.saturating_add(1);
        self.log.record(self.engine.now(), ReceiverEvent::Join(channel));
        self.tree.join(self.engine, self.receiver, channel, self.latencies.join);
    }

    fn leave(&mut self, channel: Channel) {
        self.log.requests.leaves = self.log.requests.leaves.saturating_add(1);
        self.log.record(self.engine.now(), ReceiverEvent::Leave(channel));
        self.tree.leave(self.engine, self.receiver, channel, self.latencies.leave);
    }

    fn trace(&mut self, note: TraceEvent) {
        if let TraceEvent::LevelChanged { from, to, cause } = note {
            self.log.level_changes.push(LevelChange { at: self.engine.now(), from, to, cause });
        }
        if let TraceEvent::SlowStartEnded { .. } = note {
            self.log.slow_start_ended.get_or_insert(self.engine.now());
        }
        self.log.record(self.engine.now(), ReceiverEvent::Trace(note));
    }

    fn deliver(&mut self, through: Seq) {
        self.deliveries.deliver(self.receiver, through, self.engine.now());
    }
}

fn nth<H: Header>(send: &Send<H>, index: u16) -> H {
    if index == 0 { send.header } else { send.header.nth(index) }
}

/// The output of a TCP sender.
pub(crate) struct TcpOutput<'a, H> {
    pub(crate) engine: &'a mut Engine<H>,
    pub(crate) path: UnicastPath,
    pub(crate) sent_packets: &'a mut u64,
}

impl<H: Header> Output for TcpOutput<'_, H> {
    fn send(&mut self, segment: Segment, size: Size, is_ecn_capable: bool) {
        let ecn = if is_ecn_capable { EcnField::Classic } else { EcnField::NotCapable };
        *self.sent_packets += 1;
        self.engine.send_along(self.path, Body::Segment(segment), size, ecn);
    }
}
