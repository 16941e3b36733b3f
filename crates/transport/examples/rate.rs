//! The cost of packets in the hosts: `rate send MBPS SECONDS` and `rate receive MBPS SECONDS` on the
//! loopback interface, with four doubling layers, packets of 1000 bytes and no congestion control. Run it
//! under `perf stat` or `strace -c -f`.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_delivery::node::Content;
use layercast_delivery::node::{Discard, ReceiverSettings};
use layercast_delivery::object::FEC_RAPTORQ;
use layercast_delivery::protocols::own_options;
use layercast_delivery::search::Known;
use layercast_delivery::sender::PacketPayload;
use layercast_delivery::session::Session;
use layercast_protocols::fixed;
use layercast_protocols::registry::Protocol;
use layercast_transport::host::{Interface, SourceHost};
use layercast_transport::receiver::{HostPaths, ReceiverHost};

const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 255, 75, 0)), 5500);

/// The same bytes for every packet: sockets are measured here, not coding.
struct Constant;

impl Content for Constant {
    type Error = layercast_transport::Error;

    fn next(
        &mut self,
        _: Channel,
        _: Time,
        room: &mut [u8],
    ) -> Result<PacketPayload, layercast_transport::Error> {
        let length = room.len().min(900);
        room[..length].fill(0x5a);
        Ok(PacketPayload { toi: 1, codepoint: FEC_RAPTORQ, length, ..PacketPayload::default() })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, role, mbps, seconds] = words.as_slice() else {
        return Err("rate send|receive MBPS SECONDS".into());
    };
    let layers = LayerTable::doubling(Rate::from_mbps(mbps.parse::<f64>()? / 8.0), 4)?;
    let session = Session {
        tsi: 75,
        protocol: "fixed".to_owned(),
        source: Ipv4Addr::LOCALHOST.into(),
        group: GROUP,
        feedback: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9),
        packet: Size::from_bytes(1000),
        channels: layers.count(),
        agreed: Vec::new(),
        group_key: None,
        salt: None,
        layers,
        stream: None,
    };
    let protocol = Protocol::Fixed(fixed::Options { level: 3, ..Default::default() });
    let interface = Interface::find(Some("127.0.0.1"), GROUP)?;
    let until = Time::ZERO + Duration::from_ms(seconds.parse::<u64>()? * 1000);
    if role == "send" {
        let mut host = SourceHost::new(&interface, &protocol, session, 0, 1, 1)?;
        host.start(&mut Constant)?;
        while host.clock().now() < until {
            host.step(until, &mut Constant)?;
        }
        println!("{:?}", host.node.counters());
    } else {
        let known = Known::Session(Box::new(session));
        let settings =
            ReceiverSettings { protocol_options: own_options(&protocol), ..ReceiverSettings::new(known) };
        let mut host = <ReceiverHost<Discard>>::new(settings, HostPaths::of(&interface), Discard::default());
        host.start(&mut |_, _| {})?;
        while host.clock().now() < until {
            host.step(until, &mut |_, _| {})?;
        }
        println!("{:?}", host.counters());
    }
    Ok(())
}
