//! Receiving live data: each layer that is held to an output of its own.

mod outputs;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::{Cause, Estimates};
use layercast_core::units::{Duration, Level, Time};
use layercast_delivery::follow::Following;
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::search::Known;
use layercast_delivery::security::protection::ProtectionCounters;
use layercast_delivery::stream::{CODEPOINT, Gap, LayerCounters, StreamPlan, StreamReceiver, Unit};

use super::breaker::Breaker;
use super::placing::Placing;
use super::running::PROGRESS_EVERY;
use super::{ReceiveEvent, ReceiveOptions, configured, discovery, overload};
use crate::error::Error;
use crate::file_limit::raise_file_limit;
use crate::host::{ReceiverCounters, ReceiverHost};
use crate::notice::Notice;
use crate::random_seed;
use outputs::Outputs;
pub use outputs::{StreamOutput, StreamOutputs};

/// The interval of checks for an interruption during a pause.
const LOOK_EVERY: StdDuration = StdDuration::from_millis(200);

/// What became of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLayerReceived {
    /// Its units.
    pub counters: LayerCounters,
    /// Units that were delivered in time, and that the output did not take: a pipe without a reader, or with a slow one.
    pub unwritten: u64,
}

/// The progress of a reception of live data.
#[derive(Clone, Debug)]
pub struct StreamReceiveProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// The receiver's estimates.
    pub estimates: Estimates,
    /// The share of packets that were lost over the last seconds; none before the first packet.
    pub packets_lost: Option<f64>,
    /// The last change of level, and its cause.
    pub last_change: Option<(Level, Cause)>,
    /// The counters of the host.
    pub counters: ReceiverCounters,
    /// Packets that were checked for authenticity; zeros without a group key.
    pub protection: ProtectionCounters,
    /// Each layer of the session, from the base up.
    pub layers: Vec<StreamLayerReceived>,
}

/// What a reception of live data says while it runs.
#[derive(Debug)]
pub enum StreamReceiveEvent<'a> {
    /// What any reception says: the session, decisions, notices.
    Host(&'a ReceiveEvent<'a>),
    /// Units are missing in a layer before one that was delivered.
    Gap(u16, Gap),
    /// Twice a second.
    Progress(&'a StreamReceiveProgress),
}

/// Why a reception of live data ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnded {
    /// The source has ended the session.
    Session,
    /// The time is over.
    Time,
    /// A stop was requested.
    Interrupted,
    /// The readers of all outputs are gone.
    Outputs,
}

/// Receives live data until the session ends, the time is over, or a stop is requested. `say` gets the events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn receive(
    options: &ReceiveOptions,
    to: &StreamOutputs,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
) -> Result<(StreamEnded, StreamReceiveProgress), Error> {
    if matches!(options.known, Known::Flute(_)) {
        return Err(Error::NotOfFlute { what: "--stream" });
    }
    let mut placing = Placing::new(options, &mut |event| say(&StreamReceiveEvent::Host(event)))?;
    raise_file_limit();
    let mut receiving = Receiving { options, stop, begin: Instant::now(), outputs: None };
    let mut breaker = Breaker::default();
    let (mut not, mut patience) = (None, options.start_within);
    loop {
        let outcome = receiving.session(&mut placing, to, (not, patience), &mut breaker, say);
        match outcome.map_err(|error| placing.explained(error))? {
            Outcome::Ended(ended, progress) => {
                if let Some(outputs) = receiving.outputs {
                    outputs.finish();
                }
                return Ok((ended, *progress));
            }
            Outcome::Moved(current) => not = Some(current),
            Outcome::Overloaded(pause) => {
                let end = Instant::now() + pause;
                while Instant::now() < end && !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        }
        patience = options.patience;
    }
}

/// How a session ended for a receiver.
enum Outcome {
    Ended(StreamEnded, Box<StreamReceiveProgress>),
    /// It is silent, and there is another one.
    Moved((IpAddr, u32)),
    /// The path does not carry the base layer: to be left alone for so long.
    Overloaded(StdDuration),
}

struct Receiving<'a> {
    options: &'a ReceiveOptions,
    stop: &'a AtomicBool,
    begin: Instant,
    /// None before the first session is found.
    outputs: Option<Outputs>,
}

impl Receiving<'_> {
    fn session(
        &mut self,
        placing: &mut Placing<'_>,
        to: &StreamOutputs,
        (not, patience): (Option<(IpAddr, u32)>, StdDuration),
        breaker: &mut Breaker,
        say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
    ) -> Result<Outcome, Error> {
        let options = self.options;
        let mut host_say = |event: &ReceiveEvent<'_>| say(&StreamReceiveEvent::Host(event));
        let found = placing.find(not, patience, (self.stop, self.begin), &mut host_say)?;
        let (session, access) = (found.session.session, found.access);
        let Some(plan) = session.stream else { return Err(Error::NotStream) };
        host_say(&ReceiveEvent::Session(&session));
        let protocol = configured(&session, &options.protocol_options)?;
        let layers = session.layers.count();
        let mut outputs = match self.outputs.take() {
            Some(outputs) if outputs.count() >= usize::from(layers) => outputs,
            _ => Outputs::open(to, layers, plan.units, options.settings.replace)?,
        };
        let receiver = StreamReceiver::new(&plan, session.stream_symbol_size(), layers);
        let current = (session.source, session.tsi);
        let seed = options.seed.unwrap_or_else(random_seed);
        let mut host = ReceiverHost::by(access, placing.interface(), &protocol, session, seed)?;
        if let Some(key) = &options.group_key {
            host.node.protect(key, options.salt());
        }
        host.node.keep_log();
        host.start()?;
        let mut running = Running {
            receiving: self,
            receiver,
            outputs: &mut outputs,
            following: Following::new(host.clock().now()),
            layers,
            gaps: Vec::new(),
            warned_of_base: false,
        };
        let outcome = running.run(&mut host, &plan, (current, placing), breaker, say);
        // In any case leave the session properly.
        let _ = host.stop();
        self.outputs = Some(outputs);
        outcome
    }
}

/// The reception of one session.
struct Running<'a, 'b> {
    receiving: &'a Receiving<'b>,
    receiver: StreamReceiver,
    outputs: &'a mut Outputs,
    following: Following,
    layers: u16,
    gaps: Vec<(u16, Gap)>,
    warned_of_base: bool,
}

/// Writes a unit to its output, and notes the gap before it.
fn deliver(outputs: &mut Outputs, gaps: &mut Vec<(u16, Gap)>, unit: Unit<'_>) {
    gaps.extend(unit.gap.map(|gap| (unit.layer, gap)));
    outputs.write(unit.layer, unit.bytes);
}

impl Running<'_, '_> {
    fn run(
        &mut self,
        host: &mut ReceiverHost,
        plan: &StreamPlan,
        (current, placing): ((IpAddr, u32), &mut Placing<'_>),
        breaker: &mut Breaker,
        say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
    ) -> Result<Outcome, Error> {
        let clock = host.clock();
        let mut next_progress = clock.now() + PROGRESS_EVERY;
        loop {
            let latest = self.receiver.deadline().map_or(next_progress, |due| due.min(next_progress));
            let Running { receiver, outputs, gaps, following, layers, .. } = self;
            host.step(latest, &mut |now, packet| {
                following.own(now);
                if packet.repr.codepoint == CODEPOINT
                    && let Some(layer) =
                        packet.repr.toi.checked_sub(1).and_then(|one| u16::try_from(one).ok())
                    && layer < *layers
                {
                    receiver.packet(now, layer, packet.payload, &mut |unit| deliver(outputs, gaps, unit));
                }
                Ok(())
            })?;
            self.say_trace(host, say);
            let now = clock.now();
            if self.receiver.deadline().is_some_and(|due| due <= now) {
                let Running { receiver, outputs, gaps, .. } = self;
                receiver.advance(now, &mut |unit| deliver(outputs, gaps, unit));
            }
            self.gaps.drain(..).for_each(|(layer, gap)| say(&StreamReceiveEvent::Gap(layer, gap)));
            let ended = self.ended(host, plan, now);
            if ended.is_some() {
                let Running { receiver, outputs, gaps, .. } = self;
                receiver.finish(now, &mut |unit| deliver(outputs, gaps, unit));
                self.gaps.drain(..).for_each(|(layer, gap)| say(&StreamReceiveEvent::Gap(layer, gap)));
            }
            if now >= next_progress || ended.is_some() {
                next_progress = now + PROGRESS_EVERY;
                let progress = self.progress(host);
                say(&StreamReceiveEvent::Progress(&progress));
                if let Some(ended) = ended {
                    return Ok(Outcome::Ended(ended, Box::new(progress)));
                }
                let mut host_say = |event: &ReceiveEvent<'_>| say(&StreamReceiveEvent::Host(event));
                let silent = StdDuration::from_nanos(self.following.silent_for(now).as_ns());
                placing.look(host, silent, &mut host_say)?;
                for notice in self.outputs.notices() {
                    host_say(&ReceiveEvent::Notice(&notice));
                }
                if !self.warned_of_base
                    && let Some(notice) = overload::of(host)
                {
                    self.warned_of_base = true;
                    host_say(&ReceiveEvent::Notice(&notice));
                }
                let alone = host.base_only_for() > Duration::ZERO;
                let passed = StdDuration::from_nanos(PROGRESS_EVERY.as_ns());
                if let Some(pause) = breaker.look(alone, host.recent_packets(), passed) {
                    host_say(&ReceiveEvent::Notice(&Notice::Overloaded { pause }));
                    return Ok(Outcome::Overloaded(pause));
                }
            }
            if host.node.take_stranger().is_some_and(|stranger| stranger.may_be_followed) {
                self.following.other(now);
            }
            if self.following.is_lost(now) {
                say(&StreamReceiveEvent::Host(&ReceiveEvent::Notice(&Notice::Following)));
                return Ok(Outcome::Moved(current));
            }
            self.check_silence(host, now)?;
        }
    }

    /// Why the reception ends.
    fn ended(&self, host: &ReceiverHost, plan: &StreamPlan, now: Time) -> Option<StreamEnded> {
        let Receiving { options, stop, begin, .. } = self.receiving;
        if stop.load(Ordering::Relaxed) {
            return Some(StreamEnded::Interrupted);
        }
        // What was sent before in other layers gets the part of the deadline that is for the path.
        let is_over = |since| now.since(since) >= Duration::from_ns(plan.deadline.as_ns() / 2);
        if host.node.has_ended() || self.receiver.ended().is_some_and(is_over) {
            return Some(StreamEnded::Session);
        }
        if options.within.is_some_and(|within| begin.elapsed() >= within) {
            return Some(StreamEnded::Time);
        }
        self.outputs.are_closed().then_some(StreamEnded::Outputs)
    }

    fn check_silence(&self, host: &ReceiverHost, now: Time) -> Result<(), Error> {
        let waited = StdDuration::from_nanos(self.following.silent_for(now).as_ns());
        if waited < self.receiving.options.patience {
            return Ok(());
        }
        let forged = host.node.protection().map_or(0, ProtectionCounters::forged);
        let reasons = discovery::reasons(&host.counters().node.accept, forged, true);
        Err(Error::Silent { group: host.session().group, waited, reasons })
    }

    /// Reports what the receiver decided and noticed, and ends the layers that it has left.
    fn say_trace(&mut self, host: &mut ReceiverHost, say: &mut dyn FnMut(&StreamReceiveEvent<'_>)) {
        if !host.node.has_log() {
            return;
        }
        let (elapsed, estimates, now) =
            (self.receiving.begin.elapsed(), host.node.estimates(), host.clock().now());
        let Running { receiver, outputs, gaps, .. } = self;
        host.node.drain_log().for_each(|note| {
            if let ReceiverNote::Left(channel) = note {
                receiver.leave(now, channel.0, &mut |unit| deliver(outputs, gaps, unit));
            }
            say(&StreamReceiveEvent::Host(&ReceiveEvent::Trace(elapsed, &note, &estimates)));
        });
    }

    fn progress(&self, host: &ReceiverHost) -> StreamReceiveProgress {
        let layers = self.receiver.counters().zip(self.outputs.unwritten());
        StreamReceiveProgress {
            elapsed: self.receiving.begin.elapsed(),
            estimates: host.node.estimates(),
            packets_lost: host.recent_packets().map(|recent| recent.lost()),
            last_change: host.node.last_change(),
            counters: host.counters(),
            protection: host.node.protection().copied().unwrap_or_default(),
            layers: layers.map(|(counters, unwritten)| StreamLayerReceived { counters, unwritten }).collect(),
        }
    }
}
