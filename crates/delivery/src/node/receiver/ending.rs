//! How a session is left, and what follows.

use layercast_core::family::Family;
use layercast_core::units::{Channel, Duration};

use super::output::{Failure, Message, Output};
use super::receiving::{note_progress, pump};
use super::{Last, PAUSE, Receiver, State, TICK, Wait};
use crate::node::error::ReceiveError;
use crate::node::sink::Sink;
use crate::notice::Notice;
use crate::object::TOI_TABLE;
use crate::packet::Completion;

impl<F: Family, S: Sink> Receiver<F, S> {
    pub(super) fn wants_completions(&self) -> bool {
        self.sink.wants_completions() && !self.settings.silent
    }

    /// Sends a completion that is due.
    pub(super) fn report_completion(&mut self) {
        let (State::Receiving(receiving) | State::Reporting(receiving)) = &mut self.state else { return };
        if receiving.completions.take_due(self.now, self.has_carried, &mut self.random) {
            let session = receiving.session.session();
            let completion = Completion { tsi: session.tsi, toi: TOI_TABLE, receiver: self.settings.number };
            let message = receiving.session.feedback(&completion.to_bytes());
            let to = session.feedback;
            self.outputs.extend(message.map(|message| Output::Send(Message::Completion, message, to)));
        }
    }

    /// Everything is in its place, or cannot be received: the session is left.
    pub(super) fn complete(&mut self) {
        let now = self.now;
        self.say_farewell(false);
        self.leave();
        self.sink.finish();
        let wants_completions = self.wants_completions();
        let State::Over(Last::Session(receiving)) = &mut self.state else { return self.end(Ok(())) };
        if !wants_completions {
            return self.end(Ok(()));
        }
        receiving.completions.begin(now, &mut self.random);
        if let State::Over(Last::Session(receiving)) = std::mem::replace(&mut self.state, State::Idle) {
            self.state = State::Reporting(receiving);
        }
    }

    pub(super) fn report(&mut self) {
        self.report_completion();
        if matches!(&self.state, State::Reporting(receiving) if receiving.completions.is_over()) {
            self.end(Ok(()));
        }
    }

    /// Decodes and compares what is here.
    pub(super) fn finish(&mut self) -> Result<(), Failure<S::Error>> {
        self.is_busy = self.sink.work(self.now).map_err(Failure::Sink)?;
        self.check_limit()?;
        if self.now >= self.next_tick {
            self.next_tick = self.now + TICK;
            self.outputs.push_back(Output::Tick);
        }
        if self.is_busy || self.sink.is_waiting() {
            return Ok(());
        }
        if self.sink.is_complete() {
            self.outputs.push_back(Output::Tick);
            self.complete();
        } else {
            // It was left because enough had arrived, and then it had not.
            self.search(Wait { not: None, patience: self.settings.patience });
        }
        Ok(())
    }

    /// The last report of the session says that this is the end.
    pub(super) fn say_farewell(&mut self, sink_fails: bool) {
        if let State::Receiving(receiving) = &mut self.state {
            note_progress(receiving, &self.sink, self.now, self.begun);
            receiving.session.say_farewell(sink_fails, self.settings.keep_going);
        }
    }

    /// Leaves what is joined.
    pub(super) fn leave(&mut self) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Searching(_) => {
                self.outputs.push_back(Output::Leave(Channel(0), self.settings.known.group()));
            }
            State::Foreign(foreign) => {
                self.outputs.push_back(Output::Leave(Channel(0), self.settings.known.group()));
                self.state = State::Over(Last::Foreign(foreign));
            }
            State::Routed(mut routed) => {
                routed.close(&mut self.outputs);
                self.state = State::Over(Last::Routed(routed));
            }
            State::Receiving(mut receiving) => {
                receiving.session.stop(self.now);
                pump(&mut receiving, &mut self.sink, &mut self.outputs);
                self.state = State::Over(Last::Session(receiving));
            }
            State::Finishing(receiving) | State::Reporting(receiving) => {
                self.state = State::Over(Last::Session(receiving));
            }
            other => self.state = other,
        }
    }

    /// The path does not carry the base layer: it is left alone for a while.
    pub(super) fn yield_path(&mut self, pause: Duration) {
        self.leave();
        let notice = Notice::Overloaded { pause: pause.into() };
        self.pause(notice, pause, self.settings.patience);
    }

    /// Tries again after an error that may pass.
    pub(super) fn retry(&mut self, reason: String) {
        let patience = self.wait_of_service().patience;
        self.pause(Notice::Retrying { reason, pause: PAUSE.into() }, PAUSE, patience);
    }

    fn pause(&mut self, notice: Notice, pause: Duration, patience: Duration) {
        self.notice(notice);
        self.put_check();
        self.state = State::Pausing(self.now + pause, Wait { not: None, patience });
    }

    pub(super) fn fail(&mut self, failure: Failure<S::Error>) {
        let listens_within = self.listens_within(&failure);
        self.say_farewell(matches!(failure, Failure::Sink(_)));
        self.leave();
        let may_pass = match &failure {
            Failure::Session(error) => error.may_pass(),
            Failure::Sink(error) => S::may_pass(error),
        };
        if listens_within.is_some() {
            self.listen();
        }
        if !self.settings.keep_going || !may_pass {
            return match listens_within {
                Some(patience) => self.search(Wait { not: None, patience }),
                None => self.end(Err(failure)),
            };
        }
        self.sink.flush();
        let any = self.wait_of_service();
        match failure {
            Failure::Session(ReceiveError::Silent { .. }) if listens_within.is_some() => self.search(any),
            // Nothing but the session that had ended: it counts again from now on, if it goes on after all.
            Failure::Session(ReceiveError::Silent { .. }) if self.wait.not.is_some() => self.search(any),
            Failure::Session(ReceiveError::Silent { .. }) => {
                self.notice(Notice::Waiting { ended: false });
                self.search(any);
            }
            error => self.retry(error.to_string()),
        }
    }

    pub(super) fn end(&mut self, result: Result<(), Failure<S::Error>>) {
        self.over();
        self.outputs.push_back(Output::Ended(result));
    }

    pub(super) fn over(&mut self) {
        self.stop_listening();
        self.leave();
        if !self.is_over() {
            self.state = State::Over(Last::None);
        }
        self.sink.finish();
    }
}
