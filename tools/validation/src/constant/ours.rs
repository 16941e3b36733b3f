//! Our side of constant rates against TCP.

use layercast_core::family::AnyProtocol as _;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Rate, Time};
use layercast_protocols::fixed;
use layercast_protocols::registry::{Protocol, Registry};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, EcnField, Latency, LinkConfig, LossModel, LossPlace, Network, NodeId, QueueConfig, QueueLimit,
    ReceiverConfig, SessionConfig, TcpConfig,
};

use super::{Counts, Measured, Plan, Rhythm, SITES, Site, layers, starts};

type Simulation = layercast_simulator::Simulation<Registry>;

pub(super) fn measure_ours(plan: &Plan, rhythm: Rhythm, replication: u64) -> anyhow::Result<Vec<Measured>> {
    let link = |kbps, delay_s: f64, queue| LinkConfig {
        rate: Rate::from_kbps(kbps),
        delay: Duration::from_secs_f64(delay_s),
        queue,
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let tree = link(100e3, 0.01, QueueConfig::default());
    let mut network = Network::new();
    let [source, fork, left, right] = ["S", "G1", "G2", "G3"].map(|name| network.add_node(name));
    for (a, b) in [(source, fork), (fork, left), (fork, right)] {
        network.add_link(a, b, tree.clone(), tree.clone())?;
    }
    let mut receivers = Vec::new();
    for (site, router) in SITES.iter().zip([left, left, right]) {
        let receiver = network.add_node(site.name);
        let queue = QueueConfig::drop_tail(QueueLimit::Bytes(site.room_bytes()));
        let forward = link(site.link_kbps, rhythm.delay_s(site), queue);
        let backward = link(site.link_kbps, 0.01, QueueConfig::default());
        network.add_link(router, receiver, forward, backward)?;
        receivers.push(receiver);
    }
    let mut simulation = Simulation::new(network, replication);
    let mut flows = Vec::new();
    for ((site, &to), starts) in SITES.iter().zip(&receivers).zip(starts(replication)) {
        let mut starts = starts.into_iter();
        let session = layers::plan(site, rhythm.setting.sending)?;
        let start = starts.next().unwrap_or_default();
        let constant = simulation.add_session(constant(source, to, site, session, start, replication))?;
        let mut tcps = Vec::new();
        for (number, start) in starts.enumerate() {
            tcps.push(simulation.add_tcp(TcpConfig {
                from: source,
                to,
                options: TcpOptions {
                    limited_transmit: false,
                    overhead: Some(Duration::from_secs_f64(rhythm.wait_s(site))),
                    ..TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2Year2004)
                },
                demand: Demand::Endless,
                start,
                stop: None,
                name: format!("tcp/{}/{number}", site.name),
            })?);
        }
        flows.push((constant, tcps));
    }
    let mut counts_at = |seconds| {
        simulation.run_until(Time::from_secs_f64(seconds));
        let counts = |(constant, tcps): &(Vec<_>, Vec<_>)| {
            let mut counts = Counts::default();
            for &receiver in constant {
                let of_one = simulation.receiver_counters(receiver);
                counts.constant += of_one.sent_packets as f64;
                counts.constant_drops += of_one.lost_packets as f64;
            }
            for &tcp in tcps {
                let of_one = simulation.tcp_counters(tcp);
                counts.tcp += of_one.sent_packets as f64;
                counts.tcp_drops += of_one.lost_packets as f64;
                counts.acknowledged +=
                    simulation.tcp_state(tcp).map_or(0.0, |state| state.highest_ack as f64);
            }
            counts
        };
        flows.iter().map(counts).collect::<Vec<_>>()
    };
    let (early, late) = (counts_at(plan.from_s), counts_at(plan.until_s));
    let within = |(early, late): (&Counts, &Counts)| {
        Counts {
            constant: late.constant - early.constant,
            constant_drops: late.constant_drops - early.constant_drops,
            tcp: late.tcp - early.tcp,
            tcp_drops: late.tcp_drops - early.tcp_drops,
            acknowledged: late.acknowledged - early.acknowledged,
        }
        .measured()
    };
    Ok(early.iter().zip(&late).map(within).collect())
}

/// A session of one receiver, which holds all layers of the plan from the beginning.
fn constant(
    from: NodeId,
    to: NodeId,
    site: &Site,
    session: SessionPlan,
    start: Time,
    replication: u64,
) -> SessionConfig<Registry> {
    let level = u32::from(session.layers.top().0);
    let protocol = Protocol::Fixed(fixed::Options { level, ..fixed::Options::default() });
    let stream = layers::stream(site, replication);
    let receiver = ReceiverConfig {
        node: to,
        receiver: protocol.receiver(session.clone(), stream.clone()),
        start: Time::ZERO,
        stop: None,
        join_latency: Latency::NONE,
        leave_latency: Latency::NONE,
    };
    SessionConfig {
        source_node: from,
        channels: protocol.requirements().channels(&session),
        source: protocol.source(session, stream),
        ecn: EcnField::NotCapable,
        observes_late_packets: false,
        name: format!("constant/{}", site.name),
        start,
        stop: None,
        receivers: [receiver].into_iter().collect(),
        packets: None,
        routers: None,
    }
}
