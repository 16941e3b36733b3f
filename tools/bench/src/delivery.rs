//! The path of a packet through the machines of delivery, without sockets: what the sender writes, the receiver reads,
//! decodes and puts in its place.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use cpu_time::ProcessTime;
use layercast_core::family::AnyHeader as _;
use layercast_core::units::{Channel, Duration, Layer, Time, WireSeq};
use layercast_delivery::accept::{AcceptCounters, Incoming as Arrived, accept};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::{MemoryDisk, MemoryObjects};
use layercast_delivery::object::{Cut, PART_SYMBOLS, hashes_of};
use layercast_delivery::packet::MAX_HEADER;
use layercast_delivery::reception::{Reception, ReceptionSettings};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{AUTH_BYTES, Incoming, Outgoing, Scheme};
use layercast_delivery::security::sequence::{ReplayWindow, Sequence};
use layercast_delivery::sender::Sender;
use layercast_protocols::fixed;
use layercast_protocols::registry::Header;

use crate::measurement::Measurement;
use crate::memory;

const SYMBOL: u16 = 1000;
const TSI: u32 = 1;
const CHANNEL: Channel = Channel(0);
/// Every packet of so many is lost.
const LOST: u64 = 20;

/// How packets are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protection {
    /// Not at all.
    Plain,
    /// They are encrypted.
    Encrypted,
}

impl std::fmt::Display for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Protection::Plain { "plain" } else { "encrypted" })
    }
}

/// Sends a file of so many kilobytes until the receiver has it.
pub(crate) fn run(protection: Protection, kilobytes: u32) -> Result<Measurement> {
    let begun = ProcessTime::now();
    let content: Vec<u8> =
        (0..kilobytes * 1000).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let settings = TableSettings {
        symbol: SYMBOL,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        signer: None,
    };
    let (mut sender, mut objects) = (Sender::new(settings, 1), MemoryObjects::default());
    let hashes = hashes_of(&content[..], Cut { symbol: SYMBOL, longest: PART_SYMBOLS, is_signed: false });
    let hashes = hashes.context("the hashes of a file")?;
    let item = Item {
        path: "file".to_owned(),
        file: Some((content.len() as u64, Some(hashes.whole.sha256))),
        tag: None,
        leaves: hashes.whole.leaves,
        parts: hashes.parts,
        members: Arc::default(),
        attributes: Attributes::default(),
    };
    for toi in sender.change(&[item], &[], true, &|_| Vec::new())?.added {
        let entry = sender.catalogue().object(toi).context("what was added is there")?;
        objects.add_entry(toi, entry, &content);
    }
    let scheme = (protection == Protection::Encrypted)
        .then(|| Scheme::encryption(&GroupKey::from_seed(&[1; 32]), Salt([2; 16]), TSI));
    let mut ways = scheme.map(|scheme| {
        let mut sequence = Sequence::after(0);
        sequence.grant(u64::MAX);
        (Outgoing::new(scheme.clone(), sequence), Incoming::new(scheme, TSI, ReplayWindow::above(0)))
    });
    let mut reception = Reception::new(MemoryDisk::default(), ReceptionSettings::default());
    let set_up_s = begun.elapsed().as_secs_f64();

    let begun = ProcessTime::now();
    let source = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let arrived = Arrived { from: SocketAddr::new(source, 1), channel: Some(CHANNEL), is_cut: false };
    let (mut now, mut packets, mut counters) = (Time::ZERO, 0, AcceptCounters::default());
    let (mut room, mut head) = ([0; 2000], [0; MAX_HEADER]);
    let mut bytes = Vec::with_capacity(4000);
    while !reception.is_complete() {
        now += Duration::from_ms(1);
        let Ok(load) = sender.next(CHANNEL, now, &mut room, &mut objects);
        let header = Header::Fixed(fixed::Header { layer: Layer(0), seq: WireSeq(packets as u32) });
        let repr = load.repr(header.to_lct().context("a form for LCT")?, TSI);
        let length = repr.write(&mut head);
        bytes.clear();
        bytes.extend_from_slice(&head[..length]);
        bytes.extend_from_slice(&room[..load.length]);
        packets += 1;
        ensure!(packets < 1_000_000, "the file does not come");
        if let Some((outgoing, _)) = &mut ways {
            let length = bytes.len();
            bytes.resize(length + AUTH_BYTES, 0);
            let length = outgoing.protect(&mut bytes, length)?;
            bytes.truncate(length);
        }
        if packets % LOST == 0 {
            continue;
        }
        if let Some((_, incoming)) = &mut ways {
            ensure!(incoming.accept(&mut bytes).is_ok(), "a packet was not accepted");
        }
        let packet = accept::<Header>(arrived, &bytes, Some((source, TSI)), &mut counters);
        let packet = packet.context("a packet was not accepted")?;
        reception.packet(&packet.repr, packet.payload)?;
        while reception.work()? {}
    }
    let run_s = begun.elapsed().as_secs_f64();
    let peak_bytes = memory::peak("self");
    Ok(Measurement { set_up_s, run_s, hops: packets, deliveries: packets - packets / LOST, peak_bytes })
}
