//! Detection of a silent session.

use layercast_core::contract::{ActionQueue, TraceEvent};
use layercast_core::units::{Duration, Time};

/// How long a session may be silent before a receiver reports it.
pub const SILENCE: Duration = Duration::from_secs(10);

/// The next deadline of a receiver's silence timer, given that its last packet came at `last_heard`.
/// Reports the silence if that is too long ago.
pub fn after_silence<H>(now: Time, last_heard: Time, actions: &mut ActionQueue<H>) -> Time {
    let waited = now.since(last_heard);
    if waited < SILENCE {
        return last_heard + SILENCE;
    }
    actions.trace(TraceEvent::Silent { waited });
    now + SILENCE
}
