//! A trace, read line by line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use layercast_laboratory::results::note::NoteLine;

/// The longest line, in bytes.
const LONGEST: u64 = 1 << 16;

/// A trace that is being read.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    name: String,
    line: Vec<u8>,
    number: u64,
    /// The last time of each receiver.
    last: BTreeMap<u32, BTreeMap<String, f64>>,
    /// Whether the last line was cut off, as a receiver leaves it that is killed while it writes.
    pub(super) is_torn: bool,
}

/// The file of a trace: in a directory of results, its notes.
pub(super) fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("notes.jsonl") } else { path.to_owned() }
}

/// Opens a trace.
///
/// # Errors
/// A text for the user.
pub(super) fn open(path: &Path) -> Result<Lines<BufReader<File>>, String> {
    let file = File::open(path).map_err(|error| {
        format!(
            "error: {}: {error}\n  = help: `layercast run SCENARIO --out DIR --notes` and `layercast receive --trace \
             FILE` write traces",
            path.display()
        )
    })?;
    Ok(Lines::new(BufReader::new(file), path.display().to_string()))
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, name: String) -> Lines<R> {
        Lines { reader, name, line: Vec::new(), number: 0, last: BTreeMap::new(), is_torn: false }
    }

    /// The next line; none at the end.
    ///
    /// # Errors
    /// A text for the user, with the number of the line.
    pub(super) fn next(&mut self) -> Result<Option<NoteLine<'static>>, String> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = self.reader.by_ref().take(LONGEST + 1).read_until(b'\n', &mut self.line);
            let count = read.map_err(|error| self.wrong(&error.to_string()))?;
            if count == 0 {
                return Ok(None);
            }
            let is_whole = self.line.ends_with(b"\n");
            if !is_whole && count as u64 > LONGEST {
                return Err(self.wrong(&format!("it is longer than {LONGEST} bytes")));
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(&self.line) {
                Ok(line) => return self.checked(line).map(Some),
                Err(error) if !is_whole && error.is_eof() => {
                    self.is_torn = true;
                    return Ok(None);
                }
                Err(error) => {
                    let text = error.to_string();
                    let what = text.split(" at line ").next().unwrap_or_default();
                    let column = if error.column() > 0 {
                        format!(", column {}", error.column())
                    } else {
                        String::new()
                    };
                    return Err(self.wrong(&format!("{what}{column}")));
                }
            }
        }
    }

    /// Times do not go back.
    fn checked(&mut self, line: NoteLine<'static>) -> Result<NoteLine<'static>, String> {
        if !line.time_s.is_finite() || line.time_s < 0.0 {
            return Err(self.wrong("`time_s` is negative"));
        }
        let receivers = self.last.entry(line.replication).or_default();
        let last = match receivers.get_mut(line.flow.as_ref()) {
            Some(last) => std::mem::replace(last, line.time_s),
            None => receivers.insert(line.flow.to_string(), line.time_s).unwrap_or_default(),
        };
        if line.time_s < last {
            return Err(self.wrong(&format!(
                "its time, {} s, is before that of an earlier line of {}, {last} s: are these two traces in one file?",
                line.time_s, line.flow
            )));
        }
        Ok(line)
    }

    fn wrong(&self, what: &str) -> String {
        format!(
            "error: {}: line {}: {what}\n  = help: each line is an event with replication, time_s, flow and event, as \
             docs/results.md says",
            self.name, self.number
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many lines a text has as a trace, and whether it is torn; or its error.
    fn read(text: &[u8]) -> Result<(usize, bool), String> {
        let mut lines = Lines::new(text, "t".to_owned());
        let mut count = 0;
        while lines.next()?.is_some() {
            count += 1;
        }
        Ok((count, lines.is_torn))
    }

    const LINE: &str =
        r#"{"replication":1,"time_s":2,"flow":"a","event":"loss_event","layer":0,"first_lost":1}"#;

    #[test]
    fn a_line_that_is_cut_off_at_the_end_is_left_out_and_elsewhere_an_error() {
        let torn = format!("{LINE}\n{}", &LINE[..40]);
        assert_eq!(read(torn.as_bytes()), Ok((1, true)));
        assert_eq!(read(LINE.as_bytes()), Ok((1, false)));
        let error = read(format!("{torn}\n{LINE}\n").as_bytes()).expect_err("an error");
        assert!(error.starts_with("error: t: line 2: "), "{error}");
    }

    #[test]
    fn events_and_fields_of_later_versions_are_read() {
        let line = r#"{"replication":1,"time_s":2,"flow":"a","event":"eclipse","moon":[1]}"#;
        assert_eq!(read(line.as_bytes()), Ok((1, false)));
        assert_eq!(read(LINE.replace("\"layer\"", "\"more\":{},\"layer\"").as_bytes()), Ok((1, false)));
    }

    #[test]
    fn wrong_lines_are_named() {
        let wrong = |text: &str| read(text.as_bytes()).expect_err("an error");
        let without = wrong(&format!("{LINE}\n\n{}\n", LINE.replace(",\"layer\":0", "")));
        assert!(without.starts_with("error: t: line 3: missing field `layer`"), "{without}");
        let text = wrong("hello\n");
        assert!(text.starts_with("error: t: line 1: expected value, column 1"), "{text}");
        let back = wrong(&format!("{LINE}\n{}\n", LINE.replace("\"time_s\":2", "\"time_s\":1")));
        assert!(
            back.contains("line 2: its time, 1 s, is before that of an earlier line of a, 2 s"),
            "{back}"
        );
        let long = wrong(&"x".repeat(LONGEST as usize * 2));
        assert!(long.contains("line 1: it is longer than 65536 bytes"), "{long}");
        let negative = wrong(&LINE.replace("\"time_s\":2", "\"time_s\":-1"));
        assert!(negative.contains("line 1: `time_s` is negative"), "{negative}");
    }
}
