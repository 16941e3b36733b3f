//! Files of random bytes, and what a receiver made of them.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use layercast_core::stream::Stream;
use layercast_delivery::placing::OWN_FOLDER;

/// How much is written or compared at once.
const PART: usize = 1 << 16;

/// A directory that is emptied at the start and removed at the end.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it in the system's directory for temporary files.
    ///
    /// # Errors
    /// The disk's error.
    pub fn new(name: &str) -> Result<Scratch> {
        let path = std::env::temp_dir().join(format!("layercast-trials-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Scratch(path))
    }

    /// A path in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A new empty directory in it.
    ///
    /// # Errors
    /// The disk's error.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.at(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file of so many random bytes.
///
/// # Errors
/// The disk's error.
pub fn write(path: &Path, length: u64, seed: u64) -> Result<()> {
    let mut random = Stream::new(seed, "content");
    let mut file = io::BufWriter::with_capacity(PART, File::create(path)?);
    let mut left = length;
    while left > 0 {
        let word = random.bits().to_le_bytes();
        let now = usize::try_from(left.min(8))?;
        file.write_all(word.get(..now).unwrap_or(&word))?;
        left -= now as u64;
    }
    file.flush()?;
    Ok(())
}

/// Whether two files have the same content.
///
/// # Errors
/// The disk's error.
pub fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; PART], vec![0; PART]);
    loop {
        let length = one.read(&mut left)?;
        let (Some(left), Some(right)) = (left.get(..length), right.get_mut(..length)) else {
            return Ok(false);
        };
        other.read_exact(right)?;
        if left != right {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
    }
}

/// What a receiver made of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Files with the right content.
    pub right: usize,
    /// Files with another content.
    pub wrong: Vec<String>,
    /// Files that are not there.
    pub missing: Vec<String>,
    /// What is there besides, without empty folders.
    pub left_over: Vec<String>,
}

impl Comparison {
    /// Whether all is there, is right, and is alone.
    pub fn is_exact(&self) -> bool {
        self.is_complete() && self.left_over.is_empty()
    }

    /// Whether all is there and right.
    pub fn is_complete(&self) -> bool {
        self.right > 0 && self.wrong.is_empty() && self.missing.is_empty()
    }
}

/// Compares what was sent with what was received.
///
/// # Errors
/// The disk's error.
pub fn compare(sent: &Path, received: &Path) -> Result<Comparison> {
    let (names, mut found) = (files(sent)?, files(received)?);
    let mut comparison = Comparison::default();
    for name in names {
        let text = name.display().to_string();
        match found.iter().position(|one| *one == name) {
            None => comparison.missing.push(text),
            Some(place) => {
                found.swap_remove(place);
                if is_same(&sent.join(&name), &received.join(&name))? {
                    comparison.right += 1;
                } else {
                    comparison.wrong.push(text);
                }
            }
        }
    }
    // A receiver keeps the indices of packages that are in place.
    let is_kept =
        |name: &PathBuf| name.starts_with(OWN_FOLDER) && name.extension().is_some_and(|end| end == "index");
    found.retain(|name| !is_kept(name));
    comparison.left_over = found.iter().map(|name| name.display().to_string()).collect();
    Ok(comparison)
}

/// The files of a folder and of those in it, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut names, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let name = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let scratch = Scratch::new("compare").unwrap();
        let (sent, received) = (scratch.folder("sent").unwrap(), scratch.folder("received/a").unwrap());
        let received = received.parent().unwrap();
        fs::create_dir(sent.join("a")).unwrap();
        for (name, seed) in [("a/same", 1), ("other", 1), ("gone", 1)] {
            write(&sent.join(name), 100_001, seed).unwrap();
        }
        for (name, seed) in [("a/same", 1), ("other", 2), ("more", 1)] {
            write(&received.join(name), 100_001, seed).unwrap();
        }
        let comparison = compare(&sent, received).unwrap();
        let names = |name: &str| vec![name.to_owned()];
        let expected =
            Comparison { right: 1, wrong: names("other"), missing: names("gone"), left_over: names("more") };
        assert_eq!(comparison, expected);
        assert!(compare(&sent, &sent).unwrap().is_exact());
    }
}
