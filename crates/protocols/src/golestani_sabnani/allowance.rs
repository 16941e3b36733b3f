//! The window of one receiver, and when it is told.

use super::options::Options;
use layercast_core::units::Seq;

/// A window by additive increase and multiplicative decrease, and what it allows.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    window: f64,
    /// Up to which it grows by one with each packet.
    threshold: f64,
    /// Losses up to this number belong to the cut that was.
    recovered_at: Seq,
    /// What was told last.
    told: Option<Seq>,
    most: f64,
    headroom: f64,
    part: f64,
}

impl Allowance {
    pub(crate) fn new(options: &Options) -> Allowance {
        Allowance {
            window: 1.0,
            threshold: options.most_window,
            recovered_at: Seq(0),
            told: None,
            most: options.most_window,
            headroom: options.headroom,
            part: options.report_part,
        }
    }

    /// In packets, at least 1.
    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// A packet came, and the window of the receiver that limits the source is so large; 0 if none does.
    pub(crate) fn on_received(&mut self, limiting: u32) {
        let limited = limiting > 0 && self.window > self.headroom * f64::from(limiting);
        if !limited {
            let more = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.window = (self.window + more).min(self.most);
        }
    }

    /// So many packets before `newest` were lost: the window is halved, once for all that it had allowed. A
    /// whole window lost is what TCP would find by its timeout. Returns whether it was cut.
    pub(crate) fn on_lost(&mut self, count: u64, newest: Seq) -> bool {
        let is_new = newest > self.recovered_at;
        if is_new {
            let half = (self.window / 2.0).max(1.0);
            self.threshold = half;
            self.window = if count as f64 >= self.window { 1.0 } else { half };
            self.recovered_at = self.told.unwrap_or(newest).max(newest);
        }
        is_new
    }

    /// What is allowed when all up to `in_order` has come.
    pub(crate) fn allowed(&self, in_order: Seq) -> Seq {
        Seq(in_order.0 + self.window as u64)
    }

    /// Whether that is worth a report: it has grown by more than a part of the window (TRAM), or it is the
    /// first.
    pub(crate) fn is_worth_telling(&self, in_order: Seq) -> bool {
        let grown = |told: Seq| self.allowed(in_order).0.saturating_sub(told.0) as f64;
        self.told.is_none_or(|told| grown(told) > self.part * self.window)
    }

    /// It was told.
    pub(crate) fn tell(&mut self, in_order: Seq) -> Seq {
        let allowed = self.allowed(in_order);
        self.told = Some(allowed);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn it_opens_with_each_packet_until_the_first_loss_and_then_slowly() {
        let mut allowance = Allowance::new(&Options::default());
        (0..15).for_each(|_| allowance.on_received(0));
        assert_eq!(allowance.window(), 16.0);
        allowance.tell(Seq(100));
        assert!(allowance.on_lost(1, Seq(105)));
        assert_eq!(allowance.window(), 8.0);
        assert!(!allowance.on_lost(2, Seq(116)), "it was allowed before the cut");
        allowance.on_received(8);
        assert_eq!(allowance.window(), 8.125);
        assert!(allowance.on_lost(9, Seq(117)));
        assert_eq!(allowance.window(), 1.0, "a whole window");
    }

    #[test]
    fn it_does_not_run_away_from_the_one_that_limits() {
        let mut allowance = Allowance::new(&Options::default());
        (0..100).for_each(|_| allowance.on_received(10));
        assert_eq!(allowance.window(), 21.0);
        let mut bounded = Allowance::new(&Options { most_window: 5.0, ..Options::default() });
        (0..100).for_each(|_| bounded.on_received(0));
        assert_eq!(bounded.window(), 5.0);
    }

    #[test]
    fn it_is_told_when_it_has_grown_by_more_than_half_a_window() {
        let mut allowance = Allowance::new(&Options::default());
        (0..9).for_each(|_| allowance.on_received(0));
        assert!(allowance.is_worth_telling(Seq(1)));
        assert_eq!(allowance.tell(Seq(1)), Seq(11));
        let worth: Vec<u64> = (2..9).filter(|&seq| allowance.is_worth_telling(Seq(seq))).collect();
        assert_eq!(worth, [7, 8], "more than five");
    }
}
