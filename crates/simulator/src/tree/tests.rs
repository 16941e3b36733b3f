mod bed;
mod random;

use layercast_core::units::Duration;

use self::bed::{Bed, C0, bed, lossless, lossy_up};
use super::Latency;
use super::membership::Refusal;
use super::pending::PendingChange;
use crate::edge::{EdgeConfig, LeaveRule, QuerierProfile};
use crate::loss::LossModel;

/// One hop up: 64 bytes at 100 Mbit/s and 10 ms.
const UP: f64 = 0.010_005_12;
const NONE: Latency = Latency::NONE;

fn check(interval_s: f64, count: u32, tracking: bool) -> EdgeConfig {
    let leave = LeaveRule::Check { interval: Duration::from_secs_f64(interval_s), count, tracking };
    EdgeConfig { leave, ..EdgeConfig::default() }
}

fn fast() -> EdgeConfig {
    EdgeConfig { leave: LeaveRule::Fast { processing: Duration::from_ms(10) }, ..EdgeConfig::default() }
}

/// When the last hop stops forwarding, and that it does.
fn stops_at(bed: &mut Bed, limit_s: f64) -> f64 {
    bed.until(limit_s, |bed| !bed.forwards("R")).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-8, "{found} not {expected}");
}

#[test]
fn a_report_is_forwarded_after_its_latency_and_the_path_up() {
    for edge in [None, Some(check(1.0, 2, false)), Some(fast())] {
        let mut bed = bed(edge, &["R"], lossless());
        bed.run(1.0);
        bed.join(0, Duration::from_ms(150).into());
        close(bed.until(5.0, |bed| bed.forwards("R")).unwrap(), 1.15 + UP);
        close(bed.until(5.0, |bed| bed.tree.is_wanted(C0)).unwrap(), 1.15 + 2.0 * UP);
        assert!(bed.tree.is_member(0, C0));
    }
}

#[test]
fn without_an_answer_the_edge_prunes_after_all_queries() {
    for (interval, count, time) in [(1.0, 2, 2.0), (1.0, 3, 3.0), (3.0, 3, 9.0), (0.1, 2, 0.2)] {
        for tracking in [false, true] {
            let mut bed = bed(Some(check(interval, count, tracking)), &["R"], lossless());
            bed.join(0, NONE);
            bed.run(5.0);
            bed.leave(0, NONE);
            assert!(bed.tree.is_late(0, C0), "what still comes is late");
            close(stops_at(&mut bed, 100.0), 5.0 + time + UP);
        }
    }
}

#[test]
fn a_report_while_checking_cancels_the_check() {
    let mut bed = bed(Some(check(1.0, 2, false)), &["R", "R"], lossless());
    bed.join(0, NONE);
    bed.run(5.0);
    bed.leave(0, NONE);
    bed.run(6.5);
    assert!(bed.forwards("R") && bed.tree.is_late(0, C0));
    bed.join(1, NONE);
    assert!(!bed.tree.is_late(0, C0), "it comes for the other one now");
    assert_eq!(bed.tree.agenda.pending(), 0);
    assert_eq!(bed.until(1000.0, |bed| !bed.forwards("R")), None);
    assert_eq!(bed.messages_up, 2, "one graft on each of two links, and nothing else");
}

#[test]
fn with_tracking_the_edge_stays_for_the_others_it_knows() {
    for edge in [check(1.0, 2, true), fast(), EdgeConfig::default()] {
        let mut bed = bed(Some(edge), &["R", "R"], lossless());
        bed.join(0, NONE);
        bed.join(1, NONE);
        bed.run(5.0);
        bed.leave(0, NONE);
        assert_eq!(bed.tree.agenda.pending(), 0, "nothing to ask");
        assert_eq!(bed.until(400.0, |bed| !bed.forwards("R")), None);
        assert!(bed.tree.is_member(1, C0) && !bed.tree.is_late(0, C0));
    }
}

#[test]
fn without_tracking_anothers_answer_keeps_the_channel() {
    let mut bed = bed(Some(check(1.0, 2, false)), &["R", "R", "R"], lossless());
    (0..3).for_each(|receiver| bed.join(receiver, NONE));
    bed.run(5.0);
    bed.leave(0, NONE);
    assert!(bed.tree.agenda.pending() > 0, "it asks");
    // The first of two answers, each uniform in an interval.
    let answered = bed.until(10.0, |bed| bed.tree.agenda.pending() == 0).unwrap();
    assert!(answered > 5.0 && answered < 6.0, "{answered}");
    assert_eq!(bed.until(400.0, |bed| !bed.forwards("R")), None);
}

#[test]
fn a_fast_leave_prunes_at_once_and_a_leave_latency_after_itself() {
    let mut hurried = bed(Some(fast()), &["R", "R"], lossless());
    (0..2).for_each(|receiver| hurried.join(receiver, NONE));
    hurried.run(5.0);
    hurried.leave(0, NONE);
    hurried.run(6.0);
    hurried.leave(1, NONE);
    close(stops_at(&mut hurried, 100.0), 6.0 + 0.01 + UP);
    for edge in [None, Some(EdgeConfig::default())] {
        let mut patient = bed(edge, &["R"], lossless());
        patient.join(0, NONE);
        patient.run(5.0);
        patient.leave(0, Duration::from_secs(3).into());
        close(stops_at(&mut patient, 100.0), 8.0 + UP);
    }
}

#[test]
fn an_edge_keeps_a_host_whose_leave_is_lost_for_the_membership_interval() {
    let lost = EdgeConfig { leave_loss: 1.0, ..check(1.0, 2, true) };
    for (edge, crashes) in [(check(1.0, 2, false), true), (lost, false), (fast(), true)] {
        let mut bed = bed(Some(edge), &["R", "R"], lossless());
        bed.join(0, NONE);
        bed.run(5.0);
        if crashes {
            bed.crash(0)
        } else {
            bed.leave(0, NONE)
        }
        assert!(bed.tree.is_late(0, C0));
        close(stops_at(&mut bed, 1000.0), 265.0 + UP);
        assert_eq!(bed.tree.agenda.pending(), 0);
    }
    // A new host keeps the channel.
    let mut kept = bed(Some(check(1.0, 2, false)), &["R", "R"], lossless());
    kept.join(0, NONE);
    kept.run(5.0);
    kept.crash(0);
    kept.run(100.0);
    kept.join(1, NONE);
    assert_eq!(kept.until(1000.0, |bed| !bed.forwards("R")), None);
    // Without an edge the crash is not noticed.
    let mut unnoticed = bed(None, &["R"], lossless());
    unnoticed.join(0, NONE);
    unnoticed.run(5.0);
    unnoticed.crash(0);
    assert_eq!(unnoticed.until(1000.0, |bed| !bed.forwards("R")), None);
    assert!(unnoticed.tree.is_late(0, C0));
}

#[test]
fn a_lost_report_is_repeated_and_then_waits_for_a_general_query() {
    for (profile, repeat) in [(QuerierProfile::IgmpV2, 10.0), (QuerierProfile::MldV2, 1.0)] {
        let mut bed = bed(Some(EdgeConfig { report_loss: 1.0, ..profile.config() }), &["R"], lossless());
        bed.run(3.0);
        bed.join(0, NONE);
        bed.run(3.5);
        assert!(!bed.tree.is_member(0, C0) && bed.tree.wants(0, C0), "it waits");
        bed.engine.edges[0].config.report_loss = 0.0;
        close(bed.until(500.0, |bed| bed.forwards("R")).unwrap(), 3.0 + repeat + UP);
        assert!(bed.tree.is_member(0, C0));
    }
    let config = EdgeConfig { report_loss: 1.0, ..QuerierProfile::IgmpV3.config() };
    let mut bed = bed(Some(config), &["R"], lossless());
    bed.join(0, NONE);
    bed.run(20.0);
    bed.engine.edges[0].config.report_loss = 0.0;
    let forwarding_at = bed.until(500.0, |bed| bed.forwards("R")).unwrap();
    assert!((125.0 + UP..=135.0 + UP).contains(&forwarding_at), "{forwarding_at}");
}

#[test]
fn when_all_answers_are_lost_the_next_general_query_repairs_it() {
    let mut bed = bed(Some(check(1.0, 2, false)), &["R", "R"], lossless());
    (0..2).for_each(|receiver| bed.join(receiver, NONE));
    bed.run(5.0);
    bed.engine.edges[0].config.report_loss = 1.0;
    bed.leave(0, NONE);
    close(stops_at(&mut bed, 100.0), 7.0 + UP);
    assert!(bed.tree.wants(1, C0) && !bed.tree.is_member(1, C0));
    bed.engine.edges[0].config.report_loss = 0.0;
    let forwarding_at = bed.until(500.0, |bed| bed.forwards("R")).unwrap();
    assert!((125.0 + UP..=135.0 + UP).contains(&forwarding_at), "{forwarding_at}");
    assert!(bed.tree.is_member(1, C0));
}

#[test]
fn a_full_edge_refuses_and_has_room_again_after_a_prune() {
    let mut bed = bed(Some(EdgeConfig { group_limit: Some(1), ..fast() }), &["R", "R"], lossless());
    bed.join(0, NONE);
    bed.run(1.0);
    bed.join_channel(1, 1, NONE);
    assert!(!bed.tree.wants(1, bed::C1));
    bed.run(2.0);
    assert_eq!(bed.refused, [Refusal { receiver: 1, channel: bed::C1 }]);
    // The channel that is there already has room for another host.
    bed.join(1, NONE);
    assert!(bed.tree.is_member(1, C0));
    bed.leave(0, NONE);
    bed.leave(1, NONE);
    bed.run(3.0);
    bed.join_channel(1, 1, NONE);
    bed.run(4.0);
    assert!(bed.tree.is_member(1, bed::C1));
    assert_eq!(bed.refused.len(), 1);
    assert_eq!(bed.engine.edges[0].groups, 1);
}

#[test]
fn a_host_that_has_left_again_gets_no_refusal() {
    let mut bed = bed(Some(EdgeConfig { group_limit: Some(1), ..fast() }), &["R"], lossless());
    bed.join(0, NONE);
    bed.join_channel(0, 1, NONE);
    let refusal = PendingChange::Refuse { receiver: 0, channel: bed::C1 };
    assert!(bed.tree.agenda.is_pending(refusal));
    bed.leave_channel(0, 1, NONE);
    bed.run(1.0);
    assert_eq!(bed.refused, []);
}

#[test]
fn drawn_latencies_differ_from_operation_to_operation_within_their_range() {
    let latency = Latency::uniform(Duration::from_secs(2), Duration::from_secs(4));
    let mut bed = bed(None, &["R"], lossless());
    let (mut joins, mut leaves, mut start) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..300 {
        bed.run(start);
        bed.join(0, latency);
        joins.push(bed.until(start + 10.0, |bed| bed.forwards("R")).unwrap() - start - UP);
        bed.run(start + 10.0);
        bed.leave(0, latency);
        leaves.push(stops_at(&mut bed, start + 20.0) - start - 10.0 - UP);
        start += 20.0;
    }
    for found in [joins, leaves] {
        assert!(found.iter().all(|latency| (2.0..4.0).contains(latency)));
        let mean = found.iter().sum::<f64>() / 300.0;
        // The standard error of the mean is 0.033 s.
        assert!((mean - 3.0).abs() < 0.12, "{mean}");
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn a_lost_graft_or_prune_is_sent_again_as_things_are_then() {
    // The first message up from R is the graft.
    let mut graft = bed(None, &["R"], lossy_up(LossModel::List(vec![0, 1])));
    graft.join(0, NONE);
    close(graft.until(100.0, |bed| bed.forwards("R")).unwrap(), 6.0 + UP);
    // The second is the prune, with a latency that the router waits from its arrival.
    let mut prune = bed(None, &["R"], lossy_up(LossModel::List(vec![1])));
    prune.join(0, NONE);
    prune.run(5.0);
    prune.leave(0, Duration::from_secs(1).into());
    close(stops_at(&mut prune, 100.0), 5.0 + 3.0 + UP + 1.0);
    // A prune that is lost and then obsolete is not sent again.
    let mut meant_no_more = bed(None, &["R"], lossy_up(LossModel::List(vec![1])));
    meant_no_more.join(0, NONE);
    meant_no_more.run(5.0);
    meant_no_more.leave(0, NONE);
    meant_no_more.run(6.0);
    meant_no_more.join(0, NONE);
    assert_eq!(meant_no_more.until(100.0, |bed| !bed.forwards("R")), None);
    assert_eq!(meant_no_more.tree.agenda.pending(), 0);
    // Graft, prune and graft from R, of which one was lost; one graft from A.
    assert_eq!(meant_no_more.messages_up, 3);
}
