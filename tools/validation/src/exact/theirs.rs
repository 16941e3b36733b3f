//! ns-2's side of a connection that is compared packet by packet.

use super::{Case, NO_LIMIT, OFFSET, Observed, STEP, State, Trouble};
use crate::ns::{Ns, NsError, Printed};
use crate::tcps;

pub(super) fn observe_ns(ns: &Ns, case: &Case) -> Result<Observed, NsError> {
    let (lost, limit): (&[u64], u32) = match &case.trouble {
        Trouble::Lost(lost) => (lost, NO_LIMIT),
        Trouble::Limit(limit) => (&[], *limit),
    };
    let mut arguments = vec![
        tcps::name(case.tcp).to_owned(),
        u8::from(case.delayed_ack).to_string(),
        case.window.to_string(),
        limit.to_string(),
        case.seconds.to_string(),
        STEP.as_secs_f64().to_string(),
        OFFSET.as_secs_f64().to_string(),
    ];
    arguments.extend(lost.iter().map(u64::to_string));
    let mut observed = read(&ns.run("exact.tcl", &arguments)?)?;
    if let Trouble::Lost(_) = case.trouble {
        // Scheduled losses are traced as drops too. Only the queue's drops are compared.
        observed.dropped.clear();
    }
    Ok(observed)
}

/// Reads states, and the trace of the link: `+` for a packet that arrives at the queue, `d` for one that it
/// drops.
fn read(printed: &Printed) -> Result<Observed, NsError> {
    let mut observed = Observed::default();
    let mut arrived = 0;
    for line in printed.text.lines() {
        match line.split_once(' ') {
            Some(("state", values)) => {
                let state = state(values).ok_or_else(|| printed.unreadable(line, "state"))?;
                observed.states.push(state);
            }
            Some(("+", _)) => arrived += 1,
            // The latest arrival.
            Some(("d", _)) => observed.dropped.push(arrived - 1),
            Some(("-" | "r", _)) => {}
            _ => return Err(printed.unreadable(line, "event of a trace")),
        }
    }
    Ok(observed)
}

fn state(values: &str) -> Option<State> {
    let (cwnd, rest) = values.split_once(' ')?;
    let whole: Vec<i64> = rest.split(' ').map(|text| text.parse().ok()).collect::<Option<_>>()?;
    let &[ssthresh, highest_ack, duplicates, highest_sent, next, backoff, sent] = whole.as_slice() else {
        return None;
    };
    Some(State {
        cwnd: cwnd.parse().ok()?,
        ssthresh,
        highest_ack,
        duplicates,
        highest_sent,
        next,
        backoff,
        sent,
    })
}
