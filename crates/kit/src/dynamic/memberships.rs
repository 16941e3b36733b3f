//! The joins and leaves that lead to a set of memberships.

use alloc::vec;
use alloc::vec::Vec;

use layercast_core::units::Channel;

/// One membership that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The channel is to be joined.
    Join(Channel),
    /// The channel is to be left.
    Leave(Channel),
}

/// The channels that a receiver is a member of.
#[derive(Clone, Debug)]
pub struct Memberships {
    /// For each channel, whether it is joined; and, during a change, whether it is wanted.
    channels: Vec<(bool, bool)>,
}

impl Memberships {
    /// No membership in any of `channels` channels.
    pub fn new(channels: u16) -> Memberships {
        Memberships { channels: vec![(false, false); usize::from(channels)] }
    }

    /// Whether a channel is joined.
    pub fn holds(&self, channel: Channel) -> bool {
        self.channels.get(channel.index()).is_some_and(|&(held, _)| held)
    }

    /// The joined channels, in order.
    pub fn held(&self) -> impl Iterator<Item = Channel> + '_ {
        let held = |(channel, &(held, _)): (usize, &(bool, bool))| held.then_some(Channel(channel as u16));
        self.channels.iter().enumerate().filter_map(held)
    }

    /// Changes the membership to the `wanted` channels. `on_move` gets the necessary changes: first the
    /// leaves in the order of channels, then the joins in the order of `wanted`. Channels that do not exist
    /// are skipped.
    pub fn hold(&mut self, wanted: impl Iterator<Item = Channel> + Clone, mut on_move: impl FnMut(Move)) {
        for channel in wanted.clone() {
            if let Some((_, is_wanted)) = self.channels.get_mut(channel.index()) {
                *is_wanted = true;
            }
        }
        for (channel, (held, is_wanted)) in self.channels.iter_mut().enumerate() {
            if *held && !*is_wanted {
                *held = false;
                on_move(Move::Leave(Channel(channel as u16)));
            }
            *is_wanted = false;
        }
        for channel in wanted {
            if let Some((held, _)) = self.channels.get_mut(channel.index()).filter(|(held, _)| !held) {
                *held = true;
                on_move(Move::Join(channel));
            }
        }
    }

    /// Joins the wanted channels and leaves none: for joins ahead of a boundary.
    pub fn join(&mut self, wanted: impl Iterator<Item = Channel>, mut on_join: impl FnMut(Channel)) {
        for channel in wanted {
            if let Some((held, _)) = self.channels.get_mut(channel.index()).filter(|(held, _)| !held) {
                *held = true;
                on_join(channel);
            }
        }
    }

    /// Removes a channel without a leave, after a failed join. Returns whether it was joined.
    pub fn forget(&mut self, channel: Channel) -> bool {
        self.channels.get_mut(channel.index()).is_some_and(|(held, _)| core::mem::take(held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(memberships: &mut Memberships, wanted: &[u16]) -> Vec<Move> {
        let mut moves = Vec::new();
        memberships.hold(wanted.iter().map(|&channel| Channel(channel)), |step| moves.push(step));
        moves
    }

    #[test]
    fn leaves_come_before_joins_and_what_stays_is_not_touched() {
        let mut memberships = Memberships::new(5);
        assert_eq!(moves(&mut memberships, &[4, 0]), [Move::Join(Channel(4)), Move::Join(Channel(0))]);
        let expected = [Move::Leave(Channel(0)), Move::Join(Channel(2))];
        assert_eq!(moves(&mut memberships, &[2, 4, 9]), expected);
        assert_eq!(memberships.held().collect::<Vec<_>>(), [Channel(2), Channel(4)]);
        assert!(memberships.forget(Channel(2)) && !memberships.forget(Channel(2)));
        assert_eq!(moves(&mut memberships, &[]), [Move::Leave(Channel(4))]);
    }

    /// For any sequence of levels, the joined channels carry exactly the layers of the level, and a
    /// boundary takes at most one leave and two joins.
    #[test]
    fn a_walk_over_levels_never_holds_more_than_its_layers() {
        use crate::dynamic::{ChannelRotation, Layering};
        use layercast_core::stream::Stream;
        let mut stream = Stream::new(5, "walk");
        for round in 0..200 {
            let (layers, silent) = (1 + (stream.bits() % 12) as u16, 1 + (stream.bits() % 8) as u16);
            let layering = match round % 2 {
                0 => Layering::Turning(ChannelRotation { layers, silent }),
                _ => Layering::TurningAboveBase(ChannelRotation { layers: layers - 1, silent }),
            };
            let mut memberships = Memberships::new(layering.channels());
            let (mut slot, mut count) = (stream.bits() % 1000, 1);
            memberships.hold(layering.channels_of(count, slot), |_| ());
            for _ in 0..100 {
                slot += 1;
                count = match stream.bits() % 3 {
                    0 => (count - 1).max(1),
                    1 => (count + 1).min(layers),
                    _ => count,
                };
                let (mut joins, mut leaves) = (0, 0);
                memberships.hold(layering.channels_of(count, slot), |step| match step {
                    Move::Join(_) => joins += 1,
                    Move::Leave(channel) => {
                        assert_eq!(
                            layering.layer_of(channel, slot),
                            None,
                            "a channel that sends is not left"
                        );
                        leaves += 1;
                    }
                });
                let mut carried: Vec<u16> = memberships
                    .held()
                    .filter_map(|c| layering.layer_of(c, slot))
                    .map(|layer| layer.0)
                    .collect();
                carried.sort_unstable();
                assert!(carried.iter().copied().eq(0..count), "{layering:?}: {carried:?}, not {count}");
                assert!(joins <= 2 && leaves <= 1, "{joins} joins and {leaves} leaves");
            }
        }
    }
}
