use alloc::vec;

use layercast_core::contract::{Ecn, JoinError};
use layercast_core::units::{Duration, Size, WireSeq};

use super::*;

const SIZE: Size = Size::from_bytes(500);

/// A receiver of five layers of 100 kbit/s.
struct Bench {
    receiver: Receiver,
    now: Time,
    next: [u32; 5],
    actions: Vec<Action<Header>>,
}

impl Bench {
    fn new(options: &Options) -> Bench {
        let layers = LayerTable::from_rates([Rate::from_kbps(100.0); 5]).expect("layers");
        let plan = SessionPlan { layers, packet_size: SIZE };
        let receiver = Receiver::new(options, plan, Stream::new(1, "receiver"));
        let mut bench = Bench { receiver, now: Time::ZERO, next: [0; 5], actions: Vec::new() };
        bench.give(Input::Start);
        bench
    }

    fn give(&mut self, input: Input<Header>) {
        self.receiver.handle(self.now, input);
        self.actions.clear();
        while let Some(action) = self.receiver.poll_action() {
            self.actions.push(action);
        }
        assert!(self.receiver.deadline().is_none_or(|at| at > self.now));
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_ms(ms);
        self.give(Input::Timer);
    }

    fn packet(&mut self, layer: u16, is_first: bool) {
        let seq = &mut self.next[usize::from(layer)];
        let header = Header { layer: Layer(layer), seq: WireSeq(*seq), is_first };
        *seq += 1;
        let origin = Origin::Channel(Channel(layer));
        self.give(Input::Packet(Arrival { origin, size: SIZE, ecn: Ecn::NotCapable, header }));
    }

    /// A pair of a layer that shows this bandwidth.
    fn pair(&mut self, layer: u16, kbps: f64) {
        self.packet(layer, true);
        self.now += Rate::from_kbps(kbps).time_to_send(SIZE);
        self.packet(layer, false);
    }

    /// Pairs every 100 ms that show this bandwidth.
    fn pairs(&mut self, seconds: f64, kbps: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.wait(100);
            self.pair(0, kbps);
        }
    }

    fn lose(&mut self, layer: u16, count: u32) {
        self.next[usize::from(layer)] += count;
    }

    fn held(&self) -> u16 {
        self.receiver.level.layer_count()
    }
}

#[test]
fn the_level_lies_below_the_rate() {
    let layers = LayerTable::from_rates([Rate::from_kbps(100.0); 5]).expect("layers");
    let rates = [0.0, 100.0, 100.1, 300.0, 301.0, 500.0, 9e9].map(Rate::from_kbps);
    let counts = rates.map(|rate| level_below(&layers, rate).layer_count());
    assert_eq!(counts, [0, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn all_layers_below_the_estimate_are_joined_after_one_check_period() {
    let mut bench = Bench::new(&Options::default());
    assert_eq!(bench.actions[0], Action::Join(Channel(0)));
    bench.pairs(1.0, 350.0);
    assert_eq!(bench.held(), 1, "the period begins with the first estimate");
    bench.pairs(0.2, 350.0);
    assert_eq!(bench.held(), 3);
    bench.pairs(5.0, 350.0);
    assert_eq!(bench.held(), 3);
    bench.pairs(2.2, 9000.0);
    assert_eq!(bench.held(), 5, "the period of the rise does not count; there are no more layers");
}

#[test]
fn joins_follow_the_smallest_estimate_of_the_period() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(0.5, 450.0);
    bench.pair(0, 250.0);
    bench.pairs(0.8, 450.0);
    assert_eq!(bench.held(), 2);
    let belief = bench.receiver.estimates(bench.now);
    let kbps = |rate: RateEstimate| rate.known().expect("an estimate").as_kbps().round();
    assert_eq!((kbps(belief.rate), kbps(belief.smoothed_rate)), (450.0, 250.0));
}

#[test]
fn one_estimate_below_the_level_is_enough_to_leave() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(1.2, 450.0);
    assert_eq!(bench.held(), 4);
    bench.wait(100);
    bench.pair(2, 250.0);
    assert_eq!(bench.held(), 2);
    let (from, to) = (Level::from_count(4), Level::from_count(2));
    let note = TraceEvent::LevelChanged { from, to, cause: Cause::RateBelow };
    assert_eq!(
        bench.actions,
        vec![Action::Leave(Channel(3)), Action::Leave(Channel(2)), Action::Trace(note)]
    );
    bench.pairs(0.9, 450.0);
    assert_eq!(bench.held(), 2, "a whole check period passes first");
    bench.pairs(0.3, 450.0);
    assert_eq!(bench.held(), 4);
}

#[test]
fn a_pair_that_lost_a_packet_shows_nothing() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(1.2, 450.0);
    bench.packet(0, true);
    bench.lose(0, 1);
    bench.wait(400);
    bench.packet(0, true);
    bench.lose(0, 2);
    bench.packet(0, false);
    assert_eq!(bench.held(), 4);
}

#[test]
fn heavy_loss_costs_one_layer_and_blinds() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(1.2, 450.0);
    let lossy = |bench: &mut Bench, count: usize| {
        for _ in 0..count {
            bench.wait(10);
            bench.lose(0, 1);
            bench.packet(0, false);
        }
    };
    lossy(&mut bench, 10);
    assert_eq!(bench.held(), 4);
    lossy(&mut bench, 1);
    assert_eq!(bench.held(), 3);
    lossy(&mut bench, 49);
    assert_eq!(bench.held(), 3, "500 ms have not passed");
    lossy(&mut bench, 15);
    assert_eq!(bench.held(), 2);
}

#[test]
fn a_share_below_the_base_layer_ends_reception_for_a_while() {
    let mut bench = Bench::new(&Options::default());
    bench.pair(0, 50.0);
    assert_eq!(bench.held(), 0);
    bench.wait(29_900);
    assert_eq!(bench.held(), 0);
    bench.wait(200);
    assert_eq!((bench.held(), bench.actions[0]), (1, Action::Join(Channel(0))));
    bench.pairs(1.2, 150.0);
    assert_eq!(bench.held(), 1);

    let mut bench = Bench::new(&Options { keep_base: true, ..Options::default() });
    bench.pair(0, 50.0);
    assert_eq!((bench.held(), bench.actions.len()), (1, 0));
}

#[test]
fn failed_joins_are_tried_again() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(1.2, 450.0);
    bench.give(Input::JoinFailed(Channel(2), JoinError::Limit));
    assert_eq!((bench.held(), bench.actions[0]), (2, Action::Leave(Channel(3))));
    bench.pairs(1.2, 450.0);
    assert_eq!(bench.held(), 4);
    bench.give(Input::JoinFailed(Channel(0), JoinError::Limit));
    assert_eq!(bench.held(), 0);
    bench.wait(30_000);
    assert_eq!(bench.held(), 1);
}

#[test]
fn silence_is_noted_and_changes_nothing() {
    let mut bench = Bench::new(&Options::default());
    bench.pairs(1.2, 450.0);
    bench.wait(9_000);
    bench.wait(2_000);
    assert!(matches!(bench.actions[..], [Action::Trace(TraceEvent::Silent { .. })]), "{:?}", bench.actions);
    assert_eq!(bench.held(), 4);
    bench.give(Input::Stop);
    assert_eq!((bench.held(), bench.receiver.deadline()), (0, None));
}
