//! Telling that nothing comes any more.

use layercast_core::contract::{ActionQueue, TraceEvent};
use layercast_core::units::{Duration, Time};

/// How long a session may be silent before a receiver says so.
pub const SILENCE: Duration = Duration::from_secs(10);

/// When a receiver whose timer of silence is due, and that last heard something at `last_heard`, is to look
/// again. It says so if that is long ago.
pub fn after_silence<H>(now: Time, last_heard: Time, actions: &mut ActionQueue<H>) -> Time {
    let waited = now.since(last_heard);
    if waited < SILENCE {
        return last_heard + SILENCE;
    }
    actions.trace(TraceEvent::Silent { waited });
    now + SILENCE
}
