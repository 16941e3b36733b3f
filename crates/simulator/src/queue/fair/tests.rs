use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

use super::*;
use crate::packet::PacketId;
use crate::queue::testing::{Driver, copy_of};
use crate::queue::{Queue, QueueConfig};

fn queue(limit: QueueLimit, quantum: u32) -> Queue {
    let config = QueueConfig::Fair(FairConfig { limit, quantum: Size::from_bytes(quantum) });
    Queue::new(config, Rate::from_mbps(10.0), Duration::ZERO, Stream::new(1, "queue"))
}

/// The example of the paper's figures 2 and 3, in numbers of our own: with a quantum of 500, flow 1
/// sends 200 and keeps 300, which is not enough for 750; flow 2 sends 500. In the next round flow 1
/// has 800 and sends 750.
#[test]
fn what_a_flow_cannot_use_in_a_round_it_has_in_the_next() {
    let (mut queue, mut driver) = (queue(QueueLimit::Unlimited, 500), Driver::default());
    for (route, size) in [(1, 200), (1, 750), (1, 20), (2, 500), (2, 500), (2, 500)] {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((route, 0), 0, size));
    }
    let taken = std::iter::from_fn(|| driver.dequeue(&mut queue, Time::ZERO));
    let taken: Vec<_> = taken.map(|copy| (copy.route, copy.size_bytes)).collect();
    assert_eq!(taken, [(1, 200), (2, 500), (1, 750), (1, 20), (2, 500), (2, 500)]);
}

/// While all flows have packets, any two have sent the same but for their deficits and the present round:
/// less than a quantum and two of the largest packets (lemma 2 of the paper).
#[test]
fn flows_with_packets_of_any_size_send_the_same_bytes() {
    let (mut queue, mut driver) = (queue(QueueLimit::Unlimited, 1500), Driver::default());
    let mut sizes = Stream::new(2, "sizes");
    let most = [100_u64, 600, 1500, 1000];
    let mut sent = [0_u64; 4];
    let mut refill = |flow: usize, queue: &mut Queue, driver: &mut Driver| {
        let size = 40 + sizes.bits() % (most[flow] - 39);
        driver.enqueue(queue, Time::ZERO, copy_of((0, flow as u16), 0, size as u32));
    };
    for flow in 0..4 {
        for _ in 0..50 {
            refill(flow, &mut queue, &mut driver);
        }
    }
    for _ in 0..20_000 {
        let taken = driver.dequeue(&mut queue, Time::ZERO).unwrap();
        sent[usize::from(taken.channel)] += u64::from(taken.size_bytes);
        refill(taken.channel.into(), &mut queue, &mut driver);
        let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
        assert!(spread < 1500 + 2 * 1500, "{sent:?}");
    }
    assert!(sent[0] > 900_000, "{sent:?}");
}

#[test]
fn a_flow_that_was_away_has_no_credit() {
    let (mut queue, mut driver) = (queue(QueueLimit::Unlimited, 1000), Driver::default());
    driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), 0, 100));
    assert!(driver.dequeue(&mut queue, Time::ZERO).is_some());
    for number in 0..4 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), number, 600));
        driver.enqueue(&mut queue, Time::ZERO, copy_of((2, 0), number, 600));
    }
    // 1000 - 600 leaves 400; with the 900 of before it could send two at once.
    let taken: Vec<_> = (0..2).filter_map(|_| driver.dequeue(&mut queue, Time::ZERO)).collect();
    assert_eq!(taken.iter().map(|copy| copy.route).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn room_is_taken_from_the_tail_of_the_longest_queue() {
    let (mut queue, mut driver) = (queue(QueueLimit::Packets(6), 1500), Driver::default());
    for number in 0..6 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), number, 500));
    }
    driver.enqueue(&mut queue, Time::ZERO, copy_of((2, 0), 10, 1500));
    driver.enqueue(&mut queue, Time::ZERO, copy_of((2, 0), 11, 1500));
    // The first time flow 1 is longer, with 3000 bytes against 1500; then flow 2, with 3000 against
    // 2500.
    let gone: Vec<_> = driver.dropped.iter().map(|dropped| dropped.0.packet).collect();
    assert_eq!(gone, [5, 11].map(PacketId::from_number));
    assert_eq!((queue.len(), driver.counters.queue_drops), (6, 2));
}
