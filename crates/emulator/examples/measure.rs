//! What an emulated network can carry on this machine. It needs root or a user namespace.
//!
//! ```text
//! cargo run --release --package layercast-emulator --example measure -- ping
//! cargo run --release --package layercast-emulator --example measure -- tcp RATE_MBPS DELAY_MS QUEUE_PACKETS SECONDS
//! cargo run --release --package layercast-emulator --example measure -- rate HOSTS [BYTES]
//! ```
//!
//! `ping` sends 200 packets there and back over a link of 50 ms. `tcp` lets a kernel's connections fill a link.
//! `rate` finds the rate up to which 99 % of packets enter and leave within a millisecond of their time.
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
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use layercast_core::units::{Duration as Span, Rate, Time};
    use layercast_emulator::packet::protocol;
    use layercast_emulator::{Emulation, FlowPlan, Host, HostPlan, Lateness, Options};
    use layercast_simulator::{LinkConfig, LinkId, LossModel, LossPlace, Network, QueueConfig, QueueLimit};

    pub(crate) fn main() {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let number = |index: usize, default: f64| {
            arguments.get(index).map_or(default, |text| text.parse().expect("a number"))
        };
        match arguments.first().map(String::as_str) {
            Some("ping") => ping(),
            Some("tcp") => tcp(number(1, 10.0), number(2, 50.0), number(3, 83.0) as u32, number(4, 20.0)),
            Some("rate") => rate(number(1, 1.0) as u32, number(2, 1000.0) as usize),
            _ => println!("measure ping | tcp RATE_MBPS DELAY_MS QUEUE_PACKETS SECONDS | rate HOSTS [BYTES]"),
        }
    }

    fn link(rate: Rate, delay: Span, packets: u32) -> LinkConfig {
        LinkConfig {
            rate,
            delay,
            queue: QueueConfig::drop_tail(QueueLimit::Packets(packets)),
            loss: LossModel::None,
            loss_place: LossPlace::default(),
            loss_marks: false,
        }
    }

    /// A host before a router, and others behind it.
    fn star(before: LinkConfig, behind: LinkConfig, hosts: u32) -> (Emulation, Vec<Host>) {
        let mut network = Network::new();
        let (source, router) = (network.add_node("source"), network.add_node("router"));
        network.add_link(source, router, before.clone(), before).unwrap();
        let mut plans = vec![HostPlan { node: source, name: "source".to_owned() }];
        for number in 0..hosts {
            let name = format!("h{number}");
            let node = network.add_node(&name);
            network.add_link(router, node, behind.clone(), behind.clone()).unwrap();
            plans.push(HostPlan { node, name });
        }
        let emulation = Emulation::new(network, plans, Options::default(), 1).unwrap();
        let hosts = emulation.hosts();
        (emulation, hosts)
    }

    fn run_while(emulation: &mut Emulation, act: impl FnOnce() + Send) {
        thread::scope(|scope| {
            let acting = scope.spawn(act);
            while !acting.is_finished() {
                let until = emulation.now() + Span::from_ms(50);
                emulation.run_until(until).unwrap();
            }
        });
    }

    fn show(lateness: &Lateness) {
        let (out, turns) = (&lateness.deliveries, &lateness.turns);
        println!(
            "late: mean {}, median {}, 99 % {}, most {}; not looked for at most: mean {}, 99 % {}, most {}; {} overruns, {} refused",
            out.mean(),
            out.quantile(0.5),
            out.quantile(0.99),
            out.most(),
            turns.mean(),
            turns.quantile(0.99),
            turns.most(),
            lateness.overruns,
            lateness.refused
        );
    }

    fn ping() {
        let fast = link(Rate::from_mbps(1000.0), Span::from_ms(25), 1000);
        let (mut emulation, hosts) = star(fast.clone(), fast, 1);
        let to = SocketAddr::new(hosts[1].ipv4().into(), 7);
        let server = hosts[1].run(|| UdpSocket::bind(to).unwrap()).unwrap();
        let client = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 100];
            while let Ok((length, from)) = server.recv_from(&mut bytes) {
                server.send_to(&bytes[..length], from).unwrap();
            }
        });
        let mut times = Vec::new();
        run_while(&mut emulation, || {
            for _ in 0..200 {
                let start = Instant::now();
                client.send_to(&[1; 56], to).unwrap();
                client.recv(&mut [0; 100]).unwrap();
                times.push(start.elapsed());
            }
        });
        times.sort();
        let mean = times.iter().sum::<Duration>() / 200;
        println!(
            "200 round trips over 50 ms: least {:?}, mean {mean:?}, median {:?}, 99 % {:?}, most {:?}",
            times[0], times[100], times[197], times[199]
        );
        show(emulation.lateness());
    }

    fn tcp(mbps: f64, delay_ms: f64, packets: u32, seconds: f64) {
        let fast = link(Rate::from_mbps(100_000.0), Span::ZERO, 100_000);
        let slow = link(Rate::from_mbps(mbps), Span::from_secs_f64(delay_ms / 1e3), packets);
        let (mut emulation, hosts) = star(fast, slow, 1);
        let (from, to) = (hosts[0].id(), hosts[1].id());
        let plan = FlowPlan { from, to, protocol: protocol::TCP, from_port: None, to_port: Some(5001) };
        let flow = emulation.add_flow(plan).unwrap().as_tcp();
        let to = SocketAddr::new(hosts[1].ipv4().into(), 5001);
        let listener = hosts[1].run(|| TcpListener::bind(to).unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = hosts[0].run(|| TcpStream::connect(to).unwrap()).unwrap();
                let bytes = vec![7; 1 << 16];
                while !stop.load(Ordering::Relaxed) {
                    // The sink ends with the measurement.
                    if sender.write_all(&bytes).is_err() {
                        break;
                    }
                }
            });
            scope.spawn(|| {
                let (mut sink, _) = listener.accept().unwrap();
                sink.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
                let mut bytes = vec![0; 1 << 20];
                while !stop.load(Ordering::Relaxed) {
                    if sink.read(&mut bytes).is_err() {
                        break;
                    }
                }
            });
            // The first tenth is for slow start.
            let at = |share: f64| Time::from_secs_f64(seconds * share);
            emulation.run_until(at(0.1)).unwrap();
            let counters = |emulation: &Emulation| {
                (emulation.simulation().tcp_counters(flow), emulation.simulation().link_counters(LinkId(2)))
            };
            let ((before, link_before), cpu_before) = (counters(&emulation), emulation.processor_time());
            emulation.run_until(at(1.0)).unwrap();
            let ((after, link_after), used) = (counters(&emulation), emulation.processor_time() - cpu_before);
            stop.store(true, Ordering::Relaxed);
            emulation.run_until(at(1.0) + Span::from_ms(100)).unwrap();
            let measured = seconds * 0.9;
            let goodput = (after.received_bytes - before.received_bytes) as f64 * 8.0 / measured / 1e6;
            let carried = (link_after.bytes - link_before.bytes) as f64 * 8.0 / measured / 1e6;
            let packets = (link_after.packets - link_before.packets).max(1);
            let queue = (link_after.queue_packet_ns - link_before.queue_packet_ns) as f64 / measured / 1e9;
            println!(
                "{mbps} Mbit/s, {delay_ms} ms: {carried:.2} Mbit/s carried, {goodput:.2} Mbit/s new at the sink, \
                 mean queue {queue:.1} packets, {} lost of {}; processor {:.0} %, {:.2} us for a packet",
                after.lost_packets - before.lost_packets,
                after.sent_packets - before.sent_packets,
                used.as_secs_f64() / measured * 100.0,
                used.as_secs_f64() * 1e6 / packets as f64
            );
            let _ = TcpStream::connect(to);
        });
        show(emulation.lateness());
    }

    /// Finds the highest rate that is within the limit: doubles it until it is not, then divides.
    fn rate(count: u32, bytes: usize) {
        let (mut good, mut bad) = (0.0, f64::INFINITY);
        let mut next = 5_000.0;
        while bad / good > 1.1 {
            let is_good = (0..2).any(|_| try_rate(count, bytes, next));
            if is_good {
                good = next
            } else {
                bad = next
            }
            next = if bad.is_finite() { (good + bad) / 2.0 } else { good * 2.0 };
            if !(100.0..4e6).contains(&next) {
                break;
            }
        }
        let size = bytes as f64 * 8.0;
        println!(
            "{count} hosts, {bytes} bytes: within the limit up to {good:.0} packets/s, {:.0} Mbit/s",
            good * size / 1e6
        );
    }

    /// Packets of one host to all others in turn, for three seconds, at this rate.
    fn try_rate(count: u32, bytes: usize, per_s: f64) -> bool {
        let fast = link(Rate::from_mbps(100_000.0), Span::from_ms(5), 100_000);
        let (mut emulation, hosts) = star(fast.clone(), fast, count);
        let sinks: Vec<UdpSocket> = hosts[1..]
            .iter()
            .map(|host| host.run(|| UdpSocket::bind((host.ipv4(), 9)).unwrap()).unwrap())
            .collect();
        let sender = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
        let payload = vec![1; bytes.saturating_sub(28)];
        emulation.start();
        let stop = AtomicBool::new(false);
        let sent = thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let (start, mut sent) = (Instant::now(), 0u64);
                while !stop.load(Ordering::Relaxed) {
                    // Packets that are due go at once, as from a host's timer of 100 us.
                    let due = (start.elapsed().as_secs_f64() * per_s) as u64;
                    while sent < due {
                        let to =
                            SocketAddr::new(hosts[1 + (sent % u64::from(count)) as usize].ipv4().into(), 9);
                        sender.send_to(&payload, to).unwrap();
                        sent += 1;
                    }
                    thread::sleep(Duration::from_micros(100));
                }
                sent
            });
            emulation.run_until(Time::from_secs_f64(3.0)).unwrap();
            let used = emulation.processor_time();
            stop.store(true, Ordering::Relaxed);
            let sent = sending.join().unwrap();
            let delivered = emulation.lateness().deliveries.count().max(1);
            println!(
                "{:.0} packets/s offered, {:.0} sent, {:.0} delivered; processor {:.0} %, {:.2} us for a packet",
                per_s,
                sent as f64 / 3.0,
                delivered as f64 / 3.0,
                used.as_secs_f64() / 3.0 * 100.0,
                used.as_secs_f64() * 1e6 / delivered as f64
            );
            sent
        });
        drop(sinks);
        show(emulation.lateness());
        emulation.lateness().is_within(Span::from_ms(1)) && sent as f64 / 3.0 > per_s * 0.9
    }
}
