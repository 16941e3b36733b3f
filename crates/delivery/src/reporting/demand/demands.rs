//! Which levels a source sends, and when it sends next to nothing.

use layercast_core::units::{Duration, Level, Rate, Size, Time};

use super::uplink::Uplink;
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
/// The same after a receiver has left or is complete (CHOICE: two table packets and the answers to them; who is missed says so
/// half a second later).
const ASK_AFTER_ONE: Duration = Duration::from_secs(2);
/// How long an answer counts before the source asks again (CHOICE).
const SETTLED: Duration = Duration::from_secs(20);
/// A known level that has changed is announced no sooner after the last one (CHOICE).
const ANNOUNCE_GAP: Duration = Duration::from_ms(50);
/// It is announced at least so often.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);

/// A source of which nobody was heard for so long has tripped its circuit breaker (RFC 8085, section 3.1.10; RFC 8084, section 3:
/// tens of seconds, and silence of the far end trips it). CHOICE: six polls; a receiver that is there answers the fifth for certain.
pub const SILENCE: Duration = Duration::from_secs(30);
/// After that it sends a packet each so long, by which receivers find the session: what RFC 8085, section 3.1.3, allows a sender
/// that knows no round-trip time.
pub const ANNOUNCEMENT_EVERY: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// All levels are sent.
    Open,
    /// The same levels are sent as before, or more; the highest one that was heard in this phase, and whether to ask once more.
    Asking(Level, bool),
    /// The highest level that was heard when the source last asked. Where it is none, the source goes on asking.
    Settled(Level),
}

/// What a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The layers of this level.
    pub level: Level,
    /// A packet of the base channel each so long, and nothing else; none for all that the layers have.
    pub every: Option<Duration>,
}

/// A source's part: what it knows of the levels that receivers hold, and of its uplink.
#[derive(Clone, Debug)]
pub struct Demands {
    /// The rate of each level, from that of one layer on.
    rates: Vec<Rate>,
    packet: Size,
    /// Whether receivers are asked; otherwise all levels are always in demand.
    asks: bool,
    phase: Phase,
    until: Time,
    /// When a receiver that stays was heard last, or the session had news for those that nobody hears.
    heard: Time,
    /// The level in demand.
    wanted: Level,
    uplink: Uplink,
    /// What the host sends by the last [`Demands::take_change`].
    pub(super) taken: Sending,
    /// What was announced last, and when.
    announced: (Level, Time),
}

impl Demands {
    /// A source that starts now with levels of these rates, in packets of this size, and sends the base until a receiver is heard.
    pub fn new(rates: Vec<Rate>, packet: Size, now: Time) -> Demands {
        let top = Level::from_count(rates.len() as u16);
        let mut demands = Demands {
            uplink: Uplink::new(rates.first().copied().unwrap_or_default()),
            rates,
            packet,
            asks: true,
            phase: Phase::Settled(Level::NONE),
            until: now,
            heard: now,
            wanted: top,
            // What endpoints do by themselves.
            taken: Sending { level: top, every: None },
            announced: (Level::NONE, now),
        };
        demands.wanted = demands.at_least(Level::NONE);
        demands
    }

    /// The same of a source that asks nobody, and sends all levels that its uplink carries.
    pub fn all(rates: Vec<Rate>, packet: Size, now: Time) -> Demands {
        let asking = Demands::new(rates, packet, now);
        Demands { asks: false, wanted: asking.top(), ..asking }
    }

    /// A receiver holds this level, or starts ([`ALL`]), or needs no more of any (none): it leaves or is complete.
    pub fn note(&mut self, now: Time, level: Level) {
        if level == Level::NONE {
            return self.left(now);
        }
        self.heard = now;
        if level > Level::from_count(1) && level != ALL {
            self.uplink.is_fine(now);
        }
        match self.phase {
            Phase::Open => {}
            _ if level == ALL => self.open(now),
            Phase::Settled(known) => {
                if level > self.times(known, RISE) {
                    self.open(now);
                }
            }
            Phase::Asking(highest, again) => {
                let highest = highest.max(level.min(self.top()));
                self.phase = Phase::Asking(highest, again);
                self.wanted = self.wanted.max(self.at_least(highest));
            }
        }
    }

    /// A receiver that holds the base alone loses this part of it, in 255ths.
    pub fn complain(&mut self, now: Time, lost: u8) {
        if self.uplink.complain(now, f64::from(lost) / 255.0) {
            self.left(now);
        }
        self.note(now, Level::from_count(1));
    }

    /// A receiver was heard that stays, and said nothing of its level.
    pub fn heard(&mut self, now: Time) {
        self.heard = now;
    }

    /// A receiver leaves or is complete: it may have been the last.
    pub fn left(&mut self, now: Time) {
        match self.phase {
            Phase::Settled(Level::NONE) => {}
            Phase::Open | Phase::Settled(_) => {
                (self.phase, self.until) = (Phase::Asking(Level::NONE, false), now + ASK_AFTER_ONE);
            }
            // Where none has answered it was none of those who did; a receiver says more than once that it leaves.
            Phase::Asking(Level::NONE, _) => {}
            Phase::Asking(highest, _) => self.phase = Phase::Asking(highest, true),
        }
    }

    /// The session has something new: receivers that nobody hears get the base again, as at the start.
    pub fn renew(&mut self, now: Time) {
        self.heard(now);
    }

    /// What the network took of the source's packets since the last call, and what it refused, in bytes.
    pub fn check_uplink(&mut self, now: Time, taken: u64, refused: u64) {
        self.uplink.observe(now, taken, refused, self.rates.last().copied().unwrap_or_default());
    }

    /// What the uplink carries, once after each time that this was found to be less than is sent, and whether the source saw that
    /// itself.
    pub fn take_uplink_news(&mut self) -> Option<(Rate, bool)> {
        self.uplink.take_news()
    }

    /// What a table packet that is sent now says: receivers that hold more shall say so.
    pub fn announce(&mut self, now: Time) -> Option<Level> {
        self.advance(now);
        self.announced = (self.known(), now);
        self.asks.then_some(self.announced.0)
    }

    /// Whether a table packet should be sent out of turn: the known level has changed, or was not announced for a while.
    pub fn is_urgent(&mut self, now: Time) -> bool {
        self.advance(now);
        let (announced, at) = self.announced;
        let passed = now.since(at);
        self.asks && (passed >= ANNOUNCE_EVERY || announced != self.known() && passed >= ANNOUNCE_GAP)
    }

    /// What is to be sent from now on, if that has changed since the last call.
    pub fn take_change(&mut self, now: Time) -> Option<Sending> {
        self.advance(now);
        let Sending { level, every } = self.taken;
        let paced = every.map(|every| Rate::from_bps(self.packet.as_bits() as f64 / every.as_secs_f64()));
        let of_level = self.rates.get(usize::from(level.layer_count().saturating_sub(1))).copied();
        self.uplink.judge(now, paced.or(of_level).unwrap_or_default());
        let sending = self.sending(now);
        (std::mem::replace(&mut self.taken, sending) != sending).then_some(sending)
    }

    /// Whether nobody has been heard for so long that the source only announces the session.
    pub fn is_alone(&self, now: Time) -> bool {
        self.asks && self.phase == Phase::Settled(Level::NONE) && now.since(self.heard) >= SILENCE
    }

    fn sending(&self, now: Time) -> Sending {
        let cap = self.uplink.cap().map_or(f64::INFINITY, Rate::as_bps);
        let below = self.rates.iter().take_while(|rate| rate.as_bps() <= cap).count() as u16;
        let gap = || Duration::from_secs_f64(self.packet.as_bits() as f64 / cap);
        let paced = (below == 0).then(|| gap().min(ANNOUNCEMENT_EVERY));
        Sending {
            level: self.wanted.min(Level::from_count(below.max(1))),
            every: if self.is_alone(now) { Some(ANNOUNCEMENT_EVERY) } else { paced },
        }
    }

    fn top(&self) -> Level {
        Level::from_count(self.rates.len() as u16)
    }

    fn known(&self) -> Level {
        match self.phase {
            Phase::Open => ALL,
            Phase::Asking(highest, _) => highest,
            Phase::Settled(level) => self.times(level, RISE),
        }
    }

    fn open(&mut self, now: Time) {
        (self.phase, self.until) = (Phase::Open, now + OPEN);
        self.wanted = self.top();
    }

    fn advance(&mut self, now: Time) {
        if now < self.until || !self.asks {
            return;
        }
        match self.phase {
            Phase::Settled(Level::NONE) => {}
            Phase::Open | Phase::Settled(_) => {
                (self.phase, self.until) = (Phase::Asking(Level::NONE, false), now + ASK);
            }
            // Who left may have been the highest.
            Phase::Asking(_, true) => {
                (self.phase, self.until) = (Phase::Asking(Level::NONE, false), now + ASK_AFTER_ONE);
            }
            Phase::Asking(highest, false) => {
                (self.phase, self.until) = (Phase::Settled(highest), now + SETTLED);
                self.wanted = self.at_least(highest);
            }
        }
    }

    /// The level to send where this one is the highest that is held: the base, where none is.
    fn at_least(&self, held: Level) -> Level {
        let lowest = Level::from_count(1);
        if held == Level::NONE {
            return lowest;
        }
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
