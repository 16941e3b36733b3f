//! What the disk refused, and may take later.

use super::{Object, State};
use crate::disk::DiskFile;

impl<F: DiskFile> Object<F> {
    /// Whether the disk refused it as a whole, which may pass.
    pub(in crate::reception) fn is_refused(&self) -> bool {
        matches!(self.state, State::Failed(reason) if reason.may_pass())
    }

    /// It, or those of its files that the disk refused, may be received again. An object is verified from now on if keys are
    /// trusted (`verifies`): one that failed at once was not to be received.
    pub(in crate::reception) fn try_again(&mut self, verifies: bool) {
        if self.is_refused() {
            self.state = State::Waiting;
            self.verifies = verifies;
        }
        let are_left = self.members.as_mut().is_some_and(|members| members.try_again());
        if are_left && matches!(self.state, State::Placed) {
            self.state = State::Checking;
        }
    }
}
