//! Receives live data.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use layercast_transport::Error;
use layercast_transport::event::{End, Event, Progress};
use layercast_transport::receive::ReceiveOptions;
use layercast_transport::receive::stream::{
    self as receiving, StreamEnded, StreamOutput, StreamOutputs, StreamReceiveProgress, StreamReceived,
};

use crate::failure::Failure;
use crate::net::failure::{failure, status};
use crate::net::receive::configured::StreamReceive;
use crate::net::terminal::{line, note};
use crate::net::view;
use crate::net::watch::Watch;
use crate::output::{complain_lines, print};

/// The transport's receiver for the protocols of some family.
pub(crate) type ReceiveStream =
    fn(&ReceiveOptions, StreamOutputs, &AtomicBool, &mut dyn FnMut(&Event)) -> Result<StreamReceived, Error>;

/// Receives live data until its end.
pub(crate) fn receive(
    stream: StreamReceive,
    stop: &AtomicBool,
    receive_stream: ReceiveStream,
) -> Result<(), Failure> {
    let StreamReceive { options, outputs, trace, json, metrics, quiet } = stream;
    let takes_stdout =
        matches!(&outputs, StreamOutputs::Each(outputs) if outputs.iter().any(StreamOutput::is_standard));
    let bar = line(quiet, None);
    bar.set_message("waiting for the session");
    let mut watch = Watch::begin("receiver", json, metrics, trace.as_ref())?;
    let outcome = receive_stream(&options, outputs, stop, &mut |event| {
        watch.event(event);
        match event {
            Event::Session(session) => watch.log_session(&bar, quiet, session),
            Event::Notice(notice) => note(&bar, notice),
            Event::Progress(Progress::StreamReceive(progress)) => {
                let text = received(progress);
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
            _ => {}
        }
    });
    bar.finish_and_clear();
    watch.end(End::of(&outcome), status(&outcome));
    let StreamReceived { ended, progress } = outcome.map_err(failure)?;
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
            counters.mean_delay_ms().unwrap_or_default(),
            counters.delay_max_us as f64 / 1e3,
        );
    }
    text
}
