//! What one file declares, imports and names.

use std::collections::{BTreeMap, BTreeSet};

/// The words that introduce an item with a name.
const ITEMS: &[&str] =
    &["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro_rules", "mod"];

/// What a module says, in a file or inline.
#[derive(Debug, Default)]
pub struct Source {
    /// The names of the items it defines.
    pub defined: BTreeSet<String>,
    /// The names of the modules it declares, each in a file of its own.
    pub declared: BTreeSet<String>,
    /// The modules written inside it, by name.
    pub inline: BTreeMap<String, Source>,
    /// What its imports and re-exports bring in: the path behind each name.
    pub imported: BTreeMap<String, Vec<String>>,
    /// The paths that it names, with those of its imports.
    pub paths: Vec<Vec<String>>,
}

impl Source {
    /// Reads tokens, of which those of items under `#[cfg(test)]` do not count.
    #[must_use]
    pub fn read(tokens: &[&str]) -> Self {
        let mut source = Self::default();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            match token {
                "#" if tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) => {
                    at = end_of_item(tokens, at + 7);
                    continue;
                }
                // Not the `use<..>` of captured generics.
                "use" if next != "<" => {
                    let end = position(tokens, at, ";");
                    source.import(&tokens[at + 1..end]);
                    at = end;
                    continue;
                }
                "mod" if depth == 0 && tokens.get(at + 2) == Some(&"{") => {
                    let end = end_of_item(tokens, at);
                    let inner = Self::read(&tokens[at + 3..end - 1]);
                    source.inline.insert(next.to_owned(), inner);
                    at = end;
                    continue;
                }
                "mod" if depth == 0 && tokens.get(at + 2) == Some(&";") => {
                    source.declared.insert(next.to_owned());
                    at += 2;
                    continue;
                }
                "macro_rules" if next == "!" => {
                    source.defined.extend(tokens.get(at + 2).map(|&name| name.to_owned()));
                }
                _ if depth == 0 && ITEMS.contains(&token) && is_name(next) => {
                    source.defined.insert(next.to_owned());
                }
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ if is_name(token) && next == "::" && !continues(tokens, at) => {
                    let path = path_at(tokens, at);
                    at += 2 * path.len() - 1;
                    source.paths.push(path);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        source
    }

    /// Takes in the tree of one `use`.
    fn import(&mut self, tree: &[&str]) {
        let mut leaves = Vec::new();
        read_use_tree(tree, &[], &mut leaves);
        for (path, name) in leaves {
            self.paths.push(path.clone());
            self.imported.insert(name, path);
        }
    }
}

/// Whether the name at a place continues a path or names a method.
fn continues(tokens: &[&str], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1], "::" | ".")
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The path that starts at a place: names with `::` between.
fn path_at(tokens: &[&str], at: usize) -> Vec<String> {
    let mut path = vec![tokens[at].to_owned()];
    for pair in tokens[at + 1..].chunks_exact(2) {
        if pair[0] != "::" || !is_name(pair[1]) {
            break;
        }
        path.push(pair[1].to_owned());
    }
    path
}

/// The leaves of an import's tree, each with the name that it brings in. A glob is the path of its module.
fn read_use_tree(tree: &[&str], prefix: &[String], leaves: &mut Vec<(Vec<String>, String)>) {
    for branch in branches(tree) {
        let mut path = prefix.to_vec();
        let mut at = 0;
        while let Some(&token) = branch.get(at) {
            match token {
                "{" => {
                    read_use_tree(branch[at + 1..].strip_suffix(&["}"]).unwrap_or_default(), &path, leaves);
                    path.clear();
                    break;
                }
                "as" | "*" => break,
                // `a::{self}` is `a`.
                "self" if !path.is_empty() => {}
                _ if is_name(token) => path.push(token.to_owned()),
                _ => {}
            }
            at += 1;
        }
        let name = match branch.get(at) {
            Some(&"as") => branch.get(at + 1).map(|&name| name.to_owned()),
            _ => path.last().cloned(),
        };
        if let Some(name) = name.filter(|_| !path.is_empty()) {
            leaves.push((path, name));
        }
    }
}

/// The parts between the commas outside braces.
fn branches<'a>(tree: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut depth = 0_usize;
    let parts = tree.split(|&token| {
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        token == "," && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The place after the item that starts at one: after its `;`, or after its block.
fn end_of_item(tokens: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, &token) in tokens.iter().enumerate().skip(start) {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

fn position(tokens: &[&str], start: usize, token: &str) -> usize {
    let found = tokens[start..].iter().position(|&other| other == token);
    found.map_or(tokens.len(), |found| start + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn read(text: &str) -> Source {
        Source::read(&tokens(text))
    }

    fn paths(text: &str) -> Vec<String> {
        read(text).paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn imports_bring_in_names() {
        let source = read("use super::{a::{self, B as C}, d::*}; pub(crate) use crate::e::F;");
        let imported: Vec<_> =
            source.imported.iter().map(|(name, path)| format!("{name} = {}", path.join("::"))).collect();
        assert_eq!(imported, ["C = super::a::B", "F = crate::e::F", "a = super::a", "d = super::d"]);
    }

    #[test]
    fn paths_of_tests_do_not_count() {
        let text = "fn f() { crate::a::b(); x.c::<d::E>() } #[cfg(test)] mod tests { use super::g::H; } \
                    #[cfg(test)] use super::i::J; impl super::k::L for M {}";
        assert_eq!(paths(text), ["crate::a::b", "d::E", "super::k::L"]);
    }

    #[test]
    fn definitions_and_modules_are_found() {
        let source = read("mod a; pub mod b { struct C; } pub enum D { E } fn f() { const G: u8 = 0; }");
        assert_eq!(source.declared.iter().collect::<Vec<_>>(), ["a"]);
        assert_eq!(source.defined.iter().collect::<Vec<_>>(), ["D", "f"]);
        assert!(source.inline["b"].defined.contains("C"));
    }
}
