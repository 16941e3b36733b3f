//! A source as a program: its endpoint, its files and its table.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use layercast_core::contract::{Arrival, Ecn, Endpoint as _, Input, Origin, Peer, drive};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Size, Time};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::object::{Coding, Content, Sha256, sha256};
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::security::manifest::ManifestBuilder;
use layercast_delivery::sender::Sender;
use layercast_delivery::session::{Session, whole_rates};
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::registry::{Header, Protocol, Source};

use crate::packer::Packer;
use crate::plan::Plan;
use crate::wire::{SourceHost, Wish};

/// The group of the base channel.
pub(crate) const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);

/// The key of the source at an address, which is no secret here.
pub(crate) fn key_of(address: IpAddr) -> SecretKey {
    let last = match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    };
    SecretKey::from_seed(&[last; 32])
}

/// The keys that receivers trust: that of the source at this address, if it signs.
pub(crate) fn trusted(plan: &Plan, address: IpAddr) -> Arc<[PublicKey]> {
    plan.is_signed.then(|| key_of(address).public()).into_iter().collect()
}

/// What a source stores so that a later one continues: the next symbol of each block of each file.
pub(crate) type Saved = BTreeMap<(String, Sha256), Vec<u32>>;

/// A running source.
pub(crate) struct SourceProgram {
    endpoint: Source,
    sender: Sender,
    objects: MemoryObjects,
    packer: Packer,
    is_signed: bool,
    pub(crate) session: Session,
    pub(crate) deadline: Option<Time>,
    pub(crate) wishes: Vec<Wish>,
}

impl SourceProgram {
    /// A source of these files, at this address; `life` distinguishes those that follow each other. None if the
    /// protocol cannot carry the layers.
    pub(crate) fn new(plan: &Plan, address: IpAddr, life: u64) -> Option<SourceProgram> {
        let mut protocol = Protocol::named(plan.protocol)?;
        protocol.deploy();
        let layers = whole_rates(&LayerTable::doubling(plan.base, plan.layers).ok()?).ok()?;
        let packet = Size::from_bytes(plan.packet);
        let needs = protocol.requirements();
        let shape = SessionPlan { layers: layers.clone(), packet_size: packet };
        let agreed = needs.agreed().iter();
        let agreed = agreed.filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?))).collect();
        let mut numbers = Stream::new(plan.seed, &format!("source/{address}/{life}"));
        let mut session = Session {
            tsi: numbers.bits() as u32,
            protocol: plan.protocol.to_owned(),
            source: address,
            group: GROUP,
            feedback: SocketAddr::new(address, 9000),
            packet,
            channels: needs.channels(&shape),
            agreed,
            group_key: None,
            salt: None,
            layers,
        };
        session.check().ok()?;
        let endpoint = protocol.source(session.plan(), Stream::new(numbers.bits(), "source"));
        session.tsi = endpoint.session_number().unwrap_or(session.tsi);
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: false,
            session: session.to_string(),
            signer: plan.is_signed.then(|| TableSigner { key: key_of(address), tsi: session.tsi }),
        };
        Some(SourceProgram {
            endpoint,
            sender: Sender::new(settings, session.channels),
            objects: MemoryObjects::default(),
            packer: Packer::new(plan),
            is_signed: plan.is_signed,
            session,
            deadline: None,
            wishes: Vec::new(),
        })
    }

    /// The hashes of the blocks of a file that has several.
    fn leaves(&self, bytes: &[u8]) -> Arc<[Sha256]> {
        let coding = Coding::plan(bytes.len() as u64, self.session.symbol_size());
        let Ok(Coding::RaptorQ(oti)) = coding else { return [].into() };
        let Some(mut builder) = ManifestBuilder::new(oti).ok().filter(|_| oti.blocks() > 1) else {
            return [].into();
        };
        builder.update(bytes);
        builder.finish().map_or_else(|_| [].into(), |manifest| manifest.leaves().into())
    }

    /// Changes the files.
    pub(crate) fn change(
        &mut self,
        files: &[(String, Vec<u8>)],
        removed: &[String],
        complete: bool,
        saved: &Saved,
    ) {
        let item = |(path, bytes): &(String, Vec<u8>)| Item {
            path: path.clone(),
            file: Some((bytes.len() as u64, sha256(bytes))),
            leaves: if self.is_signed { self.leaves(bytes) } else { [].into() },
            members: Arc::default(),
            attributes: Attributes { mode: Some(0o644), modified_ns: Some(0) },
        };
        let items: Vec<Item> = files.iter().map(item).collect();
        let reached = |item: &Item| {
            let key = item.file.map(|(_, sha256)| (item.path.clone(), sha256));
            // What was sent after it was stored is skipped.
            key.and_then(|key| saved.get(&key))
                .map_or(Vec::new(), |esis| esis.iter().map(|esi| esi + 64).collect())
        };
        let leaves = |bytes: &[u8]| if self.is_signed { self.leaves(bytes) } else { [].into() };
        let Ok(packed) = self.packer.pack(items, files, removed, &leaves) else { return };
        let Ok(change) = self.sender.change(&packed.items, removed, complete, &reached) else { return };
        for (toi, bytes) in change.added.iter().zip(&packed.contents) {
            if let Some(Content::File { coding, .. }) =
                self.sender.catalogue().object(*toi).map(|entry| entry.content)
            {
                self.objects.add(*toi, coding, bytes.clone());
            }
        }
        self.packer.note(packed, removed);
    }

    /// What a later source needs.
    pub(crate) fn save(&self) -> Saved {
        let mut saved = Saved::new();
        for (toi, entry) in self.sender.catalogue().objects() {
            if let Content::File { sha256: Some(sha256), .. } = entry.content {
                saved.insert((entry.path.clone(), sha256), self.sender.carousel().reached(toi).collect());
            }
        }
        saved
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.drive(now, Input::Start);
    }

    pub(crate) fn timer(&mut self, now: Time) {
        self.drive(now, Input::Timer);
    }

    /// A message of a receiver.
    pub(crate) fn report(&mut self, now: Time, bytes: &[u8]) {
        let Ok(header) = Header::decode_report(bytes) else { return };
        let size = Size::from_bytes(bytes.len() as u32 + self.session.ip_udp_bytes());
        let origin = Origin::Peer(Peer(0));
        self.drive(now, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }

    fn drive(&mut self, now: Time, input: Input<Header>) {
        let mut host = SourceHost {
            now,
            tsi: self.session.tsi,
            packet: self.session.packet.as_bytes() as usize,
            sender: &mut self.sender,
            objects: &mut self.objects,
            wishes: &mut self.wishes,
        };
        self.deadline = drive(&mut self.endpoint, now, input, &mut host);
    }
}
