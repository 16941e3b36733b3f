//! A progress bar with an estimate of what is left, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of the bar from start to end.
const STEPS: u64 = 1000;

/// A progress bar. It is hidden with `--quiet` and when standard error is not a terminal.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(what: String, quiet: bool) -> Progress {
        let silent = quiet || !std::io::stderr().is_terminal();
        let target =
            if silent { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Progress(bar)
    }

    /// Sets the fraction done, from 0 to 1.
    pub(crate) fn set(&self, share: f64) {
        // Replications run in parallel, so an update may be out of date: never go back.
        let position = (share * STEPS as f64) as u64;
        if position > self.0.position() {
            self.0.set_position(position);
        }
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
