//! Sending live data: one input for each layer.

mod inputs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::contract::Estimates;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::announce::announcer::AnnounceError;
use layercast_delivery::node::{Content, SourceCounters};
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::security::sequence::{SEQUENCE_MAX, Sequence};
use layercast_delivery::sender::Load;
use layercast_delivery::stream::{
    CODEPOINT, InputCounters, LayerSource, SourceCounters as LayerSent, StreamPlan, StreamTable,
};

use super::lateness::Lateness;
use super::neighbours::Neighbours;
use super::{
    Ends, Outage, PROGRESS_EVERY, SendEvent, SendOptions, announce, check_mtu, description, new_salt, serve,
    turned_away,
};
use crate::announcing::{Size as ContentSize, describe, ntp_now_s};
use crate::error::Error;
use crate::host::{Interface, SourceHost};
use crate::random_seed;
use inputs::Reader;
pub use inputs::StreamInput;

/// How long a table is valid: a year.
const TABLE_VALID_S: u64 = 365 * 24 * 3600;

/// The options of a transmission of live data.
#[derive(Clone, Debug)]
pub struct StreamSendOptions {
    /// Those of any transmission; what is of files only has no effect.
    pub send: SendOptions,
    /// Deadline and units.
    pub plan: StreamPlan,
    /// Repair symbols for each source symbol; 0 for none.
    pub share: f64,
}

/// What a layer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLayerSent {
    /// Units that came.
    pub input: InputCounters,
    /// Symbols that were sent.
    pub sent: LayerSent,
}

/// The progress of a transmission of live data.
#[derive(Clone, Debug)]
pub struct StreamSendProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// The counters of the host.
    pub counters: SourceCounters,
    /// The source's estimates.
    pub estimates: Estimates,
    /// Each layer, from the base up.
    pub layers: Vec<StreamLayerSent>,
}

/// Why sending stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamStopped {
    /// All inputs have ended, and all is sent.
    Inputs,
    /// The time is over.
    Time,
    /// A stop was requested.
    Interrupted,
}

/// What a transmission of live data says while it runs.
#[derive(Debug)]
pub enum StreamSendEvent<'a> {
    /// What any transmission says: that it is ready, notices.
    Host(&'a SendEvent<'a>),
    /// Twice a second.
    Progress(&'a StreamSendProgress),
}

/// The payload of a source of live data.
struct StreamSupply {
    table: StreamTable,
    readers: Vec<Reader>,
    /// All inputs have ended, and all is sent.
    is_done: bool,
}

impl Content for StreamSupply {
    type Error = Error;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, Error> {
        if channel == Channel(0)
            && let Some(load) = self.table.next(now, room)
        {
            return Ok(load);
        }
        // A channel beyond the layers is one of the congestion control's own.
        let Some(reader) = self.readers.get(channel.index()) else { return Ok(Load::default()) };
        let length = if self.is_done { reader.end(now, room) } else { reader.next(now, room) };
        if length == 0 {
            return Ok(Load::default());
        }
        Ok(Load { toi: u32::from(channel.0) + 1, codepoint: CODEPOINT, length, ..Load::default() })
    }
}

impl StreamSupply {
    fn failure(&self) -> Option<Error> {
        self.readers.iter().find_map(Reader::failure)
    }

    /// Looks whether all inputs have ended and all is sent.
    fn look(&mut self) -> bool {
        self.is_done = self.readers.iter().all(Reader::is_done);
        self.is_done
    }

    fn progress(&self, host: &SourceHost, begin: Time) -> StreamSendProgress {
        let elapsed = StdDuration::from_nanos(host.clock().now().since(begin).as_ns());
        StreamSendProgress {
            elapsed,
            counters: *host.node.counters(),
            estimates: host.estimates(),
            layers: self.readers.iter().map(Reader::progress).collect(),
        }
    }
}

/// Sends live data, input i in layer i, until all inputs have ended, the time is over, or a stop is requested. `say` gets the
/// events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn send(
    inputs: &[StreamInput],
    options: &StreamSendOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&StreamSendEvent<'_>),
) -> Result<(StreamStopped, StreamSendProgress), Error> {
    let common = &options.send;
    let layers = usize::from(common.layers.count());
    if inputs.len() != layers {
        return Err(Error::StreamInputs { inputs: inputs.len(), layers });
    }
    let interface = Interface::ready(common.interface.as_deref(), common.group)?;
    let mut session = description(common, interface.address, common.encrypts.then(new_salt))?;
    session.stream = Some(options.plan);
    session.check()?;
    check_mtu(&interface, &session)?;
    let seed = common.seed.unwrap_or_else(random_seed);
    let mut host =
        SourceHost::new(&interface, &common.protocol, session, common.feedback_port, common.ttl, seed)?;
    if let Some(key) = &common.group_key {
        let mut numbers = Sequence::after(0);
        // The session's number, and a salt, are drawn for each start, so packet numbers start again too.
        numbers.grant(SEQUENCE_MAX);
        host.node.protect(key, numbers);
    }
    serve(&mut host, common.serve.as_ref())?;
    let clock = host.clock();
    let session = host.session();
    let closed = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for (input, layer) in inputs.iter().zip(session.layers.layers()) {
        let rate = session.layers.rate(layer);
        let source = LayerSource::new(&options.plan, rate, session.stream_symbol_size(), options.share);
        readers.push(Reader::start(input, source, options.plan.units, clock, Arc::clone(&closed))?);
    }
    let valid_s = common.ends.after.map_or(TABLE_VALID_S, |after| after.as_secs() + 60);
    let table = StreamTable::new(session.to_string(), session.symbol_size(), ntp_now_s() + valid_s);
    let mut supply = StreamSupply { table, readers, is_done: false };
    let key = common.key.as_ref().map(SecretKey::public);
    let size = ContentSize { files: inputs.len(), bytes: 0 };
    let described = describe(session, &common.name, key, (common.ttl, size), &common.relays)
        .map_err(AnnounceError::from)?;
    let mut neighbours = Neighbours::open(&interface, session);
    let mut host_say = |event: &SendEvent<'_>| say(&StreamSendEvent::Host(event));
    host_say(&SendEvent::Ready(session, inputs.len(), &described));
    let mut announcing = announce(&interface, &described, common, clock.now(), seed, &mut host_say);
    let (begin, mut outage, mut lateness) = (clock.now(), Outage::default(), Lateness::default());
    let (mut next_progress, mut done_since) = (begin + PROGRESS_EVERY, None);
    host.start(&mut supply)?;
    let outcome = loop {
        if let Err(error) = host.step(next_progress, &mut supply) {
            break Err(error);
        }
        while host.node.take_completion().is_some() {}
        let now = clock.now();
        let mut host_say = |event: &SendEvent<'_>| say(&StreamSendEvent::Host(event));
        outage.look(&interface, &host, now, &mut host_say);
        if let Some(error) = supply.failure() {
            break Err(error);
        }
        let is_done = supply.look();
        done_since = done_since.or(Some(now)).filter(|_| is_done);
        let stopped =
            why_stop(&common.ends, now.since(begin), done_since.map(|at| now.since(at)), options, stop);
        if now < next_progress && stopped.is_none() {
            continue;
        }
        next_progress = now + PROGRESS_EVERY;
        neighbours.look(&clock, &mut host_say);
        if let Some(announcing) = &mut announcing {
            announcing.step(&clock);
        }
        turned_away(&mut host, common, &mut host_say);
        if let Some(notice) = lateness.look(host.node.take_lateness()) {
            host_say(&SendEvent::Notice(&notice));
        }
        let progress = supply.progress(&host, begin);
        say(&StreamSendEvent::Progress(&progress));
        if let Some(stopped) = stopped {
            break Ok((stopped, progress));
        }
    };
    closed.store(true, Ordering::Relaxed);
    let ended = host.stop(&mut supply);
    announcing.into_iter().for_each(|announcing| announcing.finish(&clock));
    let outcome = outcome?;
    ended.map(|()| outcome)
}

/// Why sending stops, `elapsed` after its start and `done` after all was sent: the last repair symbols and what is delayed get
/// the time of the deadline, before the end of the session makes receivers leave.
fn why_stop(
    ends: &Ends,
    elapsed: Duration,
    done: Option<Duration>,
    options: &StreamSendOptions,
    stop: &AtomicBool,
) -> Option<StreamStopped> {
    if stop.load(Ordering::Relaxed) {
        return Some(StreamStopped::Interrupted);
    }
    if done.is_some_and(|done| done >= options.plan.deadline) {
        return Some(StreamStopped::Inputs);
    }
    let elapsed = StdDuration::from_nanos(elapsed.as_ns());
    ends.after.filter(|&after| elapsed >= after).map(|_| StreamStopped::Time)
}
