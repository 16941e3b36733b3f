//! A suite of networks that are drawn at random, so that no protocol can be tuned to them: of each cell the rate, the delay,
//! the queue, the TCP, the losses and the receivers.

use layercast_core::math::pow;
use layercast_core::stream::Stream;

use crate::scenario::suite::{CellPlan, Criterion, Measure, Part, Suite};

/// The rates of links, in kbit/s (CHOICE, as all ranges here: those of RFC 9743, section 6, that take minutes to simulate).
const RATE_KBPS: [f64; 2] = [1_000.0, 100_000.0];
/// Round-trip times without queueing, in milliseconds.
const RTT_MS: [f64; 2] = [6.0, 500.0];
/// How long queues are, in bandwidth-delay products, and packets at least.
const QUEUE: [f64; 2] = [0.25, 4.0];
const FEWEST_QUEUED: f64 = 10.0;
/// How many TCP flows there are, rounded down.
const FLOWS: [f64; 2] = [1.0, 16.0];
/// An equal share is no less, in kbit/s: layers begin at 128.
const LEAST_SHARE_KBPS: f64 = 300.0;
/// Packets of a flow in its path and in the queue, at least: with fewer a TCP has no fast retransmit (RFC 5681, section 3.2), and
/// lives by timeouts.
const LEAST_WINDOW: f64 = 4.0;
/// Packets lost at random, where any are.
const LOSS: [f64; 2] = [1e-4, 1e-2];
/// How many receivers a session has, where more than one.
const RECEIVERS: [f64; 2] = [2.0, 8.0];
/// The rate of the lowest layer, in kbit/s.
const BASE_KBPS: f64 = 128.0;
/// A packet in bits.
const PACKET: f64 = 12_000.0;

/// `count` networks of today. The same seed draws the same ones, and more of them begin with the same.
#[must_use]
pub fn drawn(count: u32, seed: u64) -> Suite {
    let of_seed = Stream::new(seed, "networks");
    Suite {
        file: format!("the networks drawn with seed {seed}"),
        name: format!("{count} networks drawn with seed {seed}"),
        description: None,
        replications: 1,
        brief_replications: 1,
        seed,
        except: vec!["fixed".to_owned()],
        cells: (1..=count)
            .map(|number| cell(number, Network::draw(&mut of_seed.branch(&number.to_string()))))
            .collect(),
    }
}

/// A network.
#[derive(Clone, Debug, PartialEq)]
struct Network {
    rate_kbps: f64,
    rtt_ms: f64,
    discipline: &'static str,
    queue: f64,
    tcp: &'static str,
    flows: f64,
    loss: f64,
    receivers: u32,
}

/// A value between two, all factors alike.
fn between([low, high]: [f64; 2], stream: &mut Stream) -> f64 {
    low * pow(high / low, stream.uniform())
}

/// Three digits, which are enough for a reader too.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Network {
    fn draw(stream: &mut Stream) -> Network {
        let rate_kbps = rounded(between(RATE_KBPS, stream));
        let rtt_ms = rounded(between(RTT_MS, stream));
        let in_flight = rate_kbps * rtt_ms / PACKET;
        let queue = (in_flight * between(QUEUE, stream)).max(FEWEST_QUEUED).round();
        let discipline = match stream.uniform() {
            part if part < 0.55 => "drop-tail",
            part if part < 0.7 => "codel",
            part if part < 0.85 => "fq-codel",
            _ => "pie",
        };
        let tcp = if stream.chance(0.7) { "tcp-cubic" } else { "tcp-sack-6675" };
        let most = (rate_kbps / LEAST_SHARE_KBPS).min((in_flight + queue) / LEAST_WINDOW) - 1.0;
        let flows = between(FLOWS, stream).min(most).max(1.0).floor();
        let loss = if stream.chance(0.3) { rounded(between(LOSS, stream)) } else { 0.0 };
        let receivers = if stream.chance(0.5) { between(RECEIVERS, stream).round() as u32 } else { 1 };
        Network { rate_kbps, rtt_ms, discipline, queue, tcp, flows, loss, receivers }
    }

    /// In words.
    fn about(&self) -> String {
        let Network { rate_kbps, rtt_ms, discipline, queue, flows, loss, receivers, .. } = self;
        let tcp = if self.is_reno() { "Reno" } else { "CUBIC" };
        let lost = if *loss > 0.0 { format!(", {} % lost", rounded(loss * 100.0)) } else { String::new() };
        let members = if *receivers > 1 { format!(", {receivers} receivers") } else { String::new() };
        format!(
            "{} Mbit/s, {rtt_ms} ms, {discipline} of {queue} packets, {flows} {tcp}{lost}{members}",
            rate_kbps / 1000.0
        )
    }

    fn is_reno(&self) -> bool {
        self.tcp != "tcp-cubic"
    }

    /// Layers that double to above the link.
    fn layers(&self) -> u32 {
        let mut count = 1;
        while BASE_KBPS * f64::from(1_u32 << (count - 1)) < 1.6 * self.rate_kbps {
            count += 1;
        }
        count
    }

    /// One bottleneck, behind which all receivers are.
    fn scenario(&self, name: &str) -> String {
        let Network { rate_kbps, rtt_ms, discipline, queue, tcp, flows, loss, receivers } = self;
        // What is not in the bottleneck takes a fifth of the time.
        let (edge_ms, middle_ms) = (rtt_ms * 0.05, rtt_ms * 0.4);
        let (layers, joined): (u32, Vec<String>) =
            (self.layers(), (1..=*receivers).map(|number| format!("\"R{number}\"")).collect());
        let leaves: String = (1..=*receivers).map(|number| format!("B-R{number} = {{}}\n")).collect();
        // Long paths take longer to settle; the first third is not judged.
        let seconds = if *rtt_ms > 200.0 { 240 } else { 150 };
        format!(
            r#"name = "{name}"
duration = "{seconds} s"
windows = [["{from} s", "end"]]

[defaults.link]
rate = "10 Gbit/s"
delay = "{edge_ms} ms"
queue = {{ limit = "unlimited" }}

[links]
S-A = {{}}
A-B = {{ rate = "{rate_kbps} kbit/s", delay = "{middle_ms} ms", loss = {loss}, queue = {{ kind = "{discipline}", limit = "{queue} packets" }} }}
{leaves}
[sessions.multicast]
protocol = "elm"
source = "S"
receivers = [{joined}]
start = {{ uniform = ["5 s", "6 s"] }}
packet_size = "1500 bytes"
layers = {{ scheme = "doubling", base = "{BASE_KBPS} kbit/s", count = {layers} }}

[flows.tcp]
protocol = "{tcp}"
from = "S"
to = "R1"
count = {flows}
start = {{ uniform = ["0 s", "3 s"] }}
"#,
            from = seconds / 3,
            joined = joined.join(", "),
        )
    }
}

fn cell(number: u32, network: Network) -> CellPlan {
    let name = format!("random-{number}");
    CellPlan {
        line: 0,
        part: Part::Modern,
        about: Some(network.about()),
        source: "RFC 9743, 6".to_owned(),
        scenario: name.clone(),
        text: network.scenario(&name),
        set: Vec::new(),
        brief: None,
        sessions: Vec::new(),
        // WEBRC makes its own layers out of one rate.
        with: vec![format!(
            "webrc.layers={{ scheme = \"explicit\", rates = [\"{} kbit/s\"] }}",
            2.0 * network.rate_kbps
        )],
        options_if_known: vec![format!("fair_to={}", if network.is_reno() { "reno" } else { "cubic" })],
        measure: Measure::Share,
        against: vec!["tcp*".to_owned()],
        target_kbps: None,
        criterion: Criterion::Band { band: [0.7, 1.4], starve: Some([0.3, 3.0]) },
        replications: None,
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_networks_and_more_begin_with_the_same() {
        let (few, many) = (drawn(5, 7), drawn(20, 7));
        assert_eq!(few.cells, many.cells[..5]);
        assert_ne!(few.cells, drawn(5, 8).cells);
    }

    #[test]
    fn networks_are_of_all_kinds_and_within_their_ranges() {
        let mut stream = Stream::new(1, "networks");
        let all: Vec<Network> = (0..1000).map(|_| Network::draw(&mut stream)).collect();
        for network in &all {
            assert!((1_000.0..=100_000.0).contains(&network.rate_kbps), "{network:?}");
            assert!((6.0..=500.0).contains(&network.rtt_ms), "{network:?}");
            assert!(network.rate_kbps / (network.flows + 1.0) >= LEAST_SHARE_KBPS, "{network:?}");
            assert!(network.queue >= FEWEST_QUEUED && (1..=8).contains(&network.receivers), "{network:?}");
        }
        for kind in ["drop-tail", "codel", "fq-codel", "pie"] {
            assert!(all.iter().filter(|network| network.discipline == kind).count() > 100, "{kind}");
        }
        assert!((200..400).contains(&all.iter().filter(|network| network.loss > 0.0).count()));
        assert!((200..400).contains(&all.iter().filter(|network| network.is_reno()).count()));
    }
}
