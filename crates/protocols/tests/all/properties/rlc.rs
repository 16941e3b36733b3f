use layercast_core::contract::{Action, Arrival, Ecn, Endpoint, Input, JoinError, Origin};
use layercast_core::layers::LayerTable;
use layercast_core::lct::{Cci, Extension, LctFields};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time, WireSeq};
use layercast_core::wire::{Wire as _, WireNumbers};
use layercast_protocols::rlc::{Header, Options, Receiver};

/// The wire numbers of RLC.
const NUMBERS: WireNumbers = WireNumbers { extensions: &[81], report: None };
use proptest::prelude::*;

prop_compose! {
    /// A header whose fields agree.
    fn header()(
        layer in any::<u8>(), seq in any::<u16>(), is_point in any::<bool>(), copy in any::<u8>(),
        point in any::<u32>(), place in any::<u8>(), length in any::<u8>(),
    ) -> Header {
        Header {
            layer,
            seq,
            is_point,
            copy: if is_point { copy } else { 0 },
            point: WireSeq(point),
            burst_place: if is_point { 0 } else { place.min(length) },
            burst_length: length,
        }
    }
}

fn step() -> impl Strategy<Value = (u8, Header, u64)> {
    // Mostly small numbers, so that packets agree with each other often enough to matter.
    let near = (0..4u8, 0..300u16, any::<bool>(), 0..2u8, 0..64u32, 0..9u8).prop_map(
        |(layer, seq, is_point, copy, point, length)| Header {
            layer,
            seq,
            is_point,
            copy: if is_point { copy } else { 0 },
            point: WireSeq(point),
            burst_place: 0,
            burst_length: length,
        },
    );
    (0..12u8, prop_oneof![4 => near, 1 => header()], 0..400u64)
}

proptest! {
    #[test]
    fn headers_survive_the_wire(header in header()) {
        prop_assert_eq!(Header::from_lct(&header.to_lct(&NUMBERS).unwrap(), &NUMBERS), Ok(header));
    }

    #[test]
    fn any_fields_are_read_or_rejected(cci in any::<[u8; 4]>(), words in 0usize..5, bytes in any::<[u8; 18]>()) {
        let extension = Extension::new(81, &bytes[..2 + 4 * words.min(4)]).unwrap();
        let fields = LctFields { cci: Cci::Short(cci), session: None, end_of_session: false, extension };
        if let Ok(header) = Header::from_lct(&fields, &NUMBERS) {
            prop_assert_eq!(Header::from_lct(&header.to_lct(&NUMBERS).unwrap(), &NUMBERS), Ok(header));
        }
    }

    /// Whatever arrives, the receiver keeps to the contract.
    #[test]
    fn the_receiver_joins_what_it_lacks_and_leaves_what_it_holds(
        steps in prop::collection::vec(step(), 0..300),
        reorder in prop::sample::select(vec![1u32, 3, 100]),
    ) {
        let layers = LayerTable::doubling(Rate::from_kbps(128.0), 4).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options { reorder, spacing_guard: 0.1, ..Options::default() };
        let mut receiver = Receiver::new(&options, plan, Stream::new(1, "receiver"));
        let mut held = [false; 4];
        let mut now = Time::ZERO;
        let inputs = steps.into_iter().map(|(kind, header, wait_ms)| {
            let input = match kind {
                0 => Input::Timer,
                1 => Input::JoinFailed(Channel(u16::from(header.layer % 4)), JoinError::Limit),
                _ => Input::Packet(Arrival {
                    origin: Origin::Channel(Channel(u16::from(header.layer))),
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
                && !core::mem::replace(&mut held[channel.index()], false)
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
                    Action::Send(_) => prop_assert!(false, "a receiver of RLC does not send"),
                }
            }
            prop_assert!(receiver.deadline().is_none_or(|at| at > now));
            let count = usize::from(receiver.estimates(now).level.layer_count());
            prop_assert!((0..4).all(|layer| held[layer] == (layer < count)), "{held:?} {count}");
        }
        prop_assert_eq!(held, [false; 4]);
        prop_assert_eq!(receiver.deadline(), None);
    }
}
