//! The kinds of transfers: what of their events is their progress, and what comes of them.

use std::path::PathBuf;

use layercast_transport::event::{
    Event, Progress, ReceiveProgress, SendProgress, StreamReceiveProgress, StreamSendProgress,
};
use layercast_transport::receive::stream::StreamReceived;
use layercast_transport::send::stream::StreamSent;
use layercast_transport::send::{Ends, Sent};

use crate::transfer::Kind;

/// The transfers of senders.
#[derive(Clone, Copy, Debug)]
pub struct Sends;

impl Kind for Sends {
    type Progress = SendProgress;
    type Outcome = Sent;
    type Ends = Ends;

    fn progress(event: &Event) -> Option<&SendProgress> {
        if let Event::Progress(Progress::Send(progress)) = event { Some(progress) } else { None }
    }

    fn share(progress: &SendProgress, ends: &Ends) -> Option<f64> {
        let shares = [
            ends.after.map(|after| progress.elapsed.as_secs_f64() / after.as_secs_f64()),
            ends.rounds.map(|rounds| progress.rounds / f64::from(rounds)),
            ends.completions.map(|wanted| progress.completions as f64 / wanted as f64),
        ];
        shares.into_iter().flatten().reduce(f64::max)
    }
}

/// The transfers of receivers. Of the decisions of the congestion control, which `layercast explain` reads, none is an event.
#[derive(Clone, Copy, Debug)]
pub struct Receives;

impl Kind for Receives {
    type Progress = ReceiveProgress;
    type Outcome = Received;
    type Ends = ();

    fn progress(event: &Event) -> Option<&ReceiveProgress> {
        if let Event::Progress(Progress::Receive(progress)) = event { Some(progress) } else { None }
    }

    fn share(progress: &ReceiveProgress, (): &()) -> Option<f64> {
        let objects = &progress.objects;
        match objects.needed {
            0 => objects.is_complete().then_some(1.0),
            needed => Some(objects.held as f64 / needed as f64),
        }
    }
}

/// What was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The progress at the end.
    pub progress: ReceiveProgress,
}

impl Received {
    /// Where the file is, if the session had one alone.
    pub fn path(&self) -> Option<PathBuf> {
        self.progress.name.as_ref().map(|name| self.folder.join(name))
    }
}

/// The transfers of senders of live data.
#[derive(Clone, Copy, Debug)]
pub struct StreamSends;

impl Kind for StreamSends {
    type Progress = StreamSendProgress;
    type Outcome = StreamSent;
    type Ends = Ends;

    fn progress(event: &Event) -> Option<&StreamSendProgress> {
        if let Event::Progress(Progress::StreamSend(progress)) = event { Some(progress) } else { None }
    }

    fn share(progress: &StreamSendProgress, ends: &Ends) -> Option<f64> {
        ends.after.map(|after| progress.elapsed.as_secs_f64() / after.as_secs_f64())
    }
}

/// The transfers of receivers of live data. What [`Receives`] leaves out is no event here either.
#[derive(Clone, Copy, Debug)]
pub struct StreamReceives;

impl Kind for StreamReceives {
    type Progress = StreamReceiveProgress;
    type Outcome = StreamReceived;
    type Ends = ();

    fn progress(event: &Event) -> Option<&StreamReceiveProgress> {
        if let Event::Progress(Progress::StreamReceive(progress)) = event { Some(progress) } else { None }
    }

    /// Nobody knows how long live data is.
    fn share(_: &StreamReceiveProgress, (): &()) -> Option<f64> {
        None
    }
}
