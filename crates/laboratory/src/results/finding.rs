//! What a lint found in a scenario or its results.

/// Something that makes results doubtful, though the scenario can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the lint, such as `base-above-link`.
    pub lint: &'static str,
    /// What it is about: `session elm`, `link G-R1`, `flow web`, `scenario`.
    pub subject: String,
    /// The line of the scenario file where that is, from 1; none where no line has it, as with `--set`.
    pub line: Option<usize>,
    /// What is doubtful, a sentence.
    pub message: String,
    /// What to do about it, a sentence.
    pub remedy: String,
}
