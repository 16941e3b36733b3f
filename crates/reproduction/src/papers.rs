//! The papers whose figures are regenerated, a module each.

mod e_flid;
mod thesis;

use crate::frame::figure::Paper;

/// Their names.
pub(crate) const NAMES: [&str; 2] = ["e-flid", "thesis"];

/// The paper of a name.
pub(crate) fn find(name: &str) -> Option<Paper> {
    match name {
        "e-flid" => Some(e_flid::paper()),
        "thesis" => Some(thesis::paper()),
        _ => None,
    }
}
