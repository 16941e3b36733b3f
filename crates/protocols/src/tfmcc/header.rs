//! What TFMCC's packets carry (RFC 4654, section 2.2).

use core::fmt;

use layercast_core::contract;
use layercast_core::units::{Duration, Rate, WireSeq};
use layercast_kit::estimator::MAX_RTT;
pub use layercast_kit::feedback::ReceiverId;

/// A rate in 16 bits: 5 of exponent, 11 of mantissa, from 100 bit/s to 430 Gbit/s with an error below
/// 0.03 % (RFC 4654, section 2.2.1, takes 5 and 7). The largest number stands for no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatRate(pub u16);

const UNIT_BPS: f64 = 100.0;
const MANTISSA_BITS: u32 = 11;
/// The exponent of 1 in a double, moved to the position of ours.
const BIAS: u64 = 1023 << MANTISSA_BITS;
/// How many bits of a double's mantissa are left out.
const LEFT_OUT: u32 = 52 - MANTISSA_BITS;

impl FloatRate {
    /// No bound.
    pub const UNBOUNDED: FloatRate = FloatRate(u16::MAX);

    /// The nearest finite form.
    pub fn from_rate(rate: Rate) -> FloatRate {
        // A double is an exponent followed by a mantissa already. Rounding up may carry into the exponent,
        // which is the right number.
        let bits = (rate.as_bps() / UNIT_BPS).max(1.0).to_bits() + (1 << (LEFT_OUT - 1));
        let code = (bits >> LEFT_OUT).saturating_sub(BIAS);
        FloatRate(code.min(u64::from(u16::MAX - 1)) as u16)
    }

    /// The rate; none without a bound.
    pub fn rate(self) -> Option<Rate> {
        let units = f64::from_bits((u64::from(self.0) + BIAS) << LEFT_OUT);
        (self != FloatRate::UNBOUNDED).then(|| Rate::from_bps(units * UNIT_BPS))
    }
}

/// A receiver's time stamp on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The receiver.
    pub receiver: ReceiverId,
    /// The time stamp in microseconds of that receiver's clock, plus the time that the source held it.
    pub timestamp_us: u32,
}

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The session: drawn at random by the source. Another one means that the source restarted.
    pub session: u32,
    /// The number of the packet.
    pub seq: WireSeq,
    /// When it was sent, in microseconds of the source's clock.
    pub timestamp_us: u32,
    /// Whether the session ends with this packet.
    pub end_of_session: bool,
    /// The feedback round, wrapping.
    pub round: u8,
    /// The largest round-trip time of the session, in microseconds.
    pub max_rtt_us: u32,
    /// The lowest rate reported in this round, as it was reported.
    pub suppression: FloatRate,
    /// The rate at which the source sends.
    pub rate: FloatRate,
    /// The current limiting receiver.
    pub limiting: Option<ReceiverId>,
    /// A time stamp for a receiver to measure its round-trip time.
    pub echo: Option<Echo>,
}

/// The header of a report from a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session.
    pub session: u32,
    /// The receiver that reports.
    pub receiver: ReceiverId,
    /// The time of the report, in microseconds of the receiver's clock.
    pub timestamp_us: u32,
    /// The newest time stamp received, in microseconds of the source's clock, plus the time since.
    pub heard_us: u32,
    /// The newest feedback round received.
    pub round: u8,
    /// Whether the receiver has measured its round-trip time.
    pub has_rtt: bool,
    /// Whether it has had a loss event.
    pub has_loss: bool,
    /// Whether it leaves the session.
    pub leaving: bool,
    /// The rate it asks for.
    pub rate: FloatRate,
}

/// The header of a TFMCC packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Data),
    /// Feedback, from a receiver.
    Report(Report),
}

impl contract::Header for Header {}

/// Why bytes are not a header of TFMCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The header or the extension has a wrong length.
    Length {
        /// How many there are.
        have: usize,
    },
    /// The first byte is not that of a report.
    Kind(u8),
    /// Flags that have no meaning.
    Flags(u8),
    /// A receiver's number is zero where one must be.
    Receiver,
    /// The largest round-trip time is zero or above 64 s.
    MaxRtt(u32),
    /// A rate that must have a bound has none.
    Rate,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Length { have } => write!(f, "a header cannot have {have} bytes"),
            HeaderError::Kind(kind) => write!(f, "reports do not begin with {kind:#04x}"),
            HeaderError::Flags(flags) => write!(f, "unknown flags in {flags:#04x}"),
            HeaderError::Receiver => write!(f, "the receiver's number is zero"),
            HeaderError::MaxRtt(us) => write!(f, "the largest round-trip time cannot be {us} us"),
            HeaderError::Rate => write!(f, "a rate that must be bounded is not"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Data {
    /// The largest round-trip time.
    pub fn max_rtt(&self) -> Duration {
        Duration::from_us(u64::from(self.max_rtt_us))
    }

    /// Whether a decoder would accept it. Simulated headers are values and are not decoded, so
    /// endpoints check them again.
    ///
    /// # Errors
    /// What is wrong, if something is.
    pub fn check(&self) -> Result<(), HeaderError> {
        if self.max_rtt_us == 0 || self.max_rtt() > MAX_RTT {
            return Err(HeaderError::MaxRtt(self.max_rtt_us));
        }
        if self.rate == FloatRate::UNBOUNDED { Err(HeaderError::Rate) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_in_16_bits_is_near_the_rate() {
        let mut bps = 100.0;
        while bps < 4e11 {
            let back = FloatRate::from_rate(Rate::from_bps(bps)).rate().unwrap().as_bps();
            assert!((back / bps - 1.0).abs() < 0.0003, "{bps} {back}");
            bps *= 1.001;
        }
        for bps in [0.0, 1.0, 100.0] {
            assert_eq!(FloatRate::from_rate(Rate::from_bps(bps)), FloatRate(0));
        }
        assert_eq!(FloatRate::from_rate(Rate::from_bps(f64::MAX)), FloatRate(u16::MAX - 1));
        assert_eq!(FloatRate::UNBOUNDED.rate(), None);
        // An encoded rate is decoded to the same value, so a rate that is passed on does not drift.
        for code in 0..u16::MAX {
            assert_eq!(FloatRate::from_rate(FloatRate(code).rate().unwrap()), FloatRate(code));
        }
    }
}
