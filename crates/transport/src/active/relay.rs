//! The program of a relay whose router takes part.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use layercast_core::units::{Duration, Rate, Time};
use layercast_delivery::active::downlinks::DownOptions;
use layercast_delivery::active::relay::RelayNode;
use layercast_delivery::active::uplink::UpOptions;
use layercast_delivery::node::RelayState;
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::relay::status::served;

use super::KEEP_ALIVE;
use super::program::{Node, run};
use super::socket::NodeSocket;
use crate::error::Error;
use crate::event::{Event, RelayStatus, RouterStatus};
use crate::host::{Clock, Datagram};
use crate::notice::Notice;
use crate::random_secret;
use crate::relay::cpu_s;

/// The options of a relay whose router takes part.
#[derive(Clone, Debug)]
pub struct RouterOptions {
    /// The session.
    pub session: SessionKey,
    /// The protocol whose router takes part, by name.
    pub protocol: String,
    /// Where children are awaited.
    pub listen: SocketAddr,
    /// The relays above, or the source: the first that answers.
    pub parents: Vec<SocketAddr>,
    /// The most children.
    pub children: usize,
    /// Relays that are named to children that are refused.
    pub alternatives: Alternatives,
}

/// Relays sessions of one group until it is stopped. `on_event` gets the events.
///
/// # Errors
/// Why it could not start or go on.
pub fn relay(
    options: &RouterOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<RelayStatus, Error> {
    let clock = Clock::default();
    let up = UpOptions {
        session: options.session,
        parents: options.parents.clone(),
        within: Duration::from_ms(50),
    };
    let down = DownOptions {
        session: options.session,
        children: options.children,
        alternatives: options.alternatives,
        keep_alive: KEEP_ALIVE,
    };
    let mut socket = NodeSocket::open(options.listen)?;
    let listen = socket.address()?;
    on_event(&Event::Listening { address: listen });
    let node =
        RelayNode::new(&options.protocol, &up, &down, clock.now(), [random_secret()?, random_secret()?]);
    let measured = (clock.now(), 0);
    let mut relaying = Relaying { node, protocol: &options.protocol, listen, measured, on_event };
    run(&mut relaying, &mut socket, &clock, stop)?;
    Ok(relaying.status(clock.now(), &socket))
}

struct Relaying<'a> {
    node: RelayNode,
    protocol: &'a str,
    listen: SocketAddr,
    /// When the rate was measured last, and the bytes sent until then.
    measured: (Time, u64),
    on_event: &'a mut dyn FnMut(&Event),
}

impl Node for Relaying<'_> {
    fn receive(
        &mut self,
        now: Time,
        datagram: &Datagram,
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), Error> {
        self.node.receive(now, datagram.from, datagram.ecn, bytes, socket);
        Ok(())
    }

    fn handle_timer(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), Error> {
        self.node.tick(now, socket);
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    /// It serves the next session too.
    fn is_done(&self) -> bool {
        false
    }

    fn say_news(&mut self) {
        while let Some(news) = self.node.take_news() {
            (self.on_event)(&Event::Notice(Notice::Relay { news }));
        }
    }

    fn report(&mut self, now: Time, socket: &NodeSocket) -> Result<(), Error> {
        let status = self.status(now, socket);
        (self.on_event)(&Event::Progress(status.into()));
        Ok(())
    }

    fn close(&mut self, socket: &mut NodeSocket) {
        self.node.close(socket);
    }
}

impl Relaying<'_> {
    fn status(&mut self, now: Time, socket: &NodeSocket) -> RelayStatus {
        let (up, down) = (self.node.up(), self.node.down());
        let (parent, sent) = (down.parent(), down.sent());
        let (mut sessions, children) = served(parent, now);
        for session in &mut sessions {
            // The parent and the children are on one socket.
            (session.parent, session.parent_port) = (up.link(), Some(self.listen.port()));
        }
        let (then, before) = std::mem::replace(&mut self.measured, (now, sent.bytes));
        let passed_s = now.since(then).as_secs_f64().max(1e-3);
        RelayStatus {
            listen: Some(self.listen),
            node: RelayState {
                depth: parent.depth(),
                rate: Rate::from_bps((sent.bytes - before) as f64 * 8.0 / passed_s),
                packets: sent.packets,
                bytes: sent.bytes,
                dropped: sent.dropped,
                counters: *parent.counters(),
                sessions,
                children,
            },
            send_calls: socket.calls,
            cpu_s: cpu_s(),
            link: None,
            router: Some(RouterStatus {
                protocol: self.protocol.to_owned(),
                is_taking_part: self.node.is_taking_part(),
                counters: *self.node.counters(),
            }),
        }
    }
}
