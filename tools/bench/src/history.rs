//! One line for each case of each run, so that a change of speed can be dated.

use std::fs;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::measurement::Measurement;
use crate::peer;
use crate::row::{Column, Row};

/// The columns, those of the peers last.
fn head() -> String {
    let own =
        ["unix_time", "commit", "case", "hops_per_cpu_s", "instructions_per_hop", "peak_bytes", "build"];
    let peers = peer::NAMES.map(|name| format!("times_{}", name.replace('-', "_")));
    own.map(str::to_owned).into_iter().chain(peers).collect::<Vec<_>>().join("\t")
}

/// Adds the rows to the file, which is created if missing: medians, and how many times as fast as each peer.
pub(crate) fn add(root: &Path, file: &Path, rows: &[Row]) -> Result<()> {
    let head = head();
    let new = !file.exists();
    if !new {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        if text.lines().next() != Some(&head) {
            bail!(
                "{} has other columns; its first line must be {head:?}, or name another file",
                file.display()
            );
        }
    }
    let mut out = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("cannot add to {}", file.display()))?;
    if new {
        writeln!(out, "{head}")?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let commit = commit(root);
    for row in rows {
        for column in row.columns.iter().filter(|column| column.ours) {
            writeln!(out, "{now}\t{commit}\t{}", line(row, column))?;
        }
    }
    Ok(())
}

/// What follows the commit in a line.
fn line(row: &Row, column: &Column) -> String {
    let or_empty =
        |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let speed = column.spread(Measurement::hops_per_s).map(|spread| spread.median);
    let times = peer::NAMES.map(|name| {
        let other = row.columns.iter().find(|other| other.name == name);
        or_empty(other.and_then(|other| column.times(other)).map(|spread| spread.median), 2)
    });
    let own = [
        row.case.to_string(),
        or_empty(speed, 0),
        or_empty(column.instructions_per_hop, 1),
        column.peak_bytes().map_or(String::new(), |bytes| bytes.to_string()),
        column.name.to_owned(),
    ];
    own.into_iter().chain(times).collect::<Vec<_>>().join("\t")
}

/// The measured commit, if git reports it; a `+` means that files differ from it.
fn commit(root: &Path) -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty=+"]).current_dir(root).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn row() -> Row {
        let run = |run_s| Measurement { set_up_s: 0.0, run_s, hops: 100, deliveries: 0, peak_bytes: Some(7) };
        let column =
            |name, ours, run_s| Column { name, ours, runs: vec![run(run_s)], instructions_per_hop: None };
        let case = Case::Dumbbell { connections: 1, mbps: 2, seconds: 3 };
        Row { case, columns: vec![column("plain", true, 1.0), column("ns-2", false, 6.0)] }
    }

    #[test]
    fn a_line_has_a_field_for_each_column() {
        let row = row();
        let line = format!("0\tcommit\t{}", line(&row, &row.columns[0]));
        assert_eq!(line.split('\t').count(), head().split('\t').count());
        assert!(line.ends_with("\t100\t\t7\tplain\t\t6.00"), "{line}");
    }

    #[test]
    fn the_projects_own_history_has_these_columns() {
        let text = include_str!("../../../docs/performance-history.tsv");
        let columns = head().split('\t').count();
        assert_eq!(text.lines().next(), Some(head().as_str()));
        for line in text.lines() {
            assert_eq!(line.split('\t').count(), columns, "{line}");
        }
    }

    #[test]
    fn a_file_with_other_columns_is_left_alone() {
        let file = std::env::temp_dir().join(format!("layercast-bench-{}.tsv", std::process::id()));
        fs::write(&file, "unix_time\tcommit\n").unwrap();
        let error = add(Path::new("."), &file, &[row()]).err().unwrap().to_string();
        let kept = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert!(error.contains("other columns") && kept == "unix_time\tcommit\n", "{error}");
    }
}
