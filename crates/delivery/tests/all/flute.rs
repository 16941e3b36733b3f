//! Sessions exchanged with another implementation of FLUTE, the crate `flute`: its receiver gets our base layer, our
//! receiver gets its sender's sessions.

mod our_receiver;
mod their_receiver;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When sessions begin: in virtual time, before the tables expire.
fn begin() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}
