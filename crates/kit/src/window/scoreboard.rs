//! Which of the packets sent have been acknowledged by one receiver, from acknowledgements that name the
//! highest number received and which of the 32 numbers up to it came (draft-ietf-rmt-bb-pgmcc-03, section 2.1.2).

use layercast_core::units::Seq;

/// How many numbers an acknowledgement covers.
pub const REACH: u64 = 32;

/// The state of the newest numbers. Of fixed size: older numbers were acknowledged, or never will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoreboard {
    /// The highest number that was acknowledged or written off.
    high: Seq,
    /// Bit i: the fate of number `high - i` is known.
    done: u64,
    /// Bit i: it was received.
    received: u64,
}

/// The result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Packets that are acknowledged for the first time.
    pub acknowledged: u64,
    /// Packets out of reach of any acknowledgement: their fate stays unknown, but they no longer count as
    /// in flight.
    pub unknown: u64,
    /// Packets found lost.
    pub lost: u64,
    /// The newest of those.
    pub newest_lost: Option<Seq>,
}

impl Scoreboard {
    /// A scoreboard on which all numbers before `next` are resolved.
    pub fn before(next: Seq) -> Scoreboard {
        Scoreboard { high: Seq(next.0.saturating_sub(1)), done: u64::MAX, received: 0 }
    }

    /// The first number whose fate is not known.
    pub fn open(&self) -> Seq {
        match (!self.done).checked_ilog2() {
            Some(oldest) => Seq(self.high.0.saturating_sub(u64::from(oldest))),
            None => self.high.next(),
        }
    }

    /// An acknowledgement: bit i of `came` says whether number `highest - i` was received. A number that is
    /// missing is lost once `reorder` higher ones were received (draft, section 2.2: 3).
    pub fn on_acknowledgement(&mut self, highest: Seq, came: u32, reorder: u32) -> Progress {
        let mut progress = Progress::default();
        if highest > self.high {
            self.advance(highest, &mut progress);
        }
        let behind = self.high.0 - highest.0;
        if behind >= u64::from(u64::BITS) {
            return progress;
        }
        let came = u64::from(came) << behind;
        let fresh = came & !self.done;
        progress.acknowledged = u64::from(fresh.count_ones());
        self.done |= fresh;
        self.received |= fresh;
        // Numbers that neither this acknowledgement nor any later one covers.
        let reach = behind + REACH;
        let beyond = if reach < 64 { !self.done & (u64::MAX << reach) } else { 0 };
        progress.unknown += u64::from(beyond.count_ones());
        self.done |= beyond;
        self.find_lost(reorder, &mut progress);
        progress
    }

    fn advance(&mut self, highest: Seq, progress: &mut Progress) {
        let by = highest.0 - self.high.0;
        if by >= 64 {
            progress.unknown += u64::from((!self.done).count_ones()) + (by - 64);
            (self.done, self.received) = (0, 0);
        } else {
            let falling = !self.done & !(u64::MAX >> by);
            progress.unknown += u64::from(falling.count_ones());
            self.done <<= by;
            self.received <<= by;
        }
        self.high = highest;
    }

    fn find_lost(&mut self, reorder: u32, progress: &mut Progress) {
        let mut above = self.received;
        for _ in 1..reorder {
            above &= above.wrapping_sub(1);
        }
        // The index of the received number that has enough received numbers up to it; all older holes are
        // lost.
        let index = above.trailing_zeros();
        let lost = if index < 63 { !self.done & (u64::MAX << (index + 1)) } else { 0 };
        if lost != 0 {
            progress.lost = u64::from(lost.count_ones());
            progress.newest_lost = Some(Seq(self.high.0.saturating_sub(u64::from(lost.trailing_zeros()))));
            self.done |= lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Scoreboard {
        Scoreboard::before(Seq(1))
    }

    #[test]
    fn a_missing_number_is_lost_after_three_higher_ones() {
        let mut board = board();
        assert_eq!(board.open(), Seq(1));
        assert_eq!(board.on_acknowledgement(Seq(1), !0, 3).acknowledged, 1);
        // Number 2 is missing.
        for (highest, came) in [(3, 0b101), (4, 0b1011)] {
            let progress = board.on_acknowledgement(Seq(highest), came, 3);
            assert_eq!((progress.acknowledged, progress.lost), (1, 0));
            assert_eq!(board.open(), Seq(2));
        }
        let progress = board.on_acknowledgement(Seq(5), 0b1_0111, 3);
        let expected = Progress { acknowledged: 1, lost: 1, newest_lost: Some(Seq(2)), unknown: 0 };
        assert_eq!(progress, expected);
        assert_eq!(board.open(), Seq(6));
        // It is reported once, and a late packet changes nothing.
        assert_eq!(board.on_acknowledgement(Seq(5), 0b1_1111, 3), Progress::default());
    }

    #[test]
    fn lost_acknowledgements_are_made_up_for_by_later_ones() {
        let mut board = board();
        let progress = board.on_acknowledgement(Seq(20), u32::MAX, 3);
        assert_eq!((progress.acknowledged, progress.lost, progress.unknown), (20, 0, 0));
        // One acknowledgement for 40 packets: eight are out of reach.
        let progress = board.on_acknowledgement(Seq(60), u32::MAX, 3);
        assert_eq!((progress.acknowledged, progress.lost, progress.unknown), (32, 0, 8));
        let progress = board.on_acknowledgement(Seq(1060), u32::MAX, 3);
        assert_eq!((progress.acknowledged, progress.lost, progress.unknown), (32, 0, 968));
    }

    #[test]
    fn an_old_acknowledgement_says_what_it_can() {
        let mut board = board();
        board.on_acknowledgement(Seq(10), 1, 3);
        let progress = board.on_acknowledgement(Seq(9), u32::MAX, 3);
        assert_eq!((progress.acknowledged, progress.lost), (9, 0));
        board.on_acknowledgement(Seq(200), u32::MAX, 3);
        assert_eq!(board.on_acknowledgement(Seq(100), u32::MAX, 3), Progress::default());
    }

    #[test]
    fn every_packet_is_accounted_for_once() {
        let mut stream = layercast_core::stream::Stream::new(1, "board");
        let (mut board, mut highest, mut total) = (board(), 0, 0);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20_000 {
            let back = stream.bits() % 3;
            let ahead = if stream.chance(0.01) { stream.bits() % 150 } else { stream.bits() % 4 };
            highest += ahead;
            let reported = Seq(u64::max(1, highest.saturating_sub(if ahead == 0 { 10 * back } else { 0 })));
            highest = highest.max(reported.0);
            seen.insert(reported);
            let progress = board.on_acknowledgement(reported, stream.bits() as u32, 3);
            total += progress.acknowledged + progress.unknown + progress.lost;
            assert!(board.open().0 <= highest + 1 && board.high == Seq(highest));
            let open = (!board.done).count_ones();
            assert_eq!(total + u64::from(open), highest, "acknowledged, lost, unknown or open");
        }
        assert!(seen.len() > 1000);
    }
}
