//! Why a receiver has its rate: what one replication measured of it, and the causes that are counted.

use serde::{Deserialize, Serialize};

pub use layercast_core::contract::Cause;

/// What kept a receiver from a higher level at some moment, by the first of these that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldBack {
    /// It had not started yet.
    NotStarted,
    /// It held no layer.
    NoLayer,
    /// The session has one rate for all receivers: the source sets it.
    Source,
    /// It was still in slow start.
    SlowStart,
    /// It held all layers of the session.
    TopLayer,
    /// The fair rate that it calculates, from loss and round-trip time, was below the next layer's.
    FairRate,
    /// Its last change was downwards, after losses or marks; the protocol calculates no rate.
    Losses,
    /// Nothing but the protocol's own clock: its rate allowed the next layer, or the last change was upwards,
    /// and it waited for a join timer, a hold-down, a synchronisation point or an increase signal.
    Waiting,
}

impl HeldBack {
    /// All of them, in the order in which they are tried.
    pub const ALL: [HeldBack; 8] = [
        HeldBack::NotStarted,
        HeldBack::NoLayer,
        HeldBack::Source,
        HeldBack::SlowStart,
        HeldBack::TopLayer,
        HeldBack::FairRate,
        HeldBack::Losses,
        HeldBack::Waiting,
    ];

    /// As part of a sentence: "held back by".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            HeldBack::NotStarted => "its own start, not reached yet",
            HeldBack::NoLayer => "holding no layer",
            HeldBack::Source => "the source, which sets one rate for all receivers",
            HeldBack::SlowStart => "slow start",
            HeldBack::TopLayer => "the top layer: the session has no more",
            HeldBack::FairRate => "its fair rate, calculated from loss and round-trip time",
            HeldBack::Losses => "losses or marks: its last change was downwards",
            HeldBack::Waiting => "its own timer before the next join",
        }
    }
}

impl HeldBack {
    /// In a word or two, for tables.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            HeldBack::NotStarted => "not started",
            HeldBack::NoLayer => "no layer",
            HeldBack::Source => "the source's one rate",
            HeldBack::SlowStart => "slow start",
            HeldBack::TopLayer => "top layer",
            HeldBack::FairRate => "its fair rate",
            HeldBack::Losses => "losses",
            HeldBack::Waiting => "waiting to join",
        }
    }
}

/// What one replication measured of a receiver in the main window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReceiverMeasures {
    /// From its start to the end of slow start, or to the window's end; none if it has no slow start.
    pub slow_start_s: Option<f64>,
    /// Whether slow start went on at the window's end.
    pub still_in_slow_start: bool,
    /// The mean of its own estimate of the loss rate, over the bins of the time series that have one.
    pub estimated_loss: Option<f64>,
    /// The mean of its own estimate of the round-trip time, in milliseconds.
    pub estimated_rtt_ms: Option<f64>,
    /// The mean of the fair rate that it calculates, in kbit/s.
    pub estimated_rate_kbps: Option<f64>,
    /// How many layers were joined and left within the window, for each cause.
    pub causes: Vec<CauseCount>,
    /// The share of the window, from 0 to 1, that each of [`HeldBack::ALL`] kept it from more.
    pub held_back: [f64; HeldBack::ALL.len()],
}

/// The layers joined and left for one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Layers joined.
    pub joins: u64,
    /// Layers left.
    pub leaves: u64,
}

/// A change of level, for plots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelMark {
    /// When, in seconds.
    pub at_s: f64,
    /// The level before, -1 for none.
    pub from: i32,
    /// The level after.
    pub to: i32,
    /// Why.
    pub cause: Cause,
}
