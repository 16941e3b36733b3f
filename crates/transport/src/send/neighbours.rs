//! Other senders on a source's groups: heard before it sends and, on the base layer's group, all the time; and announced.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use layercast_core::units::Channel;
use socket2::SockRef;

use crate::event::Event;
use crate::host::{Clock, Inbox, Interface, PacketSocket, open_group};
use crate::listening::Listener;
use crate::notice::Notice;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::groups::GroupRange;
use layercast_delivery::packet::View;
use layercast_delivery::session::Session;

/// The receive buffer: a sample of what is on the group is enough, and the source's own packets, which come back,
/// must cost little.
const BUFFER: usize = 32 << 10;
/// The part of a packet that is read: more than the longest LCT header.
const HEAD: usize = 256;
/// The maximum number of other senders that are named, and of sessions.
const NAMED_MAX: usize = 8;
/// How long the groups are listened to at least before anything is sent: some packets of a slow base layer.
const BEFORE: Duration = Duration::from_millis(300);

/// Members of all groups that a source is about to use.
#[derive(Debug)]
pub(super) struct Before {
    sockets: Vec<(SocketAddr, PacketSocket)>,
    begin: Instant,
}

impl Before {
    /// Joins the groups, as far as they can be joined.
    pub(super) fn open(interface: &Interface, session: &Session) -> Before {
        let groups = (0..session.channels).filter_map(|channel| session.address(Channel(channel)));
        let open = |group| Some((group, small(interface, group)?));
        Before { sockets: groups.filter_map(open).collect(), begin: Instant::now() }
    }

    /// Waits until they were listened to for long enough, and reports each sender once. They are left. Returns the senders.
    pub(super) fn finish(self, clock: &Clock, on_event: &mut dyn FnMut(&Event)) -> Vec<IpAddr> {
        std::thread::sleep(BEFORE.saturating_sub(self.begin.elapsed()));
        let (mut inbox, mut named) = (Inbox::new(HEAD), Vec::new());
        for (group, socket) in &self.sockets {
            inbox.clear();
            if inbox.drain(socket, None, clock).is_err() {
                continue;
            }
            for (datagram, bytes) in (0..inbox.len()).filter_map(|index| inbox.get(index)) {
                let from = datagram.from.ip();
                if named.len() < NAMED_MAX && !named.contains(&from) {
                    named.push(from);
                    let is_ours = View::new(bytes).is_ok_and(|view| view.tsi().is_some());
                    on_event(&Event::Notice(Notice::OtherSender { from, group: *group, is_ours }));
                }
            }
        }
        named
    }
}

/// A member of a group that keeps little; none where it cannot be joined: then nothing is noticed.
fn small(interface: &Interface, group: SocketAddr) -> Option<PacketSocket> {
    let socket = open_group(interface, group, None)
        .inspect_err(|error| tracing::debug!(%error, "other senders are not noticed"))
        .ok()?;
    SockRef::from(socket.as_udp()).set_recv_buffer_size(BUFFER).ok()?;
    Some(socket)
}

/// A socket that is a member of the source's own group, and a listener to announcements.
#[derive(Debug)]
pub(super) struct Neighbours {
    socket: Option<PacketSocket>,
    inbox: Inbox,
    group: SocketAddr,
    groups: Option<GroupRange>,
    channels: u16,
    source: IpAddr,
    tsi: u32,
    named: Vec<IpAddr>,
    announcements: Option<Listener>,
    /// Sessions on the same groups that were reported.
    sessions: Vec<(IpAddr, GroupRange)>,
}

impl Neighbours {
    pub(super) fn open(interface: &Interface, session: &Session) -> Neighbours {
        let announcements = Listener::open(Some(&interface.name), &[])
            .inspect_err(|error| tracing::debug!(%error, "sessions of others are not compared"));
        Neighbours {
            socket: small(interface, session.group),
            inbox: Inbox::new(HEAD),
            group: session.group,
            groups: session.groups(),
            channels: session.channels,
            source: session.source,
            tsi: session.tsi,
            named: Vec::new(),
            announcements: announcements.ok(),
            sessions: Vec::new(),
        }
    }

    /// These senders were reported already.
    pub(super) fn know(&mut self, senders: Vec<IpAddr>) {
        self.named = senders;
    }

    /// Reads what has come, and reports each other sender, and each session on the same groups, once.
    pub(super) fn poll(&mut self, clock: &Clock, on_event: &mut dyn FnMut(&Event)) {
        self.check_group(clock, on_event);
        self.check_announcements(on_event);
    }

    fn check_group(&mut self, clock: &Clock, on_event: &mut dyn FnMut(&Event)) {
        let Some(socket) = &self.socket else { return };
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(socket, Some(Channel(0)), clock) {
            tracing::debug!(%error, "the source's own group could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get(index) else { break };
            let from = datagram.from.ip();
            let tsi = View::new(bytes).ok().and_then(|view| view.tsi());
            let is_own = from == self.source && tsi == Some(u64::from(self.tsi));
            if !is_own && self.named.len() < NAMED_MAX && !self.named.contains(&from) {
                self.named.push(from);
                let is_ours = tsi.is_some();
                on_event(&Event::Notice(Notice::OtherSender { from, group: self.group, is_ours }));
            }
        }
    }

    fn check_announcements(&mut self, on_event: &mut dyn FnMut(&Event)) {
        let (Some(listener), Some(own)) = (&mut self.announcements, self.groups) else { return };
        let mut is_new = false;
        if let Err(error) = listener.wait(Duration::ZERO, &mut |_, _, _| is_new = true) {
            tracing::debug!(%error, "announcements could not be read");
        }
        if !is_new {
            return;
        }
        for entry in listener.directory().sessions() {
            let description = &entry.description;
            let is_own = description.tsi == u64::from(self.tsi) && description.source == Some(self.source);
            let groups = ranges(description).find(|groups| own.overlaps(groups)).filter(|_| !is_own);
            let Some(groups) = groups else { continue };
            let from = description.source.unwrap_or(entry.announcer);
            if self.sessions.len() < NAMED_MAX && !self.sessions.contains(&(from, groups)) {
                self.sessions.push((from, groups));
                let free = own.free_after(&groups, self.channels);
                let name = description.name.clone();
                on_event(&Event::Notice(Notice::SharedGroups { name, from, groups, own, free }));
            }
        }
    }
}

/// The groups of a described session.
fn ranges(description: &Description) -> impl Iterator<Item = GroupRange> {
    let media = description.media.iter();
    media.filter_map(|media| GroupRange::new(SocketAddr::new(media.group, media.port), media.channels))
}
