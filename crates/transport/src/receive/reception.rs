//! The reception of a file's symbols, until it is complete or ends early.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use layercast_core::units::Duration;

use super::journal::Journal;
use super::partial_file::{FoundPartial, PartialFile};
use super::{ReceiveEvent, ReceiveOptions, ReceiveProgress, discovery, overload};
use crate::disk::OpenFile;
use crate::error::Error;
use crate::host::{Accepted, ReceiverHost};
use crate::notice::Notice;
use layercast_delivery::object::{
    Assembly, FEC_RAPTORQ, TOI_FILE, TOI_TABLE, Table, TableReader, sha256_while,
};
use layercast_delivery::packet::PayloadId;

/// The interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// The number of attempts for a file whose hash is wrong.
const HASH_TRIES: u32 = 3;
/// The maximum number of other sources that are reported.
const STRANGERS_MAX: usize = 8;

/// A reception in progress.
pub(super) struct Reception {
    pub(super) assembly: Assembly<OpenFile>,
    /// None where the record cannot be written.
    journal: Option<Journal>,
    reader: TableReader,
    pub(super) table: Table,
    last_useful: Instant,
    /// The current table describes another file.
    changed: bool,
    /// Other sources on the session's groups that were reported.
    strangers: Vec<Ipv4Addr>,
    /// That the base layer is too fast was reported.
    warned_of_base: bool,
}

impl Reception {
    pub(super) fn new(table: Table, assembly: Assembly<OpenFile>) -> Reception {
        Reception {
            assembly,
            journal: None,
            reader: TableReader::default(),
            table,
            last_useful: Instant::now(),
            changed: false,
            strangers: Vec::new(),
            warned_of_base: false,
        }
    }

    /// Takes the record, and reports what was in the place of the partial file.
    pub(super) fn begin(
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

    pub(super) fn run(
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
    pub(super) fn write_journal(&mut self, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
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
    pub(super) fn kept(&self, reason: Error, partial: &PartialFile) -> Error {
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
        packet: &Accepted<'_>,
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
        let mut file = &self.assembly.file().0;
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
