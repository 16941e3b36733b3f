//! What tests of transfers over the loopback interface share: folders, content, options.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size};
use layercast_protocols::registry::Protocol;
use layercast_transport::receive::{Known, ReceiveOptions};
use layercast_transport::send::SendOptions;

/// A directory that is removed when it is dropped.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> TempDir {
        let path = std::env::temp_dir().join(format!("layercast-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }

    pub(crate) fn with(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn content(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

/// Sends in three layers up to 4 Mbit/s, without an end of its own.
pub(crate) fn sending(group: SocketAddr, protocol: &str) -> SendOptions {
    let layers = LayerTable::doubling(Rate::from_mbps(4.0), 3).unwrap();
    SendOptions {
        interface: Some("127.0.0.1".to_owned()),
        packet: Size::from_bytes(1000),
        ttl: 1,
        seed: Some(1),
        name: "test".to_owned(),
        ..SendOptions::new(group, Protocol::named(protocol).unwrap(), layers)
    }
}

/// Receives for a minute at most.
pub(crate) fn receiving(known: Known, into: PathBuf) -> ReceiveOptions {
    let patience = Duration::from_secs(5);
    ReceiveOptions {
        start_within: patience,
        patience,
        within: Some(Duration::from_secs(60)),
        ..ReceiveOptions::new(known, into)
    }
}
