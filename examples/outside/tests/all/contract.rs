//! Source and receiver of PLM keep the contract with their host, whatever happens.

use std::collections::BTreeSet;

use layercast_core::contract::{Arrival, Ecn, Origin};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, Size, Time, WireSeq};
use layercast_outside::plm::{Header, Options, Receiver, Source};
use layercast_testkit::{Operation, check_endpoint};
use proptest::prelude::*;

const SIZE: Size = Size::from_bytes(500);
const LAYERS: u16 = 8;

fn plan() -> SessionPlan {
    let rates = [Rate::from_kbps(60.0); LAYERS as usize];
    SessionPlan { layers: LayerTable::from_rates(rates).expect("a layer structure"), packet_size: SIZE }
}

fn source(keep_base: bool) -> Source {
    Source::new(&Options { keep_base, ..Options::default() }, plan(), Stream::new(1, "source"))
}

fn receiver(keep_base: bool) -> Receiver {
    Receiver::new(&Options { keep_base, ..Options::default() }, plan(), Stream::new(1, "receiver"))
}

fn data(channel: u16, header: Header) -> Arrival<Header> {
    Arrival { origin: Origin::Channel(Channel(channel)), size: SIZE, ecn: Ecn::NotCapable, header }
}

/// Pairs of the channels that are held, by turns.
fn traffic() -> impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<Header>> {
    let mut next = [0; LAYERS as usize];
    let mut turn = 0;
    move |_, held| {
        turn += 1;
        let channel = *held.iter().nth(turn / 2 % held.len().max(1))?;
        let seq = next.get_mut(channel.index())?;
        let header = Header { layer: Layer(channel.0), seq: WireSeq(*seq), is_first: *seq % 2 == 0 };
        *seq += 1;
        Some(data(channel.0, header))
    }
}

/// Mostly packets at distances that change, so that levels rise and fall.
fn operation() -> impl Strategy<Value = Operation<Header>> {
    let wait = prop_oneof![
        9 => (1..20_000u64).prop_map(Duration::from_us),
        1 => (1..60_000u64).prop_map(Duration::from_ms),
    ];
    let forged = (0..LAYERS + 2, 0..LAYERS + 2, any::<u32>(), any::<bool>()).prop_map(
        |(channel, layer, seq, is_first)| {
            data(channel, Header { layer: Layer(layer), seq: WireSeq(seq), is_first })
        },
    );
    prop_oneof![
        60 => Just(Operation::Packet),
        40 => wait.prop_map(Operation::Wait),
        3 => (1..20u16).prop_map(Operation::Lose),
        2 => Just(Operation::Duplicate),
        1 => Just(Operation::Mark),
        3 => forged.prop_map(Operation::Forged),
        1 => Just(Operation::Timer),
        2 => Just(Operation::JoinFailed),
        1 => (0..LAYERS).prop_map(|channel| Operation::SendRefused(Channel(channel))),
        1 => (0u16..12).prop_map(|count| Operation::Demand(Level::from_count(count))),
        1 => Just(Operation::DataExhausted),
        1 => Just(Operation::DataAvailable),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_receiver_keeps_the_contract(
        operations in prop::collection::vec(operation(), 0..600), keep_base: bool,
    ) {
        check_endpoint(|| receiver(keep_base), traffic(), &operations);
    }

    #[test]
    fn the_source_keeps_the_contract(
        operations in prop::collection::vec(operation(), 0..100), finishes: bool,
    ) {
        let mut operations = operations;
        if finishes {
            operations.insert(operations.len() / 2, Operation::Finish);
        }
        check_endpoint(|| source(false), |_, _| None, &operations);
    }
}
