//! The chunks of a session in order: each part of the table and each source symbol, by numbers that do not change.
//!
//! A protocol that repairs asks for chunks again by these numbers. The table comes first, and again and again, so that a
//! receiver that came late can keep what comes from then on.

use crate::carousel::Pick;
use crate::object::Coding;
use crate::packet::PayloadId;

/// How many symbols there are at least between two copies of the table, and for each of its parts (CHOICE): copies are 2 % of
/// all chunks at most.
const SYMBOLS_MIN: u64 = 2000;
const SYMBOLS_PER_PART: u64 = 50;

/// A block of an object, or an object without a code.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The number of its first symbol among all.
    first: u64,
    toi: u32,
    block: u8,
}

/// What each chunk is.
#[derive(Clone, Debug)]
pub struct InOrder {
    /// The first part of each instance of the table among those of all.
    instances: Vec<u64>,
    /// The parts of the table.
    parts: u64,
    blocks: Vec<Block>,
    symbols: u64,
    /// How many symbols there are between two copies of the table.
    every: u64,
}

impl InOrder {
    /// The order of a table, whose instances have so many parts each, and of the objects in it.
    pub(crate) fn new(
        instances: impl Iterator<Item = usize>,
        objects: impl Iterator<Item = (u32, Coding)>,
    ) -> InOrder {
        let mut parts = 0;
        let instances = instances.map(|count| {
            parts += count as u64;
            parts - count as u64
        });
        let instances = instances.collect();
        let (mut blocks, mut symbols) = (Vec::new(), 0);
        for (toi, coding) in objects {
            let mut add = |block, count: u64| {
                if count > 0 {
                    blocks.push(Block { first: symbols, toi, block });
                    symbols += count;
                }
            };
            match coding {
                Coding::RaptorQ(oti) => {
                    (0..oti.blocks()).for_each(|block| add(block, oti.block_symbols(block).into()));
                }
                Coding::NoCode(coding) => add(0, coding.symbols()),
            }
        }
        let every = SYMBOLS_MIN.max(parts * SYMBOLS_PER_PART);
        InOrder { instances, parts, blocks, symbols, every }
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> u64 {
        self.symbols + self.parts * self.symbols.div_ceil(self.every).max(1)
    }

    /// What a chunk is; none beyond the last one.
    pub fn pick(&self, number: u64) -> Option<Pick> {
        let (copy, within) = (number / (self.parts + self.every), number % (self.parts + self.every));
        let Some(symbol) = within.checked_sub(self.parts) else {
            let instance = self.instances.partition_point(|first| *first <= within).checked_sub(1)?;
            let part = usize::try_from(within - self.instances.get(instance)?).ok()?;
            return (number < self.chunks()).then_some(Pick::Table { instance, part });
        };
        let symbol = copy * self.every + symbol;
        let block = self.blocks.partition_point(|block| block.first <= symbol).checked_sub(1)?;
        let Block { first, toi, block } = *self.blocks.get(block)?;
        let id = PayloadId::new(block, u32::try_from(symbol - first).ok()?)?;
        (symbol < self.symbols).then_some(Pick::Symbol { toi, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(lengths: &[u64]) -> InOrder {
        let coding = |length| Coding::plan(length, 100).expect("a coding");
        let objects = lengths.iter().zip(1..).map(|(length, toi)| (toi, coding(*length)));
        InOrder::new([2, 1].into_iter(), objects)
    }

    #[test]
    fn the_table_comes_before_all_symbols_and_again_between_them() {
        let order = order(&[250_000, 0, 40, 100_100]);
        let picks: Vec<Pick> = (0..order.chunks()).filter_map(|number| order.pick(number)).collect();
        // 2500, 0, 1 and 1001 symbols.
        assert_eq!(picks.len() as u64, order.chunks());
        assert_eq!(picks.len(), 3502 + 2 * 3);
        let table = [(0, 0), (0, 1), (1, 0)].map(|(instance, part)| Pick::Table { instance, part });
        assert_eq!(picks[..3], table);
        assert_eq!(picks[2003..2006], table);
        let id = |esi| PayloadId::new(0, esi).expect("an id");
        assert_eq!(picks[3], Pick::Symbol { toi: 1, id: id(0) });
        assert_eq!(picks[2506], Pick::Symbol { toi: 3, id: id(0) });
        assert_eq!(picks[2507], Pick::Symbol { toi: 4, id: id(0) });
        assert_eq!(picks.last(), Some(&Pick::Symbol { toi: 4, id: id(1000) }));
        assert!([order.chunks(), u64::MAX].iter().all(|&beyond| order.pick(beyond).is_none()));
        let mut symbols: Vec<Pick> =
            picks.into_iter().filter(|pick| matches!(pick, Pick::Symbol { .. })).collect();
        symbols.dedup();
        assert_eq!(symbols.len(), 3502, "each symbol comes once");
    }

    #[test]
    fn without_symbols_there_is_the_table() {
        let order = order(&[0]);
        assert_eq!(order.chunks(), 3);
        assert_eq!(order.pick(2), Some(Pick::Table { instance: 1, part: 0 }));
        assert_eq!(order.pick(3), None);
    }
}
