//! Proportional rate reduction: recovery sends in proportion to what arrives, from the first acknowledgement
//! on, and neither waits for half a window nor sends a burst after many losses.
//!
//! Source: RFC 9937 (which replaces RFC 6937), counting packets.

#[derive(Clone, Debug, Default)]
pub(super) struct Proportion {
    /// Packets in flight when recovery began (`RecoverFS` of the RFC).
    flight: i64,
    /// Packets that have arrived since (`prr_delivered`).
    delivered: i64,
    /// Packets that were sent since (`prr_out`).
    sent: i64,
}

impl Proportion {
    /// Recovery begins with so many packets in flight.
    pub(super) fn begin(&mut self, flight: i64) {
        *self = Proportion { flight: flight.max(1), ..Proportion::default() };
    }

    pub(super) fn count_sent(&mut self) {
        self.sent += 1;
    }

    /// How many packets may be sent for an acknowledgement that reports `delivered` more as arrived. `pipe` are
    /// in flight, `threshold` should be at the end. It is safe to send one more than arrived if the
    /// acknowledgement moved on and reported no further loss.
    pub(super) fn allowance(&mut self, delivered: i64, pipe: i64, threshold: i64, is_safe: bool) -> i64 {
        self.delivered += delivered;
        let count = if pipe > threshold {
            (self.delivered * threshold + self.flight - 1) / self.flight - self.sent
        } else {
            let behind = self.delivered - self.sent;
            let limit = if is_safe { behind.max(delivered) + 1 } else { behind };
            limit.min(threshold - pipe)
        };
        // The first one resends what was lost.
        count.max(i64::from(self.sent == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6937, section 4: of twenty packets the first is lost and the window is halved. The first
    /// acknowledgement resends, then every second one lets one packet go.
    #[test]
    fn one_loss_of_twenty_packets() {
        let mut prr = Proportion::default();
        prr.begin(18);
        let mut pipe = 17;
        let mut sent = Vec::new();
        for _ in 0..17 {
            pipe -= 1;
            let count = prr.allowance(1, pipe, 10, false);
            (0..count).for_each(|_| prr.count_sent());
            pipe += count;
            sent.push(count);
        }
        assert_eq!(sent.iter().sum::<i64>(), 10);
        assert!(sent.iter().all(|&count| count <= 1), "{sent:?}");
        assert_eq!(pipe, 10);
    }

    /// After many losses it does not send more than arrives, or one more where that is safe.
    #[test]
    fn many_losses_cause_no_burst() {
        for (is_safe, most) in [(false, 1), (true, 2)] {
            let mut prr = Proportion::default();
            prr.begin(20);
            for _ in 0..4 {
                let count = prr.allowance(1, 2, 10, is_safe);
                assert_eq!(count, most);
                (0..count).for_each(|_| prr.count_sent());
            }
        }
    }
}
