//! Which files a source packs together, and which packages are made again since much of them is out of date.

use std::collections::BTreeMap;

use super::{FILES_MAX, Head, INDEX_MAX, Member};
use crate::catalogue::Item;
use layercast_core::cannot_be;

/// When files are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackingSettings {
    /// So many files of a change at least are packed; fewer are objects of their own.
    pub least_files: usize,
    /// Longer files are objects of their own.
    pub longest_file: u64,
    /// About how many bytes of content a package has at most.
    pub longest_package: u64,
}

impl Default for PackingSettings {
    /// CHOICE: a receiver keeps an object of up to 64 KiB in memory, so that it is lost when it is killed; 4 MiB are some
    /// thousand symbols, of which hardly more are needed than there are.
    fn default() -> PackingSettings {
        PackingSettings { least_files: 16, longest_file: 1 << 16, longest_package: 4 << 20 }
    }
}

/// A file that is to be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The item of this number of the change.
    New(usize),
    /// Of the package of this name, from this byte on.
    Kept(String, u64),
}

/// Files that become a package, in the order of their paths.
pub type Group = Vec<(Member, Part)>;

/// A package that is sent.
#[derive(Clone, Debug)]
struct Package {
    head: Head,
    /// Which of its files are still those that are sent.
    current: Vec<bool>,
}

impl Package {
    /// The files that are current, with their places.
    fn current(&self) -> impl Iterator<Item = (usize, &Member)> {
        let all = self.head.members().iter().enumerate().zip(&self.current);
        all.filter_map(|(place, &is_current)| is_current.then_some(place))
    }
}

/// The packages of a source.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    settings: PackingSettings,
    packages: BTreeMap<String, Package>,
    /// The package that a file is in.
    homes: BTreeMap<String, String>,
}

impl Packing {
    /// No package yet.
    pub fn new(settings: PackingSettings) -> Packing {
        Packing { settings, ..Packing::default() }
    }

    /// What a change packs: its short files, if there are enough of them, and what is left of packages of which it puts more
    /// than half out of date. The same change of the same packages gives the same groups.
    pub fn plan(&self, items: &[Item], removed: &[String]) -> Vec<Group> {
        // The hash of a file of parts is none of its content.
        let longest = self.settings.longest_file;
        let is_short = |item: &&Item| {
            item.parts.is_none()
                && item.file.is_some_and(|(length, hash)| hash.is_some() && length <= longest)
        };
        let mut parts: BTreeMap<&str, (Member, Part)> = BTreeMap::new();
        if items.iter().filter(is_short).count() >= self.settings.least_files.max(1) {
            for (number, item) in items.iter().enumerate().filter(|(_, item)| is_short(item)) {
                let Some((length, Some(sha256))) = item.file else {
                    cannot_be::<()>("a short item is a file with a hash");
                    continue;
                };
                let (path, attributes) = (item.path.clone(), item.attributes);
                parts.insert(&item.path, (Member { path, length, sha256, attributes }, Part::New(number)));
            }
        }
        let gone = items.iter().map(|item| &item.path).chain(removed);
        let mut touched: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in gone {
            if let Some(home) = self.homes.get(path) {
                touched.entry(home).or_default().push(path);
            }
        }
        for (name, mut gone) in touched {
            gone.sort_unstable();
            let Some(package) = self.packages.get(name) else { continue };
            let stays = |(_, member): &(usize, &Member)| gone.binary_search(&member.path.as_str()).is_err();
            // Also files without content have an entry.
            let weight = |member: &Member| member.length + 64;
            let left: u64 = package.current().filter(stays).map(|(_, member)| weight(member)).sum();
            if 2 * left >= package.head.members().iter().map(weight).sum() {
                continue;
            }
            for (place, member) in package.current().filter(stays) {
                let part = Part::Kept(name.to_owned(), package.head.start(place));
                parts.insert(&member.path, (member.clone(), part));
            }
        }
        self.grouped(parts.into_values())
    }

    fn grouped(&self, parts: impl Iterator<Item = (Member, Part)>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let (mut bytes, mut paths) = (0, 0);
        for (member, part) in parts {
            let (length, path) = (member.length, member.path.len());
            let has_room = |group: &&mut Group| {
                bytes + length <= self.settings.longest_package
                    && group.len() < FILES_MAX as usize / 2
                    && paths + path <= INDEX_MAX / 4
            };
            match groups.last_mut().filter(has_room) {
                Some(group) => {
                    group.push((member, part));
                    (bytes, paths) = (bytes + length, paths + path);
                }
                None => {
                    groups.push(vec![(member, part)]);
                    (bytes, paths) = (length, path);
                }
            }
        }
        groups
    }

    /// Notes what is sent from now on: packages with their names, and paths that were removed or are objects of their own.
    /// Returns the packages of which no file is current any more.
    pub fn note<'a>(
        &mut self,
        made: Vec<(String, Head)>,
        others: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        others.for_each(|path| self.leave(path));
        for (name, head) in made {
            for member in head.members() {
                self.leave(&member.path);
            }
            for member in head.members() {
                self.homes.insert(member.path.clone(), name.clone());
            }
            let current = vec![true; head.members().len()];
            self.packages.insert(name, Package { head, current });
        }
        let empty = |package: &Package| !package.current.contains(&true);
        let gone = self.packages.iter().filter(|(_, package)| empty(package));
        let gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
        gone.iter().for_each(|name| _ = self.packages.remove(name));
        gone
    }

    fn leave(&mut self, path: &str) {
        let Some(home) = self.homes.remove(path) else { return };
        if let Some(package) = self.packages.get_mut(&home)
            && let Some(current) = package.head.find(path).and_then(|at| package.current.get_mut(at))
        {
            *current = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::Attributes;
    use crate::package::package_name;

    fn item(path: String, length: u64) -> Item {
        Item {
            path,
            file: Some((length, Some([length as u8; 32]))),
            tag: None,
            leaves: Arc::default(),
            parts: None,
            members: Arc::default(),
            attributes: Attributes::default(),
        }
    }

    fn items(numbers: core::ops::Range<u64>) -> Vec<Item> {
        numbers.map(|number| item(format!("file-{number:03}"), 1000)).collect()
    }

    fn packing() -> Packing {
        Packing::new(PackingSettings { longest_package: 20_000, ..PackingSettings::default() })
    }

    /// Notes the groups of a plan as packages; their names.
    fn made(packing: &mut Packing, groups: &[Group], others: &[&str]) -> (Vec<String>, Vec<String>) {
        let package = |group: &Group| {
            let members: Vec<Member> = group.iter().map(|(member, _)| member.clone()).collect();
            let bytes = Head::encode(&members).expect("a head");
            let length = bytes.len() as u64 + members.iter().map(|member| member.length).sum::<u64>();
            let head = Head::decode(&bytes, members.len() as u32, length).expect("a head");
            (package_name(&crate::object::sha256(&bytes)), head)
        };
        let packages: Vec<_> = groups.iter().map(package).collect();
        let names = packages.iter().map(|(name, _)| name.clone()).collect();
        (names, packing.note(packages, others.iter().copied()))
    }

    fn paths(group: &Group) -> Vec<&str> {
        group.iter().map(|(member, _)| member.path.as_str()).collect()
    }

    #[test]
    fn enough_short_files_are_packed_in_the_order_of_their_paths() {
        let packing = packing();
        assert!(packing.plan(&items(0..15), &[]).is_empty());
        let mut all = items(0..45);
        all.reverse();
        all.push(item("a-long-one".into(), 70_000));
        let groups = packing.plan(&all, &[]);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 5]);
        let found: Vec<&str> = groups.iter().flat_map(paths).collect();
        let wanted = items(0..45);
        assert_eq!(found, wanted.iter().map(|item| item.path.as_str()).collect::<Vec<_>>());
        assert_eq!(groups[0][0].1, Part::New(44));
    }

    #[test]
    fn a_package_is_made_again_when_more_than_half_of_it_is_out_of_date() {
        let mut packing = packing();
        let groups = packing.plan(&items(0..20), &[]);
        let (names, gone) = made(&mut packing, &groups, &[]);
        assert!(names.len() == 1 && gone.is_empty());
        // Ten of twenty are not more than half.
        let changed: Vec<Item> = items(0..10);
        assert!(packing.plan(&changed, &[]).is_empty());
        let others: Vec<&str> = changed.iter().map(|item| item.path.as_str()).collect();
        packing.note(Vec::new(), others.iter().copied());
        let groups = packing.plan(&[], &["file-010".into()]);
        let wanted: Vec<String> = (11..20).map(|number| format!("file-{number:03}")).collect();
        assert_eq!(paths(&groups[0]), wanted);
        assert!(groups[0].iter().all(|(_, part)| matches!(part, Part::Kept(from, _) if *from == names[0])));
        let (_, gone) = made(&mut packing, &groups, &["file-010"]);
        assert_eq!(gone, names);
        assert_eq!(packing.packages.len(), 1);
    }
}
