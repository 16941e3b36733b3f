//! Packets that look genuine: right headers, symbols and tables of the forger's own.

use std::net::{IpAddr, Ipv4Addr};

use layercast_core::stream::Stream;
use layercast_delivery::object::{
    Coding, Content, ContentEncoding, Entry, FEC_NO_CODE, Instance, TOI_TABLE, compressed, decompressed,
    table_fti,
};
use layercast_delivery::packet::{Fdt, MAX_HEADER, PayloadId, Repr, View};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{AUTH_BYTES, Outgoing, Scheme};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::signed_table::TableSigner;

use crate::plan::Protection;
use crate::source::key_of;
use crate::wire::packet_number;

/// How much forgers keep of each kind.
const KEPT: usize = 64;

/// What forgers keep of one kind, for replays and changes. When there is no space, a new one takes the place of any, so that both
/// old and new ones are there.
pub(crate) struct Heard<T>(Vec<T>);

impl<T: Clone> Heard<T> {
    /// Nothing yet.
    pub(crate) fn new() -> Heard<T> {
        Heard(Vec::new())
    }

    /// Keeps one more.
    pub(crate) fn keep(&mut self, heard: T, chaos: &mut Stream) {
        if self.0.len() < KEPT {
            self.0.push(heard);
        } else if let Some(place) = self.0.get_mut(chaos.bits() as usize % KEPT) {
            *place = heard;
        }
    }

    /// One of them.
    pub(crate) fn pick(&self, chaos: &mut Stream) -> Option<T> {
        let at = chaos.bits() % self.0.len().max(1) as u64;
        self.0.get(at as usize).cloned()
    }
}

/// What a forger makes of a packet that it has heard; none if that is not a packet of a session.
pub(crate) fn of(genuine: &[u8], chaos: &mut Stream) -> Option<Vec<u8>> {
    let view = View::new(genuine).ok()?;
    let repr = Repr::read(&view).ok()?;
    if repr.toi == TOI_TABLE {
        Some(table(repr, view.payload(), chaos))
    } else {
        symbol(repr, view.payload(), chaos)
    }
}

/// Flips a few bits.
pub(crate) fn flip(bytes: &mut [u8], chaos: &mut Stream) {
    for _ in 0..1 + chaos.bits() % 4 {
        let at = (chaos.bits() % bytes.len().max(1) as u64) as usize;
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << (chaos.bits() % 8);
        }
    }
}

/// What a forger without the group key makes of a protected packet: bits are flipped, often in its last bytes or its packet number;
/// or it is one that looks genuine, without protection or protected by another key.
pub(crate) fn protected(genuine: Vec<u8>, by: Option<Protection>, chaos: &mut Stream) -> Vec<u8> {
    let mut bytes = genuine;
    match chaos.bits() % 4 {
        0 => flip(&mut bytes, chaos),
        1 => {
            // The extension is the last of the header: its number, or what follows.
            let header = View::new(&bytes).map_or(0, |view| bytes.len() - view.payload().len());
            let at = if chaos.chance(0.5) { header.saturating_sub(AUTH_BYTES - 7) } else { header };
            if let Some(byte) = bytes.get_mut(at) {
                *byte = byte.wrapping_add(1 + (chaos.bits() % 4) as u8);
            }
        }
        kind => {
            let number = packet_number(&bytes).unwrap_or(0) + chaos.bits() % 200;
            bytes = of(&bytes, chaos).unwrap_or(bytes);
            let tsi = View::new(&bytes).ok().and_then(|view| view.tsi()).unwrap_or(0) as u32;
            if kind == 3 {
                let key = GroupKey::from_seed(&[99; 32]);
                let mut sequence = Sequence::after(number);
                sequence.grant(number + 1);
                let scheme = Scheme::of(&key, by.and_then(|by| by.salt), tsi);
                let mut room = bytes.clone();
                room.resize(bytes.len() + AUTH_BYTES, 0);
                if Outgoing::new(scheme, sequence).protect(&mut room, bytes.len()).is_ok() {
                    bytes = room;
                }
            }
        }
    }
    bytes
}

fn packet(repr: &Repr, payload: &[u8]) -> Vec<u8> {
    let mut head = [0; MAX_HEADER];
    let length = repr.write(&mut head);
    [head.get(..length).unwrap_or_default(), payload].concat()
}

/// Another content under the number of a symbol, or under one that may come later.
fn symbol(repr: Repr, payload: &[u8], chaos: &mut Stream) -> Option<Vec<u8>> {
    let (id, symbol) = PayloadId::split(payload).ok()?;
    let later = id.esi() + (chaos.bits() % 64) as u32;
    let id = if chaos.bits().is_multiple_of(2) { id } else { PayloadId::new(id.block, later).unwrap_or(id) };
    let mut forged = id.to_bytes().to_vec();
    let mask = (chaos.bits() % 255) as u8 + 1;
    forged.extend(symbol.iter().map(|byte| byte ^ mask));
    Some(packet(&repr, &forged))
}

/// A table in one packet: the forger's file at a path of the session, under a number of the session or a later one; without a
/// signature, or with that of another key. Or the genuine one under another number.
fn table(mut repr: Repr, payload: &[u8], chaos: &mut Stream) -> Vec<u8> {
    let number = repr.fdt.map_or(0, Fdt::instance) + (chaos.bits() % 3) as u32;
    repr.fdt = Some(Fdt::new(number));
    let whole =
        payload.get(PayloadId::BYTES..).and_then(|bytes| decompressed(Some(ContentEncoding::Zlib), bytes));
    if whole.is_some() && chaos.bits().is_multiple_of(3) {
        return packet(&repr, payload);
    }
    let content = Coding::plan(1000 + chaos.bits() % 5000, 200)
        .map_or(Content::Folder, |coding| Content::File { coding, sha256: Some([7; 32]) });
    let instance = Instance {
        number: Some(number),
        first: Some(0),
        complete: true,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        entries: vec![Entry::new(1 + u128::from(chaos.bits() % 4), "a", content)],
        removed: vec![2],
        removed_files: Vec::new(),
    };
    let mut xml = instance.to_xml();
    if chaos.bits().is_multiple_of(2) {
        let key = key_of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 99)));
        TableSigner { key, tsi: repr.tsi }.sign(number, &mut xml);
    }
    let bytes = compressed(xml.as_bytes());
    (repr.is_compressed, repr.codepoint) = (true, FEC_NO_CODE);
    repr.fti = Some(table_fti(bytes.len(), bytes.len() as u16));
    packet(&repr, &[&[0; PayloadId::BYTES], bytes.as_slice()].concat())
}
