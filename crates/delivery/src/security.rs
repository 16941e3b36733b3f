//! Who sent this, is it what they sent, and who may read it: keys, signatures, authenticated and
//! encrypted packets. Bytes in, bytes out; randomness is an argument.
//!
//! [`keys`], [`key_file`]: signing keys and group keys, and their files · [`signed`]: signatures over descriptions, announcements and
//! tables · [`sequence`]: numbers that are never given twice,
//! and the window that refuses replays · [`mac`]: the group-keyed MAC of RFC 6584 · [`feedback`]: the MAC of messages to the
//! source · [`encryption`]: packets that only members of the group can read · [`protection`]: either of the two on the path
//! of a packet · [`any_session`]: the same while the session is not known.
//!
//! `docs/security.md` says against whom each of them helps.

pub mod any_session;
pub mod encryption;
mod extension;
pub mod feedback;
pub mod key_file;
pub mod keys;
pub mod mac;
pub mod protection;
pub mod sequence;
pub mod signed;
