//! Packets of one size at a constant rate, and a sink that measures their delays.

use std::net::{Ipv4Addr, UdpSocket};

use layercast_core::units::{Duration, Size, Time};
use layercast_simulator::UdpSource;
use rustix::event::epoll::EventFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::Ends;
use super::worker::{Output, Part, Poll};

/// IP and UDP headers.
const HEADERS: u32 = 28;
/// How many packets are read in one turn.
const TURN: usize = 256;
/// The receive buffer of a sink.
const RECEIVE_BUFFER: usize = 1 << 20;
/// The bytes of a packet that say when it was sent.
const STAMP: usize = size_of::<u64>();

pub(super) struct UdpFlow {
    ends: Ends,
    source: UdpSource,
    payload: Vec<u8>,
    is_call: bool,
    sink: Option<UdpSocket>,
    sender: Option<UdpSocket>,
    stopped: bool,
}

impl UdpFlow {
    pub(super) fn new(ends: Ends, source: UdpSource, packet: Size, is_call: bool) -> UdpFlow {
        let payload = vec![0; packet.as_bytes().saturating_sub(HEADERS) as usize];
        UdpFlow { ends, source, payload, is_call, sink: None, sender: None, stopped: false }
    }

    /// Opens both ends.
    pub(super) fn open(&mut self, poll: &Poll<'_>) -> Result<(), String> {
        let address = self.ends.address();
        let socket = || Socket::new(Domain::IPV4, Type::DGRAM.nonblocking(), Some(Protocol::UDP));
        let sink = self.ends.to.run(|| {
            let sink = socket()?;
            sink.set_recv_buffer_size(RECEIVE_BUFFER)?;
            sink.bind(&std::net::SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, self.ends.port).into())?;
            Ok(sink)
        });
        let sender = self.ends.from.run(|| {
            let sender = socket()?;
            sender.connect(&address)?;
            Ok(sender)
        });
        let made = |made: std::io::Result<std::io::Result<Socket>>| {
            made.and_then(|made| made)
                .map(UdpSocket::from)
                .map_err(|error| format!("its sockets cannot be opened: {error}"))
        };
        let (sink, sender) = (made(sink)?, made(sender)?);
        poll.watch(&sink, Part::Sink, EventFlags::IN)?;
        (self.sink, self.sender) = (Some(sink), Some(sender));
        Ok(())
    }

    /// Its time has come.
    pub(super) fn start(&mut self, now: Time) -> Result<Output, String> {
        Ok(Output { next: Some(self.source.start(now)), completed: None })
    }

    /// Sends the packet that is due at `at`.
    pub(super) fn step(&mut self, at: Time) -> Result<Output, String> {
        let Some(sender) = self.sender.as_ref().filter(|_| !self.stopped) else {
            return Ok(Output::default());
        };
        if let Some(stamp) = self.payload.first_chunk_mut::<STAMP>() {
            *stamp = at.as_ns().to_be_bytes();
        }
        if let Err(error) = sender.send(&self.payload) {
            tracing::debug!(%error, "a packet was not sent");
        }
        Ok(Output { next: Some(self.source.next(at)), completed: None })
    }

    /// Reads what has come. The delays of a call count from when each packet was due.
    pub(super) fn receive(&mut self, now: Time, delay: &mut dyn FnMut(Duration)) {
        let Some(sink) = &self.sink else { return };
        let mut stamp = [0; STAMP];
        for _ in 0..TURN {
            let Ok(length) = sink.recv(&mut stamp) else { return };
            if self.is_call && length == STAMP {
                delay(now.since(Time::from_ns(u64::from_be_bytes(stamp))));
            }
        }
    }

    /// It stops.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }
}
