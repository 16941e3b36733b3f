//! In the steady state neither the source's nor the receiver's host allocates for a packet.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use allocation_counter::{AllocationInfo, measure};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size};
use layercast_delivery::node::ReceiverSettings;
use layercast_delivery::protocols::own_options;
use layercast_delivery::reception::{Reception, ReceptionSettings};
use layercast_delivery::search::Known;
use layercast_delivery::session::Session;
use layercast_protocols::registry::Protocol;
use layercast_transport::disk::Folder;
use layercast_transport::host::{Interface, SourceHost};
use layercast_transport::receiver::{HostPaths, ReceiverHost};
use layercast_transport::send::{Ends, Files};

use crate::lo::works_here;

/// The warm-up of the endpoints, and the measured time.
const WARM_UP: StdDuration = StdDuration::from_secs(3);
const MEASURED: StdDuration = StdDuration::from_secs(3);
/// So long that no repair symbols are needed in all that time: batches of them allocate.
const LENGTH: usize = 120_000_000;

/// A directory that is removed when it is dropped.
struct TempDir(PathBuf);

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn temp_dir(name: &str) -> TempDir {
    let path = std::env::temp_dir().join(format!("layercast-allocations-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    TempDir(path)
}

/// What was allocated in the steps of one side.
#[derive(Debug, Default)]
struct Cost {
    steps: u64,
    allocations: u64,
    bytes: u64,
}

impl Cost {
    fn add(&mut self, info: &AllocationInfo) {
        self.steps += 1;
        self.allocations += info.count_total;
        self.bytes += info.bytes_total;
    }
}

#[test]
fn packets_allocate_nothing() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1, "the count counts");
    if !works_here() {
        return;
    }
    let temp = temp_dir("hosts");
    fs::write(temp.0.join("a"), vec![7; LENGTH]).unwrap();
    let port = layercast_testkit::port(2);
    let session = Session {
        tsi: 1,
        protocol: "elm".to_owned(),
        source: Ipv4Addr::LOCALHOST.into(),
        group: SocketAddr::new(Ipv4Addr::new(239, 255, 76, 2).into(), port),
        feedback: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 9),
        packet: Size::from_bytes(1000),
        layers: LayerTable::doubling(Rate::from_mbps(8.0), 4).unwrap(),
        channels: 4,
        agreed: Vec::new(),
        group_key: None,
        salt: None,
        stream: None,
    };
    let interface = Interface::find(Some("127.0.0.1"), session.group).unwrap();
    let elm = Protocol::named("elm").unwrap();
    let mut source = SourceHost::new(&interface, &elm, session, 0, 1, 1).unwrap();
    let session = source.session().clone();
    let never = AtomicBool::new(false);
    let paths = [temp.0.join("a")];
    let mut supply = Files::open(&paths, &session, &Ends::default(), &never, &mut |_| {}).unwrap();
    fs::create_dir(temp.0.join("into")).unwrap();
    let folder = Folder::open(&temp.0.join("into")).unwrap();
    let reception = Reception::new(folder, ReceptionSettings::default());
    let known = Known::Session(Box::new(session));
    let settings = ReceiverSettings { protocol_options: own_options(&elm), ..ReceiverSettings::new(known) };
    let mut receiver = <ReceiverHost<_>>::new(settings, HostPaths::of(&interface), reception);
    source.start(&mut supply).unwrap();
    // A delayed source sends all packets that are due, up to a tenth of a second, and its queue grows once
    // for them. A busy machine could delay it at any time, so do it now.
    for _ in 0..5 {
        thread::sleep(StdDuration::from_millis(80));
        source.step(source.clock().now(), &mut supply).unwrap();
    }
    receiver.start(&mut |_, _| {}).unwrap();

    let (begin, mut warm) = (Instant::now(), None::<Instant>);
    let (mut sending, mut receiving, mut changing) = (Cost::default(), Cost::default(), Cost::default());
    let mut packets = (0, 0);
    while warm.is_none_or(|since| since.elapsed() < MEASURED) {
        let until = source.clock().now() + Duration::from_ms(1);
        let sent = measure(|| source.step(until, &mut supply).unwrap());
        // Both on one thread, so that the counts are separate; the receiver never waits.
        let changes = receiver.counters().node.level_changes;
        let now = receiver.clock().now();
        let received = measure(|| assert!(!receiver.step(now, &mut |_, _| {}).unwrap()));
        if warm.is_none() {
            // A hash that becomes known makes a new table; on a busy machine that takes seconds.
            warm = (begin.elapsed() >= WARM_UP && !supply.is_hashing()).then(Instant::now);
            packets = (source.node.counters().packets, receiver.counters().node.accept.packets);
            continue;
        }
        sending.add(&sent);
        // A change of level opens a socket, whose error messages and addresses cost something.
        let is_change = receiver.counters().node.level_changes != changes;
        if is_change { changing.add(&received) } else { receiving.add(&received) }
    }
    let packets =
        (source.node.counters().packets - packets.0, receiver.counters().node.accept.packets - packets.1);
    println!("{packets:?} packets; source {sending:?}, receiver {receiving:?}, changes {changing:?}");
    println!("source {:?}\nreceiver {:?}", source.node.counters(), receiver.counters());
    let reception = &receiver.node.sink;
    assert_eq!(reception.counters().refused, 0);
    assert!(reception.counters().useful > 1000, "{:?}", reception.counters());
    assert!(source.node.counters().reports > 0, "feedback was part of it");
    assert!(packets.0 > 3000 && packets.1 > 1000, "{packets:?} packets");
    assert_eq!(sending.allocations, 0, "the source's over {} packets", packets.0);
    assert_eq!(receiving.allocations, 0, "the receiver's over {} packets", packets.1);
}
