//! A receiver as a program: it searches a session, receives its files, and follows another session when its own is
//! silent.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use layercast_core::contract::{Arrival, Ecn, Input, Origin, drive};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Size, Time};
use layercast_delivery::accept::{AcceptCounters, Incoming, accept};
use layercast_delivery::follow::Following;
use layercast_delivery::reception::{DiskError, Reception, ReceptionEvent, ReceptionSettings};
use layercast_delivery::search::{FoundSession, Known, Search};
use layercast_delivery::security::keys::PublicKey;
use layercast_delivery::session::Session;
use layercast_protocols::registry::{Header, Protocol, Receiver};

use crate::disk::FaultyDisk;
use crate::source::GROUP;
use crate::wire::{ReceiverHost, Wish};

/// How long a receiver waits for a silent session.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval of its checks.
const EVERY: Duration = Duration::from_ms(500);

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It has the files of the session of this source.
    Complete(IpAddr),
    /// It gave up, and says why.
    Failed(String),
}

/// The part that belongs to a session.
struct Current {
    session: Session,
    endpoint: Receiver,
    deadline: Option<Time>,
    following: Following,
    has_ended: bool,
}

/// A running receiver.
pub(crate) struct ReceiverProgram {
    /// Whose files it takes; anyone's if empty.
    keys: Arc<[PublicKey]>,
    reception: Reception<FaultyDisk>,
    search: Search,
    searching_since: Time,
    current: Option<Current>,
    streams: Stream,
    next_check: Time,
    counters: AcceptCounters,
    pub(crate) wishes: Vec<Wish>,
    pub(crate) events: Vec<ReceptionEvent>,
}

impl ReceiverProgram {
    pub(crate) fn new(
        disk: FaultyDisk,
        keys: Arc<[PublicKey]>,
        streams: Stream,
        now: Time,
    ) -> ReceiverProgram {
        let settings = ReceptionSettings { replace: true, mirror: false };
        ReceiverProgram {
            reception: Reception::trusting(disk, settings, Arc::clone(&keys)),
            search: Search::new(Known::Group(GROUP, None), Arc::clone(&keys), None),
            keys,
            searching_since: now,
            current: None,
            streams,
            next_check: now + EVERY,
            counters: AcceptCounters::default(),
            wishes: vec![Wish::Join(Channel(0))],
            events: Vec::new(),
        }
    }

    /// Where its messages go.
    pub(crate) fn source(&self) -> Option<IpAddr> {
        self.current.as_ref().map(|current| current.session.source)
    }

    pub(crate) fn deadline(&self) -> Time {
        let own = self.current.as_ref().and_then(|current| current.deadline);
        own.map_or(self.next_check, |own| own.min(self.next_check))
    }

    /// A packet arrived on a channel.
    pub(crate) fn packet(
        &mut self,
        now: Time,
        from: SocketAddr,
        channel: Channel,
        ecn: Ecn,
        bytes: &[u8],
    ) -> Result<(), DiskError> {
        let incoming = Incoming { from, channel: Some(channel), is_cut: false };
        let Some(current) = &mut self.current else {
            if channel != Channel(0) {
                return Ok(());
            }
            let Some(packet) = accept(incoming, bytes, None, &mut self.counters) else { return Ok(()) };
            return match self.search.packet(from.ip(), &packet.repr, packet.payload) {
                Some(Ok(found)) => self.begin(now, &found),
                Some(Err(_)) | None => Ok(()),
            };
        };
        let of = Some((current.session.source, current.session.tsi));
        let foreign = self.counters.other_session + self.counters.other_source;
        let Some(packet) = accept(incoming, bytes, of, &mut self.counters) else {
            if self.counters.other_session + self.counters.other_source > foreign {
                current.following.other(now);
            }
            return Ok(());
        };
        current.following.own(now);
        let arrival = Arrival {
            origin: Origin::Channel(channel),
            size: Size::from_bytes(bytes.len() as u32 + current.session.ip_udp_bytes()),
            ecn,
            header: packet.header,
        };
        self.drive(now, Input::Packet(arrival));
        self.reception.packet(&packet.repr, packet.payload)?;
        self.work()
    }

    fn begin(&mut self, now: Time, found: &FoundSession) -> Result<(), DiskError> {
        let Some(mut protocol) = Protocol::named(&found.session.protocol) else { return Ok(()) };
        protocol.deploy();
        let Ok(protocol) = found.session.agree(protocol) else { return Ok(()) };
        let endpoint = protocol.receiver(found.session.plan(), Stream::new(self.streams.bits(), "receiver"));
        let (session, following) = (found.session.clone(), Following::new(now));
        self.current = Some(Current { session, endpoint, deadline: None, following, has_ended: false });
        self.reception.follow();
        self.reception.begin(found.number, &found.instance)?;
        self.drive(now, Input::Start);
        self.work()
    }

    fn drive(&mut self, now: Time, input: Input<Header>) {
        if let Some(current) = &mut self.current {
            let mut host = ReceiverHost { wishes: &mut self.wishes, has_ended: &mut current.has_ended };
            current.deadline = drive(&mut current.endpoint, now, input, &mut host);
        }
    }

    fn work(&mut self) -> Result<(), DiskError> {
        while self.reception.work()? {}
        self.events.extend(self.reception.drain_events());
        Ok(())
    }

    /// A deadline has passed. How the program ended, if it did.
    pub(crate) fn timer(&mut self, now: Time) -> Result<Option<Ended>, DiskError> {
        if self.current.as_ref().and_then(|current| current.deadline).is_some_and(|deadline| deadline <= now)
        {
            self.drive(now, Input::Timer);
        }
        if now < self.next_check {
            return Ok(None);
        }
        self.next_check = now + EVERY;
        self.work()?;
        self.reception.flush();
        self.events.extend(self.reception.drain_events());
        Ok(self.check(now))
    }

    fn check(&mut self, now: Time) -> Option<Ended> {
        let failed = |why: &str| Some(Ended::Failed(why.to_owned()));
        let Some(current) = &self.current else {
            return if now.since(self.searching_since) >= PATIENCE { failed("no session") } else { None };
        };
        let source = current.session.source;
        if self.reception.is_complete() {
            let progress = self.reception.progress();
            if progress.failed > 0 {
                return failed("some objects could not be received");
            }
            self.reception.tidy();
            self.leave(now);
            return Some(Ended::Complete(source));
        }
        if current.following.is_lost(now) {
            let not = (source, current.session.tsi);
            self.leave(now);
            self.wishes.push(Wish::Join(Channel(0)));
            self.search = Search::new(Known::Group(GROUP, None), Arc::clone(&self.keys), Some(not));
            (self.current, self.searching_since) = (None, now);
            return None;
        }
        if current.has_ended {
            return failed("the source ended the session");
        }
        if current.following.silent_for(now) >= PATIENCE { failed("the session is silent") } else { None }
    }

    /// Leaves the session.
    pub(crate) fn leave(&mut self, now: Time) {
        self.drive(now, Input::Stop);
        self.wishes.push(Wish::Leave(Channel(0)));
    }
}
