use super::*;
use crate::estimator::SendTime;
use layercast_core::units::{Layer, Seq};

fn packet(us: u64) -> Packet {
    Packet { layer: Layer::BASE, seq: Seq(us), sent: SendTime::from_us(us) }
}

fn lap(change: impl FnOnce(&mut LossConfig)) -> Lap {
    let mut config = LossConfig {
        discounting: None,
        window: 1,
        initial_rtt: Duration::from_us(100),
        ..LossConfig::default()
    };
    change(&mut config);
    Lap::new(&config)
}

/// Packets every 10 us from `from` up to but not including `to`.
fn receive(lap: &mut Lap, from: u64, to: u64) {
    (from..to).step_by(10).for_each(|us| lap.on_received(&packet(us)));
}

fn impacts(lap: &Lap) -> alloc::vec::Vec<f64> {
    lap.intervals().closed().map(|interval| interval.impact).collect()
}

#[test]
fn the_estimate_reacts_to_the_first_loss_of_a_period() {
    let mut lap = lap(|_| ());
    receive(&mut lap, 0, 990);
    assert_eq!(lap.loss_rate(), 0.0);
    lap.on_lost(&packet(990));
    assert_eq!(lap.loss_rate(), 0.01);
    lap.on_lost(&packet(1000));
    assert_eq!((lap.loss_rate(), lap.provisional()), (2.0 / 101.0, Some((101, 2))));
}

#[test]
fn closing_a_period_does_not_make_the_estimate_jump() {
    for (threshold, discount_impact) in [(None, false), (Some(0.25), false), (Some(0.25), true)] {
        let mut lap = lap(|config| {
            config.discounting = threshold;
            config.discount_impact = discount_impact;
        });
        let mut us = 0;
        for length in [300, 3000, 200, 10_000, 500] {
            receive(&mut lap, us, us + length);
            us += length;
            lap.on_lost(&packet(us));
            lap.on_lost(&packet(us + 10));
            us += 20;
        }
        receive(&mut lap, us, us + 80);
        let before = lap.loss_rate();
        lap.close_before(&packet(us + 80));
        assert!(lap.provisional().is_none());
        assert!((lap.loss_rate() - before).abs() < 1e-12, "{before} {}", lap.loss_rate());
    }
}

#[test]
fn late_losses_count_for_the_two_newest_periods_only() {
    let mut lap = lap(|_| ());
    for start in [1000, 2000, 3000] {
        lap.on_lost(&packet(start));
        lap.on_received(&packet(start + 100));
    }
    assert_eq!(impacts(&lap), [1.0, 1.0, 1.0]);
    assert_eq!(lap.on_lost(&packet(1050)), LossOutcome::Ignored);
    assert_eq!(lap.on_lost(&packet(2050)), LossOutcome::Counted);
    assert_eq!(lap.on_lost(&packet(3050)), LossOutcome::Counted);
    // Between two closed periods: it counts for the newer.
    assert_eq!(lap.on_lost(&packet(2500)), LossOutcome::Counted);
    assert_eq!(impacts(&lap), [3.0, 2.0, 1.0]);
    // After the newest period's end a late loss opens a new period.
    assert_eq!(lap.on_lost(&packet(3100)), LossOutcome::NewEvent);
    // While that is open, losses of closed periods still go to theirs.
    assert_eq!(lap.on_lost(&packet(3060)), LossOutcome::Counted);
    assert_eq!(impacts(&lap), [4.0, 2.0, 1.0]);
}

#[test]
fn an_earlier_loss_moves_the_period_back_if_it_still_holds_its_trigger() {
    let mut near = lap(|_| ());
    near.on_lost(&packet(1000));
    assert_eq!(near.on_lost(&packet(950)), LossOutcome::Counted);
    near.on_received(&packet(1050));
    assert_eq!(impacts(&near), [2.0]);

    let mut far = lap(|_| ());
    far.on_lost(&packet(1000));
    assert_eq!(far.on_lost(&packet(900)), LossOutcome::Counted);
    far.on_received(&packet(1050));
    assert_eq!(far.provisional(), Some((3, 2)));
}

#[test]
fn a_period_keeps_the_round_trip_time_of_its_start() {
    let mut lap = lap(|_| ());
    lap.on_lost(&packet(1000));
    lap.set_rtt(Duration::from_us(500));
    lap.set_rtt(Duration::ZERO);
    assert_eq!(lap.on_lost(&packet(1100)), LossOutcome::NewEvent);
    assert_eq!(lap.on_lost(&packet(1599)), LossOutcome::Counted);
    assert_eq!(lap.on_lost(&packet(1600)), LossOutcome::NewEvent);
}

#[test]
fn a_discarded_first_interval_leaves_the_rate_unknown_until_the_second() {
    let mut lap = lap(|config| config.first_interval = FirstInterval::Discard);
    receive(&mut lap, 0, 1000);
    lap.on_lost(&packet(1000));
    assert_eq!(lap.loss_rate(), 0.0);
    receive(&mut lap, 1010, 2000);
    assert_eq!(lap.loss_rate(), 0.0);
    lap.on_lost(&packet(2000));
    assert!((lap.loss_rate() - 1.0 / 91.0).abs() < 1e-12, "{}", lap.loss_rate());
}

#[test]
fn a_restarted_sender_clock_leaves_no_period_behind() {
    let mut lap = lap(|_| ());
    lap.on_lost(&packet(1_000_000));
    lap.forget_times();
    assert_eq!(lap.on_lost(&packet(10)), LossOutcome::NewEvent);
    assert_eq!((lap.events(), impacts(&lap).len()), (2, 1));
}
