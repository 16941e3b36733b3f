//! Gateways and relays over bad channels, by seeds.

use std::net::SocketAddr;

use layercast_core::stream::Stream;
use layercast_core::units::Duration;
use layercast_delivery::membership::subscriptions::Subscription;
use layercast_testkit::cases;

use super::channel::{Plan, World, group, relay_at};

/// At least each combination of the plan's choices, with some luck.
fn seeds() -> std::ops::Range<u64> {
    0..u64::from(cases(60).max(24))
}

fn subscription(world: &World, is_v6: bool, number: u8, is_any: bool) -> Subscription {
    Subscription { group: group(is_v6, number), source: (!is_any).then_some(world.source) }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn memberships_converge_over_a_channel_that_loses_a_third() {
    for seed in seeds() {
        let (is_v6, is_any) = (seed % 2 == 1, seed % 4 >= 2);
        let plan = Plan { is_v6, is_discovered: seed % 3 == 0, ..Plan::new(seed, 0.3) };
        let mut world = World::new(plan);
        let mut choice = Stream::new(seed, "choice");
        let mut held = [false; 8];
        for _ in 0..40 {
            let number = (choice.bits() % 8) as u8;
            let subscription = subscription(&world, is_v6, number, is_any);
            let place = &mut held[usize::from(number)];
            *place = !*place;
            if *place {
                world.gateway.join(world.now, subscription);
            } else {
                world.gateway.leave(world.now, subscription);
            }
            let pause = choice.uniform_duration(secs(3));
            world.run(pause);
        }
        // Reports are repeated, and the state is asked for after silence and by each query.
        let last = subscription(&world, is_v6, 0, is_any);
        world.gateway.join(world.now, last);
        held[0] = true;
        world.set_loss(0.0);
        world.run(secs(260));
        let relay = world.relay(1);
        let reported = relay.subscriptions(world.outside);
        let wanted: Vec<Subscription> = (0..8u8)
            .filter(|number| held[usize::from(*number)])
            .map(|number| subscription(&world, is_v6, number, is_any))
            .collect();
        assert_eq!(reported, wanted, "seed {seed}");
        for subscription in &wanted {
            let heard = world.heard.get(&subscription.group).copied();
            assert!(heard.is_some_and(|at| world.now.since(at) < secs(1)), "seed {seed}: {subscription:?}");
        }
        assert_eq!(relay.counters().malformed + world.gateway.counters().malformed, 0, "seed {seed}");
        // At the end nothing remains.
        world.gateway.stop();
        world.run(secs(1));
        assert_eq!(world.relay(1).tunnels(), 0, "seed {seed}");
    }
}

/// The longest gap in what a group brings from now on, in `length`.
fn gap(world: &mut World, length: Duration) -> Duration {
    let group = group(false, 0);
    let (begin, step) = (world.now, Duration::from_ms(100));
    let mut longest = Duration::ZERO;
    while world.now.since(begin) < length {
        world.run(step);
        let last = world.heard.get(&group).copied().unwrap_or(begin).max(begin);
        longest = longest.max(world.now.since(last));
    }
    longest
}

#[test]
fn the_restart_of_a_relay_costs_seconds() {
    let mut longest = Duration::ZERO;
    for seed in seeds() {
        let mut world = World::new(Plan::new(seed, 0.05));
        let wanted = subscription(&world, false, 0, false);
        world.gateway.join(world.now, wanted);
        world.run(secs(20));
        world.stop_relay(1);
        world.run(Duration::from_ms(500));
        // With a new secret and no tunnel.
        world.start_relay(1);
        let gap = gap(&mut world, secs(60));
        assert!(gap < secs(15), "seed {seed}: {} s without packets", gap.as_secs_f64());
        longest = longest.max(gap);
        assert!(world.gateway.counters().handshakes >= 2);
    }
    // Three seconds of silence, and then the handshake.
    assert!(longest >= secs(3));
}

#[test]
fn a_gateway_that_discovers_moves_to_the_next_relay() {
    for seed in seeds() {
        let mut world = World::new(Plan { is_discovered: true, ..Plan::new(seed, 0.05) });
        let wanted = subscription(&world, false, 0, false);
        world.gateway.join(world.now, wanted);
        world.run(secs(20));
        assert_eq!(world.gateway.relay(), Some(relay_at(1)));
        world.stop_relay(1);
        // The routes now lead to the other one.
        world.anycast_to = relay_at(2);
        let gap = gap(&mut world, secs(120));
        assert_eq!(world.gateway.relay(), Some(relay_at(2)), "seed {seed}");
        assert!(gap < secs(90), "seed {seed}: {} s without packets", gap.as_secs_f64());
        assert!(world.gateway.counters().lost_relays >= 1);
        assert_eq!(world.relay(2).subscriptions(world.outside), [wanted]);
    }
}

#[test]
fn a_change_of_address_ends_the_old_tunnel() {
    for seed in seeds() {
        let mut world = World::new(Plan::new(seed, 0.05));
        let wanted = subscription(&world, false, 0, false);
        world.gateway.join(world.now, wanted);
        world.run(secs(20));
        let old = world.outside;
        // The NAT has another mapping: updates have a wrong MAC, and packets go astray.
        world.outside = SocketAddr::from(([203, 0, 113, 9], 50_001));
        world.run(secs(40));
        assert_eq!(world.gateway.counters().address_changes, 1, "seed {seed}");
        assert_eq!(world.relay(1).subscriptions(old), [], "seed {seed}");
        assert_eq!(world.relay(1).subscriptions(world.outside), [wanted], "seed {seed}");
        let stray = world.stray;
        assert!(stray > 0);
        world.run(secs(10));
        assert_eq!(world.stray, stray, "seed {seed}: the relay still sends to the old address");
    }
}

#[test]
fn a_gateway_without_subscriptions_is_quiet() {
    let mut world = World::new(Plan::new(1, 0.0));
    world.run(secs(300));
    assert!(world.sent.is_empty());
    let wanted = subscription(&world, false, 0, false);
    world.gateway.join(world.now, wanted);
    world.run(secs(10));
    world.gateway.leave(world.now, wanted);
    world.run(secs(10));
    let sent = world.sent.clone();
    // One request, a join and a leave, each reported twice.
    assert_eq!(sent.into_iter().collect::<Vec<_>>(), [(3, 1), (5, 4)]);
    assert_eq!(world.relay(1).tunnels(), 0);
    let before: u64 = world.sent.values().sum();
    world.run(secs(600));
    assert_eq!(world.sent.values().sum::<u64>(), before);
}

#[test]
fn requests_follow_the_query_interval() {
    let mut world = World::new(Plan::new(1, 0.0));
    let wanted = subscription(&world, false, 0, false);
    world.gateway.join(world.now, wanted);
    world.run(secs(1300));
    // One at once, and one each 125 seconds; a report for each but the first two.
    assert_eq!(world.sent.get(&3), Some(&11));
    assert_eq!(world.sent.get(&5), Some(&12));
}

#[test]
fn requests_to_a_dead_relay_back_off() {
    let mut world = World::new(Plan::new(3, 1.0));
    let wanted = subscription(&world, false, 0, false);
    world.gateway.join(world.now, wanted);
    world.run(secs(600));
    let requests = world.sent.get(&3).copied().unwrap_or_default();
    assert!((8..30).contains(&requests), "{requests} requests in ten minutes");
}
