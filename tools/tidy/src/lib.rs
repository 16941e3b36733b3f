//! Tests on the source tree itself: see `tests/`.
//!
//! They check what no compiler checks: which crate may use which, that modules form no cycles, that every
//! dependency's licence is allowed, that every protocol is documented, that files stay short.
