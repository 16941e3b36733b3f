//! A package at a receiver.

use std::io;

use super::{Object, State};
use crate::disk::{Disk, DiskFile};
use crate::journal::Identity;
use crate::object::{Entry, Toi};
use crate::package::PREFIX;
use crate::placing::remove_partial;
use crate::reception::event::{ObjectError, ReceptionProgress};
use crate::reception::extraction::{Surroundings, clean, compare, keep_head, kept_head, read_head};
use crate::reception::members::{Fate, Members};
use layercast_core::cannot_be;

/// What became of a step of the work on a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::reception) enum Step {
    /// There may be more to do.
    Done,
    /// Its index became known.
    Indexed,
}

impl<F: DiskFile> Object<F> {
    /// A package, with what an earlier receiver kept of it.
    pub(in crate::reception) fn package<D: Disk<File = F>>(
        disk: &mut D,
        identity: &Identity,
        entry: Entry,
        verifies: bool,
    ) -> Object<F> {
        let length = entry.length();
        let kept = entry.package.and_then(|files| kept_head(disk, identity, files, length));
        let mut object = Object::waiting(entry, verifies);
        if length < PREFIX as u64 {
            object.state = State::Failed(ObjectError::Package(crate::package::PackageError::Magic));
        } else if let Some(head) = kept {
            object.members = Some(Box::new(Members::new(head)));
            object.state = State::Checking;
        }
        object
    }

    pub(in crate::reception) fn members(&self) -> Option<&Members> {
        self.members.as_deref()
    }

    pub(in crate::reception) fn members_mut(&mut self) -> Option<&mut Members> {
        self.members.as_deref_mut()
    }

    /// Whether its index is known, or never will be; true of what is no package.
    pub(in crate::reception) fn is_indexed(&self) -> bool {
        self.entry.package.is_none() || self.members.is_some()
    }

    /// The session has it, under this number.
    pub(in crate::reception) fn name(&mut self, toi: Toi, number: u32) {
        self.named = Some((toi, number));
    }

    /// The number of a package, and the instance that named it.
    pub(in crate::reception) fn named(&self) -> Option<(Toi, u32)> {
        self.named
    }

    /// What is known is of an earlier session: nothing is put in place until this one has the package too.
    pub(in crate::reception) fn forget_name(&mut self) {
        self.named = None;
        if let Some(parts) = &mut self.parts {
            parts.forget_names();
        }
        if let Some(members) = self.members_mut() {
            members.supersede_all();
        }
    }

    /// Some of its files are current from now on.
    pub(in crate::reception) fn renew(&mut self, places: &[usize]) {
        let Some(members) = self.members_mut() else {
            return cannot_be("its files are current, so they are known");
        };
        let renewed = places.iter().filter(|&&place| members.renew(place)).count();
        if renewed > 0 && matches!(self.state, State::Placed) {
            self.state = State::Checking;
        }
    }

    /// It cannot be received.
    pub(in crate::reception) fn reject(&mut self, reason: ObjectError) {
        self.state = State::Failed(reason);
        if let Some(parts) = &mut self.parts {
            parts.close();
        }
    }

    /// Whether the next work is that on its files.
    pub(in crate::reception) fn works_on_files(&self) -> bool {
        matches!(self.state, State::Checking | State::Extracting(_))
    }

    /// Whether files of the receiver's own may be there.
    pub(in crate::reception) fn is_extracting(&self) -> bool {
        matches!(self.state, State::Extracting(_))
    }

    /// The next step of the work on its files.
    pub(in crate::reception) fn work_on_files<D: Disk<File = F>>(
        &mut self,
        around: &mut Surroundings<'_, D>,
    ) -> io::Result<Step> {
        let (files, length) = (self.entry.package.unwrap_or(0), self.entry.length());
        let is_done = match (&mut self.state, &mut self.members) {
            (State::Extracting(extraction), members @ None) => {
                let file = extraction.partial.reassembly.file();
                match read_head(file, files, length)? {
                    Ok(head) => {
                        // Without it a later receiver needs packets of this package again.
                        if let Err(error) = keep_head(around.disk, around.identity, file, &head) {
                            tracing::debug!(%error, "the index of a package is not kept");
                        }
                        *members = Some(Box::new(Members::new(head)));
                        return Ok(Step::Indexed);
                    }
                    Err(reason) => {
                        self.state = State::Failed(ObjectError::Package(reason));
                        let _ = remove_partial(around.disk, around.identity);
                        return Ok(Step::Done);
                    }
                }
            }
            (State::Checking, Some(members)) => {
                if compare(members, around)? {
                    return Ok(Step::Done);
                }
                if members.next(0, |fate| fate == Fate::Missing).is_some() {
                    self.state = State::Waiting;
                    return Ok(Step::Done);
                }
                true
            }
            (State::Extracting(extraction), Some(members)) => !extraction.go_on(members, around)?,
            _ => false,
        };
        if is_done {
            clean(around.disk, around.identity);
            // Without its files it is of no use; whether it can be removed changes nothing.
            let _ = remove_partial(around.disk, around.identity);
            self.state = State::Placed;
        }
        Ok(Step::Done)
    }

    /// Adds what became of it, and of the files of a package.
    pub(in crate::reception) fn count(&self, progress: &mut ReceptionProgress) {
        let whole: (usize, usize) = match self.result() {
            None => (0, 0),
            Some(Ok(())) => (1, 0),
            Some(Err(_)) => (0, 1),
        };
        let announced = self.entry.package.map_or(1, |files| usize::try_from(files).unwrap_or(usize::MAX));
        let (files, placed, failed) = match (&self.members, whole) {
            (Some(members), (_, 0)) => members.counts(),
            (_, (placed, failed)) => (announced, placed, failed.saturating_mul(announced)),
        };
        progress.objects = progress.objects.saturating_add(files);
        progress.complete += placed;
        progress.failed = progress.failed.saturating_add(failed);
    }
}
