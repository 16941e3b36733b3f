//! Packets that came together: source symbols that follow each other in a block are written to the file as one.

use std::io::IoSlice;

use super::{DiskError, Reception};
use crate::disk::Disk;
use crate::object::{TOI_TABLE, Toi};
use crate::packet::PayloadId;
use crate::part::Part;
use layercast_core::Always as _;

/// The maximum number of symbols that are written together: 90 kB of symbols of 1400 bytes.
const RUN_MAX: usize = 64;

/// A symbol of a batch, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    toi: Toi,
    codepoint: u8,
    id: PayloadId,
    /// The number of its packet.
    number: usize,
}

impl Waiting {
    /// Whether it follows another one at a distance of `after` symbols.
    fn follows(&self, first: &Waiting, after: usize) -> bool {
        (self.toi, self.codepoint, self.id.block) == (first.toi, first.codepoint, first.id.block)
            && u64::from(self.id.esi()) == u64::from(first.id.esi()) + after as u64
    }
}

impl<D: Disk> Reception<D> {
    /// Takes packets of the session that came together, as [`Reception::packet`] takes each of them. `packet` gives the fields
    /// and the payload of a packet by its number.
    ///
    /// # Errors
    /// As [`Reception::packet`], the first of them. The other packets are taken all the same.
    pub fn packets<'a>(
        &mut self,
        count: usize,
        packet: impl Fn(usize) -> Option<(Part, &'a [u8])>,
    ) -> Result<(), DiskError> {
        let mut failure = Ok(());
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        for number in 0..count {
            let Some((part, payload)) = packet(number) else { continue };
            if part.toi == Toi::from(TOI_TABLE) {
                failure = failure.and(self.packet(part, payload).map(|_| ()));
            } else if let Ok((id, _)) = PayloadId::split(payload) {
                batch.push(Waiting { toi: part.toi, codepoint: part.codepoint, id, number });
            }
        }
        batch.sort_unstable();
        let mut rest = batch.as_slice();
        while let Some(first) = rest.first() {
            let length = rest.iter().enumerate().take(RUN_MAX);
            let length = length.take_while(|(after, one)| one.follows(first, *after)).count().max(1);
            let (run, others) = rest.split_at(length);
            rest = others;
            failure = failure.and(self.run(first, run, &packet));
        }
        self.batch = batch;
        failure
    }

    /// Takes symbols that follow each other.
    fn run<'a>(
        &mut self,
        first: &Waiting,
        run: &[Waiting],
        packet: &impl Fn(usize) -> Option<(Part, &'a [u8])>,
    ) -> Result<(), DiskError> {
        if run.len() > 1 {
            let symbols: [IoSlice<'_>; RUN_MAX] = std::array::from_fn(|after| {
                let payload = run.get(after).and_then(|one| packet(one.number));
                let symbol = payload.and_then(|(_, payload)| payload.get(PayloadId::BYTES..));
                IoSlice::new(symbol.unwrap_or_default())
            });
            let symbols = symbols.get(..run.len()).always("a run has a limit");
            let inserted = self.insert(first.toi, first.codepoint, |object, part| {
                object.insert_run(part, first.id, symbols)
            })?;
            if inserted.is_some() {
                // The last of them was counted.
                self.counters.useful += run.len() as u64 - 1;
                return Ok(());
            }
        }
        let mut failure = Ok(());
        for (part, payload) in run.iter().filter_map(|one| packet(one.number)) {
            failure = failure.and(self.packet(part, payload).map(|_| ()));
        }
        failure
    }
}
