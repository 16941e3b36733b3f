//! Estimators of a receiver: round-trip time, timeouts, losses, loss rates, smoothed rates.
//!
//! The path of a packet: [`SenderClock`] unwraps its time stamp, the layer's [`SequenceTracker`] classifies
//! it and detects lost packets, a [`LossEstimator`] turns both into a loss rate, a
//! [`crate::equation::Formula`] turns that into a rate, and a [`Smoother`] smooths it.
//!
//! Nothing here reads a clock, and nothing allocates per packet once its tables are full.

mod flow_stat;
mod lap;
mod lip;
mod lip_short;
mod loss_config;
mod loss_estimator;
mod loss_event;
mod loss_fraction;
mod loss_intervals;
mod loss_panel;
mod loss_window;
mod rto;
mod rtt;
mod send_time;
mod sequence;
mod smoother;
mod virtual_packets;

pub use flow_stat::FlowStat;
pub use lap::Lap;
pub use lip::Lip;
pub use lip_short::LipShort;
pub use loss_config::{FirstInterval, ImpactAverage, LossConfig, LossMethod};
pub use loss_estimator::LossEstimator;
pub use loss_event::{Boundary, LossOutcome, Packet};
pub use loss_fraction::LossFraction;
pub use loss_intervals::{Interval, LossIntervals, interval_weights};
pub use loss_panel::{LossPanel, PanelConfig};
pub use loss_window::{LossWindow, WindowDecision, WindowScope, window_decision};
pub use rto::{RtoEstimator, RtoRule};
pub use rtt::{MAX_RTT, RttEstimator, RttFilter, rtt_sample};
pub use send_time::{ClockReading, SendTime, SenderClock};
pub use sequence::{ArrivalClass, SequenceCounts, SequenceTracker, lost_send_time, max_gap_for};
pub use smoother::{Smoother, Smoothing, SmoothingConfig};
pub use virtual_packets::{Completed, Fate, ProcessedPackets, VirtualConfig, VirtualLoss, VirtualPackets};
