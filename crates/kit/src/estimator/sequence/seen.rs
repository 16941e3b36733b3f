//! Which of the last numbers arrived.

use layercast_core::units::Seq;

/// How many numbers below the highest are remembered.
const MEMORY: u64 = 1024;
const WORDS: usize = (MEMORY / 64) as usize;

/// A bit for each of the last 1024 numbers, addressed by the number modulo 1024.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    words: [u64; WORDS],
    /// Numbers more than this far below the highest lie before the start.
    depth: u64,
}

impl Seen {
    /// The state after the first packet.
    pub(super) fn starting() -> Seen {
        Seen { words: [u64::MAX; WORDS], depth: 0 }
    }

    fn index(seq: Seq) -> (usize, u64) {
        let slot = seq.0 % MEMORY;
        ((slot / 64) as usize, 1 << (slot % 64))
    }

    /// The highest number increases; the new one has arrived, those between have not.
    pub(super) fn advance(&mut self, from: Seq, to: Seq) {
        if to.0 - from.0 >= MEMORY {
            self.words = [0; WORDS];
        } else {
            for number in from.0 + 1..to.0 {
                let (word, bit) = Seen::index(Seq(number));
                self.words[word] &= !bit;
            }
        }
        self.depth = (self.depth + (to.0 - from.0)).min(MEMORY);
        let (word, bit) = Seen::index(to);
        self.words[word] |= bit;
    }

    /// Remembers a number at or below the highest.
    pub(super) fn insert(&mut self, highest: Seq, seq: Seq) {
        let below = highest.0 - seq.0;
        if below <= self.depth && below < MEMORY {
            let (word, bit) = Seen::index(seq);
            self.words[word] |= bit;
        }
    }

    /// Whether a number at or below the highest is known to have arrived. Numbers before the start or too
    /// far back are unknown.
    pub(super) fn contains(&self, highest: Seq, seq: Seq) -> bool {
        let below = highest.0 - seq.0;
        let (word, bit) = Seen::index(seq);
        below <= self.depth && below < MEMORY && self.words[word] & bit != 0
    }
}
