//! An emulated network: a source, receivers behind a link each, and a stranger, around one router.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result, anyhow};
use layercast_core::units::{Duration, Rate};
use layercast_emulator::{Emulation, Host, HostPlan, Options};
use layercast_simulator::{LinkConfig, LossModel, LossPlace, Network, QueueConfig, QueueLimit};

/// The queue of a receiver's link.
const QUEUE_S: f64 = 0.1;
/// How often the network looks whether it should end.
const LOOK: Duration = Duration::from_ms(50);

/// The link to a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its rate in both directions.
    pub rate: Rate,
    /// Half of the round-trip time.
    pub delay: Duration,
    /// The share of the packets to the receiver that is lost, each independently.
    pub loss: f64,
    /// The queue to the receiver; none for a plain one of a tenth of a second.
    pub queue: Option<QueueConfig>,
}

impl Link {
    /// A link of this rate in Mbit/s, with a round-trip time in ms.
    pub fn new(mbps: f64, rtt_ms: u64, loss: f64) -> Link {
        Link { rate: Rate::from_mbps(mbps), delay: Duration::from_us(500 * rtt_ms), loss, queue: None }
    }

    /// The same with this queue to the receiver.
    #[must_use]
    pub fn with_queue(self, queue: QueueConfig) -> Link {
        Link { queue: Some(queue), ..self }
    }

    fn config(&self, loss: f64) -> LinkConfig {
        let bytes = (self.rate.as_bps() * QUEUE_S / 8.0).max(10_000.0);
        let plain = QueueConfig::drop_tail(QueueLimit::Bytes(bytes as u64));
        LinkConfig {
            rate: self.rate,
            delay: self.delay,
            queue: self.queue.unwrap_or(plain),
            loss: if loss > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None },
            loss_place: LossPlace::AfterLink,
            loss_marks: false,
        }
    }
}

/// A network that runs until it is dropped; then all programs in it are killed.
#[derive(Debug)]
pub struct Wire {
    hosts: Vec<Host>,
    stop: Arc<AtomicBool>,
    running: Option<JoinHandle<Result<Carried>>>,
}

/// How well a network kept up with the clock.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// 99 % of the packets were at most so late.
    pub late: Duration,
    /// Packets that a host's kernel dropped because the emulation did not take them in time.
    pub overruns: u64,
}

impl Wire {
    /// Makes a network with a receiver behind each link.
    ///
    /// # Errors
    /// [`layercast_emulator::Error::Rights`] and `Tun` where the system does not allow it.
    pub fn new(links: &[Link], seed: u64) -> Result<Wire> {
        let links = links.to_vec();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let (made, is_made) = mpsc::channel();
        let running = thread::spawn(move || {
            let mut emulation = make(&links, seed).inspect_err(|error| {
                let _ = made.send(Err(anyhow!("{error:#}")));
            })?;
            let _ = made.send(Ok(emulation.hosts()));
            while !flag.load(Ordering::Relaxed) {
                let until = emulation.now() + LOOK;
                emulation.run_until(until)?;
            }
            let lateness = emulation.lateness();
            Ok(Carried { late: lateness.deliveries.quantile(0.99), overruns: lateness.overruns })
        });
        let hosts = is_made.recv().context("the network")??;
        Ok(Wire { hosts, stop, running: Some(running) })
    }

    /// The host of the source.
    pub fn source(&self) -> &Host {
        &self.hosts[0]
    }

    /// The host of a receiver.
    pub fn receiver(&self, number: usize) -> &Host {
        &self.hosts[2 + number]
    }

    /// A host that is neither.
    pub fn stranger(&self) -> &Host {
        &self.hosts[1]
    }

    /// Ends the network.
    ///
    /// # Errors
    /// Why it ended before.
    pub fn end(mut self) -> Result<Carried> {
        self.stop.store(true, Ordering::Relaxed);
        let running = self.running.take().context("a network that runs")?;
        running.join().map_err(|_| anyhow!("the network panicked"))?
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

fn make(links: &[Link], seed: u64) -> Result<Emulation> {
    let mut network = Network::new();
    let router = network.add_node("router");
    let near = Link { rate: Rate::from_mbps(10_000.0), delay: Duration::ZERO, loss: 0.0, queue: None };
    let mut plans = Vec::new();
    let others = [("source".to_owned(), near), ("stranger".to_owned(), near)];
    let receivers = links.iter().enumerate().map(|(number, link)| (format!("receiver{number}"), *link));
    for (name, link) in others.into_iter().chain(receivers) {
        let node = network.add_node(&name);
        network.add_link(router, node, link.config(link.loss), Link { queue: None, ..link }.config(0.0))?;
        plans.push(HostPlan { node, name });
    }
    Ok(Emulation::new(network, plans, Options::default(), seed)?)
}
