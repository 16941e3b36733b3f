//! The modes of commands without sessions of their own: `run`, `explore`, and `endpoint` for the emulated world.

use super::{CHOOSES, Cell, Fact, Mode, Row, Table, USED, no, row};
use crate::arguments::World;

const BOTH: &[Cell] = &[USED, USED];

/// The worlds of `layercast run`.
pub(crate) static RUN: Table<World> = Table {
    command: "run",
    default: World::Simulated,
    modes: &[
        Mode { mode: World::Simulated, by: "", name: "--world simulated" },
        Mode { mode: World::Emulated, by: "emulated", name: "--world emulated" },
    ],
    facts: &[Fact {
        name: "emulated",
        text: "--world emulated",
        holds: |matches| matches.get_one("world") == Some(&World::Emulated),
    }],
    rows: RUN_ROWS,
};

const CAPTURED: Cell =
    no("packets are captured in the simulated world only", "leave it out, or run `tcpdump` at a node");

const RUN_ROWS: &[Row] = &[
    row("name", BOTH),
    row("overrides", BOTH),
    row("deny_warnings", BOTH),
    row("world", BOTH),
    row(
        "lateness",
        &[no("no packet is late in the simulated world", "add --world emulated, or leave it out"), USED],
    ),
    row("replications", BOTH),
    row("seed", BOTH),
    row("jobs", &[USED, no("replications run one after the other in real time", "leave it out")]),
    row("out", BOTH),
    row("probes", BOTH),
    row("captures", &[USED, CAPTURED]),
    row("capture_replication", &[USED, CAPTURED]),
    row("notes", &[USED, no("trace events are kept in the simulated world only", "leave it out")]),
    row("csv", BOTH),
    row("quiet", BOTH),
];

/// Whether `layercast explore` runs many seeds or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExploreMode {
    Many,
    One,
}

pub(crate) static EXPLORE: Table<ExploreMode> = Table {
    command: "explore",
    default: ExploreMode::Many,
    modes: &[
        Mode { mode: ExploreMode::Many, by: "", name: "--seeds" },
        Mode { mode: ExploreMode::One, by: "seed", name: "--seed" },
    ],
    facts: &[],
    rows: EXPLORE_ROWS,
};

const ONE_SEED: Cell = no("one seed is run and printed step by step", "use one of them");

const EXPLORE_ROWS: &[Row] = &[
    row("seeds", &[USED, ONE_SEED]),
    row("from", &[USED, ONE_SEED]),
    row("seed", &[CHOOSES, USED]),
    row("jobs", &[USED, ONE_SEED]),
    row("quiet", &[USED, ONE_SEED]),
];

#[cfg(all(feature = "emulator", target_os = "linux"))]
pub(crate) use endpoint::ENDPOINT;

#[cfg(all(feature = "emulator", target_os = "linux"))]
mod endpoint {
    use super::*;
    use crate::emulator::endpoint::arguments::Role;

    pub(crate) static ENDPOINT: Table<Role> = Table {
        command: "endpoint",
        default: Role::Source,
        modes: &[
            Mode { mode: Role::Source, by: "", name: "source" },
            Mode { mode: Role::Receiver, by: "receiver", name: "receiver" },
        ],
        facts: &[Fact {
            name: "receiver",
            text: "receiver",
            holds: |matches| matches.get_one("role") == Some(&Role::Receiver),
        }],
        rows: ROWS,
    };

    const OF_SOURCE: &[Cell] = &[USED, no("it is of sources", "leave it out")];
    const OF_RECEIVER: &[Cell] = &[no("it is of receivers", "leave it out"), USED];

    const ROWS: &[Row] = &[
        row("role", BOTH),
        row("protocol", BOTH),
        row("options", BOTH),
        row("layers", BOTH),
        row("packet", BOTH),
        row("group", BOTH),
        row("source", BOTH),
        row("feedback_port", BOTH),
        row("address", BOTH),
        row("number", BOTH),
        row("seed", BOTH),
        row("receiver_seed", OF_RECEIVER),
        row("serve", OF_SOURCE),
        row("relay", OF_RECEIVER),
        row("ecn", OF_SOURCE),
        row("start_ns", BOTH),
        row("stop_ns", BOTH),
        row("every_ns", OF_RECEIVER),
        row("needed", OF_RECEIVER),
    ];
}
