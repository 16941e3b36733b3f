//! The sessions of a scenario: groups, receivers, and the arguments of their endpoints.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::session::SessionPlan as Session;
use layercast_core::stream::Stream;
use layercast_core::wire::DATA_PORT;
use layercast_laboratory::run::{WorldFlow, WorldFlowId, outside};
use layercast_laboratory::scenario::{Scenario, SessionPlan as Plan};
use layercast_simulator::ObjectConfig;

use super::endpoints::{EndpointPlan, Role};
use super::hosts::{Hosts, Use, receivers};
use super::relays::{self, Relays};
use crate::emulation::{Emulation, ReadRelayed, ReceiverPlan, SessionPlan};
use crate::error::Error;
use crate::host::HostId;

/// The first port for reports; each session has one.
const FIRST_FEEDBACK_PORT: u16 = 6000;

/// A session that was added.
pub(super) struct Added {
    pub(super) channels: u16,
    pub(super) endpoints: Vec<EndpointPlan>,
}

/// How many channels a session has.
pub(super) fn channels(plan: &Plan) -> u16 {
    let session = Session { layers: plan.layers.clone(), packet_size: plan.packet_size };
    plan.protocol.requirements().channels(&session)
}

/// The group of a channel: sessions have 65 536 addresses each.
fn group(session: usize, channel: u16) -> Ipv4Addr {
    let [high, low] = channel.to_be_bytes();
    Ipv4Addr::new(239, 1 + (session % 250) as u8, high, low)
}

/// Adds a session to the emulation, and its receivers to the flows.
///
/// # Errors
/// If the network does not connect its ends.
pub(super) fn add(
    emulation: &mut Emulation,
    read_relayed: ReadRelayed,
    scenario: &Scenario,
    index: usize,
    seed: u64,
    hosts: &Hosts,
    flows: &mut Vec<WorldFlow>,
) -> Result<Added, Error> {
    let plan = &scenario.sessions[index];
    let count = channels(plan);
    let source = hosts.get(Use::of(plan.source, false));
    let places: Vec<HostId> = receivers(plan.receivers.iter().map(|end| end.node))
        .into_iter()
        .map(|wanted| hosts.get(wanted))
        .collect();
    let latencies = (outside::latency(plan.join_latency), outside::latency(plan.leave_latency));
    let ids = emulation.add_session(SessionPlan {
        name: plan.name.clone(),
        source,
        groups: (0..count).map(|channel| IpAddr::V4(group(index, channel))).collect(),
        receivers: places
            .iter()
            .map(|&host| ReceiverPlan { host, join_latency: latencies.0, leave_latency: latencies.1 })
            .collect(),
        start: outside::session_start(plan, seed),
        stop: plan.stop,
    })?;
    if let (Some(object), Some(id)) = (plan.object, ids.first()) {
        let packets = object.packets(plan.packet_size, false);
        let leave_when_complete = object.leave_when_complete;
        let config = ObjectConfig { packets, leave_when_complete };
        emulation.simulation_mut().distribute(id.session(), config);
    }
    let address = |host| emulation.host(host).map_or(Ipv4Addr::UNSPECIFIED, crate::Host::ipv4);
    let ends = Ends { scenario, plan, index, seed, source: address(source) };
    let relays = Relays::of(scenario, index, hosts);
    let is_relayed = relays.is_some();
    let mut endpoints = vec![EndpointPlan {
        host: source,
        name: format!("the source of {}", plan.name),
        role: Role::Source,
        session: index,
        is_relayed,
        arguments: ends.source(),
    }];
    if let Some(relays) = &relays {
        let group = SocketAddr::new(group(index, 0).into(), DATA_PORT);
        endpoints.extend(relays.processes(emulation, scenario, index, group));
    }
    for (number, ((end, &host), &id)) in plan.receivers.iter().zip(&places).zip(&ids).enumerate() {
        let start = outside::receiver_start(plan, end, seed);
        let mut arguments = ends.receiver(&end.flow, address(host), start.as_ns());
        let relay = relays.as_ref().and_then(|relays| relays.of_receiver(number, emulation));
        arguments.extend(relay.map(|relay| format!("--relay={relay}")));
        endpoints.push(EndpointPlan {
            host,
            name: end.flow.clone(),
            role: Role::Receiver(id),
            session: index,
            is_relayed,
            arguments,
        });
        flows.push(WorldFlow {
            id: WorldFlowId::Receiver(id),
            start,
            has_object: plan.object.is_some(),
            outside: None,
        });
    }
    if let Some(relays) = relays {
        let receivers: Vec<_> = places.into_iter().zip(ids).collect();
        emulation.add_hops(relays.hops(&receivers), read_relayed)?;
    }
    Ok(Added { channels: count, endpoints })
}

/// Arguments as they would be for hosts of any address, to find out whether the program accepts them.
pub(super) fn example_arguments(scenario: &Scenario, index: usize) -> Vec<String> {
    let plan = &scenario.sessions[index];
    Ends { scenario, plan, index, seed: scenario.seed, source: Ipv4Addr::new(10, 0, 0, 1) }.source()
}

/// What the arguments of the endpoints of a session are made from.
struct Ends<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    index: usize,
    seed: u64,
    source: Ipv4Addr,
}

impl Ends<'_> {
    fn common(&self, role: &str, address: Ipv4Addr, start_ns: u64) -> Vec<String> {
        let plan = self.plan;
        let table = &plan.layers;
        let rates: Vec<String> = table.layers().map(|layer| table.rate(layer).as_bps().to_string()).collect();
        let stream = |part: &str| Stream::new(self.seed, &format!("session/{}/{part}", plan.name)).bits();
        let mut arguments = vec![role.to_owned()];
        let mut add = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
        add("protocol", plan.protocol.name().to_owned());
        for option in plan.protocol.option_specs() {
            if let Some(value) = plan.protocol.get_option(option.name) {
                add("option", format!("{}={value}", option.name));
            }
        }
        add("layers", rates.join(","));
        add("packet", plan.packet_size.as_bytes().to_string());
        add("group", format!("{}:{DATA_PORT}", group(self.index, 0)));
        add("source", self.source.to_string());
        add("feedback-port", (FIRST_FEEDBACK_PORT + (self.index % 1000) as u16).to_string());
        add("address", address.to_string());
        add("number", (1 + self.index).to_string());
        add("seed", stream("source").to_string());
        add("start-ns", start_ns.to_string());
        if let Some(stop) = plan.stop {
            add("stop-ns", stop.as_ns().to_string());
        }
        arguments
    }

    fn source(&self) -> Vec<String> {
        let start = outside::session_start(self.plan, self.seed);
        let mut arguments = self.common("source", self.source, start.as_ns());
        if !self.plan.relays.is_empty() {
            arguments.push(format!("--serve=0.0.0.0:{}", relays::port(self.index)));
        }
        if self.plan.ecn {
            arguments.push("--ecn".to_owned());
        }
        arguments
    }

    fn receiver(&self, flow: &str, address: Ipv4Addr, start_ns: u64) -> Vec<String> {
        let mut arguments = self.common("receiver", address, start_ns);
        let seed = Stream::new(self.seed, &format!("session/{}/{flow}", self.plan.name)).bits();
        arguments.push(format!("--receiver-seed={seed}"));
        arguments.push(format!("--every-ns={}", self.scenario.series_bin.as_ns()));
        if let Some(object) = self.plan.object.filter(|object| object.leave_when_complete) {
            arguments.push(format!("--needed={}", object.packets(self.plan.packet_size, false)));
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_sessions_are_apart() {
        assert_eq!(group(0, 0), Ipv4Addr::new(239, 1, 0, 0));
        assert_eq!(group(2, 300), Ipv4Addr::new(239, 3, 1, 44));
        assert_ne!(group(0, 1023), group(1, 0));
    }
}
