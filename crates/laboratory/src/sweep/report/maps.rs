//! Means over two keys: a map of tiles for each name, and for each combination of further keys.

use super::{Figure, MOST_PANELS, colour_name};
use crate::results::ResultsError;
use crate::results::report::canvas::{Drawn, Sheet, Side, Width, both};
use crate::results::report::palette::{MUTED, Palette, TEXT};
use crate::results::statistics::Statistic;
use crate::results::text::{NONE, Style};
use crate::sweep::grid::{Cell, Grid};
use crate::sweep::lines::Line;
use crate::sweep::metric::Metric;

/// The space above a map, for its name.
const TOP: f64 = 40.0;
/// The height of a tile.
const TILE: f64 = 34.0;
/// The space under a map, for the values of the key.
const BOTTOM: f64 = 36.0;
/// How wide a character is, about.
const CHARACTER: f64 = 7.0;
/// Tiles narrower than this have no number.
const NUMBER: f64 = 40.0;
/// How much of the colour shows at the lowest and at the highest value.
const SHOWS: [f64; 2] = [0.05, 0.6];
/// How much of that shows in a tile that may be no different from any other.
const FADED: f64 = 0.3;

/// One map.
struct Map<'a> {
    line: &'a Line,
    /// The lowest and the highest mean of the line.
    ends: [f64; 2],
    /// The intervals of the tiles with those two means, if there are intervals.
    extremes: Option<[[f64; 2]; 2]>,
    /// The values of further keys.
    rest: Vec<usize>,
    title: String,
}

struct Maps<'a> {
    grid: &'a Grid,
    /// The key from top to bottom, and the one from left to right.
    down: usize,
    across: usize,
    /// The further ones.
    rest: &'a [usize],
    metric: &'a Metric,
    palette: &'a Palette,
    /// The lowest and the highest mean of all lines: the scale of the colours.
    scale: [f64; 2],
    maps: Vec<Map<'a>>,
}

/// Draws a metric over keys, of which the first two span a map.
pub(super) fn figure(
    grid: &Grid,
    varied: &[usize],
    metric: &Metric,
    lines: &[&Line],
    palette: &Palette,
) -> Result<Figure, ResultsError> {
    let [down, across, rest @ ..] = varied else { return Ok(Figure { svg: String::new(), all: None }) };
    let mut combinations: Vec<Vec<usize>> = Vec::new();
    for cell in &grid.cells {
        let combination = at(cell, rest);
        if !combinations.contains(&combination) {
            combinations.push(combination);
        }
    }
    let all = lines.len() * combinations.len();
    let maps = lines.iter().flat_map(|line| {
        let ends = ends(grid, line, metric);
        combinations.iter().map(move |combination| Map {
            line,
            ends,
            extremes: extremes(grid, line, metric),
            rest: combination.clone(),
            title: title(grid, line, rest, combination),
        })
    });
    let maps = maps.take(MOST_PANELS).collect();
    let each = lines.iter().map(|line| ends(grid, line, metric));
    let scale = each
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], ends| [low.min(ends[0]), high.max(ends[1])]);
    let maps = Maps { grid, down: *down, across: *across, rest, metric, palette, scale, maps };
    let label = format!("{} over {} and {}", metric.title, maps.key(*down), maps.key(*across));
    let svg = both(&label, |width| maps.size(width), |sheet, width| maps.draw(sheet, width))?;
    Ok(Figure { svg, all: (all > MOST_PANELS).then_some(all) })
}

/// Which values of these keys a cell has.
fn at(cell: &Cell, keys: &[usize]) -> Vec<usize> {
    keys.iter().filter_map(|&key| cell.at.get(key).copied()).collect()
}

/// The lowest and the highest mean of a line.
fn ends(grid: &Grid, line: &Line, metric: &Metric) -> [f64; 2] {
    let means = (0..grid.cells.len()).filter_map(|cell| line.statistic(cell, metric)?.mean);
    means.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], mean| [low.min(mean), high.max(mean)])
}

/// The 95 % interval of a statistic.
fn interval(statistic: &Statistic) -> Option<[f64; 2]> {
    let (mean, half) = (statistic.mean?, statistic.ci95?);
    Some([mean - half, mean + half])
}

/// The intervals of the cells with the lowest and with the highest mean of a line.
fn extremes(grid: &Grid, line: &Line, metric: &Metric) -> Option<[[f64; 2]; 2]> {
    let statistics = (0..grid.cells.len()).filter_map(|cell| line.statistic(cell, metric));
    let known: Vec<(f64, [f64; 2])> =
        statistics.filter_map(|statistic| Some((statistic.mean?, interval(statistic)?))).collect();
    let low = known.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let high = known.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some([low.1, high.1])
}

/// Whether a tile may be no different from any other of its map: its interval overlaps those of the lowest and of
/// the highest.
fn is_indistinct(own: [f64; 2], [low, high]: [[f64; 2]; 2]) -> bool {
    let overlaps = |other: [f64; 2]| own[0] <= other[1] && other[0] <= own[1];
    overlaps(low) && overlaps(high)
}

fn title(grid: &Grid, line: &Line, rest: &[usize], combination: &[usize]) -> String {
    let mut title = line.name.clone();
    for (&key, &value) in rest.iter().zip(combination) {
        let Some(axis) = grid.axes.get(key) else { continue };
        let short = axis.key.rsplit('.').next().unwrap_or_default();
        let value = axis.values.get(value).map_or("", String::as_str);
        title.push_str(&format!(" · {short} {value}"));
    }
    title
}

impl Maps<'_> {
    fn key(&self, key: usize) -> &str {
        self.grid.axes.get(key).map_or("", |axis| axis.key.as_str())
    }

    fn labels(&self, key: usize) -> &[String] {
        self.grid.axes.get(key).map(|axis| axis.values.as_slice()).unwrap_or_default()
    }

    /// The order in which the values of a key are drawn: by number where there are numbers.
    fn order(&self, key: usize) -> Vec<usize> {
        let Some(axis) = self.grid.axes.get(key) else { return Vec::new() };
        let mut order: Vec<usize> = (0..axis.values.len()).collect();
        if let Some(scale) = &axis.scale {
            order.sort_by(|&one, &other| scale.numbers[one].total_cmp(&scale.numbers[other]));
        }
        order
    }

    fn columns(&self, width: Width) -> usize {
        let fits = self.labels(self.across).len() <= 8;
        width.pick(if fits { self.maps.len().clamp(1, 2) } else { 1 }, 1)
    }

    fn height(&self) -> f64 {
        TOP + self.labels(self.down).len() as f64 * TILE + BOTTOM
    }

    fn size(&self, width: Width) -> (f64, f64) {
        let rows = self.maps.len().div_ceil(self.columns(width)).max(1) as f64;
        (width.pick(1000.0, 400.0), rows * self.height())
    }

    fn draw(&self, sheet: &Sheet<'_>, width: Width) -> Drawn {
        let columns = self.columns(width);
        let room = width.pick(if columns == 2 { 480.0 } else { 980.0 }, 392.0);
        for (index, map) in self.maps.iter().enumerate() {
            let left = (index % columns) as f64 * 510.0;
            let top = (index / columns) as f64 * self.height() + TOP;
            self.map(sheet, map, left, top, room)?;
        }
        Ok(())
    }

    fn map(&self, sheet: &Sheet<'_>, map: &Map<'_>, left: f64, top: f64, room: f64) -> Drawn {
        let (rows, columns) = (self.order(self.down), self.order(self.across));
        let longest = self.labels(self.down).iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let start = left + (longest as f64 * CHARACTER + 12.0).min(room / 3.0);
        let tile = ((left + room - start) / columns.len().max(1) as f64).min(110.0);
        let (count_across, count_down) = (columns.len() as f64, rows.len() as f64);
        let edges = (start..start + tile * count_across, top..top + TILE * count_down);
        let plane = sheet.plane(edges.0, edges.1, 0.0..count_across, 0.0..count_down);
        let style = Style::of(self.metric.name);
        let [low, high] = map.ends;
        let ends = if low <= high {
            format!("{} to {}", style.number(low), style.number(high))
        } else {
            NONE.to_owned()
        };
        sheet.text(&format!("{}   ({ends})", map.title), (left, top - 16.0), Side::Start, TEXT)?;
        for (row, &down) in rows.iter().enumerate() {
            let y = top + (row as f64 + 0.5) * TILE;
            let label = self.labels(self.down).get(down).map_or("", String::as_str);
            sheet.text(&shortened(label, start - left - 12.0), (start - 8.0, y), Side::End, MUTED)?;
            for (column, &across) in columns.iter().enumerate() {
                let x = start + (column as f64 + 0.5) * tile;
                let statistic = self.statistic(map, down, across);
                let mean = statistic.and_then(|statistic| statistic.mean);
                let own = statistic.and_then(interval).zip(map.extremes);
                let faded = own.is_some_and(|(own, extremes)| is_indistinct(own, extremes));
                if let Some(mean) = mean {
                    let [least, most] = self.scale;
                    let share = if most > least { (mean - least) / (most - least) } else { 0.5 };
                    let shows = SHOWS[0] + share * (SHOWS[1] - SHOWS[0]);
                    let opacity = if faded { FADED * shows } else { shows };
                    let foot = count_down - 1.0 - row as f64;
                    let corners = [(column as f64, foot), (column as f64 + 1.0, foot + 1.0)];
                    plane.tile(corners, self.palette.ink(colour_name(map.line)).color(), opacity)?;
                }
                if tile >= NUMBER {
                    let text = mean.map_or_else(|| NONE.to_owned(), |mean| style.bare(mean));
                    sheet.text(&text, (x, y), Side::Middle, if faded { MUTED } else { TEXT })?;
                }
            }
        }
        let foot = top + TILE * count_down + 15.0;
        let labels = self.labels(self.across);
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        // Where not all fit with their unit, the unit is shown once, in front.
        let unit = common_unit(labels).filter(|_| (longest + 1) as f64 * CHARACTER > tile);
        if let Some(unit) = unit {
            sheet.text(unit, (start - 8.0, foot), Side::End, MUTED)?;
        }
        let mut end = f64::NEG_INFINITY;
        for (column, &across) in columns.iter().enumerate() {
            let label = labels.get(across).map_or("", String::as_str);
            let label = unit.and_then(|unit| label.strip_suffix(unit)).unwrap_or(label).trim_end();
            let x = start + (column as f64 + 0.5) * tile;
            let half = label.chars().count() as f64 * CHARACTER / 2.0;
            if x - half > end + CHARACTER {
                sheet.text(label, (x, foot), Side::Middle, MUTED)?;
                end = x + half;
            }
        }
        Ok(())
    }

    /// The statistic of a map's line where the two keys have these values.
    fn statistic<'s>(&self, map: &'s Map<'_>, down: usize, across: usize) -> Option<&'s Statistic> {
        let is_there = |cell: &Cell| {
            at(cell, &[self.down, self.across]) == [down, across] && at(cell, self.rest) == map.rest
        };
        let cell = self.grid.cells.iter().position(is_there)?;
        map.line.statistic(cell, self.metric)
    }
}

/// The unit that all values have.
fn common_unit(values: &[String]) -> Option<&str> {
    let units = || values.iter().map(|value| value.split_once(' ').map(|(_, unit)| unit));
    let first = units().next()??;
    units().all(|unit| unit == Some(first)).then_some(first)
}

/// The text, or its beginning if it is longer than there is room for.
fn shortened(text: &str, room: f64) -> String {
    let most = (room / CHARACTER).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_faded_if_it_may_equal_the_lowest_and_the_highest() {
        let extremes = [[90.0, 110.0], [105.0, 125.0]];
        assert!(is_indistinct([95.0, 115.0], extremes));
        assert!(is_indistinct([90.0, 110.0], extremes), "the lowest itself overlaps the highest");
        assert!(!is_indistinct([112.0, 118.0], extremes), "above the lowest");
        let apart = [[90.0, 91.0], [120.0, 125.0]];
        assert!(!is_indistinct([90.0, 91.0], apart) && !is_indistinct([100.0, 110.0], apart));
    }
}
