//! NCA's endpoints keep the contract whatever numbers arrive.

use layercast_core::contract::{Arrival, ChildLink, Ecn, Origin, Peer};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time, WireSeq};
use layercast_protocols::nca::{
    Ack, Answer, Candidate, Data, Header, Nack, Options, Receiver, Report, Router, Source,
};
use layercast_testkit::{Operation, check_endpoint, check_source};
use proptest::prelude::*;

/// A number near those that are in use, or any.
fn seq() -> impl Strategy<Value = WireSeq> {
    prop_oneof![4 => 0u32..300, 1 => any::<u32>()].prop_map(WireSeq)
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![4 => 0u64..20_000_000_000, 1 => any::<u64>()].prop_map(Time::from_ns)
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![4 => 0u64..2_000_000_000, 1 => any::<u64>()].prop_map(Duration::from_ns)
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let loss = prop_oneof![4 => 0.0f64..1.0, 1 => any::<f64>()];
    (0u32..3, loss, span()).prop_map(|(id, loss, rtt)| Candidate { id, loss, rtt })
}

fn data() -> impl Strategy<Value = Data> {
    let fields = (seq(), proptest::option::of(seq()), proptest::option::of(0u32..3), time());
    fields.prop_map(|(seq, released, nominee, sent)| Data { seq, released, nominee, sent })
}

fn header() -> impl Strategy<Value = Header> {
    prop_oneof![
        4 => data().prop_map(Header::Data),
        2 => data().prop_map(Header::Repair),
        2 => (proptest::option::of(candidate()), seq())
            .prop_map(|(worst, complete)| Header::Report(Report { worst, complete })),
        2 => (candidate(), seq(), time())
            .prop_map(|(nominee, complete, echo)| Header::Ack(Ack { nominee, complete, echo })),
        2 => (seq(), any::<u32>()).prop_map(|(first, more)| Header::Nack(Nack { first, more })),
        1 => time().prop_map(Header::Heartbeat),
        1 => (time(), span()).prop_map(|(echo, rtt)| Header::Answer(Answer { echo, rtt })),
    ]
}

fn operation() -> impl Strategy<Value = Operation<Header>> {
    let origin = prop_oneof![
        3 => Just(Origin::Channel(Channel(0))),
        3 => (0u16..70, 0u32..5).prop_map(|(link, peer)| Origin::Child(ChildLink(link), Peer(peer))),
        1 => (0u32..5).prop_map(|peer| Origin::Peer(Peer(peer))),
    ];
    let size = Size::from_bytes(1000);
    let forged = (origin, header()).prop_map(move |(origin, header)| {
        Operation::Forged(Arrival { origin, size, ecn: Ecn::NotCapable, header })
    });
    prop_oneof![
        20 => forged,
        4 => (0u64..500).prop_map(|ms| Operation::Wait(Duration::from_ms(ms))),
        1 => Just(Operation::DataExhausted),
        1 => Just(Operation::DataAvailable),
        1 => Just(Operation::Finish),
        1 => Just(Operation::JoinFailed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_leave_the_contract_whole(operations in proptest::collection::vec(operation(), 0..200)) {
        let layers = LayerTable::from_rates([Rate::from_mbps(1.0)]).expect("a layer");
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options { buffer: 64, cache: 64, ..Options::default() };
        let stream = || Stream::new(1, "nca");
        check_source(|| Source::new(&options, plan.clone(), stream()), |_, _| None, &operations);
        check_endpoint(|| Router::new(&options, plan.clone(), stream()), |_, _| None, &operations);
        check_endpoint(|| Receiver::new(&options, plan.clone(), stream()), |_, _| None, &operations);
    }
}
