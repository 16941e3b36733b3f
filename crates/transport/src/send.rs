//! Sending files.

mod files;
mod follow;
mod hashing;
mod lateness;
mod neighbours;
mod packages;
mod quiet;
mod read_ahead;
mod repairs;
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
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Size, Time};
use layercast_protocols::registry::Protocol;

use crate::announcing::{Announcing, Size as ContentSize, describe};
use crate::error::Error;
use crate::file_limit::raise_file_limit;
use crate::host::{Interface, OUTAGE_MAX, SourceHost};
use crate::notice::Notice;
use crate::random_seed;
use crate::relay::{ServeOptions, SourceServer};
use layercast_delivery::announce::announcer::AnnounceError;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::node::SourceCounters;
use layercast_delivery::object::{Cut, TOI_TABLE};
use layercast_delivery::packet::Completion;
use layercast_delivery::reporting::{Collector, Summary};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::security::sequence::{SEQUENCE_MAX, Sequence};
use layercast_delivery::session::{Session, SessionError, whole_rates};

pub use files::Files;
pub use layercast_delivery::object::PART_SYMBOLS;

use follow::Follower;
use lateness::Lateness;
use neighbours::{Before, Neighbours};
use quiet::Quiet;
use scan::Reading;
use state::Saved;
use writer::Writer;

/// The interval of progress reports and of checks of the files.
const PROGRESS_EVERY: Duration = Duration::from_ms(500);
/// For so long a sender of a number of rounds goes on when a hash has been named, so that the table is sent with it (CHOICE).
const HASH_SENT: Duration = Duration::from_ms(2000);
/// The least length of a file that is sent while it is read for its hash, if nothing else is said (CHOICE): reading a shorter one
/// takes less than a tenth of a second.
pub const TAGGED: u64 = 64 << 20;
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
}

/// The options of a transmission.
#[derive(Clone, Debug)]
pub struct SendOptions {
    /// The base layer's group and port.
    pub group: SocketAddr,
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

/// The progress of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct SendProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// Symbols sent for each that the files have.
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

/// What reception reports say of the receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Reception {
    /// By the source's clock, when this was known.
    pub at: Time,
    /// How many there are, how far they are, and the slowest.
    pub summary: Summary,
}

impl Sent {
    /// How many of the receivers that were waited for have not reported completion; none if their number was not
    /// given.
    pub fn missing(&self, ends: &Ends) -> Option<usize> {
        ends.completions.map(|wanted| wanted.saturating_sub(self.completed.len()))
    }
}

/// What a transmission says while it runs.
#[derive(Debug)]
pub enum SendEvent<'a> {
    /// Files are read for their hashes.
    Hashing {
        /// Bytes read.
        done: u64,
        /// Bytes to read.
        of: u64,
    },
    /// The sockets are open; this is the session, with so many objects, and its description for others.
    Ready(&'a Session, usize, &'a Description),
    /// Twice a second.
    Progress(&'a SendProgress),
    /// After each poll of the receivers, about every five seconds.
    Reception(&'a Reception),
    /// Something that the operator should know.
    Notice(&'a Notice),
}

/// Sends files and folders until one of its ends. `say` gets the events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn send(
    paths: &[PathBuf],
    options: &SendOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&SendEvent<'_>),
) -> Result<Sent, Error> {
    let any: IpAddr = match options.group {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let session = description(options, any, None)?;
    session.check()?;
    let mut interface = Interface::ready(options.interface.as_deref(), options.group)?;
    check_mtu(&interface, &session)?;
    let saved = options.state.as_deref().map_or_else(|| Ok(Saved::default()), Saved::read)?;
    // A salt that was used goes on, as do the packet numbers, so that receivers who know it can go on too.
    let mut numbers = saved.numbers;
    let stored = numbers.granted;
    if options.encrypts {
        numbers.salt.get_or_insert_with(new_salt);
    }
    let session = description(options, interface.address, numbers.salt.filter(|_| options.encrypts))?;
    raise_file_limit();
    let before = Before::open(&interface, &session);
    let cut = Cut {
        symbol: session.symbol_size(),
        longest: options.longest_part,
        is_signed: options.key.is_some(),
    };
    let how = Reading { cut, tagged: options.tagged };
    let beginning = files::find(paths, &saved, how, stop, say)?;
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
        (options.follow, folder),
        (how, options.key.as_ref()),
        say,
    )?;
    let is_protected = options.group_key.is_some();
    let start = |path| Writer::start(path, &files, numbers, is_protected);
    let mut writer = options.state.as_deref().map(start).transpose()?;
    let follower = options.follow.then(|| Follower::start(paths, &beginning.found, how)).transpose()?;
    drop((beginning, saved));
    if let Some(key) = &options.group_key {
        let mut sequence = Sequence::after(stored);
        // Without a state the session's number, and a salt, are drawn for each start, so packet numbers start again too.
        sequence.grant(writer.as_ref().map_or(SEQUENCE_MAX, Writer::granted));
        host.node.protect(key, sequence);
    }
    serve(&mut host, options.serve.as_ref())?;
    if options.reports {
        host.node.poll_receivers();
    }
    host.bound(options.on_demand);
    let mut neighbours = Neighbours::open(&interface, host.session());
    let size = ContentSize { files: files.objects(), bytes };
    let key = options.key.as_ref().map(SecretKey::public);
    let of = |session: &Session| {
        let described = describe(session, &options.name, key, (options.ttl, size), &options.relays);
        described.map_err(AnnounceError::from)
    };
    let described = of(host.session())?;
    say(&SendEvent::Ready(host.session(), files.objects(), &described));

    let clock = host.clock();
    neighbours.know(before.finish(&clock, say));
    let mut announcing = announce(&interface, &described, options, clock.now(), seed, say);
    let begin = clock.now();
    let mut completed = Completed::default();
    let mut outage = Outage::default();
    let mut lateness = Lateness::default();
    let mut quiet = Quiet::default();
    let mut next_progress = begin + PROGRESS_EVERY;
    let mut hashing_until = None;
    host.start(&mut files)?;
    loop {
        host.step(next_progress, &mut files)?;
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
        let now = clock.now();
        let report = SendProgress {
            elapsed: StdDuration::from_nanos(now.since(begin).as_ns()),
            rounds: files.rounds(),
            counters: *host.node.counters(),
            completions: completed.addresses.len(),
            estimates: Estimates::default(),
        };
        outage.look(&interface, &host, now, say);
        quiet.look(&mut host, now, say);
        if files.is_hashing() {
            hashing_until = Some(now);
        }
        // Receivers cannot complete a file whose hash has not come.
        let named = hashing_until.is_none_or(|until| now.since(until) >= HASH_SENT);
        let stopped = why_stop(&options.ends, &report, stop).filter(|&why| why != Stopped::Rounds || named);
        if now >= next_progress || stopped.is_some() {
            next_progress = now + PROGRESS_EVERY;
            let report = SendProgress { estimates: host.estimates(), ..report };
            say(&SendEvent::Progress(&report));
            if host.node.collector().is_some_and(Collector::take_news)
                && let Some(reception) = reception(&mut host, now)
            {
                say(&SendEvent::Reception(&reception));
            }
            neighbours.look(&clock, say);
            if let Some(announcing) = &mut announcing {
                announcing.step(&clock);
            }
            if let Some(to) = another_address(&host, &interface) {
                host.move_to(&to, options.ttl)?;
                files.describe(host.session())?;
                neighbours = Neighbours::open(&to, host.session());
                let described = of(host.session())?;
                announcing = announce(&to, &described, options, now, seed, say);
                let (from, to) = (std::mem::replace(&mut interface, to).address, host.session().source);
                say(&SendEvent::Notice(&Notice::Moved { from, to }));
                say(&SendEvent::Ready(host.session(), files.objects(), &described));
            }
            turned_away(&mut host, options, say);
            if let Some(notice) = lateness.look(host.node.take_lateness()) {
                say(&SendEvent::Notice(&notice));
            }
            if let Some(writer) = &mut writer {
                let notice =
                    writer.look(now, &files, host.node.packet_numbers().map(|numbers| numbers.left()));
                host.node.packet_numbers().into_iter().for_each(|numbers| numbers.grant(writer.granted()));
                notice.iter().for_each(|notice| say(&SendEvent::Notice(notice)));
            }
            if let Some(stopped) = stopped {
                if let Some(notice) = writer.and_then(|writer| writer.finish(&files)) {
                    say(&SendEvent::Notice(&notice));
                }
                host.stop(&mut files)?;
                announcing.into_iter().for_each(|announcing| announcing.finish(&clock));
                return Ok(Sent {
                    stopped,
                    progress: report,
                    completed: completed.addresses,
                    withdrawn: files.withdrawn(),
                    left_out: files.left_out(),
                    reception: reception(&mut host, now),
                });
            }
            if let Some(changes) = follower.as_ref().and_then(Follower::take) {
                files.change(&changes, say)?;
                host.node.demands().iter_mut().for_each(|demands| demands.renew(now));
            }
            if let Err(error) = files.check(say) {
                // Receivers cannot complete what is gone: announce the end of the session.
                host.stop(&mut files)?;
                announcing.into_iter().for_each(|announcing| announcing.finish(&clock));
                return Err(error);
            }
        }
    }
}

/// Serves receivers and relays by unicast too, if so asked.
fn serve(host: &mut SourceHost, options: Option<&ServeUse>) -> Result<(), Error> {
    let Some(ServeUse { serve, only }) = options else { return Ok(()) };
    let server = SourceServer::open(serve, host.session().source)?;
    host.branch(Box::new(server), *only);
    Ok(())
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

/// The interface with the address that it has now, if the network takes no packets since this host no longer has the old one.
fn another_address(host: &SourceHost, interface: &Interface) -> Option<Interface> {
    host.outage()?;
    let group = host.session().group;
    if Interface::find(Some(&interface.address.to_string()), group).is_ok() {
        return None;
    }
    Interface::find(Some(&interface.name), group).or_else(|_| Interface::find(None, group)).ok()
}

/// What is known of the receivers, if they are polled.
fn reception(host: &mut SourceHost, now: Time) -> Option<Reception> {
    host.node.collector().map(|collector| Reception { at: now, summary: collector.summary(now) })
}

/// Announces the session, if the options say so. One that cannot be announced is sent all the same, with a notice.
fn announce(
    interface: &Interface,
    description: &Description,
    options: &SendOptions,
    now: Time,
    seed: u64,
    say: &mut dyn FnMut(&SendEvent<'_>),
) -> Option<Announcing> {
    let key = options.key.as_ref();
    let open = || Announcing::open(interface, options.group, description, key, now, seed);
    let opened = options.is_announced.then(open)?;
    let failed = |error: Error| say(&SendEvent::Notice(&Notice::NotAnnounced { reason: error.to_string() }));
    opened.map_err(failed).ok()
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

/// Reports the beginning and the end of an outage.
#[derive(Debug, Default)]
struct Outage {
    since: Option<Time>,
}

impl Outage {
    fn look(
        &mut self,
        interface: &Interface,
        host: &SourceHost,
        now: Time,
        say: &mut dyn FnMut(&SendEvent<'_>),
    ) {
        match (self.since, host.outage()) {
            (None, Some((since, error))) => {
                self.since = Some(since);
                let patience = Some(StdDuration::from_nanos(OUTAGE_MAX.as_ns()));
                let reason = Interface::trouble(&interface.name)
                    .map_or_else(|| error.to_string(), |(what, remedy)| format!("{what}: {remedy}"));
                say(&SendEvent::Notice(&Notice::UplinkDown { reason, patience }));
            }
            (Some(since), None) => {
                self.since = None;
                let after = StdDuration::from_nanos(now.since(since).as_ns());
                say(&SendEvent::Notice(&Notice::UplinkBack { after }));
            }
            _ => {}
        }
    }
}

/// Names receivers that came after the last one that the protocol serves.
fn turned_away(host: &mut SourceHost, options: &SendOptions, say: &mut dyn FnMut(&SendEvent<'_>)) {
    let most = options.protocol.requirements().most_receivers().unwrap_or(usize::MAX);
    while let Some(receiver) = host.node.take_turned_away() {
        let protocol = options.protocol.name();
        say(&SendEvent::Notice(&Notice::TurnedAway { receiver, protocol, most }));
    }
}

/// Rejects packets that the interface would cut into fragments.
fn check_mtu(interface: &Interface, session: &Session) -> Result<(), Error> {
    let packet = session.packet.as_bytes();
    match interface.mtu(session.group) {
        Some(mtu) if packet > mtu => Err(Error::AboveMtu { packet, mtu, interface: interface.name.clone() }),
        _ => Ok(()),
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

/// A salt that no session had before.
fn new_salt() -> Salt {
    let (high, low) = (u128::from(random_seed()), u128::from(random_seed()));
    Salt((high << 64 | low).to_be_bytes())
}

/// The description of a session that is about to start. Number and port are filled in later.
fn description(options: &SendOptions, source: IpAddr, salt: Option<Salt>) -> Result<Session, Error> {
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
        feedback: SocketAddr::new(source, if options.feedback_port == 0 { 9 } else { options.feedback_port }),
        packet: options.packet,
        channels: needs.channels(&plan),
        agreed: agreed.collect(),
        group_key: options.group_key.as_ref().map(|key| key.fingerprint().to_string()),
        salt,
        layers,
        stream: None,
    })
}
