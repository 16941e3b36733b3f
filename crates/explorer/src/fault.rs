//! Faults.

use layercast_core::units::{Duration, Time};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// A receiver's program is killed, and starts again later.
    KillReceiver {
        /// Which.
        receiver: usize,
        /// When it starts again.
        down: Duration,
        /// Whether the machine loses its power.
        power: bool,
    },
    /// A receiver's program is killed in the midst of an operation of its disk.
    KillAtOperation {
        /// Which.
        receiver: usize,
        /// After how many further operations.
        after: u32,
        /// When it starts again.
        down: Duration,
        /// Whether the machine loses its power.
        power: bool,
    },
    /// The source is killed, and starts again later with other numbers.
    KillSource {
        /// When it starts again.
        down: Duration,
        /// Whether the machine loses its power.
        power: bool,
    },
    /// The source's state is damaged, which is noticed when it is started again.
    DamageState,
    /// Writes to the source's disk, which has its state, fail.
    FailingState {
        /// How many of them.
        share: f64,
        /// For how long.
        lasts: Duration,
    },
    /// The source's disk is full.
    FullState {
        /// For how long.
        lasts: Duration,
    },
    /// No packets reach a receiver, and none leave it.
    Partition {
        /// Which; none for all.
        receiver: Option<usize>,
        /// For how long.
        lasts: Duration,
    },
    /// A disk has space for no more than this.
    DiskFull {
        /// Whose.
        receiver: usize,
        /// The bytes that are left.
        left: u64,
        /// For how long.
        lasts: Duration,
    },
    /// Writes to a disk fail.
    FailingDisk {
        /// Whose.
        receiver: usize,
        /// How many of them.
        share: f64,
        /// For how long.
        lasts: Duration,
    },
    /// The clock of a receiver jumps ahead, as after the sleep of a machine.
    ClockJump {
        /// Whose.
        receiver: usize,
        /// How far.
        by: Duration,
    },
    /// Packets that the source did not send arrive at a receiver.
    Forge {
        /// At whom.
        receiver: usize,
        /// How many.
        count: u32,
        /// What they are.
        kind: Forgery,
    },
    /// Announcements that no source has sent come to a receiver.
    ForgeAnnouncements {
        /// To whom.
        receiver: usize,
        /// How many.
        count: u32,
        /// What they are.
        kind: ForgedAnnouncement,
    },
    /// No multicast reaches a receiver.
    LoseMulticast {
        /// Which.
        receiver: usize,
        /// For how long.
        lasts: Duration,
    },
    /// A relay is killed, and starts again later.
    KillRelay {
        /// Which.
        relay: usize,
        /// When it starts again; none for never.
        down: Option<Duration>,
    },
    /// The AMT relay is killed, and starts again later.
    KillAmtRelay {
        /// When it starts again.
        down: Duration,
    },
    /// Messages between the AMT relay and its gateway are forged, to both.
    ForgeAmt {
        /// How many.
        count: u32,
        /// What they are; `OtherSession` is a replay from another address.
        kind: Forgery,
    },
    /// Another source sends other files to the same groups.
    SecondSource {
        /// For how long.
        lasts: Duration,
    },
}

/// What forged packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// Random bytes.
    Random,
    /// Packets of the session with bits flipped.
    Mutated,
    /// Packets of the session that were sent earlier.
    Replayed,
    /// Packets of the session with the number of another.
    OtherSession,
}

/// What forged announcements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgedAnnouncement {
    /// Random bytes.
    Random,
    /// Genuine ones with bits flipped.
    Mutated,
    /// Genuine ones that were sent earlier.
    Replayed,
    /// Those of another session of the same name.
    OtherSession,
    /// They say that the session has ended.
    Ended,
    /// Those of very many sessions.
    Flood,
}

/// A fault and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduled {
    /// When.
    pub at: Time,
    /// What.
    pub fault: Fault,
}
