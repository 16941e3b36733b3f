//! Networks for tests, and what skips a test where none can be made.

use std::thread;

use layercast_core::units::{Duration, Rate};
use layercast_emulator::{Emulation, Error, Host, HostPlan, Options};
use layercast_simulator::{LinkConfig, LossModel, LossPlace, Network, NodeId, QueueConfig, QueueLimit};
use layercast_testkit::skip::{Missing, skip};

/// A link of this rate and delay with a long queue and no losses.
pub(crate) fn slow_link(rate: Rate, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        rate,
        delay: Duration::from_ms(delay_ms),
        queue: QueueConfig::drop_tail(QueueLimit::Packets(100)),
        loss: LossModel::None,
        loss_place: LossPlace::default(),
        loss_marks: false,
    }
}

/// An emulation, if one can be made here.
pub(crate) fn emulation(network: Network, hosts: &[(NodeId, &str)]) -> Option<(Emulation, Vec<Host>)> {
    let plans = hosts.iter().map(|&(node, name)| HostPlan { node, name: name.to_owned() }).collect();
    match Emulation::new(network, plans, Options::default(), 1) {
        Ok(emulation) => {
            let hosts = emulation.hosts();
            Some((emulation, hosts))
        }
        Err(error @ (Error::Rights { .. } | Error::Tun { .. })) => {
            skip(Missing::Netns, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Two hosts at the ends of a line of links that are all alike.
pub(crate) fn line(link: LinkConfig, links: u32) -> Option<(Emulation, Vec<Host>)> {
    let mut network = Network::new();
    let nodes: Vec<NodeId> = (0..=links).map(|number| network.add_node(format!("n{number}"))).collect();
    for ends in nodes.windows(2) {
        network.add_link(ends[0], ends[1], link.clone(), link.clone()).unwrap();
    }
    emulation(network, &[(nodes[0], "a"), (nodes[links as usize], "b")])
}

/// Lets the network run while something is done on another thread.
pub(crate) fn run_while<T: Send>(emulation: &mut Emulation, act: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let acting = scope.spawn(act);
        while !acting.is_finished() {
            run_for(emulation, Duration::from_ms(20));
        }
        acting.join().unwrap()
    })
}

/// Lets the network run for a time.
pub(crate) fn run_for(emulation: &mut Emulation, time: Duration) {
    let until = emulation.now() + time;
    emulation.run_until(until).unwrap();
}
