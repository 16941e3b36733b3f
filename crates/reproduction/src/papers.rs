//! The papers whose figures are regenerated, a module each.

mod e_flid;
mod flid;
mod thesis;
mod wei_zhang;

use crate::frame::figure::Paper;

/// Their names.
pub(crate) const NAMES: [&str; 4] = ["thesis", "flid", "e-flid", "wei-zhang"];

/// The paper of a name.
pub(crate) fn find(name: &str) -> Option<Paper> {
    match name {
        "e-flid" => Some(e_flid::paper()),
        "flid" => Some(flid::paper()),
        "thesis" => Some(thesis::paper()),
        "wei-zhang" => Some(wei_zhang::paper()),
        _ => None,
    }
}
