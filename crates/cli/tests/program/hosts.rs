//! What the state of a host makes of commands: a firewall that drops, an interface without an address or down, a name that no
//! server knows.

use super::first_steps::{has_firewall, is_private, typed};
use super::scratch;

/// A host with the interface `eth0`.
const HOST: &str =
    "ip link set lo up; ip link add eth0 type veth peer name far; ip link set eth0 up; ip link set far up\n";

/// What `doctor` says of the firewall with these rules.
fn of_firewall(rules: &str, arguments: &str) -> String {
    let script = format!(
        "{HOST}ip address add 10.9.0.2/24 dev eth0; ip route add 224.0.0.0/4 dev eth0\nnft '{rules}'\n\
         layercast doctor --group 239.1.2.0 {arguments} || true"
    );
    let said = typed(&scratch("doctor-firewall"), &script);
    said.lines().filter(|line| line.contains("nftables")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn doctor_names_what_drops_and_calls_nothing_fine_that_may() {
    if !has_firewall() {
        return;
    }
    let chain = |hook: &str, rule: &str| {
        format!(
            "add table inet f; add chain inet f c {{ type filter hook {hook} priority 0; }}; add rule inet f c {rule}"
        )
    };
    let wrong = [
        (chain("output", "ip protocol igmp drop"), "reports by IGMP", "ip protocol igmp drop", "output"),
        (chain("input", "ip protocol igmp drop"), "queries by IGMP", "ip protocol igmp drop", "input"),
        (
            chain("prerouting", "ip daddr 224.0.0.0/4 counter drop"),
            "packets of the session",
            "ip daddr 224.0.0.0/4 counter packets",
            "prerouting",
        ),
        (
            chain("input", "iifname eth0 ip saddr != 10.1.0.0/16 drop"),
            "packets of the session",
            "iifname \"eth0\" ip saddr != 10.1.0.0/16 drop",
            "input",
        ),
        (
            "add table inet f; add chain inet f c { type filter hook input priority 0; policy drop; }; add rule inet f c iif lo accept".to_owned(),
            "packets of the session",
            "its policy",
            "input",
        ),
    ];
    for (rules, what, rule, hook) in &wrong {
        let said = of_firewall(rules, "--source 10.9.0.1");
        assert!(
            said.contains(&format!("WRONG  nftables drops {what}: ")) && said.contains(rule),
            "{rules}: {said}"
        );
        assert!(said.contains(&format!("in the chain `c` of the table `inet f` (hook {hook})")), "{said}");
        assert!(said.contains("remedy: nft insert rule inet f c ") && !said.contains("fine "), "{said}");
    }
    let device = |device: &str| {
        format!(
            "add table netdev f; add chain netdev f c {{ type filter hook ingress device {device} priority 0; }}; add rule netdev f c udp dport 5500 drop"
        )
    };
    let said = of_firewall(&device("eth0"), "");
    assert!(
        said.contains("WRONG  nftables drops packets of the session: the rule `udp dport 5500 drop`"),
        "{said}"
    );
    assert!(said.contains("of the table `netdev f` (hook ingress)"), "{said}");
    for fine in ["", &device("far"), &chain("input", "tcp dport 5500 drop"), &chain("forward", "drop")] {
        let said = of_firewall(fine, "");
        assert!(
            said.starts_with("fine   no rule of nftables drops ") && said.lines().count() == 1,
            "{fine}: {said}"
        );
    }
    // Nobody knows the source.
    let said = of_firewall(&chain("input", "ip saddr 10.1.0.0/16 drop"), "");
    assert!(
        said.contains(
            "note   nftables may drop packets of the session: the rule `ip saddr 10.1.0.0/16 drop`"
        ),
        "{said}"
    );
    assert!(said.contains("remedy: nft -a list chain inet f c") && !said.contains("WRONG"), "{said}");
}

/// The remedies of `doctor` are typed as they are printed.
#[test]
fn remedies_for_a_firewall_help() {
    if !has_firewall() {
        return;
    }
    let script = format!(
        "{HOST}ip address add 10.9.0.2/24 dev eth0; ip route add 224.0.0.0/4 dev eth0\n\
         nft 'add table inet f; add chain inet f c {{ type filter hook input priority 0; policy drop; }}; \
         add rule inet f c iif lo accept'\n\
         layercast doctor --group 239.1.2.0 | sed -n 's/.*remedy: \\(nft insert.*\\)/\\1/p' > remedies\n\
         . ./remedies; cat remedies; layercast doctor --group 239.1.2.0 || true"
    );
    let said = typed(&scratch("doctor-remedies"), &script);
    assert!(said.contains("nft insert rule inet f c udp dport 5500 accept"), "{said}");
    assert!(said.contains("nft insert rule inet f c meta l4proto igmp accept"), "{said}");
    assert!(said.contains("fine   no rule of nftables drops"), "{said}");
}

#[test]
fn what_may_pass_is_no_wrong_argument() {
    if !is_private() {
        return;
    }
    // `.invalid` is a name that no server knows (RFC 6761).
    let commands = [
        ("relay 239.1.2.0 --parent hq.invalid", "the host hq.invalid is not found"),
        ("receive --group 239.1.2.0 --into into --relay hq.invalid", "the host hq.invalid is not found"),
        ("receive --group 239.1.2.0 --into into --interface eth0", "eth0 has no IPv4 address now"),
        (
            "receive --group 239.1.2.0 --into into --interface 10.9.0.2",
            "no interface has the IPv4 address 10.9.0.2 now",
        ),
        (
            "receive --group ff35::1 --into into --interface lo",
            "lo has no IPv6 address now, and lo is down (ip link set lo up)",
        ),
        ("receive --group 239.1.2.0 --into into", "no route to the group"),
        ("receive --stream --group 239.1.2.0 --into into --interface eth0", "eth0 has no IPv4 address now"),
        ("send file --group 239.1.2.0 --interface eth0", "eth0 has no IPv4 address now"),
        ("send file --group 239.1.2.0", "no route to the group"),
        ("relay 239.1.2.0 --interface eth0", "eth0 has no IPv4 address now"),
        ("relay 239.1.2.0 --local eth0 --parent 127.0.0.1", "eth0 has no IPv4 address now"),
        ("relay 239.1.2.0 --parent 127.0.0.1 --metrics 10.9.0.2:9100", "--metrics 10.9.0.2:9100: "),
        ("sessions --interface eth0", "eth0 has no IPv4 address now"),
    ];
    // A kernel without any address lets programs bind to all.
    let mut script = "ip link add eth0 type veth peer name far; ip address add 10.8.0.1/24 dev far\n\
                      echo a > file; mkdir -p into\n"
        .to_owned();
    for (command, _) in &commands {
        script += &format!("timeout 20 layercast {command} && echo status 0 || echo status $?\n");
    }
    let said = typed(&scratch("may-pass"), &script);
    for ((command, expected), found) in commands.iter().zip(said.split_inclusive("status ")) {
        assert!(found.contains(&format!("error: {expected}")), "{command}: {found}");
    }
    assert_eq!(said.matches("status 1").count(), commands.len(), "{said}");
    // What only the user can change stays wrong.
    let said = typed(
        &scratch("may-not-pass"),
        "ip link set lo up; echo a > file\nfor wrong in '--interface nosuch0' '--control nosuch' '--group 10.1.2.3'; do\n\
         layercast send file --group 239.1.2.0 $wrong && echo status 0 || echo status $?; done",
    );
    assert_eq!(said.matches("status 2").count(), 3, "{said}");
}

#[test]
fn a_service_waits_for_its_address_and_an_interface_that_is_down_is_named() {
    if !is_private() {
        return;
    }
    let script = "
        ip link set lo up; ip link add eth0 type veth peer name far; mkdir -p into
        layercast receive --group 239.1.2.0 --into into --interface eth0 --keep-going --within '3 s' && echo status 0
        ip address add 10.9.0.2/24 dev eth0
        timeout 20 layercast receive --group 239.1.2.0 --into into --interface eth0 --patience '1 s' || echo status $?
        echo a > file
        timeout 20 layercast send file --group 239.1.2.0 --interface eth0 || echo status $?
        timeout 20 layercast send file --group 239.1.2.0 || echo status $?";
    let said = typed(&scratch("waits"), script);
    let lines = [
        "warning: eth0 has no IPv4 address now, and eth0 is down (ip link set eth0 up): trying again in ",
        "note: stopped: not complete after 3 s",
        "status 0",
        "warning: the network does not take packets (eth0 is down: ip link set eth0 up): trying on for up to 1 s",
        "error: no valid packet from 239.1.2.0:5500 for 1 s. eth0 is down: ip link set eth0 up. ",
        "status 1",
        "error: eth0 is down: ip link set eth0 up",
        "status 1",
        "error: no route to the group 239.1.2.0:5500, and eth0 is down: ip link set eth0 up",
        "status 1",
    ];
    let mut rest = said.lines();
    for line in lines {
        assert!(rest.any(|found| found.starts_with(line)), "no {line:?} in its place: {said}");
    }
}
