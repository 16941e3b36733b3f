//! What all transmissions have: a source that may move, its announcement, and what its operator should know.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration as StdDuration;

use layercast_core::family::AnyProtocol;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Time};
use layercast_delivery::announce::announcer::AnnounceError;
use layercast_delivery::announce::describing::{Size, describe};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::node::Content;
use layercast_delivery::reporting::Collector;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::session::{Session, SessionError, whole_rates};

use super::lateness::Lateness;
use super::neighbours::{Before, Neighbours};
use super::quiet::Quiet;
use super::{Reception, SendOptions, ServeUse};
use crate::announcing::{Announcing, ntp_now_s};
use crate::error::Error;
use crate::event::Event;
use crate::host::{Interface, OUTAGE_MAX, SourceHost};
use crate::notice::Notice;
use crate::random_seed;
use crate::relay::SourceServer;

/// The interval of looks at progress, files and neighbours.
pub(super) const TICK: Duration = Duration::from_ms(500);

/// What is sent.
pub(super) trait Supply: Content<Error = Error> {
    /// The session has another description, which the table has from now on.
    fn describe(&mut self, session: &Session) -> Result<(), Error>;
}

/// A transmission in progress.
pub(super) struct Program<'o, P: AnyProtocol> {
    pub(super) host: SourceHost<P>,
    options: &'o SendOptions<P>,
    interface: Interface,
    size: Size,
    seed: u64,
    announcing: Option<Announcing>,
    neighbours: Neighbours,
    outage: Outage,
    lateness: Lateness,
    quiet: Quiet,
    begin: Time,
    next_tick: Time,
}

impl<'o, P: AnyProtocol> Program<'o, P> {
    /// Announces the session, says that it is ready, and starts it. `before` listened to its groups until now.
    ///
    /// # Errors
    /// If it cannot be served, described or started.
    pub(super) fn start(
        mut host: SourceHost<P>,
        supply: &mut impl Supply,
        interface: Interface,
        options: &'o SendOptions<P>,
        size: Size,
        before: Option<Before>,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Program<'o, P>, Error> {
        serve(&mut host, options.serve.as_ref())?;
        if options.reports {
            host.node.poll_receivers();
        }
        host.bound(options.on_demand);
        let mut neighbours = Neighbours::open(&interface, host.session());
        let described = described(options, size, host.session())?;
        on_event(&Event::ready(host.session(), size.files, &described));
        let clock = host.clock();
        before.into_iter().for_each(|before| neighbours.know(before.finish(&clock, on_event)));
        let begin = clock.now();
        let seed = options.seed.unwrap_or_else(random_seed);
        let announcing = announce(&interface, &described, options, begin, seed, on_event);
        host.start(supply)?;
        Ok(Program {
            announcing,
            host,
            options,
            interface,
            size,
            seed,
            neighbours,
            outage: Outage::default(),
            lateness: Lateness::default(),
            quiet: Quiet::default(),
            begin,
            next_tick: begin + TICK,
        })
    }

    /// The time since it was ready.
    pub(super) fn elapsed(&self, now: Time) -> StdDuration {
        StdDuration::from(now.since(self.begin))
    }

    /// Sends what is due until the next look. The time.
    ///
    /// # Errors
    /// What ends the session.
    pub(super) fn step(
        &mut self,
        supply: &mut impl Supply,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Time, Error> {
        self.host.step(self.next_tick, supply)?;
        let now = self.host.clock().now();
        self.outage.poll(&self.interface, &self.host, now, on_event);
        self.quiet.poll(&mut self.host, now, on_event);
        Ok(now)
    }

    /// Whether it is time for a look.
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.next_tick
    }

    /// Looks at all that changes seldom.
    ///
    /// # Errors
    /// If it cannot go on from another address.
    pub(super) fn poll(
        &mut self,
        now: Time,
        supply: &mut impl Supply,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), Error> {
        self.next_tick = now + TICK;
        let clock = self.host.clock();
        if self.host.node.collector().is_some_and(Collector::take_news)
            && let Some(reception) = self.reception(now)
        {
            on_event(&Event::Reception(Box::new(reception)));
        }
        self.neighbours.poll(&clock, on_event);
        if let Some(announcing) = &mut self.announcing {
            announcing.step(&clock);
        }
        if let Some(to) = another_address(&self.host, &self.interface) {
            self.move_to(to, now, supply, on_event)?;
        }
        turned_away(&mut self.host, self.options, on_event);
        if let Some(notice) = self.lateness.check(self.host.node.take_lateness()) {
            on_event(&Event::Notice(notice));
        }
        Ok(())
    }

    /// Goes on from another address.
    fn move_to(
        &mut self,
        to: Interface,
        now: Time,
        supply: &mut impl Supply,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), Error> {
        self.host.move_to(&to, self.options.ttl)?;
        supply.describe(self.host.session())?;
        self.neighbours = Neighbours::open(&to, self.host.session());
        let described = described(self.options, self.size, self.host.session())?;
        self.announcing = announce(&to, &described, self.options, now, self.seed, on_event);
        let from = std::mem::replace(&mut self.interface, to).address;
        on_event(&Event::Notice(Notice::Moved { from, to: self.host.session().source }));
        on_event(&Event::ready(self.host.session(), self.size.files, &described));
        Ok(())
    }

    /// What is known of the receivers, if they are polled.
    pub(super) fn reception(&mut self, now: Time) -> Option<Reception> {
        self.host.node.collector().map(|collector| Reception { at: now, summary: collector.summary(now) })
    }

    /// Ends the session, and its announcement.
    ///
    /// # Errors
    /// If the last packets could not be sent.
    pub(super) fn end(mut self, supply: &mut impl Supply) -> Result<(), Error> {
        let ended = self.host.stop(supply);
        let clock = self.host.clock();
        self.announcing.into_iter().for_each(|announcing| announcing.finish(&clock));
        ended
    }
}

/// The description of a session for others.
pub(super) fn described<P: AnyProtocol>(
    options: &SendOptions<P>,
    size: Size,
    session: &Session,
) -> Result<Description, Error> {
    let key = options.key.as_ref().map(SecretKey::public);
    let described = describe(session, ntp_now_s(), &options.name, key, options.ttl, size, &options.relays);
    Ok(described.map_err(AnnounceError::from)?)
}

/// Rejects packets that the interface would cut into fragments.
pub(super) fn check_mtu(interface: &Interface, session: &Session) -> Result<(), Error> {
    let packet = session.packet.as_bytes();
    match interface.mtu(session.group) {
        Some(mtu) if packet > mtu => Err(Error::AboveMtu { packet, mtu, interface: interface.name.clone() }),
        _ => Ok(()),
    }
}

/// The description of a session that is about to start. Number and port are filled in later.
pub(super) fn description<P: AnyProtocol>(
    options: &SendOptions<P>,
    source: IpAddr,
    salt: Option<Salt>,
) -> Result<Session, Error> {
    let layers = whole_rates(&options.layers).map_err(SessionError::Layers)?;
    let needs = options.protocol.requirements();
    let plan = SessionPlan { layers: layers.clone(), packet_size: options.packet };
    let agreed = needs.agreed().iter().filter_map(|name| {
        let value = options.protocol.get(name)?;
        Some(((*name).to_owned(), value))
    });
    Ok(Session {
        tsi: random_seed() as u32,
        protocol: options.protocol.name().to_owned(),
        source,
        group: options.group,
        // The discard port is a placeholder where the system chooses one.
        feedback: SocketAddr::new(source, if options.feedback_port == 0 { 9 } else { options.feedback_port }),
        packet: options.packet,
        channels: needs.channels(&plan),
        agreed: agreed.collect(),
        group_key: options.group_key.as_ref().map(|key| key.fingerprint().to_string()),
        salt,
        layers,
        stream: None,
    })
}

/// A salt that no session had before.
pub(super) fn new_salt() -> Salt {
    let (high, low) = (u128::from(random_seed()), u128::from(random_seed()));
    Salt((high << 64 | low).to_be_bytes())
}

/// Serves receivers and relays by unicast too, if so asked.
fn serve<P: AnyProtocol>(host: &mut SourceHost<P>, options: Option<&ServeUse>) -> Result<(), Error> {
    let Some(ServeUse { serve, only, .. }) = options else { return Ok(()) };
    let server = SourceServer::open(serve, host.session().source)?;
    host.add_unicast_path(Box::new(server), *only);
    Ok(())
}

/// The interface with the address that it has now, if the network takes no packets since this host no longer has the old one.
fn another_address<P: AnyProtocol>(host: &SourceHost<P>, interface: &Interface) -> Option<Interface> {
    host.outage()?;
    let group = host.session().group;
    if Interface::find(Some(&interface.address.to_string()), group).is_ok() {
        return None;
    }
    Interface::find(Some(&interface.name), group).or_else(|_| Interface::find(None, group)).ok()
}

/// Announces the session, if the options say so. One that cannot be announced is still sent, with a notice.
pub(super) fn announce<P: AnyProtocol>(
    interface: &Interface,
    description: &Description,
    options: &SendOptions<P>,
    now: Time,
    seed: u64,
    on_event: &mut dyn FnMut(&Event),
) -> Option<Announcing> {
    let key = options.key.as_ref();
    let open = || Announcing::open(interface, options.group, description, key, now, seed);
    let opened = options.is_announced.then(open)?;
    let failed = |error: Error| on_event(&Event::Notice(Notice::NotAnnounced { reason: error.to_string() }));
    opened.map_err(failed).ok()
}

/// Reports the beginning and the end of an outage.
#[derive(Debug, Default)]
struct Outage {
    since: Option<Time>,
}

impl Outage {
    fn poll<P: AnyProtocol>(
        &mut self,
        interface: &Interface,
        host: &SourceHost<P>,
        now: Time,
        on_event: &mut dyn FnMut(&Event),
    ) {
        match (self.since, host.outage()) {
            (None, Some((since, error))) => {
                self.since = Some(since);
                let patience = Some(StdDuration::from(OUTAGE_MAX));
                let reason = Interface::trouble(&interface.name)
                    .map_or_else(|| error.to_string(), |(what, remedy)| format!("{what}: {remedy}"));
                on_event(&Event::Notice(Notice::UplinkDown { reason, patience }));
            }
            (Some(since), None) => {
                self.since = None;
                let after = StdDuration::from(now.since(since));
                on_event(&Event::Notice(Notice::UplinkBack { after }));
            }
            _ => {}
        }
    }
}

/// Names receivers that came after the last one that the protocol serves.
fn turned_away<P: AnyProtocol>(
    host: &mut SourceHost<P>,
    options: &SendOptions<P>,
    on_event: &mut dyn FnMut(&Event),
) {
    let most = options.protocol.requirements().most_receivers().unwrap_or(usize::MAX);
    while let Some(receiver) = host.node.take_turned_away() {
        let protocol = options.protocol.name();
        on_event(&Event::Notice(Notice::TurnedAway { receiver, protocol, most }));
    }
}
