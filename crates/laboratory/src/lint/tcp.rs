//! TCPs against their paths: windows that limit them, lockstep, and papers' TCPs at queues of today.

use std::collections::BTreeMap;

use layercast_simulator::QueueConfig;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};

use super::Doubt;
use super::facts::{Facts, Route, controls_delay, rounded, sends_much};
use super::list::{LOCKSTEP, PAPER_TCP, WINDOW_BELOW_PATH};
use crate::scenario::{FlowPlan, QueueLimit, Traffic};

/// Tables of TCP flows that something is doubtful about.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = windows(facts);
    doubts.extend(lockstep(facts));
    doubts.extend(paper_tcps(facts));
    doubts
}

/// The tables of TCP flows, with their options and paths.
fn tcps<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = (&'f FlowPlan, &'f TcpOptions, &'f [Route])> {
    facts.flow_tables().filter_map(|(plan, routes)| match &plan.traffic {
        Traffic::Tcp { options, .. } => Some((plan, options, routes)),
        Traffic::Udp { .. } => None,
    })
}

fn paths(name: &str, key: &str) -> Vec<String> {
    vec![format!("flows.{name}.{key}"), format!("defaults.flow.{key}"), format!("flows.{name}")]
}

/// Windows below the rate that a flow could have times its round-trip time.
fn windows(facts: &Facts<'_>) -> Vec<Doubt> {
    let sharers = facts.sharers();
    let mut doubts = Vec::new();
    for (plan, options, routes) in tcps(facts).filter(|(plan, ..)| sends_much(plan)) {
        let share = |route: &Route| {
            let shares = route.links.iter().map(|&link| {
                let rate = facts.direction(link).rate.as_bps() / sharers[link].max(1) as f64;
                (link, rate)
            });
            shares.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let limited: Vec<_> = routes
            .iter()
            .filter_map(|route| {
                let ((link, share), most) = (share(route)?, facts.window_bps(route, options));
                (most < share).then_some((route, link, share, most))
            })
            .collect();
        let worst = limited.iter().max_by(|a, b| (a.2 / a.3).total_cmp(&(b.2 / b.3)));
        let Some(&(route, link, share, most)) = worst else { continue };
        let needed = (f64::from(options.window) * share / most).ceil();
        let (node, rtt_ms) =
            (&facts.scenario.nodes[route.node], facts.rtt_s(route, options.packet_size) * 1e3);
        let also = match limited.len() - 1 {
            0 => String::new(),
            more => {
                format!(", and less than their share to {more} more node{}", if more == 1 { "" } else { "s" })
            }
        };
        doubts.push(Doubt {
            lint: WINDOW_BELOW_PATH,
            subject: format!("flow {}", plan.name),
            paths: paths(&plan.name, "window"),
            message: format!(
                "its window of {} packets allows {} to {node}, {rtt_ms:.0} ms there and back, where its share of {} \
                 is {}{also}",
                options.window,
                rounded(most),
                facts.names[link],
                rounded(share),
            ),
            remedy: format!("`window = {needed}` or more, such as 10000, so that the network limits the flow"),
        });
    }
    doubts
}

/// What makes two flows equal: variant, size of packets, round-trip time in microseconds.
type Rhythm = (&'static str, u32, u64);

/// Equal flows that answer at once, in one drop-tail queue that they can fill.
fn lockstep(facts: &Facts<'_>) -> Vec<Doubt> {
    let offered = facts.offered_bps();
    // For each direction and rhythm: how many flows, and of which tables.
    let mut groups: BTreeMap<(usize, Rhythm), (usize, Vec<&str>)> = BTreeMap::new();
    for (plan, options, routes) in tcps(facts) {
        if !sends_much(plan) || is_out_of_step(options) {
            continue;
        }
        for route in routes {
            let rtt_us = (facts.rtt_s(route, options.packet_size) * 1e6).round() as u64;
            let rhythm = (options.variant.name(), options.packet_size.as_bytes(), rtt_us);
            for &link in route.links.iter().filter(|&&link| drops_at_tail(facts, link)) {
                if offered[link] > facts.direction(link).rate.as_bps() {
                    let group = groups.entry((link, rhythm)).or_default();
                    group.0 += route.count;
                    group.1.push(&plan.name);
                }
            }
        }
    }
    // One finding for the tables that are in step somewhere, at the slowest of the links.
    let mut by_tables: BTreeMap<Vec<&str>, (usize, usize, u32, usize)> = BTreeMap::new();
    for ((link, (_, packet, _)), (count, tables)) in groups.into_iter().filter(|(_, (count, _))| *count > 1) {
        let found = by_tables.entry(tables).or_insert((link, count, packet, 0));
        found.3 += 1;
        if facts.direction(link).rate < facts.direction(found.0).rate {
            *found = (link, count, packet, found.3);
        }
    }
    let doubt = |(tables, (link, count, packet, links)): (Vec<&str>, (usize, usize, u32, usize))| {
        let us = f64::from(packet) * 8e6 / facts.direction(link).rate.as_bps();
        let more = match links - 1 {
            0 => String::new(),
            more => format!(", and at {more} more"),
        };
        Doubt {
            lint: LOCKSTEP,
            subject: format!("flow {}", tables.join(", ")),
            paths: paths(tables.first().unwrap_or(&""), "overhead"),
            message: format!(
                "{count} equal flows that answer at once share the drop-tail queue of {}{more}: who loses is decided \
                 by their rhythm",
                facts.names[link]
            ),
            remedy: format!(
                "`overhead = \"{}\"`, a packet's time on {}, or `overhead = \"automatic\"`",
                time(us),
                facts.names[link]
            ),
        }
    };
    by_tables.into_iter().map(doubt).collect()
}

/// Microseconds as a scenario file writes them.
fn time(us: f64) -> String {
    let (value, unit) = if us >= 1e3 { (us / 1e3, "ms") } else { (us, "us") };
    format!("{} {unit}", (value * 10.0).ceil() / 10.0)
}

/// Whether something puts the packets of equal senders out of step: a random time, or paces of their own.
fn is_out_of_step(options: &TcpOptions) -> bool {
    options.overhead.is_none_or(|overhead| !overhead.is_zero()) || options.variant == TcpVariant::Bbr
}

fn drops_at_tail(facts: &Facts<'_>, link: usize) -> bool {
    let queue = &facts.direction(link).queue;
    matches!(queue, QueueConfig::DropTail(_)) && queue.limit() != Some(QueueLimit::Unlimited)
}

/// TCPs of papers that pass queues of today.
fn paper_tcps(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (plan, options, routes) in tcps(facts) {
        let profile = match options.profile {
            TcpProfile::Ns2 => "ns2",
            TcpProfile::Ns2Year2004 => "ns2-2004",
            TcpProfile::Ns2Year2000 => "ns2-2000",
            TcpProfile::Linux => continue,
        };
        let modern = routes.iter().flat_map(|route| &route.links);
        let mut modern =
            modern.filter_map(|&link| Some((link, controls_delay(&facts.direction(link).queue)?)));
        let Some((link, queue)) = modern.next() else { continue };
        doubts.push(Doubt {
            lint: PAPER_TCP,
            subject: format!("flow {}", plan.name),
            paths: paths(&plan.name, "profile"),
            message: format!(
                "its TCP is that of ns-2 (profile `{profile}`), but the queue of {} is {queue}",
                facts.names[link]
            ),
            remedy: "`profile = \"linux\"`, or the queue of the paper".to_owned(),
        });
    }
    doubts
}
