//! Tests of the whole reader.

mod built_in;
mod demand;
mod edges;
mod errors;
mod generated;
mod library;
mod limits;
mod links;
mod objects;
mod overrides;
mod queues;
mod reading;
mod renamed;
mod routers;
mod templates;
mod topologies;
