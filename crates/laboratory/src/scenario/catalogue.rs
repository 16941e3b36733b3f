//! The scenarios that come with Layercast, and scenario files by path.

use std::path::Path;

use super::nearest::nearest;

/// A scenario that comes with Layercast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, such as `thesis/simulation-2`.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// All built-in scenarios, in the order of their names: the files under `scenarios/`.
        pub const BUILT_IN: &[BuiltIn] = &[ $( BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../../scenarios/", $name, ".toml")),
        }, )* ];
    };
}

built_in![
    "amca/bottlenecks-caption",
    "amca/bottlenecks-tcp",
    "amca/bottlenecks-text",
    "amca/convergence",
    "amca/finite",
    "amca/one-tcp",
    "amca/overlap",
    "amca/two-tcp",
    "compare/beside-tcp",
    "e-flid/fairness",
    "e-flid/fairness-flid",
    "e-flid/half-lossy",
    "e-flid/lossy-bottleneck",
    "e-flid/lossy-bottleneck-flid",
    "e-flid/lossy-leaves",
    "elm/strategies",
    "elm/transient",
    "flid/beside-tcp",
    "flid/coordination",
    "flid/four-sessions",
    "flid/heterogeneous-delays",
    "flid/many-receivers",
    "flid/one-bottleneck",
    "flid/random-loss",
    "golestani-sabnani/bad-receivers",
    "golestani-sabnani/one-bottleneck",
    "nca/one-bottleneck",
    "pgmcc/bad-receivers",
    "pgmcc/one-bottleneck",
    "rla/bad-receivers",
    "rla/one-bottleneck",
    "rlm/shared-learning",
    "smcc/bottlenecks",
    "smcc/bottlenecks-tfrc",
    "smcc/heterogeneous",
    "tfmcc/one-bottleneck",
    "tfrc/beside-tcp",
    "tfrc/shared-link",
    "thesis/bias-lossy",
    "thesis/bias-shared",
    "thesis/lossy-link",
    "thesis/shared-link",
    "thesis/simulation-1-lazy",
    "thesis/simulation-1-naive",
    "thesis/simulation-2",
    "thesis/simulation-3-elm",
    "thesis/simulation-3-rlc",
    "thesis/simulation-4-elm",
    "thesis/simulation-4-rlc",
    "thesis/simulation-5-elm",
    "thesis/simulation-5-rlc",
    "transport/three-links",
    "webrc/beside-tcp",
    "webrc/equation",
    "wei-zhang/fairness",
    "wei-zhang/four-flows",
    "wei-zhang/four-receivers",
    "wei-zhang/one-receiver",
];

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
    match std::fs::read_to_string(Path::new(name)) {
        Ok(text) => Ok(Source { name: name.to_owned(), text }),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {
            let nearest = nearest(name, BUILT_IN.iter().map(|scenario| scenario.name));
            Err(LoadError::Unknown { name: name.to_owned(), nearest })
        }
        Err(reason) => Err(LoadError::Unreadable { name: name.to_owned(), reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::{root, toml_files};

    #[test]
    fn every_file_under_scenarios_is_listed() {
        let folder = root().join("scenarios");
        let mut names: Vec<String> = toml_files(&folder)
            .iter()
            .map(|path| {
                let inner = path.strip_prefix(&folder).unwrap().with_extension("");
                inner.to_str().unwrap().replace('\\', "/")
            })
            .collect();
        names.sort();
        let listed: Vec<&str> = BUILT_IN.iter().map(|scenario| scenario.name).collect();
        assert_eq!(listed, names);
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
