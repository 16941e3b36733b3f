//! Flows that hardly run before all is over.

use layercast_core::units::{Size, Time};

use super::Doubt;
use super::facts::{Facts, Table};
use super::list::HARDLY_RUNS;
use crate::scenario::{Draw, Traffic};

/// With fewer round trips a TCP, which doubles its window in each, is not beyond its start.
const ENOUGH: f64 = 10.0;
/// What does not wait for answers arrives after half a round trip.
const ENOUGH_WITHOUT_ANSWERS: f64 = 1.0;

/// Sessions and flows that have few round-trip times until they stop or the last window ends.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let sessions = facts.session_tables().filter_map(|(plan, routes)| {
        let start = plan.receivers_start.unwrap_or(plan.start);
        let table = Table { kind: "session", name: &plan.name, routes };
        late(facts, table, start, plan.stop, plan.packet_size, ENOUGH)
    });
    let flows = facts.flow_tables().filter_map(|(plan, routes)| {
        let (packet, enough) = match &plan.traffic {
            Traffic::Tcp { options, .. } => (options.packet_size, ENOUGH),
            Traffic::Udp { packet_size, .. } => (*packet_size, ENOUGH_WITHOUT_ANSWERS),
        };
        late(facts, Table { kind: "flow", name: &plan.name, routes }, plan.start, plan.stop, packet, enough)
    });
    sessions.chain(flows).collect()
}

fn late(
    facts: &Facts<'_>,
    table: Table<'_>,
    start: Draw<Time>,
    stop: Option<Time>,
    packet: Size,
    enough: f64,
) -> Option<Doubt> {
    let last = facts.scenario.windows.iter().map(|window| window.end).max()?;
    let end = stop.map_or(last, |stop| stop.min(last));
    let left_s = end.as_secs_f64() - start.high().as_secs_f64();
    let rtt_s = table.routes.iter().map(|route| facts.rtt_s(route, packet)).reduce(f64::max)?;
    (left_s < enough * rtt_s).then(|| Doubt {
        lint: HARDLY_RUNS,
        subject: table.subject(),
        paths: vec![format!("{}.start", table.path()), table.path()],
        message: format!(
            "it may start {:.3} s before its end, and a round trip on its path takes {rtt_s:.3} s: hardly anything is \
             measured",
            left_s.max(0.0)
        ),
        remedy: "an earlier `start`, a longer `duration` or window, or a shorter `delay` of the links".to_owned(),
    })
}
