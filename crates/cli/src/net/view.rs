//! What a receiver shows on a terminal: a few lines under the bar, with its last decisions in words.

use std::collections::VecDeque;
use std::fmt::Write as _;

use layercast_core::contract::{Cause, Estimates, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::units::{Level, Rate, RateEstimate};
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::session::Session;
use layercast_transport::event::{ReceiveProgress, Trace};
use layercast_transport::host::LeaveCounters;

use crate::output::{in_bytes, one_line};

/// How many decisions are shown.
const DECISIONS: usize = 3;

/// What is known besides the progress.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The rates of the levels.
    layers: Option<LayerTable>,
    decisions: VecDeque<String>,
}

impl View {
    /// Sets the session.
    pub(crate) fn session(&mut self, session: &Session) {
        self.layers = Some(session.levels());
    }

    /// Adds a decision, if this is one.
    pub(crate) fn decided(&mut self, Trace { at, note, estimates }: &Trace) {
        let what = match note {
            ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause }) => {
                let verb = if to > from { "up" } else { "down" };
                format!("{verb} to level {to}{}: {}", self.rate(*to), self.because(*cause, estimates))
            }
            ReceiverNote::Trace(TraceEvent::JoinAttempt { to, joined: false }) => {
                format!("an attempt to reach level {to} failed")
            }
            ReceiverNote::Trace(TraceEvent::SlowStartEnded { level }) => {
                format!("slow start ended at level {level}")
            }
            ReceiverNote::Joined(_) | ReceiverNote::Left(_) | ReceiverNote::Trace(_) => return,
        };
        if self.decisions.len() == DECISIONS {
            self.decisions.pop_front();
        }
        self.decisions.push_back(format!("{:>7.1} s  {what}", at.as_secs_f64()));
    }

    fn rate(&self, level: Level) -> String {
        self.layers
            .as_ref()
            .map_or(String::new(), |layers| format!(" ({})", rounded(layers.rate_of(level).as_bps())))
    }

    /// The lines under the bar.
    pub(crate) fn lines(&self, progress: &ReceiveProgress) -> String {
        let (objects, estimates) = (&progress.objects, &progress.estimates);
        let count = self.layers.as_ref().map_or(0, LayerTable::count);
        let held = estimates.level.as_number() + 1;
        let bar: String = (0..count).map(|layer| if i32::from(layer) < held { '#' } else { '-' }).collect();
        let rtt =
            estimates.rtt.map_or("unknown".to_owned(), |rtt| format!("{:.0} ms", rtt.as_secs_f64() * 1e3));
        // By symbols: those of a file need not have its last byte.
        let held_bytes = objects.bytes as f64 * objects.held as f64 / objects.needed.max(1) as f64;
        let mut text = format!(
            "{}, {} of {}, about {:.0} s left\nlevel {} [{bar}]{}, {} in, fair {}\n\
             packets lost {}, loss event rate {}, round-trip time {rtt}{}",
            files(progress),
            in_bytes(held_bytes as u64),
            in_bytes(objects.bytes),
            left_s(progress),
            estimates.level,
            self.rate(estimates.level),
            rounded(progress.goodput_bps),
            self.fair(estimates),
            percent(progress.packets_lost),
            percent(estimates.loss),
            leaves(&progress.counters.leaves),
        );
        for decision in &self.decisions {
            let _ = write!(text, "\n{decision}");
        }
        text
    }

    /// Why a level changed, in words.
    fn because(&self, cause: Cause, estimates: &Estimates) -> String {
        match cause {
            Cause::RateAbove => format!("its fair rate, {}, carries the next layer", self.fair(estimates)),
            Cause::RateBelow => format!("its fair rate, {}, is below the level", self.fair(estimates)),
            Cause::Loss => "packets were lost".to_owned(),
            Cause::SilentLayer => "the layer carried no packets".to_owned(),
            other => other.to_string(),
        }
    }

    /// The fair rate as text. Without losses it is computed far above what a session can show.
    pub(crate) fn fair(&self, estimates: &Estimates) -> String {
        let top = self.layers.as_ref().map_or(f64::INFINITY, |layers| layers.top_rate().as_bps());
        match estimates.smoothed_rate {
            RateEstimate::Known(rate) if rate.as_bps() > top => format!("at least {}", rounded(top)),
            RateEstimate::Known(rate) => rounded(rate.as_bps()).to_string(),
            RateEstimate::Unbounded => "unbounded".to_owned(),
            RateEstimate::Unknown => "unknown".to_owned(),
        }
    }
}

/// Which file is received, or how many are done.
pub(crate) fn files(progress: &ReceiveProgress) -> String {
    let objects = &progress.objects;
    match &progress.name {
        Some(name) => one_line(name),
        None => format!("{} of {} files", objects.complete + objects.failed, objects.objects),
    }
}

/// How long leaves take, where that is known.
fn leaves(counters: &LeaveCounters) -> String {
    let Some(longest) = counters.longest else { return String::new() };
    let last = counters.last.unwrap_or(longest);
    let ms = |time: layercast_core::units::Duration| time.as_secs_f64() * 1e3;
    format!("\nleaves take {:.0} ms, {:.0} ms at most of {}", ms(last), ms(longest), counters.watched)
}

/// A share as text.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or("unknown".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// How many seconds are left at the mean rate so far.
pub(crate) fn left_s(progress: &ReceiveProgress) -> f64 {
    // Symbols that an earlier receiver left took no time.
    let mean = progress.assembly.useful as f64 / progress.elapsed.as_secs_f64().max(1e-3);
    progress.objects.needed.saturating_sub(progress.objects.held) as f64 / mean.max(1e-3)
}

/// A rate rounded to 10 kbit/s for display.
pub(crate) fn rounded(bps: f64) -> Rate {
    Rate::from_bps((bps / 1e4).round() * 1e4)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_fair_rate_above_the_session_is_no_number() {
        let layers = LayerTable::doubling(Rate::from_bps(128e3), 4).expect("layers");
        let view = View { layers: Some(layers), ..View::default() };
        let of = |bps| {
            let smoothed_rate = RateEstimate::Known(Rate::from_bps(bps));
            view.fair(&Estimates { smoothed_rate, ..Estimates::default() })
        };
        assert_eq!((of(8.5e9).as_str(), of(6e5).as_str()), ("at least 1.02 Mbit/s", "600 kbit/s"));
    }

    #[test]
    fn the_last_three_decisions_are_shown_in_words() {
        let layers = LayerTable::doubling(Rate::from_bps(128e3), 4).expect("layers");
        let mut view = View { layers: Some(layers), ..View::default() };
        let estimates =
            Estimates { smoothed_rate: RateEstimate::Known(Rate::from_bps(6e5)), ..Estimates::default() };
        for count in 0..4 {
            let (from, to) = (Level::from_count(count), Level::from_count(count + 1));
            let note = ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause: Cause::RateAbove });
            view.decided(&Trace { at: Duration::from_secs(u64::from(count)), note, estimates });
        }
        let shown: Vec<&str> = view.decisions.iter().map(String::as_str).collect();
        assert_eq!(shown.len(), DECISIONS);
        assert_eq!(
            shown.last(),
            Some(
                &"    3.0 s  up to level 3 (1.02 Mbit/s): its fair rate, 600 kbit/s, carries the next layer"
            )
        );
    }
}
