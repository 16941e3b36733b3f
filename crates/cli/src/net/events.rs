//! The events of `--json`: one JSON object per line. `docs/events.md` is their description.

mod stream;

use std::fmt::Write as _;
use std::time::Duration;

use layercast_core::contract::{Estimates, TraceEvent};
use layercast_core::units::{RateEstimate, Time};
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::reception::ReceptionEvent;
use layercast_delivery::reporting::KnownReceiver;
use layercast_delivery::security::protection::Rejection;
use layercast_delivery::session::Session;
use layercast_transport::receive::ReceiveProgress;
use layercast_transport::send::{Reception, SendProgress, Sent};
use layercast_transport::{Error, Notice};

use crate::net::reception;

/// How many receivers an event lists.
const SLOWEST: usize = 20;

/// An object of JSON in the making, whose fields stay in order.
#[derive(Debug)]
pub(crate) struct Line(String);

fn milliseconds(time: layercast_core::units::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Line {
    /// Begins an event at a time after the start of the program, and of the day (seconds since 1970).
    pub(crate) fn new(event: &str, elapsed: Duration, unix: Duration) -> Line {
        let line = Line(format!("{{\"event\":\"{event}\""));
        line.number("time_s", elapsed.as_secs_f64()).number("unix_s", unix.as_secs_f64())
    }

    fn raw(mut self, name: &str, value: impl std::fmt::Display) -> Line {
        let _ = write!(self.0, ",\"{name}\":{value}");
        self
    }

    fn text(self, name: &str, value: &str) -> Line {
        self.raw(name, serde_json::Value::from(value))
    }

    fn count(self, name: &str, value: impl TryInto<u64>) -> Line {
        self.raw(name, value.try_into().unwrap_or(u64::MAX))
    }

    /// A number, to a millionth; nothing if it is not finite.
    fn number(self, name: &str, value: f64) -> Line {
        if !value.is_finite() {
            return self;
        }
        let rounded = (value * 1e6).round() / 1e6;
        self.raw(name, serde_json::Value::from(if rounded.is_finite() { rounded } else { value }))
    }

    fn number_if(self, name: &str, value: Option<f64>) -> Line {
        match value {
            Some(value) => self.number(name, value),
            None => self,
        }
    }

    fn session(self, session: &Session) -> Line {
        let levels = session.levels();
        let rate = |layer| levels.cumulative(layer).as_bps().round().to_string();
        let rates: Vec<String> = levels.layers().map(rate).collect();
        self.text("protocol", &session.protocol)
            .text("source", &session.source.to_string())
            .text("group", &session.group.to_string())
            .count("session", session.tsi)
            .count("packet_bytes", session.packet.as_bytes())
            .raw("layers_bps", format_args!("[{}]", rates.join(",")))
    }

    fn estimates(self, estimates: &Estimates) -> Line {
        let fair = match estimates.smoothed_rate {
            RateEstimate::Known(rate) => Some(rate.as_bps()),
            RateEstimate::Unbounded | RateEstimate::Unknown => None,
        };
        self.raw("level", estimates.level.as_number())
            .number_if("fair_bps", fair)
            .number_if("loss", estimates.loss)
            .number_if("rtt_ms", estimates.rtt.map(|rtt| rtt.as_secs_f64() * 1e3))
    }

    /// `hashing`.
    pub(crate) fn hashing(self, done: u64, of: u64) -> String {
        self.count("bytes", done).count("bytes_total", of).end()
    }

    /// `ready`.
    pub(crate) fn ready(self, session: &Session, objects: usize, url: Option<&str>) -> String {
        let line = self.session(session).count("objects", objects);
        match url {
            Some(url) => line.text("url", url).end(),
            None => line.end(),
        }
    }

    /// `session`.
    pub(crate) fn found(self, session: &Session) -> String {
        self.session(session).end()
    }

    /// `notice`.
    pub(crate) fn notice(self, notice: &Notice) -> String {
        self.text("name", notice.name())
            .raw("warning", notice.is_warning())
            .text("text", &notice.to_string())
            .end()
    }

    /// What a source has done, for `progress` and `end`.
    pub(crate) fn sending(self, progress: &SendProgress) -> Line {
        let counters = &progress.counters;
        self.count("packets", counters.packets)
            .count("bytes", counters.bytes)
            .count("packets_refused", counters.refused)
            .number("rounds", progress.rounds)
            .count("reports", counters.reports)
            .count("feedback_rejected", counters.bad_feedback)
            .count("feedback_forged", counters.forged_feedback)
            .count("reception_reports", counters.reception_reports)
            .count("demands", counters.demands)
            .count("receivers_complete", progress.completions)
            .estimates(&progress.estimates)
    }

    /// What is known of receivers, for `reception` and `end`.
    pub(crate) fn reception(self, reception: &Reception) -> Line {
        let summary = &reception.summary;
        let slowest: Vec<String> = summary
            .slowest
            .iter()
            .take(SLOWEST)
            .map(|known| Line(String::new()).receiver(known, reception.at).object())
            .collect();
        self.number("receivers", summary.receivers.mean)
            .number("receivers_low", summary.receivers.low)
            .number("receivers_high", summary.receivers.high)
            .number("receivers_complete_estimate", summary.complete)
            .number_if("median", summary.median)
            .raw("slowest", format_args!("[{}]", slowest.join(",")))
    }

    fn reception_if(self, reception: Option<&Reception>) -> Line {
        match reception {
            Some(reception) => self.reception(reception),
            None => self,
        }
    }

    fn receiver(self, known: &KnownReceiver, now: Time) -> Line {
        let report = &known.report;
        self.text("address", &known.from.to_string())
            .text("receiver", &format!("{:016x}", report.receiver))
            .number("progress", reception::share(known))
            .raw("level", report.level.as_number())
            .number_if("packets_lost", report.lost.map(|lost| f64::from(lost) / 1000.0))
            .number_if("left_s", report.left_s.map(f64::from))
            .count("objects_complete", report.objects)
            .count("objects_failed", report.failed)
            .raw("disk_fails", report.disk_fails)
            .raw("left", report.is_leaving)
            .number("silent_s", reception::silent_s(known, now))
    }

    /// An object within a line, whose first field has a comma before it.
    fn object(self) -> String {
        format!("{{{}}}", self.0.trim_start_matches(','))
    }

    /// What a receiver has done, for `progress` and `end`.
    pub(crate) fn receiving(self, progress: &ReceiveProgress) -> Line {
        let (objects, counters) = (&progress.objects, &progress.counters);
        let accept = &counters.node.accept;
        let rejected = accept.other_source + accept.other_session + accept.malformed + accept.misplaced;
        self.count("objects", objects.objects)
            .count("objects_complete", objects.complete)
            .count("objects_failed", objects.failed)
            .count("objects_bytes", objects.bytes)
            .count("symbols_needed", objects.needed)
            .count("symbols_held", objects.held)
            .number("goodput_bps", progress.goodput_bps)
            .estimates(&progress.estimates)
            .number_if("packets_lost", progress.packets_lost)
            .count("packets", accept.packets)
            .count("bytes", accept.bytes)
            .count("packets_rejected", rejected)
            .count("packets_forged", progress.protection.forged())
            .count("packets_replayed", progress.protection.rejected(Rejection::Replayed))
            .count("tables_forged", progress.untrusted_tables)
            .count("blocks_forged", progress.assembly.forged)
            .count("packets_marked", counters.node.marked)
            .count("loss_events", counters.node.loss_events)
            .count("level_changes", counters.node.level_changes)
            .count("leaves_watched", counters.leaves.watched)
            .count("leaves_endless", counters.leaves.endless)
            .number_if("leave_ms", counters.leaves.last.map(milliseconds))
            .number_if("leave_longest_ms", counters.leaves.longest.map(milliseconds))
    }

    /// `end` of a source.
    pub(crate) fn sent(self, sent: &Result<Sent, Error>, status: u8) -> String {
        match sent {
            Ok(sent) => self
                .text("reason", sent.stopped.name())
                .count("exit_status", status)
                .count("objects_withdrawn", sent.withdrawn)
                .count("files_left_out", sent.left_out)
                .sending(&sent.progress)
                .reception_if(sent.reception.as_ref())
                .end(),
            Err(error) => self.failed(error, status),
        }
    }

    /// `end` of a receiver.
    pub(crate) fn received(self, received: &Result<ReceiveProgress, Error>, status: u8) -> String {
        match received {
            Ok(progress) => {
                self.text("reason", "complete").count("exit_status", status).receiving(progress).end()
            }
            Err(error) => self.failed(error, status),
        }
    }

    fn failed(self, error: &Error, status: u8) -> String {
        self.text("reason", error.name()).count("exit_status", status).text("text", &error.to_string()).end()
    }

    /// The line.
    pub(crate) fn end(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

/// The event of an object, and what it says.
pub(crate) fn object(event: &ReceptionEvent, line: impl Fn(&str) -> Line) -> String {
    match event {
        ReceptionEvent::Resumed { path, held, needed } => line("object_resumed")
            .text("path", path)
            .count("symbols_held", *held)
            .count("symbols_needed", *needed)
            .end(),
        ReceptionEvent::NotRecorded { path } => line("object_not_recorded").text("path", path).end(),
        ReceptionEvent::Complete { path, length } => {
            line("object_complete").text("path", path).count("bytes", *length).end()
        }
        ReceptionEvent::Present { path } => line("object_present").text("path", path).end(),
        ReceptionEvent::WrongHash { path } => line("object_wrong_hash").text("path", path).end(),
        ReceptionEvent::Failed { path, reason } => {
            line("object_failed").text("path", path).text("text", &reason.to_string()).end()
        }
        ReceptionEvent::Removed { path } => line("object_removed").text("path", path).end(),
        ReceptionEvent::Rejected(error) => line("table_rejected").text("text", &error.to_string()).end(),
    }
}

/// The event of a change of level; of other decisions there is the trace.
pub(crate) fn decision(
    note: &ReceiverNote,
    estimates: &Estimates,
    line: impl Fn(&str) -> Line,
) -> Option<String> {
    let ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause }) = note else { return None };
    let line = line("level_changed").raw("from", from.as_number()).raw("to", to.as_number());
    Some(line.text("cause", &cause.to_string()).estimates(estimates).end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(text: &str) -> Value {
        assert!(text.ends_with("}\n") && text.matches('\n').count() == 1, "one line: {text:?}");
        serde_json::from_str(text).expect("an object of JSON")
    }

    fn line(event: &str) -> Line {
        Line::new(event, Duration::from_millis(1500), Duration::from_secs(1_000_000_000))
    }

    #[test]
    fn names_of_any_form_stay_in_one_line() {
        let path = "a \"b\"\n\u{1}".to_owned();
        let event = ReceptionEvent::Complete { path: path.clone(), length: u64::MAX };
        let expected = json!({
            "event": "object_complete", "time_s": 1.5, "unix_s": 1e9, "path": path, "bytes": u64::MAX
        });
        assert_eq!(parsed(&object(&event, line)), expected);
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let text = line("x").estimates(&Estimates::default()).number("bad", f64::NAN).end();
        assert_eq!(parsed(&text), json!({"event": "x", "time_s": 1.5, "unix_s": 1e9, "level": -1}));
    }

    #[test]
    fn an_error_has_a_name_and_a_text() {
        let received = Err(Error::Interrupted);
        let expected = json!({
            "event": "end", "time_s": 1.5, "unix_s": 1e9, "reason": "interrupted", "exit_status": 1,
            "text": "interrupted"
        });
        assert_eq!(parsed(&line("end").received(&received, 1)), expected);
    }
}
