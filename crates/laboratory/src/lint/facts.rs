//! What lints need to know of a scenario besides its plan: paths, and the load that links may be offered.

use std::collections::{BTreeMap, BTreeSet};

use layercast_core::units::{Rate, Size};
use layercast_simulator::QueueConfig;
use layercast_simulator::tcp::TcpOptions;

use crate::scenario::{
    DemandPlan, FlowEnd, FlowPlan, LinkDirection, Paths, QueuePlan, Scenario, SessionPlan, Traffic,
};

/// Loads in bit/s by the link before and the link that holds the flows back, if one does.
type Loads = BTreeMap<(Option<usize>, Option<usize>), f64>;

/// The directed links from one node to another, and how many flows of a table take them.
pub(super) struct Route {
    /// The node where it ends.
    pub(super) node: usize,
    /// How many flows or receivers end there.
    pub(super) count: usize,
    /// Directions of links: `2 n` is link n forward, `2 n + 1` backward.
    pub(super) links: Vec<usize>,
}

/// A session or flows of a scenario, as it names them, with their paths.
#[derive(Clone, Copy)]
pub(super) struct Table<'t> {
    pub(super) kind: &'static str,
    pub(super) name: &'t str,
    pub(super) routes: &'t [Route],
}

impl Table<'_> {
    pub(super) fn subject(self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    /// The path of the table.
    pub(super) fn path(self) -> String {
        format!("{}s.{}", self.kind, self.name)
    }
}

/// What is known of a scenario.
pub(super) struct Facts<'s> {
    pub(super) scenario: &'s Scenario,
    /// The names of the directions.
    pub(super) names: Vec<String>,
    /// The paths of each session, one to each node with receivers.
    pub(super) sessions: Vec<Vec<Route>>,
    /// The paths of each table of flows, one to each node where some end.
    pub(super) flows: Vec<Vec<Route>>,
}

impl<'s> Facts<'s> {
    pub(super) fn of(scenario: &'s Scenario) -> Facts<'s> {
        let mut paths = Paths::of(scenario);
        let sessions =
            scenario.sessions.iter().map(|plan| routes(&mut paths, plan.source, &plan.receivers)).collect();
        let flows = scenario.flows.iter().map(|plan| routes(&mut paths, plan.from, &plan.to)).collect();
        Facts { scenario, names: scenario.link_names(), sessions, flows }
    }

    /// The plan of a direction.
    pub(super) fn direction(&self, index: usize) -> &'s LinkDirection {
        direction(self.scenario, index)
    }

    /// The tables of flows with their paths.
    pub(super) fn flow_tables(&self) -> impl Iterator<Item = (&'s FlowPlan, &[Route])> {
        self.scenario.flows.iter().zip(self.flows.iter().map(Vec::as_slice))
    }

    /// The sessions with their paths.
    pub(super) fn session_tables(&self) -> impl Iterator<Item = (&'s SessionPlan, &[Route])> {
        self.scenario.sessions.iter().zip(self.sessions.iter().map(Vec::as_slice))
    }

    /// The round-trip time of a packet on an idle path, in seconds, without the time of the acknowledgement on the
    /// links.
    pub(super) fn rtt_s(&self, route: &Route, packet: Size) -> f64 {
        let one = |&link: &usize| {
            let (there, back) = (self.direction(link), self.direction(link ^ 1));
            let bits = packet.as_bits() as f64;
            there.delay.low().as_secs_f64() + back.delay.low().as_secs_f64() + bits / there.rate.as_bps()
        };
        route.links.iter().map(one).sum()
    }

    /// The most that a TCP sends on an idle path: its window in each round-trip time, in bit/s.
    pub(super) fn window_bps(&self, route: &Route, options: &TcpOptions) -> f64 {
        let bits = f64::from(options.window) * options.packet_size.as_bits() as f64;
        bits / self.rtt_s(route, options.packet_size)
    }

    /// For each direction, the load in bit/s that it may be offered for long. A TCP fills the slowest link of its
    /// path as far as its window allows, and sends no faster than that link elsewhere; constant rates and layers
    /// come as they are. What comes by one link is no more than that link carries.
    pub(super) fn offered_bps(&self) -> Vec<f64> {
        let mut by_link: Vec<Loads> = vec![BTreeMap::new(); self.names.len()];
        for (plan, routes) in self.flow_tables() {
            let total: usize = routes.iter().map(|route| route.count).sum();
            for route in routes {
                let peak = self.peak_bps(plan, route, total) * route.count as f64;
                let is_tcp = matches!(plan.traffic, Traffic::Tcp { .. });
                let slowest = self.slowest(route).filter(|_| is_tcp);
                let mut before = None;
                for &link in &route.links {
                    *by_link[link].entry((before, slowest)).or_default() += peak;
                    before = Some(link);
                }
            }
        }
        for (plan, routes) in self.session_tables() {
            // One copy passes each link, however many receivers are behind it.
            let mut seen = BTreeSet::new();
            for route in routes {
                let mut before = None;
                for &link in &route.links {
                    if seen.insert(link) {
                        *by_link[link].entry((before, None)).or_default() += plan.layers.top_rate().as_bps();
                    }
                    before = Some(link);
                }
            }
        }
        let rate = |link: usize| self.direction(link).rate.as_bps();
        let offered = |(link, loads): (usize, &Loads)| {
            let mut from: BTreeMap<Option<usize>, f64> = BTreeMap::new();
            for (&(before, slowest), &load) in loads {
                let held_back = slowest.filter(|slowest| *slowest != link);
                *from.entry(before).or_default() += held_back.map_or(load, |slowest| load.min(rate(slowest)));
            }
            from.into_iter().map(|(before, load)| before.map_or(load, |before| load.min(rate(before)))).sum()
        };
        by_link.iter().enumerate().map(offered).collect()
    }

    /// The first of the slowest links of a path.
    fn slowest(&self, route: &Route) -> Option<usize> {
        let rate = |link: &usize| self.direction(*link).rate.as_bps();
        route.links.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b)))
    }

    /// What one flow of a table of `total` may send for long, in bit/s.
    fn peak_bps(&self, plan: &FlowPlan, route: &Route, total: usize) -> f64 {
        match &plan.traffic {
            Traffic::Udp { rate, pauses: None, .. } => rate.as_bps(),
            Traffic::Udp { rate, pauses: Some((on, off)), .. } => {
                rate.as_bps() * on.mean() / (on.mean() + off.mean()).max(f64::MIN_POSITIVE)
            }
            Traffic::Tcp { options, demand } => {
                let bps = match demand {
                    DemandPlan::Arrivals { size, gap } => {
                        mean_bps(size.mean(), gap.mean()) / total.max(1) as f64
                    }
                    // A new one waits for the end of the one before: this is the most.
                    DemandPlan::Transfers { size, gap } if plan.kind.is_some() => {
                        mean_bps(size.mean(), gap.mean())
                    }
                    DemandPlan::Pages(pages) => {
                        mean_bps(pages.page.mean(), pages.parse_s.mean() + pages.reading_s.mean())
                    }
                    DemandPlan::Player(player) => player.ladder.last().map_or(0.0, |rate| rate.as_bps()),
                    DemandPlan::Transfers { .. } | DemandPlan::OnOff { .. } | DemandPlan::Endless => {
                        f64::INFINITY
                    }
                };
                bps.min(self.window_bps(route, options))
            }
        }
    }

    /// For each direction, how many TCP flows with much to send, constant-rate flows and sessions pass it.
    pub(super) fn sharers(&self) -> Vec<usize> {
        let mut sharers = vec![0; self.names.len()];
        for (plan, routes) in self.flow_tables().filter(|(plan, _)| sends_much(plan)) {
            debug_assert!(!plan.to.is_empty(), "a table without flows is left out when it is read");
            for route in routes {
                route.links.iter().for_each(|&link| sharers[link] += route.count);
            }
        }
        for (_, routes) in self.session_tables() {
            let links: BTreeSet<usize> =
                routes.iter().flat_map(|route| route.links.iter().copied()).collect();
            links.into_iter().for_each(|link| sharers[link] += 1);
        }
        sharers
    }
}

/// So many bytes in each of such times, in bit/s.
fn mean_bps(bytes: f64, seconds: f64) -> f64 {
    bytes * 8.0 / seconds.max(f64::MIN_POSITIVE)
}

/// A rate in three digits.
pub(super) fn rounded(bps: f64) -> String {
    let unit = [1e9, 1e6, 1e3].into_iter().find(|unit| bps >= *unit).unwrap_or(1.0);
    let digits = if bps / unit >= 100.0 {
        1.0
    } else if bps / unit >= 10.0 {
        10.0
    } else {
        100.0
    };
    Rate::from_bps((bps / unit * digits).round() / digits * unit).to_string()
}

/// The plan of a direction of a link.
pub(super) fn direction(scenario: &Scenario, index: usize) -> &LinkDirection {
    let link = &scenario.links[index / 2];
    if index.is_multiple_of(2) { &link.forward } else { &link.backward }
}

/// What a queue that controls its delay is called.
pub(super) fn controls_delay(queue: &QueuePlan) -> Option<&'static str> {
    match queue {
        QueueConfig::CoDel(_) => Some("CoDel"),
        QueueConfig::FqCoDel(_) => Some("FQ-CoDel"),
        QueueConfig::Pie(_) => Some("PIE"),
        QueueConfig::DualPi2(_) => Some("DualPI2"),
        QueueConfig::DropTail(_) | QueueConfig::Red(_) | QueueConfig::Rem(_) | QueueConfig::Fair(_) => None,
    }
}

/// Whether a flow has more to send than a few windows: whether the window can matter.
pub(super) fn sends_much(plan: &FlowPlan) -> bool {
    match &plan.traffic {
        Traffic::Udp { .. } => true,
        Traffic::Tcp { options, demand } => match demand {
            DemandPlan::Endless | DemandPlan::OnOff { .. } => true,
            DemandPlan::Transfers { size, .. } | DemandPlan::Arrivals { size, .. } => {
                size.mean() > window_bytes(options)
            }
            DemandPlan::Pages(pages) => pages.page.mean() > window_bytes(options),
            DemandPlan::Player(player) => {
                let top = player.ladder.last().map_or(0.0, |rate| rate.as_bytes_per_s());
                top * player.segment.as_secs_f64() > window_bytes(options)
            }
        },
    }
}

fn window_bytes(options: &TcpOptions) -> f64 {
    f64::from(options.window) * f64::from(options.packet_size.as_bytes())
}

/// The paths from a node to the places where flows end, each node once.
fn routes(paths: &mut Paths<'_>, from: usize, ends: &[FlowEnd]) -> Vec<Route> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    ends.iter().for_each(|end| *counts.entry(end.node).or_default() += 1);
    let routes = counts.into_iter().map(|(node, count)| Route { node, count, links: paths.path(from, node) });
    routes.collect()
}
