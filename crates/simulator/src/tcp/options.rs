//! What can be set on a TCP connection.

use layercast_core::choices;
use layercast_core::units::{Duration, Size};

choices! {
    /// Which TCP, by its name in scenario files.
    pub enum TcpVariant {
        /// Fast retransmit, and a window of one packet after every loss.
        Tahoe = "tcp-tahoe",
        /// Fast retransmit and fast recovery; a partial acknowledgement ends recovery.
        Reno = "tcp-reno",
        /// As Reno, but a partial acknowledgement resends the next loss and recovery goes on.
        NewReno = "tcp-newreno",
        /// Selective acknowledgements with a counted pipe, the `Sack1` agent of ns-2.
        Sack = "tcp-sack",
        /// Selective acknowledgements with a pipe read off the board (RFC 6675).
        Sack6675 = "tcp-sack-6675",
        /// A window that follows the queueing delay (Brakmo and Peterson 1995), as ns-2 has it.
        Vegas = "tcp-vegas",
        /// A window that grows with the cube of time (RFC 9438), loss recovery by RFC 6675.
        Cubic = "tcp-cubic",
        /// A rate that follows what the path delivers (draft-ietf-ccwg-bbr-06), loss recovery by RFC 6675.
        /// It paces its packets: `overhead`, `max_burst`, `limited_transmit` and `ecn` have no effect.
        Bbr = "tcp-bbr",
    }
}

impl TcpVariant {
    /// Whether its receiver reports blocks of packets (RFC 2018).
    pub fn is_selective(self) -> bool {
        matches!(self, TcpVariant::Sack | TcpVariant::Sack6675 | TcpVariant::Cubic | TcpVariant::Bbr)
    }

    /// Whether it cuts its window for marks. What does not may not ask for any (RFC 3168, section 5).
    pub fn answers_marks(self) -> bool {
        self != TcpVariant::Bbr
    }
}

choices! {
    /// A named set of defaults.
    pub enum TcpProfile {
        /// ns-2 2.35: window 20, minimum timeout 0.2 s, first timeout 3 s.
        Ns2 = "ns2",
        /// ns-2 before 18 October 2004, as the thesis ran it: minimum timeout 1 s, first timeout 6 s,
        /// and the window limit raised out of the way.
        Ns2Year2004 = "ns2-2004",
    }
}

/// The parameters of a connection, sender and sink.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpOptions {
    /// Which TCP.
    pub variant: TcpVariant,
    /// Size of a data packet on the wire, headers included.
    pub packet_size: Size,
    /// Size of packet 0 and of an acknowledgement without blocks; each block adds 8 bytes.
    pub header_size: Size,
    /// The receiver's window in packets. It caps what is in flight, not the congestion window.
    pub window: u32,
    /// The congestion window after packet 0 is acknowledged, in packets.
    pub initial_window: u32,
    /// Granularity of round-trip time measurement.
    pub tick: Duration,
    /// Smallest retransmission timeout, before back-off.
    pub min_rto: Duration,
    /// Largest retransmission timeout.
    pub max_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Whether the first two duplicate acknowledgements each release a new packet (RFC 3042).
    pub limited_transmit: bool,
    /// Each time the window allows to send, the sender waits for a random time below this first. It
    /// breaks the rhythm in which flows of one period find a queue full or not.
    pub overhead: Duration,
    /// At most so many packets answer one acknowledgement; 0 for no limit.
    pub max_burst: u32,
    /// Whether data asks for marks in place of drops, and the sender answers them (RFC 3168).
    pub ecn: bool,
    /// Whether the sink delays acknowledgements.
    pub delayed_ack: bool,
    /// How long it delays them at most.
    pub ack_delay: Duration,
    /// Whether Vegas and the delayed acknowledgements keep faults of ns-2 that single connections
    /// show.
    pub ns2_compat: bool,
}

impl TcpOptions {
    /// The defaults of a profile.
    pub fn new(variant: TcpVariant, profile: TcpProfile) -> TcpOptions {
        let ns2 = TcpOptions {
            variant,
            packet_size: Size::from_bytes(1000),
            header_size: Size::from_bytes(40),
            window: 20,
            initial_window: 2,
            tick: Duration::from_ms(10),
            min_rto: Duration::from_ms(200),
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(3),
            limited_transmit: true,
            overhead: Duration::ZERO,
            max_burst: 0,
            ecn: false,
            delayed_ack: false,
            ack_delay: Duration::from_ms(100),
            ns2_compat: true,
        };
        match profile {
            TcpProfile::Ns2 => ns2,
            TcpProfile::Ns2Year2004 => TcpOptions {
                window: 10_000,
                min_rto: Duration::from_secs(1),
                initial_rto: Duration::from_secs(6),
                ..ns2
            },
        }
    }
}
