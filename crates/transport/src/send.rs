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

/// How often the file delivery table goes out: a little more than once per second, so that with the
/// base layer's spacing it is never less.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// How often progress is told, and the file looked at.
const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;
/// How long a table is valid if nobody says when the session ends.
const TABLE_VALID_S: u64 = 24 * 3600;
/// Receivers whose completions are told apart. More are taken for known ones.
const KNOWN_RECEIVERS_MAX: usize = 1 << 20;

/// When to stop: at the first of these. With none, when asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// After this time.
    pub after: Option<StdDuration>,
    /// After this many symbols for each that the file has, over all layers.
    pub rounds: Option<u32>,
    /// When this many receivers have said that they are complete.
    pub completions: Option<usize>,
}

/// What to send with.
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
    /// How many routers a packet may pass (RFC 1112, section 6.1).
    pub ttl: u8,
    /// When to stop.
    pub ends: Ends,
    /// The seed of the source's random numbers; any if none.
    pub seed: Option<u64>,
}

/// How sending goes.
#[derive(Clone, Copy, Debug)]
pub struct SendProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// Symbols sent for each that the file has.
    pub rounds: f64,
    /// What was sent and heard.
    pub counters: SourceCounters,
    /// How many receivers are complete.
    pub completions: usize,
    /// What the source believes: the number of layers, their rate, the round-trip time.
    pub estimates: Estimates,
}

/// Why sending stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time is over.
    Time,
    /// The rounds are over.
    Rounds,
    /// As many receivers are complete as were waited for.
    Completions,
    /// Somebody asked to stop.
    Interrupted,
}

/// Sends a file until an end comes. `ready` hears the session description once all is open, and
/// `progress` how it goes.
///
/// # Errors
/// What prevented it or ended it early.
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
        let told = SendProgress {
            elapsed: StdDuration::from_nanos(now.since(begin).as_ns()),
            rounds: carousel.schedule.rounds(),
            counters: *host.counters(),
            completions: known.len(),
            estimates: Estimates::default(),
        };
        let stopped = why_stop(&options.ends, &told, stop);
        if now >= next_progress || stopped.is_some() {
            next_progress = now + PROGRESS_EVERY;
            let told = SendProgress { estimates: host.estimates(), ..told };
            progress(&told);
            if let Some(stopped) = stopped {
                host.stop(&mut carousel)?;
                return Ok((stopped, told));
            }
            if let Err(error) = carousel.file.check() {
                // Receivers cannot complete what is not there any more: tell them that it is over.
                host.stop(&mut carousel)?;
                return Err(error);
            }
        }
    }
}

fn why_stop(ends: &Ends, told: &SendProgress, stop: &AtomicBool) -> Option<Stopped> {
    if stop.load(Ordering::Relaxed) {
        return Some(Stopped::Interrupted);
    }
    if ends.completions.is_some_and(|count| told.completions >= count) {
        return Some(Stopped::Completions);
    }
    if ends.rounds.is_some_and(|rounds| told.rounds >= f64::from(rounds)) {
        return Some(Stopped::Rounds);
    }
    ends.after.filter(|&after| told.elapsed >= after).map(|_| Stopped::Time)
}

/// The description of a session that is about to begin. Number and port are filled in later.
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
        // The discard port stands in where the system is to choose one.
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

/// The room for symbols: what a packet has beside the longest header, so that no packet is larger
/// than the session's size, whatever it carries.
fn symbol_size(packet: Size) -> u16 {
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
    /// The next part of the table to go out, and when the next turn begins.
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
            // Channels that are no layers carry symbols as well.
            schedule: Schedule::new(file.oti(), session.channels),
            table_fti: table_fti(table.len(), table_symbol as u16),
            table,
            table_symbol,
            table_part: 0,
            table_at: Time::ZERO,
            file,
        })
    }

    /// The next part of the table, if it is its turn. All parts of a turn go out in a row.
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
