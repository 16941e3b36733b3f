//! A channel that is held, and its packet numbers.

use crate::webrc::options::{Options, WordForm};
use crate::webrc::source::base_numbers;
use layercast_core::units::{Channel, WireSeq};
use layercast_kit::estimator::SequenceTracker;
use layercast_kit::waves::{BASE, Waves};

/// A channel that is held.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) channel: Channel,
    pub(super) tracker: SequenceTracker,
    /// The number at which packet numbers wrap.
    numbers: u64,
}

impl Held {
    /// A channel whose numbers are followed by `tracker`.
    pub(super) fn new(options: &Options, waves: &Waves, channel: Channel, tracker: SequenceTracker) -> Held {
        let is_long = options.word == WordForm::Long;
        let numbers = match channel {
            BASE => base_numbers(waves, is_long),
            _ if is_long => 1 << 32,
            _ => 1 << 16,
        };
        Held { channel, tracker, numbers }
    }

    /// The unwrapped form of a number, nearest to the highest that arrived.
    pub(super) fn unwrapped(&self, number: u32) -> WireSeq {
        let number = u64::from(number) % self.numbers;
        let Some(highest) = self.tracker.highest() else {
            // A start above zero leaves room for packets that are older than the first.
            return WireSeq((number + if self.numbers <= 1 << 16 { self.numbers } else { 0 }) as u32);
        };
        let ahead = (number + self.numbers - highest.0 % self.numbers) % self.numbers;
        let back = self.numbers - ahead;
        let wire = highest.wire().0;
        WireSeq(if ahead <= back { wire.wrapping_add(ahead as u32) } else { wire.wrapping_sub(back as u32) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::layers::LayerTable;
    use layercast_core::session::SessionPlan;
    use layercast_core::units::{Layer, Rate, Size, Time};
    use layercast_kit::estimator::SendTime;

    #[test]
    fn numbers_continue_where_they_wrap() {
        let layers = LayerTable::from_rates([Rate::from_kbps(1000.0)]).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options::default();
        let waves = options.waves(&plan);
        let tracker = SequenceTracker::new(Layer(BASE.0), options.reorder, 1000);
        let mut base = Held::new(&options, &waves, BASE, tracker);
        // The largest multiple of 9 below 2^16.
        assert_eq!(base.numbers, 65_529);
        let mut lost = 0;
        for number in [65_527, 65_528, 1, 0, 2] {
            let wire = base.unwrapped(number);
            base.tracker.on_packet(wire, SendTime::from(Time::ZERO), Time::ZERO, |_| lost += 1);
        }
        assert_eq!((lost, base.tracker.missing(), base.tracker.counts().received), (0, 0, 5));
    }
}
