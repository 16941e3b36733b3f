//! A TCP flow of the kernel's: a sink that discards, and a sender that writes what its application has.

use std::io::{Read as _, Write as _};
use std::time::Duration as StdDuration;

use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_laboratory::scenario::DemandPlan;
use layercast_simulator::tcp::TcpOptions;
use rustix::event::epoll::EventFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::worker::{Output, Part, Poll};
use super::{Ends, draw};

/// IP and TCP headers without options, by which the kernel's maximum segment size is less than a packet.
const HEADERS: u32 = 40;
/// What timestamps take in each segment (RFC 7323, appendix A).
const TIMESTAMPS: u32 = 12;
/// How many bytes may wait in the kernel that were never sent, so that an application that falls silent has little
/// left to send.
const UNSENT: u32 = 64 << 10;
/// How much is written or read in one turn, so that no flow keeps others waiting.
const TURN: usize = 16;
/// A receiver's window above this binds no path that can be emulated, and is left to the kernel.
const LARGE_WINDOW: u64 = 3_000_000;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// What a sender has to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    None,
    Endless,
    Bytes(u64),
}

pub(super) struct TcpFlow {
    ends: Ends,
    control: &'static str,
    packet: u32,
    /// The receiver's window in bytes, if it can bind.
    window: Option<usize>,
    demand: DemandPlan,
    stream: Stream,
    listener: Option<Socket>,
    sink: Option<Socket>,
    sender: Option<Socket>,
    data: Data,
    /// Where the sink puts what it discards.
    room: Vec<u8>,
    /// When the transfer under way began.
    began: Option<Time>,
    /// When it does its next step; earlier ones are no longer wanted.
    next: Option<Time>,
    stopped: bool,
}

impl TcpFlow {
    pub(super) fn new(
        ends: Ends,
        options: &TcpOptions,
        control: &'static str,
        demand: DemandPlan,
        stream: Stream,
    ) -> TcpFlow {
        let packet = options.packet_size.as_bytes();
        let window = u64::from(options.window) * u64::from(packet);
        TcpFlow {
            ends,
            control,
            packet,
            window: (window < LARGE_WINDOW).then_some(window as usize),
            demand,
            stream,
            listener: None,
            sink: None,
            sender: None,
            data: Data::None,
            room: vec![0; ZEROS.len()],
            began: None,
            next: None,
            stopped: false,
        }
    }

    /// Opens the sink.
    pub(super) fn open(&mut self, poll: &Poll<'_>) -> Result<(), String> {
        let address = self.ends.address();
        let listen = || {
            let socket = self.socket()?;
            socket.set_reuse_address(true)?;
            if let Some(window) = self.window {
                socket.set_recv_buffer_size(window)?;
            }
            socket.bind(&address)?;
            socket.listen(8)?;
            Ok(socket)
        };
        let listener = self.ends.to.run(listen).and_then(|made: std::io::Result<Socket>| made);
        let listener = listener.map_err(|error| format!("its sink cannot be opened: {error}"))?;
        poll.watch(&listener, Part::Listener, EventFlags::IN)?;
        self.listener = Some(listener);
        Ok(())
    }

    fn socket(&self) -> std::io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        // Whatever the host's default is.
        socket.set_tcp_congestion(self.control.as_bytes())?;
        socket.set_tcp_mss(self.packet.saturating_sub(HEADERS))?;
        Ok(socket)
    }

    /// Its time has come.
    pub(super) fn start(&mut self, now: Time, poll: &Poll<'_>) -> Result<Output, String> {
        match &self.demand {
            DemandPlan::Endless => {
                self.connect(Data::Endless, poll)?;
                Ok(Output::default())
            }
            DemandPlan::OnOff { on, .. } => {
                let pause = now + draw(on, &mut self.stream);
                self.connect(Data::Endless, poll)?;
                Ok(self.output(pause))
            }
            DemandPlan::Transfers { .. } => self.transfer(now, poll),
            // Others start its transfers. Pages and players are refused before the run.
            DemandPlan::Arrivals { .. } | DemandPlan::Pages(_) | DemandPlan::Player(_) => {
                Ok(Output::default())
            }
        }
    }

    fn output(&mut self, next: Time) -> Output {
        self.next = Some(next);
        Output { next: Some(next), completed: None }
    }

    /// What it wanted to do at this time.
    pub(super) fn step(&mut self, now: Time, poll: &Poll<'_>) -> Result<Output, String> {
        if self.stopped || self.next != Some(now) {
            return Ok(Output::default());
        }
        self.next = None;
        match &self.demand {
            DemandPlan::Transfers { .. } => self.transfer(now, poll),
            DemandPlan::OnOff { on, off } => {
                let pauses = self.data == Data::None;
                let next = now + draw(if pauses { on } else { off }, &mut self.stream);
                self.data = if pauses { Data::Endless } else { Data::None };
                let wanted = if pauses { EventFlags::OUT } else { EventFlags::empty() };
                if let Some(sender) = &self.sender {
                    poll.change(sender, Part::Sender, wanted)?;
                }
                Ok(self.output(next))
            }
            _ => Ok(Output::default()),
        }
    }

    /// Starts a transfer on a new connection.
    pub(super) fn transfer(&mut self, now: Time, poll: &Poll<'_>) -> Result<Output, String> {
        let (DemandPlan::Transfers { size, .. } | DemandPlan::Arrivals { size, .. }) = &self.demand else {
            return Ok(Output::default());
        };
        // Sizes are bytes on the wire, rounded up to whole packets.
        let packets = (size.draw(&mut self.stream) / f64::from(self.packet)).ceil().max(1.0) as u64;
        let payload = u64::from(self.packet.saturating_sub(HEADERS + TIMESTAMPS).max(1));
        self.began = Some(now);
        self.connect(Data::Bytes(packets * payload), poll)?;
        Ok(Output::default())
    }

    /// Whether it can take the next transfer.
    pub(super) fn is_free(&self) -> bool {
        self.began.is_none() && !self.stopped
    }

    fn connect(&mut self, data: Data, poll: &Poll<'_>) -> Result<(), String> {
        let address = self.ends.address();
        let connect = || {
            let socket = self.socket()?;
            socket.set_tcp_notsent_lowat(UNSENT)?;
            socket.set_tcp_nodelay(true)?;
            match socket.connect(&address) {
                Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
                _ => Ok(socket),
            }
        };
        let sender = self.ends.from.run(connect).and_then(|made: std::io::Result<Socket>| made);
        let sender = sender.map_err(|error| format!("it cannot connect: {error}"))?;
        poll.watch(&sender, Part::Sender, EventFlags::OUT)?;
        self.sender = Some(sender);
        self.data = data;
        Ok(())
    }

    /// One of its sockets is ready.
    pub(super) fn ready(&mut self, part: Part, now: Time, poll: &Poll<'_>) -> Result<Output, String> {
        match part {
            Part::Listener => {
                if let Some(Ok((sink, _))) = self.listener.as_ref().map(Socket::accept) {
                    let _ = sink.set_nonblocking(true);
                    poll.watch(&sink, Part::Sink, EventFlags::IN)?;
                    self.sink = Some(sink);
                }
                Ok(Output::default())
            }
            Part::Sink => {
                self.receive();
                Ok(Output::default())
            }
            Part::Sender => self.send(now, poll),
        }
    }

    /// Discards what has come.
    fn receive(&mut self) {
        let Some(mut sink) = self.sink.as_ref() else { return };
        for _ in 0..TURN {
            match sink.read(&mut self.room) {
                Ok(length) if length > 0 => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                // The sender learns by the end of the sink that all has arrived.
                _ => {
                    self.sink = None;
                    return;
                }
            }
        }
    }

    fn send(&mut self, now: Time, poll: &Poll<'_>) -> Result<Output, String> {
        let Some(mut sender) = self.sender.as_ref() else { return Ok(Output::default()) };
        if let Ok(Some(error)) = sender.take_error() {
            return Err(format!("its connection failed: {error}"));
        }
        if self.began.is_some() && self.data == Data::Bytes(0) {
            return match sender.read(&mut [0]) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(Output::default()),
                // The sink has all.
                _ => Ok(self.complete(now)),
            };
        }
        for _ in 0..TURN {
            let length = match self.data {
                Data::None => return Ok(Output::default()),
                Data::Endless => ZEROS.len(),
                Data::Bytes(left) => usize::try_from(left).unwrap_or(ZEROS.len()).min(ZEROS.len()),
            };
            match sender.write(&ZEROS[..length]) {
                Ok(written) => {
                    if let Data::Bytes(left) = &mut self.data {
                        *left -= written as u64;
                        if *left == 0 {
                            sender.shutdown(std::net::Shutdown::Write).map_err(|error| error.to_string())?;
                            poll.change(sender, Part::Sender, EventFlags::IN)?;
                            break;
                        }
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(format!("its connection failed: {error}")),
            }
        }
        Ok(Output::default())
    }

    fn complete(&mut self, now: Time) -> Output {
        self.sender = None;
        self.data = Data::None;
        let completed = self.began.take().map(|began| now.since(began));
        let next = match &self.demand {
            DemandPlan::Transfers { gap, .. } if !self.stopped => Some(now + draw(gap, &mut self.stream)),
            _ => None,
        };
        self.next = next;
        Output { next, completed }
    }

    /// It stops at once.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.next = None;
        if let Some(sender) = self.sender.take() {
            // What waits in the kernel is discarded.
            let _ = sender.set_linger(Some(StdDuration::ZERO));
        }
        self.data = Data::None;
        self.began = None;
    }
}
