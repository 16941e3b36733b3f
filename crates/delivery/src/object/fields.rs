//! The fields that several elements of a table have.

use super::{TableError, Toi};
use crate::disk::Attributes;
use crate::percent;

/// The XML namespace of attributes that FLUTE does not define.
pub(super) const OWN: &str = "urn:layercast:fdt";

pub(super) fn number<T: core::str::FromStr>(text: &str, name: &'static str) -> Result<T, TableError> {
    text.trim().parse().map_err(|_| TableError::Field(name))
}

pub(super) fn own_number<T: core::str::FromStr>(
    node: roxmltree::Node<'_, '_>,
    name: &'static str,
) -> Result<Option<T>, TableError> {
    node.attribute((OWN, name)).map(|text| number(text, name)).transpose()
}

pub(super) fn read_toi(node: roxmltree::Node<'_, '_>) -> Result<Toi, TableError> {
    let toi = number(node.attribute("TOI").ok_or(TableError::Field("TOI"))?, "TOI")?;
    if toi == 0 { Err(TableError::Field("TOI")) } else { Ok(toi) }
}

pub(super) fn read_path(node: roxmltree::Node<'_, '_>, name: &'static str) -> Result<String, TableError> {
    node.attribute(name).and_then(percent::decode).ok_or(TableError::Field(name))
}

pub(super) fn read_attributes(node: roxmltree::Node<'_, '_>) -> Result<Attributes, TableError> {
    let mode = node.attribute((OWN, "Mode")).map(|mode| u32::from_str_radix(mode, 8));
    let modified = node.attribute((OWN, "Modified")).map(str::parse::<i64>);
    Ok(Attributes {
        // Not the bits that give a program another user's rights.
        mode: mode.transpose().map_err(|_| TableError::Field("Mode"))?.map(|mode| mode & 0o777),
        modified_ns: modified.transpose().map_err(|_| TableError::Field("Modified"))?,
    })
}
