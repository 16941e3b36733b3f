//! A source that serves children itself: the relay at the top of a tree.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::Channel;
use layercast_delivery::node::{Above, RelayOutput};

use super::server::{ServeOptions, Server};
use crate::error::Error;
use crate::host::{PacketSocket, UnicastPath};

/// Serves the children of one session, whose packets come from this process.
#[derive(Debug)]
pub struct SourceServer {
    server: Server,
    source: IpAddr,
}

impl SourceServer {
    /// Opens the socket. `source` is the address of the session's source.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(options: &ServeOptions, source: IpAddr) -> Result<SourceServer, Error> {
        Ok(SourceServer { server: Server::open(options, Above::Source)?, source })
    }
}

impl UnicastPath for SourceServer {
    fn socket(&self) -> &PacketSocket {
        self.server.socket()
    }

    fn read(&mut self, pass_on: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.server.read(&mut |output| {
            if let RelayOutput::Heard(from, message) = output {
                pass_on(from, message.bytes());
            }
        });
    }

    fn send(&mut self, channel: Channel, packets: &[IoSlice<'_>], ecn: Ecn) {
        // Children that know the source's address, and those that do not, are different sessions.
        let mut next = 0;
        loop {
            let found = self.server.sessions().map(|(place, _)| place).find(|place| *place >= next);
            let Some(place) = found else { break };
            next = place + 1;
            let source = SocketAddr::new(self.source, 0);
            self.server.forward(place, channel, source, packets.iter().map(|packet| &**packet), ecn);
        }
    }

    fn poll(&mut self) {
        self.server.poll(&mut |_| {});
    }

    fn moved(&mut self, source: IpAddr) {
        self.source = source;
    }
}
