//! The program of a relay.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use layercast_core::units::Duration;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::link::Link;
use super::server::{ServeOptions, Server};
use super::upstream::Upstreams;
use crate::error::Error;
use crate::event::{self, RelayStatus};
use crate::file_limit::raise_file_limit;
use crate::host::{Clock, Interface, until};

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

/// Relays sessions until it is stopped; then its children are sent elsewhere.
///
/// # Errors
/// Why it could not start.
pub fn relay(
    options: &RelayOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&event::Event),
) -> Result<RelayStatus, Error> {
    raise_file_limit();
    let mut relay = Relaying::open(options)?;
    let listen = options.serve.listen;
    on_event(&event::Event::Listening { address: relay.server.address().unwrap_or(listen) });
    let clock = relay.server.clock();
    let mut next_progress = clock.now() + PROGRESS_EVERY;
    while !stop.load(Ordering::Relaxed) {
        relay.step(on_event);
        let now = clock.now();
        if now >= next_progress {
            next_progress = now + PROGRESS_EVERY;
            on_event(&event::Event::Progress(relay.status().into()));
        }
    }
    let status = relay.status();
    let Relaying { server, upstreams } = &mut relay;
    server.close(&mut |output| upstreams.carry_out(output, on_event));
    Ok(status)
}

/// A relay on sockets.
struct Relaying<'o> {
    server: Server,
    upstreams: Upstreams<'o>,
}

impl<'o> Relaying<'o> {
    fn open(options: &'o RelayOptions) -> Result<Relaying<'o>, Error> {
        let listen = options.serve.listen;
        let failed =
            |what: &'static str| move |error: rustix::io::Errno| Error::socket(what, listen, error.into());
        let mut server = Server::open(&options.serve, options.parents.clone().into())?;
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed("wait for packets"))?;
        epoll::add(&epoll, server.as_fd(), EventData::new_u64(CHILDREN), EventFlags::IN)
            .map_err(failed("wait for packets"))?;
        // Later nothing could be done but to serve nothing.
        for key in options.serve.allowed.sessions.iter().filter(|_| options.parents.is_empty()) {
            Interface::find(options.interface.as_deref(), key.group)?;
        }
        if let Some(name) = &options.local {
            let link = open_link(options, name, &server.clock())?;
            for socket in link.sockets() {
                epoll::add(&epoll, socket, EventData::new_u64(LINK), EventFlags::IN)
                    .map_err(failed("wait for reports"))?;
            }
            server.set_link(link);
        }
        let upstreams = Upstreams::new(options.interface.as_deref(), &options.parents, epoll);
        Ok(Relaying { server, upstreams })
    }

    /// Waits, and does what is due.
    fn step(&mut self, on_event: &mut dyn FnMut(&event::Event)) {
        let Relaying { server, upstreams } = self;
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
        let rest = server.deadline().map_or(LONGEST_WAIT, |due| until(server.clock().now(), due));
        let rest = rest.min(LONGEST_WAIT);
        let timeout = rustix::event::Timespec {
            tv_sec: rest.as_secs() as i64,
            tv_nsec: i64::from(rest.subsec_nanos()),
        };
        // An interrupted wait is over: the caller checks whether to stop.
        let count = epoll::wait(upstreams.epoll(), &mut events, Some(&timeout)).unwrap_or(0);
        // Data first: a flood of hellos delays it by no more than one reading of them.
        for event in events.iter().take(count).filter(|event| event.data.u64() < LINK) {
            upstreams.read(event.data.u64(), server);
        }
        if events.iter().take(count).any(|event| event.data.u64() == CHILDREN) {
            server.read(&mut |output| upstreams.carry_out(output, on_event));
        }
        server.poll(&mut |output| upstreams.carry_out(output, on_event));
    }

    fn status(&self) -> RelayStatus {
        let mut status = self.server.status();
        for session in &mut status.node.sessions {
            session.parent_port = self.upstreams.port(session.place);
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
