//! The commands that run at nodes.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use layercast_emulator::{Host, ask_to_end};

use crate::commands::Failure;
use crate::output::complain;

/// Commands that run, in the order in which they are listed. They are killed with the emulation.
#[derive(Default)]
pub(super) struct Running {
    all: Vec<One>,
    /// Whether those that still ran were asked to end.
    are_asked: bool,
}

struct One {
    node: String,
    program: String,
    child: Child,
    status: Option<ExitStatus>,
}

impl Running {
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Starts a command. One can read from standard input: the last.
    pub(super) fn start(&mut self, host: &Host, words: &[String], is_last: bool) -> Result<(), Failure> {
        let Some((program, arguments)) = words.split_first() else { return Ok(()) };
        let mut command = Command::new(program);
        command.args(arguments);
        if !is_last {
            command.stdin(Stdio::null());
        }
        let node = host.name().to_owned();
        let child = host.spawn(command).map_err(|error| {
            Failure::Other(anyhow::Error::msg(format!("at {node}: {program} cannot be started: {error}")))
        })?;
        self.all.push(One { node, program: program.clone(), child, status: None });
        Ok(())
    }

    /// Looks which commands have ended. The failure of one that is not the last listed is said at once, unless it was
    /// asked to end.
    pub(super) fn look(&mut self) {
        let (count, are_asked) = (self.all.len(), self.are_asked);
        for (place, one) in self.all.iter_mut().enumerate().filter(|(_, one)| one.status.is_none()) {
            one.status = one.child.try_wait().ok().flatten();
            if let Some(status) =
                one.status.filter(|status| !are_asked && !status.success() && place + 1 < count)
            {
                complain(&format!("at {}: {} ended: {status}", one.node, one.program));
            }
        }
    }

    /// Whether the command listed last has ended; never without commands.
    pub(super) fn has_ended(&self) -> bool {
        self.all.last().is_some_and(|last| last.status.is_some())
    }

    pub(super) fn all_have_ended(&self) -> bool {
        self.all.iter().all(|one| one.status.is_some())
    }

    /// Asks all that run to end.
    pub(super) fn ask_others_to_end(&mut self) {
        self.are_asked = true;
        for one in self.all.iter().filter(|one| one.status.is_none()) {
            if let Err(error) = ask_to_end(&one.child) {
                complain(&format!("at {}: {} cannot be asked to end: {error}", one.node, one.program));
            }
        }
    }

    /// The status of the command listed last, or `interrupted` if it did not end by itself. Fine without commands.
    pub(super) fn status(&self, interrupted: u8) -> Result<(), Failure> {
        let Some(last) = self.all.last() else { return Ok(()) };
        match last.status.map(kept) {
            Some(0) => Ok(()),
            Some(status) => Err(Failure::Status(status)),
            None => Err(Failure::Status(interrupted)),
        }
    }
}

/// An exit status as shells give it: 128 and the number of the signal if one has ended the program.
fn kept(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_as_shells_count_it() {
        assert_eq!([0, 7 << 8, 9].map(|raw| kept(ExitStatus::from_raw(raw))), [0, 7, 137]);
    }
}
