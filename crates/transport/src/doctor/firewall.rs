//! Rules of this host's firewall that may drop the session, as far as they can be read.
//!
//! It judges what is plain: the policy of chains at the hook `input`, rules that drop all, and rules that accept UDP, the
//! port or the group. Rules in chains that are jumped to are not followed, and then it says so.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use super::Finding;

/// Looks at nftables, and at iptables if there are none.
pub(super) fn look(group: SocketAddr) -> Vec<Finding> {
    if let Some(rules) = output("nft", &["list", "ruleset"]) {
        return of_chains("nftables", &nft_chains(&rules), group);
    }
    let tool = if group.is_ipv4() { "iptables-save" } else { "ip6tables-save" };
    if let Some(rules) = output(tool, &["-t", "filter"]) {
        return of_chains("iptables", &iptables_chains(&rules), group);
    }
    let family = if group.is_ipv4() { "IGMP" } else { "ICMPv6 (MLD)" };
    vec![Finding::note(
        "the rules of the firewall cannot be read (no permission, or neither nft nor iptables is here)",
        format!(
            "as root, `nft list ruleset` or `{tool}`: look for input chains that drop UDP to {} port {}, or {family}",
            group.ip(),
            group.port()
        ),
    )]
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A chain that all packets pass that are for this host.
#[derive(Debug, Default, PartialEq, Eq)]
struct Chain {
    name: String,
    drops: bool,
    rules: Vec<String>,
}

fn nft_chains(rules: &str) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut chain: Option<(Chain, bool)> = None;
    for line in rules.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("chain ") {
            let name = name.trim_end_matches('{').trim().to_owned();
            chain = Some((Chain { name, ..Chain::default() }, false));
        } else if line == "}" {
            chains.extend(chain.take().filter(|(_, is_input)| *is_input).map(|(chain, _)| chain));
        } else if let Some((chain, is_input)) = &mut chain {
            if line.starts_with("type ") {
                *is_input = line.contains("hook input");
                chain.drops = line.contains("policy drop");
            } else if !line.is_empty() {
                chain.rules.push(line.to_owned());
            }
        }
    }
    chains
}

fn iptables_chains(rules: &str) -> Vec<Chain> {
    let mut chain = Chain { name: "INPUT".into(), ..Chain::default() };
    for line in rules.lines().map(str::trim) {
        if let Some(policy) = line.strip_prefix(":INPUT ") {
            chain.drops = policy.starts_with("DROP");
        } else if let Some(rule) = line.strip_prefix("-A INPUT ") {
            chain.rules.push(rule.to_lowercase());
        }
    }
    vec![chain]
}

fn of_chains(tool: &str, chains: &[Chain], group: SocketAddr) -> Vec<Finding> {
    let mut findings: Vec<Finding> = chains.iter().filter_map(|chain| of_chain(tool, chain, group)).collect();
    if findings.is_empty() {
        findings.push(Finding::fine(format!("{tool} lets packets of the session in")));
    }
    findings
}

fn words(rule: &str) -> Vec<&str> {
    rule.split(|char: char| char.is_whitespace() || matches!(char, '{' | '}' | ',')).collect()
}

fn ends_in(rule: &str, verdicts: &[&str]) -> bool {
    words(rule).iter().any(|word| verdicts.contains(word))
}

/// Whether a rule speaks of packets that are not those of a session.
fn of_others(rule: &str) -> bool {
    let words = words(rule);
    let others = ["tcp", "icmp", "icmpv6", "ipv6-icmp", "invalid", "established", "related"];
    let other_state = words.iter().any(|word| word.contains("established") || word.contains("related"));
    let loopback = rule.contains("iif \"lo\"") || rule.contains("iifname \"lo\"") || rule.contains("-i lo ");
    other_state || loopback || words.iter().any(|word| others.contains(word))
}

/// Whether a rule speaks of this very session, or of all UDP or multicast.
fn of_session(rule: &str, group: SocketAddr) -> bool {
    let words = words(rule);
    let (address, port) = (group.ip().to_string(), group.port().to_string());
    let has_port = rule.contains("dport");
    let same_port = words.contains(&port.as_str());
    let udp = words.contains(&"udp");
    let names_group = words.iter().any(|word| {
        word.starts_with(&address)
            || *word == "multicast"
            || word.starts_with("224.0.0.0/")
            || word.starts_with("239.")
            || word.starts_with("ff00::/")
    });
    (!has_port || same_port) && (udp || names_group || has_port)
}

fn of_chain(tool: &str, chain: &Chain, group: SocketAddr) -> Option<Finding> {
    let (accepts, drops) = (["accept"], ["drop", "reject"]);
    let port = group.port();
    let remedy = match (tool, group.is_ipv4()) {
        ("nftables", true) => format!(
            "nft insert rule inet filter {} udp dport {port} accept, and ip protocol igmp accept",
            chain.name
        ),
        ("nftables", false) => {
            format!("nft insert rule inet filter {} udp dport {port} accept, and icmpv6 accept", chain.name)
        }
        (_, true) => {
            format!("iptables -I INPUT -p udp --dport {port} -j ACCEPT; iptables -I INPUT -p igmp -j ACCEPT")
        }
        (_, false) => format!(
            "ip6tables -I INPUT -p udp --dport {port} -j ACCEPT; ip6tables -I INPUT -p ipv6-icmp -j ACCEPT"
        ),
    };
    let mut jumps = false;
    for rule in chain.rules.iter().filter(|rule| !of_others(rule)) {
        let is_general = of_general(rule);
        if ends_in(rule, &accepts) && (is_general || of_session(rule, group)) {
            return None;
        }
        if ends_in(rule, &drops) && (is_general || of_session(rule, group)) {
            return Some(verdict(tool, chain, &format!("the rule `{rule}`"), jumps, remedy));
        }
        let is_jump = ["jump", "goto", "-g"].iter().any(|word| words(rule).contains(word));
        jumps |=
            is_jump || (tool == "iptables" && !ends_in(rule, &["accept", "drop", "reject", "log", "return"]));
    }
    chain.drops.then(|| verdict(tool, chain, "its policy", jumps, remedy))
}

/// Whether a rule has no condition that a packet of the session could fail.
fn of_general(rule: &str) -> bool {
    let known = [
        "accept",
        "drop",
        "reject",
        "counter",
        "packets",
        "bytes",
        "log",
        "with",
        "type",
        "-j",
        "--reject-with",
    ];
    words(rule).iter().filter(|word| !word.is_empty()).all(|word| {
        known.contains(word)
            || word.chars().all(|char| char.is_ascii_digit())
            || word.starts_with("icmp")
            || *word == "admin-prohibited"
            || *word == "port-unreachable"
    })
}

fn verdict(tool: &str, chain: &Chain, by: &str, jumps: bool, remedy: String) -> Finding {
    let text = format!("{tool}: {by} of the chain {} drops packets of the session", chain.name);
    if jumps {
        return Finding::note(format!("{text}, unless a chain that it jumps to accepts them"), remedy);
    }
    Finding::wrong(text, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    fn group() -> SocketAddr {
        "239.1.2.0:5500".parse().expect("an address")
    }

    fn nft(rules: &str, policy: &str) -> Verdict {
        let text = format!(
            "table inet filter {{\n\tchain input {{\n\t\ttype filter hook input priority filter; policy {policy};\n\
             {rules}\n\t}}\n\n\tchain forward {{\n\t\ttype filter hook forward priority filter; policy drop;\n\t}}\n}}\n"
        );
        of_chains("nftables", &nft_chains(&text), group())[0].verdict
    }

    #[test]
    fn nftables_are_judged_in_the_order_of_their_rules() {
        assert_eq!(nft("", "accept"), Verdict::Fine);
        assert_eq!(nft("", "drop"), Verdict::Wrong);
        assert_eq!(
            nft("ct state established,related accept\niif \"lo\" accept\ntcp dport 22 accept", "drop"),
            Verdict::Wrong
        );
        assert_eq!(nft("udp dport 5500 accept", "drop"), Verdict::Fine);
        assert_eq!(nft("udp dport { 53, 5500 } accept", "drop"), Verdict::Fine);
        assert_eq!(nft("udp dport 53 accept", "drop"), Verdict::Wrong);
        assert_eq!(nft("meta pkttype multicast accept", "drop"), Verdict::Fine);
        assert_eq!(nft("ip daddr 239.1.2.0 udp dport 5500 drop", "accept"), Verdict::Wrong);
        assert_eq!(
            nft("counter packets 1 bytes 2 reject with icmpx admin-prohibited", "accept"),
            Verdict::Wrong
        );
        assert_eq!(nft("jump services", "drop"), Verdict::Note);
        assert_eq!(nft("udp dport 5500 accept\ndrop", "accept"), Verdict::Fine);
    }

    #[test]
    fn iptables_are_judged_too() {
        let verdict = |rules: &str| of_chains("iptables", &iptables_chains(rules), group())[0].verdict;
        assert_eq!(verdict("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT"), Verdict::Fine);
        assert_eq!(verdict(":INPUT DROP [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT"), Verdict::Wrong);
        assert_eq!(
            verdict(":INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 5500 -j ACCEPT"),
            Verdict::Fine
        );
        assert_eq!(verdict(":INPUT ACCEPT [0:0]\n-A INPUT -p udp -j DROP"), Verdict::Wrong);
        assert_eq!(verdict(":INPUT DROP [0:0]\n-A INPUT -j ufw-user-input"), Verdict::Note);
    }
}
