//! The thread that serves the sockets of all unicast flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use layercast_core::units::{Duration, Time};
use rustix::event::{Timespec, epoll};

use super::{Arrivals, Flow, Served, draw};

/// The longest sleep, so that the end of the run is seen.
const LONGEST_SLEEP: Duration = Duration::from_ms(20);
/// How many sockets are served in one turn.
const MOST_READY: usize = 64;

/// Which socket of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Where a TCP sink listens.
    Listener,
    /// A TCP sink, or that of a UDP flow.
    Sink,
    /// A TCP sender.
    Sender,
}

impl Part {
    fn of(token: u64) -> Part {
        match token & 3 {
            0 => Part::Listener,
            1 => Part::Sink,
            _ => Part::Sender,
        }
    }
}

/// Where a flow registers its sockets.
pub(super) struct Poll<'a> {
    epoll: &'a OwnedFd,
    flow: usize,
}

impl Poll<'_> {
    /// Watches a socket. A closed socket is forgotten by itself.
    pub(super) fn watch(
        &self,
        socket: impl AsFd,
        part: Part,
        flags: epoll::EventFlags,
    ) -> Result<(), String> {
        epoll::add(self.epoll, socket, self.token(part), flags).map_err(|error| error.to_string())
    }

    /// Watches a socket for something else.
    pub(super) fn change(
        &self,
        socket: impl AsFd,
        part: Part,
        flags: epoll::EventFlags,
    ) -> Result<(), String> {
        epoll::modify(self.epoll, socket, self.token(part), flags).map_err(|error| error.to_string())
    }

    fn token(&self, part: Part) -> epoll::EventData {
        epoll::EventData::new_u64((self.flow as u64) << 2 | part as u64)
    }
}

/// What is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Start(usize),
    Stop(usize),
    Step(usize),
    StartArrivals(usize),
    Arrival(usize),
}

/// What a flow wants after it was served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// When it has something to do.
    pub(super) next: Option<Time>,
    /// Whether a transfer has ended, and how long it took.
    pub(super) completed: Option<Duration>,
}

pub(super) struct Worker {
    epoll: OwnedFd,
    flows: Vec<Served>,
    arrivals: Vec<Arrivals>,
    due: BinaryHeap<Reverse<(Time, Due)>>,
    stop: Arc<AtomicBool>,
}

impl Worker {
    /// Opens the sinks.
    ///
    /// # Errors
    /// Which socket could not be made, and why.
    pub(super) fn open(
        mut flows: Vec<Served>,
        arrivals: Vec<Arrivals>,
        stop: Arc<AtomicBool>,
    ) -> Result<Worker, String> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| error.to_string())?;
        let mut due = BinaryHeap::new();
        for (number, served) in flows.iter_mut().enumerate() {
            let poll = Poll { epoll: &epoll, flow: number };
            let opened = match &mut served.flow {
                Flow::Tcp(flow) => flow.open(&poll),
                Flow::Udp(flow) => flow.open(&poll),
            };
            opened.map_err(|error| format!("{}: {error}", served.name))?;
            due.push(Reverse((served.life.start, Due::Start(number))));
            if let Some(stop) = served.life.stop {
                due.push(Reverse((stop, Due::Stop(number))));
            }
        }
        for (number, one) in arrivals.iter().enumerate() {
            due.push(Reverse((one.life.start, Due::StartArrivals(number))));
        }
        Ok(Worker { epoll, flows, arrivals, due, stop })
    }

    /// Serves the flows until the end of the run.
    ///
    /// # Errors
    /// Why a flow cannot go on.
    pub(super) fn run(&mut self, begun: Instant) -> Result<(), String> {
        // Sleeps of this thread end when they should, and not some time later.
        if let Err(error) = nix::sys::prctl::set_timerslack(1) {
            tracing::debug!(%error, "the timer slack keeps its default");
        }
        let now = || Time::ZERO + Duration::from(begun.elapsed());
        let mut ready = Vec::with_capacity(MOST_READY);
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.due.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
            let wait = next.since(now()).min(LONGEST_SLEEP);
            let timeout = Timespec { tv_sec: 0, tv_nsec: wait.as_ns() as i64 };
            ready.clear();
            let spare = rustix::buffer::spare_capacity(&mut ready);
            match epoll::wait(&self.epoll, spare, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.to_string()),
            }
            while let Some(&Reverse((at, due))) = self.due.peek()
                && at <= now()
            {
                self.due.pop();
                self.serve(due, at)?;
            }
            for event in &ready {
                let token = event.data.u64();
                self.ready((token >> 2) as usize, Part::of(token), now())?;
            }
        }
        Ok(())
    }

    fn serve(&mut self, due: Due, at: Time) -> Result<(), String> {
        match due {
            Due::Start(number) => self.act(number, at, |flow, poll| match flow {
                Flow::Tcp(flow) => flow.start(at, poll),
                Flow::Udp(flow) => flow.start(at),
            }),
            Due::Step(number) => self.act(number, at, |flow, poll| match flow {
                Flow::Tcp(flow) => flow.step(at, poll),
                Flow::Udp(flow) => flow.step(at),
            }),
            Due::Stop(number) => {
                match self.flows.get_mut(number).map(|served| &mut served.flow) {
                    Some(Flow::Tcp(flow)) => flow.stop(),
                    Some(Flow::Udp(flow)) => flow.stop(),
                    None => {}
                }
                Ok(())
            }
            Due::StartArrivals(number) => {
                self.next_arrival(number, at);
                Ok(())
            }
            Due::Arrival(number) => {
                self.next_arrival(number, at);
                if let Some(arrivals) = self.arrivals.get_mut(number) {
                    arrivals.waiting += 1;
                }
                self.start_waiting(number, at)
            }
        }
    }

    fn next_arrival(&mut self, number: usize, at: Time) {
        let Some(arrivals) = self.arrivals.get_mut(number) else { return };
        let next = at + draw(&arrivals.gap, &mut arrivals.stream);
        if arrivals.life.stop.is_none_or(|stop| next < stop) {
            self.due.push(Reverse((next, Due::Arrival(number))));
        }
    }

    /// Starts transfers that wait, on the flows that are free.
    fn start_waiting(&mut self, number: usize, at: Time) -> Result<(), String> {
        loop {
            let Some(arrivals) = self.arrivals.get(number).filter(|arrivals| arrivals.waiting > 0) else {
                return Ok(());
            };
            let is_free = |flow: &&usize| matches!(self.flows.get(**flow).map(|served| &served.flow), Some(Flow::Tcp(flow)) if flow.is_free());
            let Some(&flow) = arrivals.flows.iter().find(is_free) else { return Ok(()) };
            self.arrivals[number].waiting -= 1;
            self.act(flow, at, |flow, poll| match flow {
                Flow::Tcp(flow) => flow.transfer(at, poll),
                Flow::Udp(_) => Ok(Output::default()),
            })?;
        }
    }

    fn ready(&mut self, number: usize, part: Part, now: Time) -> Result<(), String> {
        let mut call = Vec::new();
        self.act(number, now, |flow, poll| match flow {
            Flow::Tcp(flow) => flow.ready(part, now, poll),
            Flow::Udp(flow) => {
                flow.receive(now, &mut |delay| call.push(delay));
                Ok(Output::default())
            }
        })?;
        if let Some(served) = self.flows.get(number).filter(|_| !call.is_empty()) {
            let mut seen = served.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(delays) = &mut seen.call {
                call.into_iter().for_each(|delay| delays.add(delay));
            }
        }
        Ok(())
    }

    /// Does something with a flow, and what it wants then.
    fn act(
        &mut self,
        number: usize,
        now: Time,
        act: impl FnOnce(&mut Flow, &Poll<'_>) -> Result<Output, String>,
    ) -> Result<(), String> {
        let Some(served) = self.flows.get_mut(number) else { return Ok(()) };
        let poll = Poll { epoll: &self.epoll, flow: number };
        let wish = act(&mut served.flow, &poll).map_err(|error| format!("{}: {error}", served.name))?;
        if let Some(next) = wish.next {
            self.due.push(Reverse((next, Due::Step(number))));
        }
        let Some(took) = wish.completed else { return Ok(()) };
        {
            let mut seen = served.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            seen.transfers += 1;
            seen.transfer_ns += u128::from(took.as_ns());
        }
        let waits = |arrivals: &Arrivals| arrivals.waiting > 0 && arrivals.flows.contains(&number);
        match self.arrivals.iter().position(waits) {
            Some(arrivals) => self.start_waiting(arrivals, now),
            None => Ok(()),
        }
    }
}
