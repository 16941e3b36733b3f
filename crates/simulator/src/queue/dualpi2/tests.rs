use layercast_testkit::golden;

use super::*;
use crate::packet::EcnField;
use crate::queue::Queue;
use crate::queue::testing::{Driver, copy};

fn queue(config: DualPi2Config) -> Queue {
    Queue::DualPi2(Box::new(DualPi2Queue::new(config, Rate::from_mbps(10.0))))
}

#[test]
fn golden_probabilities() {
    let case = golden::vector("vectors-active-and-unicast.json", "dualpi2-01");
    let mut controller = Controller::new(DualPi2Config::default());
    let expected = case.expected["p_pC_pCL"].as_array().unwrap();
    let delays = golden::numbers(&case.input["curq_delay"]);
    assert_eq!(delays.len(), expected.len());
    for (delay, expected) in delays.into_iter().zip(expected) {
        controller.update(delay);
        let probabilities = [controller.base, controller.classic(), controller.coupled()];
        case.check_list("p, p_C, p_CL", &probabilities, expected);
    }
}

#[test]
fn golden_ramp() {
    let case = golden::vector("vectors-active-and-unicast.json", "dualpi2-02");
    let waits = golden::numbers(&case.input["lq_delay"]);
    let config = DualPi2Config::default();
    let marked: Vec<f64> = waits.iter().map(|&wait| config.ramp(Duration::from_secs_f64(wait))).collect();
    case.check_list("p", &marked, &case.expected["p"]);
}

#[test]
fn a_ramp_without_width_is_a_step() {
    let config = DualPi2Config { ramp_range: Duration::ZERO, ..DualPi2Config::default() };
    let at = |us| config.ramp(Duration::from_us(us));
    assert_eq!((at(0), at(799), at(800), at(900)), (0.0, 0.0, 1.0, 1.0));
}

#[test]
fn a_likelihood_is_spread_evenly() {
    let mut recurrence = Recurrence::default();
    let fired: Vec<bool> = (0..16).map(|_| recurrence.fires(0.25)).collect();
    let at: Vec<usize> = (0..16).filter(|&index| fired[index]).collect();
    assert_eq!(at, [4, 8, 12], "each fourth, once more than 1 has come together");
}

/// Which packets wait in which queue, and that fifteen of one go for each of the other.
#[test]
fn scalable_and_marked_packets_go_first_fifteen_for_one() {
    let mut queue = queue(DualPi2Config::default());
    let mut driver = Driver::default();
    for number in 0..100 {
        let ecn = if number % 2 == 0 { EcnField::NotCapable } else { EcnField::Classic };
        driver.enqueue(&mut queue, Time::ZERO, copy(number, 1000, ecn));
    }
    for number in 100..150 {
        // The second half was marked upstream, so that the kind of its sender is unknown.
        let ecn = if number < 125 { EcnField::Scalable } else { EcnField::Classic };
        let mut copy = copy(number, 1000, ecn);
        if number >= 125 {
            copy.mark();
        }
        driver.enqueue(&mut queue, Time::ZERO, copy);
    }
    let taken: Vec<PacketCopy> = (0..64).filter_map(|_| driver.dequeue(&mut queue, Time::ZERO)).collect();
    assert_eq!(taken.len(), 64);
    let is_low_delay = PacketCopy::is_scalable;
    // 50 in the low-delay queue: three full turns, five more, and then only the other queue.
    let expected: Vec<bool> =
        (0..64).map(|index| if index < 48 { index % 16 != 15 } else { index < 53 }).collect();
    assert_eq!(taken.iter().map(is_low_delay).collect::<Vec<_>>(), expected);
}

#[test]
fn turns_are_counted_only_while_the_other_queue_waits() {
    let config = DualPi2Config { low_delay_weight: 2, ..DualPi2Config::default() };
    let (mut queue, mut driver) = (queue(config), Driver::default());
    for number in 0..10 {
        driver.enqueue(&mut queue, Time::ZERO, copy(number, 1000, EcnField::Scalable));
    }
    for _ in 0..5 {
        driver.dequeue(&mut queue, Time::ZERO);
    }
    driver.enqueue(&mut queue, Time::ZERO, copy(100, 1000, EcnField::NotCapable));
    let next = |_| driver.dequeue(&mut queue, Time::ZERO).map(|copy| copy.is_scalable());
    let next: Vec<_> = (0..4).filter_map(next).collect();
    assert_eq!(next, [true, true, false, true]);
}

/// Scalable packets that wait 2 ms, longer than the ramp is high, one or many at a time: how many of 20
/// are marked. The controller's first update is at 16 ms.
#[test]
fn the_ramp_marks_all_that_wait_long_but_not_one_alone() {
    let marked = |burst: u64| {
        let (mut queue, mut driver) = (queue(DualPi2Config::default()), Driver::default());
        for number in 0..20 / burst {
            let now = Time::ZERO + Duration::from_us(10 * number);
            for _ in 0..burst {
                driver.enqueue(&mut queue, now, copy(0, 1000, EcnField::Scalable));
            }
            for _ in 0..burst {
                driver.dequeue(&mut queue, now + Duration::from_ms(2));
            }
        }
        driver.counters.marks
    };
    assert_eq!(marked(1), 0);
    // The last packet of a burst is alone, and the first mark needs the sum of more than one packet.
    assert_eq!(marked(20), 18);
}

#[test]
fn holds_what_the_link_sends_in_250_ms() {
    let (mut queue, mut driver) = (queue(DualPi2Config::default()), Driver::default());
    for number in 0..400 {
        let ecn = if number % 3 == 0 { EcnField::Scalable } else { EcnField::NotCapable };
        driver.enqueue(&mut queue, Time::ZERO, copy(number, 1000, ecn));
    }
    // 312,500 bytes: the packet that passes them is the last.
    assert_eq!((queue.len(), driver.counters.queue_drops, driver.counters.chosen_drops), (313, 87, 0));
}

/// What happened to the packets of one kind in the second half.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    taken: u32,
    marked: u32,
    dropped: u32,
    longest_wait: Duration,
}

impl Fate {
    fn drop_share(&self) -> f64 {
        f64::from(self.dropped) / f64::from(self.taken + self.dropped)
    }

    fn mark_share(&self) -> f64 {
        f64::from(self.marked) / f64::from(self.taken)
    }
}

/// Each millisecond one packet leaves and a given number arrives on average, for a minute: of scalable
/// senders, of classic ECN-capable senders, and of senders without ECN. No sender reduces its rate.
fn load(per_ms: [f64; 3]) -> [Fate; 3] {
    const STEPS: u32 = 60_000;
    let kinds = [EcnField::Scalable, EcnField::Classic, EcnField::NotCapable];
    // The route is unused here: it encodes the kind.
    let kind = |copy: &PacketCopy| copy.route as usize;
    let at = |step: u32| Time::from_ns(u64::from(step) * 1_000_000);
    let (mut queue, mut driver) = (queue(DualPi2Config::default()), Driver::default());
    let mut due = [0.0; 3];
    let mut fates = [Fate::default(); 3];
    for step in 0..STEPS {
        for index in 0..3 {
            due[index] += per_ms[index];
            while due[index] >= 1.0 {
                due[index] -= 1.0;
                // The position is unused here: it encodes the arrival time.
                let copy = PacketCopy { position: step, route: index as u32, ..copy(0, 1000, kinds[index]) };
                driver.enqueue(&mut queue, at(step), copy);
            }
        }
        let taken = driver.dequeue(&mut queue, at(step));
        if step < STEPS / 2 {
            driver.dropped.clear();
            continue;
        }
        if let Some(taken) = taken {
            let fate = &mut fates[kind(&taken)];
            fate.taken += 1;
            fate.marked += u32::from(taken.is_marked());
            fate.longest_wait = fate.longest_wait.max(at(step).since(at(taken.position)));
        }
        for dropped in driver.dropped.drain(..) {
            fates[kind(&dropped.0)].dropped += 1;
        }
    }
    fates
}

/// Half as much again as the link carries comes to the low-delay queue alone: a third must be dropped,
/// although all are ECN-capable, and the delay rises to the classic target of 15 ms. In 30 s that is 15,000
/// drops of 45,000 packets, spread evenly; the controller's swings move the share by less than 1 %, and the
/// wait by less than the target.
#[test]
fn overload_of_the_low_delay_queue_is_dropped() {
    let [scalable, ..] = load([1.5, 0.0, 0.0]);
    assert!((scalable.drop_share() - 1.0 / 3.0).abs() < 0.01, "{scalable:?}");
    assert!(scalable.mark_share() > 0.99, "{scalable:?}");
    assert!(scalable.longest_wait < Duration::from_ms(30), "{scalable:?}");
}

/// The same with classic packets: in overload they are dropped in spite of ECN.
#[test]
fn overload_of_the_classic_queue_is_dropped_whether_or_not_it_is_ecn_capable() {
    for index in [1, 2] {
        let mut per_ms = [0.0; 3];
        per_ms[index] = 1.5;
        let fate = load(per_ms)[index];
        assert!((fate.drop_share() - 1.0 / 3.0).abs() < 0.01, "{fate:?}");
        assert_eq!(fate.marked, 0);
        assert!(fate.longest_wait < Duration::from_ms(30), "{fate:?}");
    }
}

/// Classic packets arrive a tenth faster than the link sends, together with a few scalable ones: of 1.1 a
/// share p_C must go so that 1.1 (1 - p_C) + 0.05 = 1, which is 13.6 %. The scalable ones are seldom two at
/// a time, so the ramp leaves them alone, and they are marked with 2 sqrt(p_C) = 74 %. They do not wait for
/// the classic queue, which stands at 15 ms.
#[test]
fn marks_are_coupled_to_the_square_root_of_drops() {
    let [scalable, _, classic] = load([0.05, 0.0, 1.1]);
    assert!((classic.drop_share() - 0.136).abs() < 0.01, "{classic:?}");
    let coupled = 2.0 * classic.drop_share().sqrt();
    assert!((scalable.mark_share() / coupled - 1.0).abs() < 0.05, "{scalable:?} {classic:?}");
    assert_eq!(scalable.dropped, 0);
    assert!(scalable.longest_wait <= Duration::from_ms(1), "{scalable:?}");
    assert!(classic.longest_wait > Duration::from_ms(5), "{classic:?}");
}

/// A flood of scalable packets leaves the classic queue its sixteenth of the link, less the fraction that
/// overload drops from all flows.
#[test]
fn a_flood_of_scalable_packets_does_not_starve_the_classic_queue() {
    let [scalable, _, classic] = load([2.0, 0.0, 0.06]);
    // 2.06 (1 - p) = 1 makes p = 51.5 %.
    assert!((scalable.drop_share() - 0.515).abs() < 0.02, "{scalable:?}");
    assert!((classic.drop_share() - 0.515).abs() < 0.05, "{classic:?}");
    assert!(classic.longest_wait < Duration::from_ms(60), "{classic:?}");
}
