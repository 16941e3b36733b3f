//! A source as a program: its endpoint, its files and its table.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use layercast_core::contract::Ecn;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Size, Time};
use layercast_delivery::accept::Incoming;
use layercast_delivery::announce::announcer::Announcer;
use layercast_delivery::announce::describing::{Size as ContentSize, describe};
use layercast_delivery::announce::interval::Pace;
use layercast_delivery::announce::sap::Packet;
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::node;
use layercast_delivery::object::{Cut, Entry, Hashes, Sha256, hashes_of, sha256};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, PublicKey, SecretKey};
use layercast_delivery::security::protection::ProtectError;
use layercast_delivery::send_state::file::{Saved, encode};
use layercast_delivery::send_state::fingerprint::Fingerprint;
use layercast_delivery::send_state::{Due, Storing};
use layercast_delivery::sender::{PacketPayload, Sender};
use layercast_delivery::session::{Session, whole_rates};
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::registry::{Protocol, Registry};

use crate::listener::{ANNOUNCEMENTS, EPOCH_S, NAME};
use crate::packer::Packer;
use crate::plan::{Plan, Tags};

/// The group of the base channel.
pub(crate) const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);

/// For so long the packet numbers of a state last at the highest rate: few enough that they are granted again and again, enough for
/// a disk that takes its time.
const GRANT_S: f64 = 8.0;

fn last_byte(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    }
}

/// The group key of the source at an address, if it has one.
pub(crate) fn group_key_of(plan: &Plan, address: IpAddr) -> Option<GroupKey> {
    let number = if plan.protection?.of_others { 0 } else { last_byte(address) };
    Some(GroupKey::from_seed(&[number; 32]))
}

/// The key of the source at an address, which is no secret here.
pub(crate) fn key_of(address: IpAddr) -> SecretKey {
    SecretKey::from_seed(&[last_byte(address); 32])
}

/// The keys that receivers trust: that of the source at this address, if it signs.
pub(crate) fn trusted(plan: &Plan, address: IpAddr) -> Arc<[PublicKey]> {
    plan.is_signed.then(|| key_of(address).public()).into_iter().collect()
}

/// A file as a source sends it, with its hashes, which a source may know from its state.
pub(crate) fn item_of(path: &str, bytes: &[u8], known: Option<Hashes>, cut: Cut) -> Option<Item> {
    let hashes = known.or_else(|| hashes_of(bytes, cut))?;
    Some(Item {
        path: path.to_owned(),
        file: Some((bytes.len() as u64, Some(hashes.whole.sha256))),
        tag: None,
        leaves: hashes.whole.leaves,
        parts: hashes.parts,
        members: Arc::default(),
        attributes: Attributes { mode: Some(0o644), modified_ns: Some(0) },
    })
}

/// What a source's disk has at a path, which was last written by this change.
fn fingerprint(path: &str, bytes: &[u8], change: usize) -> Fingerprint {
    let number = sha256(path.as_bytes()).first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    Fingerprint { device: 1, inode: number, length: bytes.len() as u64, modified: (change as i64, 0) }
}

/// A change of a source's files.
pub(crate) struct Files<'a> {
    pub(crate) files: &'a [(String, Vec<u8>)],
    /// Which change wrote a path last.
    pub(crate) written_by: &'a dyn Fn(&str) -> usize,
    pub(crate) removed: &'a [String],
    pub(crate) is_last: bool,
}

/// What a source sends.
struct Supply {
    sender: Sender,
    objects: MemoryObjects,
    /// By object; a package has none.
    fingerprints: BTreeMap<u32, Fingerprint>,
}

impl node::Content for Supply {
    type Error = ProtectError;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<PacketPayload, ProtectError> {
        let Ok(load) = self.sender.next(channel, now, room, &mut self.objects);
        Ok(load)
    }

    fn announce_soon(&mut self) {
        self.sender.announce_soon();
    }
}

/// A state as bytes, with the packet numbers that it grants.
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    pub(crate) granted: u64,
}

/// A running source.
pub(crate) struct SourceProgram {
    node: node::Source<Registry>,
    files: Supply,
    storing: Storing,
    is_started: bool,
    /// Why it ends.
    pub(crate) failed: Option<String>,
    packer: Packer,
    cut: Cut,
    tags: Option<Tags>,
    /// Paths with the hashes that are still to be named, and the wake-ups until then.
    unnamed: VecDeque<(String, Sha256, u64)>,
    /// Where packets are written.
    room: Vec<u8>,
    /// None if it is not announced.
    announcer: Option<Announcer>,
    /// Announcements that are to be sent.
    pub(crate) announcements: Vec<Vec<u8>>,
    /// The packets that are to be sent, and their channels.
    pub(crate) packets: Vec<(Channel, Vec<u8>)>,
}

impl SourceProgram {
    /// A source at this address; `life` distinguishes those that follow each other. It goes on from what is `saved`; with encryption it
    /// has a new salt if none was used. None if the protocol cannot carry the layers.
    pub(crate) fn new(
        plan: &Plan,
        address: IpAddr,
        life: u64,
        saved: &Saved,
        new_salt: Option<Salt>,
        now: Time,
    ) -> Option<SourceProgram> {
        let mut protocol = Protocol::named(plan.protocol)?;
        protocol.deploy();
        let layers = whole_rates(&LayerTable::doubling(plan.base, plan.layers).ok()?).ok()?;
        let packet = Size::from_bytes(plan.packet);
        let needs = protocol.requirements();
        let shape = SessionPlan { layers: layers.clone(), packet_size: packet };
        let agreed = needs.agreed().iter();
        let agreed = agreed.filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?))).collect();
        let group_key = group_key_of(plan, address);
        let mut random = Stream::new(plan.seed, &format!("source/{address}/{life}"));
        let mut numbers = saved.numbers;
        let session = Session {
            tsi: random.bits() as u32,
            protocol: plan.protocol.to_owned(),
            source: address,
            group: GROUP,
            feedback: SocketAddr::new(address, 9000),
            packet,
            channels: needs.channels(&shape),
            agreed,
            group_key: group_key.as_ref().map(|key| key.fingerprint().to_string()),
            salt: new_salt.map(|new| numbers.salt_or(|| new)),
            layers,
            stream: None,
        };
        let mut node = node::Source::new(&protocol, session, Stream::new(random.bits(), "source")).ok()?;
        let session = node.session();
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: plan.on_demand,
            session: session.to_string(),
            signer: plan.is_signed.then(|| TableSigner { key: key_of(address), tsi: session.tsi }),
        };
        let mut sender = Sender::new(settings, session.channels);
        sender.set_block_window(plan.block_window);
        let cut =
            Cut { symbol: session.symbol_size(), longest: plan.longest_part, is_signed: plan.is_signed };
        let packets_per_s = session.layers.top_rate().as_bps() / session.packet.as_bits() as f64;
        let grant = if group_key.is_some() { (packets_per_s * GRANT_S) as u64 } else { 0 };
        let storing = Storing::after(numbers, grant);
        if let Some(key) = group_key {
            node.protect(&key, storing.sequence());
        }
        if plan.on_demand {
            node.poll_receivers();
            node.bound(now, true);
        }
        Some(SourceProgram {
            room: vec![0; node.room()],
            node,
            files: Supply { sender, objects: MemoryObjects::default(), fingerprints: BTreeMap::new() },
            storing,
            is_started: false,
            failed: None,
            packer: Packer::new(plan),
            tags: plan.tags,
            unnamed: VecDeque::new(),
            cut,
            announcer: None,
            announcements: Vec::new(),
            packets: Vec::new(),
        })
    }

    /// Changes the files. The first ones may be known from what an earlier source `saved`.
    pub(crate) fn change(&mut self, change: &Files<'_>, saved: &Saved) {
        let (cut, tags) = (self.cut, self.tags);
        let &Files { files, written_by, removed, is_last } = change;
        let fingerprints: BTreeMap<&str, Fingerprint> = files
            .iter()
            .map(|(path, bytes)| (path.as_str(), fingerprint(path, bytes, written_by(path))))
            .collect();
        let unnamed = &mut self.unnamed;
        let item = |(path, bytes): &(String, Vec<u8>)| {
            let known = fingerprints.get(path.as_str()).and_then(|one| saved.hashes(one, cut));
            let is_known = known.is_some();
            let mut item = item_of(path, bytes, known, cut)?;
            let length = bytes.len() as u64;
            if let Some(tags) = tags.filter(|tags| length >= tags.from && item.parts.is_none())
                && let Some((_, sha256)) = item.file.as_mut()
                && let Some(hash) = *sha256
            {
                if !is_known {
                    *sha256 = None;
                    unnamed.push_back((path.clone(), hash, tags.after));
                }
                item.tag = Some(match tags.of_lengths {
                    true => self::sha256(&length.to_be_bytes()),
                    false => self::sha256(&hash),
                });
            }
            Some(item)
        };
        let items: Vec<Item> = files.iter().filter_map(item).collect();
        let reached = |entry: &Entry| saved.reached(entry);
        // Packages are one object each.
        let whole = Cut { longest: u64::MAX, ..self.cut };
        let leaves = |bytes: &[u8]| hashes_of(bytes, whole).map_or([].into(), |hashes| hashes.whole.leaves);
        let Ok(packed) = self.packer.pack(items, files, removed, &leaves) else { return };
        let Ok(change) = self.files.sender.change(&packed.items, removed, is_last, &reached) else { return };
        change.removed.iter().for_each(|toi| _ = self.files.fingerprints.remove(toi));
        for (toi, &place) in change.added.iter().zip(&change.items) {
            if let (Some(entry), Some(bytes)) =
                (self.files.sender.catalogue().object(*toi), packed.contents.get(place))
            {
                self.files.objects.add_entry(*toi, entry, bytes);
                let own = fingerprints.get(entry.path.as_str()).filter(|_| entry.package.is_none());
                self.files.fingerprints.extend(own.map(|one| (*toi, *one)));
            }
        }
        self.packer.note(packed, removed);
    }

    /// Names the hashes that are known by now.
    fn name_hashes(&mut self) {
        for (_, _, left) in &mut self.unnamed {
            *left = left.saturating_sub(1);
        }
        while self.unnamed.front().is_some_and(|(_, _, left)| *left == 0) {
            let Some((path, sha256, _)) = self.unnamed.pop_front() else { return };
            // Another version may have followed, whose hash comes later; this one does not name it.
            let is_last = !self.unnamed.iter().any(|(other, ..)| *other == path);
            if let Some(toi) = self.files.sender.catalogue().toi(&path).filter(|_| is_last) {
                // Paths are short: an entry with a hash fits.
                let _ = self.files.sender.name_hashes(&[(toi, sha256)]);
            }
        }
    }

    fn state(&self, due: &Due) -> Stored {
        let Supply { sender, fingerprints, .. } = &self.files;
        let bytes = encode(sender, &due.numbers, due.reserve, |toi| fingerprints.get(&toi).copied());
        Stored { bytes, granted: due.numbers.granted }
    }

    /// What is to be stored before it starts.
    pub(crate) fn first_state(&self) -> Stored {
        self.state(&self.storing.first())
    }

    /// What is to be stored now, if anything is, and its disk `takes` it.
    pub(crate) fn poll(&mut self, now: Time, takes: bool) -> Option<Stored> {
        let left = self.node.packet_numbers().map(|sequence| sequence.left());
        let rounds = self.files.sender.carousel().rounds();
        let due = self.storing.due(now, rounds, left).filter(|_| self.is_started);
        let state = due.map(|due| {
            let state = self.state(&due);
            self.storing.begun(now, &due, state.bytes.len(), takes);
            state
        });
        self.grant();
        state.filter(|_| takes)
    }

    /// A state is stored: its packet numbers may be used. It starts with the first one.
    pub(crate) fn stored(&mut self, plan: &Plan, now: Time, granted: u64) {
        self.storing.stored(granted);
        self.grant();
        if !std::mem::replace(&mut self.is_started, true) {
            if plan.is_announced {
                self.announcer = self.announcer(plan, now);
            }
            self.node.start(now);
            self.send(now);
        }
    }

    fn announcer(&self, plan: &Plan, now: Time) -> Option<Announcer> {
        let session = self.node.session();
        let host = session.source;
        let key = plan.is_signed.then(|| key_of(host));
        let start_s = EPOCH_S + now.as_ns() / 1_000_000_000;
        let size = ContentSize { files: self.files.sender.catalogue().files(), bytes: 0 };
        let public = key.as_ref().map(SecretKey::public);
        let description = describe(session, start_s, NAME, public, 16, size, &[]).ok()?;
        let signer = key.as_ref().map(|key| key as &dyn Signer);
        let pace = Pace::for_group(ANNOUNCEMENTS.ip());
        let stream = Stream::new(plan.seed, &format!("announcements/{host}/{}", session.tsi));
        Announcer::new(host, &description, signer, pace, now, stream).ok()
    }

    /// An announcement was received.
    pub(crate) fn hear_announcement(&mut self, packet: &Packet<'_>, now: Time) {
        self.announcer.iter_mut().for_each(|announcer| announcer.receive(packet, now));
    }

    /// Whether it has begun to send.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    fn grant(&mut self) {
        let granted = self.storing.numbers().granted;
        self.node.packet_numbers().into_iter().for_each(|sequence| sequence.grant(granted));
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        self.node.session()
    }

    /// When [`SourceProgram::timer`] is to be called.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let announcer = self.announcer.as_ref().map(Announcer::deadline);
        self.node.deadline().into_iter().chain(announcer).min().filter(|_| self.is_started)
    }

    pub(crate) fn timer(&mut self, now: Time) {
        self.name_hashes();
        while let Some(packet) = self.announcer.as_mut().and_then(|announcer| announcer.poll(now)) {
            self.announcements.push(packet.to_vec());
        }
        self.node.handle_timer(now, &mut self.files);
        self.send(now);
    }

    /// A message of a receiver.
    pub(crate) fn report(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        let incoming = Incoming { from, channel: None, is_cut: false };
        self.node.handle(now, incoming, Ecn::NotCapable, bytes);
        self.send(now);
    }

    fn send(&mut self, now: Time) {
        loop {
            match self.node.poll(now, &mut self.room, &mut self.files) {
                Ok(None) => return,
                Ok(Some(packet)) => {
                    // What goes to one receiver is an answer of protocols for few.
                    let Some(channel) = packet.channel else { continue };
                    self.node.sent(packet.place.len());
                    self.packets.push((channel, self.room.get(packet.place).unwrap_or_default().to_vec()));
                }
                Err(error) => {
                    self.failed = Some(error.to_string());
                    return;
                }
            }
        }
    }
}
