//! A small network of namespaces: one source, one snooping bridge, receivers behind slow links.
//!
//! Everything is created in separate namespaces and removed with them. A guard process waits on a pipe:
//! when this process ends for any reason, the pipe closes and the guard removes the namespaces and all
//! processes in them. The tests and the example of the same name share it.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "tests and the example use parts; one that cannot go on fails"
)]

pub(crate) mod child;
pub(crate) mod transfer;

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use layercast_testkit::{Missing, skip};

/// The environment variable that gives a child process its role.
pub(crate) const ROLE: &str = "LAYERCAST_LAB_ROLE";

/// How long a querier must run before a bridge uses what it has learnt, with the intervals set below.
const SNOOPING_STARTS: Duration = Duration::from_secs(4);

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A network.
pub(crate) struct Lab {
    prefix: String,
    child_arguments: &'static [&'static str],
    guard: Child,
}

/// A lab of these links in Mbit/s, whose children are the test `namespaces::child` of this program; none where that is not possible, and then the test is
/// recorded as skipped.
pub(crate) fn lab(links_mbps: &[u32]) -> Option<Lab> {
    match Lab::new(links_mbps, &["--ignored", "--exact", "namespaces::child", "--nocapture"]) {
        Ok(lab) => Some(lab),
        Err(error) => {
            skip(Missing::Netns, error);
            None
        }
    }
}

/// Runs a command; its standard error becomes the error.
fn run(command: &str) -> io::Result<()> {
    let done = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(io::Error::other(format!("{command}: {said}")))
}

impl Lab {
    /// Creates a network with one receiver behind each rate in Mbit/s. Children are this program with these
    /// arguments.
    ///
    /// # Errors
    /// What is missing on this machine.
    pub(crate) fn new(rates_mbps: &[u32], child_arguments: &'static [&'static str]) -> io::Result<Lab> {
        Lab::make(rates_mbps, child_arguments).map_err(|error| {
            let needs = "it needs root, iproute2, veth, bridge and tbf";
            io::Error::other(format!("no network of namespaces here ({needs}): {error}"))
        })
    }

    fn make(rates_mbps: &[u32], child_arguments: &'static [&'static str]) -> io::Result<Lab> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("lc{}-{number}-", std::process::id());
        run("ip -V && tc -V")?;
        let mut names = vec![format!("{prefix}bridge"), format!("{prefix}source")];
        names.push(format!("{prefix}origin"));
        names.extend((0..rates_mbps.len()).map(|place| format!("{prefix}{place}")));
        // The guard starts first, so that nothing exists without it.
        let remove = names.iter().map(|name| {
            format!("ip netns pids {name} 2>/dev/null | xargs -r kill -9 2>/dev/null; ip netns del {name} 2>/dev/null;")
        });
        let guard = Command::new("setsid")
            .args(["sh", "-c", &format!("cat >/dev/null; {} true", remove.collect::<String>())])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let lab = Lab { prefix, child_arguments, guard };
        for name in &names {
            run(&format!("ip netns add {name} && ip -n {name} link set lo up"))?;
        }
        lab.bridge()?;
        lab.plug("source", "source", 1, None)?;
        for (place, rate) in rates_mbps.iter().enumerate() {
            lab.plug(&place.to_string(), &format!("r{place}"), place + 2, Some(*rate))?;
        }
        thread::sleep(SNOOPING_STARTS);
        Ok(lab)
    }

    /// A bridge that snoops and queries, and prunes a tenth of a second after the last leave. It becomes
    /// the querier last: it then waits for one response interval before it uses what it has learnt, and
    /// floods until then. The usual interval is ten seconds.
    fn bridge(&self) -> io::Result<()> {
        let name = format!("{}bridge", self.prefix);
        run(&format!(
            "ip -n {name} link add br0 type bridge mcast_snooping 1 mcast_igmp_version 3 \
             mcast_query_response_interval 100 mcast_startup_query_interval 100 \
             mcast_last_member_interval 10 mcast_last_member_count 1 && ip -n {name} link set br0 up && \
             ip -n {name} link set br0 type bridge mcast_querier 1"
        ))
    }

    /// Joins a namespace to the bridge. `rate_mbps` limits what flows to it.
    fn plug(&self, namespace: &str, port: &str, address: usize, rate_mbps: Option<u32>) -> io::Result<()> {
        let (bridge, end) = (format!("{}bridge", self.prefix), format!("{}{namespace}", self.prefix));
        run(&format!(
            "ip -n {bridge} link add {port} type veth peer name up0 netns {end} && \
             ip -n {bridge} link set {port} master br0 up && \
             ip -n {end} addr add 10.77.0.{address}/24 dev up0 && ip -n {end} link set up0 up && \
             ip -n {end} route add 224.0.0.0/4 dev up0"
        ))?;
        match rate_mbps {
            // A tenth of a second of queue.
            Some(rate) => run(&format!(
                "tc -n {bridge} qdisc add dev {port} root tbf rate {rate}mbit burst 5kb limit {}",
                rate * 12_500
            )),
            None => Ok(()),
        }
    }

    /// Gives the namespace `origin` a link to that of the source alone, which forwards unicast packets between it and the receivers.
    pub(crate) fn add_origin(&self) {
        let (origin, source) = (format!("{}origin", self.prefix), format!("{}source", self.prefix));
        run(&format!(
            "ip -n {source} link add up1 type veth peer name up0 netns {origin} && \
             ip -n {source} addr add 10.78.0.1/24 dev up1 && ip -n {source} link set up1 up && \
             ip -n {origin} addr add 10.78.0.2/24 dev up0 && ip -n {origin} link set up0 up && \
             ip -n {origin} route add default via 10.78.0.1 && \
             ip -n {source} addr add fd78::1/64 dev up1 nodad && ip -n {source} addr add fd77::1/64 dev up0 nodad && \
             ip -n {origin} addr add fd78::2/64 dev up0 nodad && ip -n {origin} route add default via fd78::1 && \
             ip netns exec {source} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
        ))
        .expect("a link");
    }

    /// Runs a command in a namespace.
    pub(crate) fn run(&self, namespace: &str, command: &str) {
        let name = format!("{}{namespace}", self.prefix);
        run(&format!("ip netns exec {name} {command}")).expect("a command in a namespace");
    }

    /// What a command in a namespace prints.
    pub(crate) fn output(&self, namespace: &str, command: &str) -> String {
        let name = format!("{}{namespace}", self.prefix);
        let done = Command::new("sh").arg("-c").arg(format!("ip netns exec {name} {command}")).output();
        String::from_utf8_lossy(&done.expect("a command in a namespace").stdout).into_owned()
    }

    /// Starts this program in a namespace, with a role. It ends when its standard input closes, at the
    /// latest with this process.
    pub(crate) fn start(&self, namespace: &str, role: &str, log: &Path) -> Child {
        let log = File::create(log).expect("a log");
        Command::new("ip")
            .args(["netns", "exec", &format!("{}{namespace}", self.prefix)])
            .arg(std::env::current_exe().expect("a program"))
            .args(self.child_arguments)
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("ip netns exec")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
