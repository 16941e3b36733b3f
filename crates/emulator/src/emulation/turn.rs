//! The loop: wait, serve what is due, write what has arrived, read what was sent.

use std::thread;

use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Time};
use layercast_simulator::Simulation;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use rustix::event::{Timespec, epoll};
use rustix::fd::AsFd as _;

use super::{Emulation, Place};
use crate::clock::Clock;
use crate::error::Error;
use crate::host::HostId;
use crate::packet::{View, rewrite};
use crate::report::Report;
use crate::urgent;
use layercast_simulator::outside::Foreign;

/// How many packets of a host are read in one turn, so that no host keeps others waiting.
const MOST_READ: usize = 32;

/// How many hosts are looked at in one turn.
const MOST_READY: usize = 256;

/// The longest sleep: reports have no event of their own that wakes the loop.
const LONGEST_SLEEP: Duration = Duration::from_ms(2);

impl Emulation {
    /// Starts the clock. What hosts have sent before comes in with the next [`run_until`](Emulation::run_until).
    pub fn start(&mut self) {
        self.clock = Some(Clock::start());
    }

    /// Carries packets until the clock shows `end`. Counters are then those of that time. Starts the clock if
    /// that has not been done.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn run_until(&mut self, end: Time) -> Result<(), Error> {
        let clock = *self.clock.get_or_insert_with(Clock::start);
        // A thread of its own: others that the caller starts do not inherit how it is scheduled.
        thread::scope(|scope| {
            let carrying = scope.spawn(|| {
                let is_prepared = self.prepare();
                let done = is_prepared.and_then(|()| self.carry_until(clock, end));
                self.processor_time += urgent::processor_time();
                done
            });
            carrying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        self.simulation.run_until(end);
        Ok(())
    }

    /// As [`run_until`](Emulation::run_until), with the simulation in the hands of the caller, who got it by exchanging
    /// [`simulation_mut`](Emulation::simulation_mut) for another one.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn run_lent_until(&mut self, simulation: &mut Simulation<Foreign>, end: Time) -> Result<(), Error> {
        std::mem::swap(&mut self.simulation, simulation);
        let done = self.run_until(end);
        std::mem::swap(&mut self.simulation, simulation);
        done
    }

    /// Prepares the calling thread for being on time.
    fn prepare(&mut self) -> Result<(), Error> {
        // Sleeps end when they should, and not some time later.
        nix::sys::prctl::set_timerslack(1)
            .map_err(|error| Error::system("setting the timer slack")(error.into()))?;
        if self.options.urgent
            && let Err(error) = urgent::become_urgent()
        {
            self.options.urgent = false;
            tracing::warn!(
                "packets wait for other programs, since the scheduler gives this one no priority ({error}); run as root, or \
                 raise the limit with `ulimit -r 10`, and keep the machine idle otherwise"
            );
        }
        Ok(())
    }

    fn carry_until(&mut self, clock: Clock, end: Time) -> Result<(), Error> {
        let mut ready = Vec::with_capacity(MOST_READY);
        // Packets that are read next were sent after this moment.
        let mut looked = clock.now();
        loop {
            let sleep = self.sleep(clock.now(), end);
            if !sleep.is_zero() {
                self.wait(sleep)?;
                looked = clock.now();
            }
            ready.clear();
            let spare = rustix::buffer::spare_capacity(&mut ready);
            match epoll::wait(&self.waiter, spare, Some(&Timespec::default())) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::system("epoll_wait")(error.into())),
            }
            let now = clock.now();
            self.simulation.serve_until(now.min(end));
            self.deliver(clock);
            if now >= end {
                return Ok(());
            }
            self.take_reports();
            let next_tick = clock.now();
            for event in &ready {
                let data = event.data;
                self.read(HostId(data.u64() as u32), next_tick.since(looked));
            }
            looked = next_tick;
        }
    }

    /// Sleeps until a host has sent something, or for this time. `epoll_wait` would round it to milliseconds.
    fn wait(&self, sleep: Duration) -> Result<(), Error> {
        let timeout = TimeSpec::from_duration(std::time::Duration::from(sleep));
        let mut devices = [PollFd::new(self.waiter.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut devices, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(Error::system("ppoll")(error.into())),
        }
    }

    /// How long there is nothing to do.
    fn sleep(&mut self, now: Time, end: Time) -> Duration {
        let next = self.simulation.next_event().unwrap_or(Time::MAX).min(end);
        let wait = next.since(now).min(LONGEST_SLEEP);
        if next <= now { Duration::ZERO } else { wait.saturating_sub(self.options.spin) }
    }

    /// Brings in what a host has sent.
    fn read(&mut self, from: HostId, waited: Duration) {
        for _ in 0..MOST_READ {
            let Some(place) = self.places.get(from.0 as usize) else { return };
            match place.device.read(&mut self.buffer) {
                Ok(Some(length)) => {
                    self.lateness.turns.add(waited);
                    self.inject(from, length);
                }
                Ok(None) => return,
                Err(error) => {
                    // It would be ready for ever.
                    let _ = epoll::delete(&self.waiter, &place.device);
                    tracing::warn!("{} sends no more: its device is gone ({error})", place.host.name());
                    return;
                }
            }
        }
    }

    /// Writes what has arrived to the devices of its hosts.
    fn deliver(&mut self, clock: Clock) {
        self.take_losses();
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.simulation.drain_foreign(&mut |arrival| arrivals.push(arrival));
        for arrival in arrivals.drain(..) {
            let Some(stored) = self.store.get_mut(arrival.header.0) else { continue };
            rewrite(&mut stored.bytes, stored.hops, arrival.ecn == Ecn::Marked);
            let Some(view) = View::of(&stored.bytes) else { continue };
            let to = crate::store::address::host(view.destination);
            if let Some(place) = to.and_then(|to| self.places.get(to as usize)) {
                write(place, &stored.bytes, &mut self.lateness);
                self.lateness.deliveries.add(clock.now().since(arrival.at));
            }
            if arrival.counts {
                self.hops.arrived(&mut self.simulation, arrival.path, &stored.bytes, arrival.ecn);
            }
            if self.flows.is_new(arrival.path, &view) && arrival.counts {
                self.simulation.count_foreign(arrival.path, arrival.size);
            }
        }
        self.arrivals = arrivals;
        for session in 0..self.sessions.list.len() {
            self.deliver_session(session, clock);
        }
    }

    fn deliver_session(&mut self, session: usize, clock: Clock) {
        let carried = &self.sessions.list[session];
        let Some(receivers) = self.simulation.receivers_mut(carried.id) else { return };
        if !receivers.has_arrivals() {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.multicast_arrivals);
        arrivals.extend(receivers.drain());
        for arrival in arrivals.drain(..) {
            let Some(&(host, routers)) = self.sessions.list[session].ends.get(arrival.receiver as usize)
            else {
                continue;
            };
            let Some(stored) = self.store.get_mut(arrival.header.0) else { continue };
            if stored.hops <= routers {
                self.dropped.expired += 1;
                continue;
            }
            let unmarked = stored.bytes.get(..2).map(|bytes| [bytes[0], bytes[1]]);
            rewrite(&mut stored.bytes, stored.hops - routers, arrival.ecn == Ecn::Marked);
            if let Some(place) = self.places.get(host.0 as usize) {
                write(place, &stored.bytes, &mut self.lateness);
                self.lateness.deliveries.add(clock.now().since(arrival.at));
            }
            // Another copy may not be marked.
            if let (Some(unmarked), Some(bytes)) = (unmarked, stored.bytes.get_mut(..2)) {
                bytes.copy_from_slice(&unmarked);
            }
        }
        self.multicast_arrivals = arrivals;
    }

    fn take_reports(&mut self) {
        while let Ok(report) = self.inbox.receiver.try_recv() {
            match report {
                Report::Trace(id, event) => self.simulation.trace(id, event),
                Report::Join(id, channel) => self.hops.join(&mut self.simulation, id, channel),
                Report::Leave(id, channel) => self.hops.leave(&mut self.simulation, id, channel),
                Report::Estimates(id, estimates) => {
                    if let Some(receiver) = self.receiver_mut(id) {
                        receiver.estimates = estimates;
                    }
                }
                Report::Gauges(id, gauges) => {
                    if let Some(receiver) = self.receiver_mut(id) {
                        receiver.gauges = gauges;
                    }
                }
            }
        }
    }

    fn receiver_mut(
        &mut self,
        id: layercast_simulator::ReceiverId,
    ) -> Option<&mut layercast_simulator::outside::ForeignReceiver> {
        self.simulation.receivers_mut(id.session())?.get_mut(id.index())
    }
}

fn write(place: &Place, bytes: &[u8], lateness: &mut crate::Lateness) {
    lateness.refused += u64::from(place.device.write(bytes).is_err());
}
