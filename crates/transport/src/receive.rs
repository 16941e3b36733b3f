//! Receiving a file.

mod discovery;
mod journal;
mod overload;
mod partial_file;
mod reception;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::{Cause, Estimates};
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::Level;
use layercast_protocols::registry::Protocol;

use crate::disk::OpenFile;
use crate::error::Error;
use crate::host::{Interface, ReceiverCounters, ReceiverHost};
use crate::notice::Notice;
use crate::{random_seed, set_options};
use layercast_delivery::object::{Assembly, AssemblyCounters, TOI_FILE};
use layercast_delivery::packet::Completion;
use layercast_delivery::session::Session;

use discovery::Found;
use partial_file::PartialFile;
use reception::Reception;

/// The longest delay before a completion is sent, so that those of many receivers are spread.
const COMPLETION_SPREAD: StdDuration = StdDuration::from_secs(1);
/// The number of copies of a completion, since it is not acknowledged.
const COMPLETION_COPIES: u32 = 3;

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
    let mut assembly = Assembly::new(table.oti, OpenFile(file));
    let journal = partial.journal(&table, &mut assembly);
    let mut reception = Reception::new(table, assembly);
    reception.begin(journal, &partial, say);
    let mut host = ReceiverHost::new(interface, &protocol, session, join_source, Some(base), seed)?;
    host.start()?;
    let outcome = reception.run(&mut host, options, stop, begin, say);
    // In any case leave the session properly.
    let _ = host.stop();
    reception.write_journal(say);
    let finished = outcome.and_then(|report| Ok((partial.finish(&reception.assembly.file().0)?, report)));
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
    let wrong = || layercast_delivery::session::SessionError::Protocol(session.protocol.clone());
    let mut protocol = deployed(&session.protocol).ok_or_else(wrong)?;
    if let Some((name, _)) =
        options.iter().find(|(name, _)| protocol.requirements().agreed().contains(&name.as_str()))
    {
        return Err(Error::Agreed { option: name.clone() });
    }
    set_options(&mut protocol, options)?;
    Ok(session.agree(protocol)?)
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
