//! The receivers that a source knows one by one: as many as there is room for, the slowest first.

use core::num::NonZeroU64;
use std::net::SocketAddr;

use layercast_core::units::{Duration, Time};

use crate::packet::{ReceptionReport, WHOLE};

/// The maximum number of receivers that are known one by one.
pub const KNOWN_MAX: usize = 100;
/// A receiver that has been silent for so long is forgotten (CHOICE: long enough to see which vanished).
const FORGOTTEN: Duration = Duration::from_secs(120);

/// A receiver and its last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownReceiver {
    /// Where the report came from.
    pub from: SocketAddr,
    /// When it came.
    pub at: Time,
    /// What it says.
    pub report: ReceptionReport,
}

impl KnownReceiver {
    /// The share of the objects that it holds, from 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from(self.report.share) / f64::from(WHOLE)
    }

    /// Seconds since its last report.
    pub fn silent_s(&self, now: Time) -> f64 {
        now.since(self.at).as_secs_f64()
    }
}

impl KnownReceiver {
    /// The share that it holds now, if it went on as it said. Reports are of different ages.
    fn share_now(&self, now: Time) -> u16 {
        let ReceptionReport { share, left_s, .. } = self.report;
        let age = now.since(self.at).as_ns() / Duration::from_secs(1).as_ns();
        let Some(left_s @ 1..) = left_s.map(u64::from) else { return share };
        let gained = u64::from(WHOLE - share) * age.min(left_s) / left_s;
        share.saturating_add(u16::try_from(gained).unwrap_or(WHOLE))
    }

    /// Complete receivers last, then by how much they hold.
    fn order(&self, now: Time) -> (bool, u16, NonZeroU64) {
        (self.report.is_complete, self.share_now(now), self.report.receiver)
    }
}

/// A bounded table of receivers.
#[derive(Debug)]
pub(super) struct Known {
    receivers: Vec<KnownReceiver>,
}

impl Known {
    pub(super) fn new() -> Known {
        Known { receivers: Vec::with_capacity(KNOWN_MAX) }
    }

    fn find(&mut self, receiver: NonZeroU64) -> Option<&mut KnownReceiver> {
        self.receivers.iter_mut().find(|known| known.report.receiver == receiver)
    }

    /// Notes a report. A full table keeps the slowest. Whether the receiver had sent its last report before.
    pub(super) fn note(&mut self, new: KnownReceiver) -> bool {
        if let Some(known) = self.find(new.report.receiver) {
            let has_left = known.report.is_leaving;
            // A late report of a poll before is no return.
            if !has_left {
                *known = new;
            }
            return has_left;
        }
        if self.receivers.len() == KNOWN_MAX {
            self.forget(new.at);
        }
        if self.receivers.len() < KNOWN_MAX {
            self.receivers.push(new);
        } else if let Some(fastest) = self.receivers.iter_mut().max_by_key(|known| known.order(new.at))
            && new.order(new.at) < fastest.order(new.at)
        {
            *fastest = new;
        }
        false
    }

    /// Notes that a receiver is complete, from another message than its report.
    pub(super) fn complete(&mut self, receiver: NonZeroU64) {
        if let Some(known) = self.find(receiver) {
            known.report.is_complete = true;
        }
    }

    /// Forgets receivers that have been silent for long.
    pub(super) fn forget(&mut self, now: Time) {
        self.receivers.retain(|known| now.since(known.at) < FORGOTTEN);
    }

    /// How many were heard within this time and have not left: those that are not complete, and those that are.
    pub(super) fn present(&self, now: Time, within: Duration) -> (usize, usize) {
        let is_present = |known: &&KnownReceiver| !known.report.is_leaving && now.since(known.at) < within;
        let present = self.receivers.iter().filter(is_present);
        let complete = present.clone().filter(|known| known.report.is_complete).count();
        (present.count() - complete, complete)
    }

    /// Those that are not complete, the slowest first.
    pub(super) fn slowest(&self, now: Time) -> Vec<KnownReceiver> {
        let mut slowest: Vec<KnownReceiver> =
            self.receivers.iter().filter(|known| !known.report.is_complete).copied().collect();
        slowest.sort_by_key(|known| known.order(now));
        slowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Level;
    use std::net::Ipv4Addr;

    fn known(receiver: u64, share: u16, left_s: Option<u16>, at_s: u64) -> KnownReceiver {
        let report = ReceptionReport {
            tsi: 1,
            receiver: NonZeroU64::new(receiver).expect("not zero"),
            poll: 0,
            exponent: 0,
            is_complete: false,
            is_leaving: false,
            disk_fails: false,
            share,
            level: Level::NONE,
            lost: None,
            left_s,
            objects: 0,
            failed: 0,
        };
        let from = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 1);
        KnownReceiver { from, at: at(at_s), report }
    }

    fn at(s: u64) -> Time {
        Time::ZERO + Duration::from_secs(s)
    }

    fn order(table: &Known, s: u64) -> Vec<u64> {
        table.slowest(at(s)).iter().map(|known| known.report.receiver.get()).collect()
    }

    #[test]
    fn a_full_table_keeps_the_slowest_and_complete_receivers_go_first() {
        let mut table = Known::new();
        for receiver in 1..=KNOWN_MAX as u64 {
            table.note(known(receiver, 1000 + receiver as u16, None, 0));
        }
        table.complete(NonZeroU64::MIN);
        // Faster than all others, but not complete as one is.
        table.note(known(200, 50_000, None, 0));
        table.note(known(201, 60_000, None, 0));
        table.note(known(202, 5, None, 0));
        let order = order(&table, 0);
        assert_eq!((order.len(), order[0], order[99]), (KNOWN_MAX, 202, 100));
    }

    #[test]
    fn an_old_report_is_compared_by_where_its_receiver_should_be_now() {
        let mut table = Known::new();
        // A tenth, and complete in 90 s.
        table.note(known(1, 6553, Some(90), 0));
        table.note(known(2, 13_000, Some(1000), 0));
        assert_eq!(order(&table, 0), [1, 2]);
        assert_eq!(order(&table, 30), [2, 1]);
    }

    #[test]
    fn a_silent_receiver_is_no_longer_present_and_then_forgotten() {
        let mut table = Known::new();
        table.note(known(1, 1, None, 0));
        let mut leaving = known(2, 1, None, 0);
        leaving.report.is_leaving = true;
        assert!(!table.note(leaving) && table.note(leaving));
        assert_eq!(table.present(at(10), Duration::from_secs(15)), (1, 0));
        assert_eq!(table.present(at(15), Duration::from_secs(15)), (0, 0));
        table.forget(at(119));
        assert_eq!(order(&table, 119), [1, 2]);
        table.forget(at(120));
        assert_eq!(order(&table, 120), [0u64; 0]);
    }
}
