//! ns-2's side of constant rates against TCP.

use super::{Counts, Measured, Plan, Rhythm, SITES, starts};
use crate::ns::{Ns, NsError, Printed};

pub(super) fn measure_ns(
    ns: &Ns,
    plan: &Plan,
    rhythm: Rhythm,
    replication: u64,
) -> Result<Vec<Measured>, NsError> {
    let mut arguments = vec![
        rhythm.wait.to_string(),
        rhythm.phase.to_string(),
        plan.from_s.to_string(),
        plan.until_s.to_string(),
        replication.to_string(),
    ];
    arguments.extend(starts(replication).concat().iter().map(f64::to_string));
    read(&ns.run("constant.tcl", &arguments)?)
}

fn read(printed: &Printed) -> Result<Vec<Measured>, NsError> {
    let counts = |line: &str| {
        let unreadable = || printed.unreadable(line, "row of five counts");
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|_| unreadable())?;
        let &[constant, constant_drops, tcp, tcp_drops, acknowledged] = numbers.as_slice() else {
            return Err(unreadable());
        };
        Ok(Counts { constant, constant_drops, tcp, tcp_drops, acknowledged }.measured())
    };
    let rows: Vec<Measured> = printed.text.lines().map(counts).collect::<Result<_, _>>()?;
    if rows.len() == SITES.len() {
        Ok(rows)
    } else {
        Err(printed.unreadable(printed.text.lines().next_back().unwrap_or(""), "last row of three"))
    }
}
