//! Relays that a session's description names: for receivers that multicast does not reach, or no longer.
//!
//! They are a line of ours, `a=x-layercast:relays = "ADDRESS:PORT ..."`, so that receivers of earlier versions pass them over. An
//! announcement comes by multicast: its relays are for receivers that lose that later. A description in a file is for all.

use std::net::SocketAddr;

use super::sdp::Description;
use crate::address::is_unicast;

/// The most relays that a description names.
pub const RELAYS_MAX: usize = 8;
/// The longest line that is read.
const LINE_MAX: usize = 512;

/// The key of the line.
const RELAYS: &str = "relays";

impl Description {
    /// Names relays, in the order in which receivers are to ask them: the first [`RELAYS_MAX`] that a packet can be sent to.
    pub fn name_relays(&mut self, relays: &[SocketAddr]) {
        self.lines.retain(|(key, _)| key != RELAYS);
        let named: Vec<String> = relays
            .iter()
            .filter(|relay| is_usable(relay))
            .take(RELAYS_MAX)
            .map(ToString::to_string)
            .collect();
        if !named.is_empty() {
            // In quotes, as the session description, which is TOML, has texts.
            self.lines.push((RELAYS.to_owned(), format!("\"{}\"", named.join(" "))));
        }
    }

    /// The relays that it names, in the order in which they are to be asked. What is no address of a host is left out: a description is
    /// not wrong for that.
    pub fn relays(&self) -> Vec<SocketAddr> {
        let line = self.line(RELAYS).filter(|line| line.len() <= LINE_MAX).unwrap_or_default();
        let all = line.split_whitespace().filter_map(|word| word.parse().ok());
        all.filter(is_usable).take(RELAYS_MAX).collect()
    }
}

/// Whether it is the address and port of one host.
fn is_usable(relay: &SocketAddr) -> bool {
    is_unicast(relay.ip()) && relay.port() != 0
}
