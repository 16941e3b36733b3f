//! Tests on the source tree itself: see `tests/`.
//!
//! They check what no compiler checks: which crate may use which, that files form no circles, that every
//! dependency's licence is allowed, that every protocol is documented, that files stay short.
//! Here is what they need: the paths that Rust text names ([`tokens`], [`source`]), the file that defines what
//! a path names ([`modules`]), and the circles of such uses ([`circles`]).

pub mod circles;
pub mod modules;
pub mod source;
pub mod tokens;
