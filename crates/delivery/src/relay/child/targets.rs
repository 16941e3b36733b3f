//! The relays that a child may ask.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::relay::message::canonical;

/// The most relays that others have named.
const NAMED_MAX: usize = 8;

/// A list of relays that is gone through again and again.
#[derive(Debug)]
pub(super) struct Targets {
    given: Vec<SocketAddr>,
    /// The place in the list of the next one.
    next: usize,
    /// How many of this round are left.
    left: usize,
    /// Those that others have named, which come first and once.
    named: VecDeque<SocketAddr>,
}

impl Targets {
    pub(super) fn new(given: &[SocketAddr]) -> Targets {
        let given: Vec<_> = given.iter().copied().map(canonical).collect();
        Targets { left: given.len(), given, next: 0, named: VecDeque::new() }
    }

    /// Relays that another one has named.
    pub(super) fn add(&mut self, named: impl Iterator<Item = SocketAddr>) {
        for one in named {
            if self.named.len() < NAMED_MAX && !self.named.contains(&one) && !self.given.contains(&one) {
                self.named.push_back(one);
            }
        }
    }

    /// One serves the child: if that one is lost, all are asked, it last.
    pub(super) fn served(&mut self) {
        self.left = self.given.len();
    }

    /// The next one, at the start of a round.
    pub(super) fn next(&mut self) -> Option<SocketAddr> {
        self.left = self.given.len();
        self.next_of_round()
    }

    /// The next one; none at the end of a round.
    pub(super) fn next_of_round(&mut self) -> Option<SocketAddr> {
        if let Some(named) = self.named.pop_front() {
            return Some(named);
        }
        if self.left == 0 {
            self.left = self.given.len();
            return None;
        }
        self.left -= 1;
        let one = self.given.get(self.next).copied();
        self.next = (self.next + 1) % self.given.len().max(1);
        one
    }
}
