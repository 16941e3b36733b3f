//! Our side of a connection that is compared packet by packet.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_simulator::{
    Demand, LinkConfig, LossModel, LossPlace, Network, QueueConfig, QueueLimit, TcpConfig,
};

use super::{Case, GRID, NO_LIMIT, Observed, State, Trouble};
use crate::tcps;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// The connection's name, which names its random stream.
const NAME: &str = "tcp";

pub(super) fn observe_ours(case: &Case) -> anyhow::Result<Observed> {
    let (lost, limit) = match &case.trouble {
        Trouble::Lost(lost) => (lost.clone(), NO_LIMIT),
        Trouble::Limit(limit) => (Vec::new(), *limit),
    };
    let backward = LinkConfig {
        rate: Rate::from_bps(32_768.0),
        delay: Duration::from_ms(125),
        queue: QueueConfig::default(),
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let forward = LinkConfig {
        rate: Rate::from_bps(163_840.0),
        queue: QueueConfig::drop_tail(QueueLimit::Packets(limit)),
        loss: LossModel::List(lost),
        ..backward.clone()
    };
    let mut network = Network::new();
    let (from, to) = (network.add_node("S"), network.add_node("R"));
    let link = network.add_link(from, to, forward, backward)?;
    let mut options = tcps::options(case.tcp, case.window);
    options.packet_size = Size::from_bytes(320);
    options.tick = Duration::from_ns(4 * GRID.as_ns());
    options.min_rto = Duration::from_ms(500);
    options.delayed_ack = case.delayed_ack;
    options.ack_delay = Duration::from_ms(125);
    let mut simulation = Simulation::new(network, seed_with_little_clock_error(options.tick));
    let config = TcpConfig {
        from,
        to,
        options,
        demand: Demand::Endless,
        start: Time::ZERO,
        stop: None,
        name: NAME.into(),
    };
    let tcp = simulation.add_tcp(config)?;

    let mut observed = Observed::default();
    let mut at = Time::ZERO;
    let mut drops_before = 0;
    for sample in case.sample_times() {
        while at < sample {
            // Each step holds one moment at which anything happens, with at most one acknowledgement, since each takes
            // several on its link. So what is sent in it is one burst, and of a burst the last find no room.
            at = (at + GRID).min(sample);
            simulation.run_until(at);
            let drops = simulation.link_counters(link).queue_drops;
            let sent = simulation.tcp_counters(tcp).sent_packets;
            observed.dropped.extend(sent - (drops - drops_before)..sent);
            drops_before = drops;
        }
        let state = simulation.tcp_state(tcp).map(|state| State {
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
            highest_ack: state.highest_ack,
            duplicates: state.duplicates,
            highest_sent: state.highest_sent,
            next: state.next,
            backoff: state.backoff as i64,
            sent: simulation.tcp_counters(tcp).sent_packets as i64,
        });
        observed.states.extend(state);
    }
    Ok(observed)
}

/// A sender times round trips with a clock that is off by up to a tick, the first number that it draws. With a
/// seed that makes it less than the grid of all times it moves no sample across a tick, as in the script
/// for ns-2.
fn seed_with_little_clock_error(tick: Duration) -> u64 {
    let error = |seed: u64| Stream::new(seed, &format!("tcp/{NAME}")).uniform_duration(tick);
    // One seed in four has it.
    (1..u64::MAX).find(|&seed| !error(seed).is_zero() && error(seed) < GRID).unwrap_or_default()
}
