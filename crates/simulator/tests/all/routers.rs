//! Active routers: the packets that stop at them, the state they hold, and the effect of their failure.

use crate::world::{Plan, at, link, session_plan};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_protocols::nca;
use layercast_protocols::registry::{Header, Protocol, Registry};
use layercast_simulator::{
    Carried, EcnField, LinkConfig, LossModel, NetworkError, ReceiverConfig, ReceiverId, SessionConfig,
};

type RouterConfig = layercast_simulator::RouterConfig<layercast_protocols::registry::Registry>;
type RouterLife = layercast_simulator::RouterLife<layercast_protocols::registry::Registry>;
type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

const PACKETS: u64 = 2000;

fn lossy(loss: f64) -> LinkConfig {
    LinkConfig { loss: LossModel::Bernoulli(loss), ..link(2.0, 10.0) }
}

fn plan(links: &[(&str, f64)]) -> Plan {
    let links: Vec<_> = links.iter().map(|&(name, loss)| (name, lossy(loss), link(2.0, 10.0))).collect();
    Plan::new(&links)
}

/// S - A - P, and behind P the nodes B with R and C with Q. Only what goes into B and R is lost.
fn tree(into_b: f64, into_r: f64) -> Plan {
    plan(&[("S-A", 0.0), ("A-P", 0.0), ("P-B", into_b), ("P-C", 0.0), ("B-R", into_r), ("C-Q", 0.0)])
}

fn life(start_s: f64, stop_s: Option<f64>) -> RouterLife {
    let router = Protocol::named("nca").unwrap().router(session_plan(&[1000.0]), Stream::new(1, "router"));
    RouterLife { router: router.unwrap(), start: at(start_s), stop: stop_s.map(at) }
}

/// A session of NCA to these receivers, with routers that live for ever.
fn config(plan: &Plan, receivers: &[&str], routers: &[&str]) -> SessionConfig<Registry> {
    let protocol = Protocol::named("nca").unwrap();
    let session = session_plan(&[1000.0]);
    let receiver = |&name: &&str| ReceiverConfig {
        node: plan.node(name),
        receiver: protocol.receiver(session.clone(), Stream::new(1, name)),
        start: Time::ZERO,
        stop: None,
        join_latency: Duration::ZERO.into(),
        leave_latency: Duration::ZERO.into(),
    };
    let router = |name: &&str| RouterConfig { node: plan.node(name), lives: vec![life(0.0, None)] };
    SessionConfig {
        source_node: plan.node("S"),
        source: protocol.source(session.clone(), Stream::new(1, "source")),
        channels: 1,
        ecn: EcnField::NotCapable,
        observes_late_packets: protocol.requirements().observes_late_packets(),
        name: "nca".to_owned(),
        // The joins have arrived by then.
        start: at(1.0),
        stop: None,
        receivers: receivers.iter().map(receiver).collect(),
        packets: Some(PACKETS),
        routers: Some(routers.iter().map(router).collect()),
    }
}

/// What was sent on one direction of a link: the packets on the channel, and those of members of the session.
struct Traffic {
    repairs: usize,
    from: Vec<ReceiverId>,
}

fn run(
    plan: &Plan,
    config: SessionConfig<Registry>,
    watched: &[(&str, bool)],
) -> (Simulation, Vec<ReceiverId>, Vec<Traffic>) {
    let mut simulation = plan.simulation();
    let ids = simulation.add_session(config).unwrap();
    let links =
        watched.iter().map(|&(name, up)| if up { plan.link(name).reverse() } else { plan.link(name) });
    let links: Vec<_> = links.collect();
    links.iter().for_each(|&link| simulation.watch_link(link));
    simulation.run_until(at(300.0));
    let traffic = |link| {
        let mut traffic = Traffic { repairs: 0, from: Vec::new() };
        simulation.drain_link(link, &mut |record| match record.carried {
            Carried::Data { header: Header::Nca(nca::Header::Repair(_)), .. } => traffic.repairs += 1,
            Carried::Unicast { receiver, to_source: true, .. } => traffic.from.push(receiver),
            _ => {}
        });
        traffic
    };
    let traffic = links.into_iter().map(traffic).collect();
    (simulation, ids, traffic)
}

fn assert_complete(simulation: &Simulation, ids: &[ReceiverId]) {
    for &id in ids {
        let delivery = simulation.receiver_delivery(id);
        assert!(delivery.completed.is_some(), "{delivery:?}");
        assert!(delivery.delivered_packets >= PACKETS, "{delivery:?}");
        assert_eq!(simulation.receiver_counters(id).transfers, 1);
    }
}

#[test]
fn what_goes_up_stops_at_the_next_router() {
    let plan = tree(0.02, 0.02);
    let watched = [("S-A", true), ("P-B", true)];
    let (simulation, ids, above) = run(&plan, config(&plan, &["R", "Q"], &["A", "B"]), &watched);
    assert_complete(&simulation, &ids);
    assert!(above.iter().all(|traffic| !traffic.from.is_empty()));
    // C is passive, so Q's packets come to A; only A's packets go up from A, and only B's from B.
    for traffic in &above {
        assert!(traffic.from.iter().all(|from| !ids.contains(from) && *from == traffic.from[0]));
    }
    assert_ne!(above[0].from[0], above[1].from[0]);
    let (simulation, ids, above) = run(&plan, config(&plan, &["R", "Q"], &[]), &watched);
    assert_complete(&simulation, &ids);
    assert!(ids.iter().all(|id| above[0].from.contains(id)), "without routers the source receives all");
    assert!(above[0].from.iter().all(|from| ids.contains(from)));
}

#[test]
fn a_router_repairs_from_its_store_over_the_links_that_asked() {
    let plan = plan(&[("S-A", 0.0), ("A-R", 0.03), ("A-Q", 0.0)]);
    let watched = [("S-A", false), ("A-R", false), ("A-Q", false)];
    let (simulation, ids, sent) = run(&plan, config(&plan, &["R", "Q"], &["A"]), &watched);
    assert_complete(&simulation, &ids);
    let repairs: Vec<usize> = sent.iter().map(|traffic| traffic.repairs).collect();
    assert_eq!((repairs[0], repairs[2]), (0, 0), "no receiver asked");
    assert!(repairs[1] > 20, "{repairs:?}");
    let delivery = simulation.receiver_delivery(ids[0]);
    let counters = simulation.receiver_counters(ids[0]);
    assert!(delivery.repair_packets > 20 && counters.lost_packets > 20);
    assert!(counters.received_packets < PACKETS, "repairs are not throughput: {counters:?}");
}

#[test]
fn behind_a_plain_node_each_router_stores_for_itself() {
    let plan = tree(0.03, 0.0);
    let watched = [("S-A", false), ("P-B", false), ("P-C", false), ("B-R", false), ("C-Q", false)];
    let (simulation, ids, sent) = run(&plan, config(&plan, &["R", "Q"], &["A", "B", "C"]), &watched);
    assert_complete(&simulation, &ids);
    let repairs: Vec<bool> = sent.iter().map(|traffic| traffic.repairs > 0).collect();
    // A repairs for B by its one link; P copies to both, and only B has a receiver that asked.
    assert_eq!(repairs, [false, true, true, true, false]);
}

#[test]
fn a_session_goes_on_when_routers_lose_state_or_fail() {
    let plan = tree(0.02, 0.02);
    let mut config = config(&plan, &["R", "Q"], &["A", "B", "C"]);
    let routers = config.routers.as_mut().unwrap();
    // A forgets all it knows, B is passive for a while, and C never comes back.
    routers[0].lives = vec![life(0.0, Some(10.0)), life(10.0, None)];
    routers[1].lives = vec![life(0.0, Some(6.0)), life(12.0, None)];
    routers[2].lives = vec![life(0.0, Some(8.0))];
    let (simulation, ids, traffic) = run(&plan, config, &[("S-A", true)]);
    assert_complete(&simulation, &ids);
    assert!(traffic[0].from.iter().all(|from| !ids.contains(from)), "A was never away");
    let completed = simulation.receiver_delivery(ids[0]).completed.unwrap();
    assert!(completed > at(12.0), "it was over before the routers failed: {completed}");
}

#[test]
fn equal_sessions_do_the_same() {
    let plan = tree(0.02, 0.02);
    let outcome = || {
        let (simulation, ids, _) = run(&plan, config(&plan, &["R", "Q"], &["A", "B"]), &[]);
        let counters =
            |&id: &ReceiverId| (simulation.receiver_counters(id), simulation.receiver_delivery(id));
        (ids.iter().map(counters).collect::<Vec<_>>(), simulation.engine_counters())
    };
    assert_eq!(outcome(), outcome());
}

#[test]
fn routers_are_refused_where_they_cannot_be() {
    let plan = tree(0.0, 0.0);
    for node in ["S", "R"] {
        let error = plan.simulation().add_session(config(&plan, &["R", "Q"], &[node])).unwrap_err();
        assert_eq!(error, NetworkError::RouterPlace { node: node.to_owned() });
    }
    let twice = plan.simulation().add_session(config(&plan, &["R"], &["A", "A"])).unwrap_err();
    assert_eq!(twice, NetworkError::RouterPlace { node: "A".to_owned() });
    let names: Vec<String> = (0..65).map(|number| format!("R{number}")).collect();
    let links: Vec<String> = names.iter().map(|name| format!("A-{name}")).collect();
    let mut all = vec![("S-A", 0.0)];
    all.extend(links.iter().map(|link| (link.as_str(), 0.0)));
    let wide = self::plan(&all);
    let receivers: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = wide.simulation().add_session(config(&wide, &receivers, &["A"])).unwrap_err();
    assert_eq!(error, NetworkError::ChildLinks { node: "A".to_owned(), links: 65, most: 64 });
    assert!(
        wide.simulation().add_session(config(&wide, &receivers, &[])).is_ok(),
        "passive, it may have any"
    );
}
