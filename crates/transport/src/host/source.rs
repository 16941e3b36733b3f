//! A source on a socket.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use layercast_core::Always as _;
use layercast_core::contract::{Arrival, Ecn, Endpoint, Estimates, Input, Origin, Peer, drive};
use layercast_core::family::AnyHeader as _;
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_protocols::registry::{Header, Protocol, Source};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::admission::Admission;
use super::branch::Branching;
use super::clock::until;
use super::send_path::{SendPath, SendingHost, SourceCounters, Supply};
use super::socket::{open_source, set_ecn};
use super::{Branch, Clock, Inbox, Interface};
use crate::error::Error;
use layercast_delivery::object::TOI_TABLE;
use layercast_delivery::packet::{Completion, Demand, ReceptionReport};
use layercast_delivery::reporting::Collector;
use layercast_delivery::reporting::demand::{Demands, Sending};
use layercast_delivery::security::feedback::TAG_BYTES;
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::session::{Session, ip_udp_bytes};

/// The shortest time between two bursts of packets (CHOICE): as long as those of a TCP with segmentation offload, which
/// are a millisecond of its rate. A shorter one makes runs of packets shorter, and wakes the processor more often.
const BURST: Duration = Duration::from_ms(1);
/// The maximum number of timers that fire in one burst.
const TIMERS_MAX: usize = 4096;
/// The maximum number of unread completions.
const COMPLETIONS_MAX: usize = 1024;

/// The most messages of a branch's receivers that are read at once.
const HEARD_MAX: usize = 1024;
/// The longest message of a receiver that is read.
const FEEDBACK_MAX: usize = 2 * MAX_REPORT + TAG_BYTES;

/// How often the source looks at what its uplink took.
const UPLINK_EVERY: Duration = Duration::from_ms(500);

/// Packets that are sent one by one, more rarely than the endpoint would.
#[derive(Clone, Copy, Debug)]
struct Pace {
    every: Duration,
    /// When the next one is sent.
    next: Time,
    /// How many there were when the endpoint was given data for it; none while it has none.
    given: Option<u64>,
}

/// The host of a source.
#[derive(Debug)]
pub struct SourceHost {
    send_path: SendPath,
    source: Source,
    inbox: Inbox,
    deadline: Option<Time>,
    /// None if the endpoint decides when packets are sent.
    pace: Option<Pace>,
    /// When the uplink was looked at last, and the bytes and refused packets until then.
    uplink: (Time, u64, u64),
    /// When the last burst of packets was sent.
    burst: Time,
    /// How late timers were since this was last asked, and how many there were.
    late: (Duration, u32),
    completions: VecDeque<(Completion, SocketAddr)>,
    /// Messages of a branch's receivers that are not taken yet: from where, and how many bytes.
    heard: Vec<(SocketAddr, [u8; FEEDBACK_MAX], usize)>,
    /// None for a protocol that serves any number of receivers.
    admission: Option<Admission>,
}

impl SourceHost {
    /// Opens the socket and creates the source. `session` gets the number that the source drew, and the
    /// port for feedback: the requested one, or with 0 the one that the system assigned.
    ///
    /// # Errors
    /// If the description is invalid, or the system's error.
    pub fn new(
        interface: &Interface,
        protocol: &Protocol,
        mut session: Session,
        feedback_port: u16,
        ttl: u8,
        seed: u64,
    ) -> Result<SourceHost, Error> {
        let socket = open_source(interface, session.group, feedback_port, ttl)?;
        if let Ok(address) = socket.as_udp().local_addr() {
            session.feedback.set_port(address.port());
        }
        session.check()?;
        let source = protocol.source(session.plan(), Stream::new(seed, "source"));
        session.tsi = source.session_number().unwrap_or(session.tsi);
        let send_path = SendPath::new(socket, session);
        let inbox = Inbox::new(FEEDBACK_MAX);
        let admission = protocol.requirements().most_receivers().map(Admission::new);
        Ok(SourceHost {
            send_path,
            source,
            inbox,
            deadline: None,
            pace: None,
            uplink: (Time::ZERO, 0, 0),
            burst: Time::ZERO,
            late: (Duration::ZERO, 0),
            completions: VecDeque::new(),
            heard: Vec::new(),
            admission,
        })
    }

    /// The session description, complete.
    pub fn session(&self) -> &Session {
        &self.send_path.session
    }

    /// The source's clock.
    pub fn clock(&self) -> Clock {
        self.send_path.clock
    }

    /// The counters.
    pub fn counters(&self) -> &SourceCounters {
        &self.send_path.counters
    }

    /// How late packets were on average since the last call: more than some milliseconds if this machine does not keep the
    /// session's rates.
    pub fn take_lateness(&mut self) -> Duration {
        let (late, timers) = std::mem::take(&mut self.late);
        Duration::from_ns(late.as_ns() / u64::from(timers.max(1)))
    }

    /// The source's estimates.
    pub fn estimates(&self) -> Estimates {
        self.source.estimates(self.send_path.clock.now())
    }

    /// A completion that was received and not taken yet, copies included, and where it came from.
    pub fn take_completion(&mut self) -> Option<(Completion, SocketAddr)> {
        self.completions.pop_front()
    }

    /// A receiver that was turned away since the last call, because the protocol serves only so many.
    pub fn take_turned_away(&mut self) -> Option<SocketAddr> {
        self.admission.as_mut()?.take_turned_away()
    }

    /// The system's reason why the network takes no packets now, and since when.
    pub fn outage(&self) -> Option<(Time, &std::io::Error)> {
        self.send_path.outage.as_ref().map(|(since, error)| (*since, error))
    }

    /// Whether data may be marked by routers in place of being dropped (RFC 3168). It may from the start.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_ecn(&mut self, ecn: bool) -> Result<(), Error> {
        self.send_path.ecn = if ecn { Ecn::Capable } else { Ecn::NotCapable };
        if let Some(branching) = &mut self.send_path.branching {
            branching.ecn = self.send_path.ecn;
        }
        set_ecn(self.send_path.socket.as_udp(), ecn)
            .map_err(|source| Error::socket("set the ECN field".to_owned(), self.session().group, source))
    }

    /// Authenticates packets by a group key (RFC 6584, section 5), and encrypts them if the session has a salt. Called
    /// before the start.
    pub fn protect(&mut self, key: &GroupKey, numbers: Sequence) {
        self.send_path.protect(key, numbers);
    }

    /// How many packet numbers are left before more must be granted; none if packets are not numbered.
    pub fn packet_numbers_left(&self) -> Option<u64> {
        self.send_path.protection.as_ref().map(|protection| protection.sequence.left())
    }

    /// Grants the packet numbers up to one that is stored.
    pub fn grant_packet_numbers(&mut self, stored: u64) {
        if let Some(protection) = &mut self.send_path.protection {
            protection.sequence.grant(stored);
        }
    }

    /// Lets packets with a payload all have the size of the session, whatever [`Supply`] wrote: the rest of the
    /// payload has no meaning.
    pub fn fill_packets(&mut self) {
        self.send_path.fill();
    }

    /// Polls the receivers for reception reports. Called before the start.
    pub fn poll_receivers(&mut self) {
        self.send_path.collector = Some(Collector::new());
    }

    /// Sends only the levels that the uplink carries. With `on_demand` only those that receivers hold or may soon hold too, which
    /// are asked for them, and next to nothing where nobody is heard. `rates` are those of all levels, from the lowest. Called
    /// before the start.
    pub fn bound(&mut self, rates: Vec<Rate>, on_demand: bool) {
        let new = if on_demand { Demands::new } else { Demands::all };
        self.send_path.demands = Some(new(rates, self.session().packet, self.clock().now()));
    }

    /// What decides which levels are sent; none if all are.
    pub fn demands(&mut self) -> Option<&mut Demands> {
        self.send_path.demands.as_mut()
    }

    /// What reception reports say of the receivers; none if they are not polled.
    pub fn collector(&mut self) -> Option<&mut Collector> {
        self.send_path.collector.as_mut()
    }

    /// Sends all packets by a second path too, or by it alone. Called before the start.
    pub fn branch(&mut self, branch: Box<dyn Branch>, only: bool) {
        self.send_path.branching = Some(Branching { branch, only, ecn: self.send_path.ecn });
    }

    /// Goes on from another address, since this host no longer has the old one. The session's description is another one then.
    ///
    /// # Errors
    /// The system's error.
    pub fn move_to(&mut self, interface: &Interface, ttl: u8) -> Result<(), Error> {
        let SendPath { session, .. } = &mut self.send_path;
        // Somebody may have the port there.
        let socket = open_source(interface, session.group, session.feedback.port(), ttl)
            .or_else(|_| open_source(interface, session.group, 0, ttl))?;
        let port = socket.as_udp().local_addr().map_or(session.feedback.port(), |address| address.port());
        session.source = interface.address;
        session.feedback = SocketAddr::new(interface.address, port);
        self.send_path.socket = socket;
        self.send_path.outage = None;
        if let Some(branching) = &mut self.send_path.branching {
            branching.branch.moved(interface.address);
        }
        self.set_ecn(self.send_path.ecn == Ecn::Capable)
    }

    /// Starts the session.
    ///
    /// # Errors
    /// What ends it at once.
    pub fn start(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        let now = self.send_path.clock.now();
        self.drive_batching(now, Input::Start, supply);
        self.look_at_demand(now, supply)?;
        self.flush(supply)
    }

    /// Ends the session: its last packets announce the end.
    ///
    /// # Errors
    /// If they could not be sent.
    pub fn stop(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        self.drive_endpoint(self.send_path.clock.now(), Input::Stop, supply)
    }

    /// Waits for feedback or the next deadline, not beyond `latest`, and processes them.
    ///
    /// # Errors
    /// What ends the session.
    pub fn step(&mut self, latest: Time, supply: &mut impl Supply) -> Result<(), Error> {
        let now = self.send_path.clock.now();
        let due = self.due();
        let pace = self.pace.filter(|pace| pace.given.is_none()).map_or(Time::MAX, |pace| pace.next);
        let latest = latest.min(pace);
        let wake = due.map_or(latest, |due| due.min(latest));
        let own = &self.send_path.socket;
        let branch = self.send_path.branching.as_ref().map(|branching| branching.branch.socket());
        let mut waits =
            [own, branch.unwrap_or(own)].map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
        let count = 1 + usize::from(branch.is_some());
        let waited = waits.get_mut(..count).always("there are two");
        // An interrupted wait is over: the caller checks whether to stop.
        let ready = ppoll(waited, Some(TimeSpec::from(until(now, wake))), None).unwrap_or(0);
        let has_errors = waits[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR));
        let [is_own, is_branch] = waits.map(|wait| ready > 0 && wait.any().unwrap_or(false));
        if ready > 0 && has_errors {
            self.send_path.socket.drop_errors();
        }
        if is_own {
            self.receive_feedback(supply)?;
        }
        self.serve_branch(is_branch, supply)?;
        let now = self.send_path.clock.now();
        self.look_at_demand(now, supply)?;
        if let Some(due) = due.filter(|&due| due <= now) {
            let (late, timers) = self.late;
            self.late = (late + now.since(due), timers.saturating_add(1));
            self.burst = now;
            for _ in 0..TIMERS_MAX {
                if self.deadline.is_none_or(|deadline| deadline > now) {
                    break;
                }
                self.drive_batching(now, Input::Timer, supply);
                self.pause_when_sent(now, supply);
            }
            self.flush(supply)?;
        }
        self.keep_pace(now, supply)
    }

    /// Gives the endpoint data for the next packet of a pace, when it is due.
    fn keep_pace(&mut self, now: Time, supply: &mut impl Supply) -> Result<(), Error> {
        let Some(pace) = self.pace.as_mut().filter(|pace| pace.given.is_none() && now >= pace.next) else {
            return Ok(());
        };
        pace.next = now + pace.every;
        pace.given = Some(self.send_path.of_base);
        supply.announce_soon();
        self.drive_batching(now, Input::DataAvailable, supply);
        self.pause_when_sent(now, supply);
        self.flush(supply)
    }

    /// Lets an endpoint that keeps a pace wait when it has sent its packet.
    fn pause_when_sent(&mut self, now: Time, supply: &mut impl Supply) {
        let sent = self.send_path.of_base;
        if let Some(pace) = &mut self.pace
            && pace.given.is_some_and(|given| sent > given)
        {
            pace.given = None;
            self.drive_batching(now, Input::DataExhausted, supply);
        }
    }

    /// Looks at what the uplink took since the last time.
    fn look_at_uplink(&mut self, now: Time) {
        let (looked, bytes, refused) = self.uplink;
        let Some(demands) = self.send_path.demands.as_mut().filter(|_| now.since(looked) >= UPLINK_EVERY)
        else {
            return;
        };
        self.uplink = (now, self.send_path.counters.bytes, self.send_path.overflows);
        let packet = u64::from(self.send_path.session.packet.as_bytes());
        demands.look_at_uplink(now, self.uplink.1 - bytes, (self.uplink.2 - refused) * packet);
    }

    /// Passes the levels in demand to the endpoint when they change, and has what is known announced.
    fn look_at_demand(&mut self, now: Time, supply: &mut impl Supply) -> Result<(), Error> {
        self.look_at_uplink(now);
        let Some(demands) = &mut self.send_path.demands else { return Ok(()) };
        if demands.is_urgent(now) && self.pace.is_none() {
            supply.announce_soon();
        }
        let Some(Sending { level, every }) = demands.take_change(now) else { return Ok(()) };
        tracing::debug!(?level, ?every, "what is sent");
        let waits = self.pace.is_some_and(|pace| pace.given.is_none());
        self.pace = every.map(|every| Pace { every, next: now, given: None });
        self.send_path.base_alone = every.is_some();
        self.drive_endpoint(now, Input::Demand(level), supply)?;
        match every {
            Some(_) => self.drive_endpoint(now, Input::DataExhausted, supply),
            None if waits => {
                supply.announce_soon();
                self.drive_endpoint(now, Input::DataAvailable, supply)
            }
            None => Ok(()),
        }
    }

    /// When packets are sent next: at the deadline, and no earlier than a burst after the last one.
    fn due(&self) -> Option<Time> {
        self.deadline.map(|deadline| deadline.max(self.burst + BURST))
    }

    fn receive_feedback(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(&self.send_path.socket, None, &self.send_path.clock) {
            tracing::debug!(%error, "feedback could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get(index) else { break };
            let mut message = [0; FEEDBACK_MAX];
            let Some(copy) = message.get_mut(..bytes.len()) else {
                self.send_path.counters.bad_feedback += 1;
                continue;
            };
            copy.copy_from_slice(bytes);
            let (from, ecn, cut) = (datagram.from, datagram.ecn, datagram.cut);
            self.take_feedback(copy, (from, ecn, cut), supply)?;
        }
        Ok(())
    }

    /// Reads what the receivers say to a branch.
    fn serve_branch(&mut self, is_ready: bool, supply: &mut impl Supply) -> Result<(), Error> {
        let Some(Branching { branch, .. }) = &mut self.send_path.branching else { return Ok(()) };
        branch.look();
        if !is_ready {
            return Ok(());
        }
        // What they say may have packets sent, for which the branch must be here.
        let mut heard = std::mem::take(&mut self.heard);
        branch.read(&mut |from, message| {
            let mut bytes = [0; FEEDBACK_MAX];
            if let Some(place) = bytes.get_mut(..message.len()).filter(|_| heard.len() < HEARD_MAX) {
                place.copy_from_slice(message);
                heard.push((from, bytes, message.len()));
            }
        });
        let mut taken = Ok(());
        for (from, bytes, length) in heard.drain(..) {
            let bytes = bytes.get(..length).always("a message fits its room");
            taken = taken.and_then(|()| self.take_feedback(bytes, (from, Ecn::NotCapable, false), supply));
        }
        self.heard = heard;
        taken
    }

    /// Takes a message of a receiver, which came from an address, with an ECN field, and perhaps truncated.
    fn take_feedback(
        &mut self,
        bytes: &[u8],
        (from, ecn, is_cut): (SocketAddr, Ecn, bool),
        supply: &mut impl Supply,
    ) -> Result<(), Error> {
        let size = bytes.len();
        let SendPath { counters, session, feedback_mac, collector, demands, clock, .. } = &mut self.send_path;
        let message = match feedback_mac {
            None => Some(bytes),
            Some(mac) => mac.accept(bytes),
        };
        let Some(bytes) = message else {
            counters.forged_feedback += 1;
            return Ok(());
        };
        if Completion::is_completion(bytes) {
            match Completion::from_bytes(bytes) {
                Ok(completion) if completion.tsi == session.tsi => {
                    counters.completions += 1;
                    demands.iter_mut().for_each(|demands| demands.left(clock.now()));
                    if self.completions.len() < COMPLETIONS_MAX {
                        self.completions.push_back((completion, from));
                    }
                }
                _ => counters.bad_feedback += 1,
            }
            return Ok(());
        }
        if Demand::is_demand(bytes) {
            match (Demand::from_bytes(bytes), demands) {
                (Ok(demand), Some(demands)) if demand.tsi == session.tsi => {
                    counters.demands += 1;
                    match demand.lost {
                        0 => demands.note(clock.now(), demand.level),
                        lost => demands.complain(clock.now(), lost),
                    }
                }
                _ => counters.bad_feedback += 1,
            }
            return Ok(());
        }
        if ReceptionReport::is_report(bytes) {
            match (ReceptionReport::from_bytes(bytes), collector) {
                (Ok(report), Some(collector)) if report.tsi == session.tsi => {
                    counters.reception_reports += 1;
                    collector.report(clock.now(), from, report);
                    let now = clock.now();
                    // A receiver that ends has the whole table. Completions are not acknowledged, and may be lost.
                    if report.is_complete && report.is_leaving && self.completions.len() < COMPLETIONS_MAX {
                        let completion =
                            Completion { tsi: report.tsi, toi: TOI_TABLE, receiver: report.receiver };
                        self.completions.push_back((completion, from));
                    }
                    demands.iter_mut().for_each(|demands| match report.is_leaving {
                        true => demands.left(now),
                        false => demands.heard(now),
                    });
                }
                _ => counters.bad_feedback += 1,
            }
            return Ok(());
        }
        match Header::decode_report(bytes) {
            Ok(_) if !is_cut && !admits(&mut self.admission, from, *clock) => {
                counters.turned_away += 1;
                self.send_path.refuse(from);
            }
            Ok(header) if !is_cut => {
                counters.reports += 1;
                demands.iter_mut().for_each(|demands| demands.heard(clock.now()));
                let arrival = arrival((from, ecn), header, size);
                // The arrival times are before now; the source uses its own clock.
                let now = clock.now();
                self.drive_endpoint(now, Input::Packet(arrival), supply)?;
            }
            _ => counters.bad_feedback += 1,
        }
        Ok(())
    }

    /// Passes one input. Its packets may wait for others of the same burst.
    fn drive_batching(&mut self, now: Time, input: Input<Header>, supply: &mut impl Supply) {
        let mut host = SendingHost { send_path: &mut self.send_path, supply };
        self.deadline = drive(&mut self.source, now, input, &mut host);
    }

    /// Passes one input, and sends its packets.
    fn drive_endpoint(
        &mut self,
        now: Time,
        input: Input<Header>,
        supply: &mut impl Supply,
    ) -> Result<(), Error> {
        self.drive_batching(now, input, supply);
        self.flush(supply)
    }

    /// Sends the packets of a burst, and passes those that the kernel refused as further inputs.
    fn flush(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        let now = self.send_path.clock.now();
        self.send_path.flush();
        while let Some(channel) = self.send_path.refused.pop() {
            let mut host = SendingHost { send_path: &mut self.send_path, supply };
            self.deadline = drive(&mut self.source, now, Input::SendRefused(channel), &mut host);
            self.send_path.flush();
        }
        self.send_path.failure.take().map_or(Ok(()), Err)
    }
}

fn admits(admission: &mut Option<Admission>, from: SocketAddr, clock: Clock) -> bool {
    admission.as_mut().is_none_or(|admission| admission.admits(from, clock.now()))
}

fn arrival((from, ecn): (SocketAddr, Ecn), header: Header, length: usize) -> Arrival<Header> {
    // Peers are numbered by the host. No source replies by unicast so far, so one number is enough.
    let origin = Origin::Peer(Peer(0));
    let size = Size::from_bytes(length as u32 + ip_udp_bytes(from.ip()));
    Arrival { origin, size, ecn, header }
}
