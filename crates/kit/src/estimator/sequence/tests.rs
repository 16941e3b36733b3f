use super::*;

const REORDER_3: u32 = 3;

fn feed(tracker: &mut SequenceTracker, number: u32) -> (ArrivalClass, Vec<u64>) {
    let mut lost = Vec::new();
    let sent = SendTime::from_us(u64::from(number) * 10);
    let now = Time::from_ns(u64::from(number) * 10_000);
    let (_, class) = tracker.on_packet(WireSeq(number), sent, now, |packet| lost.push(packet.seq.0));
    (class, lost)
}

#[test]
fn duplicates_and_late_packets_are_distinguished() {
    let mut tracker = SequenceTracker::new(Layer(2), 1, 1000);
    assert_eq!(feed(&mut tracker, 5), (ArrivalClass::First, Vec::new()));
    assert_eq!(feed(&mut tracker, 8), (ArrivalClass::New, std::vec![6, 7]));
    assert_eq!(feed(&mut tracker, 8).0, ArrivalClass::Duplicate);
    assert_eq!(feed(&mut tracker, 6).0, ArrivalClass::Late);
    assert_eq!(feed(&mut tracker, 6).0, ArrivalClass::Duplicate);
    assert_eq!(feed(&mut tracker, 3).0, ArrivalClass::Late);
    let counts = tracker.counts();
    assert_eq!((counts.received, counts.lost, counts.late, counts.duplicates), (2, 2, 2, 2));
}

#[test]
fn a_reordered_packet_splits_its_hole_and_sharpens_the_times() {
    let mut tracker = SequenceTracker::new(Layer::BASE, REORDER_3, 1000);
    let mut lost = Vec::new();
    let mut feed = |number: u32, us: u64| {
        tracker.on_packet(WireSeq(number), SendTime::from_us(us), Time::ZERO, |packet| {
            lost.push((packet.seq.0, packet.sent.as_us()));
        });
    };
    for (number, us) in [(0, 0), (4, 400), (2, 300), (5, 500), (6, 600)] {
        feed(number, us);
    }
    assert_eq!(lost, [(1, 150), (3, 350)]);
}

#[test]
fn patience_declares_what_too_few_packets_would() {
    let mut tracker = SequenceTracker::new(Layer::BASE, REORDER_3, 1000);
    feed(&mut tracker, 0);
    feed(&mut tracker, 2);
    let patience = Duration::from_us(100);
    let deadline = tracker.deadline(patience).unwrap();
    let mut lost = 0;
    tracker.expire(deadline - Duration::from_ns(1), patience, |_| lost += 1);
    assert_eq!((lost, tracker.missing()), (0, 1));
    tracker.expire(deadline, patience, |packet| lost += packet.seq.0);
    assert_eq!((lost, tracker.missing(), tracker.deadline(patience)), (1, 0, None));
}

#[test]
fn a_jump_forward_starts_anew_without_losses() {
    let mut tracker = SequenceTracker::new(Layer::BASE, 1, 1000);
    feed(&mut tracker, 0);
    assert_eq!(feed(&mut tracker, 1001), (ArrivalClass::Resynchronised, Vec::new()));
    assert_eq!(feed(&mut tracker, 1003), (ArrivalClass::New, std::vec![1002]));
}

#[test]
fn a_jump_back_needs_two_packets_in_a_row() {
    let mut tracker = SequenceTracker::new(Layer::BASE, 1, 1000);
    feed(&mut tracker, 50_000);
    assert_eq!(feed(&mut tracker, 7).0, ArrivalClass::Wild);
    assert_eq!(feed(&mut tracker, 50_001).0, ArrivalClass::New);
    assert_eq!(feed(&mut tracker, 8).0, ArrivalClass::Wild);
    assert_eq!(feed(&mut tracker, 8).0, ArrivalClass::Wild);
    assert_eq!(feed(&mut tracker, 9).0, ArrivalClass::Resynchronised);
    assert_eq!(feed(&mut tracker, 10).0, ArrivalClass::New);
}

#[test]
fn after_a_reset_nothing_before_the_first_packet_is_lost() {
    let mut tracker = SequenceTracker::new(Layer::BASE, REORDER_3, 1000);
    feed(&mut tracker, 0);
    feed(&mut tracker, 2);
    tracker.reset();
    assert_eq!(tracker.missing(), 0);
    assert_eq!(feed(&mut tracker, 90), (ArrivalClass::First, Vec::new()));
    assert_eq!(tracker.counts().lost, 0);
}

#[test]
fn numbers_pass_through_the_wrap() {
    let mut tracker = SequenceTracker::new(Layer::BASE, 1, 1000);
    feed(&mut tracker, u32::MAX - 1);
    let (class, lost) = feed(&mut tracker, 1);
    assert_eq!((class, lost), (ArrivalClass::New, std::vec![0xffff_ffff, 0x1_0000_0000]));
}

#[test]
fn a_gap_larger_than_the_memory_is_still_counted_once() {
    let mut tracker = SequenceTracker::new(Layer::BASE, 1, 5000);
    feed(&mut tracker, 0);
    let (_, lost) = feed(&mut tracker, 4000);
    assert_eq!(lost.len(), 3999);
    assert_eq!(feed(&mut tracker, 10).0, ArrivalClass::Late);
    assert_eq!(feed(&mut tracker, 4000).0, ArrivalClass::Duplicate);
}
