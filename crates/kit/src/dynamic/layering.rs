//! Which channel carries which layer.

use layercast_core::units::{Channel, Duration, Layer};

/// The number s of silent slots after which a channel may start again: the smallest with
/// `leave_bound` < (s - 1) `slot` (FLID-DL paper, section III-C). A slot of no length counts as 1 ns.
pub fn silent_slots(slot: Duration, leave_bound: Duration) -> u16 {
    let whole = leave_bound.as_ns() / slot.as_ns().max(1);
    u16::try_from(whole.saturating_add(2)).unwrap_or(u16::MAX)
}

/// Dynamic groups d_0, d_1, ... that emulate cumulative layers (FLID-DL paper, section III-C). In slot k
/// static layer x is on group (k - l + x) mod (l + s).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelRotation {
    /// How many static layers are emulated: l.
    pub layers: u16,
    /// For how many slots a group is silent: s.
    pub silent: u16,
}

impl ChannelRotation {
    /// How many groups there are: l + s, at least 1.
    pub fn groups(self) -> u16 {
        self.layers.saturating_add(self.silent).max(1)
    }

    /// The group that carries `layer` in `slot`; none if there is no such layer.
    pub fn group_of(self, layer: u16, slot: u64) -> Option<u16> {
        if layer >= self.layers {
            return None;
        }
        let groups = u64::from(self.groups());
        let turned = slot % groups + groups - u64::from(self.layers) + u64::from(layer);
        Some((turned % groups) as u16)
    }

    /// The layer that `group` carries in `slot`; none if it is silent or there is no such group.
    pub fn layer_of(self, group: u16, slot: u64) -> Option<u16> {
        let groups = u64::from(self.groups());
        if u64::from(group) >= groups {
            return None;
        }
        let turned = u64::from(self.layers) + u64::from(group) + groups - slot % groups;
        Some((turned % groups) as u16).filter(|&layer| layer < self.layers)
    }
}

/// Dynamic groups for layers that need not be cumulative: each layer has its own groups and uses them in
/// turn (FLID-DL paper, section III-D). Layer i is on group i s + (k mod s).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// How many layers there are.
    pub layers: u16,
    /// How many groups each has: s, at least 1. A group is silent for one slot less.
    pub groups_each: u16,
}

/// The mapping of a session's layers to channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layering {
    /// Layer i is channel i, for this number of layers.
    Static(u16),
    /// All layers rotate; group d_j is channel j.
    Turning(ChannelRotation),
    /// The base layer is channel 0 and static; the layers above it rotate, and group d_j is channel j + 1
    /// (FLID-DL paper, section III-C). The rotation has one layer less than the session.
    TurningAboveBase(ChannelRotation),
    /// Each layer has its own channels.
    Cycling(Cycle),
}

impl Layering {
    /// How many channels there are.
    pub fn channels(self) -> u16 {
        match self {
            Layering::Static(layers) => layers,
            Layering::Turning(rotation) => rotation.groups(),
            Layering::TurningAboveBase(rotation) => rotation.groups().saturating_add(1),
            Layering::Cycling(Cycle { layers, groups_each }) => layers.saturating_mul(groups_each.max(1)),
        }
    }

    /// The channel that carries `layer` in `slot`; none if there is no such layer.
    pub fn channel_of(self, layer: Layer, slot: u64) -> Option<Channel> {
        match self {
            Layering::Static(layers) => (layer.0 < layers).then(|| layer.channel()),
            Layering::Turning(rotation) => rotation.group_of(layer.0, slot).map(Channel),
            Layering::TurningAboveBase(_) if layer == Layer::BASE => Some(Channel(0)),
            Layering::TurningAboveBase(rotation) => {
                rotation.group_of(layer.0 - 1, slot).map(|group| Channel(group.saturating_add(1)))
            }
            Layering::Cycling(Cycle { layers, groups_each }) => {
                let each = groups_each.max(1);
                let turn = (slot % u64::from(each)) as u16;
                (layer.0 < layers).then(|| Channel(layer.0.saturating_mul(each).saturating_add(turn)))
            }
        }
    }

    /// The layer that `channel` carries in `slot`; none if it is silent or there is no such channel.
    pub fn layer_of(self, channel: Channel, slot: u64) -> Option<Layer> {
        match self {
            Layering::Static(layers) => (channel.0 < layers).then_some(Layer(channel.0)),
            Layering::Turning(rotation) => rotation.layer_of(channel.0, slot).map(Layer),
            Layering::TurningAboveBase(rotation) => match channel.0.checked_sub(1) {
                None => Some(Layer::BASE),
                Some(group) => rotation.layer_of(group, slot).map(|layer| Layer(layer).above()),
            },
            Layering::Cycling(Cycle { layers, groups_each }) => {
                let each = groups_each.max(1);
                let is_active = u64::from(channel.0 % each) == slot % u64::from(each);
                (is_active && channel.0 / each < layers).then(|| Layer(channel.0 / each))
            }
        }
    }

    /// Whether layers change their channel from slot to slot.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Layering::Static(_))
    }

    /// The channels of layers 0 to `count` - 1 in `slot`, in the order of the layers.
    pub fn channels_of(self, count: u16, slot: u64) -> impl Iterator<Item = Channel> + Clone {
        (0..count).filter_map(move |layer| self.channel_of(Layer(layer), slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mapping_has_an_inverse() {
        let layerings = [
            Layering::Static(5),
            Layering::Turning(ChannelRotation { layers: 5, silent: 3 }),
            Layering::TurningAboveBase(ChannelRotation { layers: 4, silent: 3 }),
            Layering::Cycling(Cycle { layers: 5, groups_each: 4 }),
        ];
        for layering in layerings {
            for slot in (0..40).chain(u64::MAX - 20..=u64::MAX) {
                let carried = (0..layering.channels()).filter_map(|channel| {
                    let layer = layering.layer_of(Channel(channel), slot)?;
                    assert_eq!(layering.channel_of(layer, slot), Some(Channel(channel)), "{layering:?}");
                    Some(layer)
                });
                assert_eq!(carried.count(), 5, "{layering:?} in slot {slot}");
            }
            assert_eq!(layering.channel_of(Layer(5), 3), None);
            assert_eq!(layering.layer_of(Channel(layering.channels()), 3), None);
        }
    }

    #[test]
    fn a_group_steps_down_and_is_then_silent() {
        let rotation = ChannelRotation { layers: 3, silent: 2 };
        let carried: std::vec::Vec<_> = (0..7).map(|slot| rotation.layer_of(1, slot)).collect();
        assert_eq!(carried, [None, None, Some(2), Some(1), Some(0), None, None]);
    }
}
