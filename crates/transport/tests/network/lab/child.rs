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
use layercast_delivery::node::ReceiverNote;
use layercast_delivery::protocols::deployed;
use layercast_delivery::reception::ReceptionSettings;
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_transport::event::{Event, Progress};
use layercast_transport::receive::{Known, ReceiveOptions, receive};
use layercast_transport::relay::{RelayOptions, ServeOptions, relay};
use layercast_transport::send::{Ends, PART_SYMBOLS, SendOptions, ServeUse, TAGGED, send};

const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);

/// Plays the role `send FILE BASE_KBPS FACTOR COUNT` with or without a protocol after it, `send-parts ...` the same with parts of 1000 symbols and a state,
/// `receive DIR`, or `receive-full DIR` with a full directory, or through a relay with local multicast `serve GROUP FILE`, `relay GROUP SOURCE PARENT` and
/// `receive-from GROUP SOURCE DIR`, without a source if that is `any`, and prints a line per half second. It ends with its standard input.
pub(crate) fn play(role: &str) {
    let mut words: Vec<_> = role.split(' ').collect();
    if words.len() == 5 && words[0].starts_with("send") {
        words.push("elm");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    let serving = |key: SessionKey| ServeOptions {
        listen: if key.group.is_ipv4() { "0.0.0.0:5600" } else { "[::]:5600" }.parse().unwrap(),
        allowed: Allowed { sessions: vec![key], prefixes: Vec::new() },
        alternatives: Default::default(),
        limits: Default::default(),
        highest: None,
    };
    let mut group = GROUP;
    let mut source: Option<IpAddr> = None;
    let mut serve = None;
    let file;
    if let ["serve", to, path] = words[..] {
        group = SocketAddr::new(to.parse().unwrap(), GROUP.port());
        serve = Some(ServeUse {
            serve: serving(SessionKey { group, source: None }),
            only: true,
            gather: std::time::Duration::ZERO,
        });
        file = path.to_owned();
        words = vec!["send", &file, "1000", "2", "3", "elm"];
    }
    match words[..] {
        ["relay", group, source, parent, local] => {
            let group = SocketAddr::new(group.parse().unwrap(), GROUP.port());
            let options = RelayOptions {
                serve: serving(SessionKey { group, source: source.parse().ok() }),
                parents: parent.parse().into_iter().collect(),
                interface: None,
                local: Some(local.to_owned()),
            };
            let outcome = relay(&options, &stop, &mut |event| match event {
                Event::Progress(Progress::Relay(status)) => println!("STATUS {status:?}"),
                Event::Channel(change) if change.is_join => println!("JOINED {}", change.channel.0),
                Event::Channel(change) => println!("LEFT {}", change.channel.0),
                Event::Listening { address: at } => println!("READY {at}"),
                Event::Notice(notice) => println!("NOTICE {notice}"),
                _ => {}
            });
            println!("RELAYED {outcome:?}");
        }
        [role @ ("send" | "send-parts"), file, base, factor, count, control] => {
            let has_parts = role == "send-parts";
            let base = Rate::from_kbps(base.parse().unwrap());
            let count = count.parse().unwrap();
            let layers = LayerTable::multiplicative(factor.parse().unwrap(), base, count).unwrap();
            let mut protocol: layercast_protocols::registry::Protocol = deployed(control).unwrap();
            let layers = match control {
                // Protocols with waves make their own out of two rates.
                "tide" | "webrc" => protocol.span(base, layers.top_rate(), Size::from_bytes(1000)).unwrap(),
                _ => layers,
            };
            let options = SendOptions {
                group,
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
                serve,
                relays: Vec::new(),
                seed: None,
                name: "lab".to_owned(),
                is_announced: false,
                key: None,
            };
            let outcome = send(&[PathBuf::from(file)], &options, &stop, &mut |event| match event {
                Event::Progress(Progress::Send(report)) => println!("{report:?}"),
                Event::Notice(notice) => println!("NOTICE {notice}"),
                _ => {}
            });
            println!("SENT {outcome:?}");
        }
        ["receive", into] | ["receive-full", into] | ["receive-from", _, _, into] => {
            if let ["receive-from", to, from, _] = words[..] {
                group = SocketAddr::new(to.parse().unwrap(), GROUP.port());
                source = from.parse().ok();
            }
            if words[0] == "receive-full" {
                // In a mount namespace of our own, which `ip netns exec` made.
                let mounted = std::process::Command::new("mount")
                    .args(["-t", "tmpfs", "-o", "size=64k", "none", into])
                    .status();
                assert!(mounted.unwrap().success());
            }
            let options = ReceiveOptions {
                known: Known::Group(group, source),
                announced: None,
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
                is_routed: false,
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
                        report.counters.node.accept.bytes,
                        report.counters.leaves.longest.map_or(-1.0, |longest| longest.as_secs_f64()),
                    );
                    last = at;
                }
            };
            let mut say = |event: &Event| match event {
                Event::Progress(Progress::Receive(report)) => print(report),
                Event::Notice(notice) => println!("NOTICE {notice}"),
                Event::Object(event) => println!("OBJECT {event:?}"),
                Event::Trace(trace) => match trace.note {
                    ReceiverNote::Joined(channel) => println!("JOINED {}", channel.0),
                    ReceiverNote::Left(channel) => println!("LEFT {}", channel.0),
                    ReceiverNote::Trace(_) => {}
                },
                _ => {}
            };
            match receive(&options, &stop, &mut say) {
                Ok(report) => println!("RECEIVED IN {:.1} {report:?}", report.elapsed.as_secs_f64()),
                Err(error) => println!("FAILED {error}"),
            }
        }
        _ => panic!("no such role: {role}"),
    }
}
