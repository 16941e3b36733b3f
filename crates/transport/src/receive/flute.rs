//! Receiving a session of another FLUTE sender: one channel, which is joined and held. There is no congestion control, as
//! the sender provides none; the circuit breaker leaves a path that loses most packets.

mod loss;

use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use layercast_core::contract::Estimates;
use layercast_core::units::{Channel, Time};
use layercast_delivery::accept::AcceptCounters;
use layercast_delivery::announce::flute::FluteSession;
use layercast_delivery::node;
use layercast_delivery::packet::View;
use layercast_delivery::part::FlutePacket;
use layercast_delivery::reception::{Reception, ReceptionProgress};
use layercast_delivery::security::protection::ProtectionCounters;
use layercast_delivery::session::{PACKET_BYTES, ip_udp_bytes, is_usable_group};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::breaker::Breaker;
use super::running::{PROGRESS_EVERY, Running};
use super::{ReceiveEvent, ReceiveOptions, ReceiveProgress, Wait, discovery, judged, kept, service};
use crate::disk::Folder;
use crate::error::Error;
use crate::host::{Clock, Inbox, Interface, PacketSocket, ReceiverCounters, open_group};
use crate::notice::Notice;
use loss::SymbolLoss;

/// The longest wait for packets.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A sender may announce the end in the last few seconds of its packets (RFC 5651, section 5.1: flag A).
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// Receives all files of a session until its table says that there are no more, the sender ends it, or it is silent for
/// as long as the options say.
pub(super) fn receive(
    session: &FluteSession,
    folder: Folder,
    options: &ReceiveOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<ReceiveProgress, Error> {
    if !is_usable_group(session.group.ip()) {
        return Err(Error::WrongGroup { address: session.group.ip(), layers: 1 });
    }
    let refused = [
        (options.settings.mirror, "--mirror"),
        (options.group_key.is_some(), "--group-key"),
        (!options.relays.relays.is_empty(), "--relay"),
        (options.relays.amt.is_some(), "--amt"),
        (!options.protocol_options.is_empty(), "--set"),
    ];
    if let Some((_, what)) = refused.iter().find(|(is_given, _)| *is_given) {
        return Err(Error::NotOfFlute { what });
    }
    super::raise_file_limit();
    let reception = Reception::of_any_sender(folder, options.settings);
    let mut running = Running::new(reception, options, stop, Instant::now());
    let mut breaker = Breaker::default();
    let wait = Wait { not: None, patience: options.start_within };
    let finished = loop {
        let interface = Interface::find(options.interface.as_deref(), session.group);
        let joined = interface.and_then(|interface| Host::join(session, &interface));
        // The group is left before a pause.
        let outcome = joined.and_then(|mut host| host.run(&mut running, &mut breaker, say));
        let next = match outcome {
            Ok(Outcome::Done(progress)) => break Ok(*progress),
            Ok(Outcome::Overloaded(pause)) => running.pause(pause),
            Err(error) => service::after(&mut running, error, wait, say).map(|_| ()),
        };
        if let Err(error) = next {
            break Err(error);
        }
    };
    running.reception.flush();
    running.say_objects(say);
    let progress = finished.map_err(|error| kept(&running.reception, options, error))?;
    running.reception.tidy();
    judged(&running.reception, &options.into)?;
    Ok(progress)
}

enum Outcome {
    Done(Box<ReceiveProgress>),
    Overloaded(Duration),
}

/// The socket of the session, and what came by it.
struct Host<'a> {
    session: &'a FluteSession,
    socket: PacketSocket,
    clock: Clock,
    inbox: Inbox,
    /// Where packets come from: from the first one on, if any source will do.
    source: Option<IpAddr>,
    counters: AcceptCounters,
    loss: SymbolLoss,
    begun: Instant,
    heard: Instant,
    ends: Option<Instant>,
    useful_bytes: u64,
}

impl<'a> Host<'a> {
    fn join(session: &'a FluteSession, interface: &Interface) -> Result<Host<'a>, Error> {
        Ok(Host {
            session,
            socket: open_group(interface, session.group, session.source)?,
            clock: Clock::default(),
            inbox: Inbox::new(*PACKET_BYTES.end() as usize),
            source: session.source,
            counters: AcceptCounters::default(),
            loss: SymbolLoss::default(),
            begun: Instant::now(),
            heard: Instant::now(),
            ends: None,
            useful_bytes: 0,
        })
    }

    fn run(
        &mut self,
        running: &mut Running<'_>,
        breaker: &mut Breaker,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<Outcome, Error> {
        let every = Duration::from_nanos(PROGRESS_EVERY.as_ns());
        let (mut reported, mut is_busy) = (Instant::now(), false);
        loop {
            let was_known = self.source.is_some() && self.counters.packets > 0;
            self.wait(if is_busy { Duration::ZERO } else { LOOK_EVERY })?;
            for index in 0..self.inbox.len() {
                self.packet(index, running)?;
            }
            if let Some(source) = self.source.filter(|_| !was_known && self.counters.packets > 0) {
                let session = FluteSession { source: Some(source), ..*self.session };
                say(&ReceiveEvent::Notice(&Notice::FluteSession { session }));
            }
            let worked = running.reception.work();
            running.say_objects(say);
            is_busy = worked.map_err(|error| running.failed(error))?;
            let passed = reported.elapsed();
            // What is complete needs no packets, which is the cheaper question.
            let is_complete = !running.options.keep_going
                && !running.reception.needs_packets()
                && running.reception.is_complete();
            if passed >= every || is_complete {
                reported = Instant::now();
                let report = self.progress(running, passed);
                say(&ReceiveEvent::Progress(&report));
                running.reception.flush();
                if !running.options.keep_going && !is_busy && self.is_over(running, &report.objects) {
                    return Ok(Outcome::Done(Box::new(report)));
                }
                if let Some(pause) = breaker.look(true, self.loss.recent(self.clock.now()), passed) {
                    say(&ReceiveEvent::Notice(&Notice::Overloaded { pause }));
                    return Ok(Outcome::Overloaded(pause));
                }
            }
            running.check_limits()?;
            if !is_busy {
                self.check(running)?;
            }
        }
    }

    fn wait(&mut self, longest: Duration) -> Result<(), Error> {
        self.inbox.clear();
        let mut waits = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        if ppoll(&mut waits, Some(TimeSpec::from(longest)), None).unwrap_or(0) > 0 {
            let group = self.session.group;
            self.inbox
                .drain(&self.socket, Some(Channel(0)), &self.clock)
                .map_err(|error| Error::socket("read from the group", group, error))?;
        }
        Ok(())
    }

    fn packet(&mut self, index: usize, running: &mut Running<'_>) -> Result<(), Error> {
        let Some((datagram, bytes)) = self.inbox.get(index) else { return Ok(()) };
        let from = datagram.from.ip();
        let view = View::new(bytes).ok().filter(|_| !datagram.cut);
        let Some((view, packet)) = view.and_then(|view| Some((view, FlutePacket::read(&view).ok()?))) else {
            self.counters.malformed += 1;
            return Ok(());
        };
        if packet.tsi != self.session.tsi {
            self.counters.other_session += 1;
            return Ok(());
        }
        if *self.source.get_or_insert(from) != from {
            self.counters.other_source += 1;
            return Ok(());
        }
        self.counters.packets += 1;
        self.counters.bytes += bytes.len() as u64 + u64::from(ip_udp_bytes(from));
        self.heard = Instant::now();
        if packet.close_session {
            self.ends.get_or_insert(self.heard);
        }
        let Some(part) = packet.part else { return Ok(()) };
        self.loss.observe(datagram.at, &part, view.payload());
        let used = running.reception.packet(part, view.payload()).map_err(|error| running.failed(error))?;
        self.useful_bytes += if used { view.payload().len() as u64 } else { 0 };
        Ok(())
    }

    /// Whether nothing more is to be expected: by the table, or by the end of a session or its silence when all that it
    /// named is there. A table need not say that it is complete (RFC 6726, section 3.4.2).
    fn is_over(&self, running: &Running<'_>, objects: &ReceptionProgress) -> bool {
        let is_silent = self.heard.elapsed() >= running.options.patience;
        let has_all = objects.objects > 0 && objects.complete + objects.failed == objects.objects;
        running.reception.is_complete() || (has_all && (self.ends.is_some() || is_silent))
    }

    fn check(&mut self, running: &mut Running<'_>) -> Result<(), Error> {
        if self.ends.is_some_and(|since| since.elapsed() >= ENDS_WITHIN) {
            if !running.options.keep_going {
                let ReceptionProgress { held, needed, .. } = running.reception.progress();
                return Err(Error::SessionEnded { held, needed });
            }
            // The next session may use the same numbers for other files.
            running.reception.follow();
            self.ends = None;
        }
        let options = running.options;
        let has_table = running.reception.has_objects();
        let (waited, patience) = match has_table {
            true => (self.heard.elapsed(), options.patience),
            false => (self.begun.elapsed(), options.start_within),
        };
        if waited < patience || options.keep_going {
            return Ok(());
        }
        // What is complete ends with the next report.
        if !self.is_over(running, &running.reception.progress()) {
            let reasons = discovery::reasons(&self.counters, 0, has_table);
            return Err(Error::Silent { group: self.session.group, waited, reasons });
        }
        Ok(())
    }

    fn progress(&mut self, running: &Running<'_>, passed: Duration) -> ReceiveProgress {
        let now: Time = self.clock.now();
        let bytes = std::mem::take(&mut self.useful_bytes);
        ReceiveProgress {
            elapsed: running.begin.elapsed(),
            name: running.reception.only_path().map(str::to_owned),
            objects: running.reception.progress(),
            goodput_bps: bytes as f64 * 8.0 / passed.as_secs_f64().max(1e-3),
            estimates: Estimates::default(),
            packets_lost: self.loss.recent(now).map(|recent| recent.lost()),
            last_change: None,
            counters: ReceiverCounters {
                node: node::ReceiverCounters { accept: self.counters, ..node::ReceiverCounters::default() },
                ..ReceiverCounters::default()
            },
            protection: ProtectionCounters::default(),
            untrusted_tables: 0,
            assembly: running.reception.counters(),
        }
    }
}
