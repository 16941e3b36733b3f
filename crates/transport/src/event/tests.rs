use std::time::Duration as StdDuration;

use layercast_core::contract::{Cause, Estimates, TraceEvent};
use layercast_core::units::{Channel, Duration, Level, Rate, RateEstimate};
use layercast_delivery::listing::InstanceError;
use layercast_delivery::node::{ReceiverNote, SourceCounters};
use layercast_delivery::object::TableError;
use layercast_delivery::reception::{ObjectError, ReceptionEvent};
use layercast_delivery::stream::{Gap, GapCause, LayerCounters};
use serde_json::{Value, json};

use super::*;
use crate::error::Error;

fn parsed(event: &Event) -> Value {
    serde_json::to_value(event).unwrap_or_default()
}

#[test]
fn objects_have_names_of_their_own() {
    let path = || "a".to_owned();
    let resumed = ReceptionEvent::Resumed { path: path(), held: 1, needed: 2 };
    let expected = json!({"event": "object_resumed", "path": "a", "symbols_held": 1, "symbols_needed": 2});
    assert_eq!(parsed(&Event::Object(resumed)), expected);
    let failed = ReceptionEvent::Failed { path: path(), reason: ObjectError::Parts };
    let expected = json!({"event": "object_failed", "path": "a", "text": ObjectError::Parts.to_string()});
    assert_eq!(parsed(&Event::Object(failed)), expected);
    let error = InstanceError::Table(TableError::Xml);
    let expected = json!({"event": "table_rejected", "text": error.to_string()});
    assert_eq!(parsed(&Event::Object(ReceptionEvent::Rejected(error))), expected);
}

#[test]
fn numbers_have_six_decimals_and_what_is_unknown_is_left_out() {
    let mut progress = SendProgress {
        counters: SourceCounters { refused: 3, bad_feedback: 4, completions: 9, ..SourceCounters::default() },
        rounds: 1.0 / 3.0,
        completions: 5,
        ..SendProgress::default()
    };
    let expected = json!({
        "event": "progress", "packets": 0, "bytes": 0, "packets_refused": 3, "reports": 0, "reception_reports": 0,
        "demands": 0, "feedback_rejected": 4, "feedback_forged": 0, "rounds": 0.333_333, "receivers_complete": 5,
        "level": -1
    });
    assert_eq!(parsed(&Event::Progress(progress.into())), expected);
    progress.rounds = f64::NAN;
    assert_eq!(parsed(&Event::Progress(progress.into())).get("rounds"), None);
}

#[test]
fn a_change_of_level_has_its_cause_and_the_estimates() {
    let estimates = Estimates {
        level: Level::from_count(2),
        smoothed_rate: RateEstimate::Known(Rate::from_bps(2e6)),
        loss: Some(0.25),
        rtt: Some(Duration::from_ms(2)),
        ..Estimates::default()
    };
    let (from, to) = (Level::NONE, Level::from_count(1));
    let note = ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause: Cause::SlowStart });
    let trace = |note| Event::Trace(Box::new(Trace { at: StdDuration::ZERO, note, estimates }));
    let expected = json!({
        "event": "level_changed", "from": -1, "to": 0, "cause": "slow start", "level": 1, "fair_bps": 2e6,
        "loss": 0.25, "rtt_ms": 2.0
    });
    assert_eq!(parsed(&trace(note)), expected);
    let joined = parsed(&trace(ReceiverNote::Joined(Channel(3))));
    assert_eq!((&joined["event"], &joined["channel"]), (&"join".into(), &3.into()));
}

#[test]
fn a_layer_of_a_stream_has_its_units_and_delays() {
    let counters = LayerCounters {
        units: 2,
        late: 1,
        delay_sum_us: 2500,
        delay_max_us: 2000,
        malformed: 7,
        ..LayerCounters::default()
    };
    let layer = |counters| serde_json::to_value(StreamLayerReceived { counters, unwritten: 3 });
    let expected = json!({
        "units": 2, "bytes": 0, "units_lost": 0, "units_late": 1, "units_absent": 0, "units_unwritten": 3,
        "blocks_repaired": 0, "delay_ms": 1.25, "delay_max_ms": 2.0
    });
    assert_eq!(layer(counters).unwrap_or_default(), expected);
    assert_eq!(layer(LayerCounters::default()).unwrap_or_default().get("delay_ms"), None);
    let gap = Event::Gap { layer: 1, gap: Gap { units: 2, cause: GapCause::Absent } };
    assert_eq!(parsed(&gap), json!({"event": "gap", "layer": 1, "units": 2, "cause": "absent"}));
}

#[test]
fn an_end_has_its_reason_and_the_progress() {
    let failed: Result<ReceiveProgress, Error> = Err(Error::Interrupted);
    let end = |end| parsed(&Event::End(Box::new(end)));
    let expected = json!({"event": "end", "reason": "interrupted", "text": "interrupted"});
    assert_eq!(end(End::of(&failed)), expected);
    let progress = Some(Progress::from(SendProgress::default()));
    let ended =
        end(End { reason: "time", exit_status: Some(0), withdrawn: Some(2), progress, ..End::default() });
    assert_eq!((&ended["exit_status"], &ended["objects_withdrawn"]), (&0.into(), &2.into()));
    assert_eq!((&ended["packets"], &ended["level"]), (&0.into(), &(-1).into()));
}
