use super::*;
use layercast_core::contract::JoinError;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size, WireSeq};
use std::vec::Vec;

const SLOT: Duration = Duration::from_ms(500);

/// A receiver fed with handmade packets. All layers have the same rate; the base layer is static.
struct Bench {
    receiver: Receiver,
    layering: Layering,
    now: Time,
    slot: u64,
    signal: Option<u8>,
    /// The next number of each channel, and whether it has sent in this slot.
    next: Vec<(u16, bool)>,
    actions: Vec<Action<Header>>,
}

impl Bench {
    fn new(options: &impl Variant) -> Bench {
        let size = Size::from_bytes(1000);
        let layers = LayerTable::equal(Rate::from_kbps(160.0), 5).unwrap();
        let plan = SessionPlan { layers, packet_size: size };
        let layering = options.settings().layering(&plan);
        let mut bench = Bench {
            receiver: Receiver::new(options, plan, Stream::new(1, "receiver")),
            layering,
            now: Time::ZERO,
            slot: 70,
            signal: None,
            next: std::vec![(9, false); usize::from(layering.channels())],
            actions: Vec::new(),
        };
        bench.give(Input::Start);
        bench
    }

    fn dynamic() -> Bench {
        Bench::new(&Settings { leave_bound: Some(Duration::from_secs(1)), ..Settings::default() })
    }

    /// A receiver of dynamic layers at this level, at the beginning of a slot.
    fn at_level(level: u16) -> Bench {
        let mut bench = Bench::dynamic();
        bench.signal = Some(4);
        bench.slot_packets(3);
        while bench.level() < i32::from(level) {
            // The slot that begins has another signal than the one that ends.
            bench.signal = Some(4).filter(|_| bench.level() + 1 < i32::from(level) || bench.slot == 70);
            bench.turn();
            bench.slot_packets(3);
        }
        assert_eq!(bench.level(), i32::from(level));
        bench
    }

    fn give(&mut self, input: Input<Header>) {
        self.receiver.handle(self.now, input);
        self.actions = core::iter::from_fn(|| self.receiver.poll_action()).collect();
    }

    /// Time passes without a packet; timers come when they are due.
    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        let mut actions = Vec::new();
        while let Some(at) = self.receiver.deadline().filter(|&at| at <= end) {
            self.now = at;
            self.give(Input::Timer);
            actions.append(&mut self.actions);
        }
        (self.now, self.actions) = (end, actions);
    }

    fn header(&mut self, layer: u16) -> Header {
        let channel = self.layering.channel_of(Layer(layer), self.slot).unwrap();
        let (seq, in_slot) = &mut self.next[channel.index()];
        let header = Header {
            session: 5,
            slot: WireSeq(self.slot as u32),
            signal: self.signal,
            first_of_slot: !*in_slot,
            channel: channel.0 as u8,
            seq: *seq,
            layer: layer as u8,
            end_of_session: false,
        };
        *seq = seq.wrapping_add(1);
        *in_slot = true;
        header
    }

    fn arrive_with(&mut self, header: Header, ecn: Ecn) {
        let origin = Origin::Channel(header.channel());
        self.give(Input::Packet(Arrival { origin, size: Size::from_bytes(1000), ecn, header }));
    }

    fn arrive(&mut self, header: Header) {
        self.arrive_with(header, Ecn::NotCapable);
    }

    fn packet(&mut self, layer: u16) {
        let header = self.header(layer);
        self.arrive(header);
    }

    fn lose(&mut self, layer: u16) {
        self.header(layer);
    }

    /// Some packets of each layer in the present slot.
    fn slot_packets(&mut self, count: u16) {
        for _ in 0..count {
            (0..5).for_each(|layer| self.packet(layer));
        }
    }

    /// The next slot begins with a packet of the base.
    fn turn(&mut self) {
        self.next_slot();
        self.packet(0);
    }

    fn next_slot(&mut self) {
        self.wait(SLOT);
        self.slot += 1;
        self.next.iter_mut().for_each(|(_, in_slot)| *in_slot = false);
    }

    fn level(&self) -> i32 {
        self.receiver.level.as_number()
    }

    fn held(&self) -> Vec<u16> {
        (0..self.layering.channels())
            .filter(|&channel| self.receiver.channels.holds(Channel(channel)))
            .collect()
    }
}

/// Static layers.
fn fixed(deaf: Duration) -> Settings {
    Settings { deaf, loss_grace: Duration::from_ms(50), ..Settings::default() }
}

fn joins(actions: &[Action<Header>]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Join(_))).count()
}

fn leaves(actions: &[Action<Header>]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Leave(_))).count()
}

#[test]
fn starts_with_the_base_and_a_partial_slot_permits_no_increase() {
    let mut bench = Bench::dynamic();
    assert_eq!((bench.level(), bench.actions.clone()[0]), (0, Action::Join(Channel(0))));
    bench.signal = Some(0);
    bench.packet(0);
    bench.turn();
    assert_eq!(bench.level(), 0);
    bench.turn();
    assert_eq!((bench.level(), joins(&bench.actions), leaves(&bench.actions)), (1, 1, 0));
    // Signal 0 does not permit level 1 to increase; to stay there the receiver joins one channel and leaves one.
    bench.turn();
    assert_eq!((bench.level(), joins(&bench.actions), leaves(&bench.actions)), (1, 1, 1));
}

#[test]
fn a_loss_costs_one_layer_a_slot_whatever_its_size() {
    let mut bench = Bench::at_level(3);
    bench.lose(1);
    bench.lose(2);
    bench.slot_packets(2);
    bench.turn();
    // A decrease joins nothing; the channel that falls silent is left.
    assert_eq!((bench.level(), joins(&bench.actions), leaves(&bench.actions)), (2, 0, 1));
    bench.turn();
    assert_eq!(bench.level(), 2);
}

#[test]
fn a_gap_before_the_first_packet_of_a_slot_belongs_to_the_slot_before() {
    let mut bench = Bench::at_level(2);
    bench.lose(0);
    bench.turn();
    assert_eq!(bench.level(), 1);
    // Without the flag one of the missing packets is of the new slot.
    let mut bench = Bench::at_level(2);
    bench.next_slot();
    bench.lose(0);
    bench.packet(0);
    assert_eq!(bench.level(), 2);
    bench.slot_packets(2);
    bench.turn();
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_late_packet_closes_its_gap() {
    let mut bench = Bench::at_level(2);
    let late = bench.header(1);
    bench.packet(1);
    bench.packet(1);
    bench.arrive(late);
    bench.packet(1);
    bench.turn();
    assert_eq!(bench.level(), 2);
}

#[test]
fn signals_that_differ_within_a_slot_count_as_congestion() {
    let mut bench = Bench::at_level(2);
    let forged = Header { signal: Some(4), ..bench.header(0) };
    bench.arrive(forged);
    bench.turn();
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_forged_slot_needs_more_than_one_packet() {
    let mut bench = Bench::at_level(2);
    let channel = bench.layering.channel_of(Layer(1), 500).unwrap();
    bench.arrive(Header {
        slot: WireSeq(500),
        first_of_slot: false,
        seq: 40,
        layer: 1,
        channel: channel.0 as u8,
        session: 5,
        ..Header::default()
    });
    assert_eq!(bench.receiver.slot.number, bench.slot);
    // A packet whose channel does not match is ignored.
    for wrong in [Header { layer: 3, ..bench.header(1) }, Header { channel: 90, ..bench.header(1) }] {
        bench.arrive(wrong);
        assert!(bench.actions.is_empty());
    }
    let elsewhere = bench.header(1);
    bench.give(Input::Packet(Arrival {
        origin: Origin::Channel(Channel(0)),
        size: Size::from_bytes(1000),
        ecn: Ecn::Marked,
        header: elsewhere,
    }));
    bench.turn();
    assert_eq!(bench.level(), 2);
    assert_eq!(bench.receiver.slot.number, bench.slot);
}

#[test]
fn slots_that_were_missed_cost_a_layer_each() {
    let mut bench = Bench::at_level(4);
    bench.now += SLOT * 2;
    bench.slot += 2;
    bench.next.iter_mut().for_each(|(_, in_slot)| *in_slot = false);
    bench.packet(0);
    assert_eq!((bench.level(), joins(&bench.actions)), (2, 0));
    let wanted: Vec<u16> = bench.layering.channels_of(3, bench.slot).map(|channel| channel.0).collect();
    assert!(wanted.iter().all(|channel| bench.held().contains(channel)) && bench.held().len() == 3);
}

#[test]
fn silence_ends_slots_as_congested_and_three_of_them_leave_the_base() {
    let mut bench = Bench::at_level(4);
    bench.wait(Duration::from_ms(750));
    assert_eq!(bench.level(), 3);
    bench.wait(Duration::from_ms(1000));
    assert_eq!((bench.level(), bench.held()), (0, [0].into()));
    assert!(bench.receiver.state == State::Starved);
    bench.wait(Duration::from_secs(10));
    assert!(bench.actions.iter().any(|action| matches!(action, Action::Trace(TraceEvent::Silent { .. }))));
    bench.slot += 40;
    bench.packet(0);
    assert!(bench.receiver.state == State::Running && bench.level() == 0);
}

#[test]
fn another_session_number_is_accepted_the_second_time() {
    let mut bench = Bench::at_level(3);
    for expected in [3, 0] {
        let slot = WireSeq(2);
        bench.arrive(Header { session: 6, slot, seq: 77, ..Header::default() });
        assert_eq!(bench.level(), expected);
    }
    assert_eq!(bench.receiver.slot.number, 2);
}

#[test]
fn a_channel_that_sends_again_after_it_was_left_is_traced_and_left_again() {
    let mut bench = Bench::at_level(3);
    let silent = u64::from(bench.layering.channels()) - 5;
    bench.turn();
    let left = bench.actions.iter().find_map(|action| match action {
        Action::Leave(channel) => Some(*channel),
        _ => None,
    });
    let left = left.unwrap();
    let left_in = bench.slot;
    let mut actions = Vec::new();
    for _ in 0..silent {
        bench.turn();
        (0..4).for_each(|layer| bench.packet(layer));
        // The channel's packets still arrive although it was left.
        if let Some(layer) = bench.layering.layer_of(left, bench.slot).filter(|layer| layer.0 > 3) {
            let header = bench.header(layer.0);
            bench.arrive(header);
            actions.extend(bench.actions.clone());
            let repeated =
                TraceEvent::LateLeave { channel: left, since_leave: SLOT * (bench.slot - left_in) };
            assert!(actions.contains(&Action::Trace(repeated)), "{actions:?}");
        }
    }
    assert_eq!(actions.len(), 1);
    // They still arrive after twice the time by which it should have been silent.
    let (later, slot) = (bench.now + SLOT * silent, bench.slot + silent);
    let channels = &mut bench.receiver.channels;
    let mut actions = ActionQueue::<Header>::default();
    assert!(!channels.holds(left));
    channels.on_late_packet(later, left, slot, &mut actions);
    assert_eq!(actions.pop(), Some(Action::Join(left)));
    assert_eq!(actions.pop(), Some(Action::Leave(left)));
    assert!(actions.pop().is_none());
}

#[test]
fn a_join_that_failed_takes_back_what_needs_it_and_is_tried_again() {
    let mut bench = Bench::at_level(3);
    let channel = bench.layering.channel_of(Layer(2), bench.slot).unwrap();
    bench.give(Input::JoinFailed(channel, JoinError::Limit));
    assert_eq!((bench.level(), leaves(&bench.actions)), (1, 1));
    bench.give(Input::JoinFailed(Channel(0), JoinError::Refused));
    assert_eq!((bench.level(), bench.held()), (-1, [].into()));
    bench.wait(Duration::from_secs(10));
    assert_eq!((bench.level(), bench.held()), (0, [0].into()));
    bench.packet(0);
    assert!(bench.receiver.state == State::Running);
}

#[test]
fn static_layers_wait_for_the_last_packets_of_a_slot() {
    let mut bench = Bench::new(&fixed(Duration::ZERO));
    bench.signal = Some(4);
    bench.slot_packets(1);
    bench.turn();
    bench.turn();
    assert_eq!(bench.level(), 0);
    bench.wait(Duration::from_ms(50));
    assert_eq!(bench.level(), 1);
    bench.signal = None;
    bench.turn();
    bench.slot_packets(1);
    let late = bench.header(0);
    bench.packet(0);
    bench.turn();
    bench.arrive(late);
    bench.wait(Duration::from_ms(50));
    assert_eq!(bench.level(), 2);
    bench.slot_packets(2);
    bench.lose(1);
    bench.slot_packets(1);
    bench.turn();
    bench.wait(Duration::from_ms(50));
    assert_eq!(bench.level(), 1);
}

#[test]
fn a_deaf_receiver_of_static_layers_judges_no_slot_that_began_before() {
    let levels = |deaf| {
        let mut bench = Bench::new(&fixed(deaf));
        bench.signal = Some(4);
        bench.slot_packets(1);
        for _ in 0..8 {
            bench.turn();
            bench.slot_packets(3);
        }
        assert_eq!(bench.level(), 4);
        bench.signal = None;
        (0..4)
            .map(|_| {
                bench.lose(0);
                bench.slot_packets(2);
                bench.turn();
                bench.slot_packets(2);
                bench.wait(Duration::from_ms(50));
                bench.level()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(levels(Duration::ZERO), [3, 2, 1, 0]);
    assert_eq!(levels(Duration::from_ms(800)), [3, 3, 3, 2]);
}

#[test]
fn a_new_top_layer_may_be_waited_for() {
    let levels = |wait_first_packet| {
        let options =
            Settings { wait_first_packet, leave_bound: Some(Duration::from_secs(1)), ..Settings::default() };
        let mut bench = Bench::new(&options);
        bench.signal = Some(4);
        bench.packet(0);
        (0..4)
            .map(|_| {
                bench.turn();
                bench.level()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(levels(false), [0, 1, 2, 3]);
    assert_eq!(levels(true), [0, 1, 1, 1]);
}
