//! Which way of reading and writing packets is the fastest: a kernel's TCP between two namespaces whose devices a
//! thread joins, without any simulated link. It needs root.
//!
//! ```text
//! cargo run --release --package layercast-emulator --example doors
//! ```
//!
//! `plain` reads and writes single packets. With offload (virtio-net headers) a kernel hands over segments of up to
//! 64 kB: `cut` cuts them into packets and writes those one by one, `joined` joins adjacent ones again, and `whole`
//! hands the segments on as they are, which no link can do and which bounds what offload can give. Each is
//! measured with one thread for both directions; `two` is `plain` with a thread for each direction.
//! `docs/emulator.md` has the results.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
    #[cfg(not(target_os = "linux"))]
    println!("The emulator needs Linux.");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
    use std::os::fd::AsFd as _;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sched::{CloneFlags, setns, unshare};
    use tun_rs::{DeviceBuilder, GROTable, IDEAL_BATCH_SIZE, SyncDevice, VIRTIO_NET_HDR_LEN};

    const PACKET: usize = 1500;
    const MEASURED: Duration = Duration::from_secs(4);

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Door {
        Plain,
        Cut,
        Joined,
        Whole,
        Two,
    }

    pub(crate) fn main() {
        for door in [Door::Plain, Door::Cut, Door::Joined, Door::Whole, Door::Two] {
            measure(door);
        }
    }

    /// A namespace with a device that has this address.
    fn host(door: Door, address: Ipv4Addr) -> (File, SyncDevice) {
        let made = thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            let offload = !matches!(door, Door::Plain | Door::Two);
            let device = DeviceBuilder::new()
                .mtu(PACKET as u16)
                .tx_queue_len(10_000)
                .offload(offload)
                .ipv4(address, 24, None)
                .enable(true)
                .build_sync()
                .unwrap();
            rustix::io::ioctl_fionbio(&device, true).unwrap();
            (File::open("/proc/thread-self/ns/net").unwrap(), device)
        });
        made.join().unwrap()
    }

    fn enter<T: Send>(namespace: &File, act: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let entered = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                act()
            });
            entered.join().unwrap()
        })
    }

    fn cpu() -> Duration {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
    }

    fn measure(door: Door) {
        let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let [(one, first), (other, second)] = addresses.map(|address| host(door, address));
        let to = SocketAddr::new(addresses[1].into(), 5001);
        let listener = enter(&other, || TcpListener::bind(to).unwrap());
        let (stop, packets, used) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let relay_all = |pairs: &[(&SyncDevice, &SyncDevice)]| {
            let start = cpu();
            let mut relay = Relay::new(door);
            while !stop.load(Ordering::Relaxed) {
                let mut devices: Vec<PollFd<'_>> =
                    pairs.iter().map(|(from, _)| PollFd::new(from.as_fd(), PollFlags::POLLIN)).collect();
                poll(&mut devices, PollTimeout::from(10u8)).unwrap();
                for (from, to) in pairs {
                    packets.fetch_add(relay.carry(from, to), Ordering::Relaxed);
                }
            }
            used.fetch_add((cpu() - start).as_nanos() as u64, Ordering::Relaxed);
        };
        let (received, took) = thread::scope(|scope| {
            if door == Door::Two {
                scope.spawn(|| relay_all(&[(&first, &second)]));
                scope.spawn(|| relay_all(&[(&second, &first)]));
            } else {
                scope.spawn(|| relay_all(&[(&first, &second), (&second, &first)]));
            }
            scope.spawn(|| {
                let mut sender = enter(&one, || TcpStream::connect(to).unwrap());
                let bytes = vec![7; 1 << 18];
                while sender.write_all(&bytes).is_ok() {}
            });
            let (mut sink, _) = listener.accept().unwrap();
            let (start, mut received, mut bytes) = (Instant::now(), 0, vec![0; 1 << 20]);
            while start.elapsed() < MEASURED {
                received += sink.read(&mut bytes).unwrap();
            }
            let took = start.elapsed();
            drop(sink);
            thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
            (received, took)
        });
        let (used, carried) = (used.load(Ordering::Relaxed), packets.load(Ordering::Relaxed).max(1));
        println!(
            "{door:?}: {:.0} Mbit/s, {:.2} us of processor for a packet of {carried}, {:.2} s of {:.2} s",
            received as f64 * 8.0 / took.as_secs_f64() / 1e6,
            used as f64 / 1e3 / carried as f64,
            used as f64 / 1e9,
            took.as_secs_f64()
        );
    }

    struct Relay {
        door: Door,
        whole: Vec<u8>,
        parts: Vec<Vec<u8>>,
        sizes: Vec<usize>,
        table: GROTable,
    }

    impl Relay {
        fn new(door: Door) -> Relay {
            let parts = vec![vec![0; VIRTIO_NET_HDR_LEN + 65_536]; IDEAL_BATCH_SIZE];
            let sizes = vec![0; IDEAL_BATCH_SIZE];
            Relay { door, whole: vec![0; 70_000], parts, sizes, table: GROTable::default() }
        }

        /// Carries what is there. Returns how many packets it was.
        fn carry(&mut self, from: &SyncDevice, to: &SyncDevice) -> u64 {
            let mut carried = 0;
            for _ in 0..32 {
                carried += match self.door {
                    Door::Plain | Door::Two | Door::Whole => {
                        let Ok(length) = rustix::io::read(from, &mut self.whole) else { break };
                        let _ = rustix::io::write(to, &self.whole[..length]);
                        length.div_ceil(PACKET) as u64
                    }
                    Door::Cut | Door::Joined => {
                        let header = VIRTIO_NET_HDR_LEN;
                        let read =
                            from.recv_multiple(&mut self.whole, &mut self.parts, &mut self.sizes, header);
                        let Ok(count) = read else { break };
                        for (part, size) in self.parts.iter_mut().zip(&self.sizes).take(count) {
                            part.truncate(header + size);
                        }
                        let at_once = if self.door == Door::Cut { 1 } else { count };
                        for parts in self.parts[..count].chunks_mut(at_once.max(1)) {
                            let _ = to.send_multiple(&mut self.table, parts, header);
                        }
                        self.parts[..count].iter_mut().for_each(|part| part.resize(header + 65_536, 0));
                        count as u64
                    }
                };
            }
            carried
        }
    }
}
