//! Dither: the one option by which sources that pace their packets shift departures at random.

use std::collections::BTreeMap;

use layercast_core::contract::{Action, Endpoint, Input, Target};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_protocols::registry::{NAMES, Protocol};

/// Those whose packets answer acknowledgements or reports one by one: nothing is spaced evenly.
const WINDOWS: [&str; 5] = ["pgmcc", "rla", "golestani-sabnani", "nca", "amca"];

/// Those that send to a known receiver only (`layercast-laboratory` has a scenario with them).
const ONE_RECEIVER: [&str; 2] = ["tfrc", "cbr"];

const RUN: Duration = Duration::from_secs(60);

fn with_dither(name: &str, dither: f64) -> Protocol {
    let mut protocol = Protocol::named(name).expect("a name of the registry");
    protocol.set("dither", RawValue::Number(dither)).expect("an option of all that pace");
    protocol
}

/// What a source sends in a minute with no receivers: departures by channel.
fn departures(protocol: &Protocol) -> BTreeMap<Channel, Vec<Time>> {
    let layers = if protocol.name() == "webrc" {
        LayerTable::from_rates([Rate::from_kbps(1024.0)])
    } else {
        LayerTable::doubling(Rate::from_kbps(64.0), 4)
    };
    let plan = SessionPlan { layers: layers.expect("a table"), packet_size: Size::from_bytes(1000) };
    let mut source = protocol.source(plan, Stream::new(7, "source"));
    let mut sent: BTreeMap<Channel, Vec<Time>> = BTreeMap::new();
    let (mut now, mut input) = (Time::ZERO, Input::Start);
    while now < Time::ZERO + RUN {
        source.handle(now, input);
        while let Some(action) = source.poll_action() {
            let Action::Send(send) = action else { continue };
            if let Target::Channel(channel) = send.target {
                sent.entry(channel).or_default().extend((0..send.count).map(|_| now));
            }
        }
        let next = source.deadline().expect("it sends on");
        assert!(next > now, "a deadline lies ahead");
        (now, input) = (next, Input::Timer);
    }
    sent
}

#[test]
fn every_source_that_paces_has_the_option_and_has_it_on_real_networks() {
    for name in NAMES {
        let mut protocol = Protocol::named(name).expect("a name of the registry");
        let scenarios = protocol.get("dither");
        protocol.deploy();
        let deployed = protocol.get("dither");
        if WINDOWS.contains(name) {
            assert_eq!((scenarios, deployed), (None, None), "{name}");
        } else {
            // Tide is no paper's, and has always had it.
            let off = if *name == "tide" { "0.5" } else { "0" };
            // TFRC's rate suffers more than it gains (docs/readings.md), and without reports its packets are seconds apart.
            let on = if *name == "tfrc" { "0" } else { "0.5" };
            assert_eq!((scenarios.as_deref(), deployed.as_deref()), (Some(off), Some(on)), "{name}");
        }
    }
}

/// Counts may differ by the packets that are late at the end of the minute, and of channels of waves at the
/// bounds of slots: a packet a channel and slot at most, of which Tide has 24 in a minute.
#[test]
fn dither_moves_departures_and_keeps_the_rate() {
    for name in NAMES.iter().filter(|name| !WINDOWS.contains(name) && !ONE_RECEIVER.contains(name)) {
        let (even, dithered) = (departures(&with_dither(name, 0.0)), departures(&with_dither(name, 0.9)));
        assert_eq!(even.keys().collect::<Vec<_>>(), dithered.keys().collect::<Vec<_>>(), "{name}");
        let count = |sent: &BTreeMap<Channel, Vec<Time>>| sent.values().map(Vec::len).sum::<usize>();
        let (all, moved) = (count(&even), count(&dithered));
        assert!(all.abs_diff(moved) <= 24, "{name}: {all} packets became {moved}");
        let times =
            |sent: &BTreeMap<Channel, Vec<Time>>| sent.values().flatten().copied().collect::<Vec<_>>();
        let (even, dithered) = (times(&even), times(&dithered));
        let same = dithered.iter().filter(|at| even.contains(at)).count();
        assert!(same < moved / 2, "{name}: {same} of {moved} depart when they would without");
    }
}
