//! Values that the paper leaves open, and what else they might have been.

use crate::papers::e_flid::grid::Step;

/// A study of the first experiment with something changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The study's name.
    pub(super) study: &'static str,
    /// What is changed.
    pub(super) label: &'static str,
    /// In which step.
    pub(super) step: Step,
    /// The setting for a number of sessions.
    pub(super) set: fn(u32) -> Vec<String>,
}

const fn setting(
    study: &'static str,
    label: &'static str,
    step: Step,
    set: fn(u32) -> Vec<String>,
) -> Setting {
    Setting { study, label, step, set }
}

fn one(set: &str) -> Vec<String> {
    vec![set.to_owned()]
}

fn new_reno(_: u32) -> Vec<String> {
    one("flow.tcp.protocol=tcp-newreno")
}

fn sack(_: u32) -> Vec<String> {
    one("flow.tcp.protocol=tcp-sack")
}

/// Other TCPs than Reno.
pub(super) const TCPS: [Setting; 4] = [
    setting("new-reno-flid", "NewReno", Step::Lost, new_reno),
    setting("sack-flid", "SACK", Step::Lost, sack),
    setting("new-reno-e-flid", "NewReno", Step::Marked, new_reno),
    setting("sack-e-flid", "SACK", Step::Marked, sack),
];

fn limit(packets: u32) -> Vec<String> {
    vec![format!("link.G1-G2.queue.limit={packets} packets")]
}

/// Other queues without marks than drop-tail with 5n packets.
pub(super) const QUEUES: [Setting; 3] = [
    setting("queue-7n", "drop-tail, 7n packets", Step::Lost, |count| limit(7 * count)),
    setting("queue-10n", "drop-tail, 10n packets", Step::Lost, |count| limit(10 * count)),
    setting("queue-red", "RED that drops", Step::Lost, |count| {
        vec![format!(
            "link.G1-G2.queue={{ kind = \"red\", profile = \"classic\", limit = \"{} packets\", \
             min_threshold = {}, max_threshold = {} }}",
            10 * count,
            2 * count,
            5 * count
        )]
    }),
];

/// Other parameters of RED with marks than weight 0.002, at most 0.1, not gentle.
pub(super) const ECN_QUEUES: [Setting; 5] = [
    setting("red-slow", "weight 0.0005", Step::Marked, |_| one("link.G1-G2.queue.weight=0.0005")),
    setting("red-quick", "weight 0.02", Step::Marked, |_| one("link.G1-G2.queue.weight=0.02")),
    setting("red-seldom", "at most 0.02", Step::Marked, |_| one("link.G1-G2.queue.max_probability=0.02")),
    setting("red-often", "at most 0.5", Step::Marked, |_| {
        vec![
            "link.G1-G2.queue.max_probability=0.5".to_owned(),
            "link.G1-G2.queue.mark_probability=0.5".to_owned(),
        ]
    }),
    setting("red-gentle", "gentle", Step::Marked, |_| one("link.G1-G2.queue.gentle=true")),
];

fn hill_climbing(_: u32) -> Vec<String> {
    one("defaults.session.options.increase_probabilities=hill-climbing")
}

/// What leaves that take no time are called.
pub(super) const AT_ONCE: &str = "leaves at once";

fn at_once(_: u32) -> Vec<String> {
    one("defaults.session.leave_latency=0 s")
}

/// A join takes a round-trip time, so this is just in time for the slot.
fn early(_: u32) -> Vec<String> {
    vec![
        "defaults.session.options.join_mode=early".to_owned(),
        "defaults.session.options.join_lead=290 ms".to_owned(),
    ]
}

/// Other receivers than those that join at the boundary, leave in 2 to 4 s and rise by the heuristic.
pub(super) const JOINS: [Setting; 6] = [
    setting("hill-flid", "shares by hill climbing", Step::Lost, hill_climbing),
    setting("leaves-flid", AT_ONCE, Step::Lost, at_once),
    setting("early-flid", "joins 290 ms ahead", Step::Lost, early),
    setting("hill-e-flid", "shares by hill climbing", Step::Marked, hill_climbing),
    setting("leaves-e-flid", AT_ONCE, Step::Marked, at_once),
    setting("early-e-flid", "joins 290 ms ahead", Step::Marked, early),
];

/// The first router takes from packets what says that they may be marked, so RED drops. Long enough for
/// the rule for such paths, which waits for a minute without marks.
fn bleached(safety: bool) -> Vec<String> {
    vec![
        "link.G1-G2.queue.ecn=false".to_owned(),
        "duration=200 s".to_owned(),
        "windows=[[\"150 s\", \"end\"]]".to_owned(),
        format!("defaults.session.options.loss_safety={safety}"),
    ]
}

/// A path that clears marks: without and with the rule for it.
pub(super) const WITHOUT_MARKS: [Setting; 2] = [
    setting("bleached", "losses ignored", Step::Marked, |_| bleached(false)),
    setting("bleached-safe", "with the safety rule", Step::Marked, |_| bleached(true)),
];
