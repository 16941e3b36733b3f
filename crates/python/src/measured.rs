//! What was measured, as tables: a row for each replication, window and flow, group or link.

use std::collections::BTreeSet;

use layercast_laboratory::results::{Experiment, FlowInfo, FlowSeries, LinkMeasures, Replication, Role};
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::sweep::{CellSummary, Measured, Part, PartWindow, metric};
use layercast_protocols::registry::Registry;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::table::Table;

/// A value that all rows of a block have.
#[derive(Clone)]
pub(crate) enum Key<'a> {
    Text(&'a str),
    Number(f64),
    Count(u32),
}

/// Replications of one scenario, and what distinguishes it from the others of the table.
pub(crate) struct Block<'a> {
    pub(crate) keys: Vec<(&'a str, Key<'a>)>,
    pub(crate) experiment: &'a Experiment,
    pub(crate) parts: &'a [Part],
    /// The replications themselves, in the order of the parts, if they are known.
    pub(crate) replications: &'a [Replication],
}

/// One thing in one window of one replication.
struct Row<'a> {
    block: &'a Block<'a>,
    part: usize,
    window: usize,
    index: usize,
    measured: &'a Measured,
}

impl<'a> Row<'a> {
    fn flow(&self) -> Option<&'a FlowInfo> {
        self.block.experiment.flows.get(self.index)
    }

    fn link(&self) -> Option<&'a LinkMeasures> {
        self.block.replications.get(self.part)?.windows.get(self.window)?.links.get(self.index)
    }
}

fn rows<'a>(blocks: &'a [Block<'a>], of: fn(&PartWindow) -> &[Measured]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for block in blocks {
        for (part, windows) in block.parts.iter().enumerate() {
            for (window, all) in windows.windows.iter().enumerate() {
                let all = of(all).iter().enumerate();
                rows.extend(all.map(|(index, measured)| Row { block, part, window, index, measured }));
            }
        }
    }
    rows
}

/// The columns of the keys, for the block of each row.
fn keyed<'a>(blocks: &'a [Block<'a>], of_rows: impl Iterator<Item = &'a Block<'a>> + Clone) -> Columns {
    let mut columns = Columns::default();
    for (at, (name, first)) in
        blocks.first().map(|block| block.keys.as_slice()).unwrap_or_default().iter().enumerate()
    {
        let each = of_rows.clone().map(move |block| block.keys.get(at).map(|(_, key)| key));
        columns = match first {
            Key::Text(_) => columns
                .text(name, each.map(|key| if let Some(Key::Text(text)) = key { Some(*text) } else { None })),
            Key::Number(_) => columns.number(
                name,
                each.map(|key| if let Some(Key::Number(number)) = key { Some(*number) } else { None }),
            ),
            Key::Count(_) => columns
                .count(name, each.map(|key| if let Some(Key::Count(count)) = key { *count } else { 0 })),
        };
    }
    columns
}

/// Keys, window and replication.
fn beginning<'a>(blocks: &'a [Block<'a>], rows: &[Row<'a>]) -> Columns {
    let window = |row: &Row<'a>| row.block.experiment.windows_s.get(row.window).copied();
    keyed(blocks, rows.iter().map(|row| row.block))
        .count("window", rows.iter().map(|row| row.window as u32 + 1))
        .number("from_s", rows.iter().map(|row| window(row).map(|[from, _]| from)))
        .number("until_s", rows.iter().map(|row| window(row).map(|[_, until]| until)))
        .count("replication", rows.iter().map(|row| row.block.parts[row.part].replication))
}

/// A column for each metric that a row has, in the order of the results.
fn metrics(mut columns: Columns, rows: &[Row<'_>]) -> Columns {
    let mut present: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.measured.values.keys().map(String::as_str)).collect();
    let known = metric::all(&Catalogue::of::<Registry>());
    let in_order: Vec<&str> =
        known.iter().map(|metric| metric.name).filter(|name| present.remove(name)).collect();
    for name in in_order.into_iter().chain(present) {
        columns =
            columns.number(name, rows.iter().map(|row| row.measured.values.get(name).copied().flatten()));
    }
    columns
}

/// What the replications of each cell were on average. Blocks are of the same cells.
pub(crate) fn means(blocks: &[Block<'_>], cells: &[CellSummary]) -> PyResult<Table> {
    let mut rows = Vec::new();
    for (block, cell) in blocks.iter().zip(cells) {
        for (window, number) in cell.windows.iter().zip(1..) {
            for (kind, subject) in window.subjects() {
                let of_each = subject.measures.iter();
                rows.extend(of_each.map(|(name, measured)| (block, number, kind, subject, name, measured)));
            }
        }
    }
    keyed(blocks, rows.iter().map(|row| row.0))
        .count("window", rows.iter().map(|row| row.1))
        .text("kind", rows.iter().map(|row| Some(row.2)))
        .text("name", rows.iter().map(|row| Some(row.3.name.as_str())))
        .text("protocol", rows.iter().map(|row| row.3.protocol.as_deref()))
        .text("metric", rows.iter().map(|row| Some(row.4.as_str())))
        .number("mean", rows.iter().map(|row| row.5.mean))
        .number("ci95", rows.iter().map(|row| row.5.ci95))
        .count("replications", rows.iter().map(|row| row.5.samples.iter().flatten().count() as u32))
        .into_table()
}

/// The flows.
pub(crate) fn flows(blocks: &[Block<'_>]) -> PyResult<Table> {
    let rows = rows(blocks, |window| &window.flows);
    let role = |row: &Row<'_>| {
        row.flow().map(|flow| match flow.role {
            Role::Receiver => "receiver",
            Role::Sink => "sink",
        })
    };
    let columns = beginning(blocks, &rows)
        .text("flow", rows.iter().map(|row| Some(row.measured.name.as_str())))
        .text("protocol", rows.iter().map(|row| row.flow().map(|flow| flow.protocol.as_str())))
        .text("role", rows.iter().map(role))
        .text("session", rows.iter().map(|row| row.flow().and_then(|flow| flow.session.as_deref())))
        .text("node", rows.iter().map(|row| row.flow().map(|flow| flow.node.as_str())));
    metrics(columns, &rows).into_table()
}

/// The groups.
pub(crate) fn groups(blocks: &[Block<'_>]) -> PyResult<Table> {
    let rows = rows(blocks, |window| &window.groups);
    let columns =
        beginning(blocks, &rows).text("group", rows.iter().map(|row| Some(row.measured.name.as_str())));
    metrics(columns, &rows).into_table()
}

/// The links; with counts of packets where the replications themselves are known.
pub(crate) fn links(blocks: &[Block<'_>]) -> PyResult<Table> {
    let rows = rows(blocks, |window| &window.links);
    let columns =
        beginning(blocks, &rows).text("link", rows.iter().map(|row| Some(row.measured.name.as_str())));
    let mut columns = metrics(columns, &rows);
    if blocks.iter().any(|block| !block.replications.is_empty()) {
        type Measure = fn(&LinkMeasures) -> f64;
        let more: [(&str, Measure); 2] =
            [("packets", |link| link.packets as f64), ("losses", |link| link.losses as f64)];
        for (name, measure) in more {
            columns = columns.number(name, rows.iter().map(|row| row.link().map(measure)));
        }
    }
    columns.into_table()
}

/// One bin of one flow.
struct Bin<'a> {
    block: &'a Block<'a>,
    replication: u32,
    info: &'a FlowInfo,
    series: &'a FlowSeries,
    bin: usize,
}

/// The time series: a row for each replication, flow and bin.
pub(crate) fn series(blocks: &[Block<'_>]) -> PyResult<Table> {
    let mut bins = Vec::new();
    for block in blocks {
        for replication in block.replications {
            for (info, series) in block.experiment.flows.iter().zip(&replication.series.flows) {
                let replication = replication.number;
                bins.extend((0..series.bins()).map(|bin| Bin { block, replication, info, series, bin }));
            }
        }
    }
    let mut columns = keyed(blocks, bins.iter().map(|bin| bin.block))
        .count("replication", bins.iter().map(|bin| bin.replication))
        .text("flow", bins.iter().map(|bin| Some(bin.info.name.as_str())))
        .text("protocol", bins.iter().map(|bin| Some(bin.info.protocol.as_str())))
        .text("node", bins.iter().map(|bin| Some(bin.info.node.as_str())))
        .number("time_s", bins.iter().map(|bin| Some(bin.block.experiment.bin_end_s(bin.bin))))
        .number("throughput_kbps", bins.iter().map(|bin| bin.series.throughput_kbps.get(bin.bin).copied()))
        .whole("level", bins.iter().map(|bin| bin.series.level.get(bin.bin).copied().flatten()));
    for (at, (name, _)) in FlowSeries::default().columns().into_iter().enumerate().skip(1) {
        let value = move |bin: &Bin<'_>| bin.series.columns()[at].1.get(bin.bin).copied();
        columns = columns.number(name, bins.iter().map(value));
    }
    columns.into_table()
}

/// The samples of probes: a row for each replication, probe, quantity and sample.
pub(crate) fn probes(blocks: &[Block<'_>]) -> PyResult<Table> {
    let mut samples = Vec::new();
    for block in blocks {
        for replication in block.replications {
            for (info, probe) in block.experiment.probes.iter().zip(&replication.probes) {
                for (&quantity, values) in info.quantities.iter().zip(probe) {
                    let all = values.iter().enumerate();
                    samples.extend(
                        all.map(|(at, value)| (block, replication.number, info, quantity, at, *value)),
                    );
                }
            }
        }
    }
    keyed(blocks, samples.iter().map(|sample| sample.0))
        .count("replication", samples.iter().map(|sample| sample.1))
        .text("probe", samples.iter().map(|sample| Some(sample.2.name.as_str())))
        .text("subject", samples.iter().map(|sample| Some(sample.2.subject.as_str())))
        .text("quantity", samples.iter().map(|sample| Some(sample.3)))
        .number("time_s", samples.iter().map(|sample| Some(sample.2.time_s(sample.4))))
        .number("value", samples.iter().map(|sample| Some(sample.5)))
        .into_table()
}
