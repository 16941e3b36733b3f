//! Sending live data: one input for each layer.

mod inputs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::family::AnyProtocol;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::node::Content;
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::security::sequence::{SEQUENCE_MAX, Sequence};
use layercast_delivery::sender::PacketPayload;
use layercast_delivery::session::Session;
use layercast_delivery::signed_table::TableSigner;
use layercast_delivery::stream::{CODEPOINT, LayerSource, StreamPlan, StreamTable, Units};
use layercast_protocols::registry::Protocol;

use super::program::{Program, Supply, check_mtu, description, new_salt};
use super::{Ends, SendOptions};
use crate::announcing::ntp_now_s;
use crate::error::Error;
use crate::event::{End, Event};
pub use crate::event::{StreamLayerSent, StreamSendProgress};
use crate::host::{Interface, SourceHost};
use crate::random_seed;
use inputs::Reader;
pub use inputs::StreamInput;
use layercast_delivery::announce::describing::Size as ContentSize;

/// How long a table is valid: a year.
const TABLE_VALID_S: u64 = 365 * 24 * 3600;

/// The options of a transmission of live data.
#[derive(Clone, Debug)]
pub struct StreamSendOptions<P = Protocol> {
    /// Those of any transmission; what is of files only has no effect. The key signs announcements and the session's description,
    /// and the group key alone authenticates packets.
    pub send: SendOptions<P>,
    /// Deadline and units.
    pub plan: StreamPlan,
    /// Repair symbols for each source symbol; 0 for none.
    pub share: f64,
}

/// The deadline of live data, if nothing else is wanted (CHOICE).
const DEADLINE: Duration = Duration::from_ms(500);
/// The bytes of a unit, if nothing else is wanted (CHOICE): seven packets of MPEG-TS.
const UNIT: u32 = 1316;
/// Repair symbols for each source symbol, if nothing else is wanted (CHOICE).
const SHARE: f64 = 0.15;

impl<P> StreamSendOptions<P> {
    /// Live data within half a second, in units of 1316 bytes.
    pub fn new(send: SendOptions<P>) -> StreamSendOptions<P> {
        let plan = StreamPlan { deadline: DEADLINE, units: Units::Fixed(UNIT) };
        StreamSendOptions { send, plan, share: SHARE }
    }
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

impl StreamStopped {
    /// Its name for programs, which does not change.
    pub fn name(self) -> &'static str {
        match self {
            StreamStopped::Inputs => "inputs",
            StreamStopped::Time => "time",
            StreamStopped::Interrupted => "interrupted",
        }
    }
}

/// The live data that was sent.
#[derive(Clone, Debug)]
pub struct StreamSent {
    /// Why it stopped.
    pub stopped: StreamStopped,
    /// The progress at the end.
    pub progress: StreamSendProgress,
}

impl From<&StreamSent> for End {
    fn from(sent: &StreamSent) -> End {
        End { reason: sent.stopped.name(), progress: Some(sent.progress.clone().into()), ..End::default() }
    }
}

/// The payload of a source of live data.
struct StreamSupply {
    table: StreamTable,
    expires_s: u64,
    key: Option<SecretKey>,
    deadline: Duration,
    layers: Vec<Layer>,
    /// All inputs have ended, and all is sent.
    is_done: bool,
    scratch: Vec<u8>,
}

/// A layer.
struct Layer {
    reader: Reader,
    /// The time from one packet to the next at its rate.
    interval: Duration,
    /// When its channel had the last packet; of one that is not sent, up to when its data is dropped.
    asked: Time,
}

impl Content for StreamSupply {
    type Error = Error;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<PacketPayload, Error> {
        if channel == Channel(0)
            && let Some(load) = self.table.next(now, room)
        {
            return Ok(load);
        }
        // A channel beyond the layers is one of the congestion control's own.
        let Some(layer) = self.layers.get_mut(channel.index()) else { return Ok(PacketPayload::default()) };
        layer.asked = now;
        let length = if self.is_done { layer.reader.end(now, room) } else { layer.reader.next(now, room) };
        if length == 0 {
            return Ok(PacketPayload::default());
        }
        Ok(PacketPayload {
            toi: u32::from(channel.0) + 1,
            codepoint: CODEPOINT,
            length,
            ..PacketPayload::default()
        })
    }

    fn announce_soon(&mut self) {
        self.table.announce_soon();
    }
}

impl Supply for StreamSupply {
    fn describe(&mut self, session: &Session) -> Result<(), Error> {
        self.table = table(session, self.expires_s, self.key.as_ref());
        Ok(())
    }
}

impl StreamSupply {
    fn failure(&self) -> Option<Error> {
        self.layers.iter().find_map(|layer| layer.reader.failure())
    }

    /// Looks whether all inputs have ended and all is sent. What comes for a layer that nobody holds is dropped at the layer's
    /// rate, so that who writes it notices nothing.
    fn poll(&mut self, now: Time) -> bool {
        for layer in &mut self.layers {
            while now.since(layer.asked) > self.deadline + layer.interval {
                layer.asked += layer.interval;
                layer.reader.drop_next(now, &mut self.scratch);
            }
        }
        self.is_done = self.layers.iter().all(|layer| layer.reader.is_done());
        self.is_done
    }

    fn progress<P: AnyProtocol>(&self, host: &SourceHost<P>, elapsed: StdDuration) -> StreamSendProgress {
        StreamSendProgress {
            elapsed,
            counters: *host.node.counters(),
            estimates: host.estimates(),
            layers: self.layers.iter().map(|layer| layer.reader.progress()).collect(),
        }
    }
}

/// Sends live data, input i in layer i, until all inputs have ended, the time is over, or a stop is requested. `on_event` gets the
/// events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn send<P: AnyProtocol>(
    inputs: Vec<StreamInput>,
    options: &StreamSendOptions<P>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<StreamSent, Error> {
    let common = &options.send;
    let layers = usize::from(common.layers.count());
    if inputs.len() != layers {
        return Err(Error::StreamInputs { inputs: inputs.len(), layers });
    }
    let interface = Interface::ready(common.interface.as_deref(), common.group)?;
    let mut session = description(common, interface.address, common.encrypts.then(new_salt))?;
    session.stream = Some(options.plan);
    session.check_of::<P>()?;
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
    let clock = host.clock();
    let session = host.session();
    let size = ContentSize { files: inputs.len(), bytes: 0 };
    let closed = Arc::new(AtomicBool::new(false));
    let mut layers = Vec::new();
    for (input, layer) in inputs.into_iter().zip(session.layers.layers()) {
        let rate = session.layers.rate(layer);
        let source = LayerSource::new(&options.plan, rate, session.stream_symbol_size(), options.share);
        let reader = Reader::start(input, source, options.plan.units, clock, Arc::clone(&closed))?;
        layers.push(Layer { reader, interval: rate.time_to_send(session.packet), asked: clock.now() });
    }
    let expires_s = ntp_now_s() + common.ends.after.map_or(TABLE_VALID_S, |after| after.as_secs() + 60);
    let mut supply = StreamSupply {
        table: table(session, expires_s, common.key.as_ref()),
        expires_s,
        key: common.key.clone(),
        deadline: options.plan.deadline,
        layers,
        is_done: false,
        scratch: vec![0; host.node.room()],
    };
    let mut program = Program::start(host, &mut supply, interface, common, size, None, on_event)?;
    let mut done_since = None;
    let outcome = loop {
        let now = match program.step(&mut supply, on_event) {
            Ok(now) => now,
            Err(error) => break Err(error),
        };
        while program.host.node.take_completion().is_some() {}
        if let Some(error) = supply.failure() {
            break Err(error);
        }
        let is_done = supply.poll(now);
        done_since = done_since.or(Some(now)).filter(|_| is_done);
        let elapsed = program.elapsed(now);
        let stopped = why_stop(&common.ends, elapsed, done_since.map(|at| now.since(at)), options, stop);
        if !program.is_due(now) && stopped.is_none() {
            continue;
        }
        if let Err(error) = program.poll(now, &mut supply, on_event) {
            break Err(error);
        }
        let progress = supply.progress(&program.host, elapsed);
        on_event(&Event::Progress(progress.clone().into()));
        if let Some(stopped) = stopped {
            break Ok(StreamSent { stopped, progress });
        }
    };
    closed.store(true, Ordering::Relaxed);
    let ended = program.end(&mut supply);
    let outcome = outcome?;
    ended.map(|()| outcome)
}

/// The table of a session, signed if there is a key.
fn table(session: &Session, expires_s: u64, key: Option<&SecretKey>) -> StreamTable {
    let signer = key.map(|key| TableSigner { key: key.clone(), tsi: session.tsi });
    StreamTable::new(session.to_string(), session.symbol_size(), expires_s, signer.as_ref())
}

/// Why sending stops, `elapsed` after its start and `done` after all was sent: the last repair symbols and what is delayed get
/// the time of the deadline, before the end of the session makes receivers leave.
fn why_stop<P>(
    ends: &Ends,
    elapsed: StdDuration,
    done: Option<Duration>,
    options: &StreamSendOptions<P>,
    stop: &AtomicBool,
) -> Option<StreamStopped> {
    if stop.load(Ordering::Relaxed) {
        return Some(StreamStopped::Interrupted);
    }
    if done.is_some_and(|done| done >= options.plan.deadline) {
        return Some(StreamStopped::Inputs);
    }
    ends.after.filter(|&after| elapsed >= after).map(|_| StreamStopped::Time)
}
