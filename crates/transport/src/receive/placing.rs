//! How a receiver gets packets: by multicast where that comes, else through one of the relays that it was given, and back.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration};
use layercast_delivery::packet::View;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::session::{PACKET_BYTES, Session};

use super::discovery::{self, Found};
use super::{ReceiveEvent, ReceiveOptions};
use crate::amt::{AmtRelay, AmtTunnel};
use crate::error::Error;
use crate::host::{
    Access, Clock, Groups, Inbox, Interface, PacketSocket, ReceiverHost, open_group, unspecified,
};
use crate::notice::Notice;
use crate::random_seed;
use crate::relay::{FeedbackPath, RelayTunnel};

/// How long multicast is waited for before a relay is asked (CHOICE: a source that hears nobody sends a packet every three seconds).
const NATIVE_FOR: StdDuration = StdDuration::from_secs(4);
/// After such a silence of a session that came by multicast a relay is asked, and up to as much later for each receiver as the
/// second says: the receivers of a region that loses multicast do not come to a relay together.
const LOST: StdDuration = StdDuration::from_secs(2);
const LOST_SPREAD: StdDuration = StdDuration::from_secs(4);
/// The first hello to a relay at the start of a reception: within this time, for the same reason.
const START_SPREAD: Duration = Duration::from_ms(500);
/// How long multicast must come, without a gap of more than the second, before a relay is left for it.
const BACK_FOR: StdDuration = StdDuration::from_secs(6);
const GAP: StdDuration = StdDuration::from_millis(1500);
/// The time between two looks for multicast, which doubles whenever multicast ends soon after it was gone back to.
const FIRST_PROBE: StdDuration = StdDuration::from_secs(30);
const LONGEST_PROBE: StdDuration = StdDuration::from_secs(480);
const SOON: StdDuration = StdDuration::from_secs(120);

/// Which relays a receiver uses.
#[derive(Clone, Debug, Default)]
pub struct RelayUse {
    /// In this order.
    pub relays: Vec<SocketAddr>,
    /// An AMT relay (RFC 7450), which is used in their place.
    pub amt: Option<AmtRelay>,
    /// By which path messages to the source go while packets come through a relay.
    pub feedback: FeedbackPath,
    /// Whether multicast is not even tried.
    pub only: bool,
}

impl RelayUse {
    /// Whether there is none, so that packets come by multicast alone.
    pub fn is_empty(&self) -> bool {
        self.relays.is_empty() && self.amt.is_none()
    }
}

/// The access of a receiver.
pub(super) struct Placing<'o> {
    options: &'o ReceiveOptions,
    /// None if multicast is impossible here.
    native: Option<Interface>,
    is_tunnelled: bool,
    lost_after: StdDuration,
    /// When multicast was gone back to.
    back: Option<Instant>,
    wait: StdDuration,
    next_probe: Instant,
    probe: Option<Probe>,
}

/// Whether multicast comes, while a relay is used.
struct Probe {
    socket: PacketSocket,
    inbox: Inbox,
    clock: Clock,
    since: Instant,
    heard: Option<Instant>,
}

impl<'o> Placing<'o> {
    /// Nothing is joined yet. An interface that is down is waited for, and `say` gets that.
    ///
    /// # Errors
    /// Without relays, if there is no interface for multicast.
    pub(super) fn new(
        options: &'o ReceiveOptions,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<Placing<'o>, Error> {
        let found = Interface::find(options.interface.as_deref(), options.known.group());
        let native = match found {
            Ok(interface) => {
                if let Some((what, remedy)) = Interface::trouble(&interface.name) {
                    let reason = format!("{what}: {remedy}");
                    let patience = (!options.keep_going).then_some(options.start_within);
                    say(&ReceiveEvent::Notice(&Notice::UplinkDown { reason, patience }));
                }
                Some(interface)
            }
            Err(error) if options.relays.is_empty() => return Err(error),
            Err(error) => {
                tracing::debug!(%error, "multicast is not tried");
                None
            }
        };
        let mut random = Stream::new(options.seed.unwrap_or_else(random_seed), "placing");
        let part = random.uniform();
        Ok(Placing {
            options,
            is_tunnelled: native.is_none() || options.relays.only,
            native: native.filter(|_| !options.relays.only),
            lost_after: LOST + LOST_SPREAD.mul_f64(part),
            back: None,
            wait: FIRST_PROBE,
            next_probe: Instant::now() + FIRST_PROBE,
            probe: None,
        })
    }

    /// The error with its cause, where silence has one on this host.
    pub(super) fn explained(&self, error: Error) -> Error {
        let trouble = self.native.as_ref().and_then(|interface| Interface::trouble(&interface.name));
        match (error, trouble) {
            (Error::Silent { group, waited, .. }, Some((what, remedy))) => {
                let remedy = format!("{what}: {remedy}");
                Error::Silent { group, waited, reasons: remedy }
            }
            (error, _) => error,
        }
    }

    /// The interface for messages to the source.
    pub(super) fn interface(&self) -> Interface {
        let group = self.options.known.group();
        let any = || Interface { name: "any".to_owned(), index: 0, address: unspecified(group) };
        self.native.clone().unwrap_or_else(any)
    }

    /// Waits for a session as [`discovery::find`] does: by multicast for a few seconds, then through a relay.
    pub(super) fn find(
        &mut self,
        not: Option<(IpAddr, u32)>,
        patience: StdDuration,
        (stop, begin): (&AtomicBool, Instant),
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<Found, Error> {
        let options = self.options;
        let has_relays = !options.relays.is_empty();
        let reports = self.interface();
        if let Some(interface) = self.native.clone().filter(|_| !self.is_tunnelled) {
            let access = Access::Native(Groups::new(interface, options.known.source()));
            let waited = if has_relays { patience.min(NATIVE_FOR) } else { patience };
            match discovery::find(options, access, &reports, not, waited, (stop, begin), say) {
                Err(error) if has_relays && waited < patience && error.is_of_search() => {
                    let group = options.known.group();
                    say(&ReceiveEvent::Notice(&Notice::NoMulticast { group, waited }));
                    self.tunnelled();
                }
                found => return found,
            }
        }
        discovery::find(options, self.tunnel(START_SPREAD)?, &reports, not, patience, (stop, begin), say)
    }

    fn tunnelled(&mut self) {
        self.is_tunnelled = true;
        if self.back.take().is_some_and(|back| back.elapsed() < SOON) {
            self.wait = (self.wait * 2).min(LONGEST_PROBE);
        }
        self.next_probe = Instant::now() + self.wait;
    }

    fn tunnel(&self, within: Duration) -> Result<Access, Error> {
        let known = &self.options.known;
        let key = SessionKey { group: known.group(), source: known.source() };
        let relays = &self.options.relays;
        if let Some(relay) = relays.amt {
            return Ok(Access::Tunnel(Box::new(AmtTunnel::open(relay, known.group(), known.source())?)));
        }
        Ok(Access::Tunnel(Box::new(RelayTunnel::open(key, &relays.relays, within, relays.feedback)?)))
    }

    /// Looks whether packets still come, and whether they come by multicast again; called about twice a second. `silent` is the
    /// time since the last packet of the session.
    pub(super) fn look(
        &mut self,
        host: &mut ReceiverHost,
        silent: StdDuration,
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Result<(), Error> {
        while let Some(notice) = host.take_access_notice() {
            say(&ReceiveEvent::Notice(&notice));
        }
        if self.options.relays.is_empty() {
            return Ok(());
        }
        let group = host.session().group;
        if !self.is_tunnelled {
            if silent >= self.lost_after {
                say(&ReceiveEvent::Notice(&Notice::NoMulticast { group, waited: silent }));
                self.tunnelled();
                host.move_to(self.tunnel(Duration::ZERO)?);
            }
            return Ok(());
        }
        if self.is_back(host.session()) {
            self.probe = None;
            if let Some(interface) = self.native.clone() {
                say(&ReceiveEvent::Notice(&Notice::MulticastBack { group }));
                (self.is_tunnelled, self.back) = (false, Some(Instant::now()));
                host.move_to(Access::Native(Groups::new(interface, self.options.known.source())));
            }
        }
        Ok(())
    }

    /// Whether the base channel has come by multicast for long enough.
    fn is_back(&mut self, session: &Session) -> bool {
        let Some(interface) = &self.native else { return false };
        let now = Instant::now();
        let Some(probe) = &mut self.probe else {
            if now < self.next_probe {
                return false;
            }
            self.next_probe = now + self.wait;
            self.probe =
                open_group(interface, session.group, self.options.known.source()).ok().map(|socket| {
                    let inbox = Inbox::new(*PACKET_BYTES.end() as usize);
                    Probe { socket, inbox, clock: Clock::default(), since: now, heard: None }
                });
            return false;
        };
        if probe.hears(session) {
            probe.heard = Some(now);
        }
        if now.duration_since(probe.heard.unwrap_or(probe.since)) > GAP {
            self.next_probe = now + self.wait;
            self.probe = None;
            return false;
        }
        now.duration_since(probe.since) >= BACK_FOR
    }
}

impl Probe {
    /// Whether packets of a session have come since the last call.
    fn hears(&mut self, session: &Session) -> bool {
        self.inbox.clear();
        // What else the socket has is read the next time; the kernel drops what is too much.
        if self.inbox.drain(&self.socket, Some(Channel(0)), &self.clock).is_err() {
            return false;
        }
        (0..self.inbox.len()).filter_map(|index| self.inbox.get(index)).any(|(datagram, bytes)| {
            let tsi = View::new(bytes).ok().and_then(|view| view.tsi());
            datagram.from.ip() == session.source && tsi == Some(u64::from(session.tsi))
        })
    }
}
