//! The packet numbers of one channel: what is missing, and in which slot it was lost.
//!
//! [`layercast_kit::estimator::SequenceTracker`] times losses; here only the slot of each loss matters,
//! and hundreds of channels must be cheap.

use alloc::vec::Vec;

/// How many consecutive packets must agree with an outlier until it is accepted.
const AGREEING: u8 = 3;
/// How far the packets that agree with an outlier may lie behind it.
const NEAR: i64 = 16;
/// How far behind a number may lie and still be an old packet.
const OLDEST: i64 = 1000;

/// The initial count, so that numbers far behind are still representable.
const ORIGIN: u64 = 1 << 16;

/// Missing numbers of a channel.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    end: u64,
    /// How many later packets have arrived.
    later: u32,
    /// The slot that the missing packets are charged to.
    slot: u64,
}

/// Packets that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The slot that they are charged to.
    pub(super) slot: u64,
    /// How many.
    pub(super) count: u32,
    /// The number of the first.
    pub(super) first: u64,
}

/// Follows the numbers of one channel, from the first packet after a join.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    expected: Option<u64>,
    gaps: Vec<Gap>,
    /// The number after an outlier, and how many have agreed with it.
    wild: Option<(u64, u8)>,
}

/// The rules by which numbers are evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// A packet is lost when this many later ones have arrived.
    pub(super) reorder: u32,
    /// A longer gap is not accepted at once.
    pub(super) max_gap: i64,
}

impl Numbers {
    /// Whether a packet has arrived since the join.
    pub(super) fn has_begun(&self) -> bool {
        self.expected.is_some()
    }

    /// The channel was joined again: nothing before its next packet is lost.
    pub(super) fn reset(&mut self) {
        self.expected = None;
        self.gaps.clear();
        self.wild = None;
    }

    fn start_after(&mut self, number: u16) {
        self.expected = Some(ORIGIN + u64::from(number) + 1);
    }

    /// A packet with this number, modulo 2^16. If it reveals a gap, the missing ones belong to `slot`.
    /// `on_lost` is called with what is now lost. Returns whether the packet is new.
    pub(super) fn on_packet(
        &mut self,
        number: u16,
        slot: u64,
        rules: &Rules,
        mut on_lost: impl FnMut(Lost),
    ) -> bool {
        let Some(expected) = self.expected else {
            self.start_after(number);
            return true;
        };
        let ahead = i64::from(number.wrapping_sub(expected as u16) as i16);
        let full = expected.saturating_add_signed(ahead);
        if ahead > rules.max_gap || ahead < -OLDEST {
            return self.on_outlier(full, ahead, slot, &mut on_lost);
        }
        self.wild = None;
        let is_new = ahead >= 0 || self.fill(full);
        if !is_new {
            return false;
        }
        for gap in self.gaps.iter_mut().filter(|gap| gap.end <= full) {
            gap.later += 1;
        }
        if ahead > 0 {
            self.gaps.push(Gap { first: expected, end: full, later: 1, slot });
        }
        self.expected = Some(full.saturating_add(1).max(expected));
        self.declare(|gap| gap.later >= rules.reorder, &mut on_lost);
        true
    }

    /// An outlier: accepted when three in a row agree. A jump ahead then costs one
    /// packet at least; a jump back is a source that restarted.
    fn on_outlier(&mut self, full: u64, ahead: i64, slot: u64, on_lost: &mut impl FnMut(Lost)) -> bool {
        let follows = |next: u64| (0..NEAR).contains(&(full as i64).wrapping_sub(next as i64));
        let agreeing = self.wild.filter(|&(next, _)| follows(next)).map_or(0, |(_, agreeing)| agreeing + 1);
        self.wild = Some((full.saturating_add(1), agreeing));
        if agreeing < AGREEING {
            return false;
        }
        let missed = self.expected.filter(|_| ahead > 0);
        self.reset();
        self.start_after(full as u16);
        if let Some(first) = missed {
            on_lost(Lost { slot, count: 1, first: first - ORIGIN });
        }
        true
    }

    /// Closes a gap with a packet that came late. False if it is in none.
    fn fill(&mut self, number: u64) -> bool {
        let holds = |gap: &Gap| gap.first <= number && number < gap.end;
        let Some(index) = self.gaps.iter().position(holds) else { return false };
        let gap = self.gaps[index];
        let parts = [Gap { end: number, later: gap.later + 1, ..gap }, Gap { first: number + 1, ..gap }];
        let mut open = parts.into_iter().filter(|part| part.first < part.end);
        match (open.next(), open.next()) {
            (Some(left), Some(right)) => {
                self.gaps[index] = left;
                self.gaps.insert(index + 1, right);
            }
            (Some(part), None) => self.gaps[index] = part,
            _ => {
                self.gaps.remove(index);
            }
        }
        true
    }

    /// All missing packets of `slot` and before are lost.
    pub(super) fn finalise(&mut self, slot: u64, mut on_lost: impl FnMut(Lost)) {
        if !self.gaps.is_empty() {
            self.declare(|gap| gap.slot <= slot, &mut on_lost);
        }
    }

    fn declare(&mut self, is_lost: impl Fn(&Gap) -> bool, on_lost: &mut impl FnMut(Lost)) {
        self.gaps.retain(|gap| {
            let lost = is_lost(gap);
            if lost {
                let count = u32::try_from(gap.end - gap.first).unwrap_or(u32::MAX);
                on_lost(Lost { slot: gap.slot, count, first: gap.first - ORIGIN });
            }
            !lost
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { reorder: 3, max_gap: 100 };

    fn receive(numbers: &mut Numbers, number: u16, slot: u64) -> (bool, Vec<Lost>) {
        let mut lost = Vec::new();
        (numbers.on_packet(number, slot, &RULES, |packets| lost.push(packets)), lost)
    }

    #[test]
    fn three_later_packets_make_a_loss_and_a_late_one_undoes_a_gap() {
        let mut numbers = Numbers::default();
        assert!(!numbers.has_begun());
        for (number, new, lost) in [
            (65_534, true, 0),
            (65_534, false, 0),
            (1, true, 0),
            (2, true, 0),
            // 65535 and 0 were missing; 65535 arrives late, 0 never does.
            (65_535, true, 0),
            (3, true, 1),
            (0, false, 0),
        ] {
            let (is_new, packets) = receive(&mut numbers, number, 7);
            assert_eq!((is_new, packets.iter().map(|lost| lost.count).sum::<u32>()), (new, lost), "{number}");
            assert!(packets.iter().all(|lost| lost.slot == 7 && lost.first == 65_536));
        }
    }

    #[test]
    fn open_gaps_are_finalised_with_their_slot() {
        let mut numbers = Numbers::default();
        receive(&mut numbers, 0, 1);
        receive(&mut numbers, 2, 1);
        receive(&mut numbers, 5, 2);
        let mut lost = Vec::new();
        numbers.finalise(1, |packets| lost.push(packets));
        assert_eq!(lost, [Lost { slot: 1, count: 1, first: 1 }]);
        numbers.finalise(2, |packets| lost.push(packets));
        assert_eq!(lost[1], Lost { slot: 2, count: 2, first: 3 });
    }

    #[test]
    fn an_outlier_is_accepted_when_three_agree() {
        let mut numbers = Numbers::default();
        receive(&mut numbers, 10, 1);
        for number in [500, 501, 502] {
            assert_eq!(receive(&mut numbers, number, 1), (false, Vec::new()));
        }
        assert_eq!(receive(&mut numbers, 503, 1), (true, [Lost { slot: 1, count: 1, first: 11 }].into()));
        assert_eq!(receive(&mut numbers, 504, 1), (true, Vec::new()));
        // One alone changes nothing.
        assert!(!receive(&mut numbers, 9000, 1).0);
        assert_eq!(receive(&mut numbers, 505, 1), (true, Vec::new()));
        // Far behind: a source that restarted, without loss.
        let back: Vec<_> =
            [40_000, 40_001, 40_002, 40_003].map(|number| receive(&mut numbers, number, 2)).into();
        assert_eq!(back.iter().map(|(new, _)| *new).collect::<Vec<_>>(), [false, false, false, true]);
        assert!(back.iter().all(|(_, lost)| lost.is_empty()));
    }
}
