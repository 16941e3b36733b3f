//! Emulated networks with real kernels. They need root or a user namespace; where neither is, they are skipped.

#![cfg(target_os = "linux")]

mod lab;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use lab::{at_s, line, slow_link};
use layercast_core::units::Rate;

/// A round trip takes twice the delay of the path, in IPv4 and IPv6.
#[test]
fn a_round_trip_takes_two_delays() {
    let Some((mut emulation, hosts)) = line(slow_link(Rate::from_mbps(100.0), 50), 1) else { return };
    for to in [IpAddr::from(hosts[1].ipv4()), hosts[1].ipv6().into()] {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let server = hosts[1].run(|| UdpSocket::bind(SocketAddr::new(to, 7)).unwrap()).unwrap();
        let client = hosts[0].run(|| UdpSocket::bind(any).unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let echo = thread::spawn(move || {
            let mut buffer = [0; 100];
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            server.send_to(&buffer[..length], from).unwrap();
        });
        let ask = thread::spawn(move || {
            let start = Instant::now();
            client.send_to(b"hello", SocketAddr::new(to, 7)).unwrap();
            client.recv(&mut [0; 100]).unwrap();
            start.elapsed()
        });
        let until = emulation.now() + layercast_core::units::Duration::from_ms(500);
        emulation.run_until(until).unwrap();
        echo.join().unwrap();
        let took = ask.join().unwrap();
        println!("{to}: {took:?}");
        // Never early; how late depends on what else the machine does.
        assert!(took >= Duration::from_millis(100), "{took:?}");
    }
    let _ = (ErrorKind::Other, at_s(0.0));
}
