use core::num::NonZeroU64;

use super::*;
use layercast_kit::feedback::ReceiverId;

fn waiting(id: u64, at_ms: u64, has_rtt: bool) -> Waiting {
    let arrived = Time::ZERO + Duration::from_ms(at_ms);
    let receiver = ReceiverId(NonZeroU64::new(id).expect("not zero"));
    Waiting { receiver, timestamp_us: at_ms as u32, arrived, has_rtt }
}

fn popped(queue: &mut EchoQueue, at_ms: u64) -> Option<(u64, u32, u32)> {
    let echo = queue.pop(Time::ZERO + Duration::from_ms(at_ms))?;
    Some((echo.receiver.0.get(), echo.timestamp_us, echo.hold_us))
}

#[test]
fn one_echo_per_receiver_in_order_with_the_time_it_was_held() {
    let mut queue = EchoQueue::new(false);
    queue.push(waiting(1, 0, true));
    queue.push(waiting(2, 10, false));
    queue.push(waiting(1, 20, true));
    assert_eq!(popped(&mut queue, 30), Some((1, 20, 10_000)));
    assert_eq!(popped(&mut queue, 30), Some((2, 10, 20_000)));
    assert_eq!(popped(&mut queue, 30), None);
}

#[test]
fn old_echoes_are_dropped_and_newcomers_may_go_first() {
    let mut queue = EchoQueue::new(true);
    queue.push(waiting(1, 0, true));
    queue.push(waiting(2, 1500, true));
    queue.push(waiting(3, 1600, false));
    assert_eq!(popped(&mut queue, 2001), Some((3, 1600, 401_000)));
    assert_eq!(popped(&mut queue, 2001), Some((2, 1500, 501_000)));
    assert_eq!(popped(&mut queue, 2001), None);
}

#[test]
fn the_queue_is_bounded() {
    let mut queue = EchoQueue::new(false);
    let kept = (1..=1000).filter(|&id| queue.push(waiting(id, 0, true))).count();
    assert_eq!(kept, 256);
}

#[test]
fn a_crowd_stretches_the_interval_by_a_tenth_per_period() {
    let options = Options::default();
    let mut control = FeedbackControl::new(&options, Time::ZERO);
    for period in 1..=3u64 {
        for _ in 0..5_000 {
            control.count();
        }
        control.poll(Time::ZERO + Duration::from_secs(5 * period));
    }
    assert_eq!(control.interval_ms(), 1331);
}
