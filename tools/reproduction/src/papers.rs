//! The papers whose figures are regenerated, a module each.

mod amca;
mod e_flid;
pub(crate) mod flid;
mod thesis;
mod wei_zhang;

use crate::frame::figure::Paper;

/// Their names.
pub(crate) const NAMES: [&str; 5] = ["thesis", "flid", "e-flid", "wei-zhang", "amca"];

/// The paper of a name.
pub(crate) fn find(name: &str) -> Option<Paper> {
    match name {
        "amca" => Some(amca::paper()),
        "e-flid" => Some(e_flid::paper()),
        "flid" => Some(flid::paper()),
        "thesis" => Some(thesis::paper()),
        "wei-zhang" => Some(wei_zhang::paper()),
        _ => None,
    }
}
