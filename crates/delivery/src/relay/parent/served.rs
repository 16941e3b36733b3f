//! A session that children want.

use layercast_core::cannot_be;
use layercast_core::units::Channel;

use crate::relay::session::SessionKey;

/// A session, and which children hold which of its channels.
#[derive(Debug)]
pub(super) struct Served {
    /// The session.
    pub(super) key: SessionKey,
    /// Its number in the header of data.
    pub(super) handle: u32,
    /// How many children want it.
    pub(super) children: usize,
    /// The places of children, by channel.
    holders: Vec<Vec<usize>>,
}

impl Served {
    pub(super) fn new(key: SessionKey, handle: u32) -> Served {
        Served { key, handle, children: 0, holders: Vec::new() }
    }

    /// The children that hold a channel.
    pub(super) fn holders(&self, channel: Channel) -> &[usize] {
        self.holders.get(channel.index()).map_or(&[], Vec::as_slice)
    }

    /// A child that does not hold a channel joins it.
    pub(super) fn join(&mut self, channel: Channel, child: usize) {
        if self.holders.len() <= channel.index() {
            self.holders.resize_with(channel.index() + 1, Vec::new);
        }
        if let Some(holders) = self.holders.get_mut(channel.index()) {
            holders.push(child);
        }
    }

    /// A child leaves a channel; whether it was the last one.
    pub(super) fn leave(&mut self, channel: Channel, child: usize) -> bool {
        let Some(holders) = self.holders.get_mut(channel.index()) else {
            return cannot_be("only a channel that is held is left");
        };
        let Some(at) = holders.iter().position(|one| *one == child) else {
            return cannot_be("only a channel that is held is left");
        };
        holders.swap_remove(at);
        holders.is_empty()
    }
}
