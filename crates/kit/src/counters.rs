//! What endpoints count, for gauges. Each protocol counts what it can, and shows that.

layercast_core::counters! {
    /// What a receiver counted since it started. Most of it should stay at zero on a healthy network.
    pub struct ReceiverCounters {
        /// Data packets that counted.
        received in "packets",
        /// Packets found missing.
        lost in "packets",
        /// Of the received ones, those with a congestion mark.
        marked in "packets",
        /// Packets that came after they had been counted as lost.
        late in "packets",
        /// Packets that came again.
        duplicate in "packets",
        /// Packets of a channel that is not held: what is on its path after a leave.
        stray in "packets",
        /// Packets that no source of this session sends.
        invalid in "packets",
        /// Packets of another session number.
        foreign in "packets",
        /// Packets whose time stamp was implausible.
        suspect in "packets",
        /// Times that a channel's numbers were learned again.
        resync in "times",
        /// Times that the whole session was learned again.
        restarts in "times",
        /// Joins that the host could not make.
        join_failed in "joins",
        /// Joined layers that stayed silent.
        join_silent in "joins",
        /// Reports sent.
        reports in "reports",
        /// Reports sent as the limiting receiver.
        limiting_reports in "reports",
        /// Echoes that gave no sample of the round-trip time.
        bad_echo in "echoes",
    }
}

layercast_core::counters! {
    /// What a source counted since it started.
    pub struct SourceCounters {
        /// Data packets sent.
        sent in "packets",
        /// Data packets that the host refused to send.
        refused in "packets",
        /// Reports accepted.
        reports in "reports",
        /// Reports of others than the limiting receiver.
        other_reports in "reports",
        /// Reports above the limit.
        surplus_reports in "reports",
        /// Packets of another session or channel, and reports that cannot be true.
        invalid in "packets",
        /// Echoes put into packets.
        echoes in "echoes",
        /// Feedback rounds that have ended, of all layers.
        rounds in "rounds",
        /// Times that no report came for too long.
        timeouts in "times",
        /// Receivers given up for their silence.
        given_up in "receivers",
    }
}
