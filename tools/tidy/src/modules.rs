//! The modules of a crate, and which file's items each of its files uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::source::Source;
use crate::tokens::tokens;

/// A module's names from the root of its crate; the root has none.
pub type ModulePath = Vec<String>;

/// Re-exports followed before a path counts as one that leads nowhere (two modules may import each other's
/// names).
const STEPS_MAX: usize = 16;

/// Which file uses which, each by the path of its module.
pub type Uses = BTreeSet<(ModulePath, ModulePath)>;

/// The modules of a crate as its `mod` declarations say, without those of tests.
#[derive(Debug, Default)]
pub struct Modules {
    /// Each module with the module whose file it is in: itself, unless it is inline.
    all: BTreeMap<ModulePath, (ModulePath, Source)>,
}

impl Modules {
    /// Reads the crate whose root is a file, from the folder of that file.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn read(root: &Path) -> io::Result<Self> {
        let folder = root.parent().unwrap_or(Path::new(""));
        Self::collect(|module| {
            let file = if module.is_empty() { root.to_owned() } else { file_of(folder, module) };
            fs::read_to_string(&file)
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display())))
        })
    }

    /// Collects the modules from the root down, with a function that finds a module's text.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub fn collect<E>(text_of: impl Fn(&[String]) -> Result<String, E>) -> Result<Self, E> {
        let mut modules = Self::default();
        let mut missing = vec![ModulePath::new()];
        while let Some(module) = missing.pop() {
            let source = Source::read(&tokens(&text_of(&module)?));
            modules.add(&module, module.clone(), source, &mut missing);
        }
        Ok(modules)
    }

    /// Adds a module and those inside it; those that it declares are missing then.
    fn add(
        &mut self,
        file: &[String],
        module: ModulePath,
        mut source: Source,
        missing: &mut Vec<ModulePath>,
    ) {
        missing.extend(source.declared.iter().map(|name| child(&module, name)));
        for (name, inner) in std::mem::take(&mut source.inline) {
            self.add(file, child(&module, &name), inner, missing);
        }
        self.all.insert(module, (file.to_vec(), source));
    }

    /// How many modules there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Which file uses which: for every path in a file, the file that defines what it names. Re-exports are
    /// followed, so that a re-export in a parent hides no use of a sibling.
    #[must_use]
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (module, (file, source)) in &self.all {
            for path in &source.paths {
                if let Some(used) = self.resolve(module, path, STEPS_MAX)
                    && used != file
                {
                    uses.insert((file.clone(), used.clone()));
                }
            }
        }
        uses
    }

    /// The file that defines what a path names in a module; none if that is outside the crate.
    fn resolve(&self, module: &[String], path: &[String], steps: usize) -> Option<&ModulePath> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.resolve_in(&[], rest, steps),
            "self" => self.resolve_in(module, rest, steps),
            "super" => {
                let (_, parent) = module.split_last()?;
                let is_above = rest.first().is_some_and(|name| name == "super");
                if is_above {
                    self.resolve(parent, rest, steps)
                } else {
                    self.resolve_in(parent, rest, steps)
                }
            }
            // A name in scope: a child module, an import or an item. An import of its own name is of a crate.
            _ if self.knows(module, first) => self.resolve_in(module, path, steps),
            _ => None,
        }
    }

    fn knows(&self, module: &[String], name: &str) -> bool {
        let source = self.all.get(module).map(|(_, source)| source);
        let is_imported = source.is_some_and(|source| {
            source.imported.get(name).is_some_and(|path| path.first().is_some_and(|first| first != name))
        });
        is_imported
            || source.is_some_and(|source| source.defined.contains(name))
            || self.all.contains_key(&child(module, name))
    }

    /// The same for a path from inside a module.
    fn resolve_in(&self, module: &[String], path: &[String], steps: usize) -> Option<&ModulePath> {
        let (file, source) = self.all.get(module)?;
        let Some((first, rest)) = path.split_first() else { return Some(file) };
        if first == "super" {
            return self.resolve(module, path, steps);
        }
        let inner = child(module, first);
        let is_item = rest.is_empty() && source.defined.contains(first);
        if !is_item && self.all.contains_key(&inner) {
            return self.resolve_in(&inner, rest, steps);
        }
        if let Some(target) = source.imported.get(first) {
            let path: Vec<String> = target.iter().chain(rest).cloned().collect();
            return self.resolve(module, &path, steps);
        }
        // An item, whatever it is: a macro may define it.
        Some(file)
    }
}

fn child(module: &[String], name: &str) -> ModulePath {
    let mut child = module.to_vec();
    child.push(name.to_owned());
    child
}

/// The file of a module below a crate's `src`: `a/b.rs`, or `a/b/mod.rs`.
fn file_of(source: &Path, module: &[String]) -> PathBuf {
    let stem = source.join(module.join("/"));
    let in_folder = stem.join("mod.rs");
    if in_folder.exists() { in_folder } else { stem.with_extension("rs") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses between the files of a small crate, `a/b -> c`.
    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let text_of = |module: &[String]| {
            let name = module.join("/");
            files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned()).ok_or(name)
        };
        let modules = Modules::collect(text_of).expect("a file for every module");
        let uses = modules.uses();
        uses.iter().map(|(from, to)| format!("{} -> {}", from.join("/"), to.join("/"))).collect()
    }

    #[test]
    fn re_exports_are_followed_to_the_file_that_defines() {
        let files = [
            ("", "mod a; mod c; use a::B;"),
            ("a", "mod b; mod d; pub use b::B; pub struct A;"),
            ("a/b", "use std::fmt; pub struct B; impl fmt::Debug for B {}"),
            ("a/d", "use super::{A, B}; use super::super::c;"),
            ("c", "fn c() { let b = crate::a::B::new(); }"),
        ];
        let want = [" -> a/b", "a -> a/b", "a/d -> a", "a/d -> a/b", "a/d -> c", "c -> a/b"];
        assert_eq!(uses(&files), want);
    }

    #[test]
    fn a_module_inside_a_file_is_that_file() {
        let files = [
            ("", "mod a; mod b;"),
            ("a", "pub mod inner { use super::super::b::B; use super::A; pub struct I; } struct A;"),
            ("b", "pub struct B; use crate::a::inner::I;"),
        ];
        assert_eq!(uses(&files), ["a -> b", "b -> a"]);
    }

    #[test]
    fn an_imported_module_leads_on() {
        let files = [
            ("", "mod a; mod b;"),
            ("a", "use crate::b as other; fn f() { other::c::g() }"),
            ("b", "pub mod c;"),
            ("b/c", "pub fn g() {}"),
        ];
        assert_eq!(uses(&files), ["a -> b", "a -> b/c"]);
    }
}
