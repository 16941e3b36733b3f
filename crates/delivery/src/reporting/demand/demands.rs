//! Which levels a source sends.

use layercast_core::units::{Duration, Level, Rate, Time};

use crate::packet::ALL;

/// The layers up to so many times the highest rate that is held are sent (CHOICE: a receiver that rises doubles its rate in a
/// round-trip time, and is heard in between).
pub const MARGIN: f64 = 4.0;
/// The layers up to so many times the lowest rate are always sent, if they are not above [`FLOOR_MOST`] (CHOICE: a receiver that
/// starts gets so far before it is heard, and one that cannot be heard gets no more).
pub const FLOOR: f64 = 64.0;
/// What is always sent is no more than this, or [`MARGIN`] times the lowest rate if that is more (CHOICE: up to here repair symbols that
/// nobody needs cost a few hundredths of a processor; at 128 Mbit/s they cost a quarter).
pub const FLOOR_MOST: Rate = Rate::from_mbps(20.0);
/// A receiver that holds so many times the highest known rate opens all layers: it may be about to start or to rise (CHOICE: half of
/// the margin, on a logarithmic scale).
const RISE: f64 = 2.0;

/// How long all layers are sent after the start, or a receiver's (CHOICE: longer than any start takes).
const OPEN: Duration = Duration::from_secs(30);
/// How long the source asks (CHOICE: table packets come at least once per second, so each is asked several times and
/// one whose message is lost repeats it).
const ASK: Duration = Duration::from_secs(5);
/// How long an answer counts before the source asks again (CHOICE).
const SETTLED: Duration = Duration::from_secs(20);
/// A known level that has changed is announced no sooner after the last one (CHOICE).
const ANNOUNCE_GAP: Duration = Duration::from_ms(50);
/// It is announced at least so often.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// All levels are sent.
    Open,
    /// The same levels are sent as before; the highest one that was heard in this phase.
    Asking(Level),
    /// The highest level that was heard when the source last asked.
    Settled(Level),
}

/// A source's part: what it knows of the levels that receivers hold.
#[derive(Clone, Debug)]
pub struct Demands {
    /// The rate of each level, from that of one layer on.
    rates: Vec<Rate>,
    phase: Phase,
    until: Time,
    /// Whether any receiver was heard: if none was, they may not be able to speak.
    has_heard: bool,
    /// The level that is sent, and whether that changed.
    sent: Level,
    has_changed: bool,
    /// What was announced last, and when.
    announced: (Level, Time),
}

impl Demands {
    /// A source that starts now, with the rates of its levels. None if there is no level above those that are always sent.
    pub fn new(rates: Vec<Rate>, now: Time) -> Option<Demands> {
        let top = Level::from_count(u16::try_from(rates.len()).ok()?);
        let demands = Demands {
            rates,
            phase: Phase::Open,
            until: now + OPEN,
            has_heard: false,
            sent: top,
            has_changed: false,
            announced: (ALL, now),
        };
        (demands.at_least(Level::NONE) < top).then_some(demands)
    }

    /// A receiver holds this level, or starts ([`ALL`]).
    pub fn note(&mut self, now: Time, level: Level) {
        self.has_heard = true;
        match self.phase {
            Phase::Open => {}
            _ if level == ALL => self.open(now),
            Phase::Settled(known) => {
                if level > self.times(known, RISE) {
                    self.open(now);
                }
            }
            Phase::Asking(highest) => self.phase = Phase::Asking(highest.max(level.min(self.top()))),
        }
    }

    /// A receiver was heard that said nothing of its level.
    pub fn heard(&mut self) {
        self.has_heard = true;
    }

    /// What a table packet that is sent now says: receivers that hold more shall say so.
    pub fn announce(&mut self, now: Time) -> Level {
        self.advance(now);
        self.announced = (self.known(), now);
        self.announced.0
    }

    /// Whether a table packet should be sent out of turn: the known level has changed, or was not announced for a while.
    pub fn is_urgent(&mut self, now: Time) -> bool {
        self.advance(now);
        let (announced, at) = self.announced;
        let passed = now.since(at);
        passed >= ANNOUNCE_EVERY || announced != self.known() && passed >= ANNOUNCE_GAP
    }

    /// The level that is to be sent from now on, if it has changed since the last call.
    pub fn take_change(&mut self, now: Time) -> Option<Level> {
        self.advance(now);
        core::mem::take(&mut self.has_changed).then_some(self.sent)
    }

    /// The level that is sent.
    pub fn sent(&self) -> Level {
        self.sent
    }

    fn top(&self) -> Level {
        Level::from_count(self.rates.len() as u16)
    }

    fn known(&self) -> Level {
        match self.phase {
            Phase::Open => ALL,
            Phase::Asking(highest) => highest,
            Phase::Settled(level) => self.times(level, RISE),
        }
    }

    fn open(&mut self, now: Time) {
        (self.phase, self.until) = (Phase::Open, now + OPEN);
        self.send(self.top());
    }

    fn advance(&mut self, now: Time) {
        if now < self.until {
            return;
        }
        match self.phase {
            Phase::Open | Phase::Settled(_) => {
                (self.phase, self.until) = (Phase::Asking(Level::NONE), now + ASK);
            }
            Phase::Asking(highest) if self.has_heard => {
                (self.phase, self.until) = (Phase::Settled(highest), now + SETTLED);
                self.send(self.at_least(highest));
            }
            Phase::Asking(_) => (self.phase, self.until) = (Phase::Open, now + SETTLED),
        }
    }

    fn send(&mut self, level: Level) {
        self.has_changed |= level != self.sent;
        self.sent = level;
    }

    /// The level to send where this one is the highest that is held.
    fn at_least(&self, held: Level) -> Level {
        let lowest = Level::from_count(1);
        let floor = self.times(lowest, FLOOR).min(self.reaching(FLOOR_MOST.as_bps()));
        self.times(held, MARGIN).max(floor).max(self.times(lowest, MARGIN))
    }

    /// The lowest level with so many times the rate of another one, or the highest there is.
    fn times(&self, level: Level, factor: f64) -> Level {
        let Some(of) = level.layer_count().checked_sub(1) else { return Level::NONE };
        let Some(rate) = self.rates.get(usize::from(of)) else { return self.top() };
        self.reaching(factor * rate.as_bps())
    }

    /// The lowest level with this rate, or the highest there is.
    fn reaching(&self, bps: f64) -> Level {
        let below = self.rates.iter().take_while(|other| other.as_bps() < bps).count();
        Level::from_count((below + 1).min(self.rates.len()) as u16)
    }
}
