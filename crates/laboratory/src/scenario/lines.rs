//! The lines of a text.

/// Where the lines of a text start, so that finding the line of a byte does not read the text again.
#[derive(Debug)]
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn of(text: &str) -> LineStarts {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineStarts(std::iter::once(0).chain(after_breaks).collect())
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte)
    }

    /// The first byte of a line, counted from 1.
    pub(super) fn start(&self, line: usize) -> usize {
        self.0.get(line.saturating_sub(1)).copied().unwrap_or(0)
    }
}
