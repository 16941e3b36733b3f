//! The packets of whole sessions in virtual time: Wireshark dissects each, and each channel stays under its rate.

#![allow(clippy::unwrap_used)]

mod dissector;
mod rates;
mod session;
mod source;
