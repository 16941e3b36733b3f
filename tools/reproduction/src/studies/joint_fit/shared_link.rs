//! The shared link of chapters 4 and 5 next to eight TCP, with LAP's window and history as fitted.

use super::Point;
use crate::samples::{Samples, format_samples};
use crate::studies::experiment::{Case, Meant, Runner, mean, samples};
use crate::studies::page::Report;

const SCENARIO: &str = "thesis/shared-link";
/// Sending rates in packets per round trip, below half of the bottleneck (thesis 4.1.4).
const RATES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// One packet of 1000 bytes per round trip of 100 ms, in kbit/s.
const PACKET_KBPS: u32 = 80;
const REPLICATIONS: u32 = 5;

/// LAP's rate over that of TFRC, with the scenario's values and with the fitted ones.
pub(super) fn run(runner: &Runner, point: &Point, report: &mut Report) -> anyhow::Result<()> {
    let rates: Vec<String> = RATES.iter().map(|rate| format!("{} kbit/s", rate * PACKET_KBPS)).collect();
    let vary = [format!("session.cbr.layers.base={}", rates.join(","))];
    let as_is = Case { metrics: &["lap_rate_kbps"], ..Case::new(SCENARIO)? };
    let fitted = as_is.with([
        format!("session.cbr.window={}", point.window),
        format!("session.cbr.history={}", point.history),
    ]);
    let heading: Vec<String> = RATES.iter().map(|rate| format!("{rate}:")).collect();
    let mut cells = vec!["LAP's rate over TFRC's, packets per round trip"];
    cells.extend(heading.iter().map(String::as_str));
    report.page.heading(&cells);
    for (name, case) in [("as the scenario", &as_is), ("fitted", &fitted)] {
        let mut row = vec![name.to_owned()];
        for ((_, parts), rate) in
            runner.cells(&format!("{SCENARIO} {name}"), case, &vary, REPLICATIONS, None)?.iter().zip(RATES)
        {
            let tfrc = |name: &str| name.starts_with("tfrc");
            let meant = Meant { names: &tfrc, metric: "throughput_kbps", window: 0 };
            let tfrc = Samples(parts.iter().map(|part| mean(part, meant)).collect());
            let ratio = samples(parts, "cbr@R", "lap_rate_kbps", 0).over(&tfrc);
            report.keep(SCENARIO, name, &format!("LAP's rate over TFRC's at {rate}"), &ratio);
            row.push(format_samples(&ratio));
        }
        report.page.row(&row);
    }
    Ok(())
}
