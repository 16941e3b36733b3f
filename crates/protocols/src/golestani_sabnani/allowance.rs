//! The window of one receiver, and when it is reported.

use super::options::Options;
use layercast_core::units::Seq;

/// A window by additive increase and multiplicative decrease, and what it allows.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    window: f64,
    /// Slow start threshold: below it the window grows by one with each packet.
    threshold: f64,
    /// Losses up to this number belong to the previous reduction.
    recovered_at: Seq,
    /// The highest allowed number that was reported last.
    reported: Option<Seq>,
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
            reported: None,
            most: options.most_window,
            headroom: options.headroom,
            part: options.report_part,
        }
    }

    /// In packets, at least 1.
    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// A packet arrived. `limiting` is the window of the receiver that limits the source; 0 if none does.
    pub(crate) fn on_received(&mut self, limiting: u32) {
        let limited = limiting > 0 && self.window > self.headroom * f64::from(limiting);
        if !limited {
            let more = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.window = (self.window + more).min(self.most);
        }
    }

    /// `count` packets before `newest` were lost. The window is halved once per window of packets; the loss
    /// of a whole window, which TCP detects by its timeout, resets it to one. Returns whether it was reduced.
    pub(crate) fn on_lost(&mut self, count: u64, newest: Seq) -> bool {
        let is_new = newest > self.recovered_at;
        if is_new {
            let half = (self.window / 2.0).max(1.0);
            self.threshold = half;
            self.window = if count as f64 >= self.window { 1.0 } else { half };
            self.recovered_at = self.reported.unwrap_or(newest).max(newest);
        }
        is_new
    }

    /// The highest allowed number when all packets up to `in_order` have arrived.
    pub(crate) fn allowed(&self, in_order: Seq) -> Seq {
        Seq(in_order.0 + self.window as u64)
    }

    /// Whether that is worth a report: it has grown by more than a part of the window (TRAM), or it is the
    /// first.
    pub(crate) fn is_worth_reporting(&self, in_order: Seq) -> bool {
        let grown = |reported: Seq| self.allowed(in_order).0.saturating_sub(reported.0) as f64;
        self.reported.is_none_or(|reported| grown(reported) > self.part * self.window)
    }

    /// Records the report and returns the allowed number that it carries.
    pub(crate) fn report(&mut self, in_order: Seq) -> Seq {
        let allowed = self.allowed(in_order);
        self.reported = Some(allowed);
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
        allowance.report(Seq(100));
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
    fn it_is_reported_when_it_has_grown_by_more_than_half_a_window() {
        let mut allowance = Allowance::new(&Options::default());
        (0..9).for_each(|_| allowance.on_received(0));
        assert!(allowance.is_worth_reporting(Seq(1)));
        assert_eq!(allowance.report(Seq(1)), Seq(11));
        let worth: Vec<u64> = (2..9).filter(|&seq| allowance.is_worth_reporting(Seq(seq))).collect();
        assert_eq!(worth, [7, 8], "more than five");
    }
}
