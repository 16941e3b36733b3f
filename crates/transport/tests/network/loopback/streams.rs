//! Streams of live data: what goes into pipes at one side comes out at the other, by layers.

use std::io::Write as _;
use std::process::Command;
use std::sync::mpsc;

use layercast_core::units::{Channel, Duration as Time};
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::session::SessionError;
use layercast_delivery::stream::{StreamPlan, Units};
use layercast_transport::event::{Event, Progress};
use layercast_transport::receive::stream::{self as receiving_stream, StreamEnded, StreamOutputs};
use layercast_transport::send::stream::{
    self as sending_stream, StreamInput, StreamSendOptions, StreamStopped,
};

use super::*;

fn options(number: u8, protocol: &str) -> StreamSendOptions {
    let after = Some(Duration::from_secs(60));
    StreamSendOptions {
        send: sending(number, protocol, Ends { after, ..Ends::default() }),
        plan: StreamPlan { deadline: Time::from_ms(500), units: Units::Length },
        share: 0.15,
    }
}

/// Units of several lengths as an input has them.
fn units(count: u32) -> Vec<u8> {
    let unit = |number: u32| {
        let bytes = content((number as usize * 389) % 3000);
        [&(bytes.len() as u32).to_be_bytes()[..], &bytes].concat()
    };
    (0..count).flat_map(unit).collect()
}

/// Named pipes, as many as there are layers.
fn pipes(temp: &TempDir) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = (0..3).map(|layer| temp.0.join(format!("pipe-{layer}"))).collect();
    assert!(Command::new("mkfifo").args(&paths).status().unwrap().success());
    paths
}

#[test]
fn a_receiver_gets_the_inputs_of_the_layers_that_it_holds() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("stream");
    let paths = pipes(&temp);
    let key = GroupKey::from_seed(&[9; 32]);
    let mut options = options(243, "fixed");
    // Nothing is late, however busy the machine is.
    options.plan.deadline = Time::from_ms(5000);
    options.send = SendOptions {
        group_key: Some(key.clone()),
        encrypts: true,
        on_demand: true,
        reports: true,
        ..options.send
    };
    let (describe, session) = mpsc::channel();
    let (heard, is_heard) = mpsc::channel();
    let inputs: Vec<StreamInput> = paths.iter().cloned().map(StreamInput::Path).collect();
    let source = thread::spawn(move || {
        let mut say = |event: &Event| match event {
            Event::Ready(ready) => {
                describe.send(ready.session.clone()).unwrap();
            }
            Event::Progress(Progress::StreamSend(progress)) if progress.counters.demands > 0 => {
                heard.send(()).unwrap_or_default();
            }
            _ => {}
        };
        sending_stream::send(inputs, &options, &AtomicBool::new(false), &mut say)
    });
    // Pipes open when both sides are there.
    let mut writers: Vec<fs::File> =
        paths.iter().map(|path| fs::File::options().write(true).open(path).unwrap()).collect();
    let session = session.recv_timeout(Duration::from_secs(10)).unwrap();
    let into = temp.directory("into");
    let to = StreamOutputs::Folder(into.clone());
    let with = ReceiveOptions {
        known: Known::Session(Box::new(session)),
        protocol_options: vec![("level".to_owned(), "1".to_owned())],
        group_key: Some(key),
        ..receiving(243, into.clone())
    };
    let (joined, has_joined) = mpsc::channel();
    let receiver = thread::spawn(move || {
        let mut say = |event: &Event| {
            if let Event::Trace(trace) = event
                && trace.note == ReceiverNote::Joined(Channel(1))
            {
                joined.send(()).unwrap_or_default();
            }
        };
        receiving_stream::receive(&with, to, &AtomicBool::new(false), &mut say)
    });
    has_joined.recv_timeout(Duration::from_secs(10)).unwrap();
    is_heard.recv_timeout(Duration::from_secs(10)).unwrap();
    let data = [units(200), units(150), units(50)];
    for (writer, data) in writers.iter_mut().zip(&data) {
        writer.write_all(data).unwrap();
    }
    drop(writers);
    let sent = source.join().unwrap().unwrap();
    assert_eq!(sent.stopped, StreamStopped::Inputs);
    let sent = sent.progress;
    assert_eq!(sent.layers.iter().map(|layer| layer.input.units).collect::<Vec<_>>(), [200, 150, 50]);
    let received = receiver.join().unwrap().unwrap();
    assert_eq!(received.ended, StreamEnded::Session);
    let received = received.progress;
    for (layer, data) in data.iter().take(2).enumerate() {
        assert!(
            fs::read(into.join(format!("layer-{layer}"))).unwrap() == *data,
            "layer {layer}: {received:?}"
        );
        let counters = received.layers[layer].counters;
        assert_eq!((counters.lost, counters.late, counters.malformed), (0, 0, 0));
        assert!(counters.delay_max_us <= 5_000_000, "{counters:?}");
    }
    assert!(fs::read(into.join("layer-2")).unwrap().is_empty(), "it was not held");
    assert_eq!(received.protection.forged(), 0);
}

#[test]
fn files_and_streams_are_told_apart_in_words() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("kinds");
    let paths = pipes(&temp);
    let inputs: Vec<StreamInput> = paths.iter().cloned().map(StreamInput::Path).collect();
    let (stop, options) = (Arc::new(AtomicBool::new(false)), options(246, "elm"));
    let flag = Arc::clone(&stop);
    let source = thread::spawn(move || sending_stream::send(inputs, &options, &flag, &mut |_| {}));
    let error = get(&receiving(246, temp.directory("into"))).unwrap_err();
    assert!(
        matches!(error, Error::Receive(ReceiveError::IsStream)) && error.to_string().contains("--stream"),
        "{error}"
    );
    stop.store(true, Ordering::Relaxed);
    assert_eq!(source.join().unwrap().unwrap().stopped, StreamStopped::Interrupted);

    let source = start(temp.with("file", b"content"), sending(249, "elm", Ends::default()));
    source.session();
    let to = StreamOutputs::Folder(temp.directory("out"));
    let with = receiving(249, temp.directory("out"));
    let error =
        receiving_stream::receive(&with, to, &AtomicBool::new(false), &mut |_| {}).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Receive(ReceiveError::NotStream)), "{error}");
    source.end().unwrap();
}

#[test]
fn what_cannot_be_sent_as_a_stream_is_refused_with_what_can() {
    let standard = |count| (0..count).map(|_| StreamInput::Standard).collect::<Vec<_>>();
    let refused = |inputs: Vec<StreamInput>, options: &StreamSendOptions| {
        let sent = sending_stream::send(inputs, options, &AtomicBool::new(true), &mut |_| {});
        sent.map(|_| ()).unwrap_err()
    };
    for protocol in ["flid-dl", "e-flid-dl", "webrc", "tide"] {
        let error = refused(standard(3), &options(252, protocol));
        let text = error.to_string();
        assert!(text.contains(protocol) && text.contains("use one of elm, rlc, rlm"), "{text}");
    }
    let error = refused(standard(2), &options(252, "elm"));
    assert!(matches!(error, Error::StreamInputs { inputs: 2, layers: 3 }), "{error}");
    let missing = (0..3).map(|_| StreamInput::Path("/none/such".into())).collect();
    assert!(matches!(refused(missing, &options(252, "elm")), Error::File { .. }));
    let mut long = options(252, "elm");
    long.plan.deadline = Time::from_secs(61);
    assert!(matches!(refused(standard(3), &long), Error::Session(SessionError::StreamPlan)));
}
