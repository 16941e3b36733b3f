//! The scenarios that come with Layercast, and scenario files by path.

use std::path::Path;

use super::nearest::nearest;
use super::text_file::read_text;

/// A scenario that comes with Layercast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, such as `thesis/simulation-2`.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
}

/// All built-in scenarios, in the order of their names: the files under `scenarios/`, listed by the
/// build script.
pub const BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The largest scenario file, in bytes: more than a hundred times that of a network of ten thousand links.
const LARGEST_FILE: u64 = 256_000_000;

/// The text of a scenario and what errors call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path, or the built-in scenario's name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Why no scenario was found.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is neither a built-in scenario nor a file of that name.
    #[error("there is neither a built-in scenario nor a file called `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The built-in scenario that was probably meant.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("`{name}` cannot be read: {reason}")]
    Unreadable {
        /// The path that was given.
        name: String,
        /// What the system says.
        reason: std::io::Error,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// The built-in scenario of a name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|scenario| scenario.name == name)
}

/// Loads a built-in scenario by name, or else the file at a path.
///
/// # Errors
/// There is neither, or the file cannot be read as text.
pub fn load(name: &str) -> Result<Source, LoadError> {
    if let Some(scenario) = find(name) {
        return Ok(Source { name: name.to_owned(), text: scenario.text.to_owned() });
    }
    match read_text(Path::new(name), LARGEST_FILE) {
        Ok(text) => Ok(Source { name: name.to_owned(), text }),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {
            let nearest = nearest(name, BUILT_IN.iter().map(|scenario| scenario.name));
            Err(LoadError::Unknown { name: name.to_owned(), nearest })
        }
        Err(reason) => Err(LoadError::Unreadable { name: name.to_owned(), reason }),
    }
}

/// The text of a file that a user names.
///
/// # Errors
/// The file cannot be read as text.
pub(crate) fn read_file(path: &Path) -> std::io::Result<String> {
    read_text(path, LARGEST_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::root;

    #[test]
    fn scenarios_are_in_the_order_of_their_names() {
        assert!(BUILT_IN.is_sorted_by_key(|scenario| scenario.name));
        assert!(BUILT_IN.len() > 50, "the folder was not found");
    }

    #[test]
    fn loads_by_name_and_suggests_one() {
        assert_eq!(load("thesis/simulation-2").unwrap().name, "thesis/simulation-2");
        let error = load("thesis/simulaton-2").unwrap_err().to_string();
        assert!(error.contains("did you mean `thesis/simulation-2`?"), "{error}");
        let folder = root();
        assert!(matches!(load(folder.to_str().unwrap()), Err(LoadError::Unreadable { .. })));
    }
}
