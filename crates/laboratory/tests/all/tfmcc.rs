//! TFMCC in the simulator: its share against TCP, how much feedback many receivers give, and what
//! happens when the receiver that limits the rate goes.

use crate::running::{built_in, run_text, runs_long};
use crate::tfmcc_world::{Leaf, Round, Session, Tree, at, link};
use layercast_core::stream::Stream;
use layercast_testkit::cases;

/// The share of TFMCC in each replication, as a part of the mean of TCP's.
fn shares(tcps: usize, more: &[&str]) -> Vec<f64> {
    let name = "tfmcc/one-bottleneck";
    let count = format!("flow.tcp.count={tcps}");
    let ran = run_text(name, built_in(name), &[&["replications=3", &count], more].concat());
    let samples = |flow: &str| ran.flow(flow).throughput_kbps.samples.clone().into_iter().flatten();
    let tcp: Vec<Vec<f64>> = (1..=tcps).map(|n| samples(&format!("tcp-{n}@R3")).collect()).collect();
    let mean = |index: usize| tcp.iter().map(|samples| samples[index]).sum::<f64>() / tcps as f64;
    samples("tfmcc@R3").enumerate().map(|(index, own)| own / mean(index)).collect()
}

/// Within a factor of two is reasonably fair (RFC 4654, section 1); from one half to one and a half is
/// narrower, and far outside of what 220 s of measurement scatter. Measured over ten replications: 0.95
/// to 1.10.
#[test]
fn tfmcc_takes_as_much_as_a_tcp() {
    if !runs_long() {
        return;
    }
    for tcps in [4, 6, 8] {
        let shares = shares(tcps, &[]);
        assert!(shares.iter().all(|share| (0.5..=1.5).contains(share)), "{tcps} TCP: {shares:?}");
    }
}

/// At a drop-tail queue evenly spaced packets lose more than those of TCP, which come when others have
/// left. With senders out of step it is little. Measured over ten replications: 0.56 to 1.10.
#[test]
fn tfmcc_takes_as_much_as_a_tcp_at_a_drop_tail_queue_without_phases() {
    let queue = "link.G1-G2.queue={ kind = \"drop-tail\", limit = \"90 packets\" }";
    for tcps in [4, 8].into_iter().take(cases(2) as usize) {
        let shares = shares(tcps, &[queue, "flow.tcp.overhead=10 ms"]);
        assert!(shares.iter().all(|share| (0.5..=1.5).contains(share)), "{tcps} TCP: {shares:?}");
    }
}

const MANY: usize = 1000;

fn leaves(count: usize, loss: impl Fn(&mut Stream) -> f64) -> Vec<Leaf> {
    let mut stream = Stream::new(5, "leaves");
    let leaf = |_| {
        let delay_ms = stream.uniform_in(5.0, 50.0);
        Leaf { delay_ms, loss: loss(&mut stream), stop_s: None }
    };
    (0..count).map(leaf).collect()
}

/// The mean and the largest number of reports in a round, without those of the limiting receiver.
fn feedback(rounds: &[Round]) -> (f64, u32) {
    let total: u32 = rounds.iter().map(|round| round.others).sum();
    let most = rounds.iter().map(|round| round.others).max().unwrap();
    (f64::from(total) / rounds.len() as f64, most)
}

/// A thousand receivers behind one bottleneck have the same losses and about the same rate, the worst
/// case for suppression. By theory N^(1/6) of them, 4.6 with timers for 10 000, report before they
/// can hear of each other; a round-trip time that rises above the session's largest one adds some.
/// Twice that on average and a tenth of the group in the worst round is bounded; a flood would be all
/// of it. Measured: 5.0 and 24, of 35 rounds; over 200 s with two seeds 4.9 and 5.9, at most 57.
#[test]
fn a_thousand_receivers_behind_one_bottleneck_send_a_few_reports_a_round() {
    if !runs_long() {
        return;
    }
    let source_link = link(2.0, 10.0, 50, 0.0);
    let tree = Tree { source_link, group_loss: vec![0.0; 10], leaves: leaves(MANY, |_| 0.0) };
    let mut session = Session::new(&tree, 20.0, 1);
    session.run_until(at(60.0));
    let (mean, most) = feedback(&session.rounds);
    assert!(session.rounds.len() > 20, "{} rounds", session.rounds.len());
    assert!((1.0..10.0).contains(&mean) && most < 100, "{mean} {most}");
    // What is sent is at most what goes through and a few per cent of losses.
    let kbps = session.mean_kbps(30.0, 60.0);
    assert!((0.8 * 2000.0..1.05 * 2000.0).contains(&kbps), "the bottleneck is used: {kbps}");
}

/// Losses of their own at each of a thousand receivers, so rates differ by a factor of 5 and change all
/// the time: each that falls below what was reported must be reported. Measured over 200 s: 13.6 a round,
/// at most 59, and 317 kbit/s; with other seeds of the losses 18 a round, at most 61.
#[test]
fn a_thousand_receivers_with_losses_of_their_own_send_some_reports_a_round() {
    if !runs_long() {
        return;
    }
    let group_loss = vec![0.0, 0.001, 0.002, 0.005, 0.01, 0.0, 0.0, 0.0, 0.0, 0.02];
    let leaves = leaves(MANY, |stream| stream.uniform_in(0.001, 0.02));
    let tree = Tree { source_link: link(100.0, 10.0, 500, 0.0), group_loss, leaves };
    let mut session = Session::new(&tree, 20.0, 1);
    session.run_until(at(200.0));
    let (mean, most) = feedback(&session.rounds);
    assert!(mean < 40.0 && most < 150, "{mean} {most}");
    // The worst path loses 3.9 % at 130 ms, 275 kbit/s by the equation. It is the lowest of many
    // estimates that limits, which is less; and few losses in 200 s make an estimate rough, which is more.
    let kbps = session.mean_kbps(100.0, 200.0);
    assert!((0.5 * 275.0..1.5 * 275.0).contains(&kbps), "{kbps}");
}

/// Nineteen receivers behind 2 Mbit/s, and one whose path loses 5 %.
fn one_bad(stop_s: Option<f64>) -> Session {
    let mut leaves = leaves(20, |_| 0.0);
    leaves[0] = Leaf { delay_ms: 30.0, loss: 0.05, stop_s };
    let tree = Tree { source_link: link(2.0, 10.0, 50, 0.0), group_loss: vec![0.0; 4], leaves };
    Session::new(&tree, 20.0, 1)
}

/// The rate before the bad receiver goes at 100 s, how long after that it is above half the
/// bottleneck in seconds and in feedback rounds, and the rate in the end.
fn recovery(session: &Session) -> (f64, f64, usize, f64) {
    let gone = at(100.0);
    let risen = session.rates.iter().find(|&&(time, kbps)| time > gone && kbps > 1000.0).unwrap().0;
    let rounds = session.rounds.iter().filter(|round| round.began > gone && round.began <= risen).count();
    let seconds = risen.since(gone).as_secs_f64();
    (session.mean_kbps(60.0, 100.0), seconds, rounds, session.mean_kbps(140.0, 200.0))
}

/// The source hears of a leave at once, waits a round for receivers with low rates, and then grows by
/// one packet per largest round-trip time (0.15 s) in each of these: 44 packets/s each second, so 80
/// packets/s more take 2 s. Measured: 2.0 s and 3 rounds, from 353 to 1984 kbit/s.
#[test]
fn when_the_limiting_receiver_leaves_the_rate_recovers_within_a_few_rounds() {
    let mut session = one_bad(Some(100.0));
    session.run_until(at(200.0));
    let (before, seconds, rounds, after) = recovery(&session);
    assert!(before < 500.0 && after > 1800.0, "{before} {after}");
    assert!(seconds < 5.0 && (1..=6).contains(&rounds), "{seconds} s, {rounds} rounds");
}

/// A crash is known by silence alone: half the rate after 4 largest round-trip times, another limiting
/// receiver after 10. Measured: halved after 0.5 s, given up after 1.2 s, risen after 4.1 s and 5
/// rounds.
#[test]
fn when_the_limiting_receiver_crashes_the_rate_recovers_within_some_rounds() {
    let mut session = one_bad(None);
    session.simulation.crash_receiver(session.receivers[0], at(100.0));
    session.run_until(at(200.0));
    let (before, seconds, rounds, after) = recovery(&session);
    assert!(before < 500.0 && after > 1800.0, "{before} {after}");
    assert!(seconds < 8.0 && (1..=10).contains(&rounds), "{seconds} s, {rounds} rounds");
    let within = |from, to| {
        let rates = session.rates.iter().filter(move |(time, _)| (at(from)..at(to)).contains(time));
        rates.map(|&(_, kbps)| kbps).fold(f64::MAX, f64::min)
    };
    let ratio = within(100.0, 102.0) / within(99.9, 100.1);
    assert!((0.45..0.55).contains(&ratio), "halved, once: {ratio}");
    let none =
        session.limiters.iter().any(|&(time, id)| time > at(100.5) && time < at(103.0) && id.is_none());
    assert!(none, "given up before another is chosen");
}
