//! Sending a file.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use layercast_core::contract::Estimates;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::lct::LONG_CCI;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Channel, Duration, Size, Time};
use layercast_protocols::registry::Protocol;

use crate::error::Error;
use crate::file::FileSource;
use crate::host::{Interface, Load, SourceCounters, SourceHost, Supply};
use crate::object::{
    FEC_NO_CODE, FEC_RAPTORQ, Schedule, TABLE_MAX, TOI_FILE, TOI_TABLE, Table, TableError, safe_name,
    table_fti,
};
use crate::packet::{Fdt, Fti, MAX_HEADER, PayloadId};
use crate::random_seed;
use crate::session::{IP_UDP_BYTES, Session, SessionError, whole_rates};

/// The interval of the file delivery table: slightly below a second, so that with the base layer's spacing
/// it is sent at least once per second.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// The interval of progress reports and of checks of the file.
const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;
/// How long a table is valid if the end of the session is not known.
const TABLE_VALID_S: u64 = 24 * 3600;
/// The maximum number of receivers whose completions are distinguished. Further ones count as known.
const KNOWN_RECEIVERS_MAX: usize = 1 << 20;

/// When to stop: at the first of these. With none, on request only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// After this time.
    pub after: Option<StdDuration>,
    /// After this many symbols for each that the file has, over all layers.
    pub rounds: Option<u32>,
    /// When this many receivers have reported completion.
    pub completions: Option<usize>,
}

/// The options of a transmission.
#[derive(Clone, Debug)]
pub struct SendOptions {
    /// The base layer's group and port.
    pub group: SocketAddrV4,
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The port for feedback; 0 for any.
    pub feedback_port: u16,
    /// The congestion control.
    pub protocol: Protocol,
    /// The layers.
    pub layers: LayerTable,
    /// The size of packets with all headers.
    pub packet: Size,
    /// The time to live of packets (RFC 1112, section 6.1).
    pub ttl: u8,
    /// When to stop.
    pub ends: Ends,
    /// The seed of the source's random numbers; any if none.
    pub seed: Option<u64>,
}

/// The progress of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct SendProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// Symbols sent for each that the file has.
    pub rounds: f64,
    /// The counters of the host.
    pub counters: SourceCounters,
    /// How many receivers are complete.
    pub completions: usize,
    /// The source's estimates: the number of layers, their rate, the round-trip time.
    pub estimates: Estimates,
}

/// Why sending stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time is over.
    Time,
    /// The rounds are over.
    Rounds,
    /// The requested number of receivers is complete.
    Completions,
    /// A stop was requested.
    Interrupted,
}

/// Sends a file until one of its ends. `ready` gets the session description once the sockets are open, and
/// `progress` the progress.
///
/// # Errors
/// Why it could not start or ended early.
pub fn send(
    path: &Path,
    options: &SendOptions,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&Session),
    progress: &mut dyn FnMut(&SendProgress),
) -> Result<(Stopped, SendProgress), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = safe_name(&name).map_err(|source| Error::Name { name: name.to_string(), source })?;
    let session = description(options, Ipv4Addr::LOCALHOST)?;
    session.check()?;
    let interface = Interface::find(options.interface.as_deref(), options.group)?;
    let session = description(options, interface.address)?;
    let file = FileSource::open(path, symbol_size(session.packet))?;
    let seed = options.seed.unwrap_or_else(random_seed);
    let mut host =
        SourceHost::new(&interface, &options.protocol, session, options.feedback_port, options.ttl, seed)?;
    let mut carousel = Carousel::new(name, file, host.session(), &options.ends)?;
    carousel.file.prepare();
    ready(host.session());

    let clock = host.clock();
    let begin = clock.now();
    let mut known = HashSet::<NonZeroU64>::new();
    let mut next_progress = begin + PROGRESS_EVERY;
    host.start(&mut carousel)?;
    loop {
        host.step(next_progress, &mut carousel)?;
        for completion in host.take_completions() {
            if completion.toi == TOI_FILE && known.len() < KNOWN_RECEIVERS_MAX {
                known.insert(completion.receiver);
            }
        }
        let now = clock.now();
        let report = SendProgress {
            elapsed: StdDuration::from_nanos(now.since(begin).as_ns()),
            rounds: carousel.schedule.rounds(),
            counters: *host.counters(),
            completions: known.len(),
            estimates: Estimates::default(),
        };
        let stopped = why_stop(&options.ends, &report, stop);
        if now >= next_progress || stopped.is_some() {
            next_progress = now + PROGRESS_EVERY;
            let report = SendProgress { estimates: host.estimates(), ..report };
            progress(&report);
            if let Some(stopped) = stopped {
                host.stop(&mut carousel)?;
                return Ok((stopped, report));
            }
            if let Err(error) = carousel.file.check() {
                // Receivers cannot complete a file that is gone: announce the end of the session.
                host.stop(&mut carousel)?;
                return Err(error);
            }
        }
    }
}

fn why_stop(ends: &Ends, report: &SendProgress, stop: &AtomicBool) -> Option<Stopped> {
    if stop.load(Ordering::Relaxed) {
        return Some(Stopped::Interrupted);
    }
    if ends.completions.is_some_and(|count| report.completions >= count) {
        return Some(Stopped::Completions);
    }
    if ends.rounds.is_some_and(|rounds| report.rounds >= f64::from(rounds)) {
        return Some(Stopped::Rounds);
    }
    ends.after.filter(|&after| report.elapsed >= after).map(|_| Stopped::Time)
}

/// The description of a session that is about to start. Number and port are filled in later.
fn description(options: &SendOptions, source: Ipv4Addr) -> Result<Session, Error> {
    let layers = whole_rates(&options.layers).map_err(SessionError::Layers)?;
    let needs = options.protocol.requirements();
    let plan = SessionPlan { layers: layers.clone(), packet_size: options.packet };
    let agreed = needs.agreed().iter().filter_map(|name| {
        let value = options.protocol.get(name)?;
        Some(((*name).to_owned(), value))
    });
    Ok(Session {
        tsi: random_seed() as u32,
        protocol: options.protocol.name().to_owned(),
        source,
        group: options.group,
        // The discard port is a placeholder where the system chooses one.
        feedback: SocketAddrV4::new(
            source,
            if options.feedback_port == 0 { 9 } else { options.feedback_port },
        ),
        packet: options.packet,
        channels: needs.channels(&plan),
        agreed: agreed.collect(),
        layers,
    })
}

/// The size of symbols: the rest of a packet after the longest header, so that no packet exceeds the
/// session's packet size. [`Oti::plan`](crate::object::Oti::plan) rounds it down.
pub fn symbol_size(packet: Size) -> u16 {
    let header = MAX_HEADER - LONG_CCI - TABLE_EXTENSIONS;
    let headers = IP_UDP_BYTES + header as u32 + PayloadId::BYTES as u32;
    packet.as_bytes().saturating_sub(headers) as u16
}

/// The extensions that only packets of the table have: EXT_FDT and EXT_FTI.
const TABLE_EXTENSIONS: usize = 20;

/// Payload for the source: the file delivery table once per second on the base layer, else symbols.
struct Carousel {
    file: FileSource,
    schedule: Schedule,
    table: Vec<u8>,
    table_symbol: usize,
    table_fti: Fti,
    /// The next part of the table to send, and when the next transmission of the table starts.
    table_part: usize,
    table_at: Time,
}

impl Carousel {
    fn new(name: &str, file: FileSource, session: &Session, ends: &Ends) -> Result<Carousel, Error> {
        let since_1970_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let valid_s = ends.after.map_or(TABLE_VALID_S, |after| after.as_secs() + 60);
        let table = Table {
            name: name.to_owned(),
            oti: file.oti(),
            sha256: file.sha256(),
            expires_s: since_1970_s + NTP_OFFSET_S + valid_s,
            wants_completions: ends.completions.is_some(),
            session: session.to_string(),
        };
        let table = table.to_xml().into_bytes();
        if table.len() > TABLE_MAX {
            return Err(Error::Table(TableError::Field("length")));
        }
        let table_symbol = file.oti().symbol_size() - TABLE_EXTENSIONS;
        Ok(Carousel {
            // Channels that are not layers carry symbols as well.
            schedule: Schedule::new(file.oti(), session.channels),
            table_fti: table_fti(table.len(), table_symbol as u16),
            table,
            table_symbol,
            table_part: 0,
            table_at: Time::ZERO,
            file,
        })
    }

    /// The next part of the table, if it is due. All parts are sent in a row.
    fn table_part(&mut self, now: Time, room: &mut [u8]) -> Option<Load> {
        if now < self.table_at {
            return None;
        }
        let part = self.table.chunks(self.table_symbol).nth(self.table_part)?;
        let length = PayloadId::BYTES + part.len();
        let room = room.get_mut(..length)?;
        let (id, symbol) = room.split_first_chunk_mut()?;
        // No code (RFC 5445, section 3.2.1): block 0 in 16 bits, symbol in 16 bits.
        *id = (self.table_part as u32 & 0xffff).to_be_bytes();
        symbol.copy_from_slice(part);
        self.table_part += 1;
        if self.table_part * self.table_symbol >= self.table.len() {
            self.table_part = 0;
            self.table_at = now + TABLE_EVERY;
        }
        let (fdt, fti) = (Some(Fdt::new(0)), Some(self.table_fti));
        Some(Load { toi: TOI_TABLE, codepoint: FEC_NO_CODE, fdt, fti, length })
    }
}

impl Supply for Carousel {
    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, Error> {
        if channel == Channel(0)
            && let Some(load) = self.table_part(now, room)
        {
            return Ok(load);
        }
        let length = PayloadId::BYTES + self.file.oti().symbol_size();
        let mut load = Load { toi: TOI_FILE, codepoint: FEC_RAPTORQ, fdt: None, fti: None, length: 0 };
        let Some(id) = self.schedule.next(channel) else { return Ok(load) };
        if let Some((head, symbol)) = room.get_mut(..length).and_then(<[u8]>::split_first_chunk_mut) {
            *head = id.to_bytes();
            self.file.symbol(id, symbol)?;
            load.length = length;
        }
        Ok(load)
    }
}
