//! `layercast send --stream` and `layercast receive --stream`: live data over multicast.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;

use layercast_delivery::session::Session;
use layercast_transport::receive::ReceiveEvent;
use layercast_transport::receive::stream::{
    self as receiving, StreamEnded, StreamOutput, StreamOutputs, StreamReceiveEvent, StreamReceiveProgress,
};
use layercast_transport::send::SendEvent;
use layercast_transport::send::stream::{
    self as sending, StreamSendEvent, StreamSendOptions, StreamSendProgress, StreamStopped,
};

use crate::commands::Failure;
use crate::net::finding;
use crate::net::receive::configured::StreamReceive;
use crate::net::reception;
use crate::net::send::configured::StreamSend;
use crate::net::transfer::{line, note, status, stop_flag};
use crate::net::transport_failure::failure;
use crate::net::view::{self, rounded};
use crate::net::watch::Watch;
use crate::output::{complain_lines, print};

/// Sends live data until its inputs end.
pub(crate) fn send(stream: &StreamSend) -> Result<(), Failure> {
    let StreamSend { inputs, options, describe, json, quiet } = stream;
    let quiet = *quiet;
    let stop = stop_flag()?;
    let bar = line(quiet, None);
    let mut described = Ok(());
    let mut watch = Watch::begin("source", *json, None, None)?;
    let mut receivers = None;
    let outcome = sending::send(inputs, options, &stop, &mut |event| {
        match event {
            StreamSendEvent::Host(SendEvent::Ready(session, _, description)) => {
                described = finding::write_description(describe.as_deref(), None, session, description)
                    .and_then(|()| if *json { Ok(()) } else { announce(options, session) })
                    .and_then(|()| finding::name_session(*json, description));
            }
            StreamSendEvent::Host(SendEvent::Notice(notice)) => note(&bar, notice),
            StreamSendEvent::Host(SendEvent::Reception(reception)) => {
                receivers = reception::number_of(reception);
            }
            StreamSendEvent::Host(_) => {}
            StreamSendEvent::Progress(progress) => {
                let mut text = sent(progress);
                text.extend(receivers.as_ref().map(|receivers| format!(", {receivers}")));
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
        }
        watch.send_stream(event);
    });
    bar.finish_and_clear();
    watch.stream_sent(&outcome, status(&outcome));
    let (stopped, progress) = outcome.map_err(failure)?;
    if !watch.is_json() {
        let why = match stopped {
            StreamStopped::Inputs => "the inputs have ended",
            StreamStopped::Time => "the time is over",
            StreamStopped::Interrupted => "interrupted",
        };
        print(&format!("Stopped: {why}. {}\n{}", sent(&progress), sent_layers(&progress)))?;
    }
    described.map_err(Failure::from)
}

/// Prints what is sent.
fn announce(options: &StreamSendOptions, session: &Session) -> anyhow::Result<()> {
    let count = session.layers.count();
    print(&format!(
        "Sending a stream of {count} {} of up to {} to {}, to be delivered within {}\n",
        if count == 1 { "layer" } else { "layers" },
        session.layers.top_rate(),
        session.group,
        options.plan.deadline,
    ))
}

fn sent(progress: &StreamSendProgress) -> String {
    let mean = progress.counters.bytes as f64 * 8.0 / progress.elapsed.as_secs_f64().max(1e-3);
    let units: u64 = progress.layers.iter().map(|layer| layer.input.units).sum();
    format!(
        "{:.0} s, {units} units, {} on average, {} packets, {} refused",
        progress.elapsed.as_secs_f64(),
        rounded(mean),
        progress.counters.packets,
        progress.counters.refused,
    )
}

fn sent_layers(progress: &StreamSendProgress) -> String {
    let mut text = String::new();
    for (index, layer) in progress.layers.iter().enumerate() {
        let (input, sent) = (&layer.input, &layer.sent);
        let _ = writeln!(
            text,
            "Layer {index}: {} units, {} bytes, {} expired; {} packets of data, {} of repair, {} without data, {} for nobody",
            input.units, input.bytes, input.expired, sent.source, sent.repair, sent.idle, sent.dropped,
        );
    }
    text
}

/// Receives live data until its end.
pub(crate) fn receive(stream: &StreamReceive, stop: &AtomicBool) -> Result<(), Failure> {
    let StreamReceive { options, outputs, json, quiet } = stream;
    let quiet = *quiet;
    let takes_stdout =
        matches!(outputs, StreamOutputs::Each(outputs) if outputs.contains(&StreamOutput::Standard));
    let bar = line(quiet, None);
    bar.set_message("waiting for the session");
    let mut watch = Watch::begin("receiver", *json, None, None)?;
    let outcome = receiving::receive(options, outputs, stop, &mut |event| {
        watch.receive_stream(event);
        match event {
            StreamReceiveEvent::Host(ReceiveEvent::Session(session)) => {
                watch.log_session(&bar, quiet, session);
            }
            StreamReceiveEvent::Host(ReceiveEvent::Notice(notice)) => note(&bar, notice),
            StreamReceiveEvent::Host(_) | StreamReceiveEvent::Gap(..) => {}
            StreamReceiveEvent::Progress(progress) => {
                let text = received(progress);
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
        }
    });
    bar.finish_and_clear();
    watch.stream_received(&outcome, status(&outcome));
    let (ended, progress) = outcome.map_err(failure)?;
    let why = match ended {
        StreamEnded::Session => "the source has ended the session",
        StreamEnded::Time => "the time is over",
        StreamEnded::Interrupted => "interrupted",
        StreamEnded::Outputs => "nobody reads the outputs",
    };
    let text = format!("Stopped: {why}. {}\n{}", received(&progress), received_layers(&progress));
    if takes_stdout {
        complain_lines(text.trim_end());
    } else if !watch.is_json() {
        print(&text)?;
    }
    Ok(())
}

fn received(progress: &StreamReceiveProgress) -> String {
    let why = progress.last_change.map_or(String::new(), |(_, cause)| format!(" ({cause})"));
    let sum = |of: fn(&receiving::StreamLayerReceived) -> u64| progress.layers.iter().map(of).sum::<u64>();
    format!(
        "{:.0} s, level {}{why}, {} units, {} lost, {} late, packets lost {}",
        progress.elapsed.as_secs_f64(),
        progress.estimates.level,
        sum(|layer| layer.counters.units),
        sum(|layer| layer.counters.lost),
        sum(|layer| layer.counters.late),
        view::percent(progress.packets_lost),
    )
}

fn received_layers(progress: &StreamReceiveProgress) -> String {
    let mut text = String::new();
    for (index, layer) in progress.layers.iter().enumerate() {
        let counters = &layer.counters;
        let mean =
            StdDuration::from_micros(counters.delay_sum_us.checked_div(counters.units).unwrap_or_default());
        let _ = writeln!(
            text,
            "Layer {index}: {} units, {} bytes, {} lost, {} late, {} while it was not held, {} not written; {} blocks \
             repaired; delay {:.0} ms on average, {:.0} ms at most",
            counters.units,
            counters.bytes,
            counters.lost,
            counters.late,
            counters.absent,
            layer.unwritten,
            counters.repaired,
            mean.as_secs_f64() * 1e3,
            counters.delay_max_us as f64 / 1e3,
        );
    }
    text
}
