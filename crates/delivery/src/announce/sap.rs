//! Packets of the Session Announcement Protocol (RFC 2974).
//!
//! ```text
//!      0        1        2        3
//!      +--------+--------+--------+--------+
//!    0 |  flags |auth len|  message id hash|   flags: version 1 (3 bits), A IPv6, R, T deletion, E, C
//!    4 | originating source (32 or 128)    |
//!      +-----------------------------------+
//!      | authentication data, in words     |   auth len of them
//!      +-----------------------------------+
//!      | payload type, a zero byte         |   may be missing for SDP
//!      | payload                           |
//!      +-----------------------------------+
//! ```
//!
//! # Signatures
//!
//! They are in the authentication header and not in an attribute of the SDP: a deletion carries nothing of the SDP but
//! its `o=` line, and section 4 wants it authenticated as the announcement was; sections 4 and 5 compare
//! authentication headers when they say who may change or delete a session; and the signature covers the whole packet,
//! header included (section 8). The authentication types of the RFC are PGP and CMS. Ours is neither: a signature
//! of either format is over the packet alone, without a statement of what it is for, so that the same key's signature of something
//! else could be passed off as an announcement. Hence a type of our own, [`AUTH_ED25519`]. The RFC leaves it undefined and
//! says that listeners should ignore such types, so a listener that does not know ours takes the announcement as one
//! without authentication, which is what it is worth there.

mod groups;
mod packet;

pub use groups::{LISTEN, PORT, announcement_group, is_global, is_local};
pub use packet::{AUTH_ED25519, Authentication, Kind, MAX_BYTES, Message, Packet, SapError, message_hash};
