//! Sends live data.

use std::fmt::Write as _;

use layercast_core::family::AnyProtocol;
use layercast_delivery::session::Session;
use layercast_delivery::stream::StreamPlan;
use layercast_transport::event::{End, Event, Progress, StreamSendProgress};
use layercast_transport::send::stream::{self as sending, StreamSent, StreamStopped};

use crate::failure::Failure;
use crate::net::failure::{failure, status};
use crate::net::finding;
use crate::net::reception;
use crate::net::send::configured::StreamSend;
use crate::net::terminal::{line, note, stop_flag};
use crate::net::view::rounded;
use crate::net::watch::Watch;
use crate::output::print;

/// Sends live data until its inputs end.
pub(crate) fn send<P: AnyProtocol>(stream: StreamSend<P>) -> Result<(), Failure> {
    let StreamSend { inputs, options, describe, json, metrics, quiet } = stream;
    let stop = stop_flag()?;
    let bar = line(quiet, None);
    let mut described = Ok(());
    let mut watch = Watch::begin("source", json, metrics, None)?;
    let mut receivers = None;
    let outcome = sending::send(inputs, &options, &stop, &mut |event| {
        match event {
            Event::Ready(ready) => {
                let (session, description) = (&ready.session, &ready.description);
                let key = options.send.key.as_ref();
                described = finding::write_description(describe.as_deref(), key, session, description)
                    .and_then(|()| if json { Ok(()) } else { announce(&options.plan, session) })
                    .and_then(|()| finding::name_session(json, description));
            }
            Event::Notice(notice) => note(&bar, notice),
            Event::Reception(reception) => receivers = reception::number_of(reception),
            Event::Progress(Progress::StreamSend(progress)) => {
                let mut text = sent(progress);
                text.extend(receivers.as_ref().map(|receivers| format!(", {receivers}")));
                bar.set_message(text.clone());
                watch.log(&bar, quiet, || text);
            }
            _ => {}
        }
        watch.event(event);
    });
    bar.finish_and_clear();
    watch.end(End::of(&outcome), status(&outcome));
    let StreamSent { stopped, progress } = outcome.map_err(failure)?;
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
fn announce(plan: &StreamPlan, session: &Session) -> anyhow::Result<()> {
    let count = session.layers.count();
    print(&format!(
        "Sending a stream of {count} {} of up to {} to {}, to be delivered within {}\n",
        if count == 1 { "layer" } else { "layers" },
        session.layers.top_rate(),
        session.group,
        plan.deadline,
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
