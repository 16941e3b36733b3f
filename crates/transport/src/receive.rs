//! Receiving the objects of a session.

mod decoders;
pub mod modes;
pub mod stream;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};
use layercast_delivery::finding;
use layercast_delivery::node::{
    Failure, Output, Parents, ReceiveError, ReceiverSettings, SessionReceiver, Sink,
};
use layercast_delivery::reception::{DiskError, ObjectError, Reception, ReceptionEvent, ReceptionSettings};
pub use layercast_delivery::search::Known;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, PublicKey};
use layercast_protocols::registry::Registry;

use crate::announcing::ntp_now_s;
use crate::disk::Folder;
use crate::error::Error;
pub use crate::event::ReceiveProgress;
use crate::event::{Event, Trace};
use crate::file_limit::raise_file_limit;
use crate::finding::Announced;
pub use crate::receiver::RelayUse;
use crate::receiver::{self, HostPaths, ReceiverHost};
use crate::{random_secret, random_seed};

/// The options of a reception.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// What is known of the session.
    pub known: Known,
    /// The name by which that was found, if it was: when nothing comes from there, announcements are listened to again.
    pub announced: Option<Announced>,
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The directory for the files.
    pub into: PathBuf,
    /// What may be done to files that are there.
    pub settings: ReceptionSettings,
    /// Whether it goes on after the end of a session, and after errors that may pass, until it is stopped.
    pub keep_going: bool,
    /// The maximum wait for a session.
    pub start_within: StdDuration,
    /// The maximum silence of a session.
    pub patience: StdDuration,
    /// The time limit; none for no limit.
    pub within: Option<StdDuration>,
    /// Options of the protocol, by name and as text, that differ from those of [`layercast_delivery::protocols::deployed`].
    pub protocol_options: Vec<(String, String)>,
    /// The key by which packets must be authentic; none to take any.
    pub group_key: Option<GroupKey>,
    /// Whether the source gets neither completions nor reception reports. The reports of a congestion control are a part
    /// of it, and are sent.
    pub silent: bool,
    /// The salt of an encrypted session, if `known` is not its description. Without one packets must not be encrypted.
    pub salt: Option<Salt>,
    /// Whose signed tables and objects are taken; anyone's if empty.
    pub keys: Vec<PublicKey>,
    /// The relays that are asked where no multicast comes. In a session whose routers take part they, or the source, send
    /// everything.
    pub relays: RelayUse,
    /// Whether the routers of the session take part, where `known` is not its description, which says so.
    pub is_routed: bool,
    /// The seed of the receiver's random numbers; any if none.
    pub seed: Option<u64>,
}

impl ReceiveOptions {
    /// Those of a reception into a directory by multicast, which ends when all is there, or after half a minute of silence.
    pub fn new(known: Known, into: PathBuf) -> ReceiveOptions {
        let patience = StdDuration::from_secs(30);
        ReceiveOptions {
            known,
            announced: None,
            interface: None,
            into,
            settings: ReceptionSettings::default(),
            keep_going: false,
            start_within: patience,
            patience,
            within: None,
            protocol_options: Vec::new(),
            group_key: None,
            silent: false,
            salt: None,
            keys: Vec::new(),
            relays: RelayUse::default(),
            is_routed: false,
            seed: None,
        }
    }

    /// How packets can come.
    fn paths(&self) -> HostPaths {
        HostPaths {
            interface: self.interface.clone(),
            relays: self.relays.clone(),
            any_source: false,
            takes_relays: self.announced.as_ref().is_some_and(|announced| announced.takes_relays),
        }
    }

    /// From whom packets come if the routers of the session take part; none for other sessions.
    fn parents(&self) -> Result<Option<Parents>, Error> {
        let is_described = matches!(&self.known, Known::Session(session) if session.is_routed());
        if !(self.is_routed || is_described) {
            return Ok(None);
        }
        let addresses = self.relays.relays.clone();
        if addresses.is_empty() {
            let protocol = match &self.known {
                Known::Session(session) => session.protocol.clone(),
                _ => "with routers".to_owned(),
            };
            return Err(ReceiveError::NoParents { protocol }.into());
        }
        Ok(Some(Parents { addresses, secret: random_secret()? }))
    }

    /// What its receiver is to do.
    fn node(&self) -> Result<ReceiverSettings, Error> {
        let seed = self.seed.unwrap_or_else(random_seed);
        Ok(ReceiverSettings {
            parents: self.parents()?,
            known: self.known.clone(),
            announced: self.announced.as_ref().map(|announced| finding::Announced {
                name: announced.name.clone(),
                within: announced.within.into(),
                epoch_s: ntp_now_s(),
            }),
            group_key: self.group_key.clone(),
            salt: self.salt,
            keys: self.keys.as_slice().into(),
            protocol_options: self.protocol_options.clone(),
            paths: self.paths().paths(self.known.group()),
            keep_going: self.keep_going,
            silent: self.silent,
            traces: true,
            start_within: self.start_within.into(),
            patience: self.patience.into(),
            within: self.within.map(Duration::from),
            seed,
            number: NonZeroU64::new(seed).unwrap_or(NonZeroU64::MIN),
        })
    }
}

/// As [`receive_of`], a session of one of Layercast's protocols.
///
/// # Errors
/// As [`receive_of`].
pub fn receive(
    options: &ReceiveOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<ReceiveProgress, Error> {
    receive_of::<Registry>(options, stop, on_event)
}

/// Receives all objects of a session, each moved to its path when its hash is correct, until there are no more.
/// A restarted source is followed. `on_event` gets the events. A service ([`ReceiveOptions::keep_going`]) never ends by
/// itself.
///
/// # Errors
/// Why it failed. [`Error::Kept`] if another reception can continue, [`Error::Objects`] if some objects could not be
/// received.
pub fn receive_of<F: Family>(
    options: &ReceiveOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<ReceiveProgress, Error> {
    let folder =
        Folder::open(&options.into).map_err(|source| Error::file("write to", &options.into, source))?;
    raise_file_limit();
    let mut reception = match options.known {
        Known::Flute(_) => {
            check_flute(options)?;
            Reception::of_any_sender(folder, options.settings)
        }
        Known::Group(..) | Known::Session(_) => {
            Reception::trusting(folder, options.settings, options.keys.as_slice().into())
        }
    };
    if let Some(threads) = decoders::Threads::start() {
        reception.set_decoders(Box::new(threads));
    }
    if options.settings.mirror {
        reception.open_record().map_err(|error| failed(options, error))?;
    }
    let mut host = FilesHost::<F>::new(options.node()?, options.paths(), reception);
    let mut watch = Watch::default();
    let finished = run(&mut host, stop, &mut |host, event| watch.observe(host, event, on_event));
    say_objects(&mut host, on_event);
    let ended = finished.and_then(|ended| {
        ended.map_err(|failure| match failure {
            Failure::Session(error) => error.into(),
            Failure::Sink(error) => failed(options, error),
        })
    });
    ended.map_err(|error| kept(&host.node.sink, options, error))?;
    judged(&host.node.sink, &options.into)?;
    Ok(watch.progress(&host))
}

/// What has no meaning for a session of another FLUTE sender.
fn check_flute(options: &ReceiveOptions) -> Result<(), Error> {
    let refused = [
        (options.settings.mirror, "--mirror"),
        (options.group_key.is_some(), "--group-key"),
        (!options.protocol_options.is_empty(), "--set"),
    ];
    let refused = refused.iter().find(|(is_given, _)| *is_given);
    refused.map_or(Ok(()), |(_, what)| Err(Error::NotOfFlute { what }))
}

/// What takes what a receiver says, and none after each step.
type Say<'a, S, F> = &'a mut dyn FnMut(&mut ReceiverHost<S, F>, Option<receiver::Event<S>>);

/// Runs a receiver until it is over, or a stop is requested.
fn run<S: Sink, F: Family>(
    host: &mut ReceiverHost<S, F>,
    stop: &AtomicBool,
    on: Say<'_, S, F>,
) -> Result<Result<(), Failure<S::Error>>, Error> {
    let (mut ended, mut has_begun, mut is_over) = (Ok(()), false, false);
    while !is_over {
        let mut take = |host: &mut ReceiverHost<S, F>, event: receiver::Event<S>| match event {
            Output::Ended(result) => ended = result,
            event => on(host, Some(event)),
        };
        is_over = match stop.load(Ordering::Relaxed) {
            _ if !std::mem::replace(&mut has_begun, true) => host.start(&mut take)?,
            true => host.stop(&mut take)?,
            false => host.step(Time::MAX, &mut take)?,
        };
        on(host, None);
    }
    Ok(ended)
}

/// What is said of a reception, and since when it is counted.
#[derive(Debug, Default)]
struct Watch {
    /// When progress was said last, and how many symbols there were.
    said: (Time, u64),
    last: Option<ReceiveProgress>,
}

impl Watch {
    fn observe<F: Family>(
        &mut self,
        host: &mut FilesHost<F>,
        event: Option<receiver::Event<Reception<Folder>>>,
        on_event: &mut dyn FnMut(&Event),
    ) {
        match event {
            Some(Output::Tick) => {
                say_objects(host, on_event);
                let progress = self.measure(host);
                on_event(&Event::Progress(progress.clone().into()));
                self.last = Some(progress);
            }
            Some(event) => say_event(host, &event, on_event),
            None => say_objects(host, on_event),
        }
    }

    fn measure<F: Family>(&mut self, host: &FilesHost<F>) -> ReceiveProgress {
        let (now, useful) = (host.clock().now(), host.node.sink.counters().useful);
        let (then, before) = std::mem::replace(&mut self.said, (now, useful));
        let bits = (useful - before) as f64 * host.node.symbol_size() as f64 * 8.0;
        ReceiveProgress { goodput_bps: bits / now.since(then).as_secs_f64().max(1e-3), ..progress(host) }
    }

    /// The progress of a reception that has ended: with what was counted while there was a session.
    fn progress<F: Family>(self, host: &FilesHost<F>) -> ReceiveProgress {
        let now = progress(host);
        match self.last {
            Some(last) if host.node.session().is_none() && host.node.member().is_none() => {
                ReceiveProgress { objects: now.objects, assembly: now.assembly, ..last }
            }
            last => ReceiveProgress { goodput_bps: last.map_or(0.0, |last| last.goodput_bps), ..now },
        }
    }
}

type FilesHost<F> = ReceiverHost<Reception<Folder>, F>;

/// Says what a receiver says, but for its end and what is said of its sink.
fn say_event<S: Sink, F: Family>(
    host: &ReceiverHost<S, F>,
    event: &receiver::Event<S>,
    on_event: &mut dyn FnMut(&Event),
) {
    match event {
        Output::Found(session) => on_event(&Event::Session(session.clone())),
        Output::Trace(note, estimates) => {
            let trace = Trace { at: host.elapsed(), note: *note, estimates: *estimates };
            on_event(&Event::Trace(Box::new(trace)));
        }
        Output::Notice(notice) => on_event(&Event::Notice(notice.clone())),
        _ => {}
    }
}

fn say_objects<F: Family>(host: &mut FilesHost<F>, on_event: &mut dyn FnMut(&Event)) {
    host.node.sink.drain_events().for_each(|event: ReceptionEvent| on_event(&Event::Object(event)));
}

/// How far a reception is.
fn progress<F: Family>(host: &FilesHost<F>) -> ReceiveProgress {
    let (session, reception) = (host.node.session(), &host.node.sink);
    ReceiveProgress {
        elapsed: host.elapsed(),
        name: reception.only_path().map(str::to_owned),
        objects: reception.progress(),
        goodput_bps: 0.0,
        estimates: host.node.estimates(),
        packets_lost: host.node.recent_packets(host.clock().now()).map(|recent| recent.lost()),
        last_change: session.and_then(SessionReceiver::last_change),
        counters: host.counters(),
        protection: host.node.protection().copied().unwrap_or_default(),
        untrusted_tables: reception.untrusted_tables(),
        assembly: reception.counters(),
    }
}

/// The error of a disk.
fn failed(options: &ReceiveOptions, error: DiskError) -> Error {
    let path = options.into.join(&error.path);
    match error.source.kind() {
        std::io::ErrorKind::ResourceBusy => Error::FileBusy { path },
        _ => Error::file("write", &path, error.source),
    }
}

/// The error of objects that could not be received.
fn judged(reception: &Reception<Folder>, into: &Path) -> Result<(), Error> {
    let failed: Vec<(String, ObjectError)> = reception
        .results()
        .filter_map(|(path, result)| result.err().map(|reason| (path.to_owned(), reason)))
        .collect();
    let all = reception.progress().objects;
    match failed.as_slice() {
        [] => Ok(()),
        [(path, ObjectError::Exists)] if all == 1 => Err(Error::FileExists { path: into.join(path) }),
        [(path, ObjectError::Name(reason))] if all == 1 => {
            Err(Error::Name { name: path.clone(), source: *reason })
        }
        [(_, ObjectError::Hash)] if all == 1 => Err(Error::Hash),
        _ => Err(Error::Objects { all, failed }),
    }
}

/// Adds to an error what is kept.
fn kept(reception: &Reception<Folder>, options: &ReceiveOptions, reason: Error) -> Error {
    match reception.kept() {
        (0, _) => reason,
        (held, needed) => {
            let path = options.into.join(layercast_delivery::placing::OWN_FOLDER);
            Error::Kept { reason: Box::new(reason), path, held, needed }
        }
    }
}
