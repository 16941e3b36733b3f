//! The equation as a source applies it, and what TFRC-SP changes in it (RFC 4828, section 3).

use super::feedback::Feedback;
use layercast_core::units::{Duration, Size};
use layercast_kit::equation::{Formula, Path};
use layercast_kit::fair::FairEquation;
use layercast_kit::response::Response;

/// The parameters of TFRC-SP, for small packets (RFC 4828, section 3). Its source and receiver
/// count the data in packets, without the headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallPackets {
    /// The packet size in the equation, without headers.
    pub nominal: Size,
    /// The headers of each packet.
    pub header: Size,
    /// The minimum time between two packets.
    pub spacing: Duration,
}

impl SmallPackets {
    /// The data in a packet of this size on the wire, at least a byte.
    pub fn data(&self, wire: Size) -> Size {
        Size::from_bytes(wire.as_bytes().saturating_sub(self.header.as_bytes()).max(1))
    }
}

/// The equation with its parameters except for the path's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairRate {
    /// Whose rate is fair, and the model of Reno's.
    pub equation: FairEquation,
    /// Packets for each acknowledgement of the modelled TCP.
    pub packets_per_ack: f64,
    /// The packet size in the equation, in bytes.
    pub packet_bytes: f64,
    /// The share of the equation's rate that a source may use.
    pub share: f64,
}

impl FairRate {
    /// The whole rate of Reno for packets of this many bytes, each acknowledged.
    pub const fn plain(formula: Formula, packet_bytes: f64) -> FairRate {
        let equation = FairEquation { fair_to: Response::Reno, formula };
        FairRate { equation, packets_per_ack: 1.0, packet_bytes, share: 1.0 }
    }

    /// The rate for small packets with this much data: as much as a TCP with packets of the
    /// nominal size, reduced by the share of the headers.
    pub fn small(formula: Formula, small: &SmallPackets, data_bytes: f64) -> FairRate {
        let share = data_bytes / (data_bytes + f64::from(small.header.as_bytes()));
        FairRate { share, ..FairRate::plain(formula, f64::from(small.nominal.as_bytes())) }
    }

    /// The rate in byte/s; none if nothing was lost.
    pub fn rate(&self, report: &Feedback) -> Option<f64> {
        let path = Path::from_secs(self.packet_bytes, report.rtt_s, report.rto_s);
        let path = Path { packets_per_ack: self.packets_per_ack, ..path };
        let rate = self.equation.rate(&path, report.loss).ok()?.known()?;
        Some(self.share * rate.as_bytes_per_s())
    }
}
