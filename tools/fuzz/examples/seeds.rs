//! Writes the inputs that fuzzing starts from, `fuzz/corpus/*/seed-*`, with the project's own encoders.
//!
//! `cargo run --manifest-path tools/Cargo.toml --package layercast-fuzz --example seeds`

use std::collections::BTreeSet;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::{fs, io};

use layercast_core::contract::{Arrival, Ecn, Host, Input, Origin, Peer, Send, Target, TraceEvent, drive};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, Size, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::message::Message as Amt;
use layercast_delivery::disk::Attributes;
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::report::{self, Record, RecordKind};
use layercast_delivery::object::{Coding, Content, Entry, Instance, compressed, table_fti};
use layercast_delivery::package::{Head, Member};
use layercast_delivery::packet::{
    Completion, Demand, Fdt, MAX_HEADER, PayloadId, Poll, ReceptionReport, Repr,
};
use layercast_delivery::relay::channels::ChannelSet;
use layercast_delivery::relay::message::{Alternatives, DATA_HEAD_MAX, Data, MESSAGE_MAX, Message, Reason};
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::security::protection::{AUTH_BYTES, Outgoing};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::security::signed::{Context, Signature, Signed};
use layercast_delivery::session::Session;
use layercast_fuzz::{PROTECTED_TSI, SWEPT, schemes};
use layercast_protocols::amca::{self, Body};
use layercast_protocols::registry::{Header, NAMES, Protocol};

const PACKET: Size = Size::from_bytes(1000);
/// How often source and receiver hear of each other, and how often in all: a minute.
const STEP: Duration = Duration::from_ms(20);
const STEPS: u32 = 3000;

/// What was sent by one end since the other last heard.
#[derive(Default)]
struct Sent(Vec<(Target, Header)>);

impl Host<Header> for Sent {
    fn send(&mut self, send: Send<Header>) {
        self.0.push((send.target, send.header));
    }
    fn join(&mut self, _: Channel) {}
    fn leave(&mut self, _: Channel) {}
    fn trace(&mut self, _: TraceEvent) {}
}

/// The headers of a short session of a protocol: those of the source, those of its receiver.
fn headers(protocol: &Protocol) -> Option<(Vec<Header>, Vec<Header>)> {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 4).ok()?;
    let plan = SessionPlan { layers, packet_size: PACKET };
    let mut source = protocol.source(plan.clone(), Stream::new(1, "source"));
    let mut receiver = protocol.receiver(plan, Stream::new(2, "receiver"));
    let (mut down, mut up) = (Vec::new(), Vec::new());
    let (mut to_receiver, mut to_source) = (Sent::default(), Sent::default());
    let mut now = Time::from_ns(1);
    let mut wake = [
        drive(&mut source, now, Input::Start, &mut to_receiver),
        drive(&mut receiver, now, Input::Start, &mut to_source),
    ];
    for _ in 0..STEPS {
        now += STEP;
        let arrival =
            |origin, header| Input::Packet(Arrival { origin, size: PACKET, ecn: Ecn::Capable, header });
        for (target, header) in std::mem::take(&mut to_receiver.0) {
            let Target::Channel(channel) = target else { continue };
            down.push(header);
            wake[1] = drive(&mut receiver, now, arrival(Origin::Channel(channel), header), &mut to_source);
        }
        for (_, header) in std::mem::take(&mut to_source.0) {
            up.push(header);
            wake[0] = drive(&mut source, now, arrival(Origin::Peer(Peer(0)), header), &mut to_receiver);
        }
        if wake[0].is_some_and(|due| due <= now) {
            wake[0] = drive(&mut source, now, Input::Timer, &mut to_receiver);
        }
        if wake[1].is_some_and(|due| due <= now) {
            wake[1] = drive(&mut receiver, now, Input::Timer, &mut to_source);
        }
    }
    Some((down, up))
}

struct Corpus {
    folder: PathBuf,
    /// Headers that have been written, so that each shape is there once.
    seen: BTreeSet<(&'static str, String)>,
}

impl Corpus {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{name}")), bytes)
    }

    fn packet(&mut self, name: &str, header: &Header) -> io::Result<()> {
        let Some(fields) = header.to_lct() else { return Ok(()) };
        let tsi = fields.session.unwrap_or(7);
        let own = Repr {
            fields,
            tsi,
            toi: 1,
            close_object: false,
            codepoint: 6,
            fdt: None,
            is_compressed: false,
            fti: None,
            poll: None,
            known_level: None,
        };
        let mut room = [0; MAX_HEADER];
        let length = own.write(&mut room);
        let shape = format!("{name}-{length}-{}", u8::from(header.layer().is_some_and(|layer| layer.0 > 0)));
        if self.seen.insert(("lct", shape.clone())) {
            let id = PayloadId::new(0, 3).map(PayloadId::to_bytes).unwrap_or_default();
            self.write("lct", &shape, &[&room[..length], &id, b"symbol"].concat())?;
        }
        if self.seen.insert(("lct", "table".to_owned())) {
            let fti = Some(table_fti(900, 400));
            let poll = Some(Poll::new(5, 4, 2, 9000).with_left(Duration::from_secs(3)));
            let known_level = Some(Level::from_count(7));
            let of_table = Repr { toi: 0, fdt: Some(Fdt::new(1)), fti, poll, known_level, ..own };
            let length = of_table.write(&mut room);
            self.write("lct", "table", &room[..length])?;
        }
        Ok(())
    }

    fn report(&mut self, name: &str, header: &Header) -> io::Result<()> {
        let mut room = [0; MAX_REPORT];
        let Some(length) = header.encode_report(&mut room) else { return Ok(()) };
        let shape = format!("{name}-{length}");
        if self.seen.insert(("report", shape.clone())) {
            self.write("report", &shape, &room[..length])?;
        }
        Ok(())
    }

    fn amca(&mut self, header: &amca::Header) -> io::Result<()> {
        let (name, payload): (_, &[u8]) = match header.body {
            Body::Data(_) => ("data", b"payload"),
            Body::Nack(_) => ("nack", b""),
            Body::Report(_) => ("report", b""),
            Body::Heartbeat { .. } => ("heartbeat", b""),
            Body::Answer(_) => ("answer", b""),
        };
        let mut bytes = Vec::new();
        if self.seen.insert(("amca", name.to_owned())) && header.encode(payload, &mut bytes).is_ok() {
            self.write("amca", name, &bytes)?;
        }
        Ok(())
    }

    /// Packets of AMCA that need routers or losses.
    fn amca_rest(&mut self) -> io::Result<()> {
        let bodies = [
            Body::Nack(amca::Nack {
                seq: layercast_core::units::WireSeq(12),
                lo: layercast_core::units::WireSeq(11),
                lr: layercast_core::units::WireSeq(15),
                max_seq: layercast_core::units::WireSeq(90),
                rtt_to_source_us: 60_000,
                rtt_to_parent_us: 20_000,
            }),
            Body::Report(amca::Report { period_us: 60_000, count: 3, ..amca::Report::default() }),
            Body::Heartbeat { sent_ns: 1_234_567_890 },
            Body::Answer(amca::Answer { echo_ns: 1_234_567_890, rtt_to_source_us: 5, is_from_source: true }),
        ];
        bodies.into_iter().try_for_each(|body| self.amca(&amca::Header { session: 7, originator: 9, body }))
    }

    fn session(&self, protocol: Protocol) -> io::Result<Option<Session>> {
        let (layers, name) = (LayerTable::doubling(Rate::from_kbps(128.0), 4).ok(), protocol.name());
        let Some(layers) = layers else { return Ok(None) };
        let agreed = protocol.requirements().agreed().iter();
        let plan = SessionPlan { layers, packet_size: PACKET };
        let session = Session {
            tsi: 305_419_896,
            protocol: name.to_owned(),
            source: [192, 0, 2, 1].into(),
            group: std::net::SocketAddr::from(([239, 1, 2, 0], 5500)),
            feedback: std::net::SocketAddr::from(([192, 0, 2, 1], 5501)),
            packet: PACKET,
            channels: protocol.requirements().channels(&plan),
            agreed: agreed.filter_map(|key| Some(((*key).to_owned(), protocol.get(key)?))).collect(),
            group_key: None,
            salt: None,
            layers: plan.layers,
            stream: None,
        };
        self.write("session", name, session.to_string().as_bytes())?;
        Ok(session.check().is_ok().then_some(session))
    }

    fn table(&self, session: &Session) -> io::Result<()> {
        let file = |toi, length| {
            let coding = Coding::plan(length, 916).ok()?;
            let content = Content::File { coding, sha256: Some([0xab; 32]) };
            let attributes = Attributes { mode: Some(0o644), modified_ns: Some(1_700_000_000_000_000_000) };
            // Two blocks, and one.
            let leaves = (0..length / 900_000 * 2).map(|number| [number as u8; 32]).collect();
            let path = format!("a folder/a file & more {toi}.tar.gz");
            let package = (toi == 1).then_some(300);
            Some(Entry { leaves, package, attributes, ..Entry::new(toi, path, content) })
        };
        let instance = Instance {
            number: Some(1),
            first: Some(1),
            complete: true,
            expires_s: 4_000_000_000,
            wants_completions: true,
            session: session.to_string(),
            entries: [(1, 1_234_567), (2, 5)]
                .into_iter()
                .filter_map(|(toi, length)| file(toi, length))
                .collect(),
            removed: vec![3],
            removed_files: vec![(4, "a folder/a file".to_owned())],
        };
        let xml = instance.to_xml();
        self.write("object_table", "zlib", &compressed(xml.as_bytes()))?;
        self.write("object_table", "xml", xml.as_bytes())?;
        let mut packets = Vec::new();
        for (number, part) in (0u32..).zip(xml.as_bytes().chunks(200)) {
            packets.extend([1, 204]);
            packets.extend(table_fti(xml.len(), 200).0);
            packets.extend(number.to_be_bytes());
            packets.extend(part);
            packets.resize((number as usize + 1) * 220, 0);
        }
        self.write("object_table", "packets", &packets)?;
        let own = b"<FDT-Instance Expires=\"1\"><File TOI=\"1\" Content-Location=\"x\"/></FDT-Instance>";
        self.write("object_table", "short", own)
    }

    /// Packets as `protection` accepts them, and one that is not protected.
    fn protected(&self) -> io::Result<()> {
        let plain = [
            &[0x10, 0xa0, 5, 6, 0, 0, 0, 7][..],
            &PROTECTED_TSI.to_be_bytes(),
            &[0, 0, 0, 1, 82, 1, 0, 0],
            b"four and a symbol",
        ]
        .concat();
        self.write("protection", "plain", &plain)?;
        for (name, scheme) in ["mac", "encryption"].into_iter().zip(schemes()) {
            let mut sequence = Sequence::after(100);
            sequence.grant(200);
            let mut room = [plain.as_slice(), &[0; AUTH_BYTES]].concat();
            let protected = Outgoing::new(scheme, sequence).protect(&mut room, plain.len());
            protected.map_err(io::Error::other)?;
            self.write("protection", name, &room)?;
        }
        Ok(())
    }

    /// Keys and signatures.
    fn signed(&self) -> io::Result<()> {
        let (secret, group) = (SecretKey::from_seed(&[7; 32]), GroupKey::from_seed(&[7; 32]));
        let signed = Signed::write(&secret, Context::Table, b"a table").map_err(io::Error::other)?;
        self.write("signed", "bytes", &signed)?;
        let signature = Signature::sign(&secret, Context::Description, b"layercast = 1").to_string();
        self.write("signed", "text", signature.as_bytes())?;
        let keys = [KeyFile::public(secret.public(), "seed"), KeyFile::group(group, "seed")];
        for (name, key) in ["public", "group"].into_iter().zip(keys) {
            self.write("signed", name, key.map_err(io::Error::other)?.to_text().as_bytes())?;
        }
        Ok(())
    }

    /// Datagrams of relays and of AMT, each after its length.
    fn relays(&self) -> io::Result<()> {
        let address = |number| SocketAddr::from(([192, 0, 2, number], 5600));
        let session = SessionKey { group: SocketAddr::from(([239, 1, 2, 0], 5500)), source: None };
        let mut held = ChannelSet::default();
        held.insert(Channel(3));
        let messages = [
            ("hello", Message::Hello { nonce: 5, session, cookie: None, previous: None }),
            ("open", Message::Hello { nonce: 5, session, cookie: Some([6; 16]), previous: Some(7) }),
            ("challenge", Message::Challenge { nonce: 5, cookie: [6; 16] }),
            ("welcome", Message::Welcome { nonce: 5, child: 7, handle: 8, keep_alive_ms: 300 }),
            (
                "refusal",
                Message::Refusal {
                    nonce: 5,
                    reason: Reason::Full,
                    alternatives: Alternatives::new([address(1)]),
                },
            ),
            ("membership", Message::Membership { child: 7, number: 1, held }),
            ("ack", Message::Ack { child: 7, number: 1 }),
            ("keep-alive", Message::KeepAlive { child: 7, time: 9, received: 10 }),
            ("alive", Message::Alive { child: 7, time: 9, dropped: 1, depth: 2 }),
            ("goodbye", Message::Goodbye { child: 7 }),
            ("feedback", Message::Feedback { child: 7, to: address(2), message: b"a report" }),
            ("unknown", Message::Unknown { child: 7 }),
        ];
        let mut all = Vec::new();
        let mut add = |target: &str, name: &str, bytes: &[u8]| {
            let datagram = [&[bytes.len() as u8], bytes].concat();
            all.extend_from_slice(&datagram);
            self.write(target, name, &datagram)
        };
        for (name, message) in messages {
            let mut room = [0; MESSAGE_MAX];
            let length = message.write(&mut room);
            add("relay", name, &room[..length])?;
        }
        let mut room = [0; DATA_HEAD_MAX];
        for (name, source) in [("data-4", [192, 0, 2, 9].into()), ("data-6", Ipv6Addr::LOCALHOST.into())] {
            let length = Data { hops: 1, channel: Channel(0), handle: 8, source }.write(&mut room);
            add("relay", name, &[&room[..length], b"packet"].concat())?;
        }
        let records =
            [Record { kind: RecordKind::ToExclude, group: session.group.ip(), sources: Vec::new() }];
        let report = report::write(Reporting::Igmp, &records).concat();
        let inner = Inner { from: address(9), group: session.group, ecn: Ecn::Capable, payload: b"packet" };
        let amt = [
            ("discovery", Amt::RelayDiscovery { nonce: 1 }),
            ("advertisement", Amt::RelayAdvertisement { nonce: 1, relay: address(1).ip() }),
            ("request", Amt::Request { reporting: Reporting::Igmp, nonce: 1 }),
            ("update", Amt::MembershipUpdate { mac: [1; 6], nonce: 1, report: &report }),
            ("data", Amt::MulticastData(&inner.to_bytes())),
            ("teardown", Amt::Teardown { mac: [1; 6], nonce: 1, gateway: address(2).into() }),
        ];
        for (name, message) in amt {
            add("amt", name, &message.to_bytes())?;
        }
        self.write("relay", "all", &all)
    }

    /// Heads of packages, after what the table says of them.
    fn packages(&self) -> io::Result<()> {
        let member = |number: u64| Member {
            path: format!("folder/{number}"),
            length: 100 * number,
            sha256: [number as u8; 32],
            attributes: Attributes { mode: Some(0o644), modified_ns: Some(1_700_000_000_000_000_000) },
        };
        for files in [0, 1, 3] {
            let members: Vec<Member> = (0..files).map(member).collect();
            let head = Head::encode(&members).map_err(io::Error::other)?;
            let length = head.len() as u64 + members.iter().map(|member| member.length).sum::<u64>();
            let of_table = [&(files as u16).to_be_bytes()[..], &(length as u32).to_be_bytes()].concat();
            self.write("package", &files.to_string(), &[of_table, head].concat())?;
        }
        Ok(())
    }
}

const FLAGS: &[(&str, &str)] = &[
    ("range", "session.elm.t_join_max=5s..60s/4"),
    ("factors", "link.S-R.rate=64 kbit/s..512 kbit/s*2"),
    ("words", "session.elm.strategy=naive,lazy"),
    ("lists", "windows=[[\"1 s\", \"end\"]], [[\"2 s\", \"end\"]]"),
    ("tables", "link.S-R.loss={ forward = 0.1, backward = 0 },0.2"),
    ("quotes", "session.elm.packet_size='500 bytes', \"1 kB\""),
    ("wrong", "duration=5 parsecs,,1..3/2"),
];

const SCENARIOS: &[&str] = &[
    "amca/finite",
    "compare/beside-tcp",
    "elm/strategies",
    "flid/coordination",
    "tfrc/shared-link",
    "thesis/bias-lossy",
    "thesis/simulation-2",
    "transport/three-links",
    "wei-zhang/four-flows",
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut corpus = Corpus { folder: root.join("fuzz/corpus"), seen: BTreeSet::new() };
    for protocol in NAMES.iter().filter_map(|name| Protocol::named(name)) {
        let Some((down, up)) = headers(&protocol) else { continue };
        for header in down.iter().chain(&up) {
            corpus.packet(protocol.name(), header)?;
            corpus.report(protocol.name(), header)?;
            if let Header::Amca(header) = header {
                corpus.amca(header)?;
            }
        }
        if let Some(session) = corpus.session(protocol)? {
            corpus.table(&session)?;
        }
    }
    corpus.amca_rest()?;
    corpus.protected()?;
    corpus.signed()?;
    corpus.packages()?;
    corpus.relays()?;
    if let Some(receiver) = core::num::NonZeroU64::new(9) {
        corpus.write("report", "completion", &Completion { tsi: 7, toi: 1, receiver }.to_bytes())?;
        let reception = ReceptionReport {
            tsi: 7,
            receiver,
            poll: 5,
            exponent: 2,
            is_complete: false,
            is_leaving: true,
            disk_fails: true,
            share: 4000,
            level: Level::from_count(3),
            lost: Some(12),
            left_s: Some(345),
            objects: 6,
            failed: 1,
        };
        corpus.write("report", "reception", &reception.to_bytes())?;
        corpus.write(
            "report",
            "demand",
            &Demand { tsi: 7, level: Level::from_count(7), lost: 0 }.to_bytes(),
        )?;
    }
    for (name, flag) in FLAGS {
        corpus.write("sweep_axis", name, flag.as_bytes())?;
    }
    corpus.write("scenario", "swept", SWEPT.as_bytes())?;
    for name in SCENARIOS {
        let text = fs::read(root.join(format!("scenarios/{name}.toml")))?;
        corpus.write("scenario", &name.replace('/', "-"), &text)?;
    }
    Ok(())
}
