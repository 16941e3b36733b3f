//! Rules of this host's firewall that drop what a session needs, or may drop it.
//!
//! It follows the rules of nftables as the kernel does, through jumps and sets, for each packet that a session needs. A condition
//! that it cannot judge makes the rest uncertain: then the rule is named, and nothing is called fine.

mod packet;

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Finding;
use crate::host::Interface;
use packet::Packet;

/// The deepest jump; the kernel has 16.
const DEEPEST: u32 = 16;

/// Looks at nftables, and at rules of iptables that nftables does not list.
pub(super) fn check(interface: &Interface, group: SocketAddr, source: Option<IpAddr>) -> Vec<Finding> {
    let saves = match group.is_ipv4() {
        true => ["iptables-legacy-save", "iptables-save"],
        false => ["ip6tables-legacy-save", "ip6tables-save"],
    };
    let rules = output("nft", &["-j", "list", "ruleset"]).and_then(|text| serde_json::from_str(&text).ok());
    let mut findings = match rules {
        Some(rules) => {
            Rules { rules: &rules, list: &listing }.judge(&Packet::needed(interface, group, source))
        }
        None => vec![],
    };
    let tables = if group.is_ipv4() { "/proc/net/ip_tables_names" } else { "/proc/net/ip6_tables_names" };
    let has_old = super::read(tables).is_some_and(|names| !names.is_empty());
    if findings.is_empty() || has_old {
        findings.push(of_iptables(saves[1], saves.iter().find_map(|save| output(save, &[])).as_deref()));
    }
    findings
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A chain as `nft` prints it, with the numbers of its rules.
fn listing(chain: &Chain<'_>) -> String {
    output("nft", &["-a", "list", "chain", chain.family, chain.table, chain.name]).unwrap_or_default()
}

/// Rules of iptables: fine only if none can drop anything.
fn of_iptables(save: &str, rules: Option<&str>) -> Finding {
    let Some(rules) = rules else {
        return Finding::note(
            format!(
                "the rules of the firewall cannot be read (no permission, or neither nft nor {save} is here)"
            ),
            format!(
                "as root, `nft list ruleset` and `{save}`: look for what drops UDP to the group, IGMP or MLD"
            ),
        );
    };
    let passes = ["ACCEPT", "RETURN", "LOG", "MARK", "CONNMARK", "NFLOG"];
    let may_drop = |line: &&str| match line.strip_prefix(':') {
        Some(chain) => chain.split(' ').nth(1) == Some("DROP"),
        None => line.split_once(" -j ").is_some_and(|(packets, target)| {
            // What a chain of the user's does is in its own lines.
            let target = target.split(' ').next().unwrap_or_default();
            let is_other = packets.contains("-p tcp") || packets.contains("-p icmp ");
            !is_other && !passes.contains(&target) && !rules.contains(&format!("\n:{target} - "))
        }),
    };
    match rules.lines().find(may_drop) {
        None => Finding::fine("no rule of iptables drops anything"),
        Some(line) => Finding::note(
            format!("rules of iptables may drop packets of the session, IGMP or MLD, such as `{line}`"),
            format!("as root, `{save}` shows them all"),
        ),
    }
}

/// A chain by the names that `nft` takes.
#[derive(Clone, Copy)]
struct Chain<'r> {
    family: &'r str,
    table: &'r str,
    name: &'r str,
}

/// The rules of nftables.
struct Rules<'r> {
    /// As `nft -j list ruleset` prints them.
    rules: &'r Value,
    /// A chain as text.
    list: &'r dyn Fn(&Chain<'_>) -> String,
}

/// A packet on its way through a base chain, and what is known of it.
struct Way<'p> {
    packet: &'p Packet<'p>,
    /// The rule that drops it, and whether that is certain.
    drop: Option<(String, bool)>,
    /// A rule that cannot be judged may have accepted it.
    may_be_accepted: bool,
}

impl Way<'_> {
    /// A rule that drops it, which applies for sure or perhaps.
    fn dropped(&mut self, rule: impl FnOnce() -> String, applies: bool) {
        let is_certain = applies && !self.may_be_accepted;
        if is_certain || self.drop.is_none() {
            self.drop = Some((rule(), is_certain));
        }
    }
}

/// Where a packet goes from a rule or a chain.
#[derive(PartialEq)]
enum Next {
    On,
    Return,
    End,
}

impl<'r> Rules<'r> {
    /// All objects of a kind.
    fn all(&self, kind: &'static str) -> impl Iterator<Item = &'r Value> {
        self.rules["nftables"].as_array().into_iter().flatten().filter_map(move |one| one.get(kind))
    }

    fn judge(&self, packets: &[Packet<'_>]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = packets.iter().flat_map(|packet| self.of_packet(packet)).collect();
        if findings.is_empty() {
            let what: Vec<&str> = packets.iter().map(|packet| packet.what).collect();
            findings.push(Finding::fine(format!("no rule of nftables drops {}", what.join(", "))));
        }
        findings
    }

    /// The base chains that drop a packet, or may.
    fn of_packet(&self, packet: &Packet<'_>) -> Vec<Finding> {
        let text = |of: &'r Value, key: &str| of[key].as_str().unwrap_or_default();
        let mut findings = Vec::new();
        for base in
            self.all("chain").filter(|chain| packet.passes(text(chain, "family"), text(chain, "hook")))
        {
            let chain =
                Chain { family: text(base, "family"), table: text(base, "table"), name: text(base, "name") };
            // `nft` leaves the device out of its JSON in some versions.
            if matches!(text(base, "hook"), "ingress" | "egress") && !packet.is_at(&(self.list)(&chain)) {
                continue;
            }
            let mut way = Way { packet, drop: None, may_be_accepted: false };
            if self.walk(chain, true, DEEPEST, &mut way) != Next::End && base["policy"] == "drop" {
                way.dropped(|| "its policy".to_owned(), true);
            }
            let Some((rule, is_certain)) = way.drop else { continue };
            let Chain { family, table, name } = chain;
            let at = format!(
                "in the chain `{name}` of the table `{family} {table}` (hook {})",
                text(base, "hook")
            );
            findings.push(if is_certain && packet.is_needed {
                Finding::wrong(
                    format!("nftables drops {}: {rule}, {at}", packet.what),
                    format!("nft insert rule {family} {table} {name} {} accept", packet.rule()),
                )
            } else {
                Finding::note(
                    format!(
                        "nftables {} {}: {rule}, {at}",
                        if is_certain { "drops" } else { "may drop" },
                        packet.what
                    ),
                    format!("nft -a list chain {family} {table} {name}"),
                )
            });
        }
        findings
    }

    /// Follows a packet that gets to a chain, for sure or perhaps.
    fn walk(&self, chain: Chain<'r>, sure: bool, depth: u32, way: &mut Way<'_>) -> Next {
        let mut sure = sure;
        let is_of = |rule: &&Value| {
            rule["family"] == chain.family && rule["table"] == chain.table && rule["chain"] == chain.name
        };
        for rule in self.all("rule").filter(is_of) {
            let mut applies = sure;
            for statement in rule["expr"].as_array().into_iter().flatten() {
                match self.statement(statement, chain, &rule["handle"], &mut applies, depth, way) {
                    None => break,
                    Some(Next::On) => {}
                    Some(Next::Return) if applies => return Next::Return,
                    Some(Next::End) if applies => return Next::End,
                    // Perhaps: what follows in this chain may not be reached.
                    Some(Next::Return) => {
                        sure = false;
                        break;
                    }
                    Some(Next::End) => break,
                }
            }
        }
        Next::Return
    }

    /// A statement of a rule; none if the rule is not for this packet. `applies` is false from a condition on that cannot be judged.
    fn statement(
        &self,
        statement: &'r Value,
        chain: Chain<'r>,
        handle: &Value,
        applies: &mut bool,
        depth: u32,
        way: &mut Way<'_>,
    ) -> Option<Next> {
        let packet = way.packet;
        let (kind, what) = statement.as_object()?.iter().next()?;
        let rule = || {
            let mark = format!("# handle {handle}");
            let list = (self.list)(&chain);
            let line = list.lines().find_map(|line| line.trim().strip_suffix(&mark));
            format!("the rule `{}`", line.unwrap_or(&mark).trim())
        };
        match kind.as_str() {
            "match" => match packet.fits(what, &|name| self.elements(chain, name)) {
                Some(false) => return None,
                Some(true) => {}
                None => *applies = false,
            },
            // Translating the source's address ends a chain as accepting does.
            "accept" | "masquerade" | "snat" => {
                way.may_be_accepted |= !*applies;
                return Some(Next::End);
            }
            "drop" | "reject" => {
                way.dropped(rule, *applies);
                return Some(Next::End);
            }
            "return" => return Some(Next::Return),
            "jump" | "goto" if depth > 0 => {
                let name = what["target"].as_str().unwrap_or_default();
                let next = self.walk(Chain { name, ..chain }, *applies, depth - 1, way);
                let is_back = next == Next::Return && kind == "jump";
                return Some(if is_back { Next::On } else { next });
            }
            "vmap" => {
                let named = what["data"].as_str().and_then(|name| self.elements(chain, name));
                let all = named.unwrap_or(&what["data"]["set"]).as_array().into_iter().flatten();
                for pair in all {
                    let mut fits = *applies;
                    match packet.holds(&what["key"], &pair[0], &|name| self.elements(chain, name)) {
                        Some(false) => continue,
                        Some(true) => {}
                        None => fits = false,
                    }
                    let next = self.statement(&pair[1], chain, handle, &mut fits, depth, way);
                    if fits {
                        return next;
                    }
                    // What follows may not be reached.
                    way.may_be_accepted |= next == Some(Next::Return);
                }
            }
            // It counts, writes or changes what is not looked at here.
            "counter" | "log" | "comment" | "mangle" | "notrack" | "ct helper" | "ct timeout" | "meta" => {}
            // A limit, or what this program does not know: the rule may apply, or drop by itself.
            "limit" | "quota" | "ct count" | "set" | "meter" => *applies = false,
            _ => {
                *applies = false;
                way.dropped(rule, false);
            }
        }
        Some(Next::On)
    }

    /// The elements of a named set or map of a chain's table, if they are known.
    fn elements(&self, chain: Chain<'_>, name: &str) -> Option<&'r Value> {
        let is_it = |set: &&Value| {
            set["family"] == chain.family
                && set["table"] == chain.table
                && set["name"] == name.trim_start_matches('@')
        };
        self.all("set").chain(self.all("map")).find(is_it).and_then(|set| set.get("elem"))
    }
}

#[cfg(test)]
mod tests;
