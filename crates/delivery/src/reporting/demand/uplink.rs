//! What a source's own uplink carries.
//!
//! A queue at the source that is full refuses packets whatever their layer, so that receivers lose as much of the base as of the
//! layers that nobody holds. Receivers then leave layers, which relieves a source of nothing. So the source sends fewer.
//!
//! Where the queue is behind the next router, the source sees nothing of it. But then all receivers are at the base and lose much of
//! it: when some complain, and none says within two seconds that it holds more, the source sends fewer layers too. If that does not
//! help, their own paths were the reason, and it sends all again.

use layercast_core::units::{Duration, Rate, Time};

/// From this refused share on the uplink is full (CHOICE: below it receivers' congestion control does well).
const FULL: f64 = 0.05;
/// So many bytes at least are refused in that case: one packet shows nothing.
const LEAST: u64 = 2500;
/// In so many looks in a row (CHOICE: a burst of other traffic fills a queue for less than a second).
const LOOKS: u32 = 2;
/// The part of what was carried that is sent from then on (CHOICE: rates of layers are means, and a queue needs room).
const PART: f64 = 0.85;
/// It is never less than this: some packet shows that an uplink carries more again.
const LOWEST: f64 = 1000.0;
/// After this time without a refusal a higher rate is tried, by this factor. The time doubles whenever that was too much.
const FIRST_TRY: Duration = Duration::from_secs(30);
const LONGEST_TRY: Duration = Duration::from_secs(480);
const HIGHER: f64 = 1.5;
/// Below the base, and if only complaints say that no more is carried, it is tried sooner, and higher: a path that was down for
/// seconds loses as much as a narrow uplink, and so little is sent then that nobody can complain (CHOICE).
const SOONER: u64 = 4;
const MUCH_HIGHER: f64 = 2.0;

/// How long receivers that hold more have to say so when others complain.
const INQUIRY: Duration = Duration::from_secs(2);
/// Complaints in that time without which nothing is decided.
const COMPLAINTS: u32 = 2;
/// For so long after fewer layers are sent complaints are of before: losses are those of five seconds.
const SETTLES: Duration = Duration::from_secs(7);
/// Complaints after this time are of something else than before.
const HELPED: Duration = Duration::from_secs(30);
/// So often fewer layers are sent because of complaints before it is clear that this does not help.
const LOWERINGS: u32 = 2;

/// Receivers that lose much of the base.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inquiry {
    until: Time,
    /// The least part that one of them loses.
    least: f64,
    count: u32,
}

/// What is known of the uplink.
#[derive(Clone, Debug)]
pub(super) struct Uplink {
    /// The rate of the lowest level.
    base: Rate,
    /// The highest rate that it may be used for; none if any.
    cap: Option<Rate>,
    looked: Option<Time>,
    full: u32,
    /// When the next higher rate is tried, and how long after the last one.
    next: Time,
    wait: Duration,
    /// Whether the source saw itself that no more is carried.
    is_seen: bool,
    /// Whether a higher rate was tried, and not found too high yet.
    tries: bool,
    inquiry: Option<Inquiry>,
    /// Complaints before this time do not count, and how long they did not the last time that they were for nothing.
    deaf: (Time, Duration),
    /// How often fewer layers were sent because of complaints in a row, and when the last time.
    lowered: (u32, Time),
    /// What it was found to carry, and whether the source saw that itself.
    news: Option<(Rate, bool)>,
}

impl Uplink {
    /// An uplink of which nothing is known, for levels from this rate on.
    pub(super) fn new(base: Rate) -> Uplink {
        let (next, wait) = (Time::ZERO, FIRST_TRY);
        Uplink {
            base,
            cap: None,
            looked: None,
            full: 0,
            next,
            wait,
            is_seen: false,
            tries: false,
            inquiry: None,
            deaf: (Time::ZERO, wait),
            lowered: (0, Time::ZERO),
            news: None,
        }
    }

    /// So many bytes were taken since the last look, and so many refused. `top` is the rate of all layers.
    pub(super) fn observe(&mut self, now: Time, taken: u64, refused: u64, top: Rate) {
        let passed = now.since(self.looked.replace(now).unwrap_or(now)).as_secs_f64();
        let is_full = refused >= LEAST && refused as f64 >= FULL * (taken + refused) as f64;
        if !is_full || passed <= 0.0 {
            self.full = 0;
            self.raise_cap(now, top);
            return;
        }
        self.full += 1;
        if self.full < LOOKS {
            return;
        }
        self.full = 0;
        self.lower(now, Rate::from_bps(8.0 * taken as f64 / passed), true);
    }

    /// No more than so much is carried, as the source saw or as it learnt.
    fn lower(&mut self, now: Time, carried: Rate, is_seen: bool) {
        // A cap below which something else fills the uplink is lowered too: packets that are refused help nobody.
        let before = self.cap.unwrap_or(carried).as_bps();
        self.cap = Some(Rate::from_bps((PART * before.min(carried.as_bps())).max(LOWEST)));
        if std::mem::take(&mut self.tries) {
            self.wait = (self.wait * 2).min(LONGEST_TRY);
        } else {
            self.news = Some((carried, is_seen));
        }
        self.is_seen = is_seen;
        self.plan(now);
    }

    /// Whether less than the base is sent because of complaints alone.
    fn is_hasty(&self) -> bool {
        !self.is_seen && self.cap.is_some_and(|cap| cap < self.base)
    }

    /// Plans when a higher rate is tried.
    fn plan(&mut self, now: Time) {
        let sooner = if self.is_hasty() { SOONER } else { 1 };
        self.next = now + Duration::from_ns(self.wait.as_ns() / sooner);
    }

    /// A receiver at the base loses this part of it. Returns whether those that hold more are to say so.
    pub(super) fn complain(&mut self, now: Time, lost: f64) -> bool {
        if let Some(inquiry) = &mut self.inquiry {
            (inquiry.least, inquiry.count) = (inquiry.least.min(lost), inquiry.count + 1);
            return false;
        }
        let begins = now >= self.deaf.0;
        if begins {
            self.inquiry = Some(Inquiry { until: now + INQUIRY, least: lost, count: 1 });
        }
        begins
    }

    /// A receiver holds more than the base: the others' own paths lose.
    pub(super) fn is_fine(&mut self, now: Time) {
        if self.inquiry.take().is_some() {
            self.deaf.0 = now + SETTLES;
        }
    }

    /// Decides when an inquiry is over. This rate was sent meanwhile.
    pub(super) fn judge(&mut self, now: Time, sent: Rate) {
        let Some(inquiry) = self.inquiry.take_if(|inquiry| now >= inquiry.until) else { return };
        if inquiry.count < COMPLAINTS {
            return;
        }
        let (before, at) = self.lowered;
        let before = if now.since(at) < HELPED { before } else { 0 };
        if before >= LOWERINGS {
            let wait = (self.deaf.1 * 2).min(LONGEST_TRY);
            (self.cap, self.deaf, self.lowered) = (None, (now + wait, wait), (0, now));
        } else {
            (self.deaf.0, self.lowered) = (now + SETTLES, (before + 1, now));
            self.lower(now, sent.scaled(1.0 - inquiry.least), false);
        }
    }

    fn raise_cap(&mut self, now: Time, top: Rate) {
        let Some(cap) = self.cap.filter(|_| now >= self.next) else { return };
        let higher = cap.scaled(if self.is_hasty() { MUCH_HIGHER } else { HIGHER });
        self.cap = Some(higher).filter(|higher| *higher < top);
        self.tries = true;
        self.plan(now);
    }

    /// The highest rate that it may be used for; none if any.
    pub(super) fn cap(&self) -> Option<Rate> {
        self.cap
    }

    /// What it carries, once after this was found, and whether the source saw it itself.
    pub(super) fn take_news(&mut self) -> Option<(Rate, bool)> {
        self.news.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that was down for seconds has lost nearly all. What is sent then is too little for anyone to complain.
    #[test]
    fn after_an_outage_of_its_only_receiver_a_source_sends_the_base_again_soon() {
        let (base, top) = (Rate::from_kbps(200.0), Rate::from_mbps(10.0));
        let mut uplink = Uplink::new(base);
        let mut slow = 0.0;
        for half in 0..400 {
            let now = Time::from_secs_f64(f64::from(half) / 2.0);
            if [80, 82, 84].contains(&half) {
                uplink.complain(now, 0.98);
            }
            uplink.judge(now, base);
            uplink.observe(now, 1000, 0, top);
            slow += if uplink.cap().is_some_and(|cap| cap < base) { 0.5 } else { 0.0 };
        }
        assert!((5.0..60.0).contains(&slow), "{slow} s");
    }
}
