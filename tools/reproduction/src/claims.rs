//! What papers claim, as data: a file per paper, one reader and one engine that judges all of them.
//!
//! A claim names quantities that the code supplies (a vector of samples at each of some places) and the relation
//! they must be in. Its verdict follows from [tests of significance](statistics), never from a mean alone.

pub(crate) mod book;
pub(crate) mod evidence;
pub(crate) mod judge;
mod read;
pub(crate) mod statistics;

pub(crate) use read::{ReadError, read};

#[cfg(test)]
mod tests;
