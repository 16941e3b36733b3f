//! Tests on the tree itself.
