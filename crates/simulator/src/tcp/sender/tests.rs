use layercast_core::units::Size;

use super::*;
use crate::tcp::{MAX_BLOCKS, Segment, TcpProfile};

/// What a sender put out.
#[derive(Default)]
struct Sent(Vec<(Segment, bool)>);

impl Output for Sent {
    fn send(&mut self, segment: Segment, _: Size, is_ecn_capable: bool) {
        self.0.push((segment, is_ecn_capable));
    }
}

/// A sender driven by hand; every event is 10 ms after the last.
struct Driver {
    sender: Sender,
    now: Time,
    sent: Sent,
}

impl Driver {
    fn start(options: TcpOptions) -> Driver {
        let sender = Sender::new(options, Stream::new(1, "tcp"));
        let mut driver = Driver { sender, now: Time::ZERO, sent: Sent::default() };
        driver.sender.start(driver.now, &mut driver.sent);
        driver
    }

    /// An acknowledgement arrives; what it released is in `sent`.
    fn ack(&mut self, cumulative: i64, blocks: &[(i64, i64)], echo: bool) {
        let mut all = [(0, 0); MAX_BLOCKS];
        all[..blocks.len()].copy_from_slice(blocks);
        self.now += Duration::from_ms(10);
        self.sent.0.clear();
        let ack = Ack { cumulative, blocks: all, block_count: blocks.len() as u8, incarnation: 0, echo };
        self.sender.handle_ack(self.now, &ack, &mut self.sent);
    }

    /// Acknowledgements of single packets.
    fn acks(&mut self, packets: std::ops::Range<i64>, echo: bool) {
        for packet in packets {
            self.ack(packet, &[], echo);
        }
    }
}

/// All window-based variants that send at once and respond to marks.
fn windowed() -> impl Iterator<Item = TcpVariant> {
    TcpVariant::ALL.into_iter().filter(|&variant| variant != TcpVariant::Bbr)
}

fn with_marks(variant: TcpVariant) -> TcpOptions {
    TcpOptions { ecn: true, window: 1000, ..TcpOptions::new(variant, TcpProfile::Ns2) }
}

#[test]
fn a_window_of_data_is_cut_once_for_its_marks() {
    for variant in windowed() {
        let mut driver = Driver::start(with_marks(variant));
        assert!(!driver.sent.0[0].1, "{variant:?}: the first packet");
        driver.acks(0..20, false);
        let before = driver.sender.state();
        driver.ack(20, &[], true);
        let (first, after) = (driver.sent.0.len(), driver.sender.state());
        let left = if variant == TcpVariant::Cubic { 0.7 } else { 0.5 };
        assert!((after.cwnd / before.cwnd - left).abs() < 0.06, "{variant:?}: {before:?} {after:?}");
        // All acknowledgements of that window echo the mark, and neither cut nor open the window.
        driver.acks(21..before.highest_sent + 1, true);
        let cwnd = driver.sender.state().cwnd;
        if variant == TcpVariant::Vegas {
            // It opens its window by the queue it sees, marks or not.
            continue;
        }
        assert_eq!((cwnd, first), (after.cwnd, 0), "{variant:?}");
        driver.ack(before.highest_sent + 1, &[], true);
        assert!(driver.sender.state().cwnd < 0.8 * cwnd, "{variant:?}: the next window is cut again");
    }
}

#[test]
fn cwr_is_set_once_for_a_cut() {
    for variant in windowed() {
        let mut driver = Driver::start(with_marks(variant));
        driver.acks(0..20, false);
        let mut reduced = Vec::new();
        for packet in 20..40 {
            driver.ack(packet, &[], packet == 20);
            reduced.extend(driver.sent.0.iter().map(|(segment, _)| segment.reduced));
        }
        assert!(reduced.len() > 2 && reduced[0], "{variant:?}: {reduced:?}");
        assert!(!reduced[1..].contains(&true), "{variant:?}: {reduced:?}");
    }
}

#[test]
fn resent_packets_may_not_be_marked() {
    for variant in windowed() {
        let mut driver = Driver::start(with_marks(variant));
        driver.acks(0..20, false);
        let mut fields = Vec::new();
        for received in 1..6 {
            driver.ack(19, &[(21, 21 + received)], false);
            fields.extend(driver.sent.0.iter().map(|(segment, marks)| (segment.seq == 20, *marks)));
        }
        assert!(fields.contains(&(true, false)), "{variant:?}: {fields:?}");
        assert!(!fields.contains(&(true, true)), "{variant:?}: {fields:?}");
    }
}

/// The window was cut for a mark; a loss among the same packets is repaired without a further cut, but
/// Tahoe has no other repair than from a window of one.
#[test]
fn a_loss_in_a_marked_window_is_repaired_without_a_second_cut() {
    for variant in windowed() {
        if matches!(variant, TcpVariant::Vegas) {
            // It looks at ages of packets, marks or not.
            continue;
        }
        let mut driver = Driver::start(with_marks(variant));
        driver.acks(0..20, false);
        driver.ack(20, &[], true);
        let cut = driver.sender.state();
        let mut resent = false;
        for received in 1..6 {
            driver.ack(20, &[(22, 22 + received)], true);
            resent |= driver.sent.0.iter().any(|(segment, _)| segment.seq == 21);
        }
        let state = driver.sender.state();
        assert!(resent, "{variant:?}");
        let cwnd = if variant == TcpVariant::Tahoe { 1.0 } else { cut.cwnd };
        assert_eq!((state.cwnd, state.ssthresh), (cwnd, cut.ssthresh), "{variant:?}");
    }
}

#[test]
fn marks_at_a_window_of_one_packet_make_the_sender_wait_longer() {
    let mut driver = Driver::start(with_marks(TcpVariant::Reno));
    driver.ack(0, &[], false);
    let mut packet = 0;
    let mut waits = Vec::new();
    for _ in 0..6 {
        while driver.sent.0.is_empty() {
            driver.now = driver.sender.deadline().unwrap();
            driver.sender.handle_timeout(driver.now, &mut driver.sent);
        }
        packet += driver.sent.0.len() as i64;
        driver.ack(packet, &[], true);
        waits.push(driver.sender.deadline().unwrap().since(driver.now).as_secs_f64());
    }
    assert!(driver.sender.state().cwnd < 1.0);
    assert!(waits[5] >= 4.0 * waits[1], "{waits:?}");
}

#[test]
fn a_sender_waits_for_its_random_delay_and_keeps_the_order() {
    for variant in windowed() {
        let overhead = Duration::from_ms(3);
        let mut driver =
            Driver::start(TcpOptions { overhead: Some(overhead), ecn: false, ..with_marks(variant) });
        let mut waits = Vec::new();
        let mut expected = 1;
        for packet in 0..30 {
            driver.ack(packet, &[], false);
            assert!(driver.sent.0.is_empty(), "{variant:?} sends at once");
            let wait = driver.sender.deadline().unwrap().since(driver.now);
            if wait >= overhead {
                continue;
            }
            waits.push(wait);
            driver.sender.handle_timeout(driver.now + wait, &mut driver.sent);
            for (segment, _) in &driver.sent.0 {
                assert_eq!(segment.seq, expected, "{variant:?}");
                expected += 1;
            }
        }
        assert!(expected > 30, "{variant:?}: {expected}");
        waits.sort_unstable();
        waits.dedup();
        assert!(waits.len() > 20, "{variant:?}: {waits:?}");
    }
}

#[test]
fn a_burst_has_its_limit() {
    for variant in windowed() {
        let mut driver = Driver::start(TcpOptions { max_burst: 3, ..with_marks(variant) });
        driver.acks(0..30, false);
        // The acknowledgements of all others were lost.
        driver.ack(driver.sender.state().highest_sent, &[], false);
        assert_eq!(driver.sent.0.len(), 3, "{variant:?}");
    }
}

/// The driver with a paced sender: after each acknowledgement all deadlines of the next 9 ms are served.
fn ack_and_pace(driver: &mut Driver, cumulative: i64, blocks: &[(i64, i64)]) -> Vec<(Time, i64)> {
    driver.ack(cumulative, blocks, false);
    let (end, now) = (driver.now + Duration::from_ms(9), driver.now);
    let mut sent: Vec<(Time, i64)> = driver.sent.0.drain(..).map(|(segment, _)| (now, segment.seq)).collect();
    while let Some(at) = driver.sender.deadline().filter(|&at| at < end) {
        driver.sender.handle_timeout(at, &mut driver.sent);
        sent.extend(driver.sent.0.drain(..).map(|(segment, _)| (at, segment.seq)));
    }
    sent
}

/// A round trip of 10 ms and an initial window of 2 packets: 2.77 times 2 packets in 10 ms.
#[test]
fn bbr_sends_a_packet_at_a_time() {
    let mut driver =
        Driver::start(TcpOptions { window: 1000, ..TcpOptions::new(TcpVariant::Bbr, TcpProfile::Ns2) });
    let sent = ack_and_pace(&mut driver, 0, &[]);
    let [(first, 1), (second, 2)] = sent[..] else { panic!("{sent:?}") };
    let gap_s = second.since(first).as_secs_f64();
    assert!((gap_s - 0.01 / (2.77 * 2.0)).abs() < 1e-6, "{gap_s}");
    for packet in 1..20 {
        let sent = ack_and_pace(&mut driver, packet, &[]);
        assert!(sent.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 + 1 == pair[1].1), "{sent:?}");
    }
}

#[test]
fn bbr_repairs_a_lost_repair_without_the_timer() {
    let mut driver =
        Driver::start(TcpOptions { window: 1000, ..TcpOptions::new(TcpVariant::Bbr, TcpProfile::Ns2) });
    for packet in 0..10 {
        ack_and_pace(&mut driver, packet, &[]);
    }
    let mut repairs = Vec::new();
    // Packet 10 does not arrive, nor does its first repair; one packet after another comes after it.
    for right in 12..40 {
        let highest = driver.sender.state().highest_sent;
        let sent = ack_and_pace(&mut driver, 9, &[(11, right.min(highest + 1))]);
        repairs.extend(sent.iter().filter(|(_, seq)| *seq == 10).map(|_| right));
        if repairs.len() == 2 {
            break;
        }
    }
    // Three packets above it reveal its loss.
    assert_eq!((repairs.len(), repairs[0]), (2, 14), "{repairs:?}");
    assert_eq!(driver.sender.state().backoff, 1, "no timeout");
    let highest = driver.sender.state().highest_sent;
    let sent = ack_and_pace(&mut driver, highest, &[]);
    assert!(!sent.is_empty() && sent.iter().all(|&(_, seq)| seq > highest), "{sent:?}");
}
