//! What sessions need of the terminal: a status line, and signals that end them.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use layercast_transport::Notice;

use crate::failure::Failure;
use crate::output::complain;

/// A flag that SIGINT and SIGTERM set. A second signal ends the process at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag))
        .and_then(|_| signal_hook::flag::register_conditional_shutdown(SIGTERM, 143, Arc::clone(&flag)))
        .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&flag)))
        .and_then(|_| signal_hook::flag::register(SIGTERM, Arc::clone(&flag)))
        .context("signals cannot be caught")?;
    Ok(flag)
}

/// A status line, shown on a terminal only.
pub(crate) fn line(quiet: bool, length: Option<u64>) -> ProgressBar {
    let silent = quiet || !std::io::stderr().is_terminal();
    let target = if silent { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
    let template = if length.is_some() { "{wide_bar} {percent:>3} %\n{msg}" } else { "{spinner} {msg}" };
    let bar = ProgressBar::with_draw_target(length, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Shows a notice above the status line.
pub(crate) fn note(bar: &ProgressBar, notice: &Notice) {
    let kind = if notice.is_warning() { "warning" } else { "note" };
    bar.suspend(|| complain(&format!("{kind}: {notice}")));
}
