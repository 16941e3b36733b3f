//! Announcements: formats as the RFCs have them, hostile input, and announcers and listeners on a network that loses.

mod directory;
mod network;
mod relays;
mod relocation;
mod rule;
mod sap;
mod sdp;
mod signed;
mod support;
mod url;
