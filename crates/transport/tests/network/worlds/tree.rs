//! A small tree with routers: S has the receiver 4 and the router 1 as children, router 1 the receivers 2 and 3.
//! What goes down to 1, 2 and 3 is lost with a probability of 3 %, what goes up with 1 %.

use std::collections::BTreeMap;

use layercast_core::contract::{
    Arrival, ChildLink, Ecn, Header as _, Host, Input, Origin, Payload, Peer, Send, Target, TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Seq, Size, Time};
use layercast_protocols::registry::{self, Header, Protocol};

use super::through_bytes;

/// How many chunks of data the source has.
pub(super) const PIECES: u64 = 400;
const PARENTS: [Option<usize>; 5] = [None, Some(0), Some(1), Some(1), Some(0)];
const DELAY: Duration = Duration::from_ms(10);
/// What a link to a child carries: the rate of all protocols here comes to rest somewhere.
const RATE: Rate = Rate::from_bps(2e6);
const END: Time = Time::from_ns(400_000_000_000);

/// What happened.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    /// Every input and action, with its node and time.
    pub(super) log: Vec<String>,
    /// How many chunks each receiver delivered.
    pub(super) delivered: Vec<u64>,
    /// How many repairs were sent.
    pub(super) repairs: u64,
    /// How many packets the router sent to its children by itself.
    pub(super) from_routers: u64,
}

/// A host that only collects.
#[derive(Default)]
struct Collected {
    sends: Vec<Send<Header>>,
    delivered: Option<Seq>,
    log: Vec<String>,
}

impl Host<Header> for Collected {
    fn send(&mut self, send: Send<Header>) {
        self.sends.push(send);
    }
    fn join(&mut self, channel: Channel) {
        self.log.push(format!("join {channel:?}"));
    }
    fn leave(&mut self, channel: Channel) {
        self.log.push(format!("leave {channel:?}"));
    }
    fn deliver(&mut self, through: Seq) {
        self.delivered = Some(through);
        self.log.push(format!("deliver {through:?}"));
    }
    fn release(&mut self, through: Seq) {
        self.log.push(format!("release {through:?}"));
    }
    fn trace(&mut self, event: TraceEvent) {
        self.log.push(format!("{event:?}"));
    }
}

enum Node {
    Source(Box<registry::Source>),
    Router(Box<registry::Router>),
    Receiver(Box<registry::Receiver>),
}

struct Tree {
    on_wire: bool,
    nodes: Vec<Node>,
    deadlines: Vec<Option<Time>>,
    busy_until: Vec<Time>,
    events: BTreeMap<(Time, u64), (usize, Arrival<Header>)>,
    order: u64,
    now: Time,
    left: u64,
    random: Stream,
    outcome: Outcome,
}

/// Runs a session until the source is done.
pub(super) fn run(name: &str, on_wire: bool) -> Outcome {
    let protocol = Protocol::named(name).unwrap();
    let layers = LayerTable::between(RATE, RATE).unwrap();
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let stream = |node: usize| Stream::new(node as u64, "node");
    let receiver = |node: usize| Node::Receiver(Box::new(protocol.receiver(plan.clone(), stream(node))));
    let nodes = vec![
        Node::Source(Box::new(protocol.source(plan.clone(), stream(0)))),
        Node::Router(Box::new(protocol.router(plan.clone(), stream(1)).unwrap())),
        receiver(2),
        receiver(3),
        receiver(4),
    ];
    let mut tree = Tree {
        on_wire,
        deadlines: vec![None; nodes.len()],
        busy_until: vec![Time::ZERO; nodes.len()],
        nodes,
        events: BTreeMap::new(),
        order: 0,
        now: Time::from_ns(1_000),
        left: PIECES,
        random: Stream::new(5, "losses"),
        outcome: Outcome { log: Vec::new(), delivered: vec![0; 3], repairs: 0, from_routers: 0 },
    };
    for node in (0..5).rev() {
        tree.give(node, Input::Start);
    }
    while tree.step() {}
    tree.outcome
}

impl Tree {
    fn step(&mut self) -> bool {
        if self.left == 0 && self.deadlines[0].is_none() {
            return false;
        }
        let event = self.events.keys().next().map(|&(at, _)| (at, usize::MAX));
        let timers = self.deadlines.iter().enumerate().filter_map(|(node, at)| Some(((*at)?, node)));
        let Some((at, node)) = event.into_iter().chain(timers).min().filter(|&(at, _)| at < END) else {
            return false;
        };
        self.now = at;
        if node < self.nodes.len() {
            self.give(node, Input::Timer);
        } else if let Some((_, (node, arrival))) = self.events.pop_first() {
            self.arrive(node, arrival);
        }
        true
    }

    fn arrive(&mut self, node: usize, mut arrival: Arrival<Header>) {
        let is_forwarded =
            matches!(arrival.origin, Origin::Channel(_)) && !arrival.header.is_held_by_routers();
        if is_forwarded {
            self.down(node, u64::MAX, arrival.origin, arrival.header, arrival.size);
        }
        if self.on_wire {
            arrival.header = through_bytes(arrival.origin, arrival.header);
        }
        self.give(node, Input::Packet(arrival));
    }

    fn give(&mut self, node: usize, input: Input<Header>) {
        let mut host = Collected::default();
        self.deadlines[node] = match &mut self.nodes[node] {
            Node::Source(source) => drive(source.as_mut(), self.now, input, &mut host),
            Node::Router(router) => drive(router.as_mut(), self.now, input, &mut host),
            Node::Receiver(receiver) => drive(receiver.as_mut(), self.now, input, &mut host),
        };
        let deadline = self.deadlines[node];
        self.outcome.log.push(format!("{:?} {node}: {input:?} {:?} until {deadline:?}", self.now, host.log));
        if let Some(through) = host.delivered {
            self.outcome.delivered[node - 2] = through.0 + 1;
        }
        for send in host.sends {
            self.outcome.log.push(format!("{node} sends {send:?}"));
            self.send(node, send);
        }
    }

    fn send(&mut self, node: usize, send: Send<Header>) {
        assert_eq!(send.count, 1, "these protocols send no runs");
        self.outcome.repairs += u64::from(send.header.is_repair());
        let channel = Origin::Channel(Channel(0));
        match send.target {
            Target::Channel(_) => self.down(node, u64::MAX, channel, send.header, send.size),
            Target::Children(links) => {
                self.outcome.from_routers += u64::from(node == 1);
                self.down(node, links.0, channel, send.header, send.size);
            }
            Target::Peer(Peer(peer)) => {
                let links = 1 << children(node).position(|child| child == peer as usize).unwrap();
                self.outcome.from_routers += u64::from(node == 1);
                self.down(node, links, Origin::Peer(Peer(node as u32)), send.header, send.size);
            }
            Target::Source => {
                let parent = PARENTS[node].unwrap();
                let link = children(parent).position(|child| child == node).unwrap();
                let origin = Origin::Child(ChildLink(link as u16), Peer(node as u32));
                if !self.random.chance(0.01) {
                    self.push(self.now + DELAY, parent, origin, send.header, send.size);
                }
            }
        }
        // A burst may go beyond the end.
        if send.payload == Payload::Next && self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.give(0, Input::Finish);
            }
        }
    }

    fn down(&mut self, node: usize, links: u64, origin: Origin, header: Header, size: Size) {
        for (link, child) in children(node).enumerate() {
            if links >> link & 1 == 0 || (child != 4 && self.random.chance(0.03)) {
                continue;
            }
            let busy_until = self.busy_until[child].max(self.now);
            // The queue has room for a tenth of a second.
            if busy_until > self.now + Duration::from_ms(100) {
                continue;
            }
            self.busy_until[child] = busy_until + RATE.time_to_send(size);
            self.push(self.busy_until[child] + DELAY, child, origin, header, size);
        }
    }

    fn push(&mut self, at: Time, node: usize, origin: Origin, header: Header, size: Size) {
        self.order += 1;
        self.events.insert((at, self.order), (node, Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }
}

fn children(node: usize) -> impl Iterator<Item = usize> {
    (1..PARENTS.len()).filter(move |&child| PARENTS[child] == Some(node))
}
