use super::*;
use alloc::vec::Vec;
use layercast_core::contract::{Ecn, JoinError};
use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Rate, Size, WireSeq};

/// A receiver under test, with one number counter per layer.
struct Bench {
    receiver: Receiver,
    now: Time,
    next: [u32; 4],
    actions: Vec<Action<Header>>,
}

impl Bench {
    fn new() -> Bench {
        let layers = LayerTable::doubling(Rate::from_kbps(32.0), 4).expect("a layer table");
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let receiver = Receiver::new(&Options::default(), plan, Stream::new(1, "receiver"));
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
    }

    fn give_packet(&mut self, channel: u16, header: Header) {
        let origin = Origin::Channel(Channel(channel));
        let size = Size::from_bytes(1000);
        self.give(Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }

    /// A packet of each layer held, every 100 ms.
    fn calm(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += Duration::from_ms(100);
            self.give(Input::Timer);
            for layer in 0..self.held() {
                self.packet(layer);
            }
        }
    }

    fn packet(&mut self, layer: u16) {
        let seq = &mut self.next[usize::from(layer)];
        let data = Data { layer: Layer(layer), seq: WireSeq(*seq) };
        *seq += 1;
        self.give_packet(layer, Header::Data(data));
    }

    fn lose(&mut self, layer: u16) {
        self.next[usize::from(layer)] += 1;
        self.packet(layer);
    }

    fn announce(&mut self, level: u16, from: u32) {
        self.give_packet(4, Header::Announcement(Announcement { level: Level::from_count(level), from }));
    }

    fn held(&self) -> u16 {
        self.receiver.held()
    }

    /// Lets time pass until the receiver holds so many layers; returns the seconds it took.
    fn until_held(&mut self, layers: u16) -> f64 {
        let begun = self.now;
        while self.held() != layers {
            self.calm(0.1);
            assert!(self.now.since(begun) < Duration::from_secs(300), "{layers} layers are never held");
        }
        self.now.since(begun).as_secs_f64()
    }
}

#[test]
fn experiments_are_made_and_announced() {
    let mut bench = Bench::new();
    assert_eq!(bench.held(), 1);
    let took_s = bench.until_held(2);
    assert!((2.5..=22.6).contains(&took_s), "half the join timer and up to four times it: {took_s}");
    let took_s = bench.until_held(4);
    assert!(took_s > 5.0, "each waits until the last one cannot show loss any more: {took_s}");
    bench.calm(100.0);
    assert_eq!(bench.held(), 4, "there is no loss, so there is no leave");
}

#[test]
fn a_joined_layer_is_announced_through_the_source() {
    let mut bench = Bench::new();
    bench.until_held(1);
    let mut announced = Vec::new();
    while bench.held() < 2 {
        bench.now += Duration::from_ms(100);
        bench.give(Input::Timer);
        announced.extend(bench.actions.iter().filter_map(|action| match action {
            Action::Send(Send { header: Header::Announcement(made), .. }) => Some(made.level),
            _ => None,
        }));
        for layer in 0..bench.held() {
            bench.packet(layer);
        }
    }
    assert_eq!(announced, [Level::from_count(2)]);
}

#[test]
fn loss_after_an_experiment_ends_it_and_the_next_waits() {
    let mut bench = Bench::new();
    bench.until_held(3);
    bench.calm(0.5);
    bench.lose(0);
    assert_eq!(bench.held(), 2);
    assert!(bench.actions.contains(&Action::Leave(Channel(2))), "{:?}", bench.actions);
    assert_eq!(bench.receiver.join_timers.of(3), 10.0);
    assert_eq!(bench.receiver.join_timers.of(4), 10.0);
    let waited = bench.receiver.detection;
    assert!(waited.mean_s < 5.0, "loss showed sooner than was thought: {waited:?}");
    bench.lose(0);
    assert_eq!(bench.held(), 2, "what is lost now comes from before the leave");
}

#[test]
fn loss_that_is_nobodys_experiment_is_measured_first() {
    let mut bench = Bench::new();
    bench.until_held(3);
    bench.calm(40.0);
    bench.until_held(4);
    bench.calm(60.0);
    bench.lose(1);
    assert_eq!((bench.held(), bench.receiver.state), (4, State::Hysteresis));
    bench.calm(9.0);
    assert_eq!(bench.receiver.state, State::Measurement);
    for _ in 0..20 {
        bench.lose(1);
        bench.lose(2);
    }
    assert_eq!((bench.held(), bench.receiver.state), (3, State::Drop), "half of the packets are lost");
    bench.calm(30.0);
    assert_eq!(bench.receiver.state, State::Steady);
}

#[test]
fn the_failure_of_another_is_learnt() {
    let mut bench = Bench::new();
    bench.calm(1.0);
    bench.announce(3, 99);
    bench.lose(0);
    assert_eq!(bench.held(), 1, "it keeps what it has");
    assert_eq!(bench.receiver.join_timers.of(3), 10.0);
    assert_eq!(bench.receiver.join_timers.of(2), 5.0, "lower levels are not to blame");
}

#[test]
fn floods_of_announcements_count_little() {
    let mut bench = Bench::new();
    bench.announce(0, 1);
    bench.announce(9, 2);
    for from in 0..1000 {
        bench.announce(2, from % 3);
    }
    let mut senders = Senders::default();
    let now = Time::ZERO + Duration::from_secs(5);
    let allowed = (0..1000).filter(|&from| senders.allow(from, now, 5.0)).count();
    assert_eq!(allowed, 16);
    assert!(!senders.allow(1, now + Duration::from_secs(4), 5.0));
    assert!(senders.allow(1, now + Duration::from_secs(6), 5.0));
    bench.until_held(2);
}

#[test]
fn a_join_that_failed_is_tried_again() {
    let mut bench = Bench::new();
    bench.until_held(2);
    bench.give(Input::JoinFailed(Channel(1), JoinError::Limit));
    assert_eq!(bench.held(), 1);
    bench.until_held(2);
    bench.give(Input::Stop);
    assert_eq!(bench.held(), 0);
    assert!(bench.actions.contains(&Action::Leave(Channel(4))), "the control channel too");
}
