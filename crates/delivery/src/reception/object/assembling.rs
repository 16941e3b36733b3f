//! A file of parts at a receiver, as one object.

use std::io;

use super::parts::Worked;
use super::{Object, ReceptionEvent, ReceptionSettings};
use crate::disk::{Disk, DiskFile};
use crate::journal::Identity;
use crate::object::{Entry, Toi};
use crate::placing::{place_parts, remove_partial, remove_parts};
use crate::reception::event::{ObjectError, is_full};
use layercast_core::cannot_be;

impl<F: DiskFile> Object<F> {
    /// The session has a part of it, as an instance says: as [`Parts::join`].
    pub(in crate::reception) fn join<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        entry: Entry,
        instance: u32,
    ) -> Option<Option<Toi>> {
        let attributes = entry.attributes;
        let joined = self.parts.as_mut()?.join(disk, identity, entry, instance);
        if joined.is_some() {
            self.entry.attributes = attributes;
        }
        joined
    }

    /// Whether the hashes of its parts do not give its own.
    pub(in crate::reception) fn contradicts(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.contradict())
    }

    /// The numbers of its parts.
    pub(in crate::reception) fn tois(&self) -> Vec<Toi> {
        self.parts.iter().flat_map(|parts| parts.tois()).collect()
    }

    /// The session no longer has a part of it under the number that was known.
    pub(in crate::reception) fn forget_part(&mut self, part: u32) {
        self.parts.iter_mut().for_each(|parts| parts.forget_name(part));
    }

    /// Removes its partial file and the records.
    pub(in crate::reception) fn remove_own<D: Disk>(&self, disk: &mut D, identity: &Identity) {
        // Whether they can be removed changes nothing.
        let _ = match self.entry.part {
            Some(part) => remove_parts(disk, identity, part.layout.count()),
            None => remove_partial(disk, identity),
        };
    }

    /// The next part of the work on a file of parts.
    pub(super) fn assemble<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        settings: ReceptionSettings,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        let Some(parts) = &mut self.parts else { return Ok(cannot_be("what is assembled has parts")) };
        if !parts.are_verified() {
            return Ok(match parts.work(room)? {
                Worked::More | Worked::Wrong(false) => None,
                Worked::Wrong(true) => Some(ReceptionEvent::WrongHash { path: self.entry.path.clone() }),
                Worked::Hopeless => Some(self.fail(ObjectError::Hash)),
            });
        }
        let Some(file) = parts.file() else { return Ok(cannot_be("parts were verified in a file")) };
        if let Some(reason) = self.occupied(disk, settings) {
            return Ok(Some(self.fail(reason)));
        }
        match place_parts(disk, identity, &file, &self.entry) {
            // It is tried again.
            Err(error) if is_full(&error) => Err(error),
            placed => self.placed_or_failed(placed),
        }
    }
}
