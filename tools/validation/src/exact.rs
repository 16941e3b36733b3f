//! One connection over one link, compared packet by packet.
//!
//! All sizes, rates, delays and timers make times that are whole multiples of 1/512 second, which is a
//! whole number of nanoseconds and exact in floating point. Packets that arrive at a full queue at the
//! instant when the transmitter becomes free, which is common in these set-ups, therefore see the same
//! order of events in both simulators, and both must behave identically.

use layercast_core::units::{Duration, Time};
use layercast_simulator::tcp::TcpVariant;
use serde::Serialize;

use crate::ns::Ns;
use crate::tcps;
use crate::work::run_all;

mod observe;
mod theirs;

use observe::observe_ours;
use theirs::observe_ns;

/// A queue limit that is never reached.
const NO_LIMIT: u32 = 1_000_000;
/// The grid of all times: 1/512 second.
const GRID: Duration = Duration::from_ns(1_953_125);
/// The time of the first state sample; the others follow at intervals of two packets on the link. No event
/// falls on these times.
const OFFSET: Time = Time::from_ns(1_000_000);
const STEP: Duration = Duration::from_ns(16 * GRID.as_ns());

/// The impairment of the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trouble {
    /// These packets are lost, numbered by their arrival at the link from 0.
    Lost(Vec<u64>),
    /// The queue in front of the link is a drop-tail queue with this limit in packets.
    Limit(u32),
}

/// A connection to compare.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Case {
    #[serde(serialize_with = "crate::raw::tcp")]
    pub(crate) tcp: TcpVariant,
    pub(crate) delayed_ack: bool,
    pub(crate) window: u32,
    pub(crate) trouble: Trouble,
    pub(crate) seconds: u64,
}

impl Case {
    fn sample_times(&self) -> impl Iterator<Item = Time> {
        let end_ns = self.seconds * 1_000_000_000;
        (0..)
            .map(move |step| OFFSET.as_ns() + step * STEP.as_ns())
            .take_while(move |&ns| ns < end_ns)
            .map(Time::from_ns)
    }

    /// The case in words.
    pub(crate) fn text(&self) -> String {
        let acks = if self.delayed_ack { "delayed ACK" } else { "plain ACK" };
        let trouble = match &self.trouble {
            Trouble::Lost(lost) => format!("lost {lost:?}"),
            Trouble::Limit(limit) => format!("queue limit {limit}"),
        };
        format!("{}, {acks}, window {}, {trouble}", tcps::title(self.tcp), self.window)
    }
}

/// The visible state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct State {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: i64,
    pub(crate) highest_ack: i64,
    pub(crate) duplicates: i64,
    pub(crate) highest_sent: i64,
    pub(crate) next: i64,
    pub(crate) backoff: i64,
    /// Data packets sent, each time counted.
    pub(crate) sent: i64,
}

impl State {
    /// Equal in all whole numbers, and in the window up to the six digits that ns-2 prints.
    fn is_that_of_ns(&self, ns: &State) -> bool {
        let (cwnd, printed) = (self.cwnd, ns.cwnd);
        State { cwnd: printed, ..*self } == *ns && (cwnd - printed).abs() <= 6e-6 * printed.abs()
    }
}

/// The observation of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    pub(crate) states: Vec<State>,
    /// The packets that the queue dropped, numbered by their arrival at the link from 0.
    pub(crate) dropped: Vec<u64>,
}

/// The first difference of two observations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Parting {
    /// The first state that differs, at this time.
    State { seconds: f64, ours: State, ns: State },
    /// The first drop that differs, by its index among the drops.
    Drop { place: usize, ours: Option<u64>, ns: Option<u64> },
    /// ns-2 reported another number of states.
    Length { ours: usize, ns: usize },
}

/// A case and its result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Result {
    pub(crate) case: Case,
    /// How many states were compared.
    pub(crate) states: usize,
    /// How many packets ns-2's queue dropped.
    pub(crate) drops: usize,
    /// The first difference; none if there is none.
    pub(crate) parting: Option<Parting>,
}

/// The connections that are compared.
pub(crate) fn cases(is_quick: bool) -> Vec<Case> {
    let (seconds, windows): (u64, &[u32]) = if is_quick { (20, &[64]) } else { (40, &[8, 20, 64]) };
    let limits: &[u32] = if is_quick { &[10] } else { &[3, 6, 10, 25, 60] };
    let mut troubles: Vec<(u32, Trouble)> = Vec::new();
    for &window in windows {
        troubles.extend(lost_packets(is_quick).into_iter().map(|lost| (window, Trouble::Lost(lost))));
        troubles.extend(limits.iter().map(|&limit| (window, Trouble::Limit(limit))));
    }
    if !is_quick {
        troubles.extend(limits.iter().map(|&limit| (200, Trouble::Limit(limit))));
    }
    let mut cases = Vec::new();
    for tcp in tcps::IN_NS {
        for delayed_ack in [false, true] {
            cases.extend(troubles.iter().map(|(window, trouble)| Case {
                tcp,
                delayed_ack,
                window: *window,
                trouble: trouble.clone(),
                seconds,
            }));
        }
    }
    cases
}

/// None; the first; single ones; several of a window; a window's burst; a packet and its repetition;
/// regular ones.
fn lost_packets(is_quick: bool) -> Vec<Vec<u64>> {
    if is_quick {
        return vec![vec![25, 27, 29]];
    }
    vec![
        vec![],
        vec![0],
        vec![1],
        vec![25],
        vec![25, 27, 29],
        vec![25, 26, 27, 28, 29, 30, 31, 53],
        vec![10, 11, 12, 13, 14, 15, 16, 17],
        vec![40, 41, 80, 81, 82, 120, 160, 200, 201, 202, 203],
        (1..100).map(|k| 50 * k).collect(),
    ]
}

/// Runs both simulators on all cases.
///
/// # Errors
/// Those of ns-2, or of the network, which would be a bug.
pub(crate) fn run(ns: &Ns, cases: &[Case]) -> anyhow::Result<Vec<Result>> {
    run_all("packet by packet", cases, |case| {
        let (ours, theirs) = (observe_ours(case)?, observe_ns(ns, case)?);
        Ok(Result {
            case: case.clone(),
            states: theirs.states.len(),
            drops: theirs.dropped.len(),
            parting: first_difference(case, &ours, &theirs),
        })
    })
}

fn first_difference(case: &Case, ours: &Observed, ns: &Observed) -> Option<Parting> {
    let pairs = case.sample_times().zip(ours.states.iter().zip(&ns.states));
    for (time, (ours, ns)) in pairs {
        if !ours.is_that_of_ns(ns) {
            return Some(Parting::State { seconds: time.as_secs_f64(), ours: *ours, ns: *ns });
        }
    }
    if ours.states.len() != ns.states.len() {
        return Some(Parting::Length { ours: ours.states.len(), ns: ns.states.len() });
    }
    let longest = ours.dropped.len().max(ns.dropped.len());
    let drop = |place: usize| (ours.dropped.get(place).copied(), ns.dropped.get(place).copied());
    (0..longest)
        .map(|place| (place, drop(place)))
        .find(|(_, (ours, ns))| ours != ns)
        .map(|(place, (ours, ns))| Parting::Drop { place, ours, ns })
}

#[cfg(test)]
mod tests;
