//! What a transfer reports besides its status line: events, measures, a trace, and lines of a log.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indicatif::ProgressBar;
use layercast_core::contract::Estimates;
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::session::Session;
use layercast_laboratory::results::note::{Belief, Note, NoteLine};
use layercast_transport::Notice;
use layercast_transport::event::{End, Event, Progress, Reception};
use layercast_transport::host::ReceiverCounters;
use serde::Serialize;

use crate::failure::Failure;
use crate::net::measures::Known;
use crate::net::metrics::{self, Served};
use crate::output::{complain, complain_lines, print};

/// How often a transfer without a terminal says how far it is.
const LOG_EVERY: Duration = Duration::from_secs(30);
/// How often it says how much of a file was hashed.
const HASHING_EVERY: Duration = Duration::from_millis(500);

/// What a transfer reports besides its status line.
#[derive(Debug)]
pub(crate) struct Watch {
    begin: Instant,
    began: Duration,
    json: bool,
    /// Why events could not be written; the transfer goes on.
    broken: bool,
    known: Known,
    served: Option<Served>,
    trace: Option<Trace>,
    next_log: Duration,
    next_hashing: Duration,
}

impl Watch {
    /// Begins: opens the files and sockets that were asked for.
    ///
    /// # Errors
    /// If one of them cannot be opened.
    pub(crate) fn begin(
        role: &'static str,
        json: bool,
        metrics: Option<SocketAddr>,
        trace: Option<&PathBuf>,
    ) -> Result<Watch, Failure> {
        let known = Known::default();
        let served = metrics.map(|address| -> Result<Served, Failure> {
            let served = Served::default();
            served.set(known.waiting(role));
            let bound = metrics::serve(address, served.clone())
                .map_err(|error| anyhow::anyhow!("--metrics {address}: {error}"))?;
            complain(&format!("Metrics at http://{bound}/metrics"));
            Ok(served)
        });
        let trace = trace.map(|path| {
            Trace::create(path).map_err(|error| anyhow::anyhow!("--trace {}: {error}", path.display()))
        });
        Ok(Watch {
            begin: Instant::now(),
            began: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            json,
            broken: false,
            served: served.transpose()?,
            trace: trace.transpose()?,
            known,
            next_log: LOG_EVERY,
            next_hashing: Duration::ZERO,
        })
    }

    /// Whether standard output has events, and nothing else.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    fn emit(&mut self, event: &Event) {
        if self.broken {
            return;
        }
        let elapsed = self.begin.elapsed();
        let line = Line { time_s: seconds(elapsed), unix_s: seconds(self.began + elapsed), event };
        let text = serde_json::to_string(&line).map_err(anyhow::Error::from);
        if let Err(error) = text.and_then(|text| print(&format!("{text}\n"))) {
            self.broken = true;
            complain(&format!("warning: {error:#}: no more events are written"));
        }
    }

    /// Reports an event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Ready(ready) => {
                self.known.session(&ready.session);
                self.known.objects = ready.objects;
            }
            Event::Session(session) => self.known.session(session),
            Event::Notice(notice) => self.count(notice),
            Event::Reception(reception) => self.known.reception = Some(Reception::clone(reception)),
            _ => {}
        }
        if let (Some(served), Event::Progress(progress)) = (&self.served, event)
            && let Some(page) = self.known.of(progress)
        {
            served.set(page);
        }
        self.trace(event);
        if self.json && self.is_due(event) {
            self.emit(event);
        }
    }

    /// Whether an event is to be written: most decisions are for the trace alone, and hashing comes often.
    fn is_due(&mut self, event: &Event) -> bool {
        match event {
            Event::Trace(trace) => trace.is_level_change(),
            Event::Hashing { .. } => {
                let elapsed = self.begin.elapsed();
                let is_due = elapsed >= self.next_hashing;
                if is_due {
                    self.next_hashing = elapsed + HASHING_EVERY;
                }
                is_due
            }
            _ => true,
        }
    }

    /// Writes to the trace. A failure ends it, and not the transfer.
    fn trace(&mut self, event: &Event) {
        let (elapsed, began) = (self.begin.elapsed(), self.began);
        let Some(trace) = &mut self.trace else { return };
        if let Err(error) = trace.write(event, elapsed, began) {
            complain(&format!("warning: the trace cannot be written, and ends here: {error}"));
            self.trace = None;
        }
    }

    fn count(&mut self, notice: &Notice) {
        *self.known.notices.entry(notice.name()).or_default() += 1;
    }

    /// Without a terminal, says how far it is from time to time.
    pub(crate) fn log(&mut self, bar: &ProgressBar, quiet: bool, text: impl FnOnce() -> String) {
        let elapsed = self.begin.elapsed();
        if !quiet && !self.json && bar.is_hidden() && elapsed >= self.next_log {
            self.next_log = elapsed + LOG_EVERY;
            complain_lines(&format!("{:.0} s: {}", elapsed.as_secs_f64(), text()));
        }
    }

    /// Without a terminal, says which session was found.
    pub(crate) fn log_session(&self, bar: &ProgressBar, quiet: bool, session: &Session) {
        if !quiet && !self.json && bar.is_hidden() {
            let elapsed = self.begin.elapsed().as_secs_f64();
            let (protocol, source) = (&session.protocol, session.source);
            let levels = match session.is_routed() {
                true => "in order".to_owned(),
                false => {
                    format!("in {} levels of up to {}", session.levels().count(), session.layers.top_rate())
                }
            };
            complain(&format!("{elapsed:.0} s: found a session of {protocol} {levels}, from {source}"));
        }
    }

    /// Reports the end, with this exit status.
    pub(crate) fn end(&mut self, end: End, status: u8) {
        if let Some(Err(error)) = self.trace.as_mut().map(|trace| trace.writer.flush()) {
            complain(&format!("warning: the end of the trace cannot be written: {error}"));
        }
        if self.json {
            self.emit(&Event::End(Box::new(End { exit_status: Some(status), ..end })));
        }
    }
}

/// A line of `--json`. `docs/events.md` describes it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    time_s: f64,
    unix_s: f64,
    #[serde(flatten)]
    event: &'a Event,
}

/// Seconds, to a millionth.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// The trace of a receiver: lines as in the laboratory's `notes.jsonl`.
#[derive(Debug)]
struct Trace {
    writer: BufWriter<File>,
    host: String,
    flow: String,
}

impl Trace {
    fn create(path: &PathBuf) -> io::Result<Trace> {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = if name.trim().is_empty() { "receiver" } else { name.trim() };
        Ok(Trace {
            writer: BufWriter::new(File::create(path)?),
            host: host.to_owned(),
            flow: host.to_owned(),
        })
    }

    fn write(&mut self, event: &Event, elapsed: Duration, began: Duration) -> io::Result<()> {
        match event {
            Event::Session(session) => {
                self.flow = format!("{}@{}", session.protocol, self.host);
                self.line(elapsed, of_session(session, began))
            }
            Event::Trace(trace) => {
                let what = match trace.note {
                    ReceiverNote::Joined(channel) => Note::Join { channel: channel.0 },
                    ReceiverNote::Left(channel) => Note::Leave { channel: channel.0 },
                    ReceiverNote::Trace(event) => Note::of(event, Belief::from(&trace.estimates)),
                };
                self.line(elapsed, what)
            }
            Event::Progress(Progress::Receive(of)) => {
                self.observe(elapsed, of_progress(&of.counters, of.packets_lost, &of.estimates))
            }
            Event::Progress(Progress::StreamReceive(of)) => {
                self.observe(elapsed, of_progress(&of.counters, of.packets_lost, &of.estimates))
            }
            _ => Ok(()),
        }
    }

    /// Writes how far it is, and all before: what a killed receiver has written is there.
    fn observe(&mut self, at: Duration, what: Note) -> io::Result<()> {
        self.line(at, what)?;
        self.writer.flush()
    }

    fn line(&mut self, at: Duration, what: Note) -> io::Result<()> {
        let line = NoteLine { replication: 1, time_s: at.as_secs_f64(), flow: (&self.flow).into(), what };
        serde_json::to_writer(&mut self.writer, &line)?;
        self.writer.write_all(b"\n")
    }
}

fn of_session(session: &Session, began: Duration) -> Note {
    Note::session(&session.protocol, &session.levels(), Some(began.as_secs_f64()))
}

fn of_progress(counters: &ReceiverCounters, packets_lost: Option<f64>, estimates: &Estimates) -> Note {
    Note::Estimates {
        level: estimates.level.as_number(),
        packets: counters.node.accept.packets,
        bytes: counters.node.accept.bytes,
        marked: counters.node.marked,
        lost: packets_lost.filter(|lost| lost.is_finite()),
        belief: Belief::from(estimates),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use layercast_delivery::reception::ReceptionEvent;
    use layercast_transport::Error;
    use layercast_transport::event::ReceiveProgress;

    fn parsed(event: &Event) -> Value {
        let line = Line { time_s: 1.5, unix_s: 1e9, event };
        let text = serde_json::to_string(&line).expect("an object of JSON");
        assert!(text.starts_with("{\"time_s\":1.5,\"unix_s\":1000000000.0,\"event\":"), "{text}");
        assert!(!text.contains('\n'), "one line: {text:?}");
        serde_json::from_str(&text).expect("an object of JSON")
    }

    #[test]
    fn names_of_any_form_stay_in_one_line() {
        let path = "a \"b\"\n\u{1}".to_owned();
        let event = Event::Object(ReceptionEvent::Complete { path: path.clone(), length: u64::MAX });
        let expected = json!({
            "event": "object_complete", "time_s": 1.5, "unix_s": 1e9, "path": path, "bytes": u64::MAX
        });
        assert_eq!(parsed(&event), expected);
    }

    #[test]
    fn an_error_has_a_name_and_a_text() {
        let received: Result<ReceiveProgress, Error> = Err(Error::Interrupted);
        let end = End { exit_status: Some(1), ..End::of(&received) };
        let expected = json!({
            "event": "end", "time_s": 1.5, "unix_s": 1e9, "reason": "interrupted", "exit_status": 1,
            "text": "interrupted"
        });
        assert_eq!(parsed(&Event::End(Box::new(end))), expected);
    }
}
