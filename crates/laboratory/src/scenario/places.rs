//! Where things stand in a scenario file, for remarks about a scenario that reads without errors.

use std::collections::BTreeMap;

use super::lines::LineStarts;
use super::tree::{self, Node};

/// The lines of a scenario file's tables and keys, to a depth of three names.
#[derive(Debug, Default)]
pub struct Places {
    lines: BTreeMap<String, usize>,
}

impl Places {
    /// The places in the text of a scenario file; none if the text is not TOML.
    #[must_use]
    pub fn of(text: &str) -> Places {
        let mut places = Places::default();
        if let Ok(root) = tree::parse(text) {
            places.add(&root, &LineStarts::of(text), 3);
        }
        places
    }

    fn add(&mut self, node: &Node, starts: &LineStarts, depth: usize) {
        for entry in node.entries() {
            self.lines.insert(entry.node.path.clone(), starts.line(entry.key_at.start));
            if depth > 1 {
                self.add(&entry.node, starts, depth - 1);
            }
        }
    }

    /// The line of the first of these paths (`links.A-B.queue`) that the file has, from 1.
    #[must_use]
    pub fn line(&self, paths: &[String]) -> Option<usize> {
        paths.iter().find_map(|path| self.lines.get(path).copied())
    }
}
