//! The part of a child process in a namespace.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size};
use layercast_delivery::reception::ReceptionSettings;
use layercast_transport::host::ReceiverNote;
use layercast_transport::receive::{Known, ReceiveEvent, ReceiveOptions, deployed, receive};
use layercast_transport::send::{Ends, PART_SYMBOLS, SendEvent, SendOptions, TAGGED, send};

const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);

/// Plays the role `send FILE BASE_KBPS FACTOR COUNT` with or without a protocol after it, `send-parts ...` the same with parts of 1000 symbols and a state,
/// `receive DIR`, or `receive-full DIR` with a full directory, and prints a line per half second. It ends with its standard input.
pub(crate) fn play(role: &str) {
    let mut words: Vec<_> = role.split(' ').collect();
    if words.len() == 5 {
        words.push("elm");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    match words[..] {
        [role @ ("send" | "send-parts"), file, base, factor, count, control] => {
            let has_parts = role == "send-parts";
            let base = Rate::from_kbps(base.parse().unwrap());
            let count = count.parse().unwrap();
            let layers = LayerTable::multiplicative(factor.parse().unwrap(), base, count).unwrap();
            let mut protocol = deployed(control).unwrap();
            let layers = match control {
                // Protocols with waves make their own out of two rates.
                "tide" | "webrc" => protocol.span(base, layers.top_rate(), Size::from_bytes(1000)).unwrap(),
                _ => layers,
            };
            let options = SendOptions {
                group: GROUP,
                interface: None,
                feedback_port: 0,
                protocol,
                layers,
                packet: Size::from_bytes(1000),
                ttl: 4,
                ends: Ends::default(),
                group_key: None,
                reports: true,
                on_demand: true,
                encrypts: false,
                follow: false,
                packs: true,
                longest_part: if has_parts { 1000 } else { PART_SYMBOLS },
                tagged: TAGGED,
                state: has_parts.then(|| PathBuf::from(format!("{file}.state"))),
                serve: None,
                seed: None,
                name: "lab".to_owned(),
                is_announced: false,
                key: None,
            };
            let outcome = send(&[PathBuf::from(file)], &options, &stop, &mut |event| match event {
                SendEvent::Progress(report) => println!("{report:?}"),
                SendEvent::Notice(notice) => println!("NOTICE {notice}"),
                SendEvent::Hashing { .. } | SendEvent::Ready(..) | SendEvent::Reception(_) => {}
            });
            println!("SENT {outcome:?}");
        }
        ["receive", into] | ["receive-full", into] => {
            if words[0] == "receive-full" {
                // In a mount namespace of our own, which `ip netns exec` made.
                let mounted = std::process::Command::new("mount")
                    .args(["-t", "tmpfs", "-o", "size=64k", "none", into])
                    .status();
                assert!(mounted.unwrap().success());
            }
            let options = ReceiveOptions {
                known: Known::Group(GROUP, None),
                interface: None,
                into: PathBuf::from(into),
                settings: ReceptionSettings { replace: true, mirror: false },
                keep_going: false,
                start_within: Duration::from_secs(20),
                patience: Duration::from_secs(20),
                within: None,
                protocol_options: Vec::new(),
                group_key: None,
                silent: false,
                salt: None,
                keys: Vec::new(),
                relays: Default::default(),
                seed: None,
            };
            let mut last = 0.0f64;
            let mut print = |report: &layercast_transport::receive::ReceiveProgress| {
                let at = report.elapsed.as_secs_f64();
                if at - last >= 0.4 {
                    println!(
                        "AT {at:.1} LEVEL {} GOODPUT {:.0} SYMBOLS {}/{} LOSS {:.4} LOST {:.4} BYTES {} LEAVE {:.3}",
                        report.estimates.level,
                        report.goodput_bps,
                        report.objects.held,
                        report.objects.needed,
                        report.estimates.loss.unwrap_or(0.0),
                        report.packets_lost.unwrap_or(0.0),
                        report.counters.accept.bytes,
                        report.counters.leaves.longest.map_or(-1.0, |longest| longest.as_secs_f64()),
                    );
                    last = at;
                }
            };
            let mut say = |event: &ReceiveEvent<'_>| match event {
                ReceiveEvent::Progress(report) => print(report),
                ReceiveEvent::Notice(notice) => println!("NOTICE {notice}"),
                ReceiveEvent::Object(event) => println!("OBJECT {event:?}"),
                ReceiveEvent::Trace(_, ReceiverNote::Joined(channel), _) => println!("JOINED {}", channel.0),
                ReceiveEvent::Trace(_, ReceiverNote::Left(channel), _) => println!("LEFT {}", channel.0),
                ReceiveEvent::Session(_) | ReceiveEvent::Trace(..) => {}
            };
            match receive(&options, &stop, &mut say) {
                Ok(report) => println!("RECEIVED IN {:.1} {report:?}", report.elapsed.as_secs_f64()),
                Err(error) => println!("FAILED {error}"),
            }
        }
        _ => panic!("no such role: {role}"),
    }
}
