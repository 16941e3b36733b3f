//! Nodes: an endpoint joined to what it sends or receives, to the protection of its packets, and to what receivers say.
//!
//! A node is a state machine like an endpoint, one floor higher. Its host gives one input (datagrams, a time that has come),
//! takes all outputs, and reads one deadline. A host decides nothing: what the laboratory explores is what is deployed.

mod admission;
mod breaker;
mod completions;
mod demand;
mod evidence;
mod foreign;
mod overload;
mod packet_loss;
mod path;
mod receive_error;
mod receiver;
mod reports;
mod searching;
mod session_receiver;
mod sink;
mod source;
mod symbol_loss;

pub use demand::LevelDemand;
pub use packet_loss::{PacketLoss, RecentPackets};
pub use path::{Path, Paths};
pub use receive_error::ReceiveError;
pub use receiver::{Failure, LOOK_EVERY, Message, Output, Receiver, ReceiverSettings};
pub use reports::Reached;
pub use session_receiver::{
    Feedback, ReceiverCounters, ReceiverNote, SessionOutput, SessionReceiver, Stranger,
};
pub use sink::{Datagram, Datagrams, Discard, Packet as ReceivedPacket, Sink};
pub use source::{Content, Packet, Source, SourceCounters};

#[cfg(test)]
mod tests;
