//! Scenario files: reading, checking, and what they describe.
//!
//! A scenario file is TOML. [`read`] turns its text into a [`Scenario`], plain data that a runner
//! builds worlds from, or into [`ScenarioErrors`]: everything that is wrong with it at once, each
//! with line, column, what is allowed and the nearest known name. Overrides (`--set`) are worked
//! in before. The keys of every table are described once, in [`tables`]; from that list come the
//! reader, the [`schema`](mod@schema) and the [`reference`](mod@reference) in the documentation.

pub mod catalogue;
pub mod default_queue;
mod error;
pub mod field;
mod flow_gauges;
mod flow_name;
mod import;
pub mod library;
mod lines;
pub(crate) mod naming;
mod nearest;
mod object;
mod overrides;
mod paths;
mod places;
mod plan;
mod probe;
mod problems;
pub mod protocols;
mod quantity;
mod read;
pub mod reference;
mod relays;
mod renamed;
pub mod schema;
pub mod suite;
pub mod tables;
mod templates;
#[cfg(test)]
#[allow(unreachable_pub)]
mod testing;
#[cfg(test)]
mod tests;
mod text_file;
mod tree;
mod write;

pub use error::{ScenarioError, ScenarioErrors};
pub use flow_gauges::{FlowGauges, Gauge};
pub use flow_name::FlowName;
pub use nearest::nearest;
pub use object::ObjectPlan;
pub(crate) use paths::Paths;
pub use places::Places;
pub use plan::{
    DeliveryTrace, DemandPlan, Distribution, Draw, FlowEnd, FlowPlan, GroupPlan, LinkChange, LinkDirection,
    LinkPlan, LinkVariation, LossModel, LossPlace, Outage, QueueLimit, QueuePlan, Scenario, SessionPlan,
    Traffic, Window,
};
pub use probe::{ProbePlan, Quantity, Subject, SubjectKind};
pub use protocols::{Catalogue, ProtocolPlan};
pub(crate) use read::read_outline;
pub use read::suite::{SuiteFiles, read_suite};
pub use read::{expand, read};
pub use relays::{Relay, RelayTree};
