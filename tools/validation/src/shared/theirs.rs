//! ns-2's side of a shared bottleneck.

use super::{Case, Counts, Measured, Plan, WEIGHT};
use crate::ns::{Ns, NsError, Printed};
use crate::tcps;

pub(super) fn measure_ns(ns: &Ns, plan: &Plan, case: &Case, replication: u64) -> Result<Measured, NsError> {
    let (min, max) = case.thresholds();
    let mut arguments = vec![
        tcps::name(case.tcp).to_owned(),
        case.rate_bps().to_string(),
        case.discipline.name().to_owned(),
        case.room_packets().to_string(),
        min.to_string(),
        max.to_string(),
        WEIGHT.to_string(),
        plan.from_s.to_string(),
        plan.until_s.to_string(),
        replication.to_string(),
    ];
    arguments.extend(case.starts(replication).iter().map(f64::to_string));
    let counts = read(&ns.run("shared.tcl", &arguments)?)?;
    Ok(counts.measured(case, plan.seconds()))
}

fn read(printed: &Printed) -> Result<Counts, NsError> {
    let mut counts = Counts::default();
    for line in printed.text.lines() {
        let unreadable = || printed.unreadable(line, "name and number");
        let (name, number) = line.split_once(' ').ok_or_else(unreadable)?;
        let number: f64 = number.parse().map_err(|_| unreadable())?;
        match name {
            "departures" => counts.departures = number,
            "drops" => counts.drops = number,
            "waiting" => counts.waiting = number,
            "packets" => counts.acknowledged.push(number),
            _ => return Err(unreadable()),
        }
    }
    Ok(counts)
}
