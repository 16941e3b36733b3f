//! NCA with AER: the congestion control of one nominated receiver, and repair servers at routers.
//!
//! Routers keep the packets that pass and answer requests for repairs on the links that sent them. Receivers
//! report their loss rate and round-trip time, routers report the worst below them, and the source nominates
//! the worst of all. The nominee alone acknowledges each packet, and the source runs TCP's window on its
//! acknowledgements. What is publicly known of the protocol, and what is our choice, is listed in
//! docs/protocols/nca.md.

mod caller;
mod header;
mod options;
mod receiver;
mod router;
mod source;
mod store;
mod window;

pub use self::header::{Ack, Answer, Candidate, Data, Header, Nack, Report};
pub use self::options::Options;
pub use self::receiver::Receiver;
pub use self::router::Router;
pub use self::source::Source;
