//! Nodes: an endpoint joined to what it sends or receives, to the protection of its packets, and to what receivers say.
//!
//! A node is a state machine like an endpoint, one floor higher. Its host gives one input (datagrams, a time that has come),
//! takes all outputs, and reads one deadline. A host decides nothing: what the laboratory explores is what is deployed.

mod admission;
mod demand;
mod error;
mod packet_loss;
mod receiver;
mod relay;
mod reports;
mod session_receiver;
mod sink;
mod source;

pub use demand::LevelDemand;
pub use error::ReceiveError;
pub use packet_loss::{PacketLoss, RecentPackets};
pub use receiver::{Failure, Message, Output, Parents, Path, Paths, Receiver, ReceiverSettings};
pub use relay::{Above, Copies, Holder, Relay, RelayMessage, RelayOutput, RelaySettings, RelayState};
pub use reports::Reached;
pub use session_receiver::{
    Feedback, ForeignSender, ReceiverCounters, ReceiverNote, SessionOutput, SessionReceiver,
};
pub use sink::{Datagram, Datagrams, Discard, Packet as ReceivedPacket, Single, Sink};
pub use source::{Content, Packet, Source, SourceCounters};

#[cfg(test)]
mod tests;
