//! Dynamic traffic: transfers, arrivals, constant-rate sources.

use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::{Rate, Size, Time};

use super::{Agent, Simulation, TcpId};
use crate::application::{Arrivals, Distribution, NextStep, UdpSource};
use crate::call::CallDelays;
use crate::host::TcpOutput;
use crate::measure::FlowCounters;
use crate::network::{NetworkError, NodeId};
use crate::packet::{Body, EcnField};

/// Transfers that start independently of how long others take.
#[derive(Clone, Debug)]
pub struct ArrivalsConfig {
    /// The time between two of them, in seconds.
    pub gap_s: Distribution,
    /// The connections that carry them, each one transfer at a time, in the order in which they are tried.
    /// Their demand is [`Demand::Transfers`](crate::Demand::Transfers) without gap. A start that finds none
    /// free waits for the next that is.
    pub flows: Vec<TcpId>,
    /// When they begin. The first comes a gap later.
    pub start: Time,
    /// When they end, if before the end of the run.
    pub stop: Option<Time>,
    /// What their random stream is named after; should be unique in the run.
    pub name: String,
}

/// A constant-rate source without feedback.
#[derive(Clone, Debug)]
pub struct UdpConfig {
    /// The node of the source.
    pub from: NodeId,
    /// The node of the sink.
    pub to: NodeId,
    /// How fast it sends.
    pub rate: Rate,
    /// The size of its packets on the wire.
    pub packet_size: Size,
    /// How long it sends and how long it pauses, in seconds; always if absent.
    pub pauses: Option<(Distribution, Distribution)>,
    /// Whether it is a call, whose delays are kept. Calls that start together are not in step: the first packet of
    /// each waits for a random part of the time between two.
    pub is_call: bool,
    /// When it starts to send.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// What its random stream is named after; should be unique in the run.
    pub name: String,
}

/// A constant-rate flow of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UdpId(pub(super) u32);

impl<F: Family> Simulation<F> {
    /// Adds a constant-rate flow.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn add_udp(&mut self, config: UdpConfig) -> Result<UdpId, NetworkError> {
        let links = self.path_between(config.from, config.to)?;
        let source = self.agents.len() as u32;
        let sink = source + 1;
        let flow = self.unicast_flows.len() as u32;
        let path = self.add_path(&links, sink);
        let stream = Stream::new(self.seed, &format!("udp/{}", config.name));
        let machine = UdpSource::new(config.rate, config.packet_size, config.pauses, config.is_call, stream);
        self.add_agent(Agent::UdpSource { source: Box::new(machine), path, flow });
        let delays = config.is_call.then(Box::default);
        self.add_agent(Agent::UdpSink { flow, delays });
        self.unicast_flows.push(FlowCounters::default());
        self.schedule_life(source, config.start, config.stop);
        Ok(UdpId(sink))
    }

    /// Adds starts of transfers to connections that were added before.
    pub fn add_arrivals(&mut self, config: ArrivalsConfig) {
        let agent = self.agents.len() as u32;
        for flow in &config.flows {
            if let Agent::TcpSender { arrivals, .. } = &mut self.agents[flow.sender as usize] {
                *arrivals = Some(agent);
            }
        }
        let senders = config.flows.iter().map(|flow| flow.sender).collect();
        let stream = Stream::new(self.seed, &format!("arrivals/{}", config.name));
        self.add_agent(Agent::Arrivals(Box::new(Arrivals::new(config.gap_s, stream, senders))));
        self.schedule_life(agent, config.start, config.stop);
    }

    /// What a constant-rate flow has received so far.
    pub fn udp_counters(&self, id: UdpId) -> FlowCounters {
        match &self.agents[id.0 as usize] {
            Agent::UdpSink { flow, .. } | Agent::Outlet { flow, .. } => self.unicast_flows[*flow as usize],
            _ => FlowCounters::default(),
        }
    }

    /// The delays of a call so far; none of other flows.
    pub fn call_delays(&self, id: UdpId) -> Option<&CallDelays> {
        match &self.agents[id.0 as usize] {
            Agent::UdpSink { delays, .. } => delays.as_deref(),
            _ => None,
        }
    }

    /// A packet of a constant-rate flow has arrived at its sink.
    pub(super) fn deliver_datagram(&mut self, agent: u32, size_bytes: u32, sent: Time) {
        if let Agent::UdpSink { flow, delays } = &mut self.agents[agent as usize] {
            if let Some(delays) = delays {
                delays.add(self.engine.now().since(sent));
            }
            let counters = &mut self.unicast_flows[*flow as usize];
            counters.received_bytes += u64::from(size_bytes);
            counters.received_packets += 1;
        }
    }

    /// Sends a packet of a constant-rate flow and sets the time of the next.
    pub(super) fn send_datagram(&mut self, agent: u32) {
        let now = self.engine.now();
        if let Agent::UdpSource { source, path, flow } = &mut self.agents[agent as usize] {
            self.unicast_flows[*flow as usize].sent_packets += 1;
            let body = Body::Datagram { sent: now };
            self.engine.send_along(*path, body, source.size, EcnField::NotCapable);
            let next = source.next(now);
            self.engine.set_timer(agent, Some(next));
        }
    }

    /// Starts arrivals, or serves one of them.
    pub(super) fn serve_arrivals(&mut self, agent: u32, is_arrival: bool) {
        let now = self.engine.now();
        let Agent::Arrivals(arrivals) = &mut self.agents[agent as usize] else { return };
        let next = arrivals.next(now);
        arrivals.waiting += u64::from(is_arrival);
        self.engine.set_timer(agent, Some(next));
        if !is_arrival {
            return;
        }
        for index in 0.. {
            let Agent::Arrivals(arrivals) = &self.agents[agent as usize] else { return };
            let Some(&sender) = arrivals.agents.get(index) else { return };
            if self.is_free(sender) {
                return self.begin_waiting_transfer(agent, sender);
            }
        }
    }

    fn is_free(&self, sender: u32) -> bool {
        matches!(
            &self.agents[sender as usize],
            Agent::TcpSender { application: Some(application), stopped: false, .. } if application.is_free()
        )
    }

    /// Gives a free flow the transfer that waits, if one does.
    fn begin_waiting_transfer(&mut self, arrivals: u32, sender: u32) {
        if let Agent::Arrivals(arrivals) = &mut self.agents[arrivals as usize]
            && arrivals.waiting > 0
        {
            arrivals.waiting -= 1;
            self.run_application(sender);
        }
    }

    /// The flow of an application starts.
    pub(super) fn start_application(&mut self, agent: u32) {
        let now = self.engine.now();
        let Agent::TcpSender { application: Some(application), .. } = &mut self.agents[agent as usize] else {
            return self.drive_tcp(agent, |sender, now, out| sender.start(now, out));
        };
        if application.start(now) {
            self.drive_tcp(agent, |sender, now, out| sender.start(now, out));
        } else {
            self.update_application(agent);
        }
    }

    /// Carries out the next step of an application: a transfer, silence, or data again.
    fn run_application(&mut self, agent: u32) {
        let now = self.engine.now();
        let Agent::TcpSender { application: Some(application), sender, path, flow, .. } =
            &mut self.agents[agent as usize]
        else {
            return;
        };
        let sent_packets = &mut self.unicast_flows[*flow as usize].sent_packets;
        let out = &mut TcpOutput { engine: &mut self.engine, path: *path, sent_packets };
        let silent_since = application.silent_since;
        match application.next_step(now) {
            NextStep::Silence => sender.end_data(now),
            NextStep::Data => sender.resume_data(now, now.since(silent_since.unwrap_or(now)), out),
            NextStep::More(bytes) => {
                sender.add_data(now, now.since(silent_since.unwrap_or(now)), bytes, out);
            }
            NextStep::Transfer(bytes) => {
                let incarnation = sender.restart(bytes);
                sender.start(now, out);
                // The sink was added directly after its sender.
                if let Some(Agent::TcpSink { sink, .. }) = self.agents.get_mut(agent as usize + 1) {
                    sink.restart(incarnation);
                    self.engine.set_timer(agent + 1, None);
                }
            }
        }
        self.update_application(agent);
    }

    /// Updates the application after its sender has acted: counts a completed transfer and sets the
    /// deadline.
    pub(super) fn update_application(&mut self, agent: u32) {
        let now = self.engine.now();
        let Agent::TcpSender { application: Some(application), sender, flow, arrivals, .. } =
            &mut self.agents[agent as usize]
        else {
            return;
        };
        let mut freed = None;
        if sender.is_done()
            && let Some(took) = application.finish(now)
        {
            let counters = &mut self.unicast_flows[*flow as usize];
            counters.transfers += 1;
            counters.transfer_ns += u128::from(took.as_ns());
            freed = *arrivals;
        }
        let deadline = match (sender.deadline(), application.next) {
            (Some(sender), Some(application)) => Some(sender.min(application)),
            (sender, application) => sender.or(application),
        };
        self.engine.set_timer(agent, deadline);
        if let Some(arrivals) = freed {
            self.begin_waiting_transfer(arrivals, agent);
        }
    }

    /// The deadline of a sender has come, or that of its application.
    pub(super) fn serve_sender_timer(&mut self, agent: u32) {
        let now = self.engine.now();
        let due = matches!(
            &self.agents[agent as usize],
            Agent::TcpSender { application: Some(application), .. }
                if application.next.is_some_and(|next| next <= now)
        );
        self.drive_tcp(agent, |sender, now, out| sender.handle_timeout(now, out));
        if due {
            self.run_application(agent);
        }
    }
}
