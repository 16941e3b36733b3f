//! A receiver that goes on: after the end of a session, after silence and after errors that may pass.

use std::time::Duration;

use super::placing::Placing;
use super::running::Running;
use super::{ReceiveEvent, Wait};
use crate::error::Error;
use crate::notice::Notice;

/// The pause after an error that may pass.
const PAUSE: Duration = Duration::from_secs(30);

/// How packets come. A service waits for the interface, or its address.
pub(super) fn placing<'o>(
    running: &mut Running<'o>,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Placing<'o>, Error> {
    let any = Wait { not: None, patience: running.options.start_within };
    loop {
        match Placing::new(running.options, say) {
            Ok(placing) => return Ok(placing),
            Err(error) => after(running, error, any, say)?,
        };
    }
}

/// What a service waits for after an error; the error itself if it does not pass or this is no service.
pub(super) fn after(
    running: &mut Running<'_>,
    error: Error,
    wait: Wait,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Wait, Error> {
    if !running.options.keep_going || !passes(&error) {
        return Err(error);
    }
    running.reception.flush();
    let any = Wait { not: None, patience: Duration::MAX };
    match error {
        // Nothing but the session that had ended: it counts again from now on, if it goes on after all.
        Error::Silent { .. } if wait.not.is_some() => {}
        Error::Silent { .. } => say(&ReceiveEvent::Notice(&Notice::Waiting { ended: false })),
        error => {
            say(&ReceiveEvent::Notice(&Notice::Retrying { reason: error.to_string(), pause: PAUSE }));
            running.pause(PAUSE)?;
        }
    }
    Ok(any)
}

/// Whether an error may pass without a change of the arguments.
fn passes(error: &Error) -> bool {
    !matches!(
        error,
        Error::Interrupted
            | Error::TimeOver { .. }
            | Error::WrongGroup { .. }
            | Error::Agreed { .. }
            | Error::Option { .. }
            | Error::SimulatedOnly { .. }
            | Error::NoPermission { .. }
            | Error::Report(_)
    )
}
