//! What a receiver counts.

/// What a receiver counted since it started. Most of it should stay at zero on a healthy network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data packets that counted.
    pub received: u64,
    /// Packets found missing.
    pub lost: u64,
    /// Packets with a congestion mark.
    pub marked: u64,
    /// Packets that came after they had been counted as lost.
    pub late: u64,
    /// Packets that came again.
    pub duplicate: u64,
    /// Packets that came while the channel was not held.
    pub stray: u64,
    /// Packets that no source of this session sends.
    pub invalid: u64,
    /// Packets of another session number.
    pub foreign: u64,
    /// Packets whose time stamp was not believed.
    pub suspect: u64,
    /// Times that the numbers were learned anew.
    pub resync: u64,
    /// Times that the whole session was learned anew.
    pub restarts: u64,
    /// Joins that the host could not make.
    pub join_failed: u64,
    /// Reports sent.
    pub reports: u64,
    /// Reports sent as the limiting receiver.
    pub limiting_reports: u64,
    /// Echoes that gave no sample.
    pub bad_echo: u64,
}
