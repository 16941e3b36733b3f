use super::*;
use layercast_core::contract::{Ecn, JoinError, Origin};
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size};

/// A receiver under test, with one number counter per layer.
struct Bench {
    receiver: Receiver,
    now: Time,
    next: [u16; 4],
    actions: Vec<Action<Header>>,
}

impl Bench {
    fn new(options: &Options) -> Bench {
        let layers = LayerTable::doubling(Rate::from_kbps(128.0), 4).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let receiver = Receiver::new(options, plan, Stream::new(1, "receiver"));
        let mut bench = Bench { receiver, now: Time::ZERO, next: [0; 4], actions: Vec::new() };
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
    }

    fn packet(&mut self, layer: u8, change: impl FnOnce(&mut Header)) {
        let seq = &mut self.next[usize::from(layer)];
        let mut header = Header { layer, seq: *seq, ..Header::default() };
        *seq = seq.wrapping_add(1);
        change(&mut header);
        self.arrive(u16::from(layer), header);
    }

    fn arrive(&mut self, channel: u16, header: Header) {
        let origin = Origin::Channel(Channel(channel));
        let size = Size::from_bytes(1000);
        self.give(Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }

    fn plain(&mut self, layer: u8) {
        self.packet(layer, |_| ());
    }

    fn lose(&mut self, layer: u8) {
        self.next[usize::from(layer)] += 1;
    }

    /// A point of `layer`, one base interval times `1 << layer` after the last input.
    fn point(&mut self, layer: u8, number: u32) {
        self.wait(250 << layer);
        self.packet(layer, |header| (header.is_point, header.point) = (true, WireSeq(number)));
    }

    fn level(&self) -> i32 {
        self.receiver.layers.level().as_number()
    }

    /// Climbs to level 1 by points 1 and 2 of the base layer.
    fn at_level_1() -> Bench {
        let mut bench = Bench::new(&Options::default());
        bench.point(0, 1);
        bench.point(0, 2);
        assert_eq!(bench.level(), 1);
        bench.plain(1);
        bench
    }
}

#[test]
fn starts_at_the_base_and_waits_for_one_whole_interval() {
    let mut bench = Bench::new(&Options::default());
    assert_eq!(bench.actions[0], Action::Join(Channel(0)));
    bench.point(0, 7);
    assert_eq!(bench.level(), 0);
    bench.point(0, 8);
    assert_eq!(bench.actions[0], Action::Join(Channel(1)));
    let (from, to) = (Level::from_count(1), Level::from_count(2));
    let cause = Cause::SynchronisationPoint;
    assert_eq!(bench.actions[1], Action::Trace(TraceEvent::LevelChanged { from, to, cause }));
}

#[test]
fn a_point_is_used_once_whatever_its_copies_and_layers() {
    let mut bench = Bench::at_level_1();
    bench.wait(250);
    // Point 2 again, now seen on the new top layer; then a copy of point 4 after point 4.
    bench.packet(1, |header| (header.is_point, header.point) = (true, WireSeq(2)));
    assert_eq!(bench.level(), 1);
    bench.point(1, 4);
    assert_eq!(bench.level(), 2);
    bench.plain(2);
    bench.packet(2, |header| (header.is_point, header.copy, header.point) = (true, 1, WireSeq(4)));
    assert_eq!(bench.level(), 2);
}

#[test]
fn a_point_of_a_lower_layer_is_not_for_this_receiver() {
    let mut bench = Bench::at_level_1();
    bench.point(0, 3);
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_loss_costs_the_top_layer_and_then_the_receiver_is_deaf() {
    let mut bench = Bench::at_level_1();
    bench.lose(0);
    bench.plain(0);
    assert!(matches!(bench.actions[0], Action::Trace(TraceEvent::LossEvent { layer: Layer::BASE, .. })));
    assert_eq!(bench.actions[1], Action::Leave(Channel(1)));
    assert_eq!(bench.level(), 0);
    // Deaf for 500 ms: neither losses nor points count.
    bench.lose(0);
    bench.plain(0);
    assert!(bench.actions.is_empty());
    bench.point(0, 3);
    assert_eq!(bench.level(), 0);
    bench.wait(250);
    bench.point(0, 5);
    assert_eq!(bench.level(), 1);
}

#[test]
fn the_base_layer_is_never_left_but_its_losses_forbid_the_next_join() {
    let mut bench = Bench::new(&Options::default());
    bench.point(0, 1);
    bench.lose(0);
    bench.plain(0);
    assert_eq!(bench.level(), 0);
    bench.point(0, 2);
    assert_eq!(bench.level(), 0);
    bench.point(0, 3);
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_loss_in_a_burst_only_forbids_the_next_join() {
    let mut bench = Bench::at_level_1();
    bench.packet(1, |header| (header.burst_place, header.burst_length) = (1, 4));
    bench.lose(1);
    bench.packet(1, |header| (header.burst_place, header.burst_length) = (3, 4));
    bench.lose(1);
    bench.wait(500);
    // The point itself shows that the packet before it belonged to the burst.
    bench.packet(1, |header| {
        (header.is_point, header.point, header.burst_length) = (true, WireSeq(4), 4);
    });
    assert_eq!(bench.level(), 1);
    bench.point(1, 6);
    assert_eq!(bench.level(), 2);
}

#[test]
fn points_that_come_too_early_are_ignored() {
    let mut bench = Bench::at_level_1();
    bench.packet(1, |header| (header.burst_place, header.burst_length) = (1, 2));
    bench.lose(1);
    bench.wait(500);
    // The burst was not clean, so this point is accepted but not used.
    bench.packet(1, |header| (header.is_point, header.point, header.burst_length) = (true, WireSeq(4), 2));
    bench.wait(300);
    bench.packet(1, |header| (header.is_point, header.point) = (true, WireSeq(6)));
    assert_eq!(bench.level(), 1);
    bench.wait(200);
    bench.packet(1, |header| (header.is_point, header.point) = (true, WireSeq(6)));
    assert_eq!(bench.level(), 2);
}

#[test]
fn strays_and_liars_are_ignored() {
    let mut bench = Bench::at_level_1();
    let header = Header { layer: 1, seq: 900, is_point: true, point: WireSeq(9), ..Header::default() };
    bench.wait(1000);
    bench.arrive(0, header);
    bench.arrive(3, Header { layer: 3, ..header });
    bench.arrive(200, Header { layer: 200, ..header });
    assert!(bench.actions.is_empty());
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_join_that_failed_is_taken_back() {
    let mut bench = Bench::at_level_1();
    bench.give(Input::JoinFailed(Channel(1), JoinError::Limit));
    assert_eq!(bench.level(), 0);
    assert!(bench.actions.iter().all(|action| matches!(action, Action::Trace(_))));
    bench.give(Input::JoinFailed(Channel(0), JoinError::Refused));
    assert_eq!(bench.level(), -1);
    bench.wait(10_000);
    bench.give(Input::Timer);
    assert_eq!(bench.actions[0], Action::Join(Channel(0)));
}

#[test]
fn silence_is_reported_and_stop_leaves_everything() {
    let mut bench = Bench::at_level_1();
    bench.wait(10_000);
    bench.give(Input::Timer);
    assert!(matches!(bench.actions[0], Action::Trace(TraceEvent::Silent { .. })));
    bench.give(Input::Stop);
    assert_eq!(bench.actions[..2], [Action::Leave(Channel(1)), Action::Leave(Channel(0))]);
    bench.plain(0);
    assert!(bench.actions.is_empty() && bench.receiver.deadline().is_none());
}

#[test]
fn with_patience_a_missing_packet_is_lost_when_it_is_late() {
    let mut bench = Bench::new(&Options { reorder: 100, ..Options::default() });
    bench.point(0, 1);
    bench.point(0, 2);
    bench.plain(1);
    bench.lose(1);
    bench.plain(1);
    assert_eq!(bench.level(), 1);
    bench.wait(499);
    bench.plain(0);
    assert_eq!(bench.level(), 1);
    bench.wait(1);
    bench.give(Input::Timer);
    assert_eq!(bench.level(), 0);
}

#[test]
fn numbers_of_sixteen_bits_wrap_without_loss() {
    let mut bench = Bench::new(&Options::default());
    bench.next[0] = u16::MAX - 1;
    (0..4).for_each(|_| bench.plain(0));
    let counts = bench.receiver.layers.tracker(Layer(0)).counts();
    assert_eq!((counts.received, counts.lost, counts.resynchronised), (4, 0, 0));
}
