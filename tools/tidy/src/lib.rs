//! Tests on the source tree itself: see `tests/`.
//!
//! They hold what no compiler holds: which crate may use which, that modules form no circles, that
//! every dependency's licence is allowed, that every protocol is documented, that files stay short.
