//! What a scenario may ask for that the emulated world has not, said before a run.

use std::fmt;

use layercast_core::layers::Phases;
use layercast_laboratory::scenario::{DemandPlan, FlowPlan, Quantity, Scenario, SessionPlan, Traffic};
use layercast_simulator::tcp::{TcpProfile, TcpVariant};

use super::WorldOptions;
use super::relays::HEADER_MAX;
use super::sessions::{channels, example_arguments};

/// The file in which the kernel lists its congestion controls.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// The smallest packet of a TCP: the kernel's smallest maximum segment size with headers and options.
const SMALLEST_TCP: u32 = 200;
/// The smallest datagram: headers and the time at which it was sent.
const SMALLEST_UDP: u32 = 36;
/// The largest packet that a device can carry.
const LARGEST: u32 = 65_000;

/// A scenario asks for what the emulated world has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Each thing, with a remedy.
    pub reasons: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the scenario cannot run in the emulated world:")?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))
    }
}

impl std::error::Error for Refused {}

/// The congestion controls that this kernel has loaded; none if it does not say.
#[must_use]
pub fn congestion_controls() -> Option<Vec<String>> {
    let list = std::fs::read_to_string(AVAILABLE).ok()?;
    Some(list.split_whitespace().map(str::to_owned).collect())
}

/// The kernel's name of a congestion control. All its TCPs have selective acknowledgements, so `reno` stands for the
/// variants that differ in loss recovery alone.
pub(super) fn congestion_control(variant: TcpVariant) -> Option<&'static str> {
    match variant {
        TcpVariant::Reno | TcpVariant::NewReno | TcpVariant::Sack | TcpVariant::Sack6675 => Some("reno"),
        TcpVariant::Cubic => Some("cubic"),
        TcpVariant::Bbr => Some("bbr"),
        TcpVariant::Vegas => Some("vegas"),
        TcpVariant::Tahoe => None,
    }
}

/// The size of the largest packet of a scenario in bytes.
pub(super) fn largest_packet(scenario: &Scenario) -> u32 {
    let header = |plan: &SessionPlan| if plan.relays.is_empty() { 0 } else { HEADER_MAX };
    let sessions = scenario.sessions.iter().map(|plan| plan.packet_size.as_bytes() + header(plan));
    let flows = scenario.flows.iter().map(|plan| packet_bytes(&plan.traffic));
    sessions.chain(flows).max().unwrap_or(0)
}

fn packet_bytes(traffic: &Traffic) -> u32 {
    match traffic {
        Traffic::Tcp { options, .. } => options.packet_size.as_bytes(),
        Traffic::Udp { packet_size, .. } => packet_size.as_bytes(),
    }
}

pub(super) fn check(scenario: &Scenario, options: &WorldOptions<'_>) -> Result<(), Refused> {
    let mut reasons = Vec::new();
    for (index, plan) in scenario.sessions.iter().enumerate() {
        let name = &plan.name;
        session(plan, &mut reasons);
        if let Err(error) = (options.check)(&example_arguments(scenario, index)) {
            reasons.push(format!("session {name}: {}", error.trim_end()));
        }
    }
    let available = congestion_controls();
    for plan in &scenario.flows {
        flow(plan, available.as_deref(), &mut reasons);
    }
    for edge in scenario.edges.iter().filter(|edge| edge.crash.is_some()) {
        let node = scenario.nodes.get(edge.node).map_or("", String::as_str);
        reasons.push(format!("edge {node}: hosts do not crash there; leave out `crash`"));
    }
    for probe in &scenario.probes {
        for what in &probe.what {
            if let Some(reason) = quantity(*what) {
                reasons.push(format!("probe {}: {reason}", probe.name));
            }
        }
    }
    if largest_packet(scenario) > LARGEST {
        reasons.push(format!("packets have at most {LARGEST} bytes; make `packet_size` smaller"));
    }
    reasons.dedup();
    if reasons.is_empty() { Ok(()) } else { Err(Refused { reasons }) }
}

fn session(plan: &SessionPlan, reasons: &mut Vec<String>) {
    let name = &plan.name;
    if plan.packets.is_some() {
        reasons.push(format!(
            "session {name}: sessions of a number of packets are simulated only; leave out `packets`, or distribute an `object`"
        ));
    }
    if plan.routers.active.is_some() || plan.routers.failure.is_some() {
        reasons.push(format!("session {name}: no router takes part; leave out the routers"));
    }
    if plan.layers.phases() != Phases::default() {
        reasons.push(format!(
            "session {name}: layers of sources on real networks begin at random; leave out `phases`"
        ));
    }
    if channels(plan) == 0 {
        reasons.push(format!("session {name}: it has no channels"));
    }
}

fn flow(plan: &FlowPlan, available: Option<&[String]>, reasons: &mut Vec<String>) {
    let name = &plan.name;
    let bytes = packet_bytes(&plan.traffic);
    match &plan.traffic {
        Traffic::Udp { .. } => {
            if bytes < SMALLEST_UDP {
                reasons.push(format!(
                    "flow {name}: packets have at least {SMALLEST_UDP} bytes; raise `packet_size`"
                ));
            }
        }
        Traffic::Tcp { options, demand } => {
            if bytes < SMALLEST_TCP {
                reasons.push(format!(
                    "flow {name}: packets have at least {SMALLEST_TCP} bytes; raise `packet_size`"
                ));
            }
            let what = match demand {
                DemandPlan::Pages(_) => Some("web"),
                DemandPlan::Player(_) => Some("video"),
                _ => None,
            };
            if let Some(what) = what {
                reasons.push(format!(
                    "flow {name}: `traffic = \"{what}\"` is simulated only; use `download` or `transfers`, or set other flows in its place"
                ));
            }
            let variant = options.variant.name();
            match congestion_control(options.variant) {
                None => reasons.push(format!(
                    "flow {name}: no Linux kernel has {variant}; use tcp-reno, tcp-cubic or tcp-bbr"
                )),
                Some(control) if available.is_some_and(|known| !known.iter().any(|one| one == control)) => {
                    let known = available.unwrap_or_default().join(", ");
                    reasons.push(format!(
                        "flow {name}: the kernel here has no {control} for {variant}, but {known}; load it with `modprobe tcp_{control}`"
                    ));
                }
                Some(_) => {}
            }
        }
    }
}

/// Why a quantity cannot be probed.
fn quantity(what: Quantity) -> Option<String> {
    match what {
        Quantity::Cwnd | Quantity::Ssthresh | Quantity::Flight => Some(format!(
            "`{}` of a kernel's TCP is not known here; look at it with `ss -ti` in the host",
            what.name()
        )),
        Quantity::Gauge(_) => {
            Some(format!("gauges such as `{}` are simulated only; use level, rate_kbps or loss", what.name()))
        }
        _ => None,
    }
}

/// What a reader of the results should know of how the scenario was carried over.
pub(super) fn remarks(scenario: &Scenario) -> Vec<String> {
    let mut remarks = Vec::new();
    let tcps = || {
        scenario.flows.iter().filter_map(|plan| match &plan.traffic {
            Traffic::Tcp { options, .. } => Some((plan, options)),
            Traffic::Udp { .. } => None,
        })
    };
    let is_other = |variant| {
        matches!(variant, TcpVariant::NewReno | TcpVariant::Sack | TcpVariant::Sack6675 | TcpVariant::Reno)
    };
    let mut names: Vec<&str> = tcps()
        .map(|(_, options)| options.variant)
        .filter(|variant| is_other(*variant))
        .map(TcpVariant::name)
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        remarks.push(format!(
            "In place of {} the kernel's reno ran, whose loss recovery is that of current Linux.",
            names.join(", ")
        ));
    }
    if tcps().any(|(_, options)| options.profile != TcpProfile::Linux) {
        remarks.push(
            "The TCPs are the kernel's own: of their options only packet_size, ecn and a window below 3 MB had an effect, whatever the profile."
                .to_owned(),
        );
    }
    if scenario.sessions.iter().any(|plan| !plan.relays.is_empty()) {
        remarks.push(
            "Relays stood for the multicast of the network: join_latency, leave_latency and edges had no effect on their \
             sessions."
                .to_owned(),
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use layercast_laboratory::scenario::{Catalogue, read};
    use layercast_protocols::registry::Registry;

    use super::*;

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            "name = \"x\"\nduration = \"1 s\"\nreplications = 1\n[links]\nA-B = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n{more}"
        );
        read("x.toml", &text, &[], &Catalogue::of::<Registry>()).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn refused(more: &str) -> Vec<String> {
        let options = WorldOptions {
            program: "layercast".into(),
            check: &|_| Ok(()),
            read_relayed: |_| None,
            limit: layercast_core::units::Duration::from_ms(1),
        };
        check(&scenario(more), &options).err().map_or(Vec::new(), |refused| refused.reasons)
    }

    #[test]
    fn what_the_emulated_world_has_not_is_named_with_a_remedy() {
        let flow = |what: &str| format!("[flows]\nf = {{ from = \"A\", to = [\"B\"], {what} }}");
        assert_eq!(refused(&flow("protocol = \"tcp-reno\"")), Vec::<String>::new());
        assert_eq!(refused(&flow("protocol = \"udp\", rate = \"100 kbit/s\"")), Vec::<String>::new());
        for (what, reason) in [
            ("protocol = \"tcp-tahoe\"", "flow f: no Linux kernel has tcp-tahoe; use tcp-reno"),
            ("protocol = \"tcp-reno\", traffic = \"web\"", "flow f: `traffic = \"web\"` is simulated only"),
            (
                "protocol = \"tcp-reno\", traffic = \"video\"",
                "flow f: `traffic = \"video\"` is simulated only",
            ),
            (
                "protocol = \"tcp-reno\", packet_size = \"100 bytes\"",
                "flow f: packets have at least 200 bytes",
            ),
        ] {
            let reasons = refused(&flow(what));
            assert!(reasons.iter().any(|one| one.starts_with(reason)), "{what}: {reasons:?}");
        }
    }

    #[test]
    fn a_congestion_control_that_is_not_loaded_is_named() {
        let plan = scenario("[flows]\nf = { protocol = \"tcp-bbr\", from = \"A\", to = [\"B\"] }");
        let mut reasons = Vec::new();
        flow(&plan.flows[0], Some(&["reno".to_owned(), "cubic".to_owned()]), &mut reasons);
        let expected = "flow f: the kernel here has no bbr for tcp-bbr, but reno, cubic; load it with `modprobe tcp_bbr`";
        assert_eq!(reasons, [expected]);
    }

    #[test]
    fn what_the_transport_refuses_is_passed_on() {
        let more = "[sessions.s]\nprotocol = \"fixed\"\nsource = \"A\"\nreceivers = [\"B\"]\nlayers = { scheme = \"doubling\", base = \"10 kbit/s\", count = 2 }";
        assert_eq!(refused(more), Vec::<String>::new());
        let together = more.replace("count = 2", "count = 2, phases = \"together\"");
        assert_eq!(
            refused(&together),
            ["session s: layers of sources on real networks begin at random; leave out `phases`"]
        );
        let plan = scenario(more);
        let refuses = WorldOptions {
            program: "layercast".into(),
            check: &|_| Err("no".to_owned()),
            read_relayed: |_| None,
            limit: layercast_core::units::Duration::from_ms(1),
        };
        assert_eq!(check(&plan, &refuses).unwrap_err().reasons, ["session s: no"]);
    }

    #[test]
    fn probes_of_what_is_not_known_are_refused() {
        let more = "[flows]\nf = { protocol = \"tcp-reno\", from = \"A\", to = [\"B\"] }\n[probes.p]\nof = \"flow f@B\"\nwhat = [\"throughput_kbps\", \"cwnd_packets\"]";
        let reasons = refused(more);
        assert_eq!(reasons.len(), 1);
        assert!(reasons[0].starts_with("probe p: `cwnd_packets` of a kernel's TCP"));
    }
}
