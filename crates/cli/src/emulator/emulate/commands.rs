//! The commands of `layercast emulate SCENARIO -- at NODE COMMAND...`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The word before each node.
const AT: &str = "at";
/// What stands for that word within a command.
const QUOTED_AT: &str = "{at}";

/// A node and its addresses.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) ipv4: Ipv4Addr,
    pub(super) ipv6: Ipv6Addr,
}

/// A command for a node, as it was typed: the name of the node and at least one word.
pub(super) type Placed<'a> = (&'a str, &'a [String]);

/// Splits words at each `at`.
///
/// # Errors
/// What is wrong with the words, and the remedy.
pub(super) fn split(words: &[String]) -> Result<Vec<Placed<'_>>, String> {
    let Some(first) = words.first() else { return Ok(Vec::new()) };
    if first != AT {
        return Err(format!(
            "error: commands begin with the word `at` and a node, as in `-- at A ping {{B}}`, not with `{first}`"
        ));
    }
    let parts = words.split(|word| word == AT).skip(1);
    parts
        .map(|part| match part {
            [] => Err("error: `at` needs a node and a command, as in `at A ping {B}`; within a command write {at} \
                       for the word `at`"
                .to_owned()),
            [node] => Err(format!(
                "error: `at {node}` needs a command, as in `at {node} ping {{B}}`; within a command write {{at}} for \
                 the word `at`"
            )),
            [node, command @ ..] => Ok((node.as_str(), command)),
        })
        .collect()
}

/// Finds the nodes of commands among the names of all.
///
/// # Errors
/// A node that does not exist, with those that do.
pub(super) fn find(commands: &[Placed<'_>], names: &[String]) -> Result<Vec<usize>, String> {
    let find = |(wanted, _): &Placed<'_>| {
        let found = names.iter().position(|name| name == wanted);
        found
            .ok_or_else(|| format!("error: the scenario has no node `{wanted}`; it has {}", names.join(", ")))
    };
    commands.iter().map(find).collect()
}

/// Puts addresses in the place of `{NODE}` and `{NODE.6}`. All else in braces stays.
pub(super) fn fill(word: &str, nodes: &[Node]) -> String {
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        let known = from.find('}').and_then(|close| Some((filled(&from[..=close], nodes)?, close)));
        match known {
            Some((address, close)) => {
                text.push_str(&address);
                rest = &from[close + 1..];
            }
            None => {
                text.push('{');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

/// What stands for something in braces.
fn filled(braced: &str, nodes: &[Node]) -> Option<String> {
    if braced == QUOTED_AT {
        return Some(AT.to_owned());
    }
    let inner = braced.strip_prefix('{')?.strip_suffix('}')?;
    let named = |name: &str| nodes.iter().find(|node| node.name == name);
    let v4 = || named(inner).map(|node| node.ipv4.to_string());
    let v6 = || named(inner.strip_suffix(".6")?).map(|node| node.ipv6.to_string());
    v4().or_else(v6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn nodes() -> Vec<Node> {
        (0..)
            .zip(["A", "B"])
            .map(|(number, name)| Node {
                name: name.to_owned(),
                ipv4: Ipv4Addr::new(10, 0, 0, number),
                ipv6: Ipv6Addr::new(0xfd, 0, 0, 0, 0, 0, 0, number.into()),
            })
            .collect()
    }

    fn placed(text: &str) -> Result<Vec<(usize, String)>, String> {
        let words = words(text);
        let commands = split(&words)?;
        let found = find(&commands, &["A".to_owned(), "B".to_owned()])?;
        let filled = commands.iter().map(|(_, words)| fill(&words.join(" "), &nodes()));
        Ok(found.into_iter().zip(filled).collect())
    }

    #[test]
    fn commands_are_split_and_addresses_filled_in() {
        assert_eq!(
            placed("at B iperf3 -s at A iperf3 -c {B}").unwrap(),
            [(1, "iperf3 -s".to_owned()), (0, "iperf3 -c 10.0.0.1".to_owned())]
        );
        assert_eq!(
            placed("at A x [{B.6}]:80/{A}{B}").unwrap(),
            [(0, "x [fd::1]:80/10.0.0.010.0.0.1".to_owned())]
        );
        assert_eq!(placed("").unwrap(), []);
    }

    #[test]
    fn other_braces_stay_and_the_word_at_can_be_quoted() {
        assert_eq!(
            placed("at A awk {print} {C} { {{B}} echo {at} night").unwrap(),
            [(0, "awk {print} {C} { {10.0.0.1} echo at night".to_owned())]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("ping {B}", "not with `ping`"),
            ("at A", "`at A` needs a command"),
            ("at A ping at", "`at` needs a node and a command"),
            ("at A look at B", "`at B` needs a command, as in `at B ping {B}`; within a command write {at}"),
            ("at C ping", "the scenario has no node `C`; it has A, B"),
        ] {
            let said = placed(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
