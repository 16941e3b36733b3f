//! The packets of whole sessions in virtual time: Wireshark dissects each, and each channel stays under its rate.

mod dissector;
mod rates;
mod session;
mod source;
