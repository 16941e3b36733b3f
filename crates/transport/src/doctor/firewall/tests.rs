use serde_json::json;

use super::*;
use crate::doctor::Verdict;

/// Judges an inet chain `c` of the table `f`, with these rules, and a chain `d` that may be jumped to.
fn judged(
    group: &str,
    source: Option<&str>,
    chain: &Value,
    rules: &[Value],
    others: &[Value],
) -> Vec<Finding> {
    let mut base =
        json!({"family": "inet", "table": "f", "name": "c", "type": "filter", "prio": 0, "policy": "accept"});
    base.as_object_mut().unwrap().extend(chain.as_object().unwrap().clone());
    let rule = |chain: &str, expr: &Value| json!({"rule": {"family": base["family"], "table": "f", "chain": chain, "handle": 7, "expr": expr}});
    let set =
        json!({"set": {"family": "inet", "table": "f", "name": "s", "elem": [53, {"range": [5000, 5999]}]}});
    let objects: Vec<Value> = [json!({"chain": base}), set]
        .into_iter()
        .chain(rules.iter().map(|expr| rule("c", expr)))
        .chain(others.iter().map(|expr| rule("d", expr)))
        .collect();
    let rules = json!({ "nftables": objects });
    let group: SocketAddr = group.parse().unwrap();
    let address = if group.is_ipv4() { "10.9.0.2" } else { "fe80::2" };
    let interface = Interface { name: "eth0".to_owned(), index: 2, address: address.parse().unwrap() };
    let list = |_: &Chain<'_>| {
        "type filter hook ingress device \"eth0\" priority 0;\n  a rule # handle 7".to_owned()
    };
    Rules { rules: &rules, list: &list }.judge(&Packet::needed(
        &interface,
        group,
        source.map(|source| source.parse().unwrap()),
    ))
}

fn verdicts(hook: &str, policy: &str, rules: &[Value]) -> Vec<Verdict> {
    let chain = json!({"hook": hook, "policy": policy});
    judged("239.1.2.0:5500", None, &chain, rules, &[]).iter().map(|finding| finding.verdict).collect()
}

fn is(left: &Value, right: &Value) -> Value {
    json!({"match": {"op": "==", "left": left, "right": right}})
}

fn payload(protocol: &str, field: &str, right: &Value) -> Value {
    is(&json!({"payload": {"protocol": protocol, "field": field}}), right)
}

fn accept() -> Value {
    json!({"accept": null})
}

fn drop() -> Value {
    json!({"drop": null})
}

use Verdict::{Fine, Note, Wrong};

#[test]
fn what_drops_is_named_with_its_hook_chain_and_table() {
    let igmp = [json!([payload("ip", "protocol", &json!("igmp")), drop()])];
    let text = |hook: &str| {
        let findings = judged("239.1.2.0:5500", None, &json!({ "hook": hook }), &igmp, &[]);
        findings.iter().map(|finding| format!("{finding}\n")).collect::<String>()
    };
    assert_eq!(
        text("input"),
        "WRONG  nftables drops queries by IGMP: the rule `a rule`, in the chain `c` of the table `inet f` (hook input); \
         remedy: nft insert rule inet f c meta l4proto igmp accept\n"
    );
    assert!(text("output").starts_with("WRONG  nftables drops reports by IGMP: "), "{}", text("output"));
    assert!(text("forward").starts_with("fine "), "{}", text("forward"));
    let policy = judged("239.1.2.0:5500", None, &json!({"hook": "input", "policy": "drop"}), &[], &[]);
    assert!(
        policy[0].to_string().contains("drops packets of the session: its policy, in the chain `c`"),
        "{policy:?}"
    );
    assert!(policy[0].remedy.ends_with("inet f c udp dport 5500 accept"), "{policy:?}");
}

#[test]
fn rules_are_judged_in_their_order() {
    let udp = |port: &Value| json!([payload("udp", "dport", port), accept()]);
    assert_eq!(verdicts("input", "accept", &[]), [Fine]);
    assert_eq!(verdicts("input", "drop", &[json!([accept()]), json!([drop()])]), [Fine]);
    let igmp = json!([payload("ip", "protocol", &json!({"set": ["igmp", "icmp"]})), accept()]);
    for port in [json!(5500), json!({"set": [53, 5500]}), json!({"range": [5000, 6000]}), json!("@s")] {
        assert_eq!(verdicts("input", "drop", &[udp(&port), igmp.clone()]), [Fine], "{port}");
    }
    assert_eq!(verdicts("input", "drop", &[udp(&json!({"set": [53, 5501]})), igmp.clone()]), [Wrong]);
    assert_eq!(verdicts("input", "drop", &[udp(&json!("@other")), igmp]), [Note]);
    // Neither for TCP, nor for what has an answer, nor for the loopback.
    let established =
        json!({"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}});
    let others = [
        json!([established, accept()]),
        json!([is(&json!({"meta": {"key": "iifname"}}), &json!("lo")), accept()]),
        json!([payload("tcp", "dport", &json!(5500)), accept()]),
        json!([payload("ip6", "daddr", &json!("ff35::1")), accept()]),
    ];
    assert_eq!(verdicts("input", "drop", &others), [Wrong, Wrong]);
    let groups = json!({"prefix": {"addr": "224.0.0.0", "len": 4}});
    assert_eq!(
        verdicts("prerouting", "accept", &[json!([payload("ip", "daddr", &groups), drop()])]),
        [Wrong, Wrong]
    );
    // Only a source needs to send to the group.
    assert_eq!(
        verdicts(
            "output",
            "accept",
            &[udp(&json!(5500)), json!([payload("udp", "dport", &json!(5501)), drop()])]
        ),
        [Fine]
    );
    assert_eq!(
        verdicts("output", "accept", &[json!([payload("udp", "dport", &json!(5500)), drop()])]),
        [Note]
    );
}

#[test]
fn jumps_maps_and_returns_are_followed() {
    let chain = json!({"hook": "input", "policy": "drop"});
    let of = |rules: &[Value], others: &[Value]| -> Vec<Verdict> {
        judged("239.1.2.0:5500", None, &chain, rules, others).iter().map(|finding| finding.verdict).collect()
    };
    let jump = json!({"jump": {"target": "d"}});
    assert_eq!(of(&[json!([jump])], &[json!([accept()])]), [Fine]);
    assert_eq!(
        of(&[json!([jump]), json!([accept()])], &[json!([{"return": null}]), json!([drop()])]),
        [Fine]
    );
    assert_eq!(of(&[json!([{"goto": {"target": "d"}}]), json!([accept()])], &[]), [Wrong, Wrong]);
    assert_eq!(of(&[json!([jump]), json!([accept()])], &[json!([drop()])]), [Wrong, Wrong]);
    let map = |pairs: Value| json!([{"vmap": {"key": {"meta": {"key": "iifname"}}, "data": {"set": pairs}}}]);
    assert_eq!(of(&[map(json!([["lo", accept()], ["eth*", jump]]))], &[json!([accept()])]), [Fine]);
    assert_eq!(of(&[map(json!([["lo", accept()]]))], &[]), [Wrong, Wrong]);
    // A chain that jumps to itself, which the kernel refuses, ends.
    assert_eq!(of(&[json!([jump])], &[json!([jump])]).len(), 2);
}

#[test]
fn what_cannot_be_judged_is_never_fine_nor_certain() {
    let mark = is(&json!({"meta": {"key": "mark"}}), &json!(1));
    assert_eq!(verdicts("input", "accept", &[json!([mark, drop()])]), [Note, Note]);
    assert_eq!(verdicts("input", "drop", &[json!([mark, accept()])]), [Note, Note]);
    // What is certain afterwards, is.
    assert_eq!(verdicts("input", "accept", &[json!([mark, drop()]), json!([drop()])]), [Wrong, Wrong]);
    assert_eq!(verdicts("input", "accept", &[json!([{"queue": null}])]), [Note, Note]);
    assert_eq!(verdicts("input", "accept", &[json!([{"limit": {"rate": 1}}, drop()])]), [Note, Note]);
    assert_eq!(verdicts("input", "accept", &[json!([{"counter": null}, {"log": null}])]), [Fine]);
}

#[test]
fn a_rule_by_source_is_certain_once_the_source_is_known() {
    let prefix = json!({"prefix": {"addr": "10.1.0.0", "len": 16}});
    let rule = json!([{"match": {"op": "!=", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": prefix}}, drop()]);
    let of = |source| -> Vec<Verdict> {
        let findings =
            judged("239.1.2.0:5500", source, &json!({"hook": "input"}), std::slice::from_ref(&rule), &[]);
        findings.iter().map(|finding| finding.verdict).collect()
    };
    assert_eq!(of(None), [Note, Note]);
    assert_eq!(of(Some("10.9.0.1")), [Wrong, Note]);
    assert_eq!(of(Some("10.1.0.1")), [Note]);
}

#[test]
fn mld_has_its_own_packets() {
    let of = |rules: &[Value]| -> Vec<Verdict> {
        let chain = json!({"hook": "input", "policy": "drop"});
        judged("[ff35::1]:5500", None, &chain, rules, &[]).iter().map(|finding| finding.verdict).collect()
    };
    let udp = json!([payload("udp", "dport", &json!(5500)), accept()]);
    let types = json!({"set": ["mld-listener-query", "nd-neighbor-solicit"]});
    assert_eq!(of(&[udp.clone(), json!([payload("icmpv6", "type", &types), accept()])]), [Fine]);
    assert_eq!(
        of(&[udp.clone(), json!([is(&json!({"meta": {"key": "l4proto"}}), &json!("ipv6-icmp")), accept()])]),
        [Fine]
    );
    // The header of options is before it.
    assert_eq!(of(&[udp, json!([payload("ip6", "nexthdr", &json!("ipv6-icmp")), accept()])]), [Wrong]);
}

#[test]
fn chains_at_devices_are_those_of_the_interface() {
    let udp = [json!([payload("udp", "dport", &json!(5500)), drop()])];
    let chain = json!({"family": "netdev", "hook": "ingress"});
    assert_eq!(judged("239.1.2.0:5500", None, &chain, &udp, &[])[0].verdict, Wrong);
    let packets = Interface { name: "eth1".to_owned(), index: 3, address: IpAddr::from([10, 9, 0, 2]) };
    let [packet, ..] = Packet::needed(&packets, "239.1.2.0:5500".parse().unwrap(), None);
    assert!(!packet.is_at("type filter hook ingress device \"eth0\" priority 0;"));
    assert!(packet.is_at("type filter hook ingress devices = { \"eth0\", \"eth1\" } priority 0;"));
}

#[test]
fn iptables_are_fine_only_if_nothing_drops() {
    let verdict = |rules: &str| of_iptables("iptables-save", Some(rules)).verdict;
    assert_eq!(verdict("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"), Fine);
    assert_eq!(verdict("*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -j ACCEPT\n"), Note);
    assert_eq!(
        verdict("*filter\n:INPUT ACCEPT [0:0]\n:ours - [0:0]\n-A INPUT -j ours\n-A ours -p tcp -j DROP\n"),
        Fine
    );
    assert_eq!(
        verdict("*filter\n:INPUT ACCEPT [0:0]\n:ours - [0:0]\n-A INPUT -j ours\n-A ours -p igmp -j DROP\n"),
        Note
    );
    assert!(of_iptables("iptables-save", None).to_string().contains("cannot be read"));
}
