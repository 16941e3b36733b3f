//! The modes of `layercast receive`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use layercast_delivery::reception::ReceptionSettings;
use layercast_transport::amt::AmtRelay;
use layercast_transport::finding::Sought;
use layercast_transport::receive::modes::ReceiveMode;
use layercast_transport::receive::stream::{StreamOutput, StreamOutputs};
use layercast_transport::receive::{Known, ReceiveOptions, RelayUse};
use layercast_transport::relay::FeedbackPath;

use crate::failure::Failure;
use crate::modes::Given;
use crate::net::arguments::Watching;
use crate::net::configured::{addresses, group_key, input};
use crate::net::finding::{self, Seek};
use crate::net::receive::arguments::{Amt, Feedback, Receive, Relays};
use crate::net::receive::modes::RECEIVE;
use crate::output::complain;

/// How long a service waits for a name server, and the interval of checks for an interruption.
const LOOKUP_PAUSE: StdDuration = StdDuration::from_secs(10);
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(200);

/// A mode with what it needs. Files of other FLUTE senders are received as others are.
// Made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum ReceiveConfig {
    Files(FilesReceive),
    Stream(StreamReceive),
}

#[derive(Debug)]
pub(crate) struct FilesReceive {
    pub(crate) options: ReceiveOptions,
    pub(crate) on_complete: Option<String>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
}

#[derive(Debug)]
pub(crate) struct StreamReceive {
    pub(crate) options: ReceiveOptions,
    pub(crate) outputs: StreamOutputs,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
}

impl ReceiveConfig {
    /// A session that is announced is waited for, until `stop`.
    pub(crate) fn of(receive: &Receive, given: &Given, stop: &AtomicBool) -> Result<ReceiveConfig, Failure> {
        let mode = RECEIVE.mode(given);
        let outputs = (mode == ReceiveMode::Stream).then(|| outputs(receive)).transpose()?;
        let (sought, announced) = finding::sought(&seek(receive)?, stop)?;
        let is_flute = matches!(sought.known, Known::Flute(_));
        let is_routed = matches!(&sought.known, Known::Session(session) if session.is_routed());
        if is_flute {
            // The file of a description, and an announcement, may be signed.
            RECEIVE.check(ReceiveMode::Flute, given, &["keys"])?;
        } else if is_routed && outputs.is_none() && mode != ReceiveMode::Reliable {
            RECEIVE.check(ReceiveMode::Reliable, given, &[])?;
        }
        let mut config = match outputs {
            _ if is_flute => ReceiveConfig::Files(flute(receive, sought, stop)?),
            Some(outputs) => ReceiveConfig::Stream(stream(receive, sought, outputs, stop)?),
            None => {
                let files = files(receive, sought, mode == ReceiveMode::Reliable, stop)?;
                ReceiveConfig::Files(files)
            }
        };
        match &mut config {
            ReceiveConfig::Files(files) => files.options.announced = announced,
            ReceiveConfig::Stream(stream) => stream.options.announced = announced,
        }
        Ok(config)
    }
}

fn seek(receive: &Receive) -> Result<Seek<'_>, Failure> {
    Ok(Seek {
        named: receive.named.as_deref(),
        group: receive.group,
        source: receive.source,
        file: receive.session.as_deref(),
        keys: finding::trusted(&receive.keys)?,
        interface: receive.interface.as_deref(),
        start_within: receive.start_within.map(Into::into),
        patience: receive.patience.into(),
        takes_relays: !receive.relays.no_relays,
        quiet: receive.quiet,
    })
}

fn files(
    receive: &Receive,
    sought: Sought,
    is_routed: bool,
    stop: &AtomicBool,
) -> Result<FilesReceive, Failure> {
    let relays = relays_in_time(receive, &sought.relays, stop)?;
    let options = found(receive, sought.known);
    let options = ReceiveOptions {
        settings: ReceptionSettings { replace: receive.replace || receive.mirror, mirror: receive.mirror },
        keep_going: keeps_going(receive),
        protocol_options: receive.options.clone(),
        group_key: group_key(receive.group_key.as_deref())?,
        salt: sought.salt,
        keys: sought.keys,
        silent: receive.silent,
        relays,
        is_routed,
        ..options
    };
    Ok(FilesReceive { trace: receive.trace.clone(), ..of_files(receive, options) })
}

fn flute(receive: &Receive, sought: Sought, stop: &AtomicBool) -> Result<FilesReceive, Failure> {
    let relays = relays_in_time(receive, &[], stop)?;
    let options = ReceiveOptions { keep_going: receive.keep_going, relays, ..found(receive, sought.known) };
    Ok(of_files(receive, options))
}

fn of_files(receive: &Receive, options: ReceiveOptions) -> FilesReceive {
    FilesReceive {
        options,
        on_complete: receive.on_complete.clone(),
        trace: None,
        json: receive.watching.json,
        metrics: receive.watching.metrics,
        quiet: receive.quiet,
    }
}

fn stream(
    receive: &Receive,
    sought: Sought,
    outputs: StreamOutputs,
    stop: &AtomicBool,
) -> Result<StreamReceive, Failure> {
    let options = ReceiveOptions {
        protocol_options: receive.options.clone(),
        group_key: group_key(receive.group_key.as_deref())?,
        salt: sought.salt,
        keys: sought.keys,
        keep_going: receive.keep_going,
        silent: receive.silent,
        relays: relays_in_time(receive, &sought.relays, stop)?,
        ..found(receive, sought.known)
    };
    let Watching { json, metrics } = receive.watching;
    let trace = receive.trace.clone();
    Ok(StreamReceive { options, outputs, trace, json, metrics, quiet: receive.quiet })
}

/// Where the layers go.
fn outputs(receive: &Receive) -> Result<StreamOutputs, Failure> {
    let output = |path: &PathBuf| match path.as_os_str() == "-" {
        true => StreamOutput::Standard,
        false => StreamOutput::Path(path.clone()),
    };
    if let Some(folder) = &receive.into {
        return Ok(StreamOutputs::Folder(folder.clone()));
    }
    let each: Vec<StreamOutput> = receive.stream.outputs.iter().map(output).collect();
    if receive.watching.json && each.iter().any(StreamOutput::is_standard) {
        return Err(input("--json and --output - both need standard output: name a file or a pipe"));
    }
    Ok(StreamOutputs::Each(each))
}

/// The options that all have that look for a session, with the others as other FLUTE senders need them.
fn found(receive: &Receive, known: Known) -> ReceiveOptions {
    let into = receive.into.clone().unwrap_or_default();
    ReceiveOptions {
        interface: receive.interface.clone(),
        settings: ReceptionSettings { replace: receive.replace, mirror: false },
        start_within: receive.start_within.unwrap_or(receive.patience).into(),
        patience: receive.patience.into(),
        within: receive.within.map(Into::into),
        ..ReceiveOptions::new(known, into)
    }
}

/// Whether it is a service.
fn keeps_going(receive: &Receive) -> bool {
    receive.mirror || receive.keep_going
}

/// The relays. A service waits for a name server that does not answer yet.
fn relays_in_time(
    receive: &Receive,
    described: &[SocketAddr],
    stop: &AtomicBool,
) -> Result<RelayUse, Failure> {
    loop {
        let error = match relays(&receive.relays, described) {
            Err(Failure::Other(error)) if keeps_going(receive) => error,
            known => return known,
        };
        complain(&format!("warning: {error}: trying again in {} s", LOOKUP_PAUSE.as_secs()));
        let begin = Instant::now();
        while begin.elapsed() < LOOKUP_PAUSE {
            if stop.load(Ordering::Relaxed) {
                return Ok(RelayUse::default());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The relays of a receiver: those that it is given, then those that the session's description names.
///
/// # Errors
/// If those that it is given are not found.
fn relays(relays: &Relays, described: &[SocketAddr]) -> Result<RelayUse, Failure> {
    let given = addresses(&relays.relays)?;
    let amt = match &relays.amt {
        Some(Amt::At(relay)) => addresses(std::slice::from_ref(relay))?.first().copied().map(AmtRelay::At),
        Some(Amt::Discover) => Some(AmtRelay::Discover),
        None => None,
    };
    let mut used = RelayUse {
        relays: given,
        amt,
        feedback: match relays.feedback {
            Feedback::Relay => FeedbackPath::Relay,
            Feedback::Direct => FeedbackPath::Direct,
            Feedback::None => FeedbackPath::None,
        },
        only: relays.relay_only,
    };
    if !relays.no_relays {
        used.then(described);
    }
    Ok(used)
}
