//! Which object of the session each path is of. The newest object that names a path has it, in whatever order packets come:
//! objects of one path have the instances that named them, and files of packages the numbers of these, which grow.

use std::collections::BTreeSet;

use super::extraction::Surroundings;
use super::object::{Object, Step};
use super::{DiskError, OBJECTS_MAX, ObjectError, PATHS_MAX, Reception, ReceptionEvent};
use crate::disk::Disk;
use crate::journal::Identity;
use crate::listing::ahead;
use crate::object::Toi;
use crate::package::PackageError;
use crate::placing::{OWN_FOLDER, index_name};
use layercast_core::cannot_be;

/// The newest object of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) toi: Toi,
    /// The instance that named or removed it.
    pub(super) number: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An object of its own, or one that was removed.
    Object,
    /// A file of a package.
    Member,
    /// A file of a package that was removed.
    Removed,
}

impl Named {
    /// The number of an object of its own, or of one that was removed.
    pub(super) fn object(&self) -> Option<Toi> {
        (self.kind == Kind::Object).then_some(self.toi)
    }

    /// Whether an object that this instance names is older.
    pub(super) fn is_newer_than(&self, toi: Toi, number: u32) -> bool {
        match self.kind {
            Kind::Object => ahead(number, self.number) < 0,
            Kind::Member | Kind::Removed => toi < self.toi,
        }
    }
}

impl<D: Disk> Reception<D> {
    /// Notes the newest object of a path, and the instance that named or removed it.
    pub(super) fn note_path(&mut self, path: String, toi: Toi, number: u32) {
        self.note(path, Named { toi, number, kind: Kind::Object });
    }

    fn note(&mut self, path: String, named: Named) {
        let length = path.len();
        if self.paths.insert(path, named).is_none() {
            self.path_bytes += length;
        }
    }

    /// Whether an object of the session has a path, as far as is known.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.paths
            .get(path)
            .is_some_and(|named| named.kind != Kind::Removed && self.tois.contains_key(&named.toi))
    }

    /// What has a path is replaced.
    pub(super) fn supersede(&mut self, path: &str) {
        match self.paths.get(path) {
            Some(Named { kind: Kind::Object, toi, .. }) => _ = self.forget(*toi),
            Some(Named { kind: Kind::Member, toi, .. }) => {
                let package = self.tois.get(toi).and_then(|identity| self.objects.get_mut(identity));
                if let Some(members) = package.and_then(Object::members_mut) {
                    members.supersede(path);
                }
            }
            Some(Named { kind: Kind::Removed, .. }) | None => {}
        }
    }

    /// A file of a package is no longer a part of the session.
    pub(super) fn remove_member(&mut self, toi: Toi, path: String, number: u32) -> Result<(), DiskError> {
        let before = self.paths.get(&path).copied();
        if before.is_some_and(|named| named.toi > toi || (named.toi == toi && named.kind == Kind::Removed))
            || self.has_too_many(core::iter::once(&path))
        {
            return Ok(());
        }
        let was_there = self.has_path(&path);
        self.supersede(&path);
        // An object that an earlier session had there, and a later instance may name again, is no longer in its place.
        self.drop_last_at(&path);
        self.note(path.clone(), Named { toi, number, kind: Kind::Removed });
        if self.settings.mirror {
            self.remove_file(&path)?;
        }
        if was_there {
            self.say(ReceptionEvent::Removed { path });
        }
        Ok(())
    }

    /// Drops the object that was the last at a path, also of an earlier session.
    fn drop_last_at(&mut self, path: &str) {
        if let Some(other) = self.last_at.remove(path) {
            self.drop_object(other);
        }
    }

    /// Whether there would be too many paths with these.
    fn has_too_many<'a>(&self, paths: impl Iterator<Item = &'a String>) -> bool {
        let new = paths.filter(|path| !self.paths.contains_key(*path));
        let (count, bytes) = new.fold((0, 0), |(count, bytes), path| (count + 1, bytes + path.len()));
        self.paths.len() + count > OBJECTS_MAX || self.path_bytes + bytes > PATHS_MAX
    }

    /// The index of a package of this session is known: its files are current that no newer object has.
    pub(super) fn adopt(&mut self, identity: &Identity) {
        let Some(object) = self.objects.get(identity) else {
            return cannot_be("a package whose index is known is known");
        };
        let (Some((toi, number)), Some(members)) = (object.named(), object.members()) else { return };
        let paths: Vec<String> = members.head().members().iter().map(|member| member.path.clone()).collect();
        if self.has_too_many(paths.iter()) {
            return self.reject(identity, ObjectError::Package(PackageError::Size));
        }
        let mut current = Vec::new();
        for (place, path) in paths.into_iter().enumerate() {
            match self.paths.get(&path) {
                Some(named) if named.toi > toi || (named.toi == toi && named.kind == Kind::Removed) => {
                    continue;
                }
                Some(named) if named.toi < toi => self.supersede(&path),
                _ => {}
            }
            // What another session had there is over.
            self.drop_last_at(&path);
            self.note(path, Named { toi, number, kind: Kind::Member });
            current.push(place);
        }
        let Some(object) = self.objects.get_mut(identity) else {
            return cannot_be("a package is at no path of its files");
        };
        object.renew(&current);
        if object.is_busy() && !self.busy.contains(identity) {
            self.busy.push_back(*identity);
        }
    }

    /// Removes the indices of packages that the session does not have, whoever kept them.
    pub(super) fn remove_old_indices(&mut self, wanted: &BTreeSet<Identity>) {
        let kept: BTreeSet<String> = wanted.iter().map(index_name).collect();
        // Without the names they stay; they are short.
        for name in self.disk.names(OWN_FOLDER).unwrap_or_default() {
            let name = format!("{OWN_FOLDER}/{name}");
            if name.ends_with(".index") && !kept.contains(&name) {
                let _ = self.disk.remove(&name);
            }
        }
    }

    fn reject(&mut self, identity: &Identity, reason: ObjectError) {
        if let Some(object) = self.objects.get_mut(identity) {
            object.reject(reason);
            let path = object.entry.path.clone();
            self.say(ReceptionEvent::Failed { path, reason });
        }
    }

    /// The next step of the work on the files of a package.
    pub(super) fn work_on_files(&mut self, identity: Identity) -> Result<(), DiskError> {
        if self.settings.mirror {
            self.open_record()?;
        }
        let Some(object) = self.objects.get_mut(&identity) else {
            cannot_be::<()>("an object that is removed is no longer busy");
            return Ok(());
        };
        let path = object.entry.path.clone();
        let mut events = Vec::new();
        let mut around = Surroundings {
            disk: &mut self.disk,
            identity: &identity,
            settings: self.settings,
            room: &mut self.room,
            record: self.placed.as_mut().filter(|_| self.settings.mirror),
            events: &mut events,
        };
        let worked = object.work_on_files(&mut around);
        let failed = object.result().and_then(Result::err);
        let is_busy = object.is_busy();
        events.into_iter().for_each(|event| self.say(event));
        if let Some(reason) = failed {
            self.say(ReceptionEvent::Failed { path: path.clone(), reason });
        }
        let step = worked.map_err(|source| DiskError { path, source })?;
        if !is_busy {
            self.busy.retain(|busy| *busy != identity);
        }
        if step == Step::Indexed {
            self.adopt(&identity);
        }
        Ok(())
    }
}
