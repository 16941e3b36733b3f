//! Sends hostile packets at a rate, from a host or from this machine.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::hostile::{Hostile, Kind};
use crate::process::Place;

/// How many packets are sent between two looks at the clock.
const BURST: u64 = 8;
/// The largest packet that is heard.
const PACKET_MAX: usize = 2048;

/// A socket at a place, for sending to groups.
///
/// # Errors
/// The system's error.
pub fn sender(place: &Place) -> Result<UdpSocket> {
    let open = |address: Ipv4Addr| {
        let socket = UdpSocket::bind((address, 0))?;
        SockRef::from(&socket).set_multicast_if_v4(&address)?;
        socket.set_multicast_ttl_v4(8)?;
        std::io::Result::Ok(socket)
    };
    Ok(match place {
        Place::Loopback => open(Ipv4Addr::LOCALHOST)?,
        Place::Host(host) => host.run(|| open(host.ipv4()))??,
        Place::Namespace(name) => bail!("no packets are made or heard in {name}"),
    })
}

/// A socket at a place that hears a group, as others may at the same time.
///
/// # Errors
/// The system's error.
pub fn listener(place: &Place, group: SocketAddrV4) -> Result<UdpSocket> {
    let open = |address: Ipv4Addr| {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_address(true)?;
        socket.set_recv_buffer_size(4 << 20)?;
        socket.bind(&group.into())?;
        socket.join_multicast_v4(group.ip(), &address)?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        std::io::Result::Ok(socket.into())
    };
    Ok(match place {
        Place::Loopback => open(Ipv4Addr::LOCALHOST)?,
        Place::Host(host) => host.run(|| open(host.ipv4()))??,
        Place::Namespace(name) => bail!("no packets are made or heard in {name}"),
    })
}

/// Hears packets on a socket for a time, or until there are so many.
///
/// # Errors
/// The system's error.
pub fn hear(socket: &UdpSocket, time: Duration, most: usize, mut take: impl FnMut(&[u8])) -> Result<usize> {
    let (until, mut bytes, mut heard) = (Instant::now() + time, [0; PACKET_MAX], 0);
    while Instant::now() < until && heard < most {
        match socket.recv(&mut bytes) {
            Ok(length) => {
                take(bytes.get(..length).unwrap_or_default());
                heard += 1;
            }
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error).context("listening"),
        }
    }
    Ok(heard)
}

/// Counts the packets of a group as long as it lives.
#[derive(Debug)]
pub struct Tap {
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    counting: Option<JoinHandle<()>>,
}

impl Tap {
    /// Listens to a group at a place.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(place: &Place, group: SocketAddrV4) -> Result<Tap> {
        let socket = listener(place, group)?;
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, flag) = (Arc::clone(&count), Arc::clone(&stop));
        let counting = thread::spawn(move || {
            let mut bytes = [0; PACKET_MAX];
            while !flag.load(Ordering::Relaxed) {
                if socket.recv(&mut bytes).is_ok() {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Ok(Tap { count, stop, counting: Some(counting) })
    }

    /// How many packets there were so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(counting) = self.counting.take() {
            let _ = counting.join();
        }
    }
}

/// What to send.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The kinds of packets.
    pub kinds: Vec<Kind>,
    /// Where to: each packet to the next one.
    pub to: Vec<SocketAddr>,
    /// Packets per second.
    pub per_second: f64,
    /// How many; none to send until it is ended.
    pub most: Option<u64>,
}

/// A flood that goes on in a thread of its own.
#[derive(Debug)]
pub struct Flood {
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    sending: Option<JoinHandle<()>>,
}

impl Flood {
    /// Starts it. Packets that `ears` hears are added to what packets are made from.
    pub fn start(socket: UdpSocket, ears: Option<UdpSocket>, plan: Plan, mut hostile: Hostile) -> Flood {
        let (sent, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, flag) = (Arc::clone(&sent), Arc::clone(&stop));
        if let Some(ears) = &ears {
            let _ = ears.set_nonblocking(true);
        }
        let sending = thread::spawn(move || {
            let (start, mut packet, mut heard) = (Instant::now(), Vec::new(), [0; PACKET_MAX]);
            let mut number = 0;
            while !flag.load(Ordering::Relaxed) && plan.most.is_none_or(|most| number < most) {
                if let Some(length) = ears.as_ref().and_then(|ears| ears.recv(&mut heard).ok()) {
                    hostile.hear(heard.get(..length).unwrap_or_default());
                }
                for _ in 0..BURST {
                    let Some(to) = plan.to.get(number as usize % plan.to.len().max(1)) else { return };
                    hostile.next(&plan.kinds, &mut packet);
                    // One that the system refuses, an empty one for example, is one less.
                    if socket.send_to(&packet, to).is_ok() {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                    number += 1;
                }
                let due = start + Duration::from_secs_f64(number as f64 / plan.per_second);
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        });
        Flood { sent, stop, sending: Some(sending) }
    }

    /// How many packets were sent so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Whether all are sent.
    pub fn is_over(&self) -> bool {
        self.sending.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it; returns how many packets were sent.
    pub fn end(mut self) -> u64 {
        self.finish();
        self.sent()
    }

    fn finish(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(sending) = self.sending.take() {
            let _ = sending.join();
        }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.finish();
    }
}
