//! A set of channels.

use layercast_core::units::Channel;

use crate::session::MAX_CHANNELS;

const WORDS: usize = (MAX_CHANNELS as usize).div_ceil(64);

/// The bytes of a set that holds the highest channel.
pub const SET_BYTES: usize = WORDS * 8;

/// A set of the channels that a session can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelSet {
    words: [u64; WORDS],
}

impl ChannelSet {
    /// Whether a channel is in it.
    pub fn contains(&self, channel: Channel) -> bool {
        self.words.get(channel.index() / 64).is_some_and(|word| word >> (channel.index() % 64) & 1 == 1)
    }

    /// Adds a channel; whether that changed the set. One that no session can have is left out.
    pub fn insert(&mut self, channel: Channel) -> bool {
        let Some(word) = self.words.get_mut(channel.index() / 64) else { return false };
        let before = *word;
        *word |= 1 << (channel.index() % 64);
        *word != before
    }

    /// Takes a channel out; whether that changed the set.
    pub fn remove(&mut self, channel: Channel) -> bool {
        let Some(word) = self.words.get_mut(channel.index() / 64) else { return false };
        let before = *word;
        *word &= !(1 << (channel.index() % 64));
        *word != before
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// All of them, from the lowest.
    pub fn iter(&self) -> impl Iterator<Item = Channel> + use<> {
        let words = self.words;
        words.into_iter().enumerate().flat_map(|(index, mut word)| {
            core::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then(|| Channel(index as u16 * 64 + bit as u16))
            })
        })
    }

    /// The channels that are in this set and not in the other.
    pub fn without(&self, other: &ChannelSet) -> ChannelSet {
        let mut left = *self;
        left.words.iter_mut().zip(other.words).for_each(|(word, other)| *word &= !other);
        left
    }

    /// The set as bytes, channel 0 in the lowest bit of the first, as many as are needed.
    pub fn to_bytes(&self) -> ([u8; SET_BYTES], usize) {
        let mut bytes = [0; SET_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        (bytes, length)
    }

    /// The set with these bytes; none if there are too many.
    pub fn from_bytes(bytes: &[u8]) -> Option<ChannelSet> {
        let mut all = [0; SET_BYTES];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let mut set = ChannelSet::default();
        for (word, place) in set.words.iter_mut().zip(all.chunks_exact(8)) {
            *word = u64::from_le_bytes(*place.first_chunk()?);
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set(steps: Vec<(bool, u16)>) {
            let (mut set, mut model) = (ChannelSet::default(), BTreeSet::new());
            for (is_in, number) in steps {
                let channel = Channel(number % (MAX_CHANNELS + 9));
                let changed = if channel.0 >= MAX_CHANNELS {
                    false
                } else if is_in {
                    model.insert(channel)
                } else {
                    model.remove(&channel)
                };
                let was = if is_in { set.insert(channel) } else { set.remove(channel) };
                prop_assert_eq!(was, changed);
            }
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), model.clone());
            prop_assert_eq!(set.count(), model.len());
            let (bytes, length) = set.to_bytes();
            prop_assert_eq!(ChannelSet::from_bytes(&bytes[..length]), Some(set));
            prop_assert!(set.without(&set).is_empty());
        }
    }
}
