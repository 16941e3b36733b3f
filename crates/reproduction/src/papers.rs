//! The papers whose figures are regenerated, a module each.

mod thesis;

use crate::frame::figure::Paper;

/// Their names.
pub(crate) const NAMES: [&str; 1] = ["thesis"];

/// The paper of a name.
pub(crate) fn find(name: &str) -> Option<Paper> {
    match name {
        "thesis" => Some(thesis::paper()),
        _ => None,
    }
}
