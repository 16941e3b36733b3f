//! A second path for a source's packets, next to multicast.

use std::fmt;
use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::units::Channel;

use super::PacketSocket;

/// Takes all packets of a source, and sends them by unicast to those that asked for them.
pub trait UnicastPath: fmt::Debug {
    /// The socket by which they ask.
    fn socket(&self) -> &PacketSocket;

    /// Reads what they say. Messages for the source are passed on, each with the address that sent it.
    fn read(&mut self, pass_on: &mut dyn FnMut(SocketAddr, &[u8]));

    /// Sends packets of a channel.
    fn send(&mut self, channel: Channel, packets: &[IoSlice<'_>], ecn: Ecn);

    /// Does what is due.
    fn poll(&mut self);

    /// The source has another address from now on.
    fn moved(&mut self, source: IpAddr);
}

/// A second path, and whether it is all there is.
#[derive(Debug)]
pub(super) struct SecondPath {
    pub(super) path: Box<dyn UnicastPath>,
    /// Nothing is sent by multicast.
    pub(super) only: bool,
    /// Whether routers may mark its packets.
    pub(super) ecn: Ecn,
}
