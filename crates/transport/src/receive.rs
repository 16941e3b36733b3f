//! Receiving the objects of a session.

mod breaker;
mod decoders;
mod discovery;
mod evidence;
mod flute;
mod overload;
mod placing;
mod reports;
mod running;
mod service;
pub mod stream;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::{Cause, Estimates};
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::Level;
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::object::AssemblyCounters;
use layercast_delivery::reception::{
    ObjectError, Reception, ReceptionEvent, ReceptionProgress, ReceptionSettings,
};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, PublicKey};
use layercast_delivery::security::protection::ProtectionCounters;
use layercast_delivery::session::{Session, SessionError};
use layercast_protocols::registry::Protocol;

use crate::disk::Folder;
use crate::error::Error;
use crate::file_limit::raise_file_limit;
use crate::host::{ReceiverCounters, ReceiverHost};
use crate::notice::Notice;
use crate::{random_seed, set_options};

pub use layercast_delivery::search::Known;
use layercast_delivery::search::SearchError;

use breaker::Breaker;
pub use placing::RelayUse;

use discovery::Found;
use placing::Placing;
use running::{Outcome, Running};

/// The options of a reception.
#[derive(Clone, Debug)]
pub struct ReceiveOptions {
    /// What is known of the session.
    pub known: Known,
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
    /// Options of the protocol, by name and as text, that differ from [`deployed`].
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
    /// The relays that are asked where no multicast comes.
    pub relays: RelayUse,
    /// The seed of the receiver's random numbers; any if none.
    pub seed: Option<u64>,
}

impl ReceiveOptions {
    /// The salt with which packets must be encrypted.
    fn salt(&self) -> Option<Salt> {
        match &self.known {
            Known::Session(session) => session.salt,
            Known::Group(..) => self.salt,
            Known::Flute(_) => None,
        }
    }
}

/// The progress of a reception.
#[derive(Clone, Debug)]
pub struct ReceiveProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// The path of the only object, if there is one.
    pub name: Option<String>,
    /// Objects, symbols and bytes.
    pub objects: ReceptionProgress,
    /// Bits of the objects per second over the last interval.
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
    /// Packets that were checked for authenticity; zeros without a group key.
    pub protection: ProtectionCounters,
    /// Instances of the table that no trusted key has signed.
    pub untrusted_tables: u64,
    /// The counters of the reassembly.
    pub assembly: AssemblyCounters,
}

/// What a reception says while it runs.
#[derive(Debug)]
pub enum ReceiveEvent<'a> {
    /// A session was found.
    Session(&'a Session),
    /// Twice a second, and when all is complete.
    Progress(&'a ReceiveProgress),
    /// The receiver decided or noticed something: so long after the start, with what it believed of its path.
    Trace(StdDuration, &'a ReceiverNote, &'a Estimates),
    /// Something happened to an object.
    Object(&'a ReceptionEvent),
    /// Something that the operator should know.
    Notice(&'a Notice),
}

/// Receives all objects of a session, each moved to its path when its hash is correct, until there are no more.
/// A restarted source is followed. `say` gets the events. A service ([`ReceiveOptions::keep_going`]) never ends by
/// itself.
///
/// # Errors
/// Why it failed. [`Error::Kept`] if another reception can continue, [`Error::Objects`] if some objects could not be
/// received.
pub fn receive(
    options: &ReceiveOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<ReceiveProgress, Error> {
    let begin = Instant::now();
    let seed = options.seed.unwrap_or_else(random_seed);
    let folder =
        Folder::open(&options.into).map_err(|source| Error::file("write to", &options.into, source))?;
    raise_file_limit();
    if let Known::Flute(session) = &options.known {
        return flute::receive(session, folder, options, stop, say);
    }
    let mut reception = Reception::trusting(folder, options.settings, options.keys.as_slice().into());
    if let Some(threads) = decoders::Threads::start() {
        reception.set_decoders(Box::new(threads));
    }
    let mut running = Running::new(reception, options, stop, begin);
    if options.settings.mirror {
        running.open_record()?;
    }
    let finished = service::placing(&mut running, say)
        .and_then(|mut placing| sessions(&mut running, &mut placing, seed, say));
    running.reception.flush();
    running.say_objects(say);
    let (mut host, progress) = finished.map_err(|error| kept(&running.reception, options, error))?;
    running.reception.tidy();
    if running.wants_completions() && progress.objects.failed == 0 {
        reports::report_completion(&mut host, running.number, stop);
    }
    judged(&running.reception, &options.into)?;
    Ok(progress)
}

/// Receives from one session after the other, until all is complete.
fn sessions(
    running: &mut Running<'_>,
    placing: &mut Placing<'_>,
    seed: u64,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<(ReceiverHost, ReceiveProgress), Error> {
    let mut wait = Wait { not: None, patience: running.options.start_within };
    let mut breaker = Breaker::default();
    loop {
        let error = match session(running, placing, seed, wait, &mut breaker, say) {
            Ok(Next::Done(host, progress)) => return Ok((*host, *progress)),
            Ok(Next::Wait(next)) => {
                wait = next;
                continue;
            }
            Err(error) => placing.explained(error),
        };
        wait = service::after(running, error, wait, say)?;
    }
}

/// What a receiver waits for.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// A session that is passed over.
    not: Option<(IpAddr, u32)>,
    patience: StdDuration,
}

/// What follows a session.
enum Next {
    Done(Box<ReceiverHost>, Box<ReceiveProgress>),
    Wait(Wait),
}

/// Receives from the next session.
fn session(
    running: &mut Running<'_>,
    placing: &mut Placing<'_>,
    seed: u64,
    wait: Wait,
    breaker: &mut Breaker,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Next, Error> {
    let options = running.options;
    let Wait { not, patience } = wait;
    let found = placing.find(not, patience, (running.stop, running.begin), say)?;
    let Found { session: found, access, demand } = found;
    if found.session.stream.is_some() {
        return Err(Error::IsStream);
    }
    say(&ReceiveEvent::Session(&found.session));
    let protocol = configured(&found.session, &options.protocol_options)?;
    running.follow(&found)?;
    let session = found.session;
    let current = (session.source, session.tsi);
    let mut host = ReceiverHost::by(access, placing.interface(), &protocol, session, seed)?;
    if let Some(key) = &options.group_key {
        host.node.protect(key, options.salt());
    }
    host.node.say_demand(demand);
    if !options.silent {
        host.node.answer_polls(running.number);
    }
    host.node.keep_log();
    host.start()?;
    let outcome = running.run(&mut host, placing, breaker, say);
    running.leave(&mut host, &outcome);
    // In any case leave the session properly.
    let _ = host.stop();
    running.say_trace(&mut host, say);
    let (not, patience) = match outcome? {
        Outcome::Complete(progress) => return Ok(Next::Done(Box::new(host), progress)),
        Outcome::Moved => {
            say(&ReceiveEvent::Notice(&Notice::Following));
            // It may go on after all, and the other one may not fit the keys.
            (None, options.patience)
        }
        Outcome::Again => (None, options.patience),
        Outcome::Overloaded(pause) => {
            running.pause(pause)?;
            (None, options.patience)
        }
        Outcome::Ended => {
            say(&ReceiveEvent::Notice(&Notice::Waiting { ended: true }));
            // Its last packets may still be on their way.
            (Some(current), options.patience)
        }
    };
    Ok(Next::Wait(Wait { not, patience }))
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

/// The protocol of that name, with defaults for real networks.
pub fn deployed(name: &str) -> Option<Protocol> {
    let mut protocol = Protocol::named(name)?;
    protocol.deploy();
    Some(protocol)
}

/// The protocol as [`deployed`], with the user's options and then those of the session.
fn configured(session: &Session, options: &[(String, String)]) -> Result<Protocol, Error> {
    let wrong = || SearchError::from(SessionError::Protocol(session.protocol.clone()));
    let mut protocol = deployed(&session.protocol).ok_or_else(wrong)?;
    if let Some((name, _)) =
        options.iter().find(|(name, _)| protocol.requirements().agreed().contains(&name.as_str()))
    {
        return Err(Error::Agreed { option: name.clone() });
    }
    set_options(&mut protocol, options)?;
    Ok(session.agree(protocol).map_err(SearchError::from)?)
}
