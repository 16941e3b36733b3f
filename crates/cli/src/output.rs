//! Where words go: answers to standard output, complaints to standard error.

use std::io::{self, Write};

use anyhow::Context;

/// Writes to standard output. A reader that went away early (`layercast list | head -1`) has what it
/// wanted, so that is no failure; a full disk is one.
pub(crate) fn tell(text: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("the output could not be written"),
    }
}

/// Writes a line to standard error. If that is closed there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
