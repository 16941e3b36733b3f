//! Keys and options that had another name.

use super::problems::Problem;
use super::tree::At;

/// The old name and the new one, of keys and of options of protocols alike.
const RENAMED: &[(&str, &str)] = &[
    ("law", "distribution"),
    ("rises", "increase_probabilities"),
    ("rise_list", "increase_probability_list"),
];

/// Whether a key is an old name.
pub(super) fn is_renamed(key: &str) -> bool {
    RENAMED.iter().any(|&(old, _)| old == key)
}

/// The new name of a key, if it is an old name of one of those that are `known` where it stands.
pub(super) fn renamed<'a>(key: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let &(_, new) = RENAMED.iter().find(|&&(old, _)| old == key)?;
    known.any(|known| known == new).then_some(new)
}

/// The answer to an old name.
pub(super) fn problem(at: At, path: &str, key: &str, new: &str) -> Problem {
    Problem::at(at, path, format!("`{key}` is now `{new}`"))
}
