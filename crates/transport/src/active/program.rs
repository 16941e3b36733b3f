//! The loop that a source and a relay have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::units::{Duration, Time};

use super::socket::NodeSocket;
use crate::error::Error;
use crate::host::{Clock, Datagram, Inbox, until};

/// The longest wait, so that a stop is seen.
const LONGEST_WAIT: StdDuration = StdDuration::from_millis(200);
/// The interval of reports.
const REPORT_EVERY: Duration = Duration::from_ms(1000);
/// The most deadlines between two looks at the socket.
const BATCH: usize = 64;
/// The length of the longest datagram.
const DATAGRAM: usize = 1 << 16;

/// A node.
pub(crate) trait Node {
    /// A datagram has come, with these bytes.
    ///
    /// # Errors
    /// Why the node cannot go on.
    fn receive(
        &mut self,
        now: Time,
        datagram: &Datagram,
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), Error>;
    /// Does what is due.
    ///
    /// # Errors
    /// Why the node cannot go on.
    fn handle_timer(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), Error>;
    /// When something is due.
    fn deadline(&self) -> Option<Time>;
    /// Whether there is nothing left to do.
    fn is_done(&self) -> bool;
    /// Says what is new.
    fn say_news(&mut self) {}
    /// Says how far it is, once a second and at the end.
    ///
    /// # Errors
    /// Why the node cannot go on.
    fn report(&mut self, now: Time, socket: &NodeSocket) -> Result<(), Error>;
    /// Ends.
    fn close(&mut self, socket: &mut NodeSocket);
}

/// Runs a node. Whether it was done; otherwise it was stopped.
///
/// # Errors
/// Why it could not go on.
pub(crate) fn run(
    node: &mut dyn Node,
    socket: &mut NodeSocket,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<bool, Error> {
    let mut inbox = Inbox::new(DATAGRAM);
    let mut next_report = clock.now() + REPORT_EVERY;
    let outcome = loop {
        if stop.load(Ordering::Relaxed) {
            break Ok(false);
        }
        if let Err(error) = step(node, socket, clock, &mut inbox) {
            break Err(error);
        }
        node.say_news();
        if node.is_done() {
            break Ok(true);
        }
        let now = clock.now();
        if now >= next_report {
            next_report = now + REPORT_EVERY;
            if let Err(error) = node.report(now, socket) {
                break Err(error);
            }
        }
        let due = node.deadline().map_or(next_report, |at| at.min(next_report));
        let wait = until(clock.now(), due).min(LONGEST_WAIT);
        if !wait.is_zero() {
            socket.wait(wait);
        }
    };
    node.close(socket);
    let done = outcome?;
    node.report(clock.now(), socket)?;
    Ok(done)
}

/// Does what is due.
fn step(node: &mut dyn Node, socket: &mut NodeSocket, clock: &Clock, inbox: &mut Inbox) -> Result<(), Error> {
    inbox.clear();
    socket.fill(inbox, clock)?;
    for index in 0..inbox.len() {
        let Some((datagram, bytes)) = inbox.get(index) else { break };
        node.receive(clock.now(), &datagram, bytes, socket)?;
    }
    for _ in 0..BATCH {
        let now = clock.now();
        if node.deadline().is_none_or(|at| at > now) {
            break;
        }
        node.handle_timer(now, socket)?;
    }
    Ok(())
}
