//! A session of TFMCC in a network of its own, with all that passes the source's link.

#![allow(clippy::unwrap_used)]

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::registry::{Header, Protocol};
use layercast_protocols::tfmcc;
use layercast_protocols::tfmcc::header::ReceiverId as Reporter;
use layercast_simulator::{
    Carried, EcnField, Latency, LinkConfig, LinkEvent, LinkId, LossModel, LossPlace, Network, NodeId,
    QueueConfig, QueueLimit, ReceiverConfig, ReceiverId, SessionConfig,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// A receiver: the delay of its last link, what that loses, and when it stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) delay_ms: f64,
    pub(crate) loss: f64,
    pub(crate) stop_s: Option<f64>,
}

/// Receivers in groups, each behind a link of its own, all behind the source's link.
pub(crate) struct Tree {
    pub(crate) source_link: LinkConfig,
    /// What the links of the groups lose.
    pub(crate) group_loss: Vec<f64>,
    /// The receivers, dealt to the groups in turn.
    pub(crate) leaves: Vec<Leaf>,
}

pub(crate) fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

pub(crate) fn link(mbps: f64, delay_ms: f64, packets: u32, loss: f64) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_mbps(mbps),
        delay: Duration::from_secs_f64(delay_ms / 1e3),
        queue: QueueConfig::drop_tail(QueueLimit::Packets(packets)),
        loss: if loss > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None },
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    }
}

/// A feedback round as it passed the source's link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) began: Time,
    /// Reports of others than the limiting receiver.
    pub(crate) others: u32,
    /// Reports of the limiting receiver.
    pub(crate) limiting: u32,
}

/// The simulation and what was seen of it.
pub(crate) struct Session {
    pub(crate) simulation: Simulation,
    pub(crate) receivers: Vec<ReceiverId>,
    link: LinkId,
    number: Option<u8>,
    limiting: Option<Reporter>,
    pub(crate) rounds: Vec<Round>,
    /// The source's rate in kbit/s with each packet.
    pub(crate) rates: Vec<(Time, f64)>,
    /// The limiting receiver, whenever it changed.
    pub(crate) limiters: Vec<(Time, Option<Reporter>)>,
}

impl Session {
    pub(crate) fn new(tree: &Tree, peak_mbps: f64, seed: u64) -> Session {
        let mut network = Network::new();
        let (source, root) = (network.add_node("S"), network.add_node("G"));
        let top =
            network.add_link(source, root, tree.source_link.clone(), link(100.0, 10.0, 10_000, 0.0)).unwrap();
        let groups: Vec<NodeId> =
            (0..tree.group_loss.len()).map(|index| network.add_node(format!("G{index}"))).collect();
        for (&group, &loss) in groups.iter().zip(&tree.group_loss) {
            network.add_link(root, group, link(100.0, 5.0, 1000, loss), link(100.0, 5.0, 1000, 0.0)).unwrap();
        }
        let mut places = Vec::new();
        for (index, leaf) in tree.leaves.iter().enumerate() {
            let node = network.add_node(format!("R{index}"));
            let up = link(100.0, leaf.delay_ms, 1000, 0.0);
            network
                .add_link(groups[index % groups.len()], node, link(100.0, leaf.delay_ms, 1000, leaf.loss), up)
                .unwrap();
            places.push((node, leaf.stop_s));
        }
        let layers = LayerTable::from_rates([Rate::from_mbps(peak_mbps)]).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let protocol = Protocol::named("tfmcc").unwrap();
        let receiver = |(index, (node, stop)): (usize, (NodeId, Option<f64>))| ReceiverConfig {
            node,
            receiver: protocol.receiver(plan.clone(), Stream::new(seed, &format!("receiver/{index}"))),
            start: Time::ZERO,
            stop: stop.map(at),
            join_latency: Latency::NONE,
            leave_latency: Latency::NONE,
        };
        let mut simulation = Simulation::new(network, seed);
        let receivers = simulation
            .add_session(SessionConfig {
                source_node: source,
                source: protocol.source(plan.clone(), Stream::new(seed, "source")),
                channels: 1,
                ecn: EcnField::NotCapable,
                observes_late_packets: protocol.requirements().observes_late_packets(),
                name: "tfmcc".to_owned(),
                start: Time::ZERO,
                stop: None,
                receivers: places.into_iter().enumerate().map(receiver).collect(),
                packets: None,
                routers: None,
            })
            .unwrap();
        simulation.watch_link(top);
        simulation.watch_link(top.reverse());
        let (rounds, rates, limiters) = (Vec::new(), Vec::new(), Vec::new());
        Session { simulation, receivers, link: top, number: None, limiting: None, rounds, rates, limiters }
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        self.simulation.run_until(end);
        let mut seen = Vec::new();
        self.simulation.drain_link(self.link, &mut |record| {
            if let (LinkEvent::Offered, Carried::Data { header: Header::Tfmcc(header), .. }) =
                (record.event, record.carried)
            {
                seen.push((record.at, header));
            }
        });
        self.simulation.drain_link(self.link.reverse(), &mut |record| {
            if let (LinkEvent::Arrived, Carried::Unicast { header: Header::Tfmcc(header), .. }) =
                (record.event, record.carried)
            {
                seen.push((record.at, header));
            }
        });
        seen.sort_by_key(|&(at, _)| at);
        for (at, header) in seen {
            self.see(at, &header);
        }
    }

    fn see(&mut self, at: Time, header: &tfmcc::Header) {
        match header {
            tfmcc::Header::Data(data) => {
                if self.number != Some(data.round) {
                    self.number = Some(data.round);
                    self.rounds.push(Round { began: at, others: 0, limiting: 0 });
                }
                if self.limiting != data.limiting {
                    self.limiting = data.limiting;
                    self.limiters.push((at, data.limiting));
                }
                self.rates.push((at, data.rate.rate().unwrap().as_kbps()));
            }
            tfmcc::Header::Report(report) => {
                let Some(round) = self.rounds.last_mut() else { return };
                let of_limiting = self.limiting == Some(report.receiver);
                *if of_limiting { &mut round.limiting } else { &mut round.others } += 1;
            }
        }
    }

    /// The mean rate of the source over some time, in kbit/s, from packets sent.
    pub(crate) fn mean_kbps(&self, from_s: f64, to_s: f64) -> f64 {
        let within = |&&(time, _): &&(Time, f64)| time >= at(from_s) && time < at(to_s);
        self.rates.iter().filter(within).count() as f64 * 8.0 / (to_s - from_s)
    }
}
