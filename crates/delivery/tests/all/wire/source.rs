//! A source of any protocol with real files, in virtual time, and one receiver without losses that answers it.

use std::sync::Arc;

use layercast_core::contract::{
    Action, Endpoint, Estimates, Header as _, Host, Input, Payload, Send, Target, TraceEvent, drive,
};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::object::{Content, sha256};
use layercast_delivery::packet::{MAX_HEADER, Poll, Repr};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{AUTH_BYTES, Outgoing, Scheme};
use layercast_delivery::security::sequence::{SEQUENCE_MAX, Sequence};
use layercast_delivery::sender::{Sender, symbol_size};
use layercast_protocols::registry::{Header, Protocol, Receiver, Source};
use layercast_testkit::{Pair, Path};

pub(crate) const TSI: u32 = 0x89ab_cdef;
/// The headers of IPv4 and UDP.
pub(crate) const IP_UDP: usize = 28;
/// The size of packets with all headers.
pub(crate) const PACKET: u32 = 1000;

/// What a source asked its host to send.
type Sent = (Time, Channel, Header, Payload);

/// An endpoint that records what it sends.
pub(crate) struct Recording {
    source: Source,
    now: Time,
    sent: Vec<Sent>,
}

impl Endpoint for Recording {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        self.now = now;
        self.source.handle(now, input);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        let action = self.source.poll_action()?;
        if let Action::Send(send) = &action
            && let Target::Channel(channel) = send.target
        {
            for index in 0..send.count {
                let header = if index == 0 { send.header } else { send.header.nth(index) };
                self.sent.push((self.now, channel, header, send.payload));
            }
        }
        Some(action)
    }

    fn deadline(&self) -> Option<Time> {
        self.source.deadline()
    }

    fn estimates(&self, now: Time) -> Estimates {
        self.source.estimates(now)
    }
}

/// A packet on the wire.
pub(crate) struct Packet {
    pub(crate) at: Time,
    pub(crate) channel: Channel,
    pub(crate) repr: Repr,
    /// Without the headers of IP and UDP.
    pub(crate) bytes: Vec<u8>,
    /// The length of its LCT header.
    pub(crate) header: usize,
}

/// A session of a protocol that can be sent.
pub(crate) struct Session {
    pub(crate) protocol: Protocol,
    pub(crate) plan: SessionPlan,
    pub(crate) channels: u16,
}

/// A session of that protocol with doubling layers from `base` on, as many as it can carry of four; none if the
/// transport does not send it.
pub(crate) fn session(name: &str, base: Rate) -> Option<Session> {
    let mut protocol = Protocol::named(name)?;
    protocol.deploy();
    let plan = |count| {
        let layers = LayerTable::doubling(base, count).ok()?;
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(PACKET) };
        protocol.requirements().check(&plan).is_ok().then_some(plan)
    };
    let plan = [4, 1].into_iter().find_map(plan)?;
    let needs = protocol.requirements();
    if needs.has_routers() || needs.is_reliable() {
        return None;
    }
    let channels = needs.channels(&plan);
    Some(Session { protocol, plan, channels })
}

fn content(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

/// The packets of a session of this length: a folder of files, one long and some of a symbol, sent again and again; a
/// change of the files in the middle, an end, and the packets that finish it. All are authenticated if `is_protected`.
pub(crate) fn packets(session: &Session, length: Duration, is_protected: bool) -> Vec<Packet> {
    let Session { protocol, plan, channels } = session;
    let source = protocol.source(plan.clone(), Stream::new(1, "source"));
    let receiver: Receiver = protocol.receiver(plan.clone(), Stream::new(2, "receiver"));
    let recording = Recording { source, now: Time::ZERO, sent: Vec::new() };
    let mut pair = Pair::new(recording, vec![(receiver, Path::default())], Time::ZERO, 3);
    pair.run(length);
    pair.finish_source();
    // As long as any protocol takes to finish.
    pair.run(Duration::from_secs(20));
    let tag = if is_protected { AUTH_BYTES } else { 0 };
    let mut files = Files::new(symbol_size(plan.packet_size, (IP_UDP + tag) as u32), *channels);
    files.put(&[("a folder/long", 700_000), ("a folder/b", 5_000), ("a folder/c", 10), ("d", 700)], false);
    let change_at = Time::ZERO + Duration::from_ns(length.as_ns() / 2);
    let mut is_changed = false;
    let mut sequence = Sequence::after(0);
    sequence.grant(SEQUENCE_MAX);
    let key = GroupKey::from_seed(&[7; 32]);
    let mut protection = Outgoing::new(Scheme::mac(&key, TSI), sequence);
    let mut packets = Vec::new();
    for &(at, channel, header, payload) in &pair.source().sent {
        if at >= change_at && !std::mem::replace(&mut is_changed, true) {
            files.put(&[("d", 90_000), ("e", 30)], true);
        }
        let mut packet = files.packet(at, channel, header, payload);
        if is_protected {
            let length = packet.bytes.len();
            packet.bytes.resize(length + AUTH_BYTES, 0);
            let whole = protection.protect(&mut packet.bytes, length).unwrap();
            packet.header += whole - length;
            packet.bytes.truncate(whole);
        }
        packets.push(packet);
    }
    packets
}

/// The packets of a source that its machine stops for three seconds, after ten of twenty: when, and on which channel. It
/// has no receivers.
pub(crate) fn stalled(session: &Session) -> Vec<(Time, Channel)> {
    let source = session.protocol.source(session.plan.clone(), Stream::new(1, "source"));
    let mut recording = Recording { source, now: Time::ZERO, sent: Vec::new() };
    let at = |s| Time::ZERO + Duration::from_secs(s);
    let mut deadline = drive(&mut recording, Time::ZERO, Input::Start, &mut Nobody);
    while let Some(due) = deadline.filter(|&due| due < at(20)) {
        let now = if due >= at(10) { due.max(at(13)) } else { due };
        deadline = drive(&mut recording, now, Input::Timer, &mut Nobody);
    }
    recording.sent.iter().map(|&(at, channel, ..)| (at, channel)).collect()
}

/// A host that does nothing.
struct Nobody;

impl Host<Header> for Nobody {
    fn send(&mut self, _: Send<Header>) {}

    fn join(&mut self, _: Channel) {}

    fn leave(&mut self, _: Channel) {}

    fn trace(&mut self, _: TraceEvent) {}
}

/// The files of a source.
struct Files {
    sender: Sender,
    objects: MemoryObjects,
}

impl Files {
    fn new(symbol: u16, channels: u16) -> Files {
        let session = format!("layercast = 1\n{}", "options = { of = \"a protocol\" }\n".repeat(20));
        let settings = TableSettings {
            symbol,
            expires_s: 4_000_000_000,
            wants_completions: false,
            session,
            signer: None,
        };
        Files { sender: Sender::new(settings, channels), objects: MemoryObjects::default() }
    }

    fn put(&mut self, files: &[(&str, usize)], complete: bool) {
        let item = |&(path, length): &(&str, usize)| Item {
            path: path.to_owned(),
            file: Some((length as u64, Some(sha256(&content(length))))),
            tag: None,
            leaves: Arc::default(),
            parts: None,
            members: Arc::default(),
            attributes: Attributes { mode: Some(0o640), modified_ns: Some(7) },
        };
        let items: Vec<Item> = files.iter().map(item).collect();
        let change = self.sender.change(&items, &[], complete, &|_| Vec::new()).unwrap();
        for (toi, &(_, length)) in change.added.iter().zip(files) {
            let entry = self.sender.catalogue().object(*toi).unwrap();
            if let Content::File { coding, .. } = entry.content {
                self.objects.add(*toi, coding, content(length));
            }
        }
    }

    fn packet(&mut self, at: Time, channel: Channel, header: Header, payload: Payload) -> Packet {
        let mut room = vec![0; PACKET as usize];
        let load = match payload {
            Payload::Next => self.sender.next(channel, at, &mut room, &mut self.objects).unwrap(),
            Payload::None | Payload::Stored(_) | Payload::Arrived => Default::default(),
        };
        let poll = load.fdt.filter(|_| channel == Channel(0)).map(|_| Poll::new(3, 2, 1, 1000));
        let repr = Repr { poll, ..load.repr(header.to_lct().unwrap(), TSI) };
        let mut head = [0; MAX_HEADER];
        let header = repr.write(&mut head);
        let bytes = [&head[..header], &room[..load.length]].concat();
        Packet { at, channel, repr, bytes, header }
    }
}
