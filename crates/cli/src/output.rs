//! Results go to standard output, warnings to standard error.

use std::io::{self, Write};

use anyhow::Context;

/// Writes to standard output. A closed pipe (`layercast list | head -1`) is not an error; a full disk
/// is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
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

/// Writes a line to standard error. Errors are ignored: there is nowhere to report them.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
