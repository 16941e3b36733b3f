//! A small AMT relay (RFC 7450) for trials: joins what its gateways want on an interface, and carries packets to one UDP port.
//!
//! `amt_relay LISTEN INTERFACE PORT`, such as `amt_relay 192.0.2.1:2268 eth0 5500`; runs until it is killed.

#![cfg(target_os = "linux")]

#[path = "../tests/network/amt/peer.rs"]
#[allow(dead_code, reason = "tests run it in a thread")]
mod peer;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicBool;

use layercast_transport::host::Interface;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [at, interface, port] = words.as_slice() else {
        return Err("usage: amt_relay LISTEN INTERFACE PORT".into());
    };
    let (at, port): (SocketAddr, u16) = (at.parse()?, port.parse()?);
    let (v4, v6) = (Ipv4Addr::new(239, 0, 0, 0).into(), Ipv6Addr::from([0xff15; 8]).into());
    // The groups' IP version may be another one than the tunnel's.
    let found = [v4, v6].map(|group| Interface::find(Some(interface), SocketAddr::new(group, port)));
    let interface = found.into_iter().find_map(Result::ok).ok_or("no such interface")?;
    // A run must not know the secret of the one before.
    let seed = std::process::id() as u8;
    peer::run(&peer::Peer { at, interface, port }, seed, &AtomicBool::new(false));
    Ok(())
}
