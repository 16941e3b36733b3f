//! What decides in which phase packets meet a queue, as changes of a scenario.

use layercast_laboratory::scenario::{LinkPlan, QueueLimit, QueuePlan, Scenario, Traffic};
use layercast_protocols::registry::Protocol;

use layercast_core::family::AnyProtocol as _;
use layercast_kit::pacing::DEPLOYED_DITHER;

/// Phases of the plain reading: steps of an eighth of a packet's time.
pub(crate) const PHASES: u8 = 8;
/// Replications of each phase, 40 for each reading.
const OF_A_PHASE: u32 = 5;

/// A reading of a drop-tail queue: one of three ways in which packets may meet it (docs/readings.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reading {
    /// Nothing waits.
    Plain,
    /// TCPs wait, sources dither.
    Jittered,
    /// TCPs wait, the layers of a source begin together.
    Together,
}

impl Reading {
    /// All of them, in the order of tables.
    pub(crate) const ALL: [Reading; 3] = [Reading::Plain, Reading::Jittered, Reading::Together];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reading::Plain => "plain",
            Reading::Jittered => "jittered",
            Reading::Together => "together",
        }
    }

    /// The rhythm at one of its eight delays.
    pub(crate) fn at(self, phase: u8) -> Rhythm {
        match self {
            Reading::Plain => Rhythm::Plain(phase),
            Reading::Jittered => Rhythm::Jittered(phase),
            Reading::Together => Rhythm::Together(phase),
        }
    }
}

/// A reading at one of its delays, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rhythm {
    /// Nothing waits; the delay after each bottleneck is longer by so many eighths of a packet's time there.
    Plain(u8),
    /// TCPs wait, at the scenario's delays.
    Waits,
    /// Sources dither, at the scenario's delays.
    Dither,
    /// Both, with a delay as in the plain reading.
    Jittered(u8),
    /// TCPs wait, and the layers of a source begin together, with a delay as in the plain reading.
    Together(u8),
}

impl Rhythm {
    /// All that are run.
    pub(crate) fn all() -> Vec<Rhythm> {
        let halves = [Rhythm::Waits, Rhythm::Dither];
        let phases = |of: fn(u8) -> Rhythm| (0..PHASES).map(of);
        phases(Rhythm::Plain)
            .chain(halves)
            .chain(phases(Rhythm::Jittered))
            .chain(phases(Rhythm::Together))
            .collect()
    }

    /// Its name, and that of its directory.
    pub(crate) fn name(self) -> String {
        match self {
            Rhythm::Plain(phase) => format!("plain-{phase}"),
            Rhythm::Waits => "waits".to_owned(),
            Rhythm::Dither => "dither".to_owned(),
            Rhythm::Jittered(phase) => format!("jittered-{phase}"),
            Rhythm::Together(phase) => format!("together-{phase}"),
        }
    }

    /// How often it is run, where the scenario says this.
    pub(crate) fn replications(of_scenario: u32) -> u32 {
        OF_A_PHASE.min(of_scenario)
    }

    /// The changes, as for `--set`.
    pub(crate) fn overrides(self, scenario: &Scenario) -> Vec<String> {
        let waits = matches!(self, Rhythm::Waits | Rhythm::Jittered(_) | Rhythm::Together(_));
        let dithers = matches!(self, Rhythm::Dither | Rhythm::Jittered(_));
        let mut sets = Vec::new();
        for flow in &scenario.flows {
            if matches!(flow.traffic, Traffic::Tcp { .. }) {
                let overhead = if waits { "automatic" } else { "0 s" };
                sets.push(format!("flow.{}.overhead={overhead}", flow.name));
            }
        }
        for session in &scenario.sessions {
            let protocol = session.protocol.get::<Protocol>();
            if protocol.is_some_and(|protocol| protocol.get("dither").is_some()) {
                let share = if dithers { DEPLOYED_DITHER } else { 0.0 };
                sets.push(format!("session.{}.dither={share}", session.name));
            }
            if matches!(self, Rhythm::Together(_)) && session.protocol.requirements().has_phases() {
                sets.push(format!("session.{}.layers.phases=together", session.name));
            }
        }
        if let Rhythm::Plain(phase) | Rhythm::Jittered(phase) | Rhythm::Together(phase) = self {
            sets.extend(bottlenecks(scenario).flat_map(|link| shifted(link, phase)));
        }
        sets
    }
}

/// The links with a drop-tail queue of limited length that are slower than others.
fn bottlenecks(scenario: &Scenario) -> impl Iterator<Item = &LinkPlan> {
    let fastest = scenario.links.iter().map(|link| link.forward.rate.as_bps()).fold(0.0, f64::max);
    scenario.links.iter().filter(move |link| {
        let limited = match &link.forward.queue {
            QueuePlan::DropTail(queue) => queue.limit != QueueLimit::Unlimited,
            _ => false,
        };
        limited && link.forward.rate.as_bps() < fastest
    })
}

/// The delay towards the receivers is longer by so many eighths of a packet's time; the way back stays.
fn shifted(link: &LinkPlan, phase: u8) -> [String; 2] {
    // The papers' data packets.
    const PACKET_BITS: f64 = 8000.0;
    let packet_ns = PACKET_BITS * 1e9 / link.forward.rate.as_bps();
    let delay_ns = link.forward.delay.low().as_ns();
    let longer_ns = delay_ns + (packet_ns * f64::from(phase) / f64::from(PHASES)).round() as u64;
    [
        format!("link.{}.delay={longer_ns} ns", link.name),
        format!("link.{}.delay_backward={} ns", link.name, link.backward.delay.low().as_ns()),
    ]
}
