use layercast_core::units::{Duration, Layer, Seq, Size};
use layercast_kit::estimator::{
    Boundary, Fate, FirstInterval, ImpactAverage, Lap, Lip, LossConfig, LossEstimator, LossIntervals,
    LossMethod, LossOutcome, Packet, SendTime, VirtualConfig, VirtualLoss, WindowScope,
};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = LossConfig> {
    let methods = prop::sample::select(vec![LossMethod::Lip, LossMethod::Lap, LossMethod::LipShort]);
    let boundaries = prop::sample::select(vec![Boundary::Inside, Boundary::Outside]);
    let firsts = prop::sample::select(vec![FirstInterval::Counted, FirstInterval::Discard]);
    let impacts = prop::sample::select(vec![ImpactAverage::Mean, ImpactAverage::Weighted]);
    let scopes = prop::sample::select(vec![WindowScope::Session, WindowScope::Layer]);
    let discounting = prop::option::of(0.0..=1.0f64);
    let rules = prop::sample::select(vec![VirtualLoss::Representative, VirtualLoss::Any]);
    let sizes = prop::sample::select(vec![0, 400, 3000]);
    let virtual_packets =
        (sizes, rules).prop_map(|(size, rule)| VirtualConfig::of(Size::from_bytes(size), rule));
    let choices = (methods, boundaries, firsts, impacts, scopes, any::<bool>(), virtual_packets);
    (choices, discounting, 0..20u32, 0..10u32).prop_map(|(choices, discounting, history, window)| {
        let (method, boundary, first_interval, impact, scope, discount_impact, virtual_packets) = choices;
        LossConfig {
            method,
            history,
            discounting,
            boundary,
            first_interval,
            initial_rtt: Duration::from_us(50),
            impact,
            discount_impact,
            window,
            scope,
            virtual_packets,
        }
    })
}

#[derive(Clone, Debug)]
struct Step {
    lost: bool,
    layer: u16,
    back_us: u64,
    rtt_us: Option<u64>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..8u32, 0..4u16, 0..300u64, prop::option::weighted(0.05, 0..200u64))
        .prop_map(|(fate, layer, back_us, rtt_us)| Step { lost: fate == 0, layer, back_us, rtt_us });
    prop::collection::vec(step, 0..600)
}

fn packet(index: usize, step: &Step) -> Packet {
    // Losses are detected late, so their times lie in the past.
    let back_us = if step.lost { step.back_us } else { 0 };
    let us = (index as u64 * 10).saturating_sub(back_us);
    Packet { layer: Layer(step.layer), seq: Seq(index as u64), sent: SendTime::from_us(us) }
}

fn fate(lost: bool) -> Fate {
    if lost { Fate::Lost } else { Fate::Received(Size::from_bytes(1000)) }
}

proptest! {
    #[test]
    fn rates_stay_rates_whatever_happens(config in config(), steps in steps()) {
        let mut estimator = LossEstimator::new(&config);
        let mut events = 0;
        for (index, step) in steps.iter().enumerate() {
            if let Some(us) = step.rtt_us {
                estimator.set_rtt(Duration::from_us(us));
            }
            let packet = packet(index, step);
            events += u64::from(estimator.on_packet(&packet, fate(step.lost)) == LossOutcome::NewEvent);
            let p = estimator.loss_rate();
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
            prop_assert_eq!(estimator.events(), events);
            if events == 0 {
                prop_assert_eq!(p, 0.0);
            }
        }
        estimator.forget_times();
        prop_assert!((0.0..=1.0).contains(&estimator.loss_rate()));
        estimator.reset();
        prop_assert_eq!(estimator.loss_rate(), 0.0);
    }

    /// Every packet belongs to one interval, closed or open.
    #[test]
    fn intervals_hold_every_packet_once(steps in steps()) {
        let config = LossConfig { history: 1000, discounting: None, ..LossConfig::default() };
        let (mut lip, mut lap) = (Lip::new(&config), Lap::new(&config));
        lip.set_rtt(Duration::from_us(50));
        lap.set_rtt(Duration::from_us(50));
        for (index, step) in steps.iter().enumerate() {
            let packet = packet(index, step);
            if step.lost {
                lip.on_lost(&packet);
                lap.on_lost(&packet);
            } else {
                lip.on_received(&packet);
                lap.on_received(&packet);
            }
        }
        let closed = |intervals: &LossIntervals| intervals.closed().map(|interval| interval.length).sum::<f64>();
        // A first packet that is lost closes an interval of length 1 before itself.
        let extra = f64::from(u8::from(steps.first().is_some_and(|step| step.lost)));
        prop_assert_eq!(closed(lip.intervals()) + lip.open_length() as f64, steps.len() as f64 + extra);
        let open = lap.provisional().map_or(lap.open_length(), |(length, _)| length);
        prop_assert_eq!(closed(lap.intervals()) + open as f64, steps.len() as f64);
    }

    /// With one loss in each period the two methods count the same events.
    #[test]
    fn methods_agree_on_events_in_order(losses in prop::collection::vec(any::<bool>(), 1..500)) {
        let config = LossConfig { initial_rtt: Duration::from_us(50), ..LossConfig::default() };
        let mut lip = LossEstimator::new(&LossConfig { method: LossMethod::Lip, ..config });
        let mut lap = LossEstimator::new(&config);
        for (index, &lost) in losses.iter().enumerate() {
            let packet = packet(index, &Step { lost: false, layer: 0, back_us: 0, rtt_us: None });
            let begins = |estimator: &mut LossEstimator| {
                estimator.on_packet(&packet, fate(lost)) == LossOutcome::NewEvent
            };
            prop_assert_eq!(begins(&mut lip), begins(&mut lap));
        }
    }
}
