//! Receives files.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use layercast_delivery::node::ReceiveError;
use layercast_delivery::reception::ReceptionEvent;
use layercast_delivery::security::protection::Rejection;
use layercast_transport::Error;
use layercast_transport::event::{End, Event, Progress, ReceiveProgress};
use layercast_transport::receive::{Known, ReceiveOptions};

use crate::failure::Failure;
use crate::net::failure::{failure, status};
use crate::net::receive::configured::FilesReceive;
use crate::net::receive::on_complete::OnComplete;
use crate::net::terminal::{line, note};
use crate::net::view::{self, View, rounded};
use crate::net::watch::Watch;
use crate::output::{complain, print};

/// The transport's receiver for the protocols of some family.
pub(crate) type ReceiveFiles =
    fn(&ReceiveOptions, &AtomicBool, &mut dyn FnMut(&Event)) -> Result<ReceiveProgress, Error>;

/// Receives files until all are here.
pub(crate) fn receive(
    files: &FilesReceive,
    stop: &Arc<AtomicBool>,
    receive_files: ReceiveFiles,
) -> Result<(), Failure> {
    let FilesReceive { options, on_complete, trace, json, metrics, quiet } = files;
    let quiet = *quiet;
    let bar = line(quiet, Some(1));
    bar.set_message("waiting for the session");
    let command = on_complete.as_deref();
    let command = command.map(|command| OnComplete::start(command, &options.into, stop)).transpose()?;
    let mut watch = Watch::begin("receiver", *json, *metrics, trace.as_ref())?;
    let mut view = View::default();
    let outcome = receive_files(options, stop, &mut |event| {
        watch.event(event);
        match event {
            Event::Session(session) => {
                view.session(session);
                watch.log_session(&bar, quiet, session);
                bar.set_message("waiting for the first packets");
            }
            Event::Progress(Progress::Receive(progress)) => {
                bar.set_length(progress.objects.needed.max(1));
                bar.set_position(progress.objects.held);
                bar.set_message(view.lines(progress));
                watch.log(&bar, quiet, || receiving(progress, &view));
            }
            Event::Trace(trace) => view.decided(trace),
            Event::Object(event) => {
                if let (ReceptionEvent::Complete { path, length }, Some(command)) = (event, &command) {
                    command.file(path, *length);
                }
                if let Some(text) = object(event) {
                    bar.suspend(|| complain(&text));
                }
            }
            Event::Notice(notice) => note(&bar, notice),
            _ => {}
        }
    });
    bar.finish_and_clear();
    watch.end(End::of(&outcome), status(&outcome));
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
    let kind = if event.is_warning() { "warning" } else { "note" };
    let path = event.path().map_or(String::new(), |path| format!("{path}: "));
    event.text().map(|text| format!("{kind}: {path}{text}"))
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
