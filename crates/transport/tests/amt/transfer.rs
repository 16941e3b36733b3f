//! Sources and receivers for these tests.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size};
use layercast_delivery::reception::ReceptionSettings;
use layercast_delivery::search::Known;
use layercast_protocols::registry::Protocol;
use layercast_transport::amt::AmtRelay;
use layercast_transport::receive::{ReceiveEvent, ReceiveOptions, ReceiveProgress, RelayUse, receive};
use layercast_transport::send::{Ends, PART_SYMBOLS, SendOptions, Sent, TAGGED, send};
use layercast_transport::{Error, Notice};

/// A directory that is removed when it is dropped.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> TempDir {
        let path = std::env::temp_dir().join(format!("layercast-amt-{name}-{}", std::process::id()));
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

pub(crate) fn sending(group: SocketAddr, protocol: &str) -> SendOptions {
    SendOptions {
        group,
        interface: Some("127.0.0.1".to_owned()),
        feedback_port: 0,
        protocol: Protocol::named(protocol).unwrap(),
        layers: LayerTable::doubling(Rate::from_mbps(2.0), 3).unwrap(),
        packet: Size::from_bytes(1000),
        ttl: 1,
        ends: Ends::default(),
        group_key: None,
        reports: true,
        on_demand: true,
        encrypts: false,
        follow: false,
        packs: true,
        longest_part: PART_SYMBOLS,
        tagged: TAGGED,
        state: None,
        serve: None,
        relays: Vec::new(),
        seed: Some(1),
        name: "amt".to_owned(),
        is_announced: false,
        key: None,
    }
}

pub(crate) fn receiving(known: Known, into: PathBuf, relay: AmtRelay) -> ReceiveOptions {
    ReceiveOptions {
        known,
        interface: None,
        into,
        settings: ReceptionSettings::default(),
        keep_going: false,
        start_within: Duration::from_secs(10),
        patience: Duration::from_secs(20),
        within: Some(Duration::from_secs(60)),
        protocol_options: Vec::new(),
        group_key: None,
        silent: false,
        relays: RelayUse { amt: Some(relay), only: true, ..RelayUse::default() },
        salt: None,
        keys: Vec::new(),
        seed: None,
    }
}

/// Receives, and keeps the notices.
pub(crate) fn receive_into(
    options: &ReceiveOptions,
    notices: &Mutex<Vec<Notice>>,
) -> Result<ReceiveProgress, Error> {
    receive(options, &AtomicBool::new(false), &mut |event| {
        if let ReceiveEvent::Notice(notice) = event {
            notices.lock().unwrap().push((*notice).clone());
        }
    })
}

/// A source in a thread, until it is stopped.
pub(crate) struct Source {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<Sent, Error>>,
}

pub(crate) fn start_source(path: PathBuf, options: SendOptions) -> Source {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    Source { stop, thread: thread::spawn(move || send(&[path], &options, &flag, &mut |_| {})) }
}

impl Source {
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap();
    }
}
