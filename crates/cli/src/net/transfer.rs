//! `layercast send` and `layercast receive`: files over multicast.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration as StdDuration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use layercast_core::family::AnyProtocol as _;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::node::ReceiveError;
use layercast_delivery::reception::ReceptionEvent;
use layercast_delivery::security::protection::Rejection;
use layercast_delivery::session::Session;
use layercast_transport::announcing::Size as ContentSize;
use layercast_transport::receive::{self, Known, ReceiveEvent, ReceiveOptions, ReceiveProgress};
use layercast_transport::send::{self, Ends, SendEvent, SendProgress, Sent, Stopped};
use layercast_transport::{Error, Notice};

use crate::commands::Failure;
use crate::net::finding;
use crate::net::receive::configured::FilesReceive;
use crate::net::receive::on_complete::OnComplete;
use crate::net::reception;
use crate::net::send::configured::FilesSend;
use crate::net::send::layering;
use crate::net::transport_failure::{failure, is_input};
use crate::net::view::{self, View, in_bytes, rounded};
use crate::net::watch::Watch;
use crate::output::{complain, one_line, print};

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

/// How long a file is read for its hash without a word.
const SILENT: StdDuration = StdDuration::from_secs(2);

/// Shows that a file is read for its hash: on the status line, and without a terminal once.
struct Hashing {
    begin: Instant,
    shown: bool,
}

impl Hashing {
    fn new() -> Hashing {
        Hashing { begin: Instant::now(), shown: false }
    }

    fn show(&mut self, bar: &ProgressBar, quiet: bool, done: u64, of: u64) {
        if self.begin.elapsed() < SILENT {
            return;
        }
        bar.set_message(format!("hashing, {:.0} %", done as f64 / of.max(1) as f64 * 100.0));
        if !self.shown && !quiet && bar.is_hidden() {
            complain(&format!("Hashing {of} bytes ..."));
        }
        self.shown = true;
    }
}

/// The exit status of a transfer.
pub(crate) fn status<T>(outcome: &Result<T, Error>) -> u8 {
    outcome.as_ref().map_or_else(|error| if is_input(error) { 2 } else { 1 }, |_| 0)
}

/// Sends files until one of the ends.
pub(crate) fn send(files: &FilesSend) -> Result<(), Failure> {
    let FilesSend { paths, options, describe, json, metrics, quiet } = files;
    let (ends, quiet) = (options.ends, *quiet);
    let stop = stop_flag()?;
    let bar = line(quiet, None);
    let mut described = Ok(());
    let mut hashing = Hashing::new();
    let mut watch = Watch::begin("source", *json, *metrics, None)?;
    let (mut receivers, mut what) = (None, String::new());
    let outcome = send::send(paths, options, &stop, &mut |event| {
        match event {
            SendEvent::Hashing { done, of } => hashing.show(&bar, quiet, *done, *of),
            SendEvent::Ready(session, objects, description) => {
                what = one_line(&sent_files(paths, *objects, description));
                described = finding::write_description(
                    describe.as_deref(),
                    options.key.as_ref(),
                    session,
                    description,
                )
                .and_then(|()| if *json { Ok(()) } else { announce(files, session, &what) })
                .and_then(|()| finding::name_session(*json, description));
            }
            SendEvent::Progress(progress) => {
                let receivers =
                    receivers.as_ref().and_then(|known| reception::line(known, progress.completions));
                let mut text = format!("{what}: {}", sending(progress, &ends));
                text.extend(receivers.map(|line| format!("\n{line}")));
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
            SendEvent::Reception(reception) => receivers = Some((*reception).clone()),
            SendEvent::Notice(notice) => note(&bar, notice),
        }
        watch.send(event);
    });
    bar.finish_and_clear();
    let judged = match (&outcome, described.map_err(Failure::from)) {
        (Ok(sent), Ok(())) => verdict(sent, &ends, options.protocol.requirements().has_routers()),
        (_, described) => described,
    };
    watch.sent(&outcome, if judged.is_err() { 1 } else { status(&outcome) });
    let sent = outcome.map_err(failure)?;
    if !watch.is_json() {
        print(&ended(&sent, &ends))?;
    }
    judged
}

/// Prints what is sent.
fn announce(files: &FilesSend, session: &Session, what: &str) -> anyhow::Result<()> {
    let needs = files.options.protocol.requirements();
    if needs.has_routers() {
        return print(&format!(
            "Sending {what} in order at {} by {}, until all receivers that come have it\n",
            session.feedback, session.protocol,
        ));
    }
    let limit = match needs.most_receivers() {
        Some(1) => format!(", to one receiver: {} serves no more", session.protocol),
        Some(most) => format!(", to at most {most} receivers"),
        None => String::new(),
    };
    print(&format!(
        "Sending {what} to {} by {}{limit}, {}\n",
        session.group,
        layering::summary(session, needs),
        until(&files.options.ends),
    ))
}

/// The files that are sent, with their length.
fn sent_files(paths: &[PathBuf], objects: usize, description: &Description) -> String {
    let what = match paths {
        [one] if objects == 1 => one.display().to_string(),
        [one] => format!("{objects} files in {}", one.display()),
        several => format!("{objects} files in {} paths", several.len()),
    };
    ContentSize::of(description).map_or(what.clone(), |size| format!("{what} ({})", in_bytes(size.bytes)))
}

/// Why it ended, what was sent, and who has it.
fn ended(sent: &Sent, ends: &Ends) -> String {
    let why = match sent.stopped {
        Stopped::Time => "the time is over",
        Stopped::Rounds => "the rounds are over",
        Stopped::Completions => "as many receivers are complete as were asked for",
        Stopped::AllComplete => "all receivers that came are complete",
        Stopped::Interrupted => "interrupted",
    };
    let mut text = format!("Stopped: {why}. {}\n", sending(&sent.progress, ends));
    for address in &sent.completed {
        text.push_str(&format!("Complete: {address}\n"));
    }
    if let Some(receivers) = &sent.reception {
        let line = reception::line(receivers, sent.progress.completions);
        text.extend(line.map(|line| format!("At the end, {line}\n")));
        text.push_str(&reception::incomplete(receivers));
    }
    text
}

/// An end before the one that was asked for is a failure. Without one, an interruption is the end.
fn verdict(sent: &Sent, ends: &Ends, is_routed: bool) -> Result<(), Failure> {
    let fail = |text: String| Err(Failure::Other(anyhow::Error::msg(text)));
    if sent.left_out > 0 {
        return fail(format!("{} files were left out: the warnings name them", sent.left_out));
    }
    if sent.withdrawn > 0 {
        return fail(format!("{} files changed or vanished, and were not sent to the end", sent.withdrawn));
    }
    match sent.missing(ends) {
        Some(missing @ 1..) => {
            let unknown = sent.reception.as_ref().map_or(0, reception::unknown);
            let unknown = match unknown {
                0 => String::new(),
                unknown => {
                    format!(": of {unknown} it is not known, since nothing was heard of them at the end")
                }
            };
            let wanted = ends.completions.unwrap_or_default();
            fail(format!("{missing} of {wanted} receivers did not report completion{unknown}"))
        }
        None if sent.stopped == Stopped::Interrupted && (ends.after.is_some() || ends.rounds.is_some()) => {
            fail(format!("interrupted before the end, which was {}", until(ends)))
        }
        None if sent.stopped == Stopped::Interrupted && is_routed => {
            fail("interrupted before all receivers had everything".to_owned())
        }
        Some(0) | None => Ok(()),
    }
}

/// The stop condition of the session as text.
fn until(ends: &Ends) -> String {
    let mut parts = Vec::new();
    parts.extend(ends.after.map(|after| format!("for {} s", after.as_secs_f64())));
    parts.extend(ends.rounds.map(|rounds| format!("for {rounds} rounds")));
    parts.extend(ends.completions.map(|count| format!("until {count} receivers are complete")));
    if parts.is_empty() { "until interrupted".to_owned() } else { parts.join(", or ") }
}

fn sending(progress: &SendProgress, ends: &Ends) -> String {
    let mean = progress.counters.bytes as f64 * 8.0 / progress.elapsed.as_secs_f64().max(1e-3);
    let complete = match ends.completions {
        Some(wanted) => format!(", {} of {wanted} receivers complete", progress.completions),
        None => String::new(),
    };
    format!(
        "{:.0} s, all sent {:.2} times (rounds), {} on average, {} packets, {} refused, {} reports{complete}",
        progress.elapsed.as_secs_f64(),
        progress.rounds,
        rounded(mean),
        progress.counters.packets,
        progress.counters.refused,
        progress.counters.reports,
    )
}

/// Receives files until all are here.
pub(crate) fn receive(files: &FilesReceive, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let FilesReceive { options, on_complete, trace, json, metrics, quiet } = files;
    let quiet = *quiet;
    let bar = line(quiet, Some(1));
    bar.set_message("waiting for the session");
    let command = on_complete.as_deref();
    let command = command.map(|command| OnComplete::start(command, &options.into, stop)).transpose()?;
    let mut watch = Watch::begin("receiver", *json, *metrics, trace.as_ref())?;
    let mut view = View::default();
    let outcome = receive::receive(options, stop, &mut |event| {
        watch.receive(event);
        match event {
            ReceiveEvent::Session(session) => {
                view.session(session);
                watch.log_session(&bar, quiet, session);
                bar.set_message("waiting for the first packets");
            }
            ReceiveEvent::Progress(progress) => {
                bar.set_length(progress.objects.needed.max(1));
                bar.set_position(progress.objects.held);
                bar.set_message(view.lines(progress));
                watch.log(&bar, quiet, || receiving(progress, &view));
            }
            ReceiveEvent::Trace(at, note, estimates) => view.decided(*at, note, estimates),
            ReceiveEvent::Object(event) => {
                if let (ReceptionEvent::Complete { path, length }, Some(command)) = (event, &command) {
                    command.file(path, *length);
                }
                if let Some(text) = object(event) {
                    bar.suspend(|| complain(&text));
                }
            }
            ReceiveEvent::Notice(notice) => note(&bar, notice),
        }
    });
    bar.finish_and_clear();
    watch.received(&outcome, status(&outcome));
    let failed = command.map_or(0, OnComplete::finish);
    let outcome = match outcome {
        Err(error) if options.keep_going && is_stopped(&error) => {
            bar.suspend(|| complain(&format!("note: stopped: {error}")));
            None
        }
        outcome => Some(outcome.map_err(failure)?),
    };
    if let Some(progress) = outcome.filter(|_| !watch.is_json()) {
        print(&received(&progress, options))?;
    }
    match failed {
        0 => Ok(()),
        count => Err(Failure::Other(anyhow::anyhow!("the command of --on-complete failed {count} times"))),
    }
}

/// Whether a service ended as it was asked to.
fn is_stopped(error: &Error) -> bool {
    match error {
        Error::Kept { reason, .. } => is_stopped(reason),
        error => matches!(error, Error::Interrupted | Error::Receive(ReceiveError::TimeOver { .. })),
    }
}

/// What was received.
fn received(progress: &ReceiveProgress, options: &ReceiveOptions) -> String {
    let mean = progress.objects.bytes as f64 * 8.0 / progress.elapsed.as_secs_f64().max(1e-3);
    let what = match &progress.name {
        Some(name) => options.into.join(name).display().to_string(),
        None => format!("{} files in {}", progress.objects.complete, options.into.display()),
    };
    let complete = format!(
        "{what}: complete, {}. {} bytes in {:.0} s, {} on average, {} blocks decoded\n",
        match (&options.known, progress.objects.complete) {
            // Not all senders give hashes.
            (Known::Flute(_), _) => "hashes right where the sender gave any",
            (_, 1) => "hash right",
            _ => "hashes right",
        },
        progress.objects.bytes,
        progress.elapsed.as_secs_f64(),
        rounded(mean),
        progress.assembly.decoded,
    );
    complete + &forged(progress)
}

/// What was rejected as forged.
fn forged(progress: &ReceiveProgress) -> String {
    let counts = [
        (progress.protection.forged(), "packets"),
        (progress.protection.rejected(Rejection::Replayed), "replayed packets"),
        (progress.untrusted_tables, "file delivery tables"),
        (progress.assembly.forged, "blocks"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("Forged and thrown away: {}\n", parts.join(", "))
}

/// What an operator should know of an object while others are received; its end is in the result.
fn object(event: &ReceptionEvent) -> Option<String> {
    Some(match event {
        ReceptionEvent::Resumed { path, held, needed } => {
            format!("note: {path}: {held} of {needed} symbols are here already: the rest follows")
        }
        ReceptionEvent::NotRecorded { path } => {
            format!(
                "warning: {path}: what arrives is not recorded, so that a restarted receiver would begin again"
            )
        }
        ReceptionEvent::WrongHash { path } => {
            format!("warning: {path} is complete but its hash is wrong: its reception starts again")
        }
        ReceptionEvent::Failed { path, reason } => format!("warning: {path}: {reason}"),
        ReceptionEvent::Rejected(error) => format!("warning: {error}"),
        ReceptionEvent::Removed { path } => format!("note: {path} was removed by the source"),
        ReceptionEvent::Complete { .. } | ReceptionEvent::Present { .. } => return None,
    })
}

fn receiving(progress: &ReceiveProgress, view: &View) -> String {
    let why = progress.last_change.map_or(String::new(), |(_, cause)| format!(" ({cause})"));
    format!(
        "{}, level {}{why}, {} in, fair {}, packets lost {}, loss event rate {}, about {:.0} s left",
        view::files(progress),
        progress.estimates.level,
        rounded(progress.goodput_bps),
        view.fair(&progress.estimates),
        view::percent(progress.packets_lost),
        view::percent(progress.estimates.loss),
        view::left_s(progress),
    )
}
