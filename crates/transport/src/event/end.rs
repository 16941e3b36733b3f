//! The end of a transfer.

use serde::Serialize;

use super::{Progress, ReceiveProgress, Reception};
use crate::error::Error;

/// How a transfer ended.
#[derive(Clone, Debug, Default, Serialize)]
pub struct End {
    /// Why, for programs: the name does not change.
    pub reason: &'static str,
    /// The exit status of the program; none if there is no program of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<u8>,
    /// The error in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How many files changed or vanished while they were being sent.
    #[serde(rename = "objects_withdrawn", skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<usize>,
    /// How many files were left out that receivers lack by it.
    #[serde(rename = "files_left_out", skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
    /// How far it was; none after an error.
    #[serde(flatten)]
    pub progress: Option<Progress>,
    /// What a sender knew of its receivers, if they were polled.
    #[serde(flatten)]
    pub reception: Option<Reception>,
}

impl End {
    /// The end of a transfer with this outcome.
    pub fn of<'a, T>(outcome: &'a Result<T, Error>) -> End
    where
        End: From<&'a T>,
    {
        match outcome {
            Ok(outcome) => outcome.into(),
            Err(error) => End { reason: error.name(), text: Some(error.to_string()), ..End::default() },
        }
    }
}

impl From<&ReceiveProgress> for End {
    fn from(progress: &ReceiveProgress) -> End {
        End { reason: "complete", progress: Some(progress.clone().into()), ..End::default() }
    }
}
