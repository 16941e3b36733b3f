//! Packets in flight.

use layercast_core::units::Time;

use super::Link;
use crate::event::Key;
use crate::packet::PacketCopy;

const NONE: u32 = u32::MAX;
const NO_ARRIVAL: Key = Key { time: Time::ZERO, order: 0 };

/// A packet in flight, and when the next one on its wire arrives: with that the one before it need not wait
/// until this one has come from memory.
#[derive(Clone, Copy, Debug)]
struct Node {
    copy: PacketCopy,
    next: u32,
    /// Means nothing in the last node.
    next_arrival: Key,
}

/// The pool of packets in flight on all links, except the first of each link. Nodes are reused in the order
/// in which they were freed, so that links served one after another find theirs adjacent in memory.
#[derive(Debug)]
pub(crate) struct WirePool {
    nodes: Vec<Node>,
    /// The first node of the free list, and the last.
    free: u32,
    last_free: u32,
}

impl Default for WirePool {
    fn default() -> WirePool {
        WirePool { nodes: Vec::new(), free: NONE, last_free: NONE }
    }
}

impl WirePool {
    /// Takes a node for a packet, whose fields are written in place.
    #[inline(always)]
    fn allocate(&mut self, copy: PacketCopy, next: u32) -> u32 {
        let number = self.free;
        match self.nodes.get_mut(number as usize) {
            Some(slot) => {
                self.free = std::mem::replace(&mut slot.next, next);
                slot.copy = copy;
                number
            }
            None => self.grow(Node { copy, next, next_arrival: NO_ARRIVAL }),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Frees a node that is no longer in a wire.
    #[inline(always)]
    fn release(&mut self, number: u32) {
        self.nodes[number as usize].next = NONE;
        match self.nodes.get_mut(self.last_free as usize) {
            Some(last) if self.free != NONE => last.next = number,
            _ => self.free = number,
        }
        self.last_free = number;
    }
}

/// The packets in flight on a link after the first, in the order of their arrival.
#[derive(Debug)]
pub(super) struct Followers {
    head: u32,
    tail: u32,
    /// When the first of them arrives, if there is one.
    arrival: Key,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers { head: NONE, tail: NONE, arrival: NO_ARRIVAL }
    }
}

impl Followers {
    fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Appends a packet.
    #[inline(always)]
    fn push(&mut self, pool: &mut WirePool, arrival: Key, copy: PacketCopy) {
        let number = pool.allocate(copy, NONE);
        match pool.nodes.get_mut(self.tail as usize) {
            Some(last) => (last.next, last.next_arrival) = (number, arrival),
            None => (self.head, self.arrival) = (number, arrival),
        }
        self.tail = number;
    }

    /// Inserts a packet in the order of arrivals. Returns how many of these arrive before it.
    fn insert(&mut self, pool: &mut WirePool, arrival: Key, copy: PacketCopy) -> usize {
        let mut index = 0;
        let mut before = NONE;
        let (mut after, mut after_arrival) = (self.head, self.arrival);
        while let Some(node) = pool.nodes.get(after as usize).filter(|_| after_arrival < arrival) {
            before = after;
            (after, after_arrival) = (node.next, node.next_arrival);
            index += 1;
        }
        if after == NONE {
            self.push(pool, arrival, copy);
            return index;
        }
        let number = pool.allocate(copy, after);
        pool.nodes[number as usize].next_arrival = after_arrival;
        match pool.nodes.get_mut(before as usize) {
            Some(node) => (node.next, node.next_arrival) = (number, arrival),
            None => (self.head, self.arrival) = (number, arrival),
        }
        index
    }

    /// Takes the first.
    #[inline(always)]
    fn pop(&mut self, pool: &mut WirePool) -> Option<(Key, PacketCopy)> {
        let &Node { copy, next, next_arrival } = pool.nodes.get(self.head as usize)?;
        pool.release(std::mem::replace(&mut self.head, next));
        if next == NONE {
            self.tail = NONE;
        }
        Some((std::mem::replace(&mut self.arrival, next_arrival), copy))
    }

    /// How many there are.
    fn len(&self, pool: &WirePool) -> usize {
        let next = |&number: &u32| pool.nodes.get(number as usize).map(|node| node.next);
        std::iter::successors(Some(self.head), next).take_while(|&number| number != NONE).count()
    }
}

impl Link {
    /// Appends a packet to those in flight. Returns whether it is the only one.
    #[inline(always)]
    pub(super) fn push_on_wire(&mut self, pool: &mut WirePool, arrival: Key, copy: PacketCopy) -> bool {
        if !self.has_first {
            (self.first, self.has_first) = (copy, true);
            return true;
        }
        self.followers.push(pool, arrival, copy);
        self.has_followers = true;
        false
    }

    /// Inserts a packet in the order of arrivals; the first arrives at `first_arrival`, if there is one.
    /// Returns how many arrive before it.
    pub(super) fn insert_on_wire(
        &mut self,
        pool: &mut WirePool,
        arrival: Key,
        copy: PacketCopy,
        first_arrival: Key,
    ) -> usize {
        if !self.has_first {
            (self.first, self.has_first) = (copy, true);
            return 0;
        }
        self.has_followers = true;
        if arrival < first_arrival {
            let first = std::mem::replace(&mut self.first, copy);
            self.followers.insert(pool, first_arrival, first)
        } else {
            1 + self.followers.insert(pool, arrival, copy)
        }
    }

    /// Takes the first packet in flight. Also returns when the next arrives, if there is one.
    #[inline(always)]
    pub(crate) fn pop_from_wire(&mut self, pool: &mut WirePool) -> Option<(PacketCopy, Option<Key>)> {
        if !self.has_first {
            return None;
        }
        let copy = self.first;
        if self.has_followers
            && let Some((arrival, next)) = self.followers.pop(pool)
        {
            self.first = next;
            self.has_followers = !self.followers.is_empty();
            return Some((copy, Some(arrival)));
        }
        self.has_first = false;
        Some((copy, None))
    }

    /// How many packets are in flight.
    pub(super) fn count_on_wire(&self, pool: &WirePool) -> usize {
        usize::from(self.has_first) + self.followers.len(pool)
    }
}
