//! The list of lints.

use std::fmt::Write as _;

/// A kind of doubt about a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lint {
    /// Its name, which stays the same.
    pub name: &'static str,
    /// When it is found: before or after a run.
    pub when: &'static str,
    /// What it means, and why results are doubtful then.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

pub(super) const BASE_ABOVE_LINK: &str = "base-above-link";
pub(super) const PACKET_ABOVE_QUEUE: &str = "packet-above-queue";
pub(super) const PACKET_ABOVE_MTU: &str = "packet-above-mtu";
pub(super) const WINDOW_BELOW_PATH: &str = "window-below-path";
pub(super) const UNLIMITED_QUEUE: &str = "unlimited-queue";
pub(super) const LOCKSTEP: &str = "lockstep";
pub(super) const PAPER_TCP: &str = "paper-tcp";
pub(super) const ECN_WITHOUT_MARKS: &str = "ecn-without-marks";
pub(super) const HARDLY_RUNS: &str = "hardly-runs";
pub(super) const CHANGES_AFTER_END: &str = "changes-after-end";
pub(super) const RELAYS: &str = "relays";
pub(super) const SELF_LOOP: &str = "self-loop";
pub(super) const UNUSED: &str = "unused";
pub(super) const FEW_REPLICATIONS: &str = "few-replications";
pub(super) const STANDING_QUEUE: &str = "standing-queue";

const BEFORE: &str = "before";
pub(super) const AFTER: &str = "after";

/// All lints, in the order in which findings are printed.
pub const ALL: &[Lint] = &[
    Lint {
        name: BASE_ABOVE_LINK,
        when: BEFORE,
        meaning: "The base layer of a session is faster than a link to one of its receivers, which is \
                  overloaded whatever the protocol does.",
        remedy: "Lower the base layer, or leave out the receivers behind that link.",
    },
    Lint {
        name: PACKET_ABOVE_QUEUE,
        when: BEFORE,
        meaning: "A queue on a path cannot hold one packet of a flow, so nothing of it passes.",
        remedy: "Raise the limit of the queue, or send smaller packets.",
    },
    Lint {
        name: PACKET_ABOVE_MTU,
        when: BEFORE,
        meaning: "Packets exceed the 1500 bytes that nearly all links carry. A real network would lose all \
                  of a packet with one of its fragments; the simulator does not.",
        remedy: "Send packets of at most 1500 bytes.",
    },
    Lint {
        name: WINDOW_BELOW_PATH,
        when: BEFORE,
        meaning: "The receiver's window limits a TCP, not the network: it is below the round-trip time \
                  times the smallest, over the links of the path, of rate over number of flows and \
                  sessions. What shares the path looks more aggressive than it is.",
        remedy: "Raise `window` to at least rate times round-trip time.",
    },
    Lint {
        name: UNLIMITED_QUEUE,
        when: BEFORE,
        meaning: "A queue that never drops is on a link whose offered load can exceed its rate: loss stays \
                  at zero, and delay becomes whatever the senders' windows allow.",
        remedy: "Give the link a queue with a limit, or one that controls delay.",
    },
    Lint {
        name: LOCKSTEP,
        when: BEFORE,
        meaning: "Equal TCP flows whose senders answer at once share a drop-tail queue. Their rhythm \
                  decides which of them finds it full (Floyd and Jacobson 1992), and what shares it with \
                  them may get nearly all losses.",
        remedy: "Give the flows `overhead`, about a packet's time on the bottleneck: `overhead = \"automatic\"`.",
    },
    Lint {
        name: PAPER_TCP,
        when: BEFORE,
        meaning: "A TCP as ns-2 has it (profiles `ns2`, `ns2-2004`, `ns2-2000`) passes a queue of today \
                  (CoDel, FQ-CoDel, PIE, DualPI2). The two were never in one network.",
        remedy: "Choose a TCP of today, or the queue that the paper had.",
    },
    Lint {
        name: ECN_WITHOUT_MARKS,
        when: BEFORE,
        meaning: "A session or TCP is ECN-capable, but no queue on its paths marks, or its TCP does not answer marks.",
        remedy: "Choose a queue that marks, or take `ecn` out.",
    },
    Lint {
        name: HARDLY_RUNS,
        when: BEFORE,
        meaning: "A session or TCP may start less than ten round-trip times before it stops or the last window ends, \
                  or a flow at a constant rate less than one: it is measured while it starts, or nothing of it arrives.",
        remedy: "Start it earlier, make the run longer, or check the delays of its path.",
    },
    Lint {
        name: CHANGES_AFTER_END,
        when: BEFORE,
        meaning: "Outages of a link, or changes of its `rates`, come after the end of the run. (In \
                  `changes` that is an error.)",
        remedy: "Make the run longer, or take them out.",
    },
    Lint {
        name: RELAYS,
        when: BEFORE,
        meaning: "A session has relays, but the simulated world has none: there every router carries multicast, and \
                  the run is the same without them.",
        remedy: "Run it in the emulated world, or compare both with `layercast agree`.",
    },
    Lint {
        name: UNUSED,
        when: BEFORE,
        meaning: "No session and no flow uses a link: perhaps a name is misspelt, or a flow takes another \
                  path than was meant, with fewer hops.",
        remedy: "Take the link out, or check the ends of the flows.",
    },
    Lint {
        name: SELF_LOOP,
        when: BEFORE,
        meaning: "Edges of a topology's file lead from a node to itself. They are left out; perhaps the file has two \
                  nodes as one.",
        remedy: "Check the file. No packet would take such an edge.",
    },
    Lint {
        name: FEW_REPLICATIONS,
        when: BEFORE,
        meaning: "With two to four replications, confidence intervals are wide and unreliable.",
        remedy: "Run at least five replications.",
    },
    Lint {
        name: STANDING_QUEUE,
        when: AFTER,
        meaning: "The mean queue of a link was longer than two seconds of its rate, which no real network \
                  holds; round-trip times are those of the queue.",
        remedy: "Give the link a smaller queue, or one that controls delay.",
    },
];

/// The list as a table in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| name | found | meaning | remedy |\n| --- | --- | --- | --- |\n");
    for Lint { name, when, meaning, remedy } in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {when} a run | {meaning} | {remedy} |");
    }
    text
}
