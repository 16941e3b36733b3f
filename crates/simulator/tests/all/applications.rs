//! Web pages, players of video, calls.

use crate::world::{Plan, at, link, tcp};
use allocation_counter::measure;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, Distribution, PagesConfig, PlayerConfig, PlayerCounters, TcpConfig, TcpId, UdpConfig, UdpId,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

fn path(mbps: f64, delay_ms: f64) -> Plan {
    let one = || link(mbps, delay_ms);
    Plan::new(&[("S-R", one(), one())])
}

fn add(simulation: &mut Simulation, plan: &Plan, variant: TcpVariant, demand: Demand, name: &str) -> TcpId {
    simulation.add_tcp(TcpConfig { demand, ..tcp(plan, variant, "S", "R", name) }).unwrap()
}

/// Pages of two packets: one of the document, one of the rest.
fn small_pages(handshake_bytes: f64, one_connection_per_page: bool) -> Demand {
    Demand::Pages(PagesConfig {
        page: Distribution::Fixed(2000.0),
        document: Distribution::Fixed(1000.0),
        parse_s: Distribution::Fixed(0.1),
        reading_s: Distribution::Fixed(1.0),
        handshake_bytes,
        one_connection_per_page,
    })
}

/// On 10 Mbit/s and 25 ms a packet of 1000 bytes and its acknowledgement of 40 take 50.832 ms, and the opening packet of
/// 40 bytes with its acknowledgement 50.064 ms. A page is two of the former and 100 ms of parsing.
#[test]
fn a_page_takes_its_round_trips_and_its_parsing() {
    const PACKET_US: u128 = 50_832;
    const OPENING_US: u128 = 50_064;
    let page = 2 * PACKET_US + 100_000;
    let cases = [
        (0.0, false, [OPENING_US + page, page]),
        (1000.0, false, [OPENING_US + PACKET_US + page, page]),
        (1000.0, true, [OPENING_US + PACKET_US + page; 2]),
    ];
    // Vegas of ns-2 opens with data, and BBR paces.
    let plain = TcpVariant::ALL.into_iter().filter(|v| !matches!(v, TcpVariant::Vegas | TcpVariant::Bbr));
    for variant in plain {
        for (handshake, per_page, [first, second]) in cases {
            let plan = path(10.0, 25.0);
            let mut simulation = plan.simulation();
            let id = add(&mut simulation, &plan, variant, small_pages(handshake, per_page), "user");
            simulation.run_until(at(2.0));
            let one = simulation.tcp_counters(id);
            assert_eq!(
                (one.transfers, one.transfer_ns),
                (1, first * 1000),
                "{variant:?} {handshake} {per_page}"
            );
            simulation.run_until(at(3.2));
            let two = simulation.tcp_counters(id);
            assert_eq!((two.transfers, two.transfer_ns), (2, (first + second) * 1000), "{variant:?}");
        }
    }
}

#[test]
fn users_of_every_tcp_read_page_after_page() {
    for variant in TcpVariant::ALL {
        let plan = path(10.0, 25.0);
        let mut simulation = plan.simulation();
        let id = add(&mut simulation, &plan, variant, small_pages(4000.0, true), "user");
        simulation.run_until(at(100.0));
        // A page in 1.2 to 1.5 s.
        let pages = simulation.tcp_counters(id).transfers;
        assert!((66..=83).contains(&pages), "{variant:?}: {pages}");
    }
}

/// Weights are log-normal with a mean of 50 kB and a coefficient of variation of 1.4, so the mean of 20 000 is known to
/// 1 % (a standard error); each of the two responses is rounded up by half a packet on average. The times between pages
/// are exponential: their number is known to 0.7 %.
#[test]
fn over_a_long_time_pages_have_the_weights_and_the_rate_of_their_distributions() {
    let plan = path(1000.0, 1.0);
    let mut simulation = plan.simulation();
    let page = Distribution::LogNormal { mean: 50_000.0, sigma: 1.04 };
    let demand = Demand::Pages(PagesConfig {
        page,
        document: Distribution::Fixed(1000.0),
        parse_s: Distribution::Exponential { mean: 0.13 },
        reading_s: Distribution::Exponential { mean: 30.0 },
        handshake_bytes: 0.0,
        one_connection_per_page: false,
    });
    let ids: Vec<TcpId> = (0..20)
        .map(|user| add(&mut simulation, &plan, TcpVariant::Cubic, demand.clone(), &format!("user-{user}")))
        .collect();
    const SECONDS: f64 = 30_000.0;
    simulation.run_until(at(SECONDS));
    let all = ids.iter().map(|&id| simulation.tcp_counters(id));
    let (pages, bytes, busy_ns) = all.fold((0, 0, 0), |(pages, bytes, busy), flow| {
        (pages + flow.transfers, bytes + flow.received_bytes, busy + flow.transfer_ns)
    });
    let weight = bytes as f64 / pages as f64;
    let expected = page.mean() + 500.0;
    assert!((weight / expected - 1.0).abs() < 0.03, "{weight} bytes a page, not {expected}");
    let page_s = busy_ns as f64 / 1e9 / pages as f64;
    let cycles = SECONDS * ids.len() as f64 / (30.0 + page_s);
    assert!((pages as f64 / cycles - 1.0).abs() < 0.03, "{pages} pages, not {cycles}");
    // Two users do not read the same pages.
    assert_ne!(
        simulation.tcp_counters(ids[0]).received_bytes,
        simulation.tcp_counters(ids[1]).received_bytes
    );
}

fn player(ladder_mbps: &[f64]) -> PlayerConfig {
    PlayerConfig {
        segment: Duration::from_secs(4),
        ladder: ladder_mbps.iter().map(|&mbps| Rate::from_mbps(mbps)).collect(),
        reservoir: Duration::from_secs(20),
        cushion: Duration::from_secs(40),
        buffer: Duration::from_secs(80),
        startup: Duration::from_secs(4),
    }
}

/// A segment of 500 packets of 1000 bytes takes 8 s on 500 kbit/s, plus 2.64 ms until the next begins: the way of the last
/// packet and that of its acknowledgement. Before the first, the connection takes 3.28 ms to open. Of each cycle 4 s are
/// played.
#[test]
fn on_half_the_lowest_rate_a_video_stands_still_half_of_the_time() {
    let plan = path(0.5, 1.0);
    let mut simulation = plan.simulation();
    let demand = Demand::Player(player(&[1.0, 2.0]));
    let id = add(&mut simulation, &plan, TcpVariant::Reno, demand, "film");
    let mut look = |seconds: f64| {
        simulation.run_until(at(seconds));
        simulation.player_counters(id).unwrap()
    };
    assert_eq!(look(8.0), PlayerCounters::default(), "nothing plays before the first segment is there");
    let (cycle, cycles) = (8.002_64, 100.0);
    let early = look(20.0);
    assert_eq!(early.startup, Some(Duration::from_us(8_005_920)));
    let late = look(20.0 + cycles * cycle);
    let between = |of: fn(&PlayerCounters) -> Duration| of(&late).saturating_sub(of(&early)).as_secs_f64();
    assert!((between(|c| c.played) - cycles * 4.0).abs() < 1e-6);
    assert!((between(|c| c.stalled) - cycles * (cycle - 4.0)).abs() < 1e-6);
    assert_eq!(late.stalls - early.stalls, 100);
    assert_eq!(late.fetched_bytes * 8, late.fetched.as_ns() / 1000, "all of it at 1 Mbit/s");
}

#[test]
fn on_a_fast_link_a_video_reaches_the_highest_rate_and_then_pauses() {
    for variant in TcpVariant::ALL {
        let plan = path(50.0, 10.0);
        let mut simulation = plan.simulation();
        let id = add(&mut simulation, &plan, variant, Demand::Player(player(&[1.0, 2.0, 4.0])), "film");
        let mut look = |seconds: f64| {
            simulation.run_until(at(seconds));
            (simulation.player_counters(id).unwrap(), simulation.tcp_counters(id).received_bytes)
        };
        let (early, early_bytes) = look(100.0);
        let (late, late_bytes) = look(500.0);
        assert_eq!(late.stalled, Duration::ZERO, "{variant:?}");
        assert!(
            early.startup.is_some_and(|startup| startup < Duration::from_secs(1)),
            "{variant:?}: {early:?}"
        );
        // A full buffer takes one segment for each that was played.
        assert_eq!(late.fetched.saturating_sub(early.fetched), Duration::from_secs(400), "{variant:?}");
        assert_eq!(late.fetched_bytes - early.fetched_bytes, 100 * 2_000_000, "{variant:?}");
        assert_eq!(late_bytes - early_bytes, 100 * 2_000_000, "{variant:?}: so the link carries 4 Mbit/s");
    }
}

fn add_call(simulation: &mut Simulation, plan: &Plan, name: &str) -> UdpId {
    let config = UdpConfig {
        from: plan.node("S"),
        to: plan.node("R"),
        rate: Rate::from_kbps(80.0),
        packet_size: Size::from_bytes(200),
        pauses: None,
        is_call: true,
        start: Time::ZERO,
        stop: None,
        name: name.to_owned(),
    };
    simulation.add_udp(config).unwrap()
}

/// 200 bytes take 0.16 ms on 10 Mbit/s.
#[test]
fn on_an_idle_link_a_call_has_the_delay_of_the_link() {
    for (delay_ms, late) in [(25.0, 0.0), (149.84, 0.0), (149.85, 1.0), (300.0, 1.0)] {
        let plan = path(10.0, delay_ms);
        let mut simulation = plan.simulation();
        let id = add_call(&mut simulation, &plan, "call");
        simulation.run_until(at(10.0));
        let delays = simulation.call_delays(id).unwrap();
        let expected = (delay_ms + 0.16) / 1e3;
        assert!((delays.mean_s().unwrap() - expected).abs() < 1e-9, "{delay_ms} ms");
        for share in [0.01, 0.5, 0.99, 1.0] {
            let found = delays.quantile_s(share).unwrap();
            assert!(found >= expected && found <= expected * 33.0 / 32.0, "{found} for {expected}");
        }
        assert_eq!(delays.late_share(), Some(late), "{delay_ms} ms");
        // One in 20 ms.
        assert!((480..=500).contains(&simulation.udp_counters(id).received_packets));
    }
}

/// In step, the last of ten packets would wait for nine others: 14.4 ms on 1 Mbit/s, 7.2 ms on average.
#[test]
fn calls_that_start_together_are_not_in_step() {
    let plan = path(1.0, 1.0);
    let mut simulation = plan.simulation();
    let ids: Vec<UdpId> =
        (0..10).map(|call| add_call(&mut simulation, &plan, &format!("call-{call}"))).collect();
    simulation.run_until(at(20.0));
    let mean =
        ids.iter().map(|&id| simulation.call_delays(id).unwrap().mean_s().unwrap()).sum::<f64>() / 10.0;
    let waits_ms = (mean - 0.001 - 0.0016) * 1e3;
    assert!((0.0..5.0).contains(&waits_ms), "{waits_ms}");
}

#[test]
fn a_stream_of_packets_that_is_no_call_keeps_no_delays() {
    let plan = path(1.0, 1.0);
    let mut simulation = plan.simulation();
    let call = add_call(&mut simulation, &plan, "call");
    let config = UdpConfig {
        from: plan.node("S"),
        to: plan.node("R"),
        rate: Rate::from_kbps(80.0),
        packet_size: Size::from_bytes(200),
        pauses: None,
        is_call: false,
        start: Time::ZERO,
        stop: None,
        name: "udp".to_owned(),
    };
    let stream = simulation.add_udp(config).unwrap();
    simulation.run_until(at(1.0));
    assert!(simulation.call_delays(stream).is_none() && simulation.call_delays(call).is_some());
}

#[test]
fn applications_allocate_nothing() {
    let plan = path(20.0, 10.0);
    let mut simulation = plan.simulation();
    let options = TcpOptions::new(TcpVariant::Cubic, TcpProfile::Linux);
    let demands =
        [small_pages(4000.0, true), small_pages(0.0, false), Demand::Player(player(&[1.0, 2.0, 4.0]))];
    for (number, demand) in demands.into_iter().enumerate() {
        let base = tcp(&plan, TcpVariant::Cubic, "S", "R", &format!("tcp-{number}"));
        simulation.add_tcp(TcpConfig { demand, options: options.clone(), ..base }).unwrap();
    }
    add_call(&mut simulation, &plan, "call");
    simulation.run_until(at(200.0));
    let allocations = measure(|| simulation.run_until(at(400.0)));
    assert_eq!(allocations.count_total, 0);
}
