//! Errors of the transport as failures of a command.

use layercast_delivery::node::ReceiveError;
use layercast_delivery::protocols::ProtocolError;
use layercast_transport::Error;
use layercast_transport::finding::FindingError;

use crate::failure::Failure;
use crate::output::one_line;

/// Distinguishes wrong input by the user from later failures.
pub(crate) fn failure(error: Error) -> Failure {
    let text = match &error {
        // A line for each of them.
        Error::Objects { .. } => error.to_string(),
        error => one_line(&error.to_string()),
    };
    if is_input(&error) {
        return Failure::Input(format!("error: {text}"));
    }
    // The text contains the system's reason already: an error chain would repeat it.
    Failure::Other(anyhow::Error::msg(text))
}

/// What does not lead to a session as a failure.
pub(crate) fn not_found(error: FindingError) -> Failure {
    match error.is_input() {
        true => Failure::Input(format!("error: {error}")),
        false => Failure::Other(anyhow::Error::msg(error.to_string())),
    }
}

/// Whether it is wrong input by the user: by the command line or a file of the user's alone. What the network or its other programs
/// make wrong may pass, and services are started again.
pub(crate) fn is_input(error: &Error) -> bool {
    let cause = match error {
        Error::Kept { reason, .. } => reason,
        other => other,
    };
    matches!(
        cause,
        Error::NoSuchInterface { .. }
            | Error::LocalIsUpstream { .. }
            | Error::Receive(ReceiveError::WrongGroup { .. })
            | Error::Session(_)
            | Error::Announce(_)
            | Error::FileExists { .. }
            | Error::Catalogue(_)
            | Error::Nothing { .. }
            | Error::State { .. }
            | Error::NotOfFlute { .. }
            | Error::StreamInputs { .. }
            | Error::Protocol(ProtocolError::Option { .. } | ProtocolError::Agreed { .. })
            | Error::AboveMtu { .. }
    )
}

/// The exit status of a transfer.
pub(crate) fn status<T>(outcome: &Result<T, Error>) -> u8 {
    outcome.as_ref().map_or_else(|error| if is_input(error) { 2 } else { 1 }, |_| 0)
}
