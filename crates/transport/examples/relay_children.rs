//! Many children of one relay in one process, to measure the relay: `relay_children RELAY GROUP COUNT CHANNELS SECONDS`.
//!
//! Each holds the first so many channels of the session, and counts what comes.

use std::net::SocketAddr;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::units::{Channel, Duration};
use layercast_delivery::relay::session::SessionKey;
use layercast_transport::Error;
use layercast_transport::host::{Clock, Inbox, Tunnel};
use layercast_transport::relay::{FeedbackPath, RelayTunnel};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// How often all tunnels do what is due.
const WORK_EVERY: StdDuration = StdDuration::from_millis(100);

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [relay, group, count, channels, seconds] = words.as_slice() else {
        return Err("relay_children RELAY GROUP COUNT CHANNELS SECONDS".to_owned());
    };
    let wrong = |word: &String| format!("`{word}` is not what is needed there");
    let relay: SocketAddr = relay.parse().map_err(|_| wrong(relay))?;
    let group: SocketAddr = group.parse().map_err(|_| wrong(group))?;
    let count: usize = count.parse().map_err(|_| wrong(count))?;
    let channels: u16 = channels.parse().map_err(|_| wrong(channels))?;
    let seconds: u64 = seconds.parse().map_err(|_| wrong(seconds))?;
    let key = SessionKey { group, source: None };
    let open = || -> Result<RelayTunnel, Error> {
        let mut tunnel = RelayTunnel::open(key, &[relay], Duration::from_secs(2), FeedbackPath::None)?;
        (0..channels).try_for_each(|channel| tunnel.join(Channel(channel), group))?;
        Ok(tunnel)
    };
    let mut tunnels = Vec::new();
    for _ in 0..count {
        tunnels.push(open().map_err(|error| error.to_string())?);
    }
    let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(|error| error.to_string())?;
    for (place, tunnel) in tunnels.iter().enumerate() {
        let data = EventData::new_u64(place as u64);
        epoll::add(&epoll, tunnel.socket(), data, EventFlags::IN).map_err(|error| error.to_string())?;
    }
    let (clock, mut inbox) = (Clock::default(), Inbox::new(9024));
    let (mut packets, mut bytes) = (vec![0u64; count], 0u64);
    let mut begin = Instant::now();
    let (mut worked, mut is_warm) = (Instant::now(), false);
    while begin.elapsed().as_secs() < seconds {
        // What comes in the first seconds, until all are served, does not count.
        if !is_warm && begin.elapsed().as_secs() >= 5 {
            (is_warm, begin) = (true, Instant::now());
            packets.fill(0);
            bytes = 0;
        }
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 64];
        let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let ready = epoll::wait(&epoll, &mut events, Some(&timeout)).unwrap_or(0);
        let is_due = worked.elapsed() >= WORK_EVERY;
        let places = events.iter().take(ready).map(|event| event.data.u64() as usize);
        let all = if is_due { 0..count } else { 0..0 };
        worked = if is_due { Instant::now() } else { worked };
        for place in places.chain(all) {
            let Some(tunnel) = tunnels.get_mut(place) else { continue };
            inbox.clear();
            let _ = inbox.drain(tunnel.socket(), None, &clock);
            tunnel.work(&mut inbox);
            if let Some(counted) = packets.get_mut(place) {
                *counted += inbox.len() as u64;
            }
            bytes += (0..inbox.len())
                .filter_map(|index| inbox.get(index))
                .map(|(_, one)| one.len() as u64)
                .sum::<u64>();
        }
    }
    let served = tunnels.iter().filter(|tunnel| tunnel.link().is_some()).count();
    let dropped: u64 =
        tunnels.iter().filter_map(|tunnel| tunnel.link()).map(|link| u64::from(link.dropped)).sum();
    let passed = begin.elapsed().as_secs_f64();
    println!(
        "{served} of {count} served, {:.1} Mbit/s in all, {} to {} packets each, {dropped} dropped by the relay",
        bytes as f64 * 8e-6 / passed,
        packets.iter().min().unwrap_or(&0),
        packets.iter().max().unwrap_or(&0),
    );
    Ok(())
}
