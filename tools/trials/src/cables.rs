//! Real links: namespaces around a bridge that takes part in IGMP, each behind a token bucket of the kernel.
//!
//! The emulated network of [`wire`](crate::wire) costs a processor from some 100 Mbit/s on; these links cost what the
//! kernel takes.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::Place;

/// How long a querier must run before a bridge uses what it has learnt, with the intervals set below.
const SNOOPING_STARTS: Duration = Duration::from_secs(4);

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The link to a namespace.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    /// Its rate in Mbit/s; none for what the machine can.
    pub mbps: Option<f64>,
    /// The queue before it, in ms.
    pub queue_ms: u64,
}

/// The namespaces. All of them, and the programs in them, are removed when this is dropped or the process ends.
#[derive(Debug)]
pub struct Cables {
    prefix: String,
    guard: Child,
}

fn run(command: &str) -> Result<()> {
    let done = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).output()?;
    if !done.status.success() {
        bail!("{command}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

impl Cables {
    /// A namespace for a source, and one behind each link. The bridge prunes a tenth of a second after a leave.
    ///
    /// # Errors
    /// What the system does not allow: it needs root, iproute2, veth, bridge and tbf.
    pub fn new(links: &[Cable]) -> Result<Cables> {
        Cables::with_leave(links, 100)
    }

    /// As above, with a bridge whose leave latency is `ms`, a multiple of 10.
    ///
    /// # Errors
    /// Those of [`Cables::new`].
    pub fn with_leave(links: &[Cable], leave_ms: u64) -> Result<Cables> {
        let leave = (leave_ms / 10).max(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("lct{}-{number}-", std::process::id());
        run("ip -V && tc -V")?;
        let names = ["bridge".to_owned(), "source".to_owned()].into_iter();
        let names: Vec<String> = names
            .chain((0..links.len()).map(|place| place.to_string()))
            .map(|name| prefix.clone() + &name)
            .collect();
        let remove: String = names
            .iter()
            .map(|name| {
                format!("ip netns pids {name} 2>/dev/null | xargs -r kill -9 2>/dev/null; ip netns del {name} 2>/dev/null;")
            })
            .collect();
        // The guard starts first, so that nothing exists without it.
        let guard = Command::new("setsid")
            .args(["sh", "-c", &format!("cat >/dev/null; {remove} true")])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let cables = Cables { prefix, guard };
        for name in &names {
            run(&format!("ip netns add {name} && ip -n {name} link set lo up"))?;
        }
        let bridge = cables.name("bridge");
        run(&format!(
            "ip -n {bridge} link add br0 type bridge mcast_snooping 1 mcast_igmp_version 3 \
             mcast_query_response_interval 100 mcast_startup_query_interval 100 \
             mcast_last_member_interval {leave} mcast_last_member_count 1 && ip -n {bridge} link set br0 up && \
             ip -n {bridge} link set br0 type bridge mcast_querier 1"
        ))?;
        cables.plug("source", 1, None)?;
        for (place, link) in links.iter().enumerate() {
            cables.plug(&place.to_string(), place + 2, Some(*link))?;
        }
        thread::sleep(SNOOPING_STARTS);
        Ok(cables)
    }

    fn name(&self, end: &str) -> String {
        format!("{}{end}", self.prefix)
    }

    fn plug(&self, end: &str, address: usize, link: Option<Cable>) -> Result<()> {
        let (bridge, namespace) = (self.name("bridge"), self.name(end));
        let shaped = link.and_then(|link| Some((link.mbps?, link.queue_ms)));
        let (master, port) =
            (if shaped.is_some() { format!("l{end}") } else { "br0".to_owned() }, format!("p{end}"));
        if shaped.is_some() {
            self.cut_runs(end)?;
        }
        run(&format!(
            "ip -n {bridge} link add {port} type veth peer name up0 netns {namespace} && \
             ip -n {bridge} link set {port} master {master} up && \
             ip -n {namespace} addr add 10.78.0.{address}/24 dev up0 && ip -n {namespace} link set up0 up && \
             ip -n {namespace} route add 224.0.0.0/4 dev up0"
        ))?;
        let Some((mbps, queue_ms)) = shaped else { return Ok(()) };
        // A bucket of 2 ms, as timers are not more exact, and of some packets at least.
        let burst = (mbps * 250.0).max(5_000.0);
        run(&format!(
            "tc -n {bridge} qdisc add dev {port} root tbf rate {mbps}mbit burst {burst:.0} latency {queue_ms}ms"
        ))
    }

    /// A bridge of its own before a shaped link, over a cable that cuts the runs of packets that a kernel sends as one,
    /// as a network card does: no link behind one carries them, and a queue that takes or drops a run whole favours the
    /// flow with the longer ones. It has to be a cable before the queue, since a queue is given runs and the device
    /// behind it cuts them.
    fn cut_runs(&self, end: &str) -> Result<()> {
        let bridge = self.name("bridge");
        run(&format!(
            "ip -n {bridge} link add l{end} type bridge mcast_snooping 0 && ip -n {bridge} link set l{end} up && \
             ip -n {bridge} link add c{end} type veth peer name i{end} && \
             ip -n {bridge} link set dev c{end} gso_max_segs 1 master br0 up && \
             ip -n {bridge} link set i{end} master l{end} up"
        ))
    }

    /// Loses a share of the multicast packets that arrive behind a link, at random.
    ///
    /// # Errors
    /// Where nft cannot be used.
    pub fn lose(&self, number: usize, share: f64) -> Result<()> {
        if share <= 0.0 {
            return Ok(());
        }
        let (namespace, of) = (self.name(&number.to_string()), (share * 1e5).round());
        run(&format!(
            "ip netns exec {namespace} nft 'add table inet loss; \
             add chain inet loss in {{ type filter hook prerouting priority -300; }}; \
             add rule inet loss in ip daddr 224.0.0.0/4 meta l4proto udp numgen random mod 100000 < {of} drop'"
        ))
    }

    /// Where the source runs.
    pub fn source(&self) -> Place {
        Place::Namespace(self.name("source"))
    }

    /// Where programs behind a link run.
    pub fn receiver(&self, number: usize) -> Place {
        Place::Namespace(self.name(&number.to_string()))
    }

    /// The address of the host behind a link.
    pub fn receiver_address(number: usize) -> std::net::Ipv4Addr {
        std::net::Ipv4Addr::new(10, 78, 0, number as u8 + 2)
    }

    /// Packets that the queue before a link dropped so far.
    pub fn dropped(&self, number: usize) -> Option<u64> {
        let bridge = self.name("bridge");
        let output = Command::new("tc")
            .args(["-n", &bridge, "-s", "qdisc", "show", "dev", &format!("p{number}")])
            .output();
        let text = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
        text.split("dropped ").nth(1)?.split(',').next()?.trim().parse().ok()
    }
}

impl Drop for Cables {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
