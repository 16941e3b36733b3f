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

/// Writes a line to standard error. Errors are ignored: there is nowhere to report them.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
