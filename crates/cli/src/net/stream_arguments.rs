//! Arguments of `layercast send --stream` and `layercast receive --stream`.

use std::path::PathBuf;

use clap::Args;
use layercast_core::units::{Duration, Size};

/// How inputs are divided into units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnitSize {
    Fixed(
        #[cfg_attr(
            not(all(feature = "transport", target_os = "linux")),
            allow(dead_code, reason = "only the transport sends")
        )]
        Size,
    ),
    /// Each is preceded by its length.
    Length,
}

#[derive(Debug, Args)]
pub(crate) struct StreamSend {
    /// Send live data, each PATH in a layer of its own from the base up: files, named pipes, or - for standard input
    /// (docs/streams.md)
    #[arg(long)]
    pub(crate) stream: bool,

    /// Deliver a unit of live data within this time, or not at all
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    pub(crate) deadline: Duration,

    /// What is delivered whole or not at all: units of this size, or `length` if each is preceded by its length in 32 bits
    #[arg(long, value_name = "SIZE", default_value = "1316 bytes", value_parser = units)]
    pub(crate) units: UnitSize,

    /// Repair symbols of live data for each packet of it, for losses; 0 for none
    #[arg(long, value_name = "SHARE", default_value_t = 0.15, value_parser = share)]
    pub(crate) repair: f64,
}

#[derive(Debug, Args)]
pub(crate) struct StreamReceive {
    /// Receive live data, each layer to an output of its own (docs/streams.md)
    #[arg(long)]
    pub(crate) stream: bool,

    /// The output of a layer, from the base up, in place of --into: a file, a named pipe, or - for standard output; repeated
    /// for each layer, and layers without one are dropped
    #[arg(long = "output", value_name = "PATH")]
    pub(crate) outputs: Vec<PathBuf>,
}

fn units(text: &str) -> Result<UnitSize, String> {
    match text {
        "length" => Ok(UnitSize::Length),
        size => size.parse().map(UnitSize::Fixed).map_err(|error| format!("{error}; or `length`")),
    }
}

/// A share of repair symbols.
fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a number from 0 to 1".to_owned())
}
