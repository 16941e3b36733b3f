//! The first steps of docs/transport.md, typed as they are printed there.

use std::fs;
use std::path::Path;
use std::process::Command;

use layercast_testkit::{Missing, skip};

use super::{scratch, text};

/// A section of a page.
fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let start = page.find(&format!("\n## {name}\n")).expect("the section");
    let rest = &page[start + 4..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// The blocks of commands in a section of a page.
fn commands(page: &str, name: &str) -> String {
    let blocks = section(page, name).split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.collect()
}

/// A shell in namespaces of its own: devices and named network namespaces, so that none of them touches the machine's.
pub(super) fn private_shell(script: &str) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--net", "bash", "-e", "-c"]).arg(format!("mount -t tmpfs none /run\n{script}"));
    let program = Path::new(env!("CARGO_BIN_EXE_layercast")).parent().expect("its folder");
    let path = std::env::var("PATH").unwrap_or_default();
    shell.env("PATH", format!("{}:{path}", program.display()));
    shell
}

/// Whether a script works in such a shell; if not, records what is missing.
fn works(script: &str, missing: Missing) -> bool {
    match private_shell(script).output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => skip(missing, text(&output.stderr).trim()),
        Err(error) => skip(missing, error),
    }
    false
}

/// Whether such a shell can be had here.
pub(super) fn is_private() -> bool {
    works("ip netns add one && ip link add cable netns one type veth peer name plug", Missing::Netns)
}

/// Whether such a shell can have a firewall.
pub(super) fn has_firewall() -> bool {
    is_private() && works("nft list ruleset", Missing::Nft)
}

/// What a script prints in a private shell, both streams together.
pub(super) fn typed(directory: &Path, script: &str) -> String {
    let output =
        private_shell(&format!("exec 2>&1\n{script}")).current_dir(directory).output().expect("a shell");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn the_first_steps_work_as_printed() {
    if !is_private() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/transport.md");
    let script = commands(&fs::read_to_string(page).expect("the page"), "First steps");
    assert!(script.contains("layercast send") && script.contains("layercast doctor"), "{script}");
    let directory = scratch("first-steps");
    let output = private_shell(&script).current_dir(&directory).output().expect("a shell");
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{error}");
    // Each command did what the page says.
    for expected in [
        "photos\n  239.1.2.0:5500 from 10.9.0.1",
        "2 files in inbox: complete",
        "1 of 1 receivers complete",
        "the same",
    ] {
        assert!(out.contains(expected), "no {expected:?}: {out}{error}");
    }
    assert!(!out.contains("WRONG"), "{out}");
}

/// Hosts at one bridge that carries no multicast, with the names of the page; each has a `/srv` of its own.
const SITES: &str = r#"
mount -t tmpfs none /srv
ip link add hub type bridge mcast_snooping 0; ip link set hub up
nft 'add table bridge f; add chain bridge f c { type filter hook forward priority 0; }; add rule bridge f c ip daddr 224.0.0.0/4 drop'
cp /etc/hosts hosts; number=1
for host in hq paris tokyo region zone parisian zonal watcher; do
  ip netns add $host; ip -n $host link set lo up
  ip link add v$number type veth peer name eth0 netns $host; ip link set v$number master hub up
  ip -n $host address add 10.9.0.$number/24 dev eth0; ip -n $host link set eth0 up
  ip -n $host route add default dev eth0
  echo 10.9.0.$number $host.example >> hosts; mkdir -p $host; number=$((number + 1))
done
mount --bind hosts /etc/hosts
at() { exec ip netns exec $1 sh -c "mount --bind $PWD/$1 /srv; exec $2"; }
mkdir hq/release; head -c 300000 /dev/urandom > hq/release/image; mkdir parisian/copy zonal/copy
trap 'kill $(jobs -p); wait' EXIT
"#;

/// The steps of docs/relays.md: what is in a file of arguments is the command of its service.
#[test]
fn the_steps_to_three_sites_work_as_printed() {
    if !has_firewall() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/relays.md");
    let page = fs::read_to_string(page).expect("the page");
    let steps = section(&page, "Three sites and a cloud region").replace("\n   ", " ");
    let quoted: Vec<&str> = steps.split('`').skip(1).step_by(2).collect();
    let find = |start: &str| quoted.iter().filter_map(|text| text.strip_prefix(start)).collect::<Vec<_>>();
    let one = |start: &str| <[&str; 1]>::try_from(find(start)).expect("one command of each kind")[0];
    let (send, receive) = (one("layercast send "), one("layercast receive "));
    let (status, zonal) = (one("layercast relay status "), one("--relay "));
    let [site, zone] = <[&str; 2]>::try_from(find("ARGUMENTS=")).expect("arguments of two relays");
    let (site, zone) = (site.trim_matches('"'), zone.trim_matches('"'));
    let receive_in_zone = format!("{} --relay {zonal}", receive.split(" --relay ").next().expect("a start"));
    let mut script = format!("{SITES}at hq 'layercast send {send} -q' &\n");
    for (host, arguments) in [("paris", site), ("tokyo", site), ("region", site), ("zone", zone)] {
        script += &format!("at {host} 'layercast relay {arguments} -q' &\n");
    }
    script += &format!(
        "at parisian 'layercast receive {receive} -q' &\nat zonal 'layercast receive {receive_in_zone} -q' &\n\
         for second in $(seq 60); do sleep 1; cmp -s hq/release/image parisian/copy/image && \
         cmp -s hq/release/image zonal/copy/image && echo complete && break; done\n\
         (at watcher 'layercast relay status {status}') && echo status 0 || echo status $?\n"
    );
    let said = typed(&scratch("sites"), &script);
    assert!(said.contains("\ncomplete\n") && said.contains("\nstatus 0\n"), "{said}");
    let line = |start: &str| said.lines().any(|line| line.starts_with(start));
    assert_eq!(said.matches("relay 0.0.0.0:5600: ").count(), 4, "{said}");
    // The zone's relay stands below the region's, and receivers below theirs.
    assert!(line("  239.1.2.0:5500 from 10.9.0.1:5600") && line("    10.9.0.6:"), "{said}");
    assert!(
        line("      relay 0.0.0.0:5600: ") && line("        239.1.2.0:5500 from 10.9.0.4:5600"),
        "{said}"
    );
}
