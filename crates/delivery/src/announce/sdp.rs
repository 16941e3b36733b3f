//! Session descriptions in SDP (RFC 8866) with the attributes for FLUTE (draft-ietf-rmt-flute-sdp-03, as 3GPP TS 26.346
//! section 7.3 uses them).
//!
//! ```text
//! v=0
//! o=- 3913056000 1 IN IP4 192.0.2.1
//! s=News of today
//! t=0 0
//! a=source-filter: incl IN IP4 * 192.0.2.1
//! a=flute-tsi:305419896
//! a=flute-ch:3
//! a=FEC-declaration:0 encoding-id=0
//! a=FEC-declaration:1 encoding-id=6
//! a=x-layercast:layercast = 1
//! a=x-layercast:protocol = "elm"
//! a=x-layercast:layers = [128000, 128000, 256000]
//! m=application 5500 FLUTE/UDP *
//! c=IN IP4 239.1.2.0/16/3
//! b=AS:512
//! a=FEC:0
//! a=FEC:1
//! ```
//!
//! What FLUTE does not define is the text of [`crate::session`], a line in each `x-layercast` attribute; its source,
//! group and number are left out, since SDP has lines for them. So a receiver that knows only FLUTE can take the base
//! layer, or all layers, and ours learns everything.
//!
//! Channels of consecutive addresses are one `m=` line with a count after the TTL. Then `b=AS` is the rate of all of them
//! in kbit/s, as RFC 8866 (section 5.8) defines it for an `m=` line. Others may write an `m=` line for each channel.

mod description;
mod error;
mod fields;
mod limits;
mod read;
mod session;
mod write;

pub use description::{Description, Fec, Media, Origin};
pub use error::{SdpError, SdpProblem};
pub use limits::{PARTS_MAX, SDP_MAX, TSI_MAX};
