//! The packages of a source.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercast_delivery::catalogue::Item;
use layercast_delivery::object::Sha256;
use layercast_delivery::package::{Head, PackageError, Packing, PackingSettings, Part, build, packed};

use crate::plan::Plan;

/// Packages with their bytes.
pub(crate) struct Packer {
    packing: Option<Packing>,
    bytes: BTreeMap<String, Vec<u8>>,
}

/// What a change sends.
pub(crate) struct Packed {
    pub(crate) items: Vec<Item>,
    /// The content of each.
    pub(crate) contents: Vec<Vec<u8>>,
    made: Vec<(String, Head)>,
}

impl Packer {
    pub(crate) fn new(plan: &Plan) -> Packer {
        // Few files, so that plans stay small.
        let settings =
            PackingSettings { least_files: 2, longest_package: 100_000, ..PackingSettings::default() };
        Packer { packing: plan.packs.then(|| Packing::new(settings)), bytes: BTreeMap::new() }
    }

    /// Packs what a change sends.
    pub(crate) fn pack(
        &self,
        items: Vec<Item>,
        files: &[(String, Vec<u8>)],
        removed: &[String],
        leaves: &dyn Fn(&[u8]) -> Arc<[Sha256]>,
    ) -> Result<Packed, PackageError> {
        let groups = self.packing.as_ref().map_or_else(Vec::new, |packing| packing.plan(&items, removed));
        let is_packed = packed(&groups);
        let mut result = Packed { items: Vec::new(), contents: Vec::new(), made: Vec::new() };
        for (number, (item, (_, bytes))) in items.into_iter().zip(files).enumerate() {
            if !is_packed.contains(&number) {
                result.items.push(item);
                result.contents.push(bytes.clone());
            }
        }
        for group in &groups {
            let mut content = Vec::new();
            let mut read = |part: &Part, room: &mut [u8]| {
                let bytes = match part {
                    Part::New(number) => files.get(*number).map(|(_, bytes)| bytes.as_slice()),
                    Part::Kept(name, start) => {
                        let start = *start as usize;
                        self.bytes.get(name).and_then(|bytes| bytes.get(start..start + room.len()))
                    }
                };
                room.copy_from_slice(bytes.ok_or(PackageError::Length)?);
                Ok(())
            };
            let built = build(group, &mut read, &mut |part| {
                content.extend_from_slice(part);
                Ok(())
            })?;
            result.items.push(built.item(leaves(&content)));
            result.contents.push(content);
            result.made.push((built.name, built.head));
        }
        Ok(result)
    }

    /// What was packed is sent.
    pub(crate) fn note(&mut self, packed: Packed, removed: &[String]) {
        let Some(packing) = &mut self.packing else { return };
        let own = packed.items.iter().filter(|item| item.members.is_empty()).map(|item| item.path.as_str());
        let gone = packing.note(packed.made, own.chain(removed.iter().map(String::as_str)));
        for (item, content) in packed.items.iter().zip(packed.contents) {
            if !item.members.is_empty() {
                self.bytes.insert(item.path.clone(), content);
            }
        }
        gone.iter().for_each(|name| _ = self.bytes.remove(name));
    }
}
