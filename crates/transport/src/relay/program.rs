//! The program of a relay.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Duration};
use layercast_delivery::relay::parent::{Change, Feedback};
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::session::PACKET_BYTES;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::link::Link;
use super::server::{ServeOptions, Server};
use super::status::RelayStatus;
use super::upstream::{By, Upstream};
use crate::error::Error;
use crate::file_limit::raise_file_limit;
use crate::host::{Clock, Inbox, Interface, Tunnel as _};
use crate::notice::Notice;

/// The longest wait, so that a stop is seen.
const LONGEST_WAIT: StdDuration = StdDuration::from_millis(200);
/// The interval of reports.
const PROGRESS_EVERY: Duration = Duration::from_ms(1000);
/// The most sockets that are served between two looks at the time.
const EVENTS: usize = 64;
/// The number of the socket of children among those that are awaited.
const CHILDREN: u64 = u64::MAX;
/// The same of the sockets of the link.
const LINK: u64 = u64::MAX - 1;

/// The options of a relay.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// How children are served.
    pub serve: ServeOptions,
    /// The relays above, the first that answers; none if sessions are joined by multicast.
    pub parents: Vec<SocketAddr>,
    /// The interface of joins, by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The interface of a link on which it sends on by multicast the sessions that are named, by name or address.
    pub local: Option<String>,
}

/// What a relay says while it runs.
#[derive(Debug)]
pub enum RelayEvent<'a> {
    /// It listens here.
    Ready(SocketAddr),
    /// Once a second.
    Progress(&'a RelayStatus),
    /// A channel is joined, or left.
    Channel(&'a Change),
    /// Something that the operator should know.
    Notice(&'a Notice),
}

/// Relays sessions until it is stopped; then its children are sent elsewhere.
///
/// # Errors
/// Why it could not start.
pub fn relay(
    options: &RelayOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&RelayEvent<'_>),
) -> Result<RelayStatus, Error> {
    raise_file_limit();
    let mut relay = Relay::open(options)?;
    let listen = options.serve.listen;
    say(&RelayEvent::Ready(relay.server.address().unwrap_or(listen)));
    let mut next_progress = relay.clock.now() + PROGRESS_EVERY;
    while !stop.load(Ordering::Relaxed) {
        relay.step(say)?;
        let now = relay.clock.now();
        if now >= next_progress {
            next_progress = now + PROGRESS_EVERY;
            say(&RelayEvent::Progress(&relay.status()));
        }
    }
    let status = relay.status();
    relay.server.close();
    Ok(status)
}

struct Relay<'o> {
    options: &'o RelayOptions,
    server: Server,
    upstreams: Vec<Option<Upstream>>,
    inbox: Inbox,
    clock: Clock,
    epoll: OwnedFd,
    /// For messages to sources, of both versions of IP.
    to_sources: [Option<UdpSocket>; 2],
}

impl<'o> Relay<'o> {
    fn open(options: &'o RelayOptions) -> Result<Relay<'o>, Error> {
        let listen = options.serve.listen;
        let failed =
            |what: &'static str| move |error: rustix::io::Errno| Error::socket(what, listen, error.into());
        let mut server = Server::open(&options.serve)?;
        server.set_depth(1);
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed("wait for packets"))?;
        epoll::add(&epoll, server.as_fd(), EventData::new_u64(CHILDREN), EventFlags::IN)
            .map_err(failed("wait for packets"))?;
        // Later nothing could be done but to serve nothing.
        for key in options.serve.allowed.sessions.iter().filter(|_| options.parents.is_empty()) {
            Interface::find(options.interface.as_deref(), key.group)?;
        }
        let clock = Clock::default();
        if let Some(name) = &options.local {
            let link = open_link(options, name, &clock)?;
            for socket in link.sockets() {
                epoll::add(&epoll, socket, EventData::new_u64(LINK), EventFlags::IN)
                    .map_err(failed("wait for reports"))?;
            }
            server.set_link(link);
        }
        let bound = |any: IpAddr| {
            let socket = UdpSocket::bind((any, 0)).ok()?;
            socket.set_nonblocking(true).ok().map(|()| socket)
        };
        Ok(Relay {
            options,
            server,
            upstreams: Vec::new(),
            inbox: Inbox::new(*PACKET_BYTES.end() as usize),
            clock,
            epoll,
            to_sources: [bound(Ipv4Addr::UNSPECIFIED.into()), bound(Ipv6Addr::UNSPECIFIED.into())],
        })
    }

    /// Waits, and does what is due.
    fn step(&mut self, say: &mut dyn FnMut(&RelayEvent<'_>)) -> Result<(), Error> {
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
        let rest = self.tunnels().map(|tunnel| tunnel.rest()).min().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
        let timeout = rustix::event::Timespec {
            tv_sec: rest.as_secs() as i64,
            tv_nsec: i64::from(rest.subsec_nanos()),
        };
        // An interrupted wait is over: the caller checks whether to stop.
        let count = epoll::wait(&self.epoll, &mut events, Some(&timeout)).unwrap_or(0);
        // Data first: a flood of hellos delays it by no more than one reading of them.
        for event in events.iter().take(count).filter(|event| event.data.u64() < LINK) {
            let (place, channel) = of_token(event.data.u64());
            let Some(Some(upstream)) = self.upstreams.get_mut(place) else { continue };
            upstream.read(place, channel, (&mut self.inbox, &self.clock), &mut self.server);
        }
        if events.iter().take(count).any(|event| event.data.u64() == CHILDREN) {
            let (upstreams, to_sources, mut without) = (&self.upstreams, &self.to_sources, None);
            self.server.read(&mut |feedback| {
                if !pass_on(upstreams, to_sources, feedback) {
                    without = Some(feedback.session);
                }
            });
            // A child that was silent and removed comes back without channels. It repeats what matters, such as its completion.
            let unserved = self.server.sessions().find(|(place, _)| Some(*place) == without);
            if let Some((session, key)) = unserved {
                self.upstream(session, key);
            }
        }
        self.server.work_link();
        self.server.look();
        while let Some(change) = self.server.take_change() {
            self.change(&change)?;
            say(&RelayEvent::Channel(&change));
        }
        self.close_unused();
        self.work(say);
        Ok(())
    }

    fn tunnels(&self) -> impl Iterator<Item = &super::tunnel::RelayTunnel> {
        self.upstreams.iter().flatten().filter_map(|upstream| match &upstream.by {
            By::Relay(tunnel) => Some(&**tunnel),
            By::Groups(_) => None,
        })
    }

    /// Joins or leaves a channel.
    fn change(&mut self, change: &Change) -> Result<(), Error> {
        let Change { session, key, channel, is_join } = *change;
        self.upstream(session, key);
        let upstream = self.upstreams.get_mut(session).and_then(Option::as_mut);
        let (Some(upstream), Some(group)) = (upstream, key.address(channel)) else { return Ok(()) };
        match &mut upstream.by {
            By::Relay(tunnel) if is_join => tunnel.join(channel, group)?,
            By::Relay(tunnel) => tunnel.leave(channel, group),
            By::Groups(groups) if is_join => match groups.join(channel, group) {
                Ok(()) => watch(&self.epoll, upstream, session, channel),
                Err(error) => tracing::warn!("a group could not be joined, so its children lack it: {error}"),
            },
            // A socket that is closed is awaited no longer.
            By::Groups(groups) => groups.leave(channel),
        }
        Ok(())
    }

    /// Opens the upstream of a session, unless it is there.
    fn upstream(&mut self, session: usize, key: SessionKey) {
        if self.upstreams.len() <= session {
            self.upstreams.resize_with(session + 1, || None);
        }
        let Some(place) = self.upstreams.get_mut(session) else {
            return cannot_be("the list was made longer");
        };
        if place.as_ref().is_some_and(|upstream| upstream.key == key) {
            return;
        }
        match Upstream::open(key, self.options.interface.as_deref(), &self.options.parents) {
            Ok(upstream) => {
                let upstream = place.insert(upstream);
                if let By::Relay(_) = upstream.by {
                    watch(&self.epoll, upstream, session, Channel(0));
                }
            }
            Err(error) => tracing::warn!("a session cannot be joined: {error}"),
        }
    }

    /// Closes the upstreams of sessions that no child wants.
    fn close_unused(&mut self) {
        for (place, upstream) in self.upstreams.iter_mut().enumerate() {
            let Some(key) = upstream.as_ref().map(|upstream| upstream.key) else { continue };
            if !self.server.sessions().any(|(other, session)| (other, session) == (place, key)) {
                *upstream = None;
            }
        }
    }

    /// Does what tunnels have to do.
    fn work(&mut self, say: &mut dyn FnMut(&RelayEvent<'_>)) {
        let mut depth = None;
        for place in 0..self.upstreams.len() {
            let Some(Some(upstream)) = self.upstreams.get_mut(place) else { continue };
            if let By::Relay(tunnel) = &mut upstream.by {
                while let Some(notice) = tunnel.take_notice() {
                    say(&RelayEvent::Notice(&notice));
                }
                depth = tunnel.link().and_then(|link| link.depth).or(depth);
                if tunnel.rest().is_zero() {
                    upstream.read(place, Channel(0), (&mut self.inbox, &self.clock), &mut self.server);
                }
            }
        }
        if let Some(depth) = depth {
            self.server.set_depth(depth.saturating_add(1));
        }
    }

    fn status(&self) -> RelayStatus {
        let mut status = self.server.status();
        for session in &mut status.sessions {
            let upstream = self.upstreams.iter().flatten().find(|upstream| upstream.key == session.key);
            let Some(By::Relay(tunnel)) = upstream.map(|upstream| &upstream.by) else { continue };
            session.parent = tunnel.link();
            session.parent_port = tunnel.port();
        }
        status
    }
}

/// The link on which packets are sent on. No packets of it may come from there.
fn open_link(options: &RelayOptions, name: &str, clock: &Clock) -> Result<Link, Error> {
    let sessions = &options.serve.allowed.sessions;
    let link = Link::open(name, sessions, clock.now())?;
    for key in sessions.iter().filter(|_| options.parents.is_empty()) {
        let upstream = Interface::find(options.interface.as_deref(), key.group)?;
        if upstream.index == link.index() {
            return Err(Error::LocalIsUpstream { interface: upstream.name });
        }
    }
    Ok(link)
}

/// The number by which the socket of a channel is awaited.
fn token(place: usize, channel: Channel) -> u64 {
    (place as u64) << 16 | u64::from(channel.0)
}

fn of_token(token: u64) -> (usize, Channel) {
    ((token >> 16) as usize, Channel(token as u16))
}

fn watch(epoll: &OwnedFd, upstream: &Upstream, place: usize, channel: Channel) {
    let Some(socket) = upstream.socket(channel) else { return };
    let data = EventData::new_u64(token(place, channel));
    match epoll::add(epoll, socket, data, EventFlags::IN) {
        // It is awaited already.
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => tracing::warn!(%error, "a group cannot be read"),
    }
}

/// Passes a message on to the source: through the relay above, or directly to an address that sends packets of the session.
/// Returns whether the session has an upstream.
fn pass_on(
    upstreams: &[Option<Upstream>],
    sockets: &[Option<UdpSocket>; 2],
    feedback: &Feedback<'_>,
) -> bool {
    let Some(Some(upstream)) = upstreams.get(feedback.session) else { return false };
    let (message, to) = (feedback.message, feedback.to);
    let sent = match &upstream.by {
        By::Relay(tunnel) => tunnel.send_feedback(message, to).unwrap_or(Ok(())),
        By::Groups(_) => upstream.reach(to).map_or(Ok(()), |to| {
            let [v4, v6] = sockets;
            let socket = if to.is_ipv4() { v4 } else { v6 };
            socket.as_ref().map_or(Ok(()), |socket| socket.send_to(message, to).map(|_| ()))
        }),
    };
    if let Err(error) = sent {
        tracing::debug!(%error, %to, "a message to the source was not passed on");
    }
    true
}
