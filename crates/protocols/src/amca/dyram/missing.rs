//! Which packets are missing.

use super::Table;

/// Runs of missing numbers. A gap of any length is one entry, and each packet that arrives out of order makes
/// at most one more.
#[derive(Clone, Debug, Default)]
pub(in crate::amca) struct Missing {
    /// The end of each run by its first number.
    runs: Table<u64>,
}

impl Missing {
    /// Marks the numbers from `first` to before `end` as missing. All lie above those before.
    pub(in crate::amca) fn add(&mut self, first: u64, end: u64) {
        if first < end {
            *self.runs.entry(first, || end) = end;
        }
    }

    /// Whether a number is missing.
    pub(in crate::amca) fn contains(&self, seq: u64) -> bool {
        self.runs.at_most(seq).is_some_and(|(_, &end)| seq < end)
    }

    /// A number has arrived. Returns whether it was missing.
    pub(in crate::amca) fn remove(&mut self, seq: u64) -> bool {
        let Some((first, &end)) = self.runs.at_most(seq).filter(|&(_, &end)| seq < end) else {
            return false;
        };
        self.runs.remove(first);
        self.add(first, seq);
        self.add(seq + 1, end);
        true
    }

    /// Forgets what is missing before `below`.
    pub(in crate::amca) fn forget(&mut self, below: u64) {
        while let Some((first, &end)) = self.runs.first() {
            if first >= below {
                return;
            }
            self.runs.remove(first);
            self.add(below, end);
        }
    }

    /// The first missing number.
    pub(in crate::amca) fn first(&self) -> Option<u64> {
        self.runs.first().map(|(first, _)| first)
    }

    /// The first missing number from `seq` on.
    pub(in crate::amca) fn first_from(&self, seq: u64) -> Option<u64> {
        if self.contains(seq) {
            return Some(seq);
        }
        self.runs.at_least(seq).map(|(first, _)| first)
    }

    /// The number of runs, which memory grows with.
    pub(in crate::amca) fn runs(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use super::*;
    use layercast_core::stream::Stream;

    #[test]
    fn it_is_a_set() {
        let mut stream = Stream::new(1, "missing");
        let (mut missing, mut set, mut end) = (Missing::default(), BTreeSet::new(), 0);
        for _ in 0..3000 {
            let any = stream.bits() % (end + 10);
            assert_eq!(missing.first_from(any), set.range(any..).next().copied());
            match stream.bits() % 8 {
                0 => {
                    let (first, last) = (end + stream.bits() % 4, end + stream.bits() % 12);
                    missing.add(first, last);
                    set.extend(first..last);
                    end = end.max(last);
                }
                1 if any < end / 3 => {
                    missing.forget(any);
                    set.retain(|&seq| seq >= any);
                }
                _ => assert_eq!(missing.remove(any), set.remove(&any)),
            }
            assert_eq!(missing.contains(any), set.contains(&any));
            assert_eq!(missing.first(), set.first().copied());
            assert!(missing.runs() <= set.len());
        }
        assert!(set.len() > 10);
        let next = |&seq: &u64| missing.first_from(seq + 1);
        let all = core::iter::successors(missing.first(), next);
        assert_eq!(all.collect::<Vec<_>>(), set.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_gap_of_any_length_is_one_entry() {
        let mut missing = Missing::default();
        missing.add(10, u64::MAX);
        assert!(missing.contains(1 << 40) && !missing.contains(9));
        assert_eq!(missing.runs(), 1);
    }
}
