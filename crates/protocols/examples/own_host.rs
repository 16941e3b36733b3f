//! A host of one's own: an ELM source and one receiver, connected by a path of 20 ms that loses 1 % of the
//! data. A real host has sockets and a clock in place of the two queues and the loop.
//!
//! `cargo run -p layercast-protocols --example own_host`

use std::collections::{BTreeSet, VecDeque};

use layercast_core::contract::{
    Arrival, Ecn, Endpoint, Host, Input, Origin, Peer, Send, Target, TraceEvent, drive,
};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_protocols::elm::{Header, Options, Receiver, Source};

const DELAY: Duration = Duration::from_ms(20);
const LOSS: f64 = 0.01;

/// Packets in flight to one endpoint, with the time of their arrival.
type Wire = VecDeque<(Time, Arrival<Header>)>;

/// The host's side of an endpoint: this is all that a host must supply.
struct Network<'a> {
    now: Time,
    held: &'a mut BTreeSet<Channel>,
    out: &'a mut Wire,
    dice: &'a mut Stream,
}

impl Host<Header> for Network<'_> {
    fn send(&mut self, send: Send<Header>) {
        let origin = match send.target {
            Target::Channel(channel) if self.held.contains(&channel) && !self.dice.chance(LOSS) => {
                Origin::Channel(channel)
            }
            Target::Source => Origin::Peer(Peer(1)),
            _ => return,
        };
        let arrival = Arrival { origin, size: send.size, ecn: Ecn::NotCapable, header: send.header };
        self.out.push_back((self.now + DELAY, arrival));
    }

    fn join(&mut self, channel: Channel) {
        self.held.insert(channel);
    }

    fn leave(&mut self, channel: Channel) {
        self.held.remove(&channel);
    }

    fn trace(&mut self, event: TraceEvent) {
        if let TraceEvent::LevelChanged { to, cause, .. } = event {
            println!("{:>6.1} s  level {}  {cause}", self.now.as_secs_f64(), to.as_number());
        }
    }
}

/// An endpoint's next input and its time: the packet that arrives, or the deadline.
fn next(wire: &Wire, deadline: Option<Time>) -> Option<(Time, Input<Header>)> {
    let packet = wire.front().map(|&(at, arrival)| (at, Input::Packet(arrival)));
    let timer = deadline.map(|at| (at, Input::Timer));
    packet.into_iter().chain(timer).min_by_key(|&(at, _)| at)
}

fn main() {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 7).expect("seven layers are allowed");
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let options = Options::default();
    let mut source = Source::new(&options, plan.clone(), Stream::new(1, "source"));
    let mut receiver = Receiver::new(&options, plan, Stream::new(1, "receiver"));

    let (mut down, mut up, mut held) = (Wire::new(), Wire::new(), BTreeSet::new());
    let mut dice = Stream::new(1, "path");
    let mut now = Time::ZERO;
    // Gives one input to one endpoint; all its actions are carried out when this returns its deadline.
    macro_rules! give {
        ($endpoint:ident, $input:expr, $out:ident) => {{
            let mut network = Network { now, held: &mut held, out: &mut $out, dice: &mut dice };
            drive(&mut $endpoint, now, $input, &mut network)
        }};
    }
    let mut source_deadline = give!(source, Input::Start, down);
    let mut receiver_deadline = give!(receiver, Input::Start, up);
    loop {
        let for_source = next(&up, source_deadline);
        let for_receiver = next(&down, receiver_deadline);
        let Some(at) = [&for_source, &for_receiver].into_iter().flatten().map(|&(at, _)| at).min() else {
            break;
        };
        if at > Time::from_secs_f64(120.0) {
            break;
        }
        now = at;
        if let Some((_, input)) = for_source.filter(|&(due, _)| due == now) {
            if matches!(input, Input::Packet(_)) {
                up.pop_front();
            }
            source_deadline = give!(source, input, down);
        } else if let Some((_, input)) = for_receiver {
            if matches!(input, Input::Packet(_)) {
                down.pop_front();
            }
            receiver_deadline = give!(receiver, input, up);
        }
    }
    let estimates = receiver.estimates(now);
    println!("at the end: level {}, loss estimated at {:?}", estimates.level.as_number(), estimates.loss);
}
