//! What can be set on a TCP connection.

use layercast_core::option::{Above, OptionError, Options as _, RawValue};
use layercast_core::units::{Duration, Rate, Size};
use layercast_core::{choices, options};

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
        /// A host with a current Linux kernel whose buffers are large enough for any path.
        Linux = "linux",
        /// ns-2 2.35: window 20, minimum timeout 0.2 s, first timeout 3 s.
        Ns2 = "ns2",
        /// ns-2 before 18 October 2004, as the thesis ran it: minimum timeout 1 s, first timeout 6 s,
        /// and the window limit raised out of the way.
        Ns2Year2004 = "ns2-2004",
        /// ns-2 of the year 2000: window 20, an initial window of 1, a tick of 0.1 s that also bounds the timeout from
        /// below (two ticks), first timeout 6 s, no limited transmit. From the comments of 2.35's `ns-default.tcl`,
        /// which date its changes, and the file of a release of the time.
        Ns2Year2000 = "ns2-2000",
    }
}

options! {
    /// The parameters of a connection, sender and sink; the defaults here are those of ns-2 2.35, and
    /// [`TcpOptions::new`] has those of all profiles.
    pub struct TcpOptions {
        /// Where the defaults of all others come from: a current Linux host, ns-2 2.35, ns-2 before
        /// 18 October 2004, or ns-2 of 2000.
        profile: TcpProfile = TcpProfile::Ns2;
        /// Data packets on the wire, headers included. Those of `udp` have 1000 bytes by default.
        packet_size: Size = Size::from_bytes(1000), Above(Size::from_bytes(0));
        /// Packet 0, which plays the SYN, and acknowledgements on the wire; each block of a selective one
        /// adds 8 bytes.
        ack_size: Size = Size::from_bytes(40), Above(Size::from_bytes(0));
        /// The receiver's window in packets. It caps what is in flight, not the congestion window.
        window: u32 = 20, 1;
        /// The congestion window after packet 0 is acknowledged, in packets.
        initial_window: u32 = 2, 1;
        /// Windows grow by the packets that an acknowledgement covers, not by one for each acknowledgement
        /// (RFC 3465, without its limit before the first timeout, as in Linux).
        byte_counting: bool = false;
        /// Whether CUBIC leaves its first slow start when the round-trip time rises (HyStart++, RFC 9406).
        /// Other variants have no use for it.
        hystart: bool = false;
        /// Whether recovery with a pipe read off the board sends in proportion to what arrives (PRR,
        /// RFC 9937): `tcp-sack-6675` and `tcp-cubic`.
        prr: bool = false;
        /// The smallest retransmission timeout, before back-off; never less than two ticks. With `linux` it
        /// is the least that is added to the smoothed round-trip time, as in that kernel.
        min_rto: Duration = Duration::from_ms(200);
        /// The largest retransmission timeout.
        max_rto: Duration = Duration::from_secs(60), Above(Duration::ZERO);
        /// The retransmission timeout before the first measurement.
        initial_rto: Duration = Duration::from_secs(3), Above(Duration::ZERO);
        /// The granularity of the retransmission timer and of the measured round-trip time.
        tick: Duration = Duration::from_ms(10), Above(Duration::ZERO);
        /// Acknowledge every second packet only, or after `ack_delay`.
        delayed_ack: bool = false;
        /// How long the sink delays acknowledgements at most.
        ack_delay: Duration = Duration::from_ms(100), Above(Duration::ZERO);
        /// So many packets at the start of a connection are acknowledged at once, though acknowledgements
        /// are delayed.
        quick_acks: u32 = 0;
        /// Whether the first two duplicate acknowledgements each release a new packet (RFC 3042).
        limited_transmit: bool = true;
        /// Senders wait for a random time below this before they use their window. A packet's time on the
        /// bottleneck breaks the rhythm of equal flows; automatic is that of the slowest link of each flow's path.
        overhead: Option<Duration> = Some(Duration::ZERO);
        /// At most so many packets answer one acknowledgement; 0 for no limit.
        max_burst: u32 = 0;
        /// Whether data asks queues for marks in place of drops, and senders answer them (RFC 3168).
        ecn: bool = false;
    } fixed {
        /// Which TCP.
        variant: TcpVariant = TcpVariant::Sack;
        /// Whether `min_rto` is the least that is added to the smoothed round-trip time, and not the least
        /// of their sum.
        min_rto_on_top: bool = false;
        /// Whether Vegas and the delayed acknowledgements keep faults of ns-2 that single connections
        /// show.
        ns2_compat: bool = true;
    }
}

/// A window that no path fills: 1.5 GB in packets of 1500 bytes.
const NO_WINDOW: u32 = 1_000_000;

impl TcpOptions {
    /// The defaults of a profile.
    pub fn new(variant: TcpVariant, profile: TcpProfile) -> TcpOptions {
        let usual = TcpOptions { variant, profile, ..TcpOptions::default() };
        match profile {
            TcpProfile::Linux => TcpOptions {
                packet_size: Size::from_bytes(1500),
                // With timestamps, which take 12 bytes.
                ack_size: Size::from_bytes(52),
                window: NO_WINDOW,
                initial_window: 10,
                byte_counting: true,
                hystart: true,
                prr: true,
                initial_rto: Duration::from_secs(1),
                max_rto: Duration::from_secs(120),
                tick: Duration::from_ms(1),
                delayed_ack: true,
                ack_delay: Duration::from_ms(40),
                quick_acks: 16,
                overhead: Some(Duration::from_ms(1)),
                min_rto_on_top: true,
                ns2_compat: false,
                ..usual
            },
            TcpProfile::Ns2 => usual,
            TcpProfile::Ns2Year2004 => TcpOptions {
                window: 10_000,
                min_rto: Duration::from_secs(1),
                initial_rto: Duration::from_secs(6),
                ..usual
            },
            TcpProfile::Ns2Year2000 => TcpOptions {
                initial_window: 1,
                min_rto: Duration::ZERO,
                initial_rto: Duration::from_secs(6),
                tick: Duration::from_ms(100),
                limited_transmit: false,
                ..usual
            },
        }
    }

    /// The same for a path whose slowest link has this rate, where what is automatic follows from it.
    #[must_use]
    pub(crate) fn on_path(&self, slowest: Rate) -> TcpOptions {
        let overhead = self.overhead.unwrap_or_else(|| slowest.time_to_send(self.packet_size));
        TcpOptions { overhead: Some(overhead), ..self.clone() }
    }

    /// Sets an option. A profile sets all others too.
    ///
    /// # Errors
    /// As [`Options::set`](layercast_core::option::Options::set).
    pub fn set_option(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        self.set(name, value)?;
        if name == "profile" {
            *self = TcpOptions::new(self.variant, self.profile);
        }
        Ok(())
    }
}
