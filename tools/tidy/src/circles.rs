//! Circles of files.
//!
//! In Rust a module and those below it are one: a parent declares, re-exports and calls its children, and they
//! use its types. Uses between a module and one below it therefore do not count. All others do: the children of
//! one module, each with all that is below it, may use each other in one direction alone. So no two files form
//! a circle unless one is an ancestor of the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{ModulePath, Uses};

/// Modules that use each other, directly or through others, and the uses between their files.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle {
    /// The modules: children of one parent.
    pub modules: BTreeSet<ModulePath>,
    /// Which file uses which, between files of different modules.
    pub uses: Uses,
}

/// Which children of one module use which.
type SiblingUses<'a> = BTreeMap<&'a [String], BTreeSet<&'a [String]>>;

/// All circles, by parent module.
#[must_use]
pub fn circles(uses: &Uses) -> Vec<Circle> {
    let mut by_parent: BTreeMap<&[String], SiblingUses<'_>> = BTreeMap::new();
    for (from, to) in uses {
        if let Some((from, to)) = siblings(from, to) {
            let parent = &from[..from.len() - 1];
            by_parent.entry(parent).or_default().entry(from).or_default().insert(to);
        }
    }
    let mut found = Vec::new();
    for children in by_parent.values() {
        let reach: BTreeMap<_, _> =
            children.keys().map(|&child| (child, reachable(child, children))).collect();
        let mut done = BTreeSet::new();
        for (&child, reached) in &reach {
            if !reached.contains(child) || done.contains(child) {
                continue;
            }
            let returns = |other: &&[String]| reach.get(other).is_some_and(|reach| reach.contains(child));
            let members: BTreeSet<&[String]> = reached.iter().copied().filter(returns).collect();
            let is_inside = |(from, to): &&(ModulePath, ModulePath)| {
                siblings(from, to).is_some_and(|(from, to)| members.contains(from) && members.contains(to))
            };
            done.extend(members.iter().copied());
            let modules = members.iter().map(|member| member.to_vec()).collect();
            found.push(Circle { modules, uses: uses.iter().filter(is_inside).cloned().collect() });
        }
    }
    found
}

/// The ancestors of two modules that are different children of one parent; none if one is above the other.
fn siblings<'a>(a: &'a [String], b: &'a [String]) -> Option<(&'a [String], &'a [String])> {
    let at = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some((&a[..=at], &b[..=at]))
}

/// What can be reached from a module; itself only if it is on a circle.
fn reachable<'a>(start: &[String], uses: &SiblingUses<'a>) -> BTreeSet<&'a [String]> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for &used in uses.get(module).into_iter().flatten() {
            if reached.insert(used) {
                open.push(used);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> ModulePath {
        path.split('/').map(str::to_owned).collect()
    }

    fn uses(pairs: &[(&str, &str)]) -> Uses {
        pairs.iter().map(|(from, to)| (module(from), module(to))).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let uses = uses(&[("a/b", "a/c"), ("a/c/d", "a/e"), ("a/e", "a/b"), ("a/f", "a/b"), ("a/b", "g")]);
        let found = circles(&uses);
        assert_eq!(found.len(), 1);
        let want: BTreeSet<_> = ["a/b", "a/c", "a/e"].into_iter().map(module).collect();
        assert_eq!(found[0].modules, want);
        assert_eq!(found[0].uses.len(), 3);
    }

    #[test]
    fn uses_in_one_direction_are_none() {
        let uses = uses(&[("a/b", "a/c"), ("a/c", "d"), ("a/b", "d"), ("a", "d/e")]);
        assert_eq!(circles(&uses), []);
    }

    #[test]
    fn parent_and_child_are_no_circle() {
        assert_eq!(circles(&uses(&[("a", "a/b"), ("a/b", "a"), ("a/b/c", "a"), ("a", "a/b/c")])), []);
    }
}
