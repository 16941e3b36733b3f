//! Names that live as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The text as a name that stays. Each text is kept once, so defining a protocol again in a notebook costs
/// nothing more.
pub(super) fn kept(text: &str) -> &'static str {
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = all.get(text) {
        return found;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    all.insert(new);
    new
}
