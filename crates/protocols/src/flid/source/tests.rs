use super::*;
use layercast_core::layers::LayerTable;
use layercast_core::units::Rate;
use std::vec::Vec;

fn plan() -> SessionPlan {
    let layers = LayerTable::multiplicative(1.3, Rate::from_kbps(24.0), 12).unwrap();
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

/// The packets of some slots, with their times.
fn run(source: &mut Source, start: Time, slots: u64) -> Vec<(Time, Header)> {
    let end = start + Duration::from_ms(500) * slots;
    let (mut now, mut input) = (start, Input::Start);
    let mut packets = Vec::new();
    while now < end {
        source.handle(now, input);
        while let Some(Action::Send(send)) = source.poll_action() {
            packets.push((now, send.header));
        }
        let next = source.deadline().unwrap();
        assert!(next > now);
        (now, input) = (next, Input::Timer);
    }
    packets
}

/// Dynamic layers.
fn dynamic() -> Settings {
    Settings { leave_bound: Some(Duration::from_secs(4)), ..Settings::default() }
}

fn source(options: &Settings) -> Source {
    Source::new(options, plan(), Stream::new(3, "source"))
}

#[test]
fn rates_slots_and_flags_are_as_the_headers_say() {
    let start = Time::from_ns(7);
    let mut source = source(&dynamic());
    let packets = run(&mut source, start, 200);
    for layer in 0..12 {
        let count = packets.iter().filter(|(_, header)| header.layer().0 == layer).count();
        let expected = plan().layers.rate(Layer(layer)).as_bps() / 8000.0 * 100.0;
        assert!((count as f64 - expected).abs() <= 1.0, "layer {layer}: {count}, not {expected}");
    }
    for slot in 0..200 {
        let of_slot: Vec<_> = packets.iter().filter(|(_, header)| header.slot.0 == slot).collect();
        let begins = start + Duration::from_ms(500) * u64::from(slot);
        assert!(of_slot.iter().all(|(at, _)| *at >= begins && *at < begins + Duration::from_ms(500)));
        let (first_at, first) = of_slot[0];
        assert!(*first_at == begins && first.layer == 0 && first.first_of_slot);
        assert!(of_slot.iter().all(|(_, header)| header.signal == first.signal));
        for channel in 0..source.layering.channels() {
            let flags = of_slot.iter().filter(|(_, header)| header.channel() == Channel(channel));
            let flags: Vec<bool> = flags.map(|(_, header)| header.first_of_slot).collect();
            assert!(flags.iter().enumerate().all(|(place, &flag)| flag == (place == 0)));
        }
    }
}

#[test]
fn numbers_of_a_channel_go_on_whatever_it_carries() {
    let mut source = source(&dynamic());
    let packets = run(&mut source, Time::ZERO, 60);
    for channel in 0..source.layering.channels() {
        let numbers = packets.iter().filter(|(_, header)| header.channel() == Channel(channel));
        let numbers: Vec<u16> = numbers.map(|(_, header)| header.seq).collect();
        assert!(!numbers.is_empty() && numbers.iter().enumerate().all(|(i, &seq)| usize::from(seq) == i));
    }
}

#[test]
fn both_kinds_of_signal_let_levels_rise_as_often_as_they_should() {
    for signal in [SignalRule::Deterministic, SignalRule::Probabilistic] {
        let mut source = source(&Settings { signal, ..dynamic() });
        let slots = 4000;
        let packets = run(&mut source, Time::ZERO, slots);
        let signals = packets.iter().filter(|(_, header)| header.layer == 0 && header.first_of_slot);
        let signals: Vec<_> = signals.map(|(_, header)| header.signal).collect();
        assert_eq!(signals.len() as u64, slots);
        for (level, &rise) in source.increase_probabilities().iter().enumerate() {
            let named =
                signals.iter().filter(|signal| signal.is_some_and(|named| usize::from(named) >= level));
            let share = named.count() as f64 / slots as f64;
            let tolerance = if signal == SignalRule::Deterministic { 0.002 } else { 0.02 };
            assert!((share - rise).abs() < tolerance, "{signal:?}, level {level}: {share}, not {rise}");
        }
    }
}

#[test]
fn a_stalled_host_sends_nothing_late_and_slots_do_not_drift() {
    let mut source = source(&dynamic());
    run(&mut source, Time::ZERO, 4);
    let late = Time::ZERO + Duration::from_ms(100 * 500 + 200);
    source.handle(late, Input::Timer);
    let sent: Vec<_> = core::iter::from_fn(|| source.poll_action()).collect();
    assert!(!sent.is_empty() && sent.len() < 60, "{} packets", sent.len());
    assert_eq!(source.slot, 100);
    assert_eq!(source.slot_end(), Time::ZERO + Duration::from_ms(101 * 500));
}

#[test]
fn without_data_slots_pass_in_silence() {
    let mut source = source(&dynamic());
    run(&mut source, Time::ZERO, 4);
    source.handle(Time::from_secs_f64(2.1), Input::DataExhausted);
    assert_eq!((source.poll_action(), source.deadline()), (None, None));
    source.handle(Time::from_secs_f64(9.9), Input::DataAvailable);
    assert_eq!(source.deadline(), Some(Time::from_secs_f64(10.0)));
    source.handle(Time::from_secs_f64(10.0), Input::Timer);
    let Some(Action::Send(send)) = source.poll_action() else { panic!("the base begins the slot") };
    assert_eq!((send.header.slot, send.header.layer), (WireSeq(20), 0));
}

#[test]
fn at_the_end_of_the_data_three_slots_tell_it_in_every_packet() {
    let mut source = source(&dynamic());
    run(&mut source, Time::ZERO, 4);
    source.handle(Time::from_secs_f64(2.1), Input::Finish);
    let (mut slots, mut last) = (alloc::collections::BTreeSet::new(), Time::ZERO);
    while let Some(at) = source.deadline() {
        source.handle(at, Input::Timer);
        while let Some(Action::Send(send)) = source.poll_action() {
            assert!(send.header.end_of_session, "{:?}", send.header);
            slots.insert(send.header.slot.0);
            last = at;
        }
    }
    assert_eq!(slots.into_iter().collect::<alloc::vec::Vec<_>>(), [4, 5, 6, 7]);
    // It was announced in slot 4; the third slot after it ends at 4 s.
    assert!(last > Time::from_secs_f64(3.5) && last < Time::from_secs_f64(4.0), "{last}");
    source.handle(last + Duration::from_secs(9), Input::DataAvailable);
    assert_eq!((source.poll_action(), source.deadline()), (None, None));
}

#[test]
fn the_end_is_announced_three_times_on_the_base() {
    let mut source = source(&dynamic());
    run(&mut source, Time::ZERO, 4);
    source.handle(Time::from_secs_f64(2.1), Input::Stop);
    let sent: Vec<_> = core::iter::from_fn(|| source.poll_action()).collect();
    assert_eq!(sent.len(), 3);
    for action in sent {
        let Action::Send(send) = action else { panic!("a source only sends") };
        assert!(send.header.end_of_session && send.header.layer == 0);
    }
    assert_eq!(source.deadline(), None);
}

#[test]
fn the_three_ways_to_choose_shares() {
    use crate::flid::ProbabilityRule;
    let list = alloc::vec![0.5; 11];
    let with = |increase_probabilities| Settings {
        increase_probabilities,
        increase_probability_list: list.clone(),
        ..dynamic()
    };
    let [heuristic, climbed, listed] =
        [ProbabilityRule::Heuristic, ProbabilityRule::HillClimbing, ProbabilityRule::List]
            .map(|rule| with(rule).level_probabilities(&plan()));
    assert!(heuristic != climbed && heuristic.len() == 12 && climbed.len() == 12);
    assert_eq!(listed[..11], [0.5; 11]);
    assert_eq!(listed[11], 0.0);
}

#[test]
fn plans_that_do_not_fit_are_refused_with_a_way_out() {
    use crate::flid::ProbabilityRule;
    let refusal = |options: &Settings, plan: &SessionPlan| options.check(plan).unwrap_err().0;
    assert_eq!(dynamic().check(&plan()), Ok(()));
    let slow = LayerTable::equal(Rate::from_kbps(10.0), 3).unwrap();
    let slow = SessionPlan { layers: slow, packet_size: Size::from_bytes(1000) };
    assert!(refusal(&dynamic(), &slow).contains("0.62 packets in a slot of 500 ms"));
    let leave_bound = Some(Duration::from_secs(60));
    let many = refusal(&Settings { leave_bound, ..dynamic() }, &plan());
    assert!(many.contains("take 134 channels"), "{many}");
    let equal = LayerTable::equal(Rate::from_kbps(160.0), 200).unwrap();
    let equal = SessionPlan { layers: equal, packet_size: Size::from_bytes(1000) };
    assert!(refusal(&dynamic(), &equal).contains("200 layers are more than the 128"));
    for list in
        [&[0.5; 10][..], &[0.5; 12], &[2.0; 11], &[0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    {
        let increase_probability_list = list.to_vec();
        let options = Settings {
            increase_probabilities: ProbabilityRule::List,
            increase_probability_list,
            ..dynamic()
        };
        assert!(refusal(&options, &plan()).contains("with 12 layers it must have 11"));
    }
}
