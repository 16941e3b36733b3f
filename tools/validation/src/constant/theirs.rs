//! ns-2's side of constant rates against TCP.

use layercast_core::units::{Rate, Time};

use super::{Counts, Measured, Plan, Rhythm, SITES, layers, starts};
use crate::ns::{Ns, NsError, Printed};

pub(super) fn measure_ns(
    ns: &Ns,
    plan: &Plan,
    rhythm: Rhythm,
    replication: u64,
) -> anyhow::Result<Vec<Measured>> {
    let mut arguments = vec![
        rhythm.setting.wait.to_string(),
        rhythm.phase.to_string(),
        (rhythm.setting.longer_ms / 1e3).to_string(),
        plan.from_s.to_string(),
        plan.until_s.to_string(),
        replication.to_string(),
    ];
    for (site, starts) in SITES.iter().zip(starts(replication)) {
        let mut starts = starts.into_iter();
        let session = layers::plan(site, rhythm.setting.sending)?;
        let begins =
            layers::begins(&session, starts.next().unwrap_or_default(), layers::stream(site, replication));
        arguments.push(argument(&begins));
        arguments.extend(starts.map(|start| start.as_secs_f64().to_string()));
    }
    Ok(read(&ns.run("constant.tcl", &arguments)?)?)
}

/// The layers as the script reads them.
fn argument(layers: &[(Time, Rate)]) -> String {
    let layer = |(start, rate): &(Time, Rate)| format!("{}@{}", rate.as_kbps(), start.as_secs_f64());
    layers.iter().map(layer).collect::<Vec<_>>().join(",")
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
