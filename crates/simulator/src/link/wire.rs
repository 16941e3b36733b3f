//! Packets in flight.

use crate::event::Key;
use crate::packet::PacketCopy;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    arrival: Key,
    copy: PacketCopy,
    next: u32,
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
    #[inline]
    fn allocate(&mut self, node: Node) -> u32 {
        let number = self.free;
        match self.nodes.get_mut(number as usize) {
            Some(slot) => {
                self.free = slot.next;
                *slot = node;
                number
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Frees a node that is no longer in a wire.
    #[inline]
    fn release(&mut self, number: u32) {
        self.nodes[number as usize].next = NONE;
        match self.nodes.get_mut(self.last_free as usize) {
            Some(last) if self.free != NONE => last.next = number,
            _ => self.free = number,
        }
        self.last_free = number;
    }
}

/// The packets in flight on one link, in the order of their arrival. The first is stored inline: most links
/// of a large tree never carry a second.
#[derive(Debug)]
pub(super) struct Wire {
    first: Option<(Key, PacketCopy)>,
    head: u32,
    tail: u32,
}

impl Default for Wire {
    fn default() -> Wire {
        Wire { first: None, head: NONE, tail: NONE }
    }
}

impl Wire {
    /// Appends a packet. Returns whether it is the only one.
    #[inline]
    pub(super) fn push(&mut self, pool: &mut WirePool, arrival: Key, copy: PacketCopy) -> bool {
        if self.first.is_none() {
            self.first = Some((arrival, copy));
            return true;
        }
        let number = pool.allocate(Node { arrival, copy, next: NONE });
        match pool.nodes.get_mut(self.tail as usize) {
            Some(last) => last.next = number,
            None => self.head = number,
        }
        self.tail = number;
        false
    }

    /// Inserts a packet in the order of arrivals. Returns how many arrive before it.
    pub(super) fn insert(&mut self, pool: &mut WirePool, arrival: Key, copy: PacketCopy) -> usize {
        let (arrival, copy, mut index) = match self.first {
            Some(first) if arrival < first.0 => {
                self.first = Some((arrival, copy));
                (first.0, first.1, 0)
            }
            _ => (arrival, copy, usize::from(self.first.is_some())),
        };
        let (mut before, mut after) = (NONE, self.head);
        while let Some(node) = pool.nodes.get(after as usize).filter(|node| node.arrival < arrival) {
            (before, after) = (after, node.next);
            index += 1;
        }
        if after == NONE {
            self.push(pool, arrival, copy);
            return index;
        }
        let number = pool.allocate(Node { arrival, copy, next: after });
        match pool.nodes.get_mut(before as usize) {
            Some(node) => node.next = number,
            None => self.head = number,
        }
        index
    }

    /// Takes the first packet.
    #[inline]
    pub(super) fn pop(&mut self, pool: &mut WirePool) -> Option<PacketCopy> {
        let (_, copy) = self.first?;
        self.first = pool.nodes.get(self.head as usize).copied().map(|node| {
            pool.release(std::mem::replace(&mut self.head, node.next));
            (node.arrival, node.copy)
        });
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(copy)
    }

    /// When the first packet arrives.
    #[inline]
    pub(super) fn next_arrival(&self) -> Option<Key> {
        self.first.map(|(key, _)| key)
    }

    /// How many there are.
    pub(super) fn len(&self, pool: &WirePool) -> usize {
        let next = |&number: &u32| pool.nodes.get(number as usize).map(|node| node.next);
        let others = std::iter::successors(Some(self.head), next).take_while(|&number| number != NONE);
        usize::from(self.first.is_some()) + others.count()
    }
}
