//! Sessions that come through relays: by unicast, from host to host. Their packets are carried as any others; here they
//! are counted for the receivers that they are for.

use std::collections::{BTreeMap, BTreeSet};

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Size};
use layercast_simulator::outside::Foreign;
use layercast_simulator::{ForeignPath, ReceiverId, Simulation};

use super::Emulation;
use crate::error::Error;
use crate::host::HostId;
use crate::packet::{View, protocol};

/// The bytes of a UDP header.
const UDP_HEAD: usize = 8;

/// Reads the payload of a datagram from a relay: the channel of the packet in it, and how many bytes stand before that
/// packet; none if there is no packet of a session in it.
pub type ReadRelayed = fn(&[u8]) -> Option<(Channel, usize)>;

/// From a relay, or a source that serves by unicast, to a relay or receiver below it.
#[derive(Clone, Debug)]
pub struct HopPlan {
    /// The host above.
    pub from: HostId,
    /// The host below.
    pub to: HostId,
    /// The UDP port from which packets are sent.
    pub port: u16,
    /// The receivers whose packets pass here.
    pub below: Vec<ReceiverId>,
    /// The receiver in the host below; none of a relay.
    pub end: Option<ReceiverId>,
}

/// A hop.
#[derive(Debug)]
struct Hop {
    port: u16,
    /// None between hosts of one node.
    path: Option<(ForeignPath, u8)>,
    below: Vec<ReceiverId>,
    end: Option<ReceiverId>,
}

/// All hops, and the channels that receivers hold.
#[derive(Debug, Default)]
pub(super) struct Hops {
    list: Vec<Hop>,
    by_ends: BTreeMap<(HostId, HostId), Vec<usize>>,
    by_path: BTreeMap<ForeignPath, usize>,
    /// The channels of receivers, as they report them.
    held: BTreeSet<(ReceiverId, u16)>,
    read: Option<ReadRelayed>,
    /// Where losses are put before they are counted.
    lost: Vec<(ForeignPath, u32)>,
}

/// A packet of a session on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relayed {
    hop: usize,
    channel: Channel,
    /// Its size without what the relay has put before it.
    size: Size,
}

impl Hops {
    /// The packet of a session in bytes from one host to another.
    pub(super) fn find(&self, from: HostId, to: HostId, view: &View, bytes: &[u8]) -> Option<Relayed> {
        let (port, _) = view.ports.filter(|_| view.protocol == protocol::UDP)?;
        let hops = self.by_ends.get(&(from, to))?;
        let hop = hops.iter().copied().find(|&hop| self.list.get(hop).is_some_and(|hop| hop.port == port))?;
        self.packet(hop, view, bytes)
    }

    /// The path of a hop, and how many routers are on it.
    pub(super) fn path(&self, relayed: Relayed) -> Option<(ForeignPath, u8)> {
        self.list.get(relayed.hop)?.path
    }

    fn packet(&self, hop: usize, view: &View, bytes: &[u8]) -> Option<Relayed> {
        let payload = bytes.get(view.payload + UDP_HEAD..view.length)?;
        let (channel, before) = self.read?(payload)?;
        let size = Size::from_bytes(view.length.checked_sub(before)? as u32);
        Some(Relayed { hop, channel, size })
    }

    fn of_path(&self, path: ForeignPath, bytes: &[u8]) -> Option<Relayed> {
        self.packet(*self.by_path.get(&path)?, &View::of(bytes)?, bytes)
    }

    /// A packet has arrived at the end of a path.
    pub(super) fn arrived(
        &self,
        simulation: &mut Simulation<Foreign>,
        path: ForeignPath,
        bytes: &[u8],
        ecn: Ecn,
    ) {
        if let Some(relayed) = self.of_path(path, bytes) {
            self.count(simulation, relayed, ecn);
        }
    }

    /// A packet has come to the host below.
    pub(super) fn count(&self, simulation: &mut Simulation<Foreign>, relayed: Relayed, ecn: Ecn) {
        let Some(end) = self.list.get(relayed.hop).and_then(|hop| hop.end) else { return };
        if self.held.contains(&(end, relayed.channel.0)) {
            simulation.count_relayed(end, relayed.size, ecn);
        } else {
            simulation.count_relayed_late(end, relayed.size);
        }
    }

    /// A packet was lost: for all below that hold its channel, as in a tree of routers.
    fn lose(&self, simulation: &mut Simulation<Foreign>, path: ForeignPath, bytes: &[u8]) {
        let Some(relayed) = self.of_path(path, bytes) else { return };
        let Some(hop) = self.list.get(relayed.hop) else { return };
        for &receiver in hop.below.iter().filter(|below| self.held.contains(&(**below, relayed.channel.0))) {
            simulation.count_relayed_loss(receiver);
        }
    }

    /// A receiver has joined a channel.
    pub(super) fn join(&mut self, simulation: &mut Simulation<Foreign>, id: ReceiverId, channel: Channel) {
        if self.held.insert((id, channel.0)) {
            simulation.note_relayed_join(id, channel);
        }
    }

    /// A receiver has left a channel.
    pub(super) fn leave(&mut self, simulation: &mut Simulation<Foreign>, id: ReceiverId, channel: Channel) {
        if self.held.remove(&(id, channel.0)) {
            simulation.note_relayed_leave(id, channel);
        }
    }
}

impl Emulation {
    /// Counts what comes to receivers through relays, by these hops, instead of by the trees of their sessions. Which channels
    /// a receiver holds is known by [`Report::Join`](crate::Report::Join) and [`Report::Leave`](crate::Report::Leave).
    ///
    /// # Errors
    /// [`Error::Network`] if there is no path between the ends of a hop.
    pub fn add_hops(&mut self, plans: Vec<HopPlan>, read: ReadRelayed) -> Result<(), Error> {
        self.simulation.keep_foreign_losses();
        self.hops.read = Some(read);
        for HopPlan { from, to, port, below, end } in plans {
            let node = |id: HostId| self.host(id).map(crate::Host::node);
            let path = match (node(from), node(to)) {
                (Some(above), Some(below)) if above != below => {
                    let path = self.simulation.open_path(above, below)?;
                    Some((path, self.routers_on(path)))
                }
                _ => None,
            };
            let hop = self.hops.list.len();
            self.hops.by_ends.entry((from, to)).or_default().push(hop);
            if let Some((path, _)) = path {
                self.hops.by_path.insert(path, hop);
            }
            self.hops.list.push(Hop { port, path, below, end });
        }
        Ok(())
    }

    /// Counts what was lost on paths, before its bytes are overwritten.
    pub(super) fn take_losses(&mut self) {
        let Emulation { simulation, hops, store, .. } = self;
        let mut lost = std::mem::take(&mut hops.lost);
        simulation.drain_foreign_losses(&mut |path, header| lost.push((path, header.0)));
        for (path, slot) in lost.drain(..) {
            if let Some(stored) = store.get_mut(slot) {
                hops.lose(simulation, path, &stored.bytes);
            }
        }
        hops.lost = lost;
    }
}
