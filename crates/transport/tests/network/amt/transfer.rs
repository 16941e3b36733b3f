//! Sources and receivers for these tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use layercast_core::layers::LayerTable;
use layercast_core::units::Rate;
use layercast_delivery::search::Known;
use layercast_transport::amt::AmtRelay;
use layercast_transport::event::Event;
use layercast_transport::receive::{ReceiveOptions, ReceiveProgress, RelayUse, receive};
use layercast_transport::send::{SendOptions, Sent, send};
use layercast_transport::{Error, Notice};

use crate::fixture;

pub(crate) fn sending(group: SocketAddr, protocol: &str) -> SendOptions {
    let layers = LayerTable::doubling(Rate::from_mbps(2.0), 3).unwrap();
    SendOptions { layers, name: "amt".to_owned(), ..fixture::sending(group, protocol) }
}

pub(crate) fn receiving(known: Known, into: PathBuf, relay: AmtRelay) -> ReceiveOptions {
    ReceiveOptions {
        start_within: Duration::from_secs(10),
        patience: Duration::from_secs(20),
        relays: RelayUse { amt: Some(relay), only: true, ..RelayUse::default() },
        ..fixture::receiving(known, into)
    }
}

/// Receives, and keeps the notices.
pub(crate) fn receive_into(
    options: &ReceiveOptions,
    notices: &Mutex<Vec<Notice>>,
) -> Result<ReceiveProgress, Error> {
    receive(options, &AtomicBool::new(false), &mut |event| {
        if let Event::Notice(notice) = event {
            notices.lock().unwrap().push(notice.clone());
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
