use std::collections::BTreeMap;

use layercast_core::contract::{Action, Arrival, Ecn, Endpoint, Input, JoinError, Origin, Target};
use layercast_core::layers::LayerTable;
use layercast_core::lct::Cci;
use layercast_core::session::{Requirements, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_core::wire::{Wire as _, WireNumbers};
use layercast_protocols::webrc::{BASE, Header, Options, Receiver, Source, WordForm};
use layercast_testkit::cases;
use proptest::prelude::*;

fn plan(packets_per_s: f64) -> SessionPlan {
    let layers = LayerTable::from_rates([Rate::from_bps(8000.0 * packets_per_s)]).expect("a layer");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

prop_compose! {
    /// A header whose fields agree.
    fn header()(
        is_long in any::<bool>(), cycle in 1u16..1000, slot in any::<u16>(), channel in any::<u16>(),
        number in any::<u32>(), end_of_session in any::<bool>(),
    ) -> Header {
        let cycle = if is_long { cycle } else { 1 + cycle % 255 };
        let number = if is_long { number } else { number & 0xffff };
        let channel = Channel(channel % (cycle + 1));
        Header { slot: slot % cycle, channel, number, cycle, is_long, end_of_session }
    }
}

prop_compose! {
    /// Options and a rate in packets/s that go together.
    fn session()(
        slot_ms in 500u64..20_000, quiet_s in 0u64..60, fall in 0.4f64..0.9, base_rate in 0.2f64..5.0,
        more in 1.2f64..200.0, constant_rate in any::<bool>(), waves in 0u32..4,
    ) -> (Options, f64) {
        let options = Options {
            slot: Duration::from_ms(slot_ms),
            quiet: Duration::from_secs(quiet_s),
            fall,
            base_rate,
            constant_rate,
            word: WordForm::Long,
            ..Options::default()
        };
        let fewest = u32::from(options.waves(&plan(base_rate * more)).active_waves());
        (Options { waves: waves.min(fewest), ..options }, base_rate * more)
    }
}

/// The packets of a source until `end`, by channel: times, slots and numbers.
fn sent(options: &Options, rate: f64, end: Time) -> BTreeMap<Channel, Vec<(Time, Header)>> {
    let mut source = Source::new(options, plan(rate), Stream::new(1, "source"));
    let mut sent = BTreeMap::<Channel, Vec<(Time, Header)>>::new();
    source.handle(Time::ZERO, Input::Start);
    let mut now = Time::ZERO;
    loop {
        while let Some(action) = source.poll_action() {
            let Action::Send(send) = action else { continue };
            assert_eq!(send.target, Target::Channel(send.header.channel));
            sent.entry(send.header.channel).or_default().push((now, send.header));
        }
        now = source.deadline().expect("a next packet");
        if now > end {
            return sent;
        }
        source.handle(now, Input::Timer);
    }
}

/// The wire numbers of WEBRC.
const NUMBERS: WireNumbers = WireNumbers { extensions: &[96], report: None };

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1024), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headers_come_back_from_their_words(header in header()) {
        prop_assert_eq!(Header::from_word(header.word(), header.cycle, header.end_of_session), Ok(header));
        prop_assert_eq!(Header::from_lct(&header.to_lct(&NUMBERS).unwrap(), &NUMBERS), Ok(header));
    }

    #[test]
    fn any_word_is_read_or_refused(bytes in any::<[u8; 8]>(), cycle in any::<u16>()) {
        let [b0, b1, b2, b3, ..] = bytes;
        for word in [Cci::Short([b0, b1, b2, b3]), Cci::Long(bytes)] {
            if let Ok(header) = Header::from_word(word, cycle, false) {
                prop_assert!(header.slot < cycle && header.channel.0 <= cycle);
                prop_assert_eq!(header.word(), word);
            }
        }
    }

    /// The rules of RFC 3738, section 3.1.2, for any session: numbers without gaps, the base in step
    /// with slots, each wave in its slots and ending with the largest number, and never more than the
    /// session's rate.
    #[test]
    fn the_source_keeps_the_rules_of_waves((options, rate) in session()) {
        prop_assert_eq!(options.check(&plan(rate)), Ok(()));
        let waves = options.waves(&plan(rate));
        let slot_s = options.slot.as_secs_f64();
        let slots = u64::from(waves.active_waves() + waves.cycle()).min(24) + 2;
        let end = Time::ZERO + options.slot * slots;
        let sent = sent(&options, rate, end);
        let mut by_slot = vec![0.0; slots as usize + 1];
        for (&channel, packets) in &sent {
            for &(at, header) in packets {
                let slot = at.as_ns() / options.slot.as_ns();
                by_slot[slot as usize] += 1.0;
                prop_assert_eq!(u64::from(header.slot), slot % u64::from(waves.cycle()));
                if channel == BASE {
                    let starts = at.as_ns() % options.slot.as_ns() == 0;
                    prop_assert_eq!(header.number % waves.base_packets() == 0, starts);
                } else {
                    prop_assert!(waves.active_in(header.slot).any(|wave| wave + 1 == channel.0));
                }
            }
            for pair in packets.windows(2) {
                let ((_, before), (at, after)) = (pair[0], pair[1]);
                let begins = before.number == u32::MAX && channel != BASE;
                prop_assert!(begins || after.number == before.number + 1, "{channel:?} at {at}");
            }
            // A wave that has ended has ended with the largest number.
            let last = packets.last().unwrap();
            if channel != BASE && last.0 + options.slot * u64::from(waves.active_waves()) < end {
                prop_assert_eq!(last.1.number, u32::MAX);
            }
        }
        // Up to one packet of each channel may be on either side of a slot's edge.
        let spare = f64::from(waves.active_waves()) + 2.0;
        let most = waves.top_rate() * slot_s;
        for &packets in &by_slot[..slots as usize] {
            prop_assert!(packets <= most + spare, "{packets} of {most}");
            prop_assert!(packets >= most - spare || !options.constant_rate, "{packets} of {most}");
        }
    }

    /// Whatever arrives, the receiver keeps to the contract and holds no more than the active waves.
    #[test]
    fn the_receiver_joins_what_it_lacks_and_leaves_what_it_holds(
        steps in prop::collection::vec((0..16u8, header(), 0..800u64, 0..40u16, 0..9u16), 0..400),
        reorder in prop::sample::select(vec![1u32, 3, 100]),
        quick in any::<bool>(),
    ) {
        let options = Options {
            reorder,
            slot: if quick { Duration::from_ms(500) } else { Duration::from_secs(10) },
            ..Options::default()
        };
        let plan = plan(100.0);
        let waves = options.waves(&plan);
        let mut receiver = Receiver::new(&options, plan, Stream::new(1, "receiver"));
        let mut held = vec![false; usize::from(waves.channels())];
        let mut now = Time::ZERO;
        let mut slot = 0;
        let inputs = steps.into_iter().map(|(kind, header, wait_ms, near, channel)| {
            let cycle = waves.cycle();
            // Mostly packets of one session whose slots advance, so that much happens.
            let header = match kind {
                0..=12 => {
                    slot = (slot + near / 38) % cycle;
                    let of = if channel == 0 { 0 } else { 1 + waves.wave_at(slot, channel) };
                    Header { slot, channel: Channel(of), cycle, number: u32::from(near), ..header }
                }
                _ => header,
            };
            let header = Header { end_of_session: header.end_of_session && kind == 15, ..header };
            let input = match kind {
                13 => Input::Timer,
                14 => Input::JoinFailed(header.channel, JoinError::Limit),
                _ => Input::Packet(Arrival {
                    origin: Origin::Channel(header.channel),
                    size: Size::from_bytes(1000),
                    ecn: Ecn::NotCapable,
                    header,
                }),
            };
            (input, wait_ms)
        });
        let inputs = core::iter::once((Input::Start, 0)).chain(inputs).chain([(Input::Stop, 0), (Input::Timer, 9)]);
        for (input, wait_ms) in inputs {
            now += Duration::from_ms(wait_ms);
            // A host reports a failed join only for a channel that was joined.
            if let Input::JoinFailed(channel, _) = input
                && !held.get_mut(channel.index()).is_some_and(|held| core::mem::replace(held, false))
            {
                continue;
            }
            receiver.handle(now, input);
            while let Some(action) = receiver.poll_action() {
                match action {
                    Action::Join(channel) => {
                        prop_assert!(!core::mem::replace(&mut held[channel.index()], true));
                    }
                    Action::Leave(channel) => {
                        prop_assert!(core::mem::replace(&mut held[channel.index()], false));
                    }
                    Action::Trace(_) | Action::Deliver(_) | Action::Release(_) => {}
                    Action::Send(_) => prop_assert!(false, "a receiver of WEBRC does not send"),
                }
            }
            prop_assert!(receiver.deadline().is_none_or(|at| at > now));
            let count = held.iter().filter(|held| **held).count();
            prop_assert_eq!(count, usize::from(receiver.estimates(now).level.layer_count()));
            prop_assert!(count <= usize::from(waves.active_waves()) + 1);
        }
        prop_assert!(held.iter().all(|held| !held));
        prop_assert_eq!(receiver.deadline(), None);
    }
}
