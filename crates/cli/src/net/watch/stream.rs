//! What a stream reports besides its status line.

use layercast_transport::Error;
use layercast_transport::receive::stream::{StreamEnded, StreamReceiveEvent, StreamReceiveProgress};
use layercast_transport::send::stream::{StreamSendEvent, StreamSendProgress, StreamStopped};

use super::Watch;

impl Watch {
    /// Reports an event of the source of a stream.
    pub(crate) fn send_stream(&mut self, event: &StreamSendEvent<'_>) {
        match event {
            StreamSendEvent::Host(event) => self.send(event),
            StreamSendEvent::Progress(progress) if self.json => {
                let text = self.line("progress").stream_sending(progress).end();
                self.say(&text);
            }
            StreamSendEvent::Progress(_) => {}
        }
    }

    /// Reports an event of the receiver of a stream.
    pub(crate) fn receive_stream(&mut self, event: &StreamReceiveEvent<'_>) {
        let text = match event {
            StreamReceiveEvent::Host(event) => return self.receive(event),
            StreamReceiveEvent::Gap(layer, gap) => self.line("gap").gap(*layer, *gap),
            StreamReceiveEvent::Progress(progress) => self.line("progress").stream_receiving(progress).end(),
        };
        if self.json {
            self.say(&text);
        }
    }

    /// Reports the end of the source of a stream, which will have this exit status.
    pub(crate) fn stream_sent(
        &mut self,
        sent: &Result<(StreamStopped, StreamSendProgress), Error>,
        status: u8,
    ) {
        if self.json {
            let text = self.line("end").stream_sent(sent, status);
            self.say(&text);
        }
    }

    /// Reports the end of the receiver of a stream, which will have this exit status.
    pub(crate) fn stream_received(
        &mut self,
        received: &Result<(StreamEnded, StreamReceiveProgress), Error>,
        status: u8,
    ) {
        if self.json {
            let text = self.line("end").stream_received(received, status);
            self.say(&text);
        }
    }
}
