//! Members of a session as endpoints name them.

/// A member of the session that can be addressed individually. The host knows its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u32);
