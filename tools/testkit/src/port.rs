//! Ports of tests.

/// The port with a number, of this test process. It is below those that the system gives to sockets that name none (from 32768 on,
/// ip(7)): one of these may have any port of theirs.
#[must_use]
pub fn port(number: u8) -> u16 {
    (10_000 + (std::process::id() * 256 + u32::from(number)) % 22_000) as u16
}
