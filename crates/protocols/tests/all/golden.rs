//! Golden vectors for equations, estimators, layers and every protocol. Every case of a group is run.

mod amca;
mod dynamic;
mod elm;
mod equation;
mod flid;
mod flid_model;
mod layers;
mod loss;
mod path;
mod pgmcc;
mod rates;
mod rlc;
mod rlm;
mod sequence;
mod smcc;
mod tfmcc;
mod tfrc;
mod webrc;
mod wei_zhang;

const EQUATION_BASED: &str = "vectors-equation-based.json";
const JOIN_LEAVE: &str = "vectors-join-leave.json";
const ACTIVE: &str = "vectors-active-and-unicast.json";
