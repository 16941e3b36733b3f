//! Unicast TCP, counting packets, in the manner of the papers' simulator.
//!
//! A sender is a state machine like a protocol endpoint: acknowledgements and timeouts go in,
//! segments and one deadline come out. Rules are those of ns-2 2.35 and of the RFCs; [`TcpOptions`] has
//! profiles for a current Linux host and for two versions of ns-2. Sequence numbers count packets from 0; packet 0 plays the SYN.
//!
//! `connection` holds what all variants share, and each variant has its own file: start with `tahoe`, then
//! `reno`. `rfc_sack` recovers losses for RFC 6675 and CUBIC alike; BBR, in `bbr`, paces its packets and
//! recovers on the same board.

mod bbr;
mod connection;
mod cubic;
mod hystart;
mod limits;
mod newreno;
mod options;
mod proportion;
mod ranges;
mod reno;
mod rfc_board;
mod rfc_sack;
mod rto;
mod sack1;
mod scoreboard;
mod sender;
mod sink;
mod tahoe;
mod variant;
mod vegas;

pub(crate) use connection::Output;
pub use limits::TcpLimits;
pub use options::{TcpOptions, TcpProfile, TcpVariant};
pub(crate) use sender::Sender;
pub use sender::TcpState;
pub(crate) use sink::Sink;

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) seq: i64,
    /// Which of the connections that these ends have had one after another.
    pub(crate) incarnation: u32,
    /// CWR (RFC 3168): the window was cut since the last packet with CWR.
    pub(crate) reduced: bool,
}

#[cfg(test)]
impl Segment {
    /// A packet of the first connection, for tests of components that only forward packets.
    pub(crate) fn numbered(seq: i64) -> Segment {
        Segment { seq, incarnation: 0, reduced: false }
    }
}

/// Received packets [left, right) above the cumulative acknowledgement.
pub(crate) type Block = (i64, i64);

/// How many blocks an acknowledgement can carry.
pub(crate) const MAX_BLOCKS: usize = 3;

/// An acknowledgement: all packets up to `cumulative` have arrived (-1: none), and some blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) cumulative: i64,
    pub(crate) blocks: [Block; MAX_BLOCKS],
    pub(crate) block_count: u8,
    /// As that of the segments.
    pub(crate) incarnation: u32,
    /// ECE (RFC 3168): a mark arrived, and the sender has not yet confirmed a cut of its window.
    pub(crate) echo: bool,
}

impl Ack {
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.block_count)]
    }
}
