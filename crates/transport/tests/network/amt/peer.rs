//! A small AMT relay on sockets: joins natively what its gateways want, on one UDP port, and sends it to them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use layercast_core::units::Channel;
use layercast_delivery::amt::data::Inner;
use layercast_delivery::amt::message::Message;
use layercast_delivery::amt::relay::{Demand, Relay, RelaySettings};
use layercast_delivery::membership::subscriptions::Subscription;
use layercast_transport::host::{Clock, Inbox, Interface, PacketSocket, open_group};

/// Where it runs, and which packets it carries.
pub(crate) struct Peer {
    pub(crate) at: SocketAddr,
    pub(crate) interface: Interface,
    /// The UDP port of the sessions.
    pub(crate) port: u16,
}

/// Runs a relay until the flag is set; the seed distinguishes its runs. It forgets everything at its end, as one that is killed.
pub(crate) fn run(peer: &Peer, seed: u8, stop: &AtomicBool) {
    let socket = UdpSocket::bind(peer.at).expect("the relay's port");
    socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
    let mut settings = RelaySettings::default();
    match peer.at.ip() {
        IpAddr::V4(address) => settings.address_v4 = Some(address),
        IpAddr::V6(address) => settings.address_v6 = Some(address),
    }
    let mut relay = Relay::new(settings, &[seed; 32]);
    let clock = Clock::default();
    let mut joined: BTreeMap<Subscription, PacketSocket> = BTreeMap::new();
    let mut inbox = Inbox::new(9000);
    let mut room = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) {
        // Messages of gateways; waits for the first a little.
        while let Ok((length, from)) = socket.recv_from(&mut room) {
            if let Some(answer) = relay.receive(clock.now(), from, &room[..length]) {
                socket.send_to(&answer, from).expect("an answer");
            }
        }
        relay.timer(clock.now());
        while let Some(demand) = relay.take_demand() {
            match demand {
                Demand::Join(subscription) => {
                    let group = SocketAddr::new(subscription.group, peer.port);
                    let socket = open_group(&peer.interface, group, subscription.source).expect("a join");
                    joined.insert(subscription, socket);
                }
                Demand::Leave(subscription) => drop(joined.remove(&subscription)),
            }
        }
        for (subscription, packets) in &joined {
            inbox.clear();
            inbox.drain(packets, Some(Channel(0)), &clock).expect("packets of a group");
            let group = SocketAddr::new(subscription.group, peer.port);
            for (datagram, payload) in (0..inbox.len()).filter_map(|index| inbox.get(index)) {
                let packet = Inner { from: datagram.from, group, ecn: datagram.ecn, payload }.to_bytes();
                let message = Message::MulticastData(&packet).to_bytes();
                for gateway in relay.gateways(group.ip(), datagram.from.ip()) {
                    // A gateway that is gone is no reason to stop.
                    let _ = socket.send_to(&message, gateway);
                }
            }
        }
    }
}

/// A relay in a thread.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(peer: Peer, seed: u8) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        Running { stop, thread: Some(thread::spawn(move || run(&peer, seed, &flag))) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
