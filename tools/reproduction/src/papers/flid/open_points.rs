//! What the paper leaves open in section V-A, and the settings of each reading of it.

/// An interpretation of what the paper leaves open.
pub(super) struct Reading {
    /// What it is called in figures.
    pub(super) name: &'static str,
    /// What is changed.
    pub(super) set: &'static [&'static str],
}

/// Joins are sent at the boundary and take half as long, about the one-way delay of the paper's path.
pub(super) const ONE_WAY: &[&str] = &[
    "session.flid.join_mode=at-boundary",
    "link.S-A.delay=5 ms",
    "link.A-B.delay=20 ms",
    "link.B-R.delay=5 ms",
];
/// The E-FLID-DL paper's RED with room for what the drop-tail queue holds.
pub(super) const RED_128: &str = "link.A-B.queue={ kind = \"red\", limit = \"128 packets\", min_threshold = 5, \
                                  max_threshold = 50, weight = 0.002, max_probability = 0.1, gentle = true }";
/// The shares that example 6 prints, as far as 25 layers need them.
pub(super) const EXAMPLE_6: &str = "session.flid.increase_probability_list=\"0.999, 0.932, 0.931, 0.930, 0.929, 0.928, 0.927, \
                                    0.926, 0.925, 0.924, 0.923, 0.922, 0.921, 0.920, 0.901, 0.312, 0.311, \
                                    0.310, 0.248, 0.122, 0.118, 0.108, 0.077, 0.051, 0\"";

/// The readings by the outer factor of their study. The first is the scenario itself.
pub(super) const READINGS: [Reading; 15] = [
    Reading { name: "leaves of 2 to 4 s (scenario)", set: &[] },
    Reading { name: "leaves of 0 s", set: &["session.flid.leave_latency=0 s"] },
    Reading { name: "leaves of 1 s", set: &["session.flid.leave_latency=1 s"] },
    Reading { name: "leaves of 4 s", set: &["session.flid.leave_latency=4 s"] },
    Reading {
        name: "leaves of 9 s, bound 9 s",
        set: &["session.flid.leave_latency=9 s", "session.flid.leave_bound=9 s"],
    },
    Reading { name: "leaves of 9 s, bound 4 s", set: &["session.flid.leave_latency=9 s"] },
    Reading { name: "joins at the boundary", set: &["session.flid.join_mode=at-boundary"] },
    Reading { name: "joins that take a one-way delay", set: ONE_WAY },
    Reading { name: "joins 60 ms ahead", set: &["session.flid.join_lead=60 ms"] },
    Reading { name: "shares for 100 ms", set: &["session.flid.rtt=100 ms"] },
    Reading { name: "shares by hill climbing", set: &["session.flid.increase_probabilities=hill-climbing"] },
    Reading { name: "signals at random", set: &["session.flid.signal=probabilistic"] },
    Reading { name: "RED", set: &[RED_128] },
    Reading { name: "24 layers at 1.3", set: &["session.flid.layers.above=10 Mbit/s"] },
    Reading { name: "the base turns too", set: &["session.flid.static_base=false"] },
];
/// The outer factor of the shares that example 6 prints: they are for one factor only.
pub(super) const EXAMPLE_6_OUTER: u32 = 100;
