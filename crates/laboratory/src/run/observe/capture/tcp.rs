//! TCP segments. The simulator counts packets; here they become bytes, from sequence number 0 on.

use etherparse::{IpNumber, TcpHeader, TcpOptionElement};

use super::super::addresses::{Address, Connection};
use super::packet::{Packet, payload_length};

const TTL: u8 = 64;
/// Both ends scale the window by 2^14 (RFC 7323), so that it never seems to limit.
const WINDOW_SCALE: u8 = 14;

/// Payload has no content, and counts in the checksum as zeros.
static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// What has to be remembered of the connections.
#[derive(Clone, Debug)]
pub(super) struct TcpPackets {
    /// Whether the answer to the SYN has been seen, by number of the connection.
    answered: Vec<bool>,
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

/// What a SYN offers: the segment size, selective acknowledgements, the window's scale.
fn syn_options(connection: &Connection) -> [TcpOptionElement; 6] {
    use TcpOptionElement::{MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, WindowScale};
    let size = connection.payload.min(u32::from(u16::MAX)) as u16;
    [MaximumSegmentSize(size), Noop, WindowScale(WINDOW_SCALE), SelectiveAcknowledgementPermitted, Noop, Noop]
}

/// A data packet. Packet 0 is the SYN, but for variants whose packet 0 has data.
pub(super) fn data(connection: &Connection, seq: i64, reduced: bool, size: u32, ecn: u8) -> Packet {
    let (from_port, to_port) = (connection.from_port, connection.to_port);
    let mut header = TcpHeader::new(from_port, to_port, offset(connection, seq), u16::MAX);
    let options = if seq == 0 && connection.has_syn {
        header.syn = true;
        // Both flags ask for ECN (RFC 3168, section 6.1.1).
        (header.ece, header.cwr) = (connection.ecn, connection.ecn);
        syn_options(connection).to_vec()
    } else {
        (header.ack, header.acknowledgment_number) = (true, u32::from(connection.has_syn));
        header.cwr = reduced;
        Vec::new()
    };
    segment((connection.from, connection.to), header, &options, size, ecn)
}

impl TcpPackets {
    /// For so many connections.
    pub(super) fn new(connections: usize) -> TcpPackets {
        TcpPackets { answered: vec![false; connections] }
    }

    /// An acknowledgement; the first one of packet 0 is the answer to the SYN.
    pub(super) fn ack(
        &mut self,
        (number, connection): (usize, &Connection),
        cumulative: i64,
        blocks: &[(i64, i64)],
        echo: bool,
        size: u32,
        ecn: u8,
    ) -> Packet {
        let (from_port, to_port) = (connection.to_port, connection.from_port);
        let mut header = TcpHeader::new(from_port, to_port, u32::from(connection.has_syn), u16::MAX);
        (header.ack, header.acknowledgment_number) = (true, offset(connection, cumulative + 1));
        header.ece = echo;
        let mut options = Vec::new();
        if connection.has_syn && cumulative == 0 && blocks.is_empty() && !self.answered[number] {
            (header.syn, header.sequence_number) = (true, 0);
            // It agrees to ECN.
            header.ece = connection.ecn;
            options.extend(syn_options(connection));
        } else if let Some((first, rest)) = blocks.split_first() {
            let edges = |&(left, right): &(i64, i64)| (offset(connection, left), offset(connection, right));
            let mut more = [None; 3];
            more.iter_mut().zip(rest).for_each(|(more, block)| *more = Some(edges(block)));
            options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
            options.push(TcpOptionElement::SelectiveAcknowledgement(edges(first), more));
        }
        self.answered[number] = true;
        segment((connection.to, connection.from), header, &options, size, ecn)
    }
}

fn segment(
    ends: (Address, Address),
    mut header: TcpHeader,
    options: &[TcpOptionElement],
    size: u32,
    ecn: u8,
) -> Packet {
    // Six options of a SYN and three blocks both fit into the 40 bytes that there are.
    let fits = header.set_options(options);
    debug_assert!(fits.is_ok(), "{options:?}");
    let payload = payload_length(header.header_len(), size);
    header.psh = payload > 0;
    header.checksum = header.calc_checksum_ipv4_raw(ends.0, ends.1, &ZEROS[..payload]).unwrap_or_default();
    Packet::new(ends, IpNumber::TCP, TTL, ecn, &header.to_bytes(), size)
}
