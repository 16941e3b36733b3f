//! The loop that all nodes have.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};

use super::socket::NodeSocket;
use super::{ActiveEvent, ActiveFailure, ActiveProgress};
use crate::host::{Clock, Inbox};
use crate::relay::RelayStatus;

/// The longest wait, so that a stop is seen.
const LONGEST_WAIT: StdDuration = StdDuration::from_millis(200);
/// The interval of reports.
const PROGRESS_EVERY: Duration = Duration::from_ms(1000);
/// The most deadlines between two looks at the socket.
const BATCH: usize = 64;
/// The length of the longest datagram.
const DATAGRAM: usize = 1 << 16;

/// A node.
pub(super) trait Node {
    /// A datagram has come, from an address and with an ECN field.
    fn receive(
        &mut self,
        now: Time,
        from: (SocketAddr, Ecn),
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), ActiveFailure>;
    /// Does what is due.
    fn tick(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), ActiveFailure>;
    /// When something is due.
    fn deadline(&self) -> Option<Time>;
    /// Whether there is nothing left to do.
    fn is_done(&mut self, now: Time) -> Result<bool, ActiveFailure>;
    /// How far it is.
    fn progress(&self, now: Time) -> ActiveProgress;
    /// What a relay does.
    fn status(&mut self, _now: Time, _socket: &NodeSocket) -> Option<RelayStatus> {
        None
    }
    /// News, once.
    fn take_event(&mut self) -> Option<ActiveEvent>;
    /// Ends.
    fn close(&mut self, socket: &mut NodeSocket);
}

/// Runs a node until it is done, or stopped.
pub(super) fn run(
    node: &mut dyn Node,
    mut socket: NodeSocket,
    clock: &Clock,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ActiveEvent),
) -> Result<ActiveProgress, ActiveFailure> {
    say(&ActiveEvent::Ready(socket.address()?));
    let mut inbox = Inbox::new(DATAGRAM);
    let mut next_progress = clock.now() + PROGRESS_EVERY;
    let outcome = loop {
        if stop.load(Ordering::Relaxed) {
            break Err(ActiveFailure::Interrupted);
        }
        match step(node, &mut socket, clock, &mut inbox) {
            Ok(false) => {}
            Ok(true) => break Ok(()),
            Err(error) => break Err(error),
        }
        while let Some(event) = node.take_event() {
            say(&event);
        }
        let now = clock.now();
        if now >= next_progress {
            next_progress = now + PROGRESS_EVERY;
            say(&ActiveEvent::Progress(progress(node, &socket, now)));
            if let Some(status) = node.status(now, &socket) {
                say(&ActiveEvent::Status(Box::new(status)));
            }
        }
        let until = node.deadline().map_or(next_progress, |at| at.min(next_progress));
        let wait = StdDuration::from_nanos(until.since(clock.now()).as_ns()).min(LONGEST_WAIT);
        if !wait.is_zero() {
            socket.wait(wait);
        }
    };
    node.close(&mut socket);
    outcome.map(|()| progress(node, &socket, clock.now()))
}

fn progress(node: &dyn Node, socket: &NodeSocket, now: Time) -> ActiveProgress {
    ActiveProgress { unsent: socket.unsent, ..node.progress(now) }
}

/// Does what is due; whether the node is done.
fn step(
    node: &mut dyn Node,
    socket: &mut NodeSocket,
    clock: &Clock,
    inbox: &mut Inbox,
) -> Result<bool, ActiveFailure> {
    inbox.clear();
    socket.fill(inbox, clock)?;
    for index in 0..inbox.len() {
        let Some((datagram, bytes)) = inbox.get(index) else { break };
        node.receive(clock.now(), (datagram.from, datagram.ecn), bytes, socket)?;
    }
    for _ in 0..BATCH {
        let now = clock.now();
        if node.deadline().is_none_or(|at| at > now) {
            break;
        }
        node.tick(now, socket)?;
    }
    node.is_done(clock.now())
}
