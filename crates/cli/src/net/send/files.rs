//! Sends files.

use std::path::PathBuf;
use std::time::{Duration as StdDuration, Instant};

use indicatif::ProgressBar;
use layercast_core::family::AnyProtocol;
use layercast_core::session::Requirements;
use layercast_delivery::announce::describing::Size as ContentSize;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::session::Session;
use layercast_transport::event::{End, Event, Progress, Reception, SendProgress};
use layercast_transport::send::{self, Ends, Sent, Stopped};

use crate::failure::Failure;
use crate::net::failure::{failure, status};
use crate::net::finding;
use crate::net::reception;
use crate::net::send::configured::FilesSend;
use crate::net::send::layering;
use crate::net::terminal::{line, note, stop_flag};
use crate::net::view::rounded;
use crate::net::watch::Watch;
use crate::output::{complain, in_bytes, one_line, print};

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

/// Sends files until one of the ends.
pub(crate) fn send<P: AnyProtocol>(files: &FilesSend<P>) -> Result<(), Failure> {
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
            Event::Hashing { done, of } => hashing.show(&bar, quiet, *done, *of),
            Event::Ready(ready) => {
                let (session, description) = (&ready.session, &ready.description);
                what = one_line(&sent_files(paths, ready.objects, description));
                described = finding::write_description(
                    describe.as_deref(),
                    options.key.as_ref(),
                    session,
                    description,
                )
                .and_then(|()| {
                    if *json {
                        Ok(())
                    } else {
                        announce(options.protocol.requirements(), &ends, session, &what)
                    }
                })
                .and_then(|()| finding::name_session(*json, description));
            }
            Event::Progress(Progress::Send(progress)) => {
                let receivers =
                    receivers.as_ref().and_then(|known| reception::line(known, progress.completions));
                let mut text = format!("{what}: {}", sending(progress, &ends));
                text.extend(receivers.map(|line| format!("\n{line}")));
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
            Event::Reception(reception) => receivers = Some(Reception::clone(reception)),
            Event::Notice(notice) => note(&bar, notice),
            _ => {}
        }
        watch.event(event);
    });
    bar.finish_and_clear();
    let judged = match (&outcome, described.map_err(Failure::from)) {
        (Ok(sent), Ok(())) => verdict(sent, &ends, options.protocol.requirements().has_routers()),
        (_, described) => described,
    };
    watch.end(End::of(&outcome), if judged.is_err() { 1 } else { status(&outcome) });
    let sent = outcome.map_err(failure)?;
    if !watch.is_json() {
        print(&ended(&sent, &ends))?;
    }
    judged
}

/// Prints what is sent.
fn announce(needs: &dyn Requirements, ends: &Ends, session: &Session, what: &str) -> anyhow::Result<()> {
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
        until(ends),
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
