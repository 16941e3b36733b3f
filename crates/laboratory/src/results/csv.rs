//! Statistics as comma-separated values: a line for each window, subject and metric.

use serde::Serialize;
use serde_json::Value;

use super::summary::Summary;

/// The columns behind those of the caller.
const COLUMNS: [&str; 8] = ["from_s", "to_s", "kind", "name", "metric", "mean", "ci95", "replications"];

/// A table that is being filled.
#[derive(Debug)]
pub struct Csv {
    writer: csv::Writer<Vec<u8>>,
}

impl Csv {
    /// An empty one, whose first columns have these names.
    #[must_use]
    pub fn new<'a>(first: impl IntoIterator<Item = &'a str>) -> Csv {
        let mut csv = Csv { writer: csv::Writer::from_writer(Vec::new()) };
        csv.line(first, &COLUMNS.map(str::to_owned));
        csv
    }

    /// Adds all that a run measured, in every window.
    pub fn add(&mut self, first: &[&str], summary: &Summary) {
        let further = summary.windows.iter().map(|of| (of.window_s, &of.flows, &of.groups, &of.links));
        let main = (summary.window_s, &summary.flows, &summary.groups, &summary.links);
        for (window_s, flows, groups, links) in std::iter::once(main).chain(further) {
            flows.iter().for_each(|flow| self.subject(first, window_s, "flow", flow));
            groups.iter().for_each(|group| self.subject(first, window_s, "group", group));
            links.iter().for_each(|link| self.subject(first, window_s, "link", link));
        }
    }

    /// Adds each statistic among the fields of something with a `name`.
    pub fn subject(&mut self, first: &[&str], window_s: [f64; 2], kind: &str, subject: &impl Serialize) {
        let Ok(Value::Object(fields)) = serde_json::to_value(subject) else { return };
        let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
        for (metric, statistic) in &fields {
            let (Some(mean), Some(samples)) = (statistic.get("mean"), statistic.get("samples")) else {
                continue;
            };
            let defined = samples.as_array().into_iter().flatten().filter(|sample| !sample.is_null()).count();
            let number = |value: Option<&Value>| match value {
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            };
            let [from, to] = window_s.map(|second| second.to_string());
            let (mean, ci95) = (number(Some(mean)), number(statistic.get("ci95")));
            let (kind, name, metric) = (kind.to_owned(), name.to_owned(), metric.clone());
            let cells = [from, to, kind, name, metric, mean, ci95, defined.to_string()];
            self.line(first.iter().copied(), &cells);
        }
    }

    fn line<'a>(&mut self, first: impl IntoIterator<Item = &'a str>, rest: &[String; 8]) {
        let mut cells: Vec<&str> = first.into_iter().collect();
        cells.extend(rest.iter().map(String::as_str));
        // Memory takes everything, and all lines have the same number of cells.
        let _ = self.writer.write_record(cells);
    }

    /// The text.
    #[must_use]
    pub fn finish(self) -> String {
        let bytes = self.writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
