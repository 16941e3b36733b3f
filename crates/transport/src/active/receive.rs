//! The program of a receiver.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};
use layercast_delivery::active::receiver::ReceiverNode;
use layercast_delivery::active::uplink::UpOptions;
use layercast_delivery::relay::session::SessionKey;

use super::folder::FolderFiles;
use super::program::{Node, run};
use super::send::random;
use super::socket::NodeSocket;
use super::{ActiveEvent, ActiveFailure, ActiveProgress};
use crate::host::Clock;

/// How long a receiver that has everything stays at most, to repair what others miss.
const LINGER: Duration = Duration::from_secs(60);

/// The options of a receiver.
#[derive(Clone, Debug)]
pub struct ActiveReceiveOptions {
    /// The session.
    pub session: SessionKey,
    /// The relays, or the source: the first that answers.
    pub parents: Vec<SocketAddr>,
    /// The folder of received files.
    pub into: PathBuf,
    /// Whether files that exist are replaced.
    pub replace: bool,
    /// How long a receiver is without a parent before it gives up.
    pub patience: StdDuration,
}

/// Receives files until all are here and the source has ended.
///
/// # Errors
/// Why it could not start or go on.
pub fn receive(
    options: &ActiveReceiveOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ActiveEvent),
) -> Result<ActiveProgress, ActiveFailure> {
    let clock = Clock::default();
    let files = FolderFiles::open(&options.into, options.replace)
        .map_err(|source| ActiveFailure::File { path: options.into.clone(), source })?;
    let up = UpOptions {
        session: options.session,
        parents: options.parents.clone(),
        within: Duration::from_ms(100),
    };
    let is_v4 = options.parents.iter().all(SocketAddr::is_ipv4);
    let any = if is_v4 {
        SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0)
    } else {
        SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0)
    };
    let now = clock.now();
    let node = ReceiverNode::new(&up, now, random()?);
    let mut receiving = Receiving { node, files, served: now, completed: None, patience: options.patience };
    run(&mut receiving, NodeSocket::open(any)?, &clock, stop, say)
}

struct Receiving {
    node: ReceiverNode,
    files: FolderFiles,
    /// When a parent served this receiver last.
    served: Time,
    completed: Option<Time>,
    patience: StdDuration,
}

impl Node for Receiving {
    fn receive(
        &mut self,
        now: Time,
        from: (SocketAddr, Ecn),
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), ActiveFailure> {
        Ok(self.node.receive(now, from, bytes, &mut self.files, socket)?)
    }

    fn tick(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), ActiveFailure> {
        Ok(self.node.tick(now, &mut self.files, socket)?)
    }

    fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    fn is_done(&mut self, now: Time) -> Result<bool, ActiveFailure> {
        if self.node.up().is_served() {
            self.served = now;
        }
        let silent = StdDuration::from_nanos(now.since(self.served).as_ns());
        if self.node.is_complete() {
            let since = *self.completed.get_or_insert(now);
            // Others may need repairs until the source has ended, or the parent is gone.
            let is_alone = silent > StdDuration::from_secs(3);
            return Ok(self.node.has_ended() || is_alone || now.since(since) > LINGER);
        }
        if silent > self.patience { Err(ActiveFailure::Silent(self.patience)) } else { Ok(false) }
    }

    fn progress(&self, _now: Time) -> ActiveProgress {
        let (_, bytes) = self.node.progress();
        ActiveProgress { bytes, counters: *self.node.counters(), ..ActiveProgress::default() }
    }

    fn take_event(&mut self) -> Option<ActiveEvent> {
        self.node.up().take_news().map(ActiveEvent::Parent)
    }

    fn close(&mut self, socket: &mut NodeSocket) {
        self.node.close(socket);
    }
}
