//! The congestion window of a single connection against traces that agree with ns-2 2.35.

use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{Demand, LinkConfig, LossModel, LossPlace, Network, QueueConfig, TcpConfig};
use layercast_testkit::golden;
use serde_json::Value;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

const CASES: [&str; 11] = [
    "cwnd-tahoe-clean",
    "cwnd-tahoe-25",
    "cwnd-tahoe-0",
    "cwnd-reno-25",
    "cwnd-reno-25-27-29",
    "cwnd-reno-da-clean",
    "cwnd-newreno-25-27-29",
    "cwnd-sack1-25-27-29",
    "cwnd-sack1-25-26-27-28-29-30-31-53",
    "cwnd-vegas-clean",
    "cwnd-vegas-25",
];

#[test]
fn windows_follow_the_golden_traces() {
    for id in CASES {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let (mut simulation, tcp) = single_connection(&case.input);
        // The traces are printed with four decimals: the tolerance is absolute here.
        let tolerance = case.rel_tol;
        let rows = case.expected["rows"].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            simulation.run_until(Time::from_secs_f64(row[0].as_f64().unwrap()));
            let state = simulation.tcp_state(tcp).unwrap();
            let found = (
                state.ssthresh,
                state.highest_ack,
                state.duplicates,
                state.highest_sent,
                state.next,
                state.backoff,
            );
            let integer = |column: usize| row[column].as_i64().unwrap();
            let expected = (integer(2), integer(3), integer(4), integer(5), integer(6), integer(7) as u64);
            assert_eq!(found, expected, "{id} at {}", row[0]);
            let cwnd = row[1].as_f64().unwrap();
            assert!((state.cwnd - cwnd).abs() <= tolerance, "{id} at {}: {} not {cwnd}", row[0], state.cwnd);
        }
    }
}

fn single_connection(input: &Value) -> (Simulation, layercast_simulator::TcpId) {
    let variant = match input["agent"].as_str().unwrap() {
        "tahoe" => TcpVariant::Tahoe,
        "reno" => TcpVariant::Reno,
        "newreno" => TcpVariant::NewReno,
        "vegas" => TcpVariant::Vegas,
        "sack1" => TcpVariant::Sack,
        other => panic!("no agent {other}"),
    };
    let bytes = |key: &str| Size::from_bytes(input[key].as_u64().unwrap() as u32);
    let mut options = TcpOptions::new(variant, TcpProfile::Ns2);
    options.window = input["window"].as_u64().unwrap() as u32;
    options.delayed_ack = input["delayed_ack"].as_bool().unwrap();
    options.ack_size = bytes("header");
    // Vegas of ns-2 counts no header.
    let header = if variant == TcpVariant::Vegas { 0 } else { options.ack_size.as_bytes() };
    options.packet_size = Size::from_bytes(bytes("payload").as_bytes() + header);
    assert_eq!(bytes("ack_bytes"), options.ack_size);

    let drops = input["drop_arrivals"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let backward = LinkConfig {
        rate: Rate::from_bps(input["rate_bps"].as_f64().unwrap()),
        delay: Duration::from_secs_f64(input["one_way_prop_s"].as_f64().unwrap()),
        queue: QueueConfig::default(),
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let forward = LinkConfig { loss: LossModel::List(drops), ..backward.clone() };
    let mut network = Network::new();
    let (a, b) = (network.add_node("A"), network.add_node("B"));
    network.add_link(a, b, forward, backward).unwrap();
    let mut simulation = Simulation::new(network, 1);
    let config = TcpConfig {
        from: a,
        to: b,
        options,
        demand: Demand::Endless,
        start: Time::ZERO,
        stop: None,
        name: "tcp".into(),
    };
    let tcp = simulation.add_tcp(config).unwrap();
    (simulation, tcp)
}
