//! The losses that may cost the top layer.

/// The most losses that a limit can ask for.
const MOST: usize = 16;

/// Counts losses that are not yet forgotten. A loss is forgotten after so many further packets.
#[derive(Clone, Debug)]
pub(super) struct RecentLosses {
    limit: usize,
    window: u64,
    packets: u64,
    /// The packet counts at the newest losses, newest first.
    at: [Option<u64>; MOST],
}

impl RecentLosses {
    pub(super) fn new(limit: u32, window: u32) -> RecentLosses {
        let limit = (limit as usize).clamp(1, MOST);
        RecentLosses { limit, window: u64::from(window), packets: 0, at: [None; MOST] }
    }

    pub(super) fn on_packet(&mut self) {
        self.packets += 1;
    }

    /// Takes losses; whether the limit is reached.
    pub(super) fn on_losses(&mut self, count: u32) -> bool {
        for _ in 0..(count as usize).min(MOST) {
            self.at.rotate_right(1);
            self.at[0] = Some(self.packets);
        }
        self.at[self.limit - 1].is_some_and(|oldest| self.packets - oldest < self.window)
    }

    pub(super) fn clear(&mut self) {
        self.at = [None; MOST];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_far_apart_do_not_reach_the_limit() {
        let mut losses = RecentLosses::new(2, 20);
        assert!(!losses.on_losses(1));
        (0..20).for_each(|_| losses.on_packet());
        assert!(!losses.on_losses(1));
        (0..19).for_each(|_| losses.on_packet());
        assert!(losses.on_losses(1));
        losses.clear();
        assert!(!losses.on_losses(1));
        assert!(losses.on_losses(40));
    }
}
