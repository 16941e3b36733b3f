//! Cumulative layers at a receiver that finds losses layer by layer.

use alloc::vec::Vec;

use crate::estimator::{ArrivalClass, Packet, SendTime, SequenceTracker};
use crate::silence::{SILENCE, after_silence};
use layercast_core::contract::{ActionQueue, Cause, Origin, TraceEvent};
use layercast_core::units::{Duration, Layer, Level, Time, WireSeq};

/// The layers held, and what came and what was lost of each.
#[derive(Clone, Debug)]
pub struct CumulativeLayers {
    level: Level,
    trackers: Vec<SequenceTracker>,
    /// After how long a missing packet is lost by age alone; none where it is lost at once.
    late_limit: Option<Duration>,
    last_heard: Time,
}

impl CumulativeLayers {
    /// Layers of which none is held yet, one for each of `max_gaps`: the largest jump of its numbers that is
    /// taken for loss. A missing packet is lost once `reorder` later ones came or after `late_limit`.
    pub fn new(
        max_gaps: impl IntoIterator<Item = u32>,
        reorder: u32,
        late_limit: Duration,
    ) -> CumulativeLayers {
        let tracker = |(index, max_gap)| SequenceTracker::new(Layer(index as u16), reorder, max_gap);
        CumulativeLayers {
            level: Level::NONE,
            trackers: max_gaps.into_iter().enumerate().map(tracker).collect(),
            late_limit: (reorder > 1).then_some(late_limit),
            last_heard: Time::ZERO,
        }
    }

    /// The level held.
    pub fn level(&self) -> Level {
        self.level
    }

    /// How many layers there are.
    pub fn count(&self) -> u16 {
        self.trackers.len() as u16
    }

    /// Joins the base layer. Returns when to look for silence.
    pub fn begin<H>(&mut self, now: Time, actions: &mut ActionQueue<H>) -> Time {
        self.change(Level::up_to(Layer::BASE), Cause::Start, actions);
        self.listen(now)
    }

    /// Silence counts from here. Returns when to look for it.
    pub fn listen(&mut self, now: Time) -> Time {
        self.last_heard = now;
        now + SILENCE
    }

    /// Whether a packet that says that it is of `layer` counts: it came on that layer's channel, and the layer is
    /// held. Others come from elsewhere, or still arrive after a leave.
    pub fn accepts(&self, origin: Origin, layer: Layer) -> bool {
        origin == Origin::Channel(layer.channel()) && self.level.holds(layer) && layer.0 < self.count()
    }

    /// A packet that [counts](CumulativeLayers::accepts). What is found lost is handed out.
    pub fn on_packet<H>(
        &mut self,
        now: Time,
        layer: Layer,
        seq: WireSeq,
        actions: &mut ActionQueue<H>,
        on_lost: impl FnMut(&Packet),
    ) -> ArrivalClass {
        self.last_heard = now;
        let (_, class) = self.trackers[layer.index()].on_packet(seq, SendTime::from(now), now, on_lost);
        if class == ArrivalClass::Resynchronised {
            actions.trace(TraceEvent::Resynchronised { layer });
        }
        class
    }

    /// What came of a layer, which must exist.
    pub fn tracker(&self, layer: Layer) -> &SequenceTracker {
        &self.trackers[layer.index()]
    }

    /// What is missing now is not lost later.
    pub fn forgive(&mut self) {
        self.trackers.iter_mut().for_each(SequenceTracker::forgive);
    }

    /// Packets missing on the layers held, and not lost yet.
    pub fn missing(&self) -> u64 {
        let held = self.trackers.iter().take(usize::from(self.level.layer_count()));
        held.map(SequenceTracker::missing).sum()
    }

    /// Packets received and lost so far, on all layers.
    pub fn counts(&self) -> (u64, u64) {
        let counts = self.trackers.iter().map(SequenceTracker::counts);
        counts.fold((0, 0), |sum, layer| (sum.0 + layer.received, sum.1 + layer.lost))
    }

    /// The share of packets lost so far; none before the first packet.
    pub fn loss(&self) -> Option<f64> {
        let (received, lost) = self.counts();
        (received + lost > 0).then(|| lost as f64 / (received + lost) as f64)
    }

    /// When the next missing packet becomes lost by age alone.
    pub fn late_at(&self) -> Option<Time> {
        let late_limit = self.late_limit?;
        self.trackers.iter().filter_map(|tracker| tracker.deadline(late_limit)).min()
    }

    /// Hands out what has become lost by age alone.
    pub fn expire(&mut self, now: Time, mut on_lost: impl FnMut(&Packet)) {
        let Some(late_limit) = self.late_limit else { return };
        for tracker in &mut self.trackers {
            tracker.expire(now, late_limit, &mut on_lost);
        }
    }

    /// Silence may have lasted too long, which is worth a trace event; a base layer that could not be joined is
    /// tried again. Returns when to look again.
    pub fn on_silence<H>(&mut self, now: Time, actions: &mut ActionQueue<H>) -> Time {
        if self.level == Level::NONE {
            self.change(Level::up_to(Layer::BASE), Cause::Start, actions);
        }
        after_silence(now, self.last_heard, actions)
    }

    /// Leaves from the top, or joins from below, until `to` is held, a level that there is.
    pub fn hold<H>(&mut self, to: Level, actions: &mut ActionQueue<H>) {
        let (from, to) = (self.level.layer_count(), to.layer_count());
        for layer in (to..from).rev().map(Layer) {
            actions.leave(layer.channel());
            self.forget(layer);
        }
        for layer in (from..to).map(Layer) {
            actions.join(layer.channel());
            self.forget(layer);
        }
        self.level = Level::from_count(to);
    }

    /// [Holds](CumulativeLayers::hold) `to` and says why, if it is another level.
    pub fn change<H>(&mut self, to: Level, cause: Cause, actions: &mut ActionQueue<H>) {
        let from = self.level;
        if from != to {
            self.hold(to, actions);
            actions.trace(TraceEvent::LevelChanged { from, to, cause });
        }
    }

    /// The host could not join a layer, which is not held and so must not be left. Those above it have no use now.
    pub fn on_join_failed<H>(&mut self, failed: Layer, actions: &mut ActionQueue<H>) {
        if !self.level.holds(failed) {
            return;
        }
        let (from, cause) = (Level::up_to(failed), Cause::JoinFailed);
        self.change(from, cause, actions);
        self.give_up(failed);
        actions.trace(TraceEvent::LevelChanged { from, to: self.level, cause });
    }

    /// The highest layer held is not held any more, without a leave.
    pub fn give_up(&mut self, top: Layer) {
        self.forget(top);
        self.level = Level::from_count(top.0);
    }

    fn forget(&mut self, layer: Layer) {
        self.trackers[layer.index()].reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::contract::Action;
    use layercast_core::units::Channel;
    use std::vec::Vec;

    fn drained(actions: &mut ActionQueue<()>) -> Vec<Action<()>> {
        core::iter::from_fn(|| actions.pop()).collect()
    }

    #[test]
    fn a_join_that_fails_takes_the_layers_above_with_it() {
        let mut layers = CumulativeLayers::new([10; 4], 1, Duration::from_secs(1));
        let mut actions = ActionQueue::default();
        layers.change(Level::from_count(4), Cause::Start, &mut actions);
        assert_eq!(drained(&mut actions).len(), 5);
        layers.on_join_failed(Layer(1), &mut actions);
        let left = [Action::Leave(Channel(3)), Action::Leave(Channel(2))];
        let asked = drained(&mut actions);
        assert_eq!((&asked[..2], asked.len(), layers.level()), (&left[..], 4, Level::from_count(1)));
        layers.on_join_failed(Layer(1), &mut actions);
        assert_eq!(drained(&mut actions), []);
        assert!(layers.accepts(Origin::Channel(Channel(0)), Layer(0)));
        assert!(!layers.accepts(Origin::Channel(Channel(1)), Layer(1)), "it is not held");
        assert!(!layers.accepts(Origin::Channel(Channel(1)), Layer(0)), "it came on another channel");
    }

    #[test]
    fn what_is_missing_is_lost_by_age() {
        let mut layers = CumulativeLayers::new([10; 2], 3, Duration::from_secs(1));
        let mut actions = ActionQueue::<()>::default();
        layers.change(Level::from_count(1), Cause::Start, &mut actions);
        let at = |s| Time::ZERO + Duration::from_secs(s);
        for (second, seq) in [(1, 1), (2, 2), (3, 4)] {
            layers.on_packet(at(second), Layer(0), WireSeq(seq), &mut actions, |_| panic!("not lost yet"));
        }
        assert_eq!((layers.missing(), layers.late_at()), (1, Some(at(4))));
        let mut lost = 0;
        layers.expire(at(4), |_| lost += 1);
        assert_eq!((lost, layers.counts(), layers.loss()), (1, (3, 1), Some(0.25)));
    }
}
