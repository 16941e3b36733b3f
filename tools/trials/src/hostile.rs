//! Packets that should do nothing: random, mutated, replayed, of other sessions, forged.

use layercast_core::stream::Stream;
use layercast_delivery::packet::HET_AUTH;
use layercast_delivery::security::protection::{AUTH_BYTES, TAG_BYTES};

/// The longest hostile packet.
pub const LONGEST: usize = 1472;
/// How many real packets are kept to make others from.
const KEPT: usize = 4096;
/// Where the session number of an LCT header with 32 bits of CCI is.
const TSI: std::ops::Range<usize> = 8..12;
/// Where the object number is.
const TOI: std::ops::Range<usize> = 12..16;

/// What a hostile packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Random bytes of a random length.
    Random,
    /// A real packet with up to eight bytes changed, cut off, or made longer.
    Mutated,
    /// The same of a packet of the table.
    Table,
    /// A real packet once more.
    Replayed,
    /// A packet of another session, as it is or with this session's number.
    OtherSession,
    /// A real header, the next packet numbers, a random tag and payload.
    Forged,
}

/// All kinds, as often as each other.
pub const ALL: [Kind; 6] =
    [Kind::Random, Kind::Mutated, Kind::Table, Kind::Replayed, Kind::OtherSession, Kind::Forged];

/// Packets that were heard, and the random numbers by which others are made from them.
#[derive(Debug)]
pub struct Hostile {
    random: Stream,
    real: Vec<Vec<u8>>,
    table: Vec<Vec<u8>>,
    other: Vec<Vec<u8>>,
}

impl Hostile {
    /// Knows no packet yet.
    pub fn new(seed: u64) -> Hostile {
        Hostile {
            random: Stream::new(seed, "hostile"),
            real: Vec::new(),
            table: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Has heard a packet of the session.
    pub fn hear(&mut self, packet: &[u8]) {
        if packet.get(TOI).is_some_and(|toi| toi == [0; 4]) {
            keep(&mut self.table, packet, &mut self.random);
        }
        keep(&mut self.real, packet, &mut self.random);
    }

    /// Has heard a packet of another session.
    pub fn hear_other(&mut self, packet: &[u8]) {
        keep(&mut self.other, packet, &mut self.random);
    }

    /// How many packets of the session, of its table, and of other sessions are known.
    pub fn known(&self) -> (usize, usize, usize) {
        (self.real.len(), self.table.len(), self.other.len())
    }

    /// Makes a packet of one of these kinds. One that cannot be made from what was heard is random.
    pub fn next(&mut self, kinds: &[Kind], packet: &mut Vec<u8>) -> Kind {
        packet.clear();
        let kind = kinds.get(below(&mut self.random, kinds.len())).copied().unwrap_or(Kind::Random);
        let from = match kind {
            Kind::Random => None,
            Kind::Mutated | Kind::Replayed | Kind::Forged => pick(&self.real, &mut self.random),
            Kind::Table => pick(&self.table, &mut self.random),
            Kind::OtherSession => pick(&self.other, &mut self.random),
        };
        let Some(from) = from else {
            let length = below(&mut self.random, LONGEST + 1);
            packet.resize(length, 0);
            fill(&mut self.random, packet);
            return Kind::Random;
        };
        packet.extend_from_slice(from);
        match kind {
            Kind::Random | Kind::Replayed => {}
            Kind::Mutated | Kind::Table => mutate(&mut self.random, packet),
            Kind::OtherSession => {
                let tsi = self.real.last().and_then(|own| own.get(TSI));
                if self.random.chance(0.5)
                    && let (Some(tsi), Some(field)) = (tsi, packet.get_mut(TSI))
                {
                    field.copy_from_slice(tsi);
                }
            }
            Kind::Forged => forge(&mut self.random, packet),
        }
        kind
    }
}

/// Keeps a packet: the first ones, then in the place of a random one.
fn keep(packets: &mut Vec<Vec<u8>>, packet: &[u8], random: &mut Stream) {
    if packets.len() < KEPT {
        packets.push(packet.to_vec());
    } else if let Some(old) = packets.get_mut(below(random, KEPT)) {
        old.clear();
        old.extend_from_slice(packet);
    }
}

fn pick<'p>(packets: &'p [Vec<u8>], random: &mut Stream) -> Option<&'p Vec<u8>> {
    packets.get(below(random, packets.len()))
}

/// A number below `bound`; 0 if that is 0.
fn below(random: &mut Stream, bound: usize) -> usize {
    // The bias is far below what matters here.
    usize::try_from(random.bits() % (bound.max(1) as u64)).unwrap_or(0)
}

fn fill(random: &mut Stream, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(8) {
        let word = random.bits().to_le_bytes();
        part.copy_from_slice(&word[..part.len()]);
    }
}

/// Half of the changes are in the header, which decides what a packet is.
fn mutate(random: &mut Stream, packet: &mut Vec<u8>) {
    match below(random, 8) {
        0 => packet.truncate(below(random, packet.len() + 1)),
        1 => {
            let length = packet.len() + below(random, LONGEST + 1 - packet.len().min(LONGEST));
            let old = packet.len();
            packet.resize(length, 0);
            fill(random, &mut packet[old..]);
        }
        _ => {}
    }
    for _ in 0..=below(random, 8) {
        let end = if random.chance(0.5) { packet.len().min(64) } else { packet.len() };
        let (place, bits) = (below(random, end), random.bits());
        let Some(byte) = packet.get_mut(place) else { return };
        match bits % 3 {
            0 => *byte ^= 1 << (bits >> 8 & 7),
            1 => *byte = bits.to_le_bytes()[2],
            _ => *byte = if bits & 256 == 0 { 0 } else { 255 },
        }
    }
}

/// Where EXT_AUTH is: the last extension of the header.
fn protection(packet: &[u8]) -> Option<usize> {
    let start = (usize::from(*packet.get(2)?) * 4).checked_sub(AUTH_BYTES)?;
    (*packet.get(start)? == HET_AUTH && packet.len() >= start + AUTH_BYTES).then_some(start)
}

/// The number of a protected packet.
fn number(packet: &[u8]) -> Option<u64> {
    let field = packet.get(protection(packet)? + 3..)?.first_chunk::<5>()?;
    Some(field.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A number that was not seen yet, as the check of a replay costs less than that of a tag.
fn forge(random: &mut Stream, packet: &mut [u8]) {
    let header = usize::from(packet.get(2).copied().unwrap_or_default()) * 4;
    if let (Some(start), Some(number)) = (protection(packet), number(packet)) {
        let number = number + 1 + random.bits() % 60_000;
        packet[start + 3..start + 8].copy_from_slice(&number.to_be_bytes()[3..]);
        fill(random, &mut packet[start + AUTH_BYTES - TAG_BYTES..start + AUTH_BYTES]);
    }
    // The payload id stays.
    if let Some(payload) = packet.get_mut(header + 4..) {
        fill(random, payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of 40 bytes that ends with EXT_AUTH, and a payload.
    fn packet() -> Vec<u8> {
        let mut packet = vec![9; 100];
        packet[2] = 10;
        packet[16..24].copy_from_slice(&[HET_AUTH, 6, 1, 0, 0, 1, 0, 0]);
        packet
    }

    #[test]
    fn a_forged_packet_has_a_new_number_a_new_tag_and_the_same_header() {
        let mut hostile = Hostile::new(1);
        hostile.hear(&packet());
        let mut made = Vec::new();
        assert_eq!(hostile.next(&[Kind::Forged], &mut made), Kind::Forged);
        assert_eq!(made[..19], packet()[..19]);
        let number = number(&made).unwrap();
        assert!(number > 65536 && number <= 65536 + 60_000, "{number}");
        assert_ne!(made[24..40], packet()[24..40]);
        assert_eq!(made[40..44], packet()[40..44]);
        assert_ne!(made[44..], packet()[44..]);
    }

    #[test]
    fn every_kind_is_made_and_differs_as_it_should() {
        let mut hostile = Hostile::new(2);
        hostile.hear(&packet());
        let mut table = packet();
        table[TOI].fill(0);
        hostile.hear(&table);
        hostile.hear_other(&[5; 50]);
        let (mut made, mut counts) = (Vec::new(), [0; 6]);
        for _ in 0..6000 {
            let kind = hostile.next(&ALL, &mut made);
            counts[ALL.iter().position(|one| *one == kind).unwrap()] += 1;
            let is_real = made == packet() || made == table;
            // A mutation may write what was there.
            assert!(is_real || kind != Kind::Replayed, "{kind:?}");
            assert!(
                !is_real || !matches!(kind, Kind::Random | Kind::OtherSession | Kind::Forged),
                "{kind:?}"
            );
            assert!(made.len() <= LONGEST);
        }
        assert!(counts.iter().all(|count| *count > 800), "{counts:?}");
    }
}
