use super::*;
use crate::wei_zhang::TICKS;
use alloc::vec::Vec;
use layercast_core::contract::{Ecn, JoinError, Origin};
use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size, WireSeq};

/// A receiver under test, with one number counter per layer. Each layer has 400 kbit/s, tau_0 is 80 ms.
struct Bench {
    receiver: Receiver,
    now: Time,
    next: [u32; 6],
    actions: Vec<Action<Header>>,
}

fn options() -> Options {
    Options { base_interval: Duration::from_ms(80), ..Options::default() }
}

impl Bench {
    fn new(options: &Options) -> Bench {
        let layers = LayerTable::equal(Rate::from_kbps(400.0), 6).expect("a layer table");
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let receiver = Receiver::new(options, plan, Stream::new(1, "receiver"));
        let mut bench = Bench { receiver, now: Time::ZERO, next: [0; 6], actions: Vec::new() };
        bench.give(Input::Start);
        bench
    }

    fn give(&mut self, input: Input<Header>) {
        self.receiver.handle(self.now, input);
        self.actions.clear();
        while let Some(action) = self.receiver.poll_action() {
            self.actions.push(action);
        }
    }

    fn packet(&mut self, layer: u16, ticks: u64) {
        let seq = &mut self.next[usize::from(layer)];
        let header = Header { layer: Layer(layer), seq: WireSeq(*seq), ticks };
        *seq += 1;
        let origin = Origin::Channel(Channel(layer));
        let size = Size::from_bytes(1000);
        self.give(Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }

    /// Base packets every 20 ms up to this many base intervals after the start.
    fn until(&mut self, intervals: u64) {
        let end = Time::ZERO + Duration::from_ms(80) * intervals;
        while self.now < end {
            self.now += Duration::from_ms(20);
            self.packet(0, self.now.since(Time::ZERO).as_ns() * TICKS / 80_000_000);
        }
    }

    fn lose(&mut self, layer: u16) {
        self.next[usize::from(layer)] += 1;
        self.packet(layer, 0);
    }

    fn level(&self) -> u16 {
        self.receiver.estimates(self.now).level.layer_count()
    }
}

#[test]
fn each_layer_waits_for_its_own_points() {
    let mut bench = Bench::new(&options());
    bench.until(1);
    assert_eq!(bench.level(), 1, "points of layer 1 are two intervals apart");
    for (intervals, level) in [(2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (20, 6)] {
        bench.until(intervals);
        assert_eq!(bench.level(), level, "after {intervals}");
    }
}

#[test]
fn a_loss_costs_the_top_layer_once_in_a_deaf_period() {
    let mut bench = Bench::new(&options());
    bench.until(3);
    bench.packet(1, 0);
    bench.lose(1);
    assert_eq!(bench.level(), 2);
    assert!(bench.actions.contains(&Action::Leave(Channel(2))), "{:?}", bench.actions);
    bench.lose(1);
    assert_eq!(bench.level(), 2, "it belongs to the same event");
    bench.until(4);
    assert_eq!(bench.level(), 2, "a point of layer 2 is at 6");
    bench.now += Duration::from_ms(1);
    bench.packet(1, 0);
    bench.now += Duration::from_ms(100);
    bench.lose(1);
    assert_eq!(bench.level(), 1);
}

#[test]
fn points_in_a_deaf_period_pass() {
    let mut bench = Bench::new(&Options { deaf_minimum: Duration::from_ms(200), ..options() });
    bench.until(2);
    bench.packet(1, 0);
    bench.until(3);
    assert_eq!(bench.level(), 3);
    bench.until(5);
    bench.lose(1);
    assert_eq!(bench.level(), 4, "from 5 layers");
    bench.until(6);
    assert_eq!(bench.level(), 4, "deaf until 7.5");
    bench.until(10);
    assert_eq!(bench.level(), 5);
}

#[test]
fn failed_experiments_are_repeated_less_and_less() {
    let mut bench = Bench::new(&Options { backoff: true, ..options() });
    bench.until(2);
    let mut joined_at = Vec::new();
    for interval in 3..80 {
        bench.until(interval);
        if bench.level() == 3 {
            joined_at.push(interval);
            bench.packet(1, 0);
            bench.now += Duration::from_ms(5);
            bench.lose(1);
            assert_eq!(bench.level(), 2);
        }
    }
    // Points of layer 2 are at 3, 6, 9 and so on: 1, 3, 7 of them pass.
    assert_eq!(joined_at, [3, 9, 21, 45]);
}

#[test]
fn a_clock_that_jumps_opens_no_layer() {
    let mut bench = Bench::new(&options());
    bench.until(1);
    bench.now += Duration::from_ms(20);
    bench.packet(0, 1 << 40);
    assert_eq!(bench.level(), 1);
    bench.now += Duration::from_ms(20);
    bench.packet(0, TICKS + 512);
    bench.until(2);
    assert_eq!(bench.level(), 2, "the true time is accepted again");
}

#[test]
fn layers_that_cannot_be_joined_are_tried_at_a_later_point() {
    let mut bench = Bench::new(&options());
    bench.until(2);
    bench.give(Input::JoinFailed(Channel(1), JoinError::Limit));
    assert_eq!(bench.level(), 1);
    bench.until(4);
    assert_eq!(bench.level(), 2);
    bench.give(Input::Stop);
    assert_eq!(bench.level(), 0);
}

#[test]
fn points_may_be_counted_from_the_join() {
    // The first packet comes at 20 ms, so all points are 20 ms later than the source's.
    let mut bench = Bench::new(&Options { points_from: PointOrigin::Join, ..options() });
    bench.until(2);
    assert_eq!(bench.level(), 1, "two intervals since the source's start, not since the first packet");
    bench.until(3);
    assert_eq!(bench.level(), 2);
    bench.until(4);
    assert_eq!(bench.level(), 3, "three intervals after the first packet, soon after the last join");
}

#[test]
fn points_from_the_last_event_start_again_with_each_change() {
    let mut bench = Bench::new(&Options { points_from: PointOrigin::Event, ..options() });
    bench.until(3);
    assert_eq!(bench.level(), 2, "joined at 180 ms");
    bench.until(5);
    assert_eq!(bench.level(), 2, "three intervals since then end at 420 ms");
    bench.until(6);
    assert_eq!(bench.level(), 3);
    bench.packet(1, 0);
    bench.lose(1);
    bench.until(8);
    assert_eq!(bench.level(), 2, "three intervals since the loss at 480 ms end at 720 ms");
    bench.until(9);
    assert_eq!(bench.level(), 3);
}
