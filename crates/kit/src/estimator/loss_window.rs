//! The LIP/LAP window: which losses of one period count (thesis, section 6.2.2).
//!
//! Losses close together come from an overflowing drop-tail queue and count once, scattered ones
//! count each. A loss counts if it is at least the window's size away from the last loss, whether
//! that one counted or not.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Packet, SendTime};
use layercast_core::units::{Seq, WireSeq};

layercast_core::choices! {
    /// Between which losses the window measures distance.
    pub enum WindowScope {
        /// In packets of all layers, in the order they were sent.
        Session = "session",
        /// In sequence numbers of one layer; each layer's first loss of a period counts.
        Layer = "layer",
    }
}

/// The window's decision on a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowDecision {
    /// It counts.
    Count,
    /// It is near the last loss and does not count.
    Ignore,
    /// It is the last loss again.
    Duplicate,
}

/// The decision for one sequence space: the last lost number, the next one, the window's size.
pub fn window_decision(last: WireSeq, lost: WireSeq, size: u32) -> WindowDecision {
    match lost.0.wrapping_sub(last.0) {
        0 => WindowDecision::Duplicate,
        distance if distance < size => WindowDecision::Ignore,
        _ => WindowDecision::Count,
    }
}

/// How many recent packets the window remembers, and the largest size of a window.
const MEMORY: usize = 1024;

/// The window over the losses of a period.
#[derive(Clone, Debug)]
pub struct LossWindow {
    size: u32,
    scope: WindowScope,
    last: Option<SendTime>,
    last_by_layer: Vec<Option<Seq>>,
    /// Send times of the newest packets, received or lost, in order.
    recent: VecDeque<SendTime>,
}

impl LossWindow {
    /// A window of `size` packets, 1 to 1024: 1 counts every loss, 3 is the thesis's example.
    pub fn new(size: u32, scope: WindowScope) -> LossWindow {
        LossWindow {
            size: size.clamp(1, MEMORY as u32),
            scope,
            last: None,
            last_by_layer: Vec::new(),
            recent: VecDeque::new(),
        }
    }

    /// Remembers a packet that was received or lost.
    pub fn on_packet(&mut self, packet: &Packet) {
        if self.size == 1 || self.scope == WindowScope::Layer {
            return;
        }
        if self.recent.len() == MEMORY {
            self.recent.pop_front();
        }
        if self.recent.back().is_none_or(|&newest| newest <= packet.sent) {
            self.recent.push_back(packet.sent);
        } else {
            let index = self.recent.partition_point(|&sent| sent <= packet.sent);
            self.recent.insert(index, packet.sent);
        }
    }

    /// A loss that opens a period. It always counts.
    pub fn open(&mut self, lost: &Packet) {
        self.last_by_layer.fill(None);
        self.last = None;
        self.remember(lost);
    }

    /// Whether a further loss of the period counts. It becomes the last loss in either case.
    pub fn counts(&mut self, lost: &Packet) -> bool {
        let near = match self.scope {
            _ if self.size == 1 => false,
            WindowScope::Session => self.last.is_some_and(|last| self.distance(last, lost.sent) < self.size),
            WindowScope::Layer => self
                .last_by_layer
                .get(lost.layer.index())
                .copied()
                .flatten()
                .is_some_and(|last| lost.seq.0.abs_diff(last.0) < u64::from(self.size)),
        };
        self.remember(lost);
        !near
    }

    fn remember(&mut self, lost: &Packet) {
        match self.scope {
            _ if self.size == 1 => {}
            // Losses of slow layers become known late, so the order of discovery is not the order of
            // sending. The later one stays the reference.
            WindowScope::Session => self.last = self.last.max(Some(lost.sent)),
            WindowScope::Layer => {
                let index = lost.layer.index();
                if self.last_by_layer.len() <= index {
                    self.last_by_layer.resize(index + 1, None);
                }
                self.last_by_layer[index] = Some(lost.seq);
            }
        }
    }

    /// One more than the number of packets sent strictly between two times.
    fn distance(&self, one: SendTime, other: SendTime) -> u32 {
        let (from, to) = (one.min(other), one.max(other));
        // Packets before the memory count as far away.
        if self.recent.len() == MEMORY && self.recent.front().is_some_and(|&oldest| to < oldest) {
            return u32::MAX;
        }
        let after = self.recent.partition_point(|&sent| sent <= from);
        let before = self.recent.partition_point(|&sent| sent < to);
        before.saturating_sub(after) as u32 + 1
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.last = None;
        self.last_by_layer.clear();
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Layer;

    fn packet(us: u64) -> Packet {
        Packet { layer: Layer::BASE, seq: Seq(us), sent: SendTime::from_us(us) }
    }

    #[test]
    fn a_chain_of_near_losses_counts_once() {
        let mut window = LossWindow::new(3, WindowScope::Session);
        for us in 0..20 {
            window.on_packet(&packet(us));
        }
        window.open(&packet(2));
        let counted: Vec<bool> = [4, 6, 8, 11].map(|us| window.counts(&packet(us))).to_vec();
        assert_eq!(counted, [false, false, false, true]);
    }

    #[test]
    fn a_window_of_one_counts_every_loss_and_remembers_nothing() {
        let mut window = LossWindow::new(1, WindowScope::Session);
        window.on_packet(&packet(1));
        window.open(&packet(1));
        assert!(window.counts(&packet(2)));
        assert!(window.recent.is_empty());
    }

    #[test]
    fn the_memory_is_bounded_and_sorted() {
        let mut window = LossWindow::new(3, WindowScope::Session);
        for us in 0..5000u64 {
            window.on_packet(&packet(us ^ 7));
        }
        assert_eq!(window.recent.len(), MEMORY);
        assert!(window.recent.iter().is_sorted());
    }
}
