//! A reception in progress: one session's packets, until all objects are complete or the session is lost.

use std::net::IpAddr;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use layercast_core::units::{Duration, Time};
use layercast_delivery::follow::Following;
use layercast_delivery::node::Reached;
use layercast_delivery::reception::{DiskError, Reception, ReceptionEvent};
use layercast_delivery::search::FoundSession;
use layercast_delivery::security::protection::ProtectionCounters;

use super::breaker::Breaker;
use super::placing::Placing;
use super::reports::Completions;
use super::{ReceiveEvent, ReceiveOptions, ReceiveProgress, discovery, overload};
use crate::disk::Folder;
use crate::error::Error;
use crate::host::ReceiverHost;
use crate::notice::Notice;

/// The interval of progress reports.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// The longest wait for packets while blocks are being decoded: what is ready is taken after that.
const DECODED_WITHIN: Duration = Duration::from_ms(2);
/// The maximum number of other sources that are reported.
const STRANGERS_MAX: usize = 8;
/// Other senders are reported while the session itself was heard within this time.
const RECENT: Duration = Duration::from_secs(1);
/// The interval of checks for an interruption during a pause.
const LOOK_EVERY: StdDuration = StdDuration::from_millis(200);

/// How a session ended for a receiver.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Everything is in its place, or cannot be received.
    Complete(Box<ReceiveProgress>),
    /// The session has ended, and this receiver waits for the next one.
    Ended,
    /// The session is silent, and there is another one.
    Moved,
    /// It was left because enough had arrived, and then it had not.
    Again,
    /// The path does not carry the base layer: to be left alone for so long.
    Overloaded(StdDuration),
}

/// A reception in progress.
pub(super) struct Running<'a> {
    pub(super) reception: Reception<Folder>,
    pub(super) options: &'a ReceiveOptions,
    pub(super) stop: &'a AtomicBool,
    pub(super) begin: Instant,
    following: Following,
    completions: Completions,
    /// The number by which this receiver reports.
    pub(super) number: NonZeroU64,
    /// Other sources on the session's groups, the first so many of which were reported: each is once in a session.
    strangers: Vec<IpAddr>,
    reported: usize,
    /// That the base layer is too fast was reported, and that leaves have no effect.
    warned_of_base: bool,
    warned_of_leaves: bool,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        reception: Reception<Folder>,
        options: &'a ReceiveOptions,
        stop: &'a AtomicBool,
        begin: Instant,
    ) -> Running<'a> {
        Running {
            reception,
            options,
            stop,
            begin,
            following: Following::new(Time::ZERO),
            completions: Completions::default(),
            number: NonZeroU64::new(options.seed.unwrap_or_else(crate::random_seed))
                .unwrap_or(NonZeroU64::MIN),
            strangers: Vec::new(),
            reported: 0,
            warned_of_base: false,
            warned_of_leaves: false,
        }
    }

    /// Begins with a session.
    pub(super) fn follow(&mut self, found: &FoundSession) -> Result<(), Error> {
        self.completions = Completions::default();
        self.strangers.clear();
        self.reported = 0;
        self.reception.follow();
        self.reception.begin(found.number, &found.instance).map_err(|error| self.failed(error))
    }

    /// Opens the record of the files that a mirror may remove.
    pub(super) fn open_record(&mut self) -> Result<(), Error> {
        let opened = self.reception.open_record().map(|_| ());
        opened.map_err(|error| self.failed(error))
    }

    pub(super) fn failed(&self, error: DiskError) -> Error {
        let path = self.options.into.join(&error.path);
        match error.source.kind() {
            std::io::ErrorKind::ResourceBusy => Error::FileBusy { path },
            _ => Error::file("write", &path, error.source),
        }
    }

    pub(super) fn run(
        &mut self,
        host: &mut ReceiverHost,
        placing: &mut Placing<'_>,
        breaker: &mut Breaker,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<Outcome, Error> {
        let clock = host.clock();
        self.following = Following::new(clock.now());
        let mut next_progress = clock.now() + PROGRESS_EVERY;
        let mut reported = (Instant::now(), self.reception.counters().useful);
        let mut is_busy = false;
        loop {
            let latest = match (is_busy, self.reception.is_decoding()) {
                (true, _) => clock.now(),
                (false, true) => next_progress.min(clock.now() + DECODED_WITHIN),
                (false, false) => next_progress,
            };
            host.step(latest, &mut |now, _| {
                self.following.own(now);
                Ok(())
            })?;
            let taken = self.reception.packets(host.accepted_count(), |number| host.accepted(number));
            self.say_trace(host, say);
            let worked = taken.and_then(|()| self.reception.work());
            self.say_objects(say);
            is_busy = worked.map_err(|error| self.failed(error))?;
            // What is complete needs no packets, which is the cheaper question.
            let is_complete =
                !self.options.keep_going && !self.reception.needs_packets() && self.reception.is_complete();
            if is_complete || clock.now() >= next_progress {
                next_progress = clock.now() + PROGRESS_EVERY;
                let report = self.progress(host, &mut reported);
                say(&ReceiveEvent::Progress(&report));
                self.look_at_path(host, say);
                let silent = StdDuration::from_nanos(self.following.silent_for(clock.now()).as_ns());
                placing.look(host, silent, say)?;
                self.reception.flush();
                self.rest_or_begin(host)?;
                self.report(host, &report);
                if is_complete {
                    return Ok(Outcome::Complete(Box::new(report)));
                }
                let alone = host.base_only_for() > Duration::ZERO;
                let passed = StdDuration::from_nanos(PROGRESS_EVERY.as_ns());
                if let Some(pause) = breaker.look(alone, host.recent_packets(), passed) {
                    say(&ReceiveEvent::Notice(&Notice::Overloaded { pause }));
                    return Ok(Outcome::Overloaded(pause));
                }
            }
            // A service stays for what the source may change.
            if !self.options.keep_going && !self.reception.needs_packets() {
                return self.finish(host, &mut reported, say);
            }
            if self.is_lost(host) {
                return Ok(Outcome::Moved);
            }
            if self.options.keep_going && host.node.has_ended() {
                return Ok(Outcome::Ended);
            }
            self.check_limits()?;
            // What is here may suffice, without the spare symbols for which it stays.
            if !is_busy && !self.reception.is_decoding() {
                self.check(host)?;
            }
        }
    }

    /// A service that has everything holds the base alone, by which it learns of what is new.
    fn rest_or_begin(&mut self, host: &mut ReceiverHost) -> Result<(), Error> {
        host.set_rest(self.options.keep_going && self.reception.is_up_to_date())
    }

    /// Leaves the session, since all that arrives now is needless, and decodes and compares what is here.
    fn finish(
        &mut self,
        host: &mut ReceiverHost,
        reported: &mut (Instant, u64),
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<Outcome, Error> {
        host.stop()?;
        let mut next_progress = Instant::now();
        loop {
            let has_more = self.reception.work().map_err(|error| self.failed(error))?;
            if !has_more && !self.reception.is_decoding() {
                break;
            }
            host.rest(if has_more { Duration::ZERO } else { DECODED_WITHIN });
            self.say_objects(say);
            self.check_limits()?;
            if Instant::now() >= next_progress {
                next_progress = Instant::now() + StdDuration::from_nanos(PROGRESS_EVERY.as_ns());
                say(&ReceiveEvent::Progress(&self.progress(host, reported)));
            }
        }
        self.say_objects(say);
        if !self.reception.is_complete() {
            return Ok(Outcome::Again);
        }
        let report = self.progress(host, reported);
        say(&ReceiveEvent::Progress(&report));
        Ok(Outcome::Complete(Box::new(report)))
    }

    /// A service reports each session that is complete, and goes on.
    fn report(&mut self, host: &mut ReceiverHost, progress: &ReceiveProgress) {
        host.note_progress(&reached(progress));
        let wanted = self.options.keep_going && self.wants_completions();
        if wanted && self.reception.is_complete() && progress.objects.failed == 0 {
            self.completions.begin();
        }
        self.completions.look(host, self.number);
    }

    /// Whether the source wants completions, and gets them.
    pub(super) fn wants_completions(&self) -> bool {
        self.reception.wants_completions() && !self.options.silent
    }

    /// The session is left: the last report says why, if this is the end.
    pub(super) fn leave(&mut self, host: &mut ReceiverHost, outcome: &Result<Outcome, Error>) {
        let disk_fails = match outcome {
            Ok(Outcome::Complete(progress)) => {
                host.note_progress(&reached(progress));
                false
            }
            Ok(_) => return,
            Err(error) => {
                matches!(error, Error::DiskFull { .. } | Error::NoPermission { .. } | Error::File { .. })
            }
        };
        host.node.say_farewell(disk_fails, self.options.keep_going);
    }

    /// Reports what happened to objects.
    pub(super) fn say_objects(&mut self, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        self.reception.drain_events().for_each(|event: ReceptionEvent| say(&ReceiveEvent::Object(&event)));
    }

    /// Reports what the receiver decided and noticed.
    pub(super) fn say_trace(&self, host: &mut ReceiverHost, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        if host.node.has_log() {
            let (elapsed, estimates) = (self.begin.elapsed(), host.node.estimates());
            host.node.drain_log().for_each(|note| say(&ReceiveEvent::Trace(elapsed, &note, &estimates)));
        }
    }

    /// Waits, and looks for an interruption.
    pub(super) fn pause(&self, pause: StdDuration) -> Result<(), Error> {
        let begin = Instant::now();
        while begin.elapsed() < pause {
            self.check_limits()?;
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Whether the session is silent while another one is there.
    fn is_lost(&mut self, host: &mut ReceiverHost) -> bool {
        let now = host.clock().now();
        if let Some(stranger) = host.node.take_stranger() {
            self.meet(stranger.from);
            if stranger.may_be_followed {
                self.following.other(now);
            }
        }
        self.following.is_lost(now)
    }

    fn meet(&mut self, from: IpAddr) {
        if self.strangers.len() < STRANGERS_MAX && !self.strangers.contains(&from) {
            self.strangers.push(from);
        }
    }

    /// Reports other senders, and a base layer that the path does not carry.
    fn look_at_path(&mut self, host: &mut ReceiverHost, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        let (group, source) = (host.session().group, host.session().source);
        // A session that is silent as well is followed soon.
        if self.following.silent_for(host.clock().now()) < RECENT {
            for &from in self.strangers.iter().skip(self.reported) {
                say(&ReceiveEvent::Notice(&Notice::OtherSession { from, group, source }));
            }
            self.reported = self.strangers.len();
        }
        if !self.warned_of_base
            && let Some(notice) = overload::of(host)
        {
            self.warned_of_base = true;
            say(&ReceiveEvent::Notice(&notice));
        }
        if !self.warned_of_leaves && host.counters().leaves.endless > 0 {
            self.warned_of_leaves = true;
            say(&ReceiveEvent::Notice(&Notice::LeavesWithoutEffect));
        }
        if host.node.take_unheard() {
            say(&ReceiveEvent::Notice(&Notice::NotHeard));
        }
    }

    pub(super) fn check_limits(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if let Some(after) = self.options.within.filter(|&within| self.begin.elapsed() >= within) {
            let progress = self.reception.progress();
            return Err(Error::TimeOver { after, held: progress.held, needed: progress.needed });
        }
        Ok(())
    }

    /// Whether the session has ended, or is silent.
    fn check(&self, host: &ReceiverHost) -> Result<(), Error> {
        if host.node.has_ended() && !self.reception.is_complete() {
            let progress = self.reception.progress();
            return Err(Error::SessionEnded { held: progress.held, needed: progress.needed });
        }
        let silent = self.following.silent_for(host.clock().now());
        let waited = StdDuration::from_nanos(silent.as_ns());
        if waited >= self.options.patience {
            let group = host.session().group;
            let forged = host.node.protection().map_or(0, ProtectionCounters::forged);
            let reasons = discovery::reasons(&host.counters().node.accept, forged, true);
            return Err(Error::Silent { group, waited, reasons });
        }
        Ok(())
    }

    fn progress(&self, host: &ReceiverHost, reported: &mut (Instant, u64)) -> ReceiveProgress {
        let useful = self.reception.counters().useful;
        let (then, before) = std::mem::replace(reported, (Instant::now(), useful));
        let symbol = f64::from(host.session().symbol_size());
        let bits = (useful - before) as f64 * symbol * 8.0;
        ReceiveProgress {
            elapsed: self.begin.elapsed(),
            name: self.reception.only_path().map(str::to_owned),
            objects: self.reception.progress(),
            goodput_bps: bits / then.elapsed().as_secs_f64().max(1e-3),
            estimates: host.node.estimates(),
            packets_lost: host.recent_packets().map(|recent| recent.lost()),
            last_change: host.node.last_change(),
            counters: host.counters(),
            protection: host.node.protection().copied().unwrap_or_default(),
            untrusted_tables: self.reception.untrusted_tables(),
            assembly: self.reception.counters(),
        }
    }
}

/// How far a reception is, for its source.
fn reached(progress: &ReceiveProgress) -> Reached {
    Reached {
        objects: progress.objects,
        useful: progress.assembly.useful,
        elapsed: Duration::from_ns(u64::try_from(progress.elapsed.as_nanos()).unwrap_or(u64::MAX)),
    }
}
