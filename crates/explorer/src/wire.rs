//! Packets as bytes, read without the code that is judged by them.

use layercast_delivery::packet::{HET_AUTH, View};

/// The channels of the simulated network: more than any session has.
pub(crate) const CHANNELS: u16 = 64;

/// The number of a protected packet (RFC 6584, section 5.1).
pub(crate) fn packet_number(bytes: &[u8]) -> Option<u64> {
    let view = View::new(bytes).ok()?;
    let (number, _) = view.extensions().find(HET_AUTH)?.split_at_checked(6)?;
    Some(number.iter().skip(1).fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
