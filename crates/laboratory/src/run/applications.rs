//! What players of video and calls have measured, at one moment and between two.

use layercast_core::family::Family;
use layercast_core::units::Duration;
use layercast_simulator::{CallDelays, PlayerCounters, Simulation};

use super::world::{WorldFlow, WorldFlowId};
use crate::results::{CallMeasures, FlowMeasures, VideoMeasures};

/// The counters of a flow's application, if it is one that has some.
#[derive(Clone)]
pub(super) enum Application {
    None,
    Player(PlayerCounters),
    Call(Box<CallDelays>),
}

impl Application {
    /// The counters so far.
    pub(super) fn of<F: Family>(simulation: &Simulation<F>, flow: &WorldFlow) -> Application {
        let found = match flow.id {
            WorldFlowId::Receiver(_) => None,
            WorldFlowId::Tcp(id) => simulation.player_counters(id).map(Application::Player),
            WorldFlowId::Udp(id) => {
                simulation.call_delays(id).map(|delays| Application::Call(Box::new(delays.clone())))
            }
            WorldFlowId::Outside => {
                let call = flow.outside().and_then(|known| known.call.clone());
                call.map(|delays| Application::Call(Box::new(delays)))
            }
        };
        found.unwrap_or(Application::None)
    }

    /// Adds the measures of the time since `before`.
    pub(super) fn measure(&self, before: &Application, measures: &mut FlowMeasures) {
        match (self, before) {
            (Application::Player(now), Application::Player(before)) => {
                measures.video = Some(video(now, before));
            }
            (Application::Call(now), Application::Call(before)) => {
                measures.call = Some(call(&now.since(before)))
            }
            _ => {}
        }
    }
}

fn video(now: &PlayerCounters, before: &PlayerCounters) -> VideoMeasures<Option<f64>> {
    let between = |of: fn(&PlayerCounters) -> Duration| of(now).saturating_sub(of(before)).as_secs_f64();
    let (played_s, stalled_s) = (between(|c| c.played), between(|c| c.stalled));
    let bits = (now.fetched_bytes - before.fetched_bytes) as f64 * 8.0;
    let fetched_s = between(|c| c.fetched);
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    VideoMeasures {
        rebuffering: ratio(stalled_s, played_s + stalled_s),
        video_kbps: ratio(bits / 1e3, fetched_s),
        startup_s: now.startup.map(Duration::as_secs_f64),
    }
}

fn call(delays: &CallDelays) -> CallMeasures<Option<f64>> {
    let ms = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
    CallMeasures {
        delay_ms: ms(delays.mean_s()),
        delay_p99_ms: ms(delays.quantile_s(0.99)),
        over_150ms: delays.late_share(),
    }
}
