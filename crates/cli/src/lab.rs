//! The commands of the laboratory.

pub(crate) mod agree;
pub(crate) mod compare;
pub(crate) mod design;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod scoreboard;
pub(crate) mod sweep;
pub(crate) mod trimmed;
pub(crate) mod warnings;
pub(crate) mod why;
