//! The host of a source.

use std::io;
use std::net::SocketAddr;

use layercast_core::contract::{
    Action, Arrival, ChildSet, Ecn, Endpoint as _, Host, Input, Origin, Payload, Send, Target, TraceEvent,
    drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, RateEstimate, Seq, Size, Time};
use layercast_protocols::active::{decode, encode};
use layercast_protocols::registry::{self, Header, Protocol};

use super::Wire;
use super::description::{Description, DescriptionError};
use super::downlinks::{DownOptions, Downlinks};
use super::frame::{DESCRIPTION, END, PACKETS};
use super::reel::{Contents, Reel};

/// How often the end of the session is said, and how far apart.
const ENDS: u32 = 5;
const END_EVERY: Duration = Duration::from_ms(200);

/// The ECN field of data of a protocol: ECN-capable if its receivers count marks.
pub(super) fn ecn_of(protocol: &Protocol) -> Ecn {
    if protocol.requirements().character().ecn { Ecn::Capable } else { Ecn::NotCapable }
}

/// Only collects what an endpoint asks for.
#[derive(Debug, Default)]
pub(super) struct Collected(pub(super) Vec<Action<Header>>);

impl Host<Header> for Collected {
    fn send(&mut self, send: Send<Header>) {
        self.0.push(Action::Send(send));
    }
    fn join(&mut self, channel: Channel) {
        self.0.push(Action::Join(channel));
    }
    fn leave(&mut self, channel: Channel) {
        self.0.push(Action::Leave(channel));
    }
    fn deliver(&mut self, through: Seq) {
        self.0.push(Action::Deliver(through));
    }
    fn release(&mut self, through: Seq) {
        self.0.push(Action::Release(through));
    }
    fn trace(&mut self, event: TraceEvent) {
        self.0.push(Action::Trace(event));
    }
}

/// Counts of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounters {
    /// Packets of the protocol that came.
    pub received: u64,
    /// Packets with data that were sent first, or forwarded.
    pub data: u64,
    /// Repairs that were sent or passed on.
    pub repairs: u64,
    /// Packets that could not be read, or were of another protocol.
    pub malformed: u64,
    /// Packets that came with a congestion mark.
    pub marked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody holds the channel; or the first child has come, and others are awaited until then.
    Gathering(Option<Time>),
    Sending,
    /// All have all; how often that was said, and when next.
    Ending(u32, Time),
    Ended,
}

/// A source with its children.
#[derive(Debug)]
pub struct SourceNode {
    endpoint: registry::Source,
    links: Downlinks,
    description: Description,
    /// The ECN field of data.
    ecn: Ecn,
    reel: Reel,
    next: u64,
    stage: Stage,
    gather: Duration,
    deadline: Option<Time>,
    counters: NodeCounters,
    actions: Collected,
    packet: Vec<u8>,
    payload: Vec<u8>,
}

impl SourceNode {
    /// A source that starts `gather` after the first child holds the channel. `random` are bytes that nobody else knows.
    ///
    /// # Errors
    /// If the protocol of the description does not fit.
    pub fn new(
        description: Description,
        reel: Reel,
        down: &DownOptions,
        gather: Duration,
        random: [u8; 32],
    ) -> Result<SourceNode, DescriptionError> {
        let protocol = description.protocol()?;
        let plan = description.plan().ok_or(DescriptionError::Key("packet"))?;
        let seed = u64::from(description.session);
        Ok(SourceNode {
            endpoint: protocol.source(plan, Stream::new(seed, "source")),
            links: Downlinks::new(down, random),
            ecn: ecn_of(&protocol),
            description,
            reel,
            next: 0,
            stage: Stage::Gathering(None),
            gather,
            deadline: None,
            counters: NodeCounters::default(),
            actions: Collected::default(),
            packet: Vec::new(),
            payload: Vec::new(),
        })
    }

    /// Takes a datagram.
    ///
    /// # Errors
    /// Of the contents.
    pub fn receive(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        contents: &mut dyn Contents,
        wire: &mut dyn Wire,
    ) -> io::Result<()> {
        let Some(up) = self.links.receive(now, from, bytes, wire) else {
            return self.tick(now, contents, wire);
        };
        if up.packet.is_empty() {
            let text = self.description.to_string();
            self.links.send_to(up.peer, DESCRIPTION, 0, text.as_bytes(), wire);
            return Ok(());
        }
        let Ok((header, _)) = decode(up.packet) else {
            self.counters.malformed += 1;
            return Ok(());
        };
        if self.stage != Stage::Sending {
            return Ok(());
        }
        self.counters.received += 1;
        let size = Size::from_bytes(up.packet.len() as u32);
        let origin = Origin::Child(up.link, up.peer);
        self.give(now, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }), contents, wire)
    }

    /// Does what is due.
    ///
    /// # Errors
    /// Of the contents.
    pub fn tick(&mut self, now: Time, contents: &mut dyn Contents, wire: &mut dyn Wire) -> io::Result<()> {
        self.links.look(now);
        match self.stage {
            Stage::Gathering(None) if self.links.holders() > 0 => {
                self.stage = Stage::Gathering(Some(now + self.gather));
            }
            Stage::Gathering(Some(until)) if now >= until => {
                self.stage = Stage::Sending;
                self.give(now, Input::Start, contents, wire)?;
            }
            Stage::Sending if self.deadline.is_some_and(|at| at <= now) => {
                self.give(now, Input::Timer, contents, wire)?;
            }
            Stage::Ending(ENDS, _) => self.stage = Stage::Ended,
            Stage::Ending(said, at) if now >= at => {
                self.links.send_all(END, 0, &[], wire);
                self.stage = Stage::Ending(said + 1, now + END_EVERY);
            }
            _ => {}
        }
        Ok(())
    }

    /// When [`SourceNode::tick`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let own = match self.stage {
            Stage::Gathering(at) => at,
            Stage::Sending => self.deadline,
            Stage::Ending(_, at) => Some(at),
            Stage::Ended => None,
        };
        own.into_iter().chain(self.links.deadline()).min()
    }

    /// Whether all children have everything, and that was said.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// How many pieces were sent first, and how many there are.
    pub fn progress(&self) -> (u64, u64) {
        (self.next.min(self.reel.pieces()), self.reel.pieces())
    }

    /// The rate of the endpoint in bit/s, if it is known.
    pub fn rate_bps(&self, now: Time) -> Option<f64> {
        match self.endpoint.estimates(now).rate {
            RateEstimate::Known(rate) => Some(rate.as_bps()),
            RateEstimate::Unknown | RateEstimate::Unbounded => None,
        }
    }

    /// Its links.
    pub fn links(&self) -> &Downlinks {
        &self.links
    }

    /// What it has done.
    pub fn counters(&self) -> &NodeCounters {
        &self.counters
    }

    /// Ends at once.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.links.close(wire);
        self.stage = Stage::Ended;
    }

    fn give(
        &mut self,
        now: Time,
        input: Input<Header>,
        contents: &mut dyn Contents,
        wire: &mut dyn Wire,
    ) -> io::Result<()> {
        self.deadline = drive(&mut self.endpoint, now, input, &mut self.actions);
        self.act(contents, wire)?;
        if self.next >= self.reel.pieces() && !matches!(input, Input::Finish) {
            // Given more than once it changes nothing.
            self.deadline = drive(&mut self.endpoint, now, Input::Finish, &mut self.actions);
            self.act(contents, wire)?;
            if self.deadline.is_none() {
                self.stage = Stage::Ending(0, now);
            }
        }
        Ok(())
    }

    fn act(&mut self, contents: &mut dyn Contents, wire: &mut dyn Wire) -> io::Result<()> {
        let mut actions = core::mem::take(&mut self.actions.0);
        let mut outcome = Ok(());
        for action in actions.drain(..) {
            // What is released is in the files still.
            if let Action::Send(send) = action
                && outcome.is_ok()
            {
                outcome = self.send(&send, contents, wire);
            }
        }
        self.actions.0 = actions;
        outcome
    }

    fn send(
        &mut self,
        send: &Send<Header>,
        contents: &mut dyn Contents,
        wire: &mut dyn Wire,
    ) -> io::Result<()> {
        let number = match send.payload {
            // A window may allow packets beyond the end before `Input::Finish`: they are empty.
            Payload::Next => {
                self.next += 1;
                Some(self.next - 1)
            }
            Payload::Stored(Seq(number)) => Some(number),
            Payload::None | Payload::Arrived => None,
        };
        self.payload.clear();
        if let Some(number) = number {
            self.counters.data += u64::from(send.payload == Payload::Next);
            self.counters.repairs += u64::from(send.payload != Payload::Next);
            self.reel.read(number, contents, &mut self.payload)?;
        }
        self.packet.clear();
        if encode(&send.header, &self.payload, &mut self.packet).is_err() {
            return Ok(());
        }
        match send.target {
            Target::Channel(_) => self.links.send(ChildSet(u64::MAX), 0, (&self.packet, self.ecn), wire),
            Target::Children(links) => self.links.send(links, 0, (&self.packet, self.ecn), wire),
            Target::Peer(peer) => self.links.send_to(peer, PACKETS, 0, &self.packet, wire),
            Target::Source => {}
        }
        Ok(())
    }
}
