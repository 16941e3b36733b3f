//! A relay: it serves children, has what they want come by multicast or from a relay above, and passes on what they say.

mod load;
mod output;
mod settings;
mod upstream;

use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Duration, Rate, Time};
use serde::{Serialize, Serializer};

use crate::notice::Notice;
use crate::relay::channels::ChannelSet;
use crate::relay::child::Child;
use crate::relay::message::{Data, MESSAGE_MAX};
use crate::relay::parent::{Change, Feedback, Parent, ParentCounters};
use crate::relay::secret::Secret;
use crate::relay::session::SessionKey;
use crate::relay::status::{ChildStatus, SessionStatus, served};
use load::Load;
use upstream::Upstream;

pub use output::{RelayMessage, RelayOutput};
pub use settings::{Above, RelaySettings};

/// The use of the secret for those of children of relays above.
const ABOVE: u8 = 5;

/// Packets of a channel that some children hold: what is put before each copy, and where they go.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    session: usize,
    /// What is put before each packet that goes to a child.
    pub head: Data,
    /// The group of their channel.
    pub group: SocketAddr,
    /// How many children hold the channel, and the place of the first one in their list.
    count: usize,
    first: usize,
    /// How many had their turn.
    next: usize,
}

/// A child that packets go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    place: usize,
    /// Where it is; none for the link on which the host sends on by multicast, where packets have nothing before them.
    pub address: Option<SocketAddr>,
}

/// What a relay does now.
#[derive(Clone, Debug, Serialize)]
pub struct RelayState {
    /// How many relays there are from here up to the source or to multicast.
    pub depth: u8,
    /// What it sends to children now.
    #[serde(rename = "rate_bps", serialize_with = "bps")]
    pub rate: Rate,
    /// Packets sent to children, each counted for itself.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets that were not sent, since the queue was full or the rate too high.
    pub dropped: u64,
    /// What it has done.
    #[serde(flatten)]
    pub counters: ParentCounters,
    /// The sessions that some child wants. Ports are the host's to fill in.
    pub sessions: Vec<SessionStatus>,
    /// Its children.
    pub children: Vec<ChildStatus>,
}

fn bps<S: Serializer>(rate: &Rate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rate.as_bps())
}

/// A relay.
///
/// Its host gives one input, calls [`Relay::poll`] until there is no output, and calls [`Relay::handle_timer`] after each batch of
/// datagrams, and at [`Relay::deadline`]. Packets of data stay with the host: the relay says whom they go to ([`Relay::copies`]), the host
/// makes the copies, and says how many were sent ([`Relay::sent`]).
#[derive(Debug)]
pub struct Relay {
    above: Above,
    parent: Parent,
    /// By the place of the session.
    upstreams: Vec<Option<Upstream>>,
    load: Load,
    /// Where the next run begins in the list of its children: else the last of them would have all the losses.
    turn: usize,
    secret: Secret,
    children: u64,
    now: Time,
    outputs: VecDeque<RelayOutput>,
}

impl Relay {
    /// A relay without children. `random` are bytes that nobody else knows.
    pub fn new(settings: RelaySettings, now: Time, random: [u8; 32]) -> Relay {
        let RelaySettings { allowed, alternatives, limits, highest, above } = settings;
        let mut parent = Parent::new(limits, allowed, alternatives, random);
        parent.set_depth(u8::from(above != Above::Source));
        Relay {
            above,
            parent,
            upstreams: Vec::new(),
            load: Load::new(highest, now),
            turn: 0,
            secret: Secret::new(random),
            children: 0,
            now,
            outputs: VecDeque::with_capacity(16),
        }
    }

    /// What is wanted of the host next.
    pub fn poll(&mut self) -> Option<RelayOutput> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        let mut room = [0; MESSAGE_MAX];
        let (to, length) = self.parent.take_reply(&mut room)?;
        Some(RelayOutput::ToChild(to, RelayMessage::new(room, length)))
    }

    /// When [`Relay::handle_timer`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        let above = self.links().filter_map(Child::deadline);
        above.chain(self.parent.deadline()).chain(self.load.deadline()).min()
    }

    /// A datagram came to the socket of children.
    pub fn handle(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        self.now = self.now.max(now);
        if let Some(feedback) = self.parent.message(self.now, from, bytes) {
            self.pass_on(&feedback);
        }
        self.settle();
    }

    /// A datagram came to the socket that a session has for the relay above. If it has a packet of data that is wanted, what was put
    /// before that, and its length.
    pub fn handle_above(
        &mut self,
        now: Time,
        session: usize,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Option<(Data, usize)> {
        self.now = self.now.max(now);
        let upstream = self.upstreams.get_mut(session)?.as_mut()?;
        let child = upstream.child.as_mut()?;
        if !Data::is_data(bytes) {
            child.message(self.now, from, bytes);
            return None;
        }
        let found = child.packet(self.now, from, bytes);
        if let Some((data, _)) = found {
            upstream.hops = data.hops;
        }
        found
    }

    /// Hosts of the link on which the host sends on by multicast hold these channels of a session.
    pub fn hold_link(&mut self, now: Time, key: SessionKey, held: ChannelSet) {
        self.now = self.now.max(now);
        self.parent.hold_link(self.now, key, held);
        self.settle();
    }

    /// Does what is due: looks for children that are gone, measures the rate, and talks with relays above. It may be called earlier
    /// than at the deadline.
    pub fn handle_timer(&mut self, now: Time) {
        self.now = self.now.max(now);
        self.parent.poll(self.now);
        if let Some(is_saturated) = self.load.measure(self.now) {
            self.parent.set_saturated(is_saturated);
        }
        self.settle();
        let (mut room, mut depth) = ([0; MESSAGE_MAX], None);
        for (session, upstream) in self.upstreams.iter_mut().enumerate() {
            let Some(child) = upstream.as_mut().and_then(|upstream| upstream.child.as_mut()) else {
                continue;
            };
            while let Some((to, length)) = child.poll(self.now, &mut room) {
                self.outputs.push_back(RelayOutput::ToRelay(session, to, RelayMessage::new(room, length)));
            }
            while let Some(news) = child.take_news() {
                self.outputs.push_back(RelayOutput::Notice(Notice::Relay { news }));
            }
            depth = child.link().and_then(|link| link.depth).or(depth);
        }
        if let Some(depth) = depth {
            self.parent.set_depth(depth.saturating_add(1));
        }
    }

    /// Packets of a channel came from a source, of a session by its place. None if they go to nobody.
    pub fn copies(&mut self, session: usize, channel: Channel, source: SocketAddr) -> Option<Copies> {
        let hops = match self.upstreams.get_mut(session).and_then(Option::as_mut) {
            // Without anything above, this host is the source.
            None => 0,
            Some(upstream) => upstream.know(source)?.saturating_add(1),
        };
        let count = self.parent.holders(session, channel).len();
        let (key, handle) = (self.parent.key(session)?, self.parent.handle(session)?);
        self.turn = self.turn.wrapping_add(1);
        Some(Copies {
            session,
            head: Data { hops, channel, handle, source: source.ip() },
            group: key.address(channel)?,
            count,
            first: self.turn.checked_rem(count)?,
            next: 0,
        })
    }

    /// The next child that packets go to.
    pub fn next_holder(&self, copies: &mut Copies) -> Option<Holder> {
        if copies.next >= copies.count {
            return None;
        }
        let place = (copies.first + copies.next) % copies.count;
        copies.next += 1;
        let place = *self.parent.holders(copies.session, copies.head.channel).get(place)?;
        Some(Holder { place, address: self.parent.child(place)?.address })
    }

    /// Whether so many bytes may be sent now, at the highest rate.
    pub fn may_send(&mut self, now: Time, bytes: usize) -> bool {
        self.load.take(now, bytes)
    }

    /// Of so many packets some were sent to a child, which had so many bytes.
    pub fn sent(&mut self, to: Holder, of: u64, packets: u64, bytes: u64) {
        let Some(child) = self.parent.child_mut(to.place) else {
            return cannot_be("a child that holds a channel has a place");
        };
        for (counted, more) in [
            (&mut child.packets, packets),
            (&mut child.bytes, bytes),
            (&mut child.dropped, of - packets),
            (&mut self.load.packets, packets),
            (&mut self.load.bytes, bytes),
            (&mut self.load.dropped, of - packets),
        ] {
            *counted += more;
        }
    }

    /// The sessions that some child wants, each with its place.
    pub fn sessions(&self) -> impl Iterator<Item = (usize, SessionKey)> {
        self.parent.sessions()
    }

    /// What it does now.
    pub fn state(&self, now: Time) -> RelayState {
        let (mut sessions, children) = served(&self.parent, now);
        for session in &mut sessions {
            let upstream = self.upstreams.get(session.place).and_then(Option::as_ref);
            session.parent = upstream.and_then(|upstream| upstream.child.as_ref()?.link());
        }
        RelayState {
            depth: self.parent.depth(),
            rate: self.load.rate,
            packets: self.load.packets,
            bytes: self.load.bytes,
            dropped: self.load.dropped,
            counters: *self.parent.counters(),
            sessions,
            children,
        }
    }

    /// Ends: children are to go elsewhere.
    pub fn close(&mut self) {
        self.parent.close();
        self.settle();
    }

    fn links(&self) -> impl Iterator<Item = &Child> {
        self.upstreams.iter().flatten().filter_map(|upstream| upstream.child.as_ref())
    }

    /// Passes a message on to the source: through the relay above, or directly to an address that sends packets of the session.
    fn pass_on(&mut self, feedback: &Feedback<'_>) {
        let Feedback { session, to, from, message } = *feedback;
        if self.above == Above::Source {
            self.outputs.push_back(RelayOutput::Heard(from, RelayMessage::of(message)));
            return;
        }
        let Some(Some(upstream)) = self.upstreams.get(session) else {
            // A child that was silent and removed comes back without channels. It repeats what matters, such as its completion.
            if let Some(key) = self.parent.key(session) {
                self.upstream(session, key);
            }
            return;
        };
        let mut room = [0; MESSAGE_MAX];
        let output = match &upstream.child {
            Some(child) => child
                .feedback(to, message, &mut room)
                .map(|(relay, length)| RelayOutput::ToRelay(session, relay, RelayMessage::new(room, length))),
            None => upstream.reach(to).map(|to| RelayOutput::ToSource(to, RelayMessage::of(message))),
        };
        self.outputs.extend(output);
    }

    /// Carries what children hold to what is above, and closes what no child wants.
    fn settle(&mut self) {
        let now = self.now;
        while let Some(change) = self.parent.take_change() {
            if self.above == Above::Source {
                continue;
            }
            let Change { session, key, channel, is_join } = change;
            if let Some(child) = self.upstream(session, key).and_then(|upstream| upstream.child.as_mut()) {
                if is_join { child.join(now, channel) } else { child.leave(now, channel) }
            }
            self.outputs.push_back(RelayOutput::Channel(change));
        }
        for (session, place) in self.upstreams.iter_mut().enumerate() {
            if let Some(upstream) = place
                && self.parent.key(session) != Some(upstream.key)
            {
                let mut room = [0; MESSAGE_MAX];
                if let Some((to, length)) = upstream.child.as_mut().and_then(|child| child.close(&mut room)) {
                    let goodbye = RelayMessage::new(room, length);
                    self.outputs.push_back(RelayOutput::ToRelay(session, to, goodbye));
                }
                self.outputs.push_back(RelayOutput::Close(session));
                *place = None;
            }
        }
    }

    /// The upstream of a session, which is new if need be.
    fn upstream(&mut self, session: usize, key: SessionKey) -> Option<&mut Upstream> {
        if self.upstreams.len() <= session {
            self.upstreams.resize_with(session + 1, || None);
        }
        let place = self.upstreams.get_mut(session)?;
        if place.is_none() {
            let child = match &self.above {
                Above::Relays(relays) => {
                    self.children += 1;
                    let random = self.secret.derived(ABOVE, self.children);
                    Some(Child::new(key, relays, self.now, Duration::ZERO, random))
                }
                Above::Multicast | Above::Source => None,
            };
            *place = Some(Upstream::new(key, child));
        }
        place.as_mut()
    }
}

#[cfg(test)]
mod tests;
