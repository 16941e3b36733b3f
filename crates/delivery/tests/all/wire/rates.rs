//! No source sends more than it advertises in any five seconds.

use layercast_core::family::AnyProtocol as _;
use layercast_core::session::Rates;
use layercast_core::units::{Channel, Duration, Level, Rate, Time};
use layercast_protocols::registry::NAMES;
use layercast_testkit::cases;

use crate::wire::source::{IP_UDP, PACKET, Packet, Session, packets, session, stalled};

/// The window.
const WINDOW: Duration = Duration::from_secs(5);

/// The most bytes in any window, of packets in the order of their times. Exact: a window with the most begins with a packet.
fn most_bytes(all: &[(Time, u64)]) -> u64 {
    let (mut first, mut bytes, mut most) = (0, 0, 0);
    for &(at, size) in all {
        bytes += size;
        while at.since(all[first].0) >= WINDOW {
            bytes -= all[first].1;
            first += 1;
        }
        most = most.max(bytes);
    }
    most
}

/// How far the most of a window is above a rate, in packets of full size: a channel whose packets are evenly spaced may
/// have one more in a window than its rate gives, as a window may begin with one.
fn above(most_bytes: u64, rate: Rate) -> f64 {
    let allowed = rate.as_bps() / 8.0 * WINDOW.as_secs_f64();
    (most_bytes as f64 - allowed) / f64::from(PACKET)
}

/// The same of the packets of channels up to one, with all headers.
fn excess(packets: &[Packet], upto: u16, rate: Rate) -> f64 {
    let of = packets.iter().filter(|packet| packet.channel <= Channel(upto));
    let all: Vec<_> = of.map(|packet| (packet.at, (packet.bytes.len() + IP_UDP) as u64)).collect();
    above(most_bytes(&all), rate)
}

/// What `send` prints: the rate of the layers, or of all channels where a protocol has more.
fn advertised(session: &Session) -> Rate {
    let peak = session.protocol.requirements().peak_rate(&session.plan);
    Rate::from_bps(peak.as_bps().max(session.plan.layers.top_rate().as_bps()))
}

fn check(name: &str, session: &Session, length: Duration, is_protected: bool) {
    let all = packets(session, length, is_protected);
    let largest = all.iter().map(|packet| packet.bytes.len() + IP_UDP).max().unwrap();
    assert!(largest <= PACKET as usize, "{name}: a packet of {largest} bytes");
    let span = all.last().unwrap().at.since(all[0].at);
    assert!(span.as_ns() + WINDOW.as_ns() >= length.as_ns(), "{name} stopped after {span:?}");
    let needs = session.protocol.requirements();
    let layers = &session.plan.layers;
    let peak = advertised(session);
    let total = excess(&all, u16::MAX, peak);
    eprintln!("{name}: {} packets, {total:+.2} of {peak}", all.len());
    assert!(total <= f64::from(session.channels), "{name}: {total} packets above {peak}");
    if needs.character().rates == Rates::Layers && session.channels == layers.count() {
        for layer in layers.layers() {
            let rate = layers.rate_of(Level::from_count(layer.0 + 1));
            let above = excess(&all, layer.0, rate);
            eprintln!("{name}, layers up to {}: {above:+.2} of {rate}", layer.0);
            assert!(above <= f64::from(layer.0 + 1), "{name}, layers up to {}: {above} of {rate}", layer.0);
        }
    }
}

#[test]
fn every_source_stays_under_its_rate_in_any_five_seconds() {
    let mut checked = 0;
    for name in NAMES {
        let Some(session) = session(name, Rate::from_kbps(128.0)) else { continue };
        // With and without authentication, which adds to each packet.
        check(name, &session, Duration::from_secs(cases(300).max(19).into()), checked % 2 == 0);
        checked += 1;
    }
    assert!(checked >= 12, "{checked}");
}

/// A machine that stops a source for seconds: it makes up for a tenth of a second at most, a fiftieth of a window.
#[test]
fn a_source_that_was_stopped_does_not_send_what_it_missed_at_once() {
    for name in NAMES {
        let Some(session) = session(name, Rate::from_kbps(512.0)) else { continue };
        let all: Vec<_> = stalled(&session).into_iter().map(|(at, _)| (at, u64::from(PACKET))).collect();
        let peak = advertised(&session);
        let missed = above(most_bytes(&all), peak);
        let tenth = peak.as_bps() / 8.0 * 0.1 / f64::from(PACKET);
        eprintln!("{name}: {missed:+.1} packets above {peak}; a tenth of a second has {tenth:.0}");
        assert!(missed <= tenth + f64::from(session.channels), "{name}: {missed} packets above {peak}");
    }
}
