//! The modes of `layercast relay`.

use crate::modes::{CHOOSES, Cell, Mode, Row, Table, USED, needs, no, row};

/// Where a relay has its packets from, and whether it takes part in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelayMode {
    Groups,
    Router,
    Parent,
}

const ALL: &[Cell] = &[USED, USED, USED];
const ONE: Cell = no("a router takes part in one session", "name it by SESSION");
const LINKS: Cell =
    no("a router has links to relays and receivers alone", "use a relay without --protocol there");

pub(crate) static RELAY: Table<RelayMode> = Table {
    command: "relay",
    default: RelayMode::Groups,
    modes: &[
        Mode { mode: RelayMode::Groups, by: "", name: "SESSION" },
        Mode { mode: RelayMode::Router, by: "protocol", name: "--protocol" },
        Mode { mode: RelayMode::Parent, by: "parents", name: "--parent" },
    ],
    facts: &[],
    rows: ROWS,
};

const ROWS: &[Row] = &[
    row("sessions", ALL),
    row("allow", &[USED, ONE, USED]),
    row("listen", ALL),
    row("parents", &[CHOOSES, USED, USED]),
    row("protocol", &[CHOOSES, USED, CHOOSES]).rules(&[needs(
        &["parents"],
        "a router has its packets from a router above or the source",
        "add --parent HOST",
    )]),
    row(
        "interface",
        &[USED, LINKS, no("packets come from the relay above, so nothing is joined", "use one of them")],
    ),
    row("local", &[USED, LINKS, USED]).rules(&[needs(
        &["sessions"],
        "hosts report groups without ports",
        "name the sessions; --allow is not enough",
    )]),
    row("max_children", ALL),
    row(
        "max_per_address",
        &[USED, no("a router counts links, whatever their addresses", "use --max-children"), USED],
    ),
    row(
        "max_rate",
        &[USED, no("the protocol controls the rate, for all", "use --set rate_max=N of `send`"), USED],
    ),
    row("alternatives", ALL),
    row("metrics", ALL),
    row("quiet", ALL),
    row("attended", &[USED, no("the emulated world has no routers", "use --quiet"), USED]),
];
