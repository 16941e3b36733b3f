//! Sending files.

mod files;
mod follow;
mod hashing;
mod lateness;
pub mod modes;
mod neighbours;
mod packages;
mod program;
mod quiet;
mod read_ahead;
mod repairs;
mod routed;
mod scan;
mod state;
mod store;
pub mod stream;
mod writer;

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::contract::Estimates;
use layercast_core::family::AnyProtocol;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Size};
use layercast_protocols::registry::Protocol;

use crate::error::Error;
use crate::event::{End, Event};
pub use crate::event::{Reception, SendProgress};
use crate::file_limit::raise_file_limit;
use crate::host::{Interface, SourceHost};
use crate::random_seed;
use crate::relay::ServeOptions;
use layercast_delivery::announce::describing::Size as ContentSize;
use layercast_delivery::object::{Cut, TOI_TABLE};
use layercast_delivery::packet::Completion;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::send_state::file::Saved;

pub use files::Files;
pub use layercast_delivery::object::PART_SYMBOLS;

use follow::Follower;
use neighbours::Before;
use program::{Program, check_mtu, description, new_salt};
use scan::Reading;
use writer::Writer;

/// For so long a sender of a number of rounds goes on when a hash has been named, so that the table is sent with it (CHOICE).
const HASH_SENT: Duration = Duration::from_ms(2000);
/// The least length of a file that is sent while it is read for its hash, if nothing else is said (CHOICE): reading a shorter one
/// takes less than a tenth of a second.
pub const TAGGED: u64 = 64 << 20;
/// The size of packets with all headers, if nothing else is wanted (CHOICE): it leaves room for tunnels in an MTU of 1500 bytes.
pub const PACKET: Size = Size::from_bytes(1400);
/// How long a source whose routers take part waits for others after the first relay or receiver, if nothing else is wanted (CHOICE).
pub const GATHER: StdDuration = StdDuration::from_secs(2);
/// The maximum number of receivers whose completions are distinguished. Further ones count as known.
const KNOWN_RECEIVERS_MAX: usize = 1 << 20;

/// When to stop: at the first of these. With none, on request only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// After this time.
    pub after: Option<StdDuration>,
    /// After this many symbols for each that the files have, over all layers.
    pub rounds: Option<u32>,
    /// When this many receivers have reported completion.
    pub completions: Option<usize>,
}

/// How a source serves receivers and relays itself.
#[derive(Clone, Debug)]
pub struct ServeUse {
    /// Where, and whom.
    pub serve: ServeOptions,
    /// Whether nothing is sent by multicast.
    pub only: bool,
    /// How long a source whose routers take part waits for others after the first relay or receiver.
    pub gather: StdDuration,
}

/// The options of a transmission.
#[derive(Clone, Debug)]
pub struct SendOptions<P = Protocol> {
    /// The base layer's group and port.
    pub group: SocketAddr,
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The port for feedback; 0 for any.
    pub feedback_port: u16,
    /// The congestion control.
    pub protocol: P,
    /// The layers.
    pub layers: LayerTable,
    /// The size of packets with all headers.
    pub packet: Size,
    /// The time to live of packets (RFC 1112, section 6.1).
    pub ttl: u8,
    /// When to stop.
    pub ends: Ends,
    /// The key by which packets are authenticated; none to do without.
    pub group_key: Option<GroupKey>,
    /// Whether receivers are polled for reception reports.
    pub reports: bool,
    /// Whether layers that no receiver holds are left out, where receivers can say so ([`demand`]).
    ///
    /// [`demand`]: layercast_delivery::reporting::demand
    pub on_demand: bool,
    /// Whether packets are encrypted too, by the group key.
    pub encrypts: bool,
    /// Whether changes of the files are sent too.
    pub follow: bool,
    /// Whether many small files are sent together, as packages, which only our receivers can take apart.
    pub packs: bool,
    /// The maximum number of symbols of an object; a longer file has parts. [`PART_SYMBOLS`] but in tests.
    pub longest_part: u64,
    /// The least length of a file that is sent while it is read for its hash: [`TAGGED`], if nothing else is wanted. Files in parts,
    /// and all files of a session that is signed, are read before.
    pub tagged: u64,
    /// Where the state is kept with which a sender goes on that is started again.
    pub state: Option<PathBuf>,
    /// How receivers and relays are served by unicast; none if they are not.
    pub serve: Option<ServeUse>,
    /// Relays that the session's description names, in the order in which receivers are to ask them.
    pub relays: Vec<SocketAddr>,
    /// The seed of the source's random numbers; any if none.
    pub seed: Option<u64>,
    /// What people call the session.
    pub name: String,
    /// Whether the session is announced (RFC 2974), so that receivers find it by its name.
    pub is_announced: bool,
    /// The key that signs announcements and the file delivery table.
    pub key: Option<SecretKey>,
}

impl<P> SendOptions<P> {
    /// Those of a transmission to a group, without an end, keys, a state, or an announcement: receivers are polled, and what nobody
    /// asks for is not sent.
    pub fn new(group: SocketAddr, protocol: P, layers: LayerTable) -> SendOptions<P> {
        SendOptions {
            group,
            interface: None,
            feedback_port: 0,
            protocol,
            layers,
            packet: PACKET,
            ttl: 16,
            ends: Ends::default(),
            group_key: None,
            reports: true,
            on_demand: true,
            encrypts: false,
            follow: false,
            packs: true,
            longest_part: PART_SYMBOLS,
            tagged: TAGGED,
            state: None,
            serve: None,
            relays: Vec::new(),
            seed: None,
            name: "files".to_owned(),
            is_announced: false,
            key: None,
        }
    }
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
    /// All receivers that came have everything: of a session whose routers take part.
    AllComplete,
    /// A stop was requested.
    Interrupted,
}

impl Stopped {
    /// Its name for programs, which does not change.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::Time => "time",
            Stopped::Rounds => "rounds",
            Stopped::Completions => "completions",
            Stopped::AllComplete => "all_complete",
            Stopped::Interrupted => "interrupted",
        }
    }
}

/// What was sent, and who has it.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Why it stopped.
    pub stopped: Stopped,
    /// The progress at the end.
    pub progress: SendProgress,
    /// The addresses of the receivers that reported completion, in the order of their reports.
    pub completed: Vec<SocketAddr>,
    /// How many files changed or vanished while they were being sent.
    pub withdrawn: usize,
    /// How many files were left out that receivers lack by it, if no changes are followed.
    pub left_out: usize,
    /// What reception reports said of the receivers; none if they were not polled.
    pub reception: Option<Reception>,
}

impl From<&Sent> for End {
    fn from(sent: &Sent) -> End {
        End {
            reason: sent.stopped.name(),
            withdrawn: Some(sent.withdrawn),
            left_out: Some(sent.left_out),
            progress: Some(sent.progress.into()),
            reception: sent.reception.clone(),
            ..End::default()
        }
    }
}

impl Sent {
    /// How many of the receivers that were waited for have not reported completion; none if their number was not
    /// given.
    pub fn missing(&self, ends: &Ends) -> Option<usize> {
        ends.completions.map(|wanted| wanted.saturating_sub(self.completed.len()))
    }
}

/// Sends files and folders until one of its ends. `on_event` gets the events. If the protocol has active routers, they are sent in order
/// to those that are served, over relays that take part, and the session ends when all have them.
///
/// # Errors
/// Why it could not start or ended early.
pub fn send<P: AnyProtocol>(
    paths: &[PathBuf],
    options: &SendOptions<P>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Sent, Error> {
    if options.protocol.requirements().has_routers() {
        return routed::send(paths, options, stop, on_event);
    }
    let any: IpAddr = match options.group {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let session = description(options, any, None)?;
    session.check_of::<P>()?;
    let interface = Interface::ready(options.interface.as_deref(), options.group)?;
    check_mtu(&interface, &session)?;
    let saved = options.state.as_deref().map_or_else(|| Ok(Saved::default()), state::read)?;
    let mut numbers = saved.numbers;
    let salt = options.encrypts.then(|| numbers.salt_or(new_salt));
    let session = description(options, interface.address, salt)?;
    raise_file_limit();
    let before = Before::open(&interface, &session);
    let cut = Cut {
        symbol: session.symbol_size(),
        longest: options.longest_part,
        is_signed: options.key.is_some(),
    };
    let how = Reading { cut, tagged: options.tagged };
    let beginning = files::find(paths, &saved, how, stop, on_event)?;
    let seed = options.seed.unwrap_or_else(random_seed);
    let mut host =
        SourceHost::new(&interface, &options.protocol, session, options.feedback_port, options.ttl, seed)?;
    let bytes = beginning.found.iter().map(|(one, _)| one.length()).sum();
    let folder = options.packs.then(|| packages_folder(options.state.as_deref()));
    let mut files = Files::new(
        &beginning,
        host.session(),
        &options.ends,
        &saved,
        files::FilesOptions {
            is_open: options.follow,
            packages: folder,
            reading: how,
            key: options.key.as_ref(),
        },
        on_event,
    )?;
    let is_protected = options.group_key.is_some();
    let start = |path| Writer::start(path, &files, numbers, is_protected);
    let mut writer = options.state.as_deref().map(start).transpose()?;
    let follower = options.follow.then(|| Follower::start(paths, &beginning.found, how)).transpose()?;
    drop((beginning, saved));
    if let Some(key) = &options.group_key {
        host.node.protect(key, writer.as_ref().map_or_else(Sequence::all, Writer::sequence));
    }
    let size = ContentSize { files: files.objects(), bytes };
    let mut program = Program::start(host, &mut files, interface, options, size, Some(before), on_event)?;
    let mut completed = Completed::default();
    let mut hashing_until = None;
    let (stopped, report) = loop {
        let now = program.step(&mut files, on_event)?;
        let elapsed = program.elapsed(now);
        let host = &mut program.host;
        while let Some((completion, from)) = host.node.take_completion() {
            // Reports stand for other receivers too where completions are not asked for.
            if options.ends.completions.is_none() {
                continue;
            }
            completed.add(completion, from);
            if let Some(collector) = host.node.collector() {
                collector.complete(completion.receiver, completed.addresses.len());
            }
        }
        let report = SendProgress {
            elapsed,
            rounds: files.rounds(),
            counters: *host.node.counters(),
            completions: completed.addresses.len(),
            estimates: Estimates::default(),
        };
        if files.is_hashing() {
            hashing_until = Some(now);
        }
        // Receivers cannot complete a file whose hash has not come.
        let named = hashing_until.is_none_or(|until| now.since(until) >= HASH_SENT);
        let stopped = why_stop(&options.ends, &report, stop).filter(|&why| why != Stopped::Rounds || named);
        if !program.is_due(now) && stopped.is_none() {
            continue;
        }
        let report = SendProgress { estimates: program.host.estimates(), ..report };
        on_event(&Event::Progress(report.into()));
        program.poll(now, &mut files, on_event)?;
        let node = &mut program.host.node;
        if let Some(writer) = &mut writer {
            let notice = writer.poll(now, &files, node.packet_numbers().map(|numbers| numbers.left()));
            node.packet_numbers().into_iter().for_each(|numbers| numbers.grant(writer.granted()));
            notice.into_iter().for_each(|notice| on_event(&Event::Notice(notice)));
        }
        if let Some(stopped) = stopped {
            break (stopped, report);
        }
        if let Some(changes) = follower.as_ref().and_then(Follower::take) {
            files.change(&changes, on_event)?;
            node.demands().iter_mut().for_each(|demands| demands.renew(now));
        }
        if let Err(error) = files.check(on_event) {
            // Receivers cannot complete what is gone: announce the end of the session.
            program.end(&mut files)?;
            return Err(error);
        }
    };
    if let Some(notice) = writer.and_then(|writer| writer.finish(&files)) {
        on_event(&Event::Notice(notice));
    }
    let reception = program.reception(program.host.clock().now());
    program.end(&mut files)?;
    Ok(Sent {
        stopped,
        progress: report,
        completed: completed.addresses,
        withdrawn: files.withdrawn(),
        left_out: files.left_out(),
        reception,
    })
}

/// Where the bytes of packages are kept: next to the state, which is where the operator wants the sender to write.
fn packages_folder(state: Option<&Path>) -> PathBuf {
    let next_to = state.and_then(Path::parent);
    match next_to {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => std::env::temp_dir(),
    }
}

/// The receivers that reported completion, each once.
#[derive(Debug, Default)]
struct Completed {
    known: HashSet<NonZeroU64>,
    addresses: Vec<SocketAddr>,
}

impl Completed {
    fn add(&mut self, completion: Completion, from: SocketAddr) {
        if completion.toi == TOI_TABLE
            && self.known.len() < KNOWN_RECEIVERS_MAX
            && self.known.insert(completion.receiver)
        {
            self.addresses.push(from);
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
