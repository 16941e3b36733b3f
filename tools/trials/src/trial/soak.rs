//! Hostile packets by the hundred million: at the readers and state machines of receiver and source themselves, without
//! a network.
//!
//! A round is a new reception. With a group key it must end with the right files, whatever comes between;
//! without one, forged packets of the source's own address may prevent that, and what is in place must be right.

mod session;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;
use layercast_core::contract::{Arrival, Ecn, Host, Input, Origin, Send, TraceEvent, drive};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration as Span, Size, Time};
use layercast_delivery::accept::{AcceptCounters, Incoming as From, accept};
use layercast_delivery::memory::MemoryDisk;
use layercast_delivery::packet::Completion;
use layercast_delivery::reception::{Reception, ReceptionSettings};
use layercast_delivery::search::{Known, Search};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{AUTH_BYTES, Incoming, Outgoing, Scheme};
use layercast_delivery::security::sequence::Sequence;
use layercast_protocols::registry::{Header, Protocol};
use serde_json::json;

use self::session::{ADDRESS, RealSource};
use super::Common;
use crate::hostile::{ALL, Hostile, Kind};
use crate::report::Report;

/// A real packet after so many hostile ones.
const REAL_EVERY: u64 = 100;
/// By how much the memory may grow after the first rounds (CHOICE).
const GROWTH_KB: u64 = 16 * 1024;
/// Rounds of each thread before memory is measured.
const WARM: u64 = 4;

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// Hostile packets
    #[arg(long, default_value_t = 100_000_000)]
    pub packets: u64,

    /// Hostile packets in a round
    #[arg(long, default_value_t = 200_000)]
    pub round: u64,

    /// Threads
    #[arg(long, default_value_t = 1)]
    pub jobs: u64,

    /// Stop after this many seconds
    #[arg(long)]
    pub within: Option<u64>,
}

impl Options {
    /// Small enough for a test: each kind of round once.
    pub fn brief(out: PathBuf) -> Options {
        Options {
            common: Common { program: None, out, seed: 1 },
            packets: ROUND_KINDS * 50_000,
            round: 50_000,
            jobs: 1,
            within: None,
        }
    }
}

/// How many kinds of rounds there are.
const ROUND_KINDS: u64 = 3;

/// Runs the trial.
///
/// # Errors
/// If content was wrong, a protected reception did not end, or memory grew.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "soak")?;
    let (start, next, done) = (Instant::now(), AtomicU64::new(0), [const { AtomicU64::new(0) }; 3]);
    let warm_kb = AtomicU64::new(0);
    let work = || -> Result<()> {
        let is_over = || options.within.is_some_and(|within| start.elapsed() > Duration::from_secs(within));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number * options.round >= options.packets || is_over() {
                return Ok(());
            }
            let seed = options.common.seed.wrapping_mul(1_000_003) + number;
            let kind = number % ROUND_KINDS;
            let error = || format!("round {number}, seed {seed}");
            match kind {
                0 => reception(seed, false, options.round).with_context(error)?,
                1 => reception(seed, true, options.round).with_context(error)?,
                _ => feedback(seed, options.round).with_context(error)?,
            }
            done[kind as usize].fetch_add(options.round, Ordering::Relaxed);
            if number < WARM * ROUND_KINDS * options.jobs {
                warm_kb.fetch_max(peak_kb(), Ordering::Relaxed);
            }
        }
    };
    let ended = thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        jobs.into_iter().try_for_each(|job| job.join().map_err(|_| anyhow!("a round panicked"))?)
    });
    let counts = done.map(|count| count.load(Ordering::Relaxed));
    let (all, seconds) = (counts.iter().sum::<u64>(), start.elapsed().as_secs_f64());
    let (warm, peak) = (warm_kb.load(Ordering::Relaxed), peak_kb());
    let is_right = ended.is_ok() && peak <= warm + GROWTH_KB;
    report.add(
        is_right,
        json!({
            "packets": all, "receiver": counts[0], "receiver_keyed": counts[1], "source": counts[2],
            "seconds": seconds, "per_second": all as f64 / seconds, "warm_kb": warm, "peak_kb": peak,
            "error": ended.as_ref().err().map(|error| format!("{error:#}")),
        }),
    )?;
    report.end()
}

/// The largest resident memory of this process so far.
fn peak_kb() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn files(seed: u64) -> Vec<(String, Vec<u8>)> {
    let mut random = Stream::new(seed, "content");
    let mut bytes = |length: usize| (0..length).map(|_| random.bits() as u8).collect();
    vec![
        ("long".to_owned(), bytes(150_000)),
        ("folder/short".to_owned(), bytes(3_000)),
        ("folder/tiny".to_owned(), bytes(10)),
    ]
}

/// An endpoint's actions, which lead nowhere.
struct Nowhere;

impl Host<Header> for Nowhere {
    fn send(&mut self, _: Send<Header>) {}

    fn join(&mut self, _: Channel) {}

    fn leave(&mut self, _: Channel) {}

    fn trace(&mut self, _: TraceEvent) {}
}

/// A receiver, from the bytes of a packet to files: protection, acceptance, congestion control, objects; and the search
/// for a session, from the same packets.
struct Receiving {
    protection: Option<Incoming>,
    accepted: AcceptCounters,
    search: Search,
    endpoint: layercast_protocols::registry::Receiver,
    reception: Reception<MemoryDisk>,
    of: u32,
    now: Time,
}

impl Receiving {
    fn packet(&mut self, channel: Channel, packet: &mut [u8]) -> Result<()> {
        self.now += Span::from_us(10);
        if let Some(protection) = &mut self.protection
            && protection.accept(packet).is_err()
        {
            return Ok(());
        }
        let from = SocketAddr::new(ADDRESS, 4000);
        let incoming = From { from, channel: Some(channel), is_cut: false };
        // The search takes any session.
        if let Some(accepted) = accept::<Header>(incoming, packet, None, &mut AcceptCounters::default())
            && channel == Channel(0)
        {
            let _ = self.search.packet::<Protocol>(ADDRESS, &accepted.repr, accepted.payload);
        }
        let Some(accepted) = accept(incoming, packet, Some((ADDRESS, self.of)), &mut self.accepted) else {
            return Ok(());
        };
        let size = Size::from_bytes(u32::try_from(packet.len())? + 28);
        let arrival =
            Arrival { origin: Origin::Channel(channel), size, ecn: Ecn::NotCapable, header: accepted.header };
        drive(&mut self.endpoint, self.now, Input::Packet(arrival), &mut Nowhere);
        self.reception.packet(&accepted.repr, accepted.payload)?;
        self.reception.drain_events().for_each(drop);
        self.reception.work()?;
        Ok(())
    }
}

/// A round at a receiver. Packets come from the source's own address, so nothing is dropped for its address.
fn reception(seed: u64, is_keyed: bool, round: u64) -> Result<()> {
    let (files, key) = (files(seed), GroupKey::from_seed(&[7; 32]));
    let (mut source, mut other) = (RealSource::new(&files, seed)?, RealSource::new(&files, seed + 1)?);
    let session = source.session.clone();
    let mut protect = Outgoing::new(Scheme::mac(&key, session.tsi), Sequence::after(0));
    protect.sequence.grant(1 << 30);
    let mut hostile = Hostile::new(seed);
    for _ in 0..50 {
        other.go_on(&mut |_, packet| hostile.hear_other(packet))?;
    }
    let protocol = Protocol::named("elm").context("no protocol elm")?;
    let mut receiving = Receiving {
        protection: is_keyed.then(|| Incoming::of(&key, None, session.tsi)),
        accepted: AcceptCounters::default(),
        search: Search::new(Known::Group(session.group, None), [].into(), None),
        endpoint: protocol.receiver(session.plan(), Stream::new(seed, "receiver")),
        reception: Reception::new(MemoryDisk::default(), ReceptionSettings::default()),
        of: session.tsi,
        now: Time::ZERO,
    };
    drive(&mut receiving.endpoint, Time::ZERO, Input::Start, &mut Nowhere);
    let (mut packet, mut real) = (Vec::new(), Vec::new());
    for number in 0..round {
        if number % REAL_EVERY == 0 {
            source.go_on(&mut |channel, bytes| real.push((channel, bytes.to_vec())))?;
            for (channel, mut bytes) in real.drain(..) {
                if is_keyed {
                    let length = bytes.len();
                    bytes.resize(length + AUTH_BYTES, 0);
                    protect.protect(&mut bytes, length)?;
                }
                hostile.hear(&bytes);
                receiving.packet(channel, &mut bytes)?;
            }
        }
        hostile.next(&ALL, &mut packet);
        receiving.packet(Channel((number % 3) as u16), &mut packet)?;
    }
    while receiving.reception.work()? {}
    let is_complete = receiving.reception.is_complete();
    ensure!(
        is_complete || !is_keyed,
        "not complete in spite of the key: {:?}",
        receiving.reception.progress()
    );
    // A mutated table may give content another name, never other content.
    let in_place = receiving.reception.disk().files().filter(|(path, _)| !path.starts_with('.'));
    for (path, content) in in_place {
        let is_right = content.is_empty() || files.iter().any(|(_, right)| *right == content);
        ensure!(is_right, "{path} has {} bytes of wrong content", content.len());
    }
    Ok(())
}

/// A round at a source: reports and completions.
fn feedback(seed: u64, round: u64) -> Result<()> {
    let mut source = RealSource::new(&files(seed), seed)?;
    let mut hostile = Hostile::new(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/report");
    for entry in fs::read_dir(&folder).with_context(|| format!("no {}", folder.display()))? {
        let bytes = fs::read(entry?.path())?;
        hostile.hear(&bytes);
        hostile.hear_other(&bytes);
    }
    let (mut packet, mut completions) = (Vec::new(), 0u64);
    for number in 0..round {
        // Reports are short; what is random is often as short.
        hostile.next(&[Kind::Mutated, Kind::Mutated, Kind::Random, Kind::OtherSession], &mut packet);
        if number % 4 == 0 {
            packet.truncate(64);
        }
        if Completion::is_completion(&packet) {
            completions += u64::from(Completion::from_bytes(&packet).is_ok());
        } else if let Ok(header) = Header::decode_report(&packet) {
            source.report(header, packet.len());
        }
        if number % REAL_EVERY == 0 {
            source.go_on(&mut |_, _| {})?;
        }
    }
    ensure!(completions < round, "every packet is a completion");
    Ok(())
}
