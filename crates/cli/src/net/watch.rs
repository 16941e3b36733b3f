//! What a transfer reports besides its status line: events, measures, a trace, and lines of a log.

mod stream;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indicatif::ProgressBar;
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::session::Session;
use layercast_laboratory::results::note::{Belief, Note, NoteLine};
use layercast_transport::receive::{ReceiveEvent, ReceiveProgress};
use layercast_transport::send::{SendEvent, Sent};
use layercast_transport::{Error, Notice};

use crate::commands::Failure;
use crate::net::events::{self, Line};
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

    fn line(&self, event: &str) -> Line {
        let elapsed = self.begin.elapsed();
        Line::new(event, elapsed, self.began + elapsed)
    }

    fn say(&mut self, text: &str) {
        if self.broken {
            return;
        }
        if let Err(error) = print(text) {
            self.broken = true;
            complain(&format!("warning: {error:#}: no more events are written"));
        }
    }

    /// Reports an event of a source.
    pub(crate) fn send(&mut self, event: &SendEvent<'_>) {
        match event {
            SendEvent::Ready(session, objects, _) => {
                self.known.session(session);
                self.known.objects = *objects;
            }
            SendEvent::Notice(notice) => self.count(notice),
            SendEvent::Reception(reception) => self.known.reception = Some((*reception).clone()),
            SendEvent::Hashing { .. } | SendEvent::Progress(_) => {}
        }
        if let (Some(served), SendEvent::Progress(progress)) = (&self.served, event) {
            served.set(self.known.of_source(progress));
        }
        if !self.json {
            return;
        }
        let text = match event {
            SendEvent::Hashing { done, of } => {
                let elapsed = self.begin.elapsed();
                if elapsed < self.next_hashing {
                    return;
                }
                self.next_hashing = elapsed + HASHING_EVERY;
                self.line("hashing").hashing(*done, *of)
            }
            SendEvent::Ready(session, objects, description) => {
                let url = description.url().map(|url| url.to_string());
                self.line("ready").ready(session, *objects, url.as_deref())
            }
            SendEvent::Progress(progress) => self.line("progress").sending(progress).end(),
            SendEvent::Reception(reception) => self.line("reception").reception(reception).end(),
            SendEvent::Notice(notice) => self.line("notice").notice(notice),
        };
        self.say(&text);
    }

    /// Reports an event of a receiver.
    pub(crate) fn receive(&mut self, event: &ReceiveEvent<'_>) {
        match event {
            ReceiveEvent::Session(session) => self.known.session(session),
            ReceiveEvent::Notice(notice) => self.count(notice),
            ReceiveEvent::Progress(_) | ReceiveEvent::Object(_) | ReceiveEvent::Trace(..) => {}
        }
        if let (Some(served), ReceiveEvent::Progress(progress)) = (&self.served, event) {
            served.set(self.known.of_receiver(progress));
        }
        self.trace(event);
        if !self.json {
            return;
        }
        let text = match event {
            ReceiveEvent::Session(session) => self.line("session").found(session),
            ReceiveEvent::Progress(progress) => self.line("progress").receiving(progress).end(),
            ReceiveEvent::Object(event) => events::object(event, |name| self.line(name)),
            ReceiveEvent::Notice(notice) => self.line("notice").notice(notice),
            ReceiveEvent::Trace(_, note, estimates) => {
                events::decision(note, estimates, |name| self.line(name)).unwrap_or_default()
            }
        };
        self.say(&text);
    }

    /// Writes to the trace. A failure ends it, and not the transfer.
    fn trace(&mut self, event: &ReceiveEvent<'_>) {
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

    /// Reports the end of a source, which will have this exit status.
    pub(crate) fn sent(&mut self, sent: &Result<Sent, Error>, status: u8) {
        if self.json {
            let text = self.line("end").sent(sent, status);
            self.say(&text);
        }
    }

    /// Reports the end of a receiver, which will have this exit status.
    pub(crate) fn received(&mut self, received: &Result<ReceiveProgress, Error>, status: u8) {
        if let Some(Err(error)) = self.trace.as_mut().map(|trace| trace.writer.flush()) {
            complain(&format!("warning: the end of the trace cannot be written: {error}"));
        }
        if self.json {
            let text = self.line("end").received(received, status);
            self.say(&text);
        }
    }
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

    fn write(&mut self, event: &ReceiveEvent<'_>, elapsed: Duration, began: Duration) -> io::Result<()> {
        match event {
            ReceiveEvent::Session(session) => {
                self.flow = format!("{}@{}", session.protocol, self.host);
                self.line(elapsed, of_session(session, began))
            }
            ReceiveEvent::Trace(_, note, estimates) => {
                let what = match note {
                    ReceiverNote::Joined(channel) => Note::Join { channel: channel.0 },
                    ReceiverNote::Left(channel) => Note::Leave { channel: channel.0 },
                    ReceiverNote::Trace(event) => Note::of(*event, Belief::from(*estimates)),
                };
                self.line(elapsed, what)
            }
            ReceiveEvent::Progress(progress) => {
                self.line(elapsed, of_progress(progress))?;
                // What a killed receiver has written is there.
                self.writer.flush()
            }
            ReceiveEvent::Object(_) | ReceiveEvent::Notice(_) => Ok(()),
        }
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

fn of_progress(progress: &ReceiveProgress) -> Note {
    let counters = &progress.counters;
    Note::Estimates {
        level: progress.estimates.level.as_number(),
        packets: counters.node.accept.packets,
        bytes: counters.node.accept.bytes,
        marked: counters.node.marked,
        lost: progress.packets_lost.filter(|lost| lost.is_finite()),
        belief: Belief::from(&progress.estimates),
    }
}
