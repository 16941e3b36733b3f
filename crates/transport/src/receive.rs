//! Receiving a file.

mod discovery;
mod journal;
mod overload;
mod partial_file;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::{Cause, Estimates};
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::{Duration, Level};
use layercast_protocols::registry::Protocol;

use crate::error::Error;
use crate::host::{Interface, ReceiverCounters, ReceiverHost};
use crate::notice::Notice;
use crate::object::{
    Assembly, AssemblyCounters, FEC_RAPTORQ, TOI_FILE, TOI_TABLE, Table, TableReader, sha256_while,
};
use crate::packet::{Completion, PayloadId};
use crate::session::Session;
use crate::{random_seed, set_options};

use discovery::Found;
use journal::Journal;
use partial_file::{FoundPartial, PartialFile};

/// The interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// The number of attempts for a file whose hash is wrong.
const HASH_TRIES: u32 = 3;
/// The longest delay before a completion is sent, so that those of many receivers are spread.
const COMPLETION_SPREAD: StdDuration = StdDuration::from_secs(1);
/// The number of copies of a completion, since it is not acknowledged.
const COMPLETION_COPIES: u32 = 3;

/// The maximum number of other sources that are reported.
const STRANGERS_MAX: usize = 8;

/// What is known of the session beforehand.
#[derive(Clone, Debug)]
pub enum Known {
    /// The base layer's group and port, and the source if it is known. The rest comes with the file
    /// delivery table. With a source, joins name it (RFC 4607).
    Group(SocketAddrV4, Option<Ipv4Addr>),
    /// The whole description.
    Session(Box<Session>),
}

/// The options of a reception.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// What is known of the session.
    pub known: Known,
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The directory for the file.
    pub into: PathBuf,
    /// Whether a file of the same name is replaced.
    pub replace: bool,
    /// The maximum wait for a session.
    pub start_within: StdDuration,
    /// The maximum silence of a session.
    pub patience: StdDuration,
    /// The time limit; none for no limit.
    pub within: Option<StdDuration>,
    /// Options of the protocol, by name and as text, that differ from [`deployed`].
    pub protocol_options: Vec<(String, String)>,
    /// The seed of the receiver's random numbers; any if none.
    pub seed: Option<u64>,
}

/// The progress of a reception.
#[derive(Clone, Debug)]
pub struct ReceiveProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// The file's name and length, once they are known.
    pub file: Option<(String, u64)>,
    /// The minimum number of symbols needed, and how many of them are present.
    pub symbols: (u64, u64),
    /// Bytes of the file per second over the last interval.
    pub goodput_bps: f64,
    /// The receiver's estimates: level, fair rate, round-trip time, and the loss rate that its congestion control
    /// computes with, for most protocols the loss event rate.
    pub estimates: Estimates,
    /// The share of packets that were lost over the last seconds; none before the first packet.
    pub packets_lost: Option<f64>,
    /// The last change of level, and its cause.
    pub last_change: Option<(Level, Cause)>,
    /// The counters of the host.
    pub counters: ReceiverCounters,
    /// The counters of the reassembly.
    pub assembly: AssemblyCounters,
}

/// What a reception says while it runs.
#[derive(Debug)]
pub enum ReceiveEvent<'a> {
    /// Twice a second, and when the file is complete.
    Progress(&'a ReceiveProgress),
    /// The file is complete and is read for its hash.
    Hashing {
        /// Bytes read.
        done: u64,
        /// Bytes to read.
        of: u64,
    },
    /// Something that the operator should know.
    Notice(&'a Notice),
}

/// Receives a file and moves it to its final path when its hash is correct. Returns that path.
/// `say` gets the events.
///
/// # Errors
/// Why it failed. [`Error::Kept`] if another reception can continue.
pub fn receive(
    options: &ReceiveOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<(PathBuf, ReceiveProgress), Error> {
    let begin = Instant::now();
    let seed = options.seed.unwrap_or_else(random_seed);
    partial_file::check_directory(&options.into)?;
    let group = match &options.known {
        Known::Group(group, _) => *group,
        Known::Session(session) => session.group,
    };
    let interface = Interface::find(options.interface.as_deref(), group)?;
    let found = discovery::find(options, &interface, stop, begin, say)?;
    let Found { session, table, base, join_source } = found;
    let protocol = configured(&session, &options.protocol_options)?;
    let partial = PartialFile::open(&options.into, &table, options.replace)?;
    let file = partial.file()?;
    let mut assembly = Assembly::new(table.oti, file);
    let journal = partial.journal(&table, &mut assembly);
    let mut reception = Reception {
        assembly,
        journal: None,
        reader: TableReader::default(),
        table,
        last_useful: Instant::now(),
        changed: false,
        strangers: Vec::new(),
        warned_of_base: false,
    };
    reception.begin(journal, &partial, say);
    let mut host = ReceiverHost::new(interface, &protocol, session, join_source, Some(base), seed)?;
    host.start()?;
    let outcome = reception.run(&mut host, options, stop, begin, say);
    // In any case leave the session properly.
    let _ = host.stop();
    reception.write_journal(say);
    let finished = outcome.and_then(|report| Ok((partial.finish(reception.assembly.file())?, report)));
    let finished = finished.map_err(|error| reception.kept(error, &partial))?;
    if reception.table.wants_completions {
        report_completion(&host, seed, stop);
    }
    Ok(finished)
}

/// The protocol of that name, with defaults for real networks.
pub fn deployed(name: &str) -> Option<Protocol> {
    let mut protocol = Protocol::named(name)?;
    protocol.deploy();
    Some(protocol)
}

/// The protocol as [`deployed`], with the user's options and then those of the session.
fn configured(session: &Session, options: &[(String, String)]) -> Result<Protocol, Error> {
    let wrong = || crate::session::SessionError::Protocol(session.protocol.clone());
    let mut protocol = deployed(&session.protocol).ok_or_else(wrong)?;
    if let Some((name, _)) =
        options.iter().find(|(name, _)| protocol.requirements().agreed().contains(&name.as_str()))
    {
        return Err(Error::Agreed { option: name.clone() });
    }
    set_options(&mut protocol, options)?;
    Ok(session.agree(protocol)?)
}

struct Reception {
    assembly: Assembly,
    /// None where the record cannot be written.
    journal: Option<Journal>,
    reader: TableReader,
    table: Table,
    last_useful: Instant,
    /// The current table describes another file.
    changed: bool,
    /// Other sources on the session's groups that were reported.
    strangers: Vec<Ipv4Addr>,
    /// That the base layer is too fast was reported.
    warned_of_base: bool,
}

impl Reception {
    /// Takes the record, and reports what was in the place of the partial file.
    fn begin(
        &mut self,
        journal: io::Result<Journal>,
        partial: &PartialFile,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) {
        let (needed, held) = self.assembly.symbols();
        let path = partial.path().to_owned();
        match partial.found() {
            FoundPartial::Nothing => {}
            FoundPartial::Same => say(&ReceiveEvent::Notice(&Notice::Resumed { path, held, needed })),
            FoundPartial::Other => say(&ReceiveEvent::Notice(&Notice::PartialReplaced { path })),
        }
        match journal {
            Ok(journal) => self.journal = Some(journal),
            Err(error) => {
                say(&ReceiveEvent::Notice(&Notice::NoJournal { reason: error.to_string() }));
            }
        }
    }

    fn run(
        &mut self,
        host: &mut ReceiverHost,
        options: &ReceiveOptions,
        stop: &AtomicBool,
        begin: Instant,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<ReceiveProgress, Error> {
        let clock = host.clock();
        let mut next_progress = clock.now() + PROGRESS_EVERY;
        let mut reported_at = (Instant::now(), 0);
        let mut tries = 0;
        loop {
            host.step(next_progress, &mut |_, packet| self.accept_packet(packet, say))?;
            let complete = self.assembly.is_complete();
            if complete || clock.now() >= next_progress {
                next_progress = clock.now() + PROGRESS_EVERY;
                let report = self.progress(host, begin, &mut reported_at);
                say(&ReceiveEvent::Progress(&report));
                self.look_at_path(host, say);
                self.write_journal(say);
                if complete {
                    tries += 1;
                    if self.has_right_hash(options, stop, say)? {
                        return Ok(report);
                    }
                    say(&ReceiveEvent::Notice(&Notice::WrongHash { tries }));
                    self.restart(say);
                    if tries >= HASH_TRIES {
                        return Err(Error::Hash { tries });
                    }
                }
            }
            self.check(host, options, stop, begin)?;
        }
    }

    /// Discards all symbols, here and in the record.
    fn restart(&mut self, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        self.assembly.restart();
        let restarted = self.journal.as_mut().map_or(Ok(()), Journal::restart);
        self.give_up_journal(restarted, say);
    }

    /// Writes the records that wait.
    fn write_journal(&mut self, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        let written = self.journal.as_mut().map_or(Ok(()), Journal::flush);
        self.give_up_journal(written, say);
    }

    /// Without a record a file can be received all the same.
    fn give_up_journal(&mut self, written: io::Result<()>, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        if let Err(error) = written {
            self.journal = None;
            say(&ReceiveEvent::Notice(&Notice::NoJournal { reason: error.to_string() }));
        }
    }

    /// Adds to an error what is kept; removes what is of no use.
    fn kept(&self, reason: Error, partial: &PartialFile) -> Error {
        let (needed, held) = self.assembly.symbols();
        if held == 0 {
            partial.remove();
            return reason;
        }
        if self.journal.is_none() {
            return reason;
        }
        Error::Kept { reason: Box::new(reason), path: partial.path().to_owned(), held, needed }
    }

    /// Reports other senders, and a base layer that the path does not carry.
    fn look_at_path(&mut self, host: &mut ReceiverHost, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        if let Some(from) = host.take_stranger()
            && self.strangers.len() < STRANGERS_MAX
            && !self.strangers.contains(&from)
        {
            self.strangers.push(from);
            let (group, source) = (host.session().group, host.session().source);
            say(&ReceiveEvent::Notice(&Notice::OtherSession { from, group, source }));
        }
        if !self.warned_of_base
            && let Some(notice) = overload::of(host)
        {
            self.warned_of_base = true;
            say(&ReceiveEvent::Notice(&notice));
        }
    }

    /// Processes the payload of a packet.
    fn accept_packet(
        &mut self,
        packet: &crate::host::Accepted<'_>,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<(), Error> {
        match (packet.repr.toi, packet.repr.codepoint) {
            (TOI_FILE, FEC_RAPTORQ) => {
                let Ok((id, symbol)) = PayloadId::split(packet.payload) else { return Ok(()) };
                self.last_useful = Instant::now();
                let path = std::path::Path::new(&self.table.name);
                let outcome =
                    self.assembly.insert(id, symbol).map_err(|source| Error::file("write", path, source))?;
                if let Some(journal) = &mut self.journal {
                    let recorded = journal.record(id, symbol, self.table.oti, outcome);
                    self.give_up_journal(recorded, say);
                }
                Ok(())
            }
            (TOI_TABLE, _) => {
                if let (Some(fdt), Some(fti)) = (packet.repr.fdt, packet.repr.fti)
                    && let Some(table) = self.reader.insert(fdt, fti, packet.payload)
                    && let Ok(table) = Table::from_xml(table)
                    && (table.oti, table.sha256) != (self.table.oti, self.table.sha256)
                    && !self.changed
                {
                    self.changed = true;
                    say(&ReceiveEvent::Notice(&Notice::OtherFile { name: table.name }));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check(
        &self,
        host: &ReceiverHost,
        options: &ReceiveOptions,
        stop: &AtomicBool,
        begin: Instant,
    ) -> Result<(), Error> {
        let (needed, held) = self.assembly.symbols();
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if host.has_ended() && !self.assembly.is_complete() {
            return Err(Error::SessionEnded { held, needed });
        }
        if let Some(after) = options.within.filter(|&within| begin.elapsed() >= within) {
            return Err(Error::TimeOver { after, held, needed });
        }
        let waited = self.last_useful.elapsed();
        if waited >= options.patience {
            let group = host.session().group;
            let reasons = discovery::reasons(host.counters(), true);
            return Err(Error::Silent { group, waited, reasons });
        }
        Ok(())
    }

    fn progress(
        &self,
        host: &ReceiverHost,
        begin: Instant,
        reported_at: &mut (Instant, u64),
    ) -> ReceiveProgress {
        let symbols = self.assembly.symbols();
        let useful = self.assembly.counters().useful;
        let (then, before) = std::mem::replace(reported_at, (Instant::now(), useful));
        let bytes = (useful - before) as f64 * self.table.oti.symbol_size() as f64;
        ReceiveProgress {
            elapsed: begin.elapsed(),
            file: Some((self.table.name.clone(), self.table.oti.length())),
            symbols,
            goodput_bps: bytes * 8.0 / then.elapsed().as_secs_f64().max(1e-3),
            estimates: host.estimates(),
            packets_lost: host.recent_packets().map(|recent| recent.lost()),
            last_change: host.last_change(),
            counters: *host.counters(),
            assembly: *self.assembly.counters(),
        }
    }

    fn has_right_hash(
        &self,
        options: &ReceiveOptions,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<bool, Error> {
        use std::io::Seek as _;
        let path = options.into.join(&self.table.name);
        let mut file = self.assembly.file();
        let of = self.table.oti.length();
        let mut go_on = |done| {
            say(&ReceiveEvent::Hashing { done, of });
            !stop.load(Ordering::Relaxed)
        };
        let hash = file.rewind().and_then(|()| sha256_while(file, &mut go_on));
        let hash = hash.map_err(|source| Error::file("read", &path, source))?.ok_or(Error::Interrupted)?;
        Ok(hash == self.table.sha256)
    }
}

/// Reports the completion to the source: a few copies, spread so that many receivers do not send at once.
/// Their loss does no harm: the file is complete all the same.
fn report_completion(host: &ReceiverHost, seed: u64, stop: &AtomicBool) {
    let receiver = NonZeroU64::new(seed).unwrap_or(NonZeroU64::MIN);
    let completion = Completion { tsi: host.session().tsi, toi: TOI_FILE, receiver };
    for _ in 0..COMPLETION_COPIES {
        let share = (random_seed() >> 11) as f64 / (1u64 << 53) as f64;
        thread::sleep(COMPLETION_SPREAD.mul_f64(share));
        if let Err(error) = host.complete(completion) {
            tracing::debug!(%error, "a completion was not sent");
        }
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}
