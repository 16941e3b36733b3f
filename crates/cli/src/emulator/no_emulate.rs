//! `layercast emulate` where it does not exist.

use crate::arguments::Emulate;
use crate::commands::Failure;

/// Says what is missing.
pub(crate) fn emulate(_arguments: &Emulate) -> Result<(), Failure> {
    Err(Failure::Input(
        "error: this program has no emulator: it needs Linux, and the features `transport` and `emulator`"
            .to_owned(),
    ))
}
