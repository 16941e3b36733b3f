//! The papers whose figures are regenerated, a module each.

mod flid;
mod thesis;

use crate::frame::figure::Paper;

/// Their names.
pub(crate) const NAMES: [&str; 2] = ["flid", "thesis"];

/// The paper of a name.
pub(crate) fn find(name: &str) -> Option<Paper> {
    match name {
        "flid" => Some(flid::paper()),
        "thesis" => Some(thesis::paper()),
        _ => None,
    }
}
