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

/// So often a receiver says that it leaves or is complete: such a message has no answer.
const FAREWELLS: u32 = 2;

/// How often a receiver that loses much of the base says so, if it is the only one; of many each with the probability with which it
/// answers polls.
const COMPLAIN_EVERY: Duration = Duration::from_secs(1);

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
    /// Whether it has spoken since the source last asked: others may be silent because of it.
    has_spoken: bool,
    /// It needs no more, and says so as often as this yet.
    rests: Option<u32>,
    /// The share of the base that it loses, in 255ths, and when it may say so next.
    lost: (u8, Time),
    /// With which exponent receivers answer polls.
    exponent: u8,
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
            has_spoken: false,
            rests: None,
            lost: (0, Time::MAX),
            exponent: 0,
        }
    }

    /// The session that was asked for its layers is found: it has so many levels. Its receiver may have another clock.
    pub fn follow(&mut self, levels: u16) {
        self.levels = levels;
        (self.known, self.starts, self.due, self.tries) = (None, None, None, 0);
    }

    /// The receiver holds the base alone and loses so large a part of it, in 255ths; 0 if it does not.
    pub fn lose(&mut self, now: Time, lost: u8) {
        let next = match (lost, self.lost) {
            (0, _) => Time::MAX,
            (_, (0, _)) => now + self.random.uniform_duration(COMPLAIN_EVERY),
            (_, (_, next)) => next,
        };
        self.lost = (lost, next);
    }

    /// The part of the base that is lost, if it is to be said now.
    pub fn take_complaint(&mut self, now: Time) -> Option<u8> {
        let (lost, next) = self.lost;
        if now < next {
            return None;
        }
        self.lost.1 = now + COMPLAIN_EVERY;
        let speaks = self.random.chance(1.0 / (1u64 << self.exponent.min(63)) as f64);
        (speaks && self.rests.is_none()).then_some(lost)
    }

    /// A table packet says what the source knows, and with which exponent its receivers answer polls.
    pub fn heard(&mut self, now: Time, known: Level, exponent: u8) {
        let before = self.known.replace(known);
        self.has_spoken &= known != Level::NONE || before.is_none_or(|before| before == known);
        self.exponent = exponent;
        self.wait = (WAIT * (1 + u64::from(exponent))).min(WAIT_MAX);
        let starts = *self.starts.get_or_insert(now + START);
        self.has_started |= known == ALL || now >= starts;
        self.plan(now);
    }

    /// The receiver holds this level now.
    pub fn hold(&mut self, now: Time, level: Level) {
        if level != self.held {
            self.held = level;
            self.plan(now);
        }
    }

    /// The receiver leaves or is complete: it needs nothing above the base. It says so if it has spoken.
    pub fn rest(&mut self, now: Time) {
        let farewells = if std::mem::take(&mut self.has_spoken) { FAREWELLS } else { 0 };
        (self.rests, self.tries, self.lost) = (Some(farewells), 0, (0, Time::MAX));
        self.due = (farewells > 0).then_some(now);
    }

    /// A receiver that rested needs more: it begins as a new one.
    pub fn begin(&mut self, now: Time) {
        (self.rests, self.held, self.starts, self.has_started) = (None, Level::NONE, None, false);
        self.plan(now);
    }

    /// When [`Asked::take_due`] has a message, if it will.
    pub fn deadline(&self) -> Option<Time> {
        self.due.into_iter().chain([self.lost.1]).min().filter(|at| *at < Time::MAX)
    }

    /// The level to be sent to the source, if that is due.
    pub fn take_due(&mut self, now: Time) -> Option<Level> {
        self.due.take_if(|at| *at <= now)?;
        if let Some(farewells) = &mut self.rests {
            *farewells = farewells.saturating_sub(1);
            self.due = (*farewells > 0).then_some(now + AGAIN);
            return Some(Level::NONE);
        }
        self.has_spoken = true;
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

    fn plan(&mut self, now: Time) {
        if self.rests.is_some() {
            return;
        }
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
