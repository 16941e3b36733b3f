//! What a router or the source knows of its children.

use alloc::vec::Vec;

use super::Standing;
use super::heartbeat::{EvenPerSecond, PerSecond};
use crate::amca::estimates::Summary;
use crate::amca::{Nack, Options, Report};
use layercast_core::contract::{ChildLink, Origin, Peer};
use layercast_core::units::{Duration, Seq, Time};

/// The most NACKs per second accepted from a child (CHOICE).
const MOST_NACKS: u32 = 100;
/// The most heartbeats per second that are answered (CHOICE).
const MOST_BEATS: u32 = 10;
/// After more NACKs than this for packets that it has acknowledged, a child is ignored for [`IGNORED`].
const MOST_STALE: u32 = 20;
const IGNORED: Duration = Duration::from_secs(10);
/// Periods and variations beyond these are rejected (CHOICE).
const LONGEST_PERIOD_US: u32 = 600_000_000;
const LARGEST_VARIATION_US: i32 = 10_000_000;
/// A child that is silent for this long, or for four periods, is left out of the summary for the rate.
const LIVE: Duration = Duration::from_secs(5);
/// Serial numbers up to this far behind the newest are old; further behind, the child has restarted.
const REORDERED: i32 = 64;

/// The identity of a child: an active node below, and the link to it. No link where the host knows none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::amca) struct ChildKey {
    pub(in crate::amca) link: Option<ChildLink>,
    pub(in crate::amca) peer: Peer,
}

impl ChildKey {
    /// The child that sent a packet that came up.
    pub(in crate::amca) fn of(origin: Origin) -> Option<ChildKey> {
        match origin {
            Origin::Child(link, peer) => Some(ChildKey { link: Some(link), peer }),
            Origin::Peer(peer) => Some(ChildKey { link: None, peer }),
            Origin::Channel(_) => None,
        }
    }
}
/// A child.
#[derive(Clone, Debug)]
pub(in crate::amca) struct Child {
    pub(in crate::amca) key: ChildKey,
    /// How far it has got, once it has said so.
    pub(in crate::amca) standing: Option<Standing>,
    /// The part of its last report that concerns the rate.
    report: Option<Summary>,
    serial: Option<u32>,
    /// Whether it has reported in this round.
    has_reported: bool,
    last_message: Time,
    /// When it last advanced, or lacked nothing.
    advanced: Time,
    /// When a report of its last counted for the rate.
    counted: Option<Time>,
    /// The round-trip time to it in microseconds; 0 if not known.
    pub(in crate::amca) rtt_us: u32,
    nacks: EvenPerSecond,
    beats: PerSecond,
    stale: (Time, u32),
    ignored_until: Time,
    /// Whether it is no longer waited for.
    is_left_behind: bool,
    /// In which turn it was last asked for a repair.
    pub(in crate::amca) asked: u64,
    /// A heartbeat that waits for an answer.
    pub(in crate::amca) held_beat: Option<u64>,
}

/// A NACK to act on.
#[derive(Clone, Copy, Debug)]
pub(in crate::amca) struct ChildNack {
    pub(in crate::amca) seq: u64,
    pub(in crate::amca) standing: Standing,
    /// Whether it is for a packet that has not passed here yet.
    pub(in crate::amca) is_ahead: bool,
}

impl Child {
    fn new(now: Time, key: ChildKey) -> Child {
        Child {
            key,
            standing: None,
            report: None,
            serial: None,
            has_reported: false,
            last_message: now,
            advanced: now,
            counted: None,
            rtt_us: 0,
            nacks: EvenPerSecond::default(),
            beats: PerSecond::default(),
            stale: (now, 0),
            ignored_until: Time::ZERO,
            is_left_behind: false,
            asked: 0,
            held_beat: None,
        }
    }

    fn period(&self) -> Duration {
        Duration::from_us(self.report.map_or(0, |report| u64::from(report.period_us)))
    }

    /// Whether it counts for the rate, and may be asked for repairs.
    pub(in crate::amca) fn is_live(&self, now: Time) -> bool {
        !self.is_left_behind && now.since(self.last_message) < LIVE.max(self.period() * 4)
    }

    fn update_standing(&mut self, now: Time, standing: Standing) {
        if self.standing.is_none_or(|old| standing.below > old.below) {
            self.advanced = now;
            self.is_left_behind = false;
        }
        self.standing = Some(standing);
    }

    /// Whether to answer a heartbeat.
    pub(in crate::amca) fn on_beat(&mut self, now: Time) -> bool {
        self.last_message = now;
        self.beats.allow(now, MOST_BEATS)
    }

    /// A report came. Nothing from `end` on has been sent. `expected` is the expected length of its period, if
    /// known. Returns its summary if it concerns the rate; none also if it was rejected.
    pub(in crate::amca) fn on_report(
        &mut self,
        now: Time,
        report: &Report,
        end: u64,
        expected: Option<Duration>,
    ) -> Option<Summary> {
        let standing = Standing::read(report.lo, report.lr, report.max_seq, end)?;
        let behind = self.serial.map(|serial| report.serial.wrapping_sub(serial).cast_signed());
        if behind.is_some_and(|behind| behind <= 0 && behind > -REORDERED) {
            return None;
        }
        (self.serial, self.last_message) = (Some(report.serial), now);
        self.rtt_us = report.rtt_to_parent_us;
        self.update_standing(now, standing);
        let is_sane = (1..=LONGEST_PERIOD_US).contains(&report.period_us)
            && report.rtt_var_us.unsigned_abs() <= LARGEST_VARIATION_US.unsigned_abs();
        let reported = Duration::from_us(u64::from(report.period_us));
        let due = expected.map_or(reported, |expected| reported.min(expected).max(expected.scaled(0.25)));
        let is_early = self.counted.is_some_and(|at| now.since(at) < due.scaled(0.5));
        if !is_sane || is_early {
            return None;
        }
        (self.counted, self.has_reported) = (Some(now), true);
        self.report = Some(Summary {
            below: standing.below,
            end: standing.end,
            limit: standing.limit,
            rtt_max_us: report.rtt_to_source_us,
            rtt_min_us: report.rtt_min_us,
            period_us: report.period_us,
            rtt_var_us: i64::from(report.rtt_var_us),
            count: report.count,
            is_marked: report.is_marked,
        });
        self.report
    }

    /// A NACK came. Nothing from `end` on has passed here.
    pub(in crate::amca) fn on_nack(&mut self, now: Time, nack: &Nack, end: u64) -> Option<ChildNack> {
        if now < self.ignored_until || !self.nacks.allow(now, MOST_NACKS) {
            return None;
        }
        let standing = Standing::read(nack.lo, nack.lr, nack.max_seq, end)?;
        let seq = nack.seq.expand(Seq(end)).0;
        if seq < standing.below || seq > standing.end {
            return None;
        }
        self.last_message = now;
        if self.standing.is_some_and(|known| seq < known.below) {
            self.on_stale(now);
            return None;
        }
        if nack.rtt_to_parent_us > 0 {
            self.rtt_us = nack.rtt_to_parent_us;
        }
        // A NACK for a packet that has passed reflects the state of the path, and a router's may concern its
        // own loss alone. Only one for a packet that is still to come says how far all nodes below have got.
        let is_ahead = seq >= end;
        let is_further = self.standing.is_none_or(|known| known.below <= standing.below);
        if is_ahead && is_further {
            self.update_standing(now, standing);
        }
        Some(ChildNack { seq, standing, is_ahead })
    }

    fn on_stale(&mut self, now: Time) {
        let (since, count) = self.stale;
        self.stale = if now.since(since) > IGNORED { (now, 1) } else { (since, count + 1) };
        if self.stale.1 > MOST_STALE {
            self.ignored_until = now + IGNORED;
        }
    }
}

/// All children, a bounded number of them.
#[derive(Clone, Debug, Default)]
pub(in crate::amca) struct Children {
    list: Vec<Child>,
    most: usize,
    buffer: u64,
    silent_limit: Duration,
    stall_limit: Duration,
    /// How often a child has come or gone.
    pub(in crate::amca) changes: u64,
}

impl Children {
    pub(in crate::amca) fn new(options: &Options) -> Children {
        Children {
            list: Vec::new(),
            most: options.children as usize,
            buffer: u64::from(options.buffer_packets),
            silent_limit: options.silent_limit,
            stall_limit: options.stall_limit,
            changes: 0,
        }
    }

    /// The child with this key, a new one if there is room.
    pub(in crate::amca) fn entry(&mut self, now: Time, key: ChildKey) -> Option<&mut Child> {
        let place = match self.list.binary_search_by_key(&key, |child| child.key) {
            Ok(place) => place,
            Err(_) if self.list.len() >= self.most => return None,
            Err(place) => {
                self.list.insert(place, Child::new(now, key));
                self.changes += 1;
                place
            }
        };
        self.list.get_mut(place)
    }

    pub(in crate::amca) fn len(&self) -> usize {
        self.list.len()
    }

    pub(in crate::amca) fn iter(&self) -> impl Iterator<Item = &Child> {
        self.list.iter()
    }

    pub(in crate::amca) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Child> {
        self.list.iter_mut()
    }

    /// How far all children that are waited for have got, where nothing before `group_below` is needed. A
    /// child that has not reported its position may need everything. None without children.
    pub(in crate::amca) fn standing(&self, group_below: u64) -> Option<Standing> {
        let known = Standing { below: group_below, end: group_below, limit: group_below + self.buffer };
        let standings = self.list.iter().filter(|child| !child.is_left_behind).map(|child| {
            child.standing.map_or(known, |standing| Standing {
                below: standing.below.max(group_below),
                end: standing.end.max(group_below),
                ..standing
            })
        });
        standings.reduce(|one, other| Standing {
            below: one.below.min(other.below),
            end: one.end.max(other.end),
            limit: one.limit.min(other.limit),
        })
    }

    /// The aggregate of the live children's last reports, with the room that all have.
    pub(in crate::amca) fn summary(&self, now: Time, group_below: u64) -> Option<Summary> {
        let standing = self.standing(group_below)?;
        let live = self.list.iter().filter(|child| child.is_live(now));
        let together = live.filter_map(|child| child.report).reduce(Summary::with)?;
        let below = together.below.max(group_below);
        Some(Summary { below, end: standing.end, limit: standing.limit, ..together })
    }

    /// Whether every live child has reported in this round.
    pub(in crate::amca) fn have_all_reported(&self, now: Time) -> bool {
        self.list.iter().filter(|child| child.is_live(now)).all(|child| child.has_reported)
    }

    /// Begins a new round of reports.
    pub(in crate::amca) fn begin_round(&mut self) {
        self.list.iter_mut().for_each(|child| child.has_reported = false);
    }

    /// The longest period of the live ones.
    pub(in crate::amca) fn period(&self, now: Time) -> Option<Duration> {
        let live = self.list.iter().filter(|child| child.is_live(now) && child.report.is_some());
        live.map(Child::period).max()
    }

    /// The smallest and the largest round-trip time to a child, once one is known.
    pub(in crate::amca) fn round_trips(&self) -> Option<(Duration, Duration)> {
        let known = || self.list.iter().filter(|child| child.rtt_us > 0).map(|child| child.rtt_us);
        let from_us = |us: u32| Duration::from_us(u64::from(us));
        Some((from_us(known().min()?), from_us(known().max()?)))
    }

    /// Forgets children that were silent for too long, and gives up on those that lacked a packet for too long;
    /// `end` is the number after the last packet sent. Calls back for each child given up.
    pub(in crate::amca) fn sweep(
        &mut self,
        now: Time,
        end: u64,
        mut left_behind: impl FnMut(Peer, Duration),
    ) {
        let before = self.list.len();
        self.list.retain(|child| now.since(child.last_message) < self.silent_limit);
        self.changes += (before - self.list.len()) as u64;
        for child in &mut self.list {
            if child.standing.is_some_and(|standing| standing.below >= end) {
                child.advanced = now;
            }
            let waited = now.since(child.advanced);
            if waited >= self.stall_limit && !child.is_left_behind {
                child.is_left_behind = true;
                left_behind(child.key.peer, waited);
            }
        }
    }
}
