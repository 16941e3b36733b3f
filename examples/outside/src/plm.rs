//! PLM, packet-pair layered multicast: A. Legout and E. W. Biersack, "PLM: Fast Convergence for
//! Cumulative Layered Multicast Transmission Schemes", SIGMETRICS 2000.
//!
//! Routers serve flows by fair queueing, and all packets of a layer leave the source in pairs, back to
//! back. The bottleneck serves the other flows between the two packets of a pair, so the spacing with
//! which they arrive shows the bandwidth that a fair queue grants the session. A receiver joins layers up
//! to that bandwidth in one step. It needs neither an experiment that fills a queue nor a loss.
//!
//! # Rules of the receiver
//!
//! - A pair counts only when both packets arrive, one right after the other in the numbers of their layer.
//!   Its estimate is the size of the second packet over the spacing ([`PairMeter`]).
//! - An estimate that does not lie above the cumulative rate of the level held acts at once: the receiver
//!   leaves all layers whose cumulative rate is not below the estimate.
//! - Joins are decided at the end of a check period C, by the smallest estimate since the last decision or
//!   leave, out of at least three ([`CheckPeriod`]). The receiver then joins every layer whose cumulative
//!   rate is below that estimate.
//! - Losses are the last resort, for when no pair gets through. Where more than 10 % of at least 10 packets
//!   are lost within 5 s, the receiver leaves its highest layer. For 500 ms it then takes no loss into
//!   account: a blind period ([`LossWatch`]).
//! - A receiver that had to leave the base layer joins it again after 30 s.
//!
//! # Sources
//!
//! The principle (fair queueing, pairs on all layers, no loss in order to find the bandwidth) is the paper's.
//! The rules in detail and every constant follow the implementation that its first author contributed to
//! ns-2: `tcl/plm/plm.tcl` and `tcl/plm/plm-ns.tcl` (receiver), `plm/cbr-traffic-PP.cc` (source), with the
//! values of `tcl/ex/simple-plm.tcl` and `tcl/test/test-suite-plm.tcl` in ns-2.35. Options cite it as ns-2.
//!
//! # Readings
//!
//! Where the sources leave a choice, or where this implementation departs from them:
//!
//! - *Flows.* PLM takes a session as one flow; in ns-2 all layers share one flow identifier. A fair queue
//!   that tells channels apart serves pairs of two layers in turns, and the spacing of each then contains the
//!   other. With the option `counted` at "session" the estimate counts all that arrived of the session from
//!   the first packet on. Where the session is one flow, nothing comes between the two, and the estimate is
//!   that of ns-2. Packets of layers just left count where the host still hands them over; where it does
//!   not, a pair right after a leave may show too little, and costs layers for one check period.
//! - *Jitter.* ns-2 draws each distance between pairs from half to one and a half times the mean, so that the
//!   rate of a layer wanders. Here each pair leaves within half a distance after an exact point in time: the
//!   pairs of equal layers do not meet for ever, and each layer keeps its rate.
//! - *Equality.* A layer whose cumulative rate equals the estimate is not held, as in ns-2. A level at the
//!   full share would fill its queue.
//! - *No spacing.* Two packets that arrive at the same nanosecond have no rate; ns-2 would divide by zero.
//!   They count as one nanosecond apart, which limits nothing.
//! - *Silence.* ns-2 has no rule for a receiver that hears nothing. This one keeps its level and says so in a
//!   trace event every 10 s: without packets there is no evidence of congestion on the layers held.
//! - *The base layer.* With an estimate below the base layer ns-2 leaves the session for 30 s. The option
//!   `keep_base` makes the base layer the lowest level instead.
//! - *Order.* Packets of a layer keep their order in a fair queue. So a number that is passed over is lost at
//!   once, as in ns-2; one that arrives later after all counts neither as received nor as part of a pair.
//! - *Repeated rejoins.* ns-2 starts another wait of 30 s at each leave at level none, and each of them joins
//!   a layer. Here there is one wait, and one layer after it.

mod estimate;
mod header;
mod loss;
mod options;
mod receiver;
mod source;

pub use estimate::{Arrived, CheckPeriod, PairMeter};
pub use header::{Header, HeaderError};
pub use loss::LossWatch;
pub use options::{Counted, Options};
pub use receiver::Receiver;
pub use source::Source;

/// The packets of a pair.
pub const PAIR: u16 = 2;
