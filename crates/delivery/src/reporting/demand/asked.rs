//! When a receiver says which level it holds.

use layercast_core::math::ln;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Time};

use crate::packet::ALL;

/// The longest time before a receiver speaks, in a session of which it knows no more (CHOICE: half of it to prefer high levels,
/// half of it random; table packets that answer others arrive within a tenth of a second).
const WAIT: Duration = Duration::from_ms(250);
/// It grows by as much with each factor of two in the number of receivers, as the polls give it, up to this.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// The number of receivers for which the distribution of the random part is made.
const RECEIVERS: f64 = 1e5;
/// How long a receiver waits before it repeats a message that had no effect, at first and at most.
const AGAIN: Duration = Duration::from_ms(500);
const AGAIN_MAX: Duration = Duration::from_secs(8);
/// So often it is repeated before it becomes rarer: as often as the source asks for.
const QUICK_TRIES: u32 = 8;
/// A message that was repeated so often is not heard.
const TRIES: u32 = 10;
/// After this time a receiver that never found all layers open has started all the same.
const START: Duration = Duration::from_secs(10);

/// A receiver's part: whether and when it says which level it holds.
#[derive(Debug)]
pub struct Asked {
    random: Stream,
    /// How many levels there are.
    levels: u16,
    held: Level,
    /// What the source knows; none before the first table packet.
    known: Option<Level>,
    /// Until when the receiver starts; none before the first table packet.
    starts: Option<Time>,
    has_started: bool,
    due: Option<Time>,
    tries: u32,
    wait: Duration,
}

impl Asked {
    /// A receiver of a session with so many levels. Receivers must not have equal seeds.
    pub fn new(seed: u64, levels: u16) -> Asked {
        Asked {
            random: Stream::new(seed, "demand"),
            levels,
            held: Level::NONE,
            known: None,
            starts: None,
            has_started: false,
            due: None,
            tries: 0,
            wait: WAIT,
        }
    }

    /// A table packet says what the source knows, and with which exponent its receivers answer polls.
    pub fn heard(&mut self, now: Time, known: Level, exponent: u8) {
        self.known = Some(known);
        self.wait = (WAIT * (1 + u64::from(exponent))).min(WAIT_MAX);
        let starts = *self.starts.get_or_insert(now + START);
        self.has_started |= known == ALL || now >= starts;
        self.look(now);
    }

    /// The receiver holds this level now.
    pub fn hold(&mut self, now: Time, level: Level) {
        if level != self.held {
            self.held = level;
            self.look(now);
        }
    }

    /// When [`Asked::take_due`] has a message, if it will.
    pub fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// The level to be sent to the source, if that is due.
    pub fn take_due(&mut self, now: Time) -> Option<Level> {
        self.due.take_if(|at| *at <= now)?;
        let level = self.wanted();
        self.tries = self.tries.saturating_add(1);
        let again = (AGAIN * (1 << self.tries.saturating_sub(QUICK_TRIES).min(4))).min(AGAIN_MAX);
        self.due = Some(now + again + self.delay());
        Some(level)
    }

    /// Whether the source seems not to hear this receiver: so often it has said what it holds.
    pub fn is_unheard(&self) -> bool {
        self.tries >= TRIES
    }

    fn wanted(&self) -> Level {
        if self.has_started { self.held } else { ALL }
    }

    fn look(&mut self, now: Time) {
        if self.known.is_none_or(|known| self.wanted() <= known) {
            (self.due, self.tries) = (None, 0);
        } else if self.due.is_none() {
            self.due = Some(now + self.delay());
        }
    }

    /// A time to wait for others: less for a high level, and random with an exponential distribution that is cut
    /// at both ends, so that the first of many is early and few are with it.
    fn delay(&mut self) -> Duration {
        let wanted = f64::from(self.wanted().layer_count().min(self.levels));
        let rank = 1.0 - wanted / f64::from(self.levels.max(1));
        let drawn = 1.0 + ln(self.random.uniform().max(f64::MIN_POSITIVE)) / ln(RECEIVERS);
        self.wait.scaled(0.5 * rank + 0.5 * drawn.max(0.0))
    }
}
