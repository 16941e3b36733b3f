//! Results go to standard output, warnings to standard error. Names and reasons come from the network and from disks: what a
//! terminal would obey in them is escaped here.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;

/// Writes to standard output. A closed pipe (`layercast list | head -1`) is not an error; a full disk
/// is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let text = escaped(text, &['\n', '\t']);
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("the output could not be written"),
    }
}

/// How many columns the terminal has that standard output is; no limit where it is none, such as a file.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(usize::MAX, |(width, _)| usize::from(width.0))
}

/// Says which files were written: on standard error where standard output has values for other programs.
pub(crate) fn print_written(csv: bool, text: &str) -> anyhow::Result<()> {
    if csv {
        complain(text.trim());
        return Ok(());
    }
    print(text)
}

/// Writes a line to standard error, which stays one line whatever it is about. Errors are ignored: there is nowhere to report
/// them.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", one_line(text));
}

/// Writes a text of several lines to standard error.
pub(crate) fn complain_lines(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text, &['\n', '\t']));
}

/// A text that shows all that is in it, in one line.
pub(crate) fn one_line(text: &str) -> String {
    escaped(text, &[])
}

/// A text without control characters but those that are kept, and without those that change the direction of what follows. Each is
/// written as in JSON, where it means the same.
fn escaped(text: &str, kept: &[char]) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        let changes_order = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (char.is_control() || changes_order) && !kept.contains(&char) {
            let _ = write!(shown, "\\u{:04x}", u32::from(char));
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Checks that results can be written to the directory. A long run should not start if they cannot.
pub(crate) fn prepare(directory: &Path) -> anyhow::Result<()> {
    let probe = directory.join(".layercast-probe");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe))
        .with_context(|| format!("nothing can be written to the directory {}", directory.display()))
}

/// A number of things in words, such as "1 node" and "2 nodes".
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Bytes with three digits.
pub(crate) fn in_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1000.0, Some(next));
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {}", unit.unwrap_or(&"PB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        let sizes = [0, 999, 1000, 12_345, 999_600, 4_700_000_000].map(in_bytes);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.00 kB", "12.3 kB", "1.00 MB", "4.70 GB"]);
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        // Escape and its 8-bit form, a new line, delete, and a name whose end is shown first.
        let name = "a\u{1b}[2J\u{9b}31m\nimage.iso: complete\u{7f}\u{202e}gpj.exe\u{2066}";
        let shown = "a\\u001b[2J\\u009b31m\\u000aimage.iso: complete\\u007f\\u202egpj.exe\\u2066";
        assert_eq!(one_line(name), shown);
        assert_eq!(escaped(name, &['\n']), shown.replace("\\u000a", "\n"));
        // In JSON it is the same text as before.
        let json = escaped(&serde_json::to_string(name).unwrap(), &['\n']);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        assert_eq!(
            one_line("a 'plain' \\ \u{e9}\u{301} \u{5d0} name"),
            "a 'plain' \\ \u{e9}\u{301} \u{5d0} name"
        );
    }
}
