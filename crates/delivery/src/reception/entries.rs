//! What the instances of the table say of objects: which are new, replaced or removed.

use std::sync::Arc;

use super::object::Object;
use super::{DiskError, OBJECTS_MAX, ObjectError, Reception, ReceptionEvent, extraction};
use crate::disk::{Disk, Found};
use crate::journal::Identity;
use crate::listing::ahead;
use crate::object::{Content, Entry, Instance, Toi, safe_path};
use crate::placing::{identity, index_name, unpacked_name};
use layercast_core::cannot_be;

impl<D: Disk> Reception<D> {
    pub(super) fn instance(&mut self, number: u32, instance: Instance) -> Result<(), DiskError> {
        self.wants_completions |= instance.wants_completions;
        for (toi, path) in instance.removed_files {
            self.remove_member(toi, path, number)?;
        }
        for toi in instance.removed {
            if self.removed.len() < OBJECTS_MAX && self.has_room("") {
                self.removed.insert(toi, number);
            }
            self.remove(toi, number)?;
        }
        for entry in instance.entries {
            self.entry(number, entry)?;
        }
        Ok(())
    }

    fn entry(&mut self, number: u32, mut entry: Entry) -> Result<(), DiskError> {
        let identity = identity(&entry);
        if self.keys.is_empty() {
            // They are hashes that nobody vouches for, and are not used.
            entry.leaves = Arc::default();
        }
        // If its removal was heard of first, the file is over that older instances named under other numbers.
        let is_removed = self.removed.contains_key(&entry.toi);
        if entry.part.is_some() && !is_removed && self.is_at(&entry.path, &identity) {
            self.join(number, entry, &identity);
            return Ok(());
        }
        if let Some(named) = self.paths.get(&entry.path) {
            // A log that was started again names the same objects, and a later instance the hash of one.
            let is_same = named.toi == entry.toi;
            if is_same && !self.is_another(&identity, &entry) {
                self.learn(&identity, &entry);
                return Ok(());
            }
            if !is_same && named.is_newer_than(entry.toi, number) {
                return Ok(());
            }
            self.supersede(&entry.path);
        }
        if !self.has_room(&entry.path) {
            if self.without_room == 0 {
                self.say(ReceptionEvent::Failed { path: entry.path, reason: ObjectError::NoRoom });
            }
            self.without_room += 1;
            return Ok(());
        }
        if let Some(&removed_by) = self.removed.get(&entry.toi) {
            self.note_path(entry.path, entry.toi, removed_by);
            // What was at its path before it is there still.
            self.is_swept = false;
            return Ok(());
        }
        // What another content of this path was, also in an earlier session, is over: the file may be another by now.
        if let Some(other) = self.last_at.insert(entry.path.clone(), identity)
            && other != identity
        {
            self.drop_object(other);
        }
        self.note_path(entry.path.clone(), entry.toi, number);
        self.tois.insert(entry.toi, identity);
        let (toi, is_package) = (entry.toi, entry.package.is_some());
        let part = entry.part.is_some().then(|| entry.clone());
        if entry.tag.is_some() {
            if self.is_another(&identity, &entry) {
                self.drop_object(identity);
                self.tois.insert(toi, identity);
            }
            self.learn(&identity, &entry);
        }
        if !self.objects.contains_key(&identity) {
            let object = self.new_object(entry, &identity);
            let is_busy = object.is_busy();
            self.objects.insert(identity, object);
            if is_busy {
                self.busy.push_back(identity);
            }
        }
        if is_package && let Some(object) = self.objects.get_mut(&identity) {
            object.name(toi, number);
            self.adopt(&identity);
        }
        if let Some(part) = part {
            self.join(number, part, &identity);
        }
        Ok(())
    }

    /// Whether the object of an identity has another hash: an earlier session had it, and the tag has not distinguished them.
    fn is_another(&self, identity: &Identity, entry: &Entry) -> bool {
        let before = self.objects.get(identity).and_then(|object| object.entry.sha256());
        before.zip(entry.sha256()).is_some_and(|(before, now)| now != before)
    }

    /// An object becomes known by its hash that was known by its tag.
    fn learn(&mut self, identity: &Identity, entry: &Entry) {
        let (Some(sha256), Some(object)) = (entry.sha256(), self.objects.get_mut(identity)) else { return };
        if !object.entry.awaits_hash() {
            return;
        }
        let was_busy = object.is_busy();
        object.learn(sha256);
        if object.is_busy() && !was_busy {
            self.busy.push_back(*identity);
        }
    }

    /// Whether the newest object of a path is the file of this identity.
    fn is_at(&self, path: &str, identity: &Identity) -> bool {
        let toi = self.paths.get(path).and_then(|named| named.object());
        toi.is_some_and(|toi| self.tois.get(&toi) == Some(identity))
    }

    /// An instance has a part of a file of which it, or another one, has named a part before.
    fn join(&mut self, number: u32, entry: Entry, identity: &Identity) {
        let (Some(part), toi, path) = (entry.part, entry.toi, entry.path.clone()) else {
            return cannot_be("the entry is that of a part");
        };
        if !self.parts.contains_key(&toi) && !self.has_room(&path) {
            self.without_room += 1;
            return;
        }
        let Some(object) = self.objects.get_mut(identity) else {
            return cannot_be("the file of a part is known");
        };
        let joined = object.join(&mut self.disk, identity, entry, number);
        if object.result().is_none() && object.contradicts() {
            object.reject(ObjectError::Parts);
            self.say(ReceptionEvent::Failed { path: path.clone(), reason: ObjectError::Parts });
        }
        if let Some(before) = joined {
            self.parts.insert(toi, (*identity, part.number));
            // The session has the same file again under other numbers.
            if let Some(before) = before.filter(|&before| before != toi) {
                self.parts.remove(&before);
                if self.tois.remove(&before).is_some() {
                    self.tois.insert(toi, *identity);
                    self.paths.entry(path.clone()).and_modify(|named| named.toi = toi);
                }
            }
        }
        // Its parts may be in several instances.
        if let Some(named) = self.paths.get_mut(&path)
            && ahead(number, named.number) > 0
        {
            named.number = number;
        }
    }

    /// The object of a number, and which part of it that is.
    pub(super) fn object_of(&self, toi: Toi) -> Option<(Identity, u32)> {
        self.parts.get(&toi).copied().or_else(|| Some((*self.tois.get(&toi)?, 0)))
    }

    /// What is to be done about an object, by what is at its path.
    fn new_object(&mut self, entry: Entry, identity: &Identity) -> Object<D::File> {
        let verifies = !self.keys.is_empty();
        // Where its files go is not known yet, and it is at no path itself.
        if entry.package.is_some() && matches!(entry.content, Content::File { .. }) {
            return Object::package(&mut self.disk, identity, entry, verifies);
        }
        if let Err(reason) = safe_path(&entry.path) {
            return self.failed(entry, ObjectError::Name(reason));
        }
        let found = match self.disk.stat(&entry.path) {
            Ok(found) => found,
            // Something in the path is not a folder, or may not be read.
            Err(error) => return self.failed(entry, ObjectError::of(&error)),
        };
        match (entry.content, found) {
            (Content::Folder, Found::Nothing | Found::Folder) | (Content::File { .. }, Found::Nothing) => {
                Object::waiting(entry, verifies)
            }
            (Content::Unsupported(reason), _) => self.failed(entry, ObjectError::Table(reason)),
            (Content::File { .. }, Found::File(length)) if may_be(&entry, length) => {
                match self.disk.read(&entry.path) {
                    Ok(file) => Object::comparing(entry, file, verifies),
                    Err(_) if self.settings.replace => Object::waiting(entry, verifies),
                    Err(error) => self.failed(entry, ObjectError::of(&error)),
                }
            }
            (Content::File { .. }, Found::File(_)) if self.settings.replace => {
                Object::waiting(entry, verifies)
            }
            (Content::File { .. }, Found::File(_)) => self.failed(entry, ObjectError::Exists),
            (_, _) => self.failed(entry, ObjectError::InTheWay),
        }
    }

    fn failed(&mut self, entry: Entry, reason: ObjectError) -> Object<D::File> {
        self.say(ReceptionEvent::Failed { path: entry.path.clone(), reason });
        Object::failed(entry, reason)
    }

    /// An object that another one replaces, or that was removed, is no longer wanted.
    pub(super) fn forget(&mut self, toi: Toi) -> Option<Entry> {
        let (identity, _) = self.object_of(toi)?;
        self.tois.remove(&toi);
        let entry = self.drop_object(identity)?;
        self.paths.remove(&entry.path);
        self.path_bytes -= entry.path.len().min(self.path_bytes);
        Some(entry)
    }

    pub(super) fn drop_object(&mut self, identity: Identity) -> Option<Entry> {
        let object = self.objects.remove(&identity)?;
        for toi in object.tois() {
            self.parts.remove(&toi);
            self.tois.remove(&toi);
        }
        self.in_memory -= object.memory().min(self.in_memory);
        self.busy.retain(|busy| *busy != identity);
        if object.has_partial() {
            object.remove_own(&mut self.disk, &identity);
        }
        if object.is_unpacking() {
            let _ = self.disk.remove(&unpacked_name(&identity));
        }
        if object.is_extracting() {
            extraction::clean(&mut self.disk, &identity);
        }
        Some(object.into_entry())
    }

    /// Whether an instance after this one has named a file of parts.
    fn is_named_after(&self, identity: &Identity, number: u32) -> bool {
        let path = self.objects.get(identity).map(|object| &object.entry.path);
        path.and_then(|path| self.paths.get(path)).is_some_and(|named| ahead(named.number, number) > 0)
    }

    fn remove(&mut self, toi: Toi, number: u32) -> Result<(), DiskError> {
        if let Some(&(identity, part)) = self.parts.get(&toi)
            && self.is_named_after(&identity, number)
        {
            // The session has the same file again, and this part under another number, which is not known yet.
            self.parts.remove(&toi);
            self.objects.get_mut(&identity).into_iter().for_each(|object| object.forget_part(part));
            return Ok(());
        }
        let Some(entry) = self.forget(toi) else { return Ok(()) };
        self.note_path(entry.path.clone(), toi, number);
        if entry.package.is_some() {
            // Its files are removed one by one, or are in newer objects.
            let _ = self.disk.remove(&index_name(&identity(&entry)));
            return Ok(());
        }
        if self.settings.mirror && matches!(entry.content, Content::File { .. }) {
            self.remove_file(&entry.path)?;
        }
        self.say(ReceptionEvent::Removed { path: entry.path });
        Ok(())
    }
}

/// Whether a file of this length may have the content of an entry, which its hash can show, now or later.
fn may_be(entry: &Entry, length: u64) -> bool {
    (entry.has_hash() || entry.awaits_hash()) && entry.length() == length
}
