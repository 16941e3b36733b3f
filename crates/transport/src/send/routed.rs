//! A transmission over relays whose routers take part: every chunk once, in order, until all receivers that came have everything.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use layercast_core::family::AnyProtocol;
use layercast_core::units::{Duration, Time};
use layercast_delivery::active::downlinks::DownOptions;
use layercast_delivery::active::source::{Chunks, SourceNode};
use layercast_delivery::carousel::Pick;
use layercast_delivery::in_order::InOrder;
use layercast_delivery::node::SourceCounters;
use layercast_delivery::protocols::{deployed, set_options};
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::protection::{Outgoing, Scheme};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::send_state::file::Saved;
use layercast_delivery::sender::PacketPayload;
use layercast_delivery::session::{Session, SessionError};
use layercast_protocols::registry::Protocol;

use super::files::{self, Files, FilesOptions};
use super::program::{announce, described, description, new_salt};
use super::scan::Reading;
use super::{ContentSize, Cut, SendOptions, SendProgress, Sent, ServeUse, Stopped, packages_folder};
use crate::active::{KEEP_ALIVE, Node, NodeSocket, run};
use crate::error::Error;
use crate::event::Event;
use crate::file_limit::raise_file_limit;
use crate::host::{Clock, Datagram, Interface};
use crate::notice::Notice;
use crate::{random_secret, random_seed};

/// Sends files and folders until all receivers have them.
pub(super) fn send<P: AnyProtocol>(
    paths: &[PathBuf],
    options: &SendOptions<P>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Sent, Error> {
    let name = options.protocol.name();
    let routers = || SessionError::Routers(name.to_owned());
    let ServeUse { serve, gather, .. } = options.serve.as_ref().ok_or_else(routers)?;
    let protocol = built_in(&options.protocol)?.ok_or_else(routers)?;
    raise_file_limit();
    let mut socket = NodeSocket::open(serve.listen)?;
    let listen = socket.address()?;
    let source = address(options, listen.ip());
    let session = Session {
        feedback: SocketAddr::new(source, listen.port()),
        ..description(options, source, options.encrypts.then(new_salt))?
    };
    session.check()?;
    let cut = Cut {
        symbol: session.symbol_size(),
        longest: options.longest_part,
        is_signed: options.key.is_some(),
    };
    // The table, which names all hashes, is sent first.
    let reading = Reading { cut, tagged: u64::MAX };
    let saved = Saved::default();
    let beginning = files::find(paths, &saved, reading, stop, on_event)?;
    let bytes = beginning.found.iter().map(|(one, _)| one.length()).sum();
    let packages = options.packs.then(|| packages_folder(None));
    let how = FilesOptions { is_open: false, packages, reading, key: options.key.as_ref() };
    let files = Files::new(&beginning, &session, &options.ends, &saved, how, on_event)?;
    drop((beginning, saved));
    let size = ContentSize { files: files.objects(), bytes };
    let down = DownOptions {
        session: SessionKey { group: options.group, source: None },
        children: serve.limits.children,
        alternatives: Alternatives::default(),
        keep_alive: KEEP_ALIVE,
    };
    let gather = Duration::from(*gather);
    let scheme = options.group_key.as_ref().map(|key| Scheme::of(key, session.salt, session.tsi));
    let mut node = SourceNode::new(&protocol, session, &down, gather, random_secret()?)?;
    if let Some(scheme) = scheme {
        node.protect(Outgoing::new(scheme, Sequence::all()));
    }
    let described = described(&with_source(options, listen), size, node.session())?;
    on_event(&Event::ready(node.session(), size.files, &described));
    let clock = Clock::default();
    let interface =
        options.is_announced.then(|| Interface::find(options.interface.as_deref(), options.group));
    let announcing = interface.transpose()?.and_then(|interface| {
        announce(&interface, &described, options, clock.now(), random_seed(), on_event)
    });
    let chunks = Ordered { order: files.in_order(), files, lost: BTreeSet::new(), notices: Vec::new() };
    let mut sending =
        Sending { node, chunks, announcing, begin: clock.now(), progress: None, clock, on_event };
    let is_done = run(&mut sending, &mut socket, &clock, stop)?;
    let Sending { chunks, announcing, progress, .. } = sending;
    announcing.into_iter().for_each(|announcing| announcing.finish(&clock));
    Ok(Sent {
        stopped: if is_done { Stopped::AllComplete } else { Stopped::Interrupted },
        progress: progress.unwrap_or_default(),
        completed: Vec::new(),
        withdrawn: chunks.lost.len(),
        left_out: chunks.files.left_out(),
        reception: None,
    })
}

/// The protocol of Layercast's own that this one is, with its options; none if it is another one.
fn built_in<P: AnyProtocol>(protocol: &P) -> Result<Option<Protocol>, Error> {
    let Some(mut own) = deployed::<Protocol>(protocol.name()) else { return Ok(None) };
    let specs = protocol.option_specs();
    let options = specs.iter().filter_map(|spec| Some((spec.name.to_owned(), protocol.get(spec.name)?)));
    set_options(&mut own, &options.collect::<Vec<_>>())?;
    Ok(Some(own))
}

/// The address by which the description names the source: that where it listens, or else that of the interface to the group. Nothing
/// is sent to the group, so there need not be one.
fn address<P>(options: &SendOptions<P>, listen: IpAddr) -> IpAddr {
    let group = options.group;
    if listen.is_ipv4() == group.is_ipv4() && !listen.is_unspecified() {
        return listen;
    }
    let any: IpAddr = if group.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
    Interface::find(options.interface.as_deref(), group).map_or(any, |interface| interface.address)
}

/// The options with the source as the last of the relays that a description names, if its address is known.
fn with_source<P: Clone>(options: &SendOptions<P>, listen: SocketAddr) -> SendOptions<P> {
    let mut options = options.clone();
    options.relays.extend((!listen.ip().is_unspecified()).then_some(listen));
    options
}

/// Files in order.
struct Ordered {
    files: Files,
    order: InOrder,
    /// Files that changed or vanished.
    lost: BTreeSet<PathBuf>,
    notices: Vec<Notice>,
}

impl Ordered {
    /// Goes on without a file that changed or vanished, unless it is the only one.
    fn lose(&mut self, error: Error) -> Result<(), Error> {
        let (path, vanished) = match &error {
            Error::FileChanged { path } => (path.clone(), false),
            Error::FileVanished { path } => (path.clone(), true),
            _ => return Err(error),
        };
        if self.files.is_single() {
            return Err(error);
        }
        if self.lost.insert(path.clone()) {
            self.notices.push(Notice::Withdrawn { path, vanished });
        }
        Ok(())
    }
}

impl Chunks for Ordered {
    type Error = Error;

    fn count(&self) -> u64 {
        self.order.chunks()
    }

    fn chunk(&mut self, number: u64, room: &mut [u8]) -> Result<PacketPayload, Error> {
        let pick: Option<Pick> = self.order.pick(number);
        match pick.map_or(Ok(PacketPayload::default()), |pick| self.files.load(pick, room)) {
            Err(error) => self.lose(error).map(|()| PacketPayload::default()),
            loaded => loaded,
        }
    }
}

struct Sending<'a> {
    node: SourceNode,
    chunks: Ordered,
    announcing: Option<crate::announcing::Announcing>,
    begin: Time,
    progress: Option<SendProgress>,
    clock: Clock,
    on_event: &'a mut dyn FnMut(&Event),
}

impl Node for Sending<'_> {
    fn receive(
        &mut self,
        now: Time,
        datagram: &Datagram,
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), Error> {
        self.node.receive(now, datagram.from, bytes, &mut self.chunks, socket)
    }

    fn handle_timer(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), Error> {
        self.node.tick(now, &mut self.chunks, socket)
    }

    fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    fn is_done(&self) -> bool {
        self.node.is_done()
    }

    fn say_news(&mut self) {
        self.chunks.notices.drain(..).for_each(|notice| (self.on_event)(&Event::Notice(notice)));
    }

    fn report(&mut self, now: Time, socket: &NodeSocket) -> Result<(), Error> {
        for (_, error) in self.chunks.files.lost() {
            self.chunks.lose(error)?;
        }
        if let Some(announcing) = &mut self.announcing {
            announcing.step(&self.clock);
        }
        let (counters, sent) = (self.node.counters(), self.node.links().sent());
        let progress = SendProgress {
            elapsed: std::time::Duration::from(now.since(self.begin)),
            rounds: self.node.reached() as f64 / self.chunks.count().max(1) as f64,
            counters: SourceCounters {
                packets: sent.packets,
                bytes: sent.bytes,
                refused: socket.unsent,
                reports: counters.received,
                bad_feedback: counters.malformed,
                ..SourceCounters::default()
            },
            completions: 0,
            estimates: self.node.estimates(now),
        };
        self.progress = Some(progress);
        (self.on_event)(&Event::Progress(progress.into()));
        Ok(())
    }

    fn close(&mut self, socket: &mut NodeSocket) {
        self.node.close(socket);
    }
}
