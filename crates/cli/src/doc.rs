//! What packages install, and the reference.

pub(crate) mod arguments;
pub(crate) mod package;
pub(crate) mod reference;
