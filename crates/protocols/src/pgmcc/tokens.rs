//! The window at the source, kept as tokens (draft-ietf-rmt-bb-pgmcc-03, section 2.2).

use super::options::{Cut, Options};
use layercast_core::units::Seq;
use layercast_kit::window::scoreboard::Progress;

/// The window W and the tokens T: a packet takes one token, an acknowledged packet gives them.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    window: f64,
    tokens: f64,
    /// How many tokens that packets bring are still withheld after the window was halved. Together with the
    /// packets in flight, and less this, the tokens make up the window.
    withheld: f64,
    /// Losses of packets before this one belong to the previous reduction.
    recovered_at: Seq,
    had_loss: bool,
    limit: f64,
    again: bool,
    cut: Cut,
    most: f64,
    /// With so many tokens left over the window is not used.
    spare: f64,
}

impl Tokens {
    pub(crate) fn new(options: &Options) -> Tokens {
        Tokens {
            window: 1.0,
            tokens: 1.0,
            withheld: 0.0,
            recovered_at: Seq(0),
            had_loss: false,
            limit: options.slow_start_limit,
            again: options.slow_start_again,
            cut: options.cut,
            most: options.most_window,
            spare: f64::from(options.burst) + 2.0,
        }
    }

    /// The window in packets.
    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// How many packets may leave.
    pub(crate) fn available(&self) -> u64 {
        self.tokens.max(0.0) as u64
    }

    pub(crate) fn on_sent(&mut self, count: u16) {
        self.tokens -= f64::from(count);
    }

    /// Packets have left the network. `next` is the number that will be sent next, `highest` the highest that
    /// was acknowledged. Returns whether the window was halved.
    pub(crate) fn on_progress(&mut self, progress: &Progress, highest: Seq, next: Seq) -> bool {
        for _ in 0..progress.acknowledged {
            self.on_acknowledged(highest);
        }
        let halved = progress.newest_lost.is_some_and(|lost| lost >= self.recovered_at);
        if halved {
            self.halve(next);
        }
        // A lost packet is no longer in flight, and neither is one of unknown fate.
        self.give((progress.lost + progress.unknown) as f64);
        halved
    }

    fn on_acknowledged(&mut self, highest: Seq) {
        let is_opening = self.window < self.limit && (self.again || !self.had_loss);
        let recovering = self.withheld > 0.0 || self.cut == Cut::Take && highest < self.recovered_at;
        // A window that the application does not fill does not grow: it was not tried.
        let unused = self.tokens >= self.spare;
        let more = match (recovering || unused, is_opening) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => 1.0 / self.window,
        };
        let more = more.min(self.most - self.window);
        self.window += more;
        self.give(1.0 + more);
    }

    fn give(&mut self, tokens: f64) {
        let withheld = self.withheld.min(tokens);
        self.withheld -= withheld;
        self.tokens = (self.tokens + tokens - withheld).min(self.window);
    }

    fn halve(&mut self, next: Seq) {
        self.had_loss = true;
        let half = (self.window / 2.0).max(1.0);
        let taken = self.window - half;
        self.window = half;
        self.recovered_at = next;
        match self.cut {
            Cut::Skip => {
                let unused = (self.tokens - half).clamp(0.0, taken);
                self.tokens -= unused;
                self.withheld += taken - unused;
            }
            Cut::Take => self.tokens -= taken,
        }
    }

    /// No report arrived for too long: everything restarts.
    pub(crate) fn on_timeout(&mut self, next: Seq) {
        self.had_loss = true;
        (self.window, self.tokens, self.withheld) = (1.0, 1.0, 0.0);
        self.recovered_at = next;
    }

    /// A new acker after there was none: one packet may leave to be acknowledged (draft, section 3).
    pub(crate) fn on_elected(&mut self) {
        let lent = (1.0 - self.tokens).max(0.0);
        self.tokens += lent;
        self.withheld += lent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledged(count: u64) -> Progress {
        Progress { acknowledged: count, ..Progress::default() }
    }

    /// Sends what may leave, and acknowledges one packet.
    fn step(tokens: &mut Tokens, next: &mut u64) {
        let count = tokens.available();
        tokens.on_sent(count as u16);
        *next += count;
        tokens.on_progress(&acknowledged(1), Seq(*next - 1), Seq(*next));
    }

    #[test]
    fn the_window_opens_by_one_up_to_six_and_then_by_one_in_a_window() {
        let mut tokens = Tokens::new(&Options::default());
        let mut next = 1;
        let mut windows = Vec::new();
        for _ in 0..7 {
            step(&mut tokens, &mut next);
            windows.push(tokens.window());
        }
        let seventh = 6.0 + 1.0 / 6.0;
        assert_eq!(windows, [2.0, 3.0, 4.0, 5.0, 6.0, seventh, seventh + 1.0 / seventh]);
    }

    #[test]
    fn a_loss_halves_once_in_a_window_and_flight_follows() {
        let mut tokens = Tokens::new(&Options::default());
        let mut next = 1;
        while tokens.window() < 20.0 {
            step(&mut tokens, &mut next);
        }
        tokens.on_sent(tokens.available() as u16);
        let (flight, before) = (20, tokens.window());
        let lost = Progress { lost: 1, newest_lost: Some(Seq(next - 5)), ..Progress::default() };
        assert!(tokens.on_progress(&lost, Seq(next - 2), Seq(next)));
        assert_eq!(tokens.window(), before / 2.0);
        assert!(!tokens.on_progress(&lost, Seq(next - 1), Seq(next)), "sent before the cut");
        assert_eq!(tokens.window(), before / 2.0);
        // Of 20 in flight two are lost, and the next eight bring nothing; then ten are left.
        for left in (10..flight - 2).rev() {
            assert_eq!(tokens.available(), 0, "{left}");
            tokens.on_progress(&acknowledged(1), Seq(next), Seq(next));
        }
        tokens.on_progress(&acknowledged(1), Seq(next), Seq(next));
        assert_eq!(tokens.available(), 1);
        let later = Progress { newest_lost: Some(Seq(next)), ..lost };
        assert!(tokens.on_progress(&later, Seq(next + 3), Seq(next + 9)), "sent after the cut");
    }

    #[test]
    fn the_draft_takes_half_of_the_window_from_the_tokens() {
        let mut tokens = Tokens::new(&Options { cut: Cut::Take, ..Options::default() });
        let mut next = 1;
        while tokens.window() < 10.0 {
            step(&mut tokens, &mut next);
        }
        tokens.on_sent(tokens.available() as u16);
        let before = tokens.tokens;
        let lost = Progress { lost: 1, newest_lost: Some(Seq(next - 5)), ..Progress::default() };
        tokens.on_progress(&lost, Seq(next - 2), Seq(next));
        assert!((tokens.tokens - (before - tokens.window() + 1.0)).abs() < 1e-12);
        let window = tokens.window();
        tokens.on_progress(&acknowledged(3), Seq(next - 1), Seq(next));
        assert_eq!(
            tokens.window(),
            window,
            "nothing grows until a packet sent after the cut is acknowledged"
        );
        tokens.on_progress(&acknowledged(1), Seq(next), Seq(next + 1));
        assert!(tokens.window() > window);
    }

    #[test]
    fn a_timeout_begins_anew_and_slow_start_comes_back_as_an_option() {
        for (again, expected) in [(false, 2.9), (true, 4.0)] {
            let mut tokens = Tokens::new(&Options { slow_start_again: again, ..Options::default() });
            let mut next = 1;
            (0..9).for_each(|_| step(&mut tokens, &mut next));
            tokens.on_timeout(Seq(next));
            assert_eq!((tokens.window(), tokens.available()), (1.0, 1));
            (0..3).for_each(|_| step(&mut tokens, &mut next));
            assert!((tokens.window() - expected).abs() < 0.1, "{} {expected}", tokens.window());
        }
    }

    /// Whatever is lost, the packets in flight stay within the window once a cut is over.
    #[test]
    fn the_packets_under_way_make_up_the_window() {
        let mut stream = layercast_core::stream::Stream::new(6, "tokens");
        for cut in [Cut::Skip, Cut::Take] {
            let mut tokens = Tokens::new(&Options { cut, ..Options::default() });
            let (mut next, mut under_way) = (1, 0);
            for _ in 0..50_000 {
                let sent = tokens.available();
                tokens.on_sent(sent as u16);
                (next, under_way) = (next + sent, under_way + sent);
                if under_way == 0 {
                    tokens.on_timeout(Seq(next));
                    continue;
                }
                let lost = u64::from(stream.chance(0.01));
                let newest_lost = (lost > 0).then(|| Seq(next - under_way));
                let progress = Progress { acknowledged: 1 - lost, unknown: 0, lost, newest_lost };
                under_way -= 1;
                tokens.on_progress(&progress, Seq(next - under_way), Seq(next));
                let made_up = tokens.tokens + under_way as f64 - tokens.withheld;
                assert!((made_up - tokens.window()).abs() < 1e-6, "{cut:?} {tokens:?} {under_way}");
            }
        }
    }

    #[test]
    fn tokens_never_exceed_the_window_and_the_window_its_bounds() {
        let mut stream = layercast_core::stream::Stream::new(5, "tokens");
        for cut in [Cut::Skip, Cut::Take] {
            let mut tokens = Tokens::new(&Options { cut, most_window: 50.0, ..Options::default() });
            let mut next = 1;
            for _ in 0..20_000 {
                let sent = tokens.available();
                tokens.on_sent(sent as u16);
                next += sent;
                let lost = u64::from(stream.chance(0.02));
                let newest_lost = (lost > 0).then(|| Seq(next - 1 - stream.bits() % next.min(40)));
                let progress = Progress {
                    acknowledged: stream.bits() % 3,
                    unknown: u64::from(stream.chance(0.01)),
                    lost,
                    newest_lost,
                };
                tokens.on_progress(&progress, Seq(next - 1), Seq(next));
                assert!((1.0..=50.0).contains(&tokens.window()));
                assert!(tokens.tokens <= tokens.window() && tokens.tokens > -60.0, "{tokens:?}");
                if stream.chance(0.001) {
                    tokens.on_timeout(Seq(next));
                }
            }
        }
    }

    use std::vec::Vec;
}
