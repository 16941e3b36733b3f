//! The receivers that a source tracks individually.

use alloc::vec::Vec;

use crate::estimator::{RttEstimator, RttFilter, rtt_sample};
use crate::feedback::ReceiverId;
use layercast_core::units::{Duration, Seq, Time};

/// The weight of the old round-trip time, as in TCP (RFC 6298, section 2: 7/8).
const WEIGHT: f64 = 0.875;

/// A smoothed round-trip time.
pub fn smoothed_rtt() -> RttEstimator {
    RttEstimator::new(RttFilter::Ewma, WEIGHT, 1)
}

/// Adds the sample of a report with an echoed time stamp; returns whether the sample is plausible.
pub fn sample_rtt(rtt: &mut RttEstimator, now: Time, heard_us: u32) -> bool {
    let sample = rtt_sample(now.as_wire_us(), heard_us, 0);
    sample.into_iter().for_each(|sample| rtt.on_sample(sample));
    sample.is_some()
}

/// A receiver with the state that a protocol keeps for it.
#[derive(Clone, Debug)]
pub struct Member<M> {
    id: ReceiverId,
    /// When it last reported something new.
    pub advanced: Time,
    /// Its round-trip time.
    pub rtt: RttEstimator,
    /// The first number that it blocks: the source cannot send from there on without its acknowledgement.
    bound: Seq,
    /// What the protocol keeps for this member.
    pub own: M,
}

impl<M> Member<M> {
    /// The first number that it blocks.
    pub fn bound(&self) -> Seq {
        self.bound
    }
}

/// Receivers in the order of their numbers, up to a limit, with the least of their bounds.
#[derive(Clone, Debug)]
pub struct Members<M> {
    list: Vec<Member<M>>,
    most: usize,
    /// The least bound, and how many have it.
    least: Option<(Seq, usize)>,
}

impl<M> Members<M> {
    /// No receivers, and capacity for `most`.
    pub fn new(most: u32) -> Members<M> {
        Members { list: Vec::new(), most: most as usize, least: None }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All members, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Member<M>> {
        self.list.iter()
    }

    /// The least bound of all; none without receivers.
    pub fn least(&self) -> Option<Seq> {
        self.least.map(|(bound, _)| bound)
    }

    /// Whether a receiver is a member.
    pub fn has(&self, id: ReceiverId) -> bool {
        self.list.binary_search_by_key(&id, |member| member.id).is_ok()
    }

    /// The index of a receiver, which is added if there is room.
    pub fn place(&mut self, now: Time, id: ReceiverId, bound: Seq, own: impl FnOnce() -> M) -> Option<usize> {
        match self.list.binary_search_by_key(&id, |member| member.id) {
            Ok(place) => Some(place),
            Err(_) if self.list.len() >= self.most => None,
            Err(place) => {
                let member = Member { id, advanced: now, rtt: smoothed_rtt(), bound, own: own() };
                self.list.insert(place, member);
                self.find_least();
                Some(place)
            }
        }
    }

    /// The receiver at an index that [`place`](Members::place) gave; no receiver has left since.
    pub fn at(&mut self, place: usize) -> &mut Member<M> {
        &mut self.list[place]
    }

    /// Sets the bound of the receiver at such an index.
    pub fn set_bound(&mut self, place: usize, bound: Seq) {
        let before = core::mem::replace(&mut self.list[place].bound, bound);
        match &mut self.least {
            _ if before == bound => {}
            Some((least, _)) if bound < *least => self.find_least(),
            Some((least, count)) if before == *least && *count > 1 => *count -= 1,
            Some((least, count)) if before != *least => *count += usize::from(bound == *least),
            _ => self.find_least(),
        }
    }

    /// A receiver leaves. Returns whether it was a member.
    pub fn remove(&mut self, id: ReceiverId) -> bool {
        let found = self.list.binary_search_by_key(&id, |member| member.id);
        if let Ok(place) = found {
            self.list.remove(place);
            self.find_least();
        }
        found.is_ok()
    }

    /// Removes the receivers that block the source at `next` and have reported nothing new for `limit`.
    /// Returns how many.
    pub fn give_up(&mut self, now: Time, next: Seq, limit: Duration) -> u64 {
        let before = self.list.len();
        self.list.retain(|member| member.bound >= next || now.since(member.advanced) < limit);
        let gone = before - self.list.len();
        if gone > 0 {
            self.find_least();
        }
        gone as u64
    }

    /// Writes off all packets before `next` for all members.
    pub fn write_off(&mut self, next: Seq, mut each: impl FnMut(&mut M)) {
        for member in &mut self.list {
            member.bound = member.bound.max(next);
            each(&mut member.own);
        }
        self.find_least();
    }

    /// The longest round-trip time.
    pub fn longest_rtt(&self) -> Option<Duration> {
        self.list.iter().filter_map(|member| member.rtt.rtt()).max()
    }

    fn find_least(&mut self) {
        let least = self.list.iter().map(|member| member.bound).min();
        self.least = least.map(|least| (least, self.list.iter().filter(|m| m.bound == least).count()));
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU64;

    use super::*;
    use layercast_core::stream::Stream;

    fn id(number: u64) -> ReceiverId {
        ReceiverId(NonZeroU64::new(number).unwrap())
    }

    #[test]
    fn the_least_bound_is_that_of_a_search_through_all() {
        let mut members = Members::<()>::new(8);
        let mut stream = Stream::new(3, "members");
        let now = Time::from_ns(1);
        for _ in 0..5000 {
            let (member, bound) = (id(1 + stream.bits() % 12), Seq(stream.bits() % 6));
            match stream.bits() % 10 {
                0 => drop(members.remove(member)),
                1 => members.write_off(bound, |()| {}),
                2 => drop(members.give_up(now + Duration::from_secs(5), bound, Duration::from_secs(5))),
                _ => {
                    if let Some(place) = members.place(now, member, bound, || ()) {
                        members.set_bound(place, bound);
                        assert_eq!(members.at(place).bound(), bound);
                    }
                }
            }
            let least = members.iter().map(Member::bound).min();
            assert_eq!(members.least(), least);
            let count = members.iter().filter(|member| Some(member.bound()) == least).count();
            assert_eq!(members.least.map_or(0, |(_, count)| count), count);
            assert!(members.len() <= 8 && members.list.is_sorted_by_key(|member| member.id));
        }
    }

    #[test]
    fn only_those_that_hold_up_the_source_are_given_up() {
        let mut members = Members::<()>::new(8);
        members.place(Time::ZERO, id(1), Seq(10), || ());
        members.place(Time::ZERO, id(2), Seq(20), || ());
        let limit = Duration::from_secs(30);
        assert_eq!(members.give_up(Time::ZERO + limit, Seq(10), limit), 0);
        assert_eq!(members.give_up(Time::ZERO + limit, Seq(15), limit), 1);
        assert_eq!(members.least(), Some(Seq(20)));
    }
}
