//! What probes kept, over time.

use std::ops::Range;

use super::canvas::{Drawn, Plane, Sheet, Side, Width, both, line, ticks};
use super::palette::{MUTED, SHADE, TEXT};
use super::strands::{Curve, bins_per_point};
use super::timeline::ceiling;
use crate::results::error::ResultsError;
use crate::results::experiment::{Experiment, ProbeInfo};
use crate::results::replication::Replication;

/// The space above the first plane, for its name.
const TOP: f64 = 26.0;
/// The height of a plane.
const HEIGHT: f64 = 150.0;
/// The space between planes, for the next one's name.
const GAP: f64 = 40.0;
/// The space for the numbers under the time axis.
const BOTTOM: f64 = 40.0;

/// The plot of one probe: a plane for each quantity.
struct ProbePlot<'a> {
    experiment: &'a Experiment,
    info: &'a ProbeInfo,
    values: &'a [Vec<f64>],
    across: Range<f64>,
    width: Width,
}

/// Draws a probe's plot as SVG for both page widths.
pub(super) fn plot(
    experiment: &Experiment,
    replication: &Replication,
    probe: usize,
) -> Result<String, ResultsError> {
    let Some(info) = experiment.probes.get(probe) else { return Ok(String::new()) };
    let plot = |width: Width| ProbePlot {
        experiment,
        info,
        values: replication.probes.get(probe).map(Vec::as_slice).unwrap_or_default(),
        across: width.pick(64.0..980.0, 46.0..392.0),
        width,
    };
    let label = format!("{} of {} over time", info.quantities.join(", "), info.subject);
    both(&label, |width| plot(width).size(), |sheet, width| plot(width).draw(sheet))
}

/// Mean, least and greatest of neighbouring values, so that peaks stay where many share a point.
fn condensed(info: &ProbeInfo, values: &[f64]) -> [Curve; 3] {
    let per_point = bins_per_point(values.len());
    let mut curves: [Curve; 3] = Default::default();
    for (chunk, values) in values.chunks(per_point).enumerate() {
        let time = 0.5 * (info.time_s(chunk * per_point) + info.time_s(chunk * per_point + values.len() - 1));
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        // Of nothing, all three are unknown.
        let mean = crate::results::statistics::mean(&known).unwrap_or(f64::NAN);
        let least = known.iter().copied().fold(f64::NAN, f64::min);
        let greatest = known.iter().copied().fold(f64::NAN, f64::max);
        for (curve, value) in curves.iter_mut().zip([mean, least, greatest]) {
            curve.push((time, value));
        }
    }
    curves
}

impl ProbePlot<'_> {
    fn size(&self) -> (f64, f64) {
        let planes = self.info.quantities.len().max(1) as f64;
        (self.width.pick(1000.0, 400.0), TOP + planes * HEIGHT + (planes - 1.0) * GAP + BOTTOM)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Drawn {
        let count = self.info.quantities.len();
        for (index, (quantity, values)) in self.info.quantities.iter().zip(self.values).enumerate() {
            let top = TOP + index as f64 * (HEIGHT + GAP);
            let [mean, least, greatest] = condensed(self.info, values);
            let lowest = least.iter().map(|&(_, value)| value).fold(0.0, f64::min);
            let scale = lowest..ceiling([greatest.clone()].iter());
            let times = 0.0..self.experiment.duration_s.max(f64::MIN_POSITIVE);
            let plane = sheet.plane(self.across.clone(), top..top + HEIGHT, times, scale);
            self.ground(sheet, &plane, index + 1 == count)?;
            sheet.text(quantity, (self.across.start, top - 14.0), Side::Start, TEXT)?;
            let color = TEXT.color();
            if bins_per_point(values.len()) > 1 {
                plane.line(least, line(color, 0.3, 1.0))?;
                plane.line(greatest, line(color, 0.3, 1.0))?;
            }
            plane.line(mean, line(color, 0.9, 1.25))?;
        }
        Ok(())
    }

    fn ground(&self, sheet: &Sheet<'_>, plane: &Plane<'_>, last: bool) -> Drawn {
        let [from, to] = self.experiment.main_window_s();
        plane.band(0.0, from.min(plane.x.end), SHADE)?;
        plane.band(to, plane.x.end, SHADE)?;
        plane.rows(sheet, &ticks(&plane.y, 4))?;
        plane.bottom(sheet, &if last { ticks(&plane.x, self.width.pick(10, 4)) } else { Vec::new() })?;
        if !last {
            return Ok(());
        }
        let foot = plane.pixel((plane.x.end, plane.y.start));
        sheet.text("time, s", (foot.0, foot.1 + 30.0), Side::End, MUTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_among_many_values_stays() {
        let info = ProbeInfo {
            name: String::new(),
            subject: String::new(),
            quantities: vec!["queue_packets"],
            every_ns: 1_000_000_000,
        };
        let mut values = vec![1.0; 6000];
        values[1234] = 50.0;
        values[4321] = f64::NAN;
        let [mean, least, greatest] = condensed(&info, &values);
        assert_eq!((mean.len(), least.len()), (600, 600));
        assert!(greatest.iter().any(|&(_, value)| value == 50.0));
        assert!(mean.iter().all(|&(_, value)| (1.0..=6.0).contains(&value)));
        assert!(least.iter().all(|&(_, value)| value == 1.0));
    }
}
