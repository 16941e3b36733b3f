//! Reassembly of the file delivery table from packets.

use crate::disk::DiskFile as _;
use crate::memory::MemoryFile;
use crate::object::{BlockHashes, Coding, Reassembly};
use crate::packet::{Fdt, Fti, PayloadId};
use crate::part::Part;

/// Reassembles an instance from its packets.
#[derive(Debug, Default)]
pub struct TableReader {
    of: Option<(Fdt, Fti, u8)>,
    reassembly: Option<Reassembly<MemoryFile>>,
}

impl TableReader {
    /// The instance that is being reassembled.
    pub fn instance(&self) -> Option<u32> {
        self.of.map(|(fdt, _, _)| fdt.instance())
    }

    /// Inserts the payload of a packet of the table; returns the bytes of the instance when all are there. Never panics,
    /// and takes no instance of more than `most` bytes.
    pub fn insert(&mut self, part: &Part, payload: &[u8], most: usize) -> Option<Vec<u8>> {
        let of = (part.fdt?, part.fti?, part.codepoint);
        if self.of != Some(of) {
            let coding = Coding::from_fti(part.codepoint, part.fti?).ok()?;
            if coding.length() == 0 || coding.length() > most as u64 {
                return None;
            }
            let file = MemoryFile::default();
            file.set_length(coding.length()).ok()?;
            *self = TableReader {
                of: Some(of),
                reassembly: Some(Reassembly::new(coding, file, BlockHashes::None)),
            };
        }
        let reassembly = self.reassembly.as_mut()?;
        let (id, symbol) = PayloadId::split(payload).ok()?;
        reassembly.insert(id, symbol).ok()?;
        if reassembly.is_ready() {
            reassembly.complete_next().ok()?;
        }
        reassembly.is_complete().then(|| reassembly.file().take())
    }
}
