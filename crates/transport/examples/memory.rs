//! The memory of a source: `memory PATH` sends three rounds of symbols to nowhere, and prints the resident set and how
//! long each took.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Rate, Size, Time};
use layercast_delivery::node::Content as _;
use layercast_delivery::session::Session;
use layercast_transport::send::{Ends, Files};

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("memory PATH")?);
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let session = Session {
        tsi: 1,
        protocol: "elm".to_owned(),
        source: local,
        group: SocketAddr::new(Ipv4Addr::new(239, 255, 73, 0).into(), 5500),
        feedback: SocketAddr::new(local, 9),
        packet: Size::from_bytes(1000),
        layers: LayerTable::doubling(Rate::from_mbps(1.0), 1)?,
        channels: 1,
        agreed: Vec::new(),
        group_key: None,
        salt: None,
        stream: None,
    };
    let never = AtomicBool::new(false);
    let mut files = Files::open(&[path], &session, &Ends::default(), &never, &mut |_| {})?;
    println!("{} objects: {}", files.objects(), resident());
    let mut room = [0; 1000];
    for round in 1..=3 {
        let (begin, mut packets) = (Instant::now(), 0u32);
        while files.rounds() < f64::from(round) {
            files.next(Channel(0), Time::ZERO, &mut room)?;
            packets += 1;
        }
        let each = begin.elapsed() / packets.max(1);
        println!("round {round}: {packets} packets in {:?}, {each:?} each: {}", begin.elapsed(), resident());
    }
    Ok(())
}
