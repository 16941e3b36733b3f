//! In the steady state neither the source's nor the receiver's host allocates for a packet.

#![allow(clippy::unwrap_used)]

mod lo;

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use allocation_counter::{AllocationInfo, measure};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_delivery::object::{Assembly, FEC_RAPTORQ, Schedule, TOI_FILE};
use layercast_delivery::packet::PayloadId;
use layercast_delivery::session::Session;
use layercast_protocols::registry::Protocol;
use layercast_transport::Error;
use layercast_transport::disk::OpenFile;
use layercast_transport::file::FileSource;
use layercast_transport::host::{Interface, Load, ReceiverHost, SourceHost, Supply};

use lo::works_here;

/// The warm-up of the endpoints, and the measured time.
const WARM_UP: StdDuration = StdDuration::from_secs(3);
const MEASURED: StdDuration = StdDuration::from_secs(3);
/// Long enough for all that time.
const LENGTH: usize = 60_000_000;
const SYMBOL: u16 = 900;

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

/// Symbols of a file, as in a transmission.
struct Symbols {
    file: FileSource,
    schedule: Schedule,
}

impl Supply for Symbols {
    fn next(&mut self, channel: Channel, _: Time, room: &mut [u8]) -> Result<Load, Error> {
        let id = self.schedule.next(channel).unwrap();
        let length = PayloadId::BYTES + self.file.oti().symbol_size();
        let (head, symbol) = room[..length].split_first_chunk_mut().unwrap();
        *head = id.to_bytes();
        self.file.symbol(id, symbol)?;
        Ok(Load { toi: TOI_FILE, codepoint: FEC_RAPTORQ, fdt: None, fti: None, length })
    }
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
    let file = FileSource::open(&temp.0.join("a"), SYMBOL).unwrap();
    let port = 20_000 + (std::process::id() % 20_000) as u16;
    let session = Session {
        tsi: 1,
        protocol: "elm".to_owned(),
        source: Ipv4Addr::LOCALHOST,
        group: SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 2), port),
        feedback: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9),
        packet: Size::from_bytes(1000),
        layers: LayerTable::doubling(Rate::from_mbps(8.0), 4).unwrap(),
        channels: 4,
        agreed: Vec::new(),
    };
    let interface = Interface::find(Some("127.0.0.1"), session.group).unwrap();
    let elm = Protocol::named("elm").unwrap();
    let mut source = SourceHost::new(&interface, &elm, session, 0, 1, 1).unwrap();
    let session = source.session().clone();
    let mut assembly = Assembly::new(file.oti(), OpenFile(File::create_new(temp.0.join("b")).unwrap()));
    let mut supply = Symbols { schedule: Schedule::new(file.oti(), session.channels), file };
    let mut receiver = ReceiverHost::new(interface, &elm, session, None, None, 2).unwrap();
    source.start(&mut supply).unwrap();
    // A delayed source sends all packets that are due, up to a tenth of a second, and its queue grows once
    // for them. A busy machine could delay it at any time, so do it now.
    for _ in 0..5 {
        thread::sleep(StdDuration::from_millis(80));
        source.step(source.clock().now(), &mut supply).unwrap();
    }
    receiver.start().unwrap();

    let begin = Instant::now();
    let (mut sending, mut receiving, mut changing) = (Cost::default(), Cost::default(), Cost::default());
    let mut packets = (0, 0);
    while begin.elapsed() < WARM_UP + MEASURED {
        let until = source.clock().now() + Duration::from_ms(1);
        let sent = measure(|| source.step(until, &mut supply).unwrap());
        // Both on one thread, so that the counts are separate; the receiver never waits.
        let changes = receiver.counters().level_changes;
        let now = receiver.clock().now();
        let received = measure(|| {
            let mut take = |_: Time, packet: &layercast_transport::host::Accepted<'_>| {
                let (id, symbol) = PayloadId::split(packet.payload).unwrap();
                assembly.insert(id, symbol).unwrap();
                Ok(())
            };
            receiver.step(now, &mut take).unwrap();
        });
        if begin.elapsed() < WARM_UP {
            packets = (source.counters().packets, receiver.counters().packets);
            continue;
        }
        sending.add(&sent);
        // A change of level opens a socket, whose error messages and addresses cost something.
        let is_change = receiver.counters().level_changes != changes;
        if is_change { changing.add(&received) } else { receiving.add(&received) }
    }
    let packets = (source.counters().packets - packets.0, receiver.counters().packets - packets.1);
    println!("{packets:?} packets; source {sending:?}, receiver {receiving:?}, changes {changing:?}");
    println!("source {:?}\nreceiver {:?}", source.counters(), receiver.counters());
    assert_eq!(assembly.counters().refused, 0);
    assert!(source.counters().reports > 0, "feedback was part of it");
    assert!(packets.0 > 3000 && packets.1 > 1000, "{packets:?} packets");
    assert_eq!(sending.allocations, 0, "the source's over {} packets", packets.0);
    assert_eq!(receiving.allocations, 0, "the receiver's over {} packets", packets.1);
}

/// The allocations of the coder for a repair symbol, as given in `docs/transport.md`.
#[test]
fn a_repair_symbol_costs_a_few_allocations() {
    let temp = temp_dir("repair");
    fs::write(temp.0.join("a"), vec![7; 1024 * usize::from(SYMBOL)]).unwrap();
    let file = FileSource::open(&temp.0.join("a"), SYMBOL).unwrap();
    let mut room = vec![0; file.oti().symbol_size()];
    let source = measure(|| {
        for esi in 0..1000 {
            file.symbol(PayloadId::new(0, esi).unwrap(), &mut room).unwrap();
        }
    });
    assert_eq!(source.count_total, 0, "source symbols");
    let first = file.oti().block_symbols(0);
    // The first one makes the block's encoder.
    let encoder = measure(|| file.symbol(PayloadId::new(0, first).unwrap(), &mut room).unwrap());
    println!("encoder: {encoder:?}");
    let begin = Instant::now();
    let repair = measure(|| {
        for esi in first + 1..first + 1001 {
            file.symbol(PayloadId::new(0, esi).unwrap(), &mut room).unwrap();
        }
    });
    println!("1000 repair symbols in {:?}: {repair:?}", begin.elapsed());
    assert!(repair.count_total <= 10 * 1000, "{repair:?}");
    assert_eq!(repair.count_current, 0, "nothing stays");
}
