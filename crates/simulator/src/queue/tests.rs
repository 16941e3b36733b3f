//! Invariants of all queues under any sequence of operations.

use std::collections::BTreeMap;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use proptest::prelude::*;

use super::testing::{Driver, copy_of};
use super::*;
use crate::packet::{EcnBits, EcnField};

/// Every kind of queue, with bounds that a short test reaches, that marks where it can.
fn kinds(limit: QueueLimit) -> Vec<QueueConfig> {
    let (short, long) = (Duration::from_us(5), Duration::from_us(50));
    let ecn = true;
    vec![
        QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: false, drop_front: false }),
        QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: false, drop_front: true }),
        QueueConfig::Red(RedConfig {
            limit: Some(limit),
            min_threshold: Some(2.0),
            max_threshold: Some(6.0),
            weight: RedWeight::Fixed(0.2),
            ecn,
            ..RedConfig::classic()
        }),
        QueueConfig::CoDel(CoDelConfig {
            limit,
            target: short,
            interval: long,
            ecn,
            ..CoDelConfig::default()
        }),
        QueueConfig::Rem(RemConfig { limit, gamma: 10.0, update: short, ecn, ..RemConfig::default() }),
        QueueConfig::Pie(PieConfig {
            limit,
            target: short,
            update: short,
            max_burst: Duration::ZERO,
            alpha: 1e3,
            beta: 1e4,
            ecn,
            ..PieConfig::default()
        }),
        QueueConfig::FqCoDel(FqCoDelConfig {
            limit,
            // Fewer than there are flows, so that some share one.
            queues: 4,
            quantum: Size::from_bytes(300),
            target: short,
            interval: long,
            ..FqCoDelConfig::default()
        }),
        QueueConfig::DualPi2(DualPi2Config {
            limit: Some(limit),
            target: short,
            update: short,
            alpha: 1e3,
            beta: 1e4,
            ramp_start: short,
            ramp_range: short,
            low_delay_weight: 3,
            ..DualPi2Config::default()
        }),
        QueueConfig::Fair(FairConfig { limit, quantum: Size::from_bytes(300) }),
    ]
}

/// One operation: after some time a packet of a flow arrives, or one is dequeued.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Offer { gap_ns: u64, flow: (u32, u16), size_bytes: u32, ecn: EcnField, marked: bool },
    Take { gap_ns: u64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    let ecn = prop_oneof![Just(EcnField::NotCapable), Just(EcnField::Classic), Just(EcnField::Scalable)];
    let flow = (0u32..3, 0u16..3);
    prop_oneof![
        3 => (0u64..3000, flow, 1u32..2000, ecn, any::<bool>()).prop_map(
            |(gap_ns, flow, size_bytes, ecn, marked)| {
                let marked = marked && ecn != EcnField::NotCapable;
                Operation::Offer { gap_ns, flow, size_bytes, ecn, marked }
            }
        ),
        2 => (0u64..6000).prop_map(|gap_ns| Operation::Take { gap_ns }),
    ]
}

/// Compares the packets that left with those that arrived: each once, those of a flow with the same ECN
/// codepoint in order, and marked only if ECN-capable.
#[derive(Debug, Default)]
struct Ledger {
    came: Vec<PacketCopy>,
    gone: usize,
    /// The last packet out, by flow and sub-queue.
    last: BTreeMap<((u32, u16), u8), usize>,
    is_out: Vec<bool>,
}

impl Ledger {
    fn enqueue(&mut self, copy: PacketCopy) {
        self.came.push(copy);
        self.is_out.push(false);
    }

    /// The number of a packet is in its position, which queues do not change.
    fn leave(&mut self, copy: &PacketCopy) {
        let number = copy.position as usize;
        assert!(!self.is_out[number], "{copy:?} twice");
        self.is_out[number] = true;
        self.gone += 1;
        assert_eq!(copy.flow(), self.came[number].flow());
        assert_eq!(copy.size_bytes, self.came[number].size_bytes);
        assert!(!copy.is_marked() || self.came[number].is_ecn_capable());
    }

    fn dequeue(&mut self, copy: &PacketCopy) {
        self.leave(copy);
        let number = copy.position as usize;
        let came = &self.came[number];
        let class = u8::from(came.is_scalable());
        let last = self.last.insert((copy.flow(), class), number);
        assert!(last.is_none_or(|last| last < number), "{copy:?} after {last:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_came_waits_was_taken_or_was_dropped(
        operations in prop::collection::vec(operation(), 1..400),
        limit in prop_oneof![
            Just(QueueLimit::Unlimited),
            (2u32..20).prop_map(QueueLimit::Packets),
            (2000u64..20_000).prop_map(QueueLimit::Bytes),
        ],
    ) {
        for config in kinds(limit) {
            let stream = Stream::new(1, "queue");
            let mut queue = Queue::new(config, Rate::from_mbps(4000.0), Duration::from_us(3), stream);
            let (mut driver, mut ledger) = (Driver::default(), Ledger::default());
            let mut now = Time::ZERO;
            for &operation in &operations {
                let marks = driver.counters.marks;
                match operation {
                    Operation::Offer { gap_ns, flow, size_bytes, ecn, marked } => {
                        now += Duration::from_ns(gap_ns);
                        let number = ledger.came.len() as u32;
                        let copy = copy_of(flow, number, size_bytes);
                        let ecn = if marked { EcnBits::MARKED } else { ecn.into() };
                        let copy = PacketCopy { position: number, ecn, ..copy };
                        ledger.enqueue(copy);
                        driver.enqueue(&mut queue, now, copy);
                    }
                    Operation::Take { gap_ns } => {
                        now += Duration::from_ns(gap_ns);
                        match driver.dequeue(&mut queue, now) {
                            Some(copy) => ledger.dequeue(&copy),
                            None => prop_assert!(queue.is_empty(), "{config:?} withholds packets"),
                        }
                    }
                }
                for dropped in std::mem::take(&mut driver.dropped) {
                    ledger.leave(&dropped.0);
                }
                prop_assert_eq!(queue.len(), ledger.came.len() - ledger.gone, "{:?}", config);
                prop_assert!(driver.counters.marks <= marks + 1, "one packet, one mark");
                if let QueueLimit::Packets(limit) = limit {
                    prop_assert!(queue.len() <= limit as usize, "{config:?}");
                }
            }
            while let Some(copy) = driver.dequeue(&mut queue, now) {
                ledger.dequeue(&copy);
            }
            for dropped in std::mem::take(&mut driver.dropped) {
                ledger.leave(&dropped.0);
            }
            prop_assert_eq!(ledger.gone, ledger.came.len(), "{:?}", config);
            prop_assert_eq!(queue.len(), 0);
            prop_assert!(driver.counters.chosen_drops <= driver.counters.queue_drops);
        }
    }
}
