//! Blocks that are decoded while packets are received.

use std::fmt::Debug;

use super::{DiskError, Reception};
use crate::disk::Disk;
use crate::journal::Identity;
use crate::object::{DecodeJob, Decoded};

/// Whose block a job is of: an object, and the part of it, which is 0 if it has no parts.
pub type JobOf = (Identity, u32);

/// Something that decodes blocks, such as threads of the host.
pub trait Decoders: Debug + Send {
    /// Whether it takes another job.
    fn has_room(&self) -> bool;

    /// Begins a job of an object.
    fn begin(&mut self, of: JobOf, job: DecodeJob);

    /// The result of a job that is done.
    fn take(&mut self) -> Option<(JobOf, Decoded)>;

    /// Whether there are jobs of which the result was not taken.
    fn is_working(&self) -> bool;
}

impl<D: Disk> Reception<D> {
    /// Lets blocks of long objects be decoded elsewhere. Without this [`Reception::work`] decodes them.
    pub fn set_decoders(&mut self, decoders: Box<dyn Decoders>) {
        self.decoders = Some(decoders);
    }

    /// Whether blocks are being decoded elsewhere: then there will be more work soon.
    pub fn is_decoding(&self) -> bool {
        self.decoders.as_ref().is_some_and(|decoders| decoders.is_working())
    }

    /// Takes the blocks that were decoded elsewhere.
    pub(super) fn take_decoded(&mut self) -> Result<(), DiskError> {
        while let Some(((identity, part), decoded)) =
            self.decoders.as_mut().and_then(|decoders| decoders.take())
        {
            let Some(object) = self.objects.get_mut(&identity) else { continue };
            let before = object.counters();
            let finished = object.finish_job(part, decoded);
            let after = object.counters();
            let (path, is_busy) = (object.entry.path.clone(), object.is_busy());
            self.counters.add_decoding(before, after);
            if is_busy && !self.busy.contains(&identity) {
                self.busy.push_back(identity);
            }
            finished.map_err(|source| DiskError { path, source })?;
        }
        Ok(())
    }

    /// Has a block of an object decoded elsewhere: whether there is more to do now. None if this is not how its next work is
    /// done.
    pub(super) fn decode_elsewhere(&mut self, identity: Identity) -> Result<Option<bool>, DiskError> {
        let Some(decoders) = &mut self.decoders else { return Ok(None) };
        let Some(object) = self.objects.get_mut(&identity).filter(|object| object.is_decodable()) else {
            return Ok(None);
        };
        if !decoders.has_room() {
            return Ok(Some(false));
        }
        let job = object.take_job();
        let job = job.map_err(|source| DiskError { path: object.entry.path.clone(), source })?;
        job.into_iter().for_each(|(part, job)| decoders.begin((identity, part), job));
        if !object.is_busy() {
            self.busy.pop_front();
        }
        Ok(Some(!self.busy.is_empty()))
    }
}
