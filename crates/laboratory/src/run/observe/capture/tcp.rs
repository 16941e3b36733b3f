//! TCP segments. The simulator counts packets; here they become bytes, from sequence number 0 on.

use std::collections::BTreeMap;

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use layercast_core::units::Time;

use super::super::addresses::{Address, Connection};
use super::packet::Packet;

const TTL: u8 = 64;
/// Both ends scale the window by 2^14 (RFC 7323), so that it never seems to limit.
const WINDOW_SCALE: u8 = 14;
/// The options of a segment with timestamps: two of no operation, and 10 bytes (RFC 7323, appendix A).
const TIMESTAMPS: u32 = 12;
/// Room for options in a header.
const MOST_OPTIONS: u32 = 40;
/// So many packets under way are remembered. Where acknowledgements take another path, nothing forgets them.
const MOST_UNDER_WAY: usize = 1 << 14;
/// Far apart, and each above the one before: a reader takes a SYN with another first number for a connection that uses
/// the ports again, and one with a lower number for something that is sent again.
const BETWEEN_FIRST_NUMBERS: u32 = 0x1e37_79b1;

/// Payload has no content, and counts in the checksum as zeros.
static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// What has to be remembered of the connections, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct TcpPackets {
    connections: Vec<Passed>,
}

/// What has passed the link of a connection.
#[derive(Clone, Debug, Default)]
struct Passed {
    incarnation: u32,
    /// Whether the answer to the SYN has been seen.
    answered: bool,
    /// The timestamps of packets that are not acknowledged.
    under_way: BTreeMap<i64, u32>,
    /// The timestamps that the two ends echo next; 0 for none.
    of_data: u32,
    of_acks: u32,
}

/// A connection as a packet passes the link.
pub(super) struct Moment<'p> {
    passed: &'p mut Passed,
    /// The number of the first byte, at both ends.
    first: u32,
    /// The clock of both ends. It ticks in milliseconds, and a packet has the time at which it begins to pass.
    clock: u32,
}

impl TcpPackets {
    /// For so many connections.
    pub(super) fn new(connections: usize) -> TcpPackets {
        TcpPackets { connections: vec![Passed::default(); connections] }
    }

    /// A packet of a connection passes.
    pub(super) fn moment(&mut self, number: usize, incarnation: u32, at: Time) -> Moment<'_> {
        let passed = &mut self.connections[number];
        if incarnation > passed.incarnation {
            *passed = Passed { incarnation, ..Passed::default() };
        }
        let first = incarnation.wrapping_mul(BETWEEN_FIRST_NUMBERS);
        // An echo of 0 would be none.
        let clock = (at.as_ns() / 1_000_000) as u32 + 1;
        Moment { passed, first, clock }
    }
}

impl Moment<'_> {
    /// The timestamp of a data packet, and its echo.
    fn of_data(&mut self, seq: i64) -> TcpOptionElement {
        self.passed.under_way.insert(seq, self.clock);
        if self.passed.under_way.len() > MOST_UNDER_WAY {
            self.passed.under_way.pop_first();
        }
        TcpOptionElement::Timestamp(self.clock, self.passed.of_acks)
    }

    /// The timestamp of an acknowledgement, and its echo: the first packet that it is the first to acknowledge
    /// (RFC 7323, section 4.3).
    fn of_ack(&mut self, cumulative: i64) -> TcpOptionElement {
        let under_way = self.passed.under_way.split_off(&(cumulative + 1));
        let acknowledged = std::mem::replace(&mut self.passed.under_way, under_way);
        let echo = acknowledged.values().next().copied().unwrap_or(0);
        self.passed.of_data = self.passed.of_data.max(echo);
        self.passed.of_acks = self.clock;
        TcpOptionElement::Timestamp(self.clock, self.passed.of_data)
    }
}

/// Where packet `seq` begins, in bytes. A SYN takes one number.
fn offset(connection: &Connection, seq: i64) -> u32 {
    let payload = i64::from(connection.payload);
    let bytes = match seq {
        ..=0 => 0,
        _ if connection.has_syn => 1 + (seq - 1) * payload,
        _ => seq * payload,
    };
    // Sequence numbers turn at 2^32.
    bytes as u32
}

/// The option with timestamps, if the sizes of the connection's packets have room for it.
fn timestamp(connection: &Connection, option: TcpOptionElement) -> Option<TcpOptionElement> {
    (connection.options >= TIMESTAMPS).then_some(option)
}

/// What a SYN offers: the segment size, selective acknowledgements, timestamps, the window's scale.
fn syn_options(connection: &Connection, timestamp: Option<TcpOptionElement>) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, WindowScale};
    // It leaves options out of account (RFC 6691).
    let size = (connection.payload + connection.options).min(u32::from(u16::MAX)) as u16;
    let first = [MaximumSegmentSize(size), SelectiveAcknowledgementPermitted];
    first.into_iter().chain(timestamp).chain([Noop, WindowScale(WINDOW_SCALE)]).collect()
}

/// What every other segment carries.
fn usual_options(timestamp: Option<TcpOptionElement>) -> Vec<TcpOptionElement> {
    use TcpOptionElement::Noop;
    timestamp.map_or_else(Vec::new, |timestamp| vec![Noop, Noop, timestamp])
}

/// A data packet. Packet 0 is the SYN, but for variants whose packet 0 has data.
pub(super) fn data(
    connection: &Connection,
    mut moment: Moment<'_>,
    seq: i64,
    reduced: bool,
    ecn: u8,
) -> Packet {
    let (from_port, to_port) = (connection.from_port, connection.to_port);
    let number = moment.first.wrapping_add(offset(connection, seq));
    let mut header = TcpHeader::new(from_port, to_port, number, u16::MAX);
    let timestamp = timestamp(connection, moment.of_data(seq));
    let (from, to) = (connection.from, connection.to);
    if seq == 0 && connection.has_syn {
        header.syn = true;
        // Both flags ask for ECN (RFC 3168, section 6.1.1).
        (header.ece, header.cwr) = (connection.ecn, connection.ecn);
        return segment(from, to, header, &syn_options(connection, timestamp), connection.options, 0, ecn);
    }
    header.ack = true;
    header.acknowledgment_number = moment.first.wrapping_add(u32::from(connection.has_syn));
    header.cwr = reduced;
    segment(from, to, header, &usual_options(timestamp), connection.options, connection.payload, ecn)
}

/// An acknowledgement; the first one of packet 0 is the answer to the SYN.
pub(super) fn ack(
    connection: &Connection,
    mut moment: Moment<'_>,
    cumulative: i64,
    blocks: &[(i64, i64)],
    echo: bool,
    ecn: u8,
) -> Packet {
    let byte = |seq| moment.first.wrapping_add(offset(connection, seq));
    let number = moment.first.wrapping_add(u32::from(connection.has_syn));
    let mut header = TcpHeader::new(connection.to_port, connection.from_port, number, u16::MAX);
    (header.ack, header.acknowledgment_number) = (true, byte(cumulative + 1));
    header.ece = echo;
    let edges = |&(left, right): &(i64, i64)| (byte(left), byte(right));
    let blocks: Vec<(u32, u32)> = blocks.iter().map(edges).collect();
    let timestamp = timestamp(connection, moment.of_ack(cumulative));
    let mut options = usual_options(timestamp.clone());
    if connection.has_syn && cumulative == 0 && blocks.is_empty() && !moment.passed.answered {
        (header.syn, header.sequence_number) = (true, moment.first);
        // It agrees to ECN.
        header.ece = connection.ecn;
        options = syn_options(connection, timestamp);
    } else if let Some((first, rest)) = blocks.split_first() {
        let mut more = [None; 3];
        more.iter_mut().zip(rest).for_each(|(more, block)| *more = Some(*block));
        options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
        options.push(TcpOptionElement::SelectiveAcknowledgement(*first, more));
    }
    moment.passed.answered = true;
    let counted = connection.options + 8 * blocks.len() as u32;
    segment(connection.to, connection.from, header, &options, counted, 0, ecn)
}

/// A segment whose options fill the room that the packet's size counts, if they need less.
fn segment(
    from: Address,
    to: Address,
    mut header: TcpHeader,
    options: &[TcpOptionElement],
    counted: u32,
    payload: u32,
    ecn: u8,
) -> Packet {
    // Those of a SYN with timestamps take 20 bytes, timestamps and three blocks 40.
    let fits = header.set_options(options);
    debug_assert!(fits.is_ok(), "{options:?}");
    let missing = (counted.min(MOST_OPTIONS) as usize).saturating_sub(header.options.len());
    if missing > 0 {
        let padding = std::iter::repeat_n(TcpOptionElement::Noop, missing);
        let padded: Vec<TcpOptionElement> = padding.chain(options.iter().cloned()).collect();
        let fits = header.set_options(&padded);
        debug_assert!(fits.is_ok(), "{padded:?}");
    }
    header.psh = payload > 0;
    let content = ZEROS.get(..payload as usize).unwrap_or(&ZEROS);
    header.checksum = header.calc_checksum_ipv4_raw(from, to, content).unwrap_or_default();
    let size = (Ipv4Header::MIN_LEN + header.header_len()) as u32 + payload;
    Packet::new(from, to, IpNumber::TCP, TTL, ecn, &header.to_bytes(), size)
}
