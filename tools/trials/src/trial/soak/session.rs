//! A source of real packets, without sockets and clocks.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use layercast_core::contract::{
    Arrival, Ecn, Endpoint as _, Host, Input, Origin, Peer, Send, Target, TraceEvent, drive,
};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _};
use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Rate, Size, Time};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::object::{Content, sha256};
use layercast_delivery::packet::{MAX_HEADER, Poll, Repr};
use layercast_delivery::sender::Sender;
use layercast_delivery::session::{Session, whole_rates};
use layercast_protocols::registry::{Header, Protocol, Source};

/// The address of the source.
pub(super) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PACKET: u32 = 600;
const LAYERS: u16 = 3;

/// A source, and what it has sent.
pub(super) struct RealSource {
    endpoint: Source,
    pub(super) session: Session,
    sender: Sender,
    objects: MemoryObjects,
    deadline: Option<Time>,
    now: Time,
}

/// Packets wait here for their content.
#[derive(Default)]
struct Sent(Vec<(Channel, Header)>);

impl Host<Header> for Sent {
    fn send(&mut self, send: Send<Header>) {
        if let Target::Channel(channel) = send.target {
            self.0.push((channel, send.header));
        }
    }

    fn join(&mut self, _: Channel) {}

    fn leave(&mut self, _: Channel) {}

    fn trace(&mut self, _: TraceEvent) {}
}

impl RealSource {
    /// A source of these files.
    pub(super) fn new(files: &[(String, Vec<u8>)], seed: u64) -> Result<RealSource> {
        let protocol = Protocol::named("elm").context("no protocol elm")?;
        let layers = whole_rates(&LayerTable::doubling(Rate::from_kbps(500.0), LAYERS)?)?;
        let mut session = Session {
            tsi: 0,
            protocol: "elm".to_owned(),
            source: ADDRESS,
            group: SocketAddr::from(([239, 1, 2, 0], 5500)),
            feedback: SocketAddr::new(ADDRESS, 9000),
            packet: Size::from_bytes(PACKET),
            layers,
            channels: LAYERS,
            agreed: Vec::new(),
            group_key: None,
            salt: None,
            stream: None,
        };
        let names = protocol.requirements().agreed().iter();
        session.agreed = names.filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?))).collect();
        session.check()?;
        let mut endpoint = protocol.source(session.plan(), Stream::new(seed, "source"));
        session.tsi = endpoint.session_number().context("no session number")?;
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: true,
            session: session.to_string(),
            signer: None,
        };
        let (mut sender, mut objects) = (Sender::new(settings, LAYERS), MemoryObjects::default());
        let items: Vec<Item> = files
            .iter()
            .map(|(path, bytes)| Item {
                path: path.clone(),
                file: Some((bytes.len() as u64, Some(sha256(bytes)))),
                tag: None,
                leaves: Arc::default(),
                parts: None,
                members: Arc::default(),
                attributes: Attributes { mode: Some(0o644), modified_ns: Some(0) },
            })
            .collect();
        let change = sender.change(&items, &[], true, &|_| Vec::new()).map_err(|error| anyhow!("{error}"))?;
        for (toi, (_, bytes)) in change.added.iter().zip(files) {
            if let Some(Content::File { coding, .. }) =
                sender.catalogue().object(*toi).map(|entry| entry.content)
            {
                objects.add(*toi, coding, bytes.clone());
            }
        }
        let deadline = drive(&mut endpoint, Time::ZERO, Input::Start, &mut Sent::default());
        Ok(RealSource { endpoint, session, sender, objects, deadline, now: Time::ZERO })
    }

    /// Sends on until it has sent something; `take` gets the channel and the packet.
    pub(super) fn go_on(&mut self, take: &mut dyn FnMut(Channel, &[u8])) -> Result<()> {
        let mut sent = Sent::default();
        while sent.0.is_empty() {
            self.now = self.deadline.context("the source has nothing to do")?;
            self.deadline = drive(&mut self.endpoint, self.now, Input::Timer, &mut sent);
        }
        for (channel, header) in sent.0 {
            let mut payload = [0; PACKET as usize];
            let load = self.sender.next(channel, self.now, &mut payload, &mut self.objects);
            let load = load.map_err(|error| anyhow!("no packet: {error:?}"))?;
            let fields = header.to_lct().context("no LCT fields")?;
            let poll = load.fdt.map(|_| Poll::new(1, 0, 0, 0));
            let repr = Repr { poll, ..load.repr(fields, self.session.tsi) };
            let mut room = [0; MAX_HEADER];
            let start = repr.write(&mut room);
            take(channel, &[&room[..start], &payload[..load.length]].concat());
        }
        Ok(())
    }

    /// A report has arrived.
    pub(super) fn report(&mut self, header: Header, length: usize) {
        let size = Size::from_bytes(u32::try_from(length).unwrap_or(u32::MAX));
        let arrival = Arrival { origin: Origin::Peer(Peer(0)), size, ecn: Ecn::NotCapable, header };
        self.deadline = drive(&mut self.endpoint, self.now, Input::Packet(arrival), &mut Sent::default());
    }
}
