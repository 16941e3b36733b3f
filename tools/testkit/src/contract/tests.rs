use layercast_core::contract::ActionQueue;

use super::*;

/// An endpoint that breaks one rule.
#[derive(Clone)]
struct Broken {
    rule: Rule,
    actions: ActionQueue<Nothing>,
    deadline: Option<Time>,
    finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Nothing;

impl Header for Nothing {}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    None,
    JoinsTwice,
    LeavesWhatItDoesNotHold,
    DeadlineNow,
    KeepsAfterStop,
    NeverDrains,
    StaysAwakeAfterFinish,
    WokenAfterFinish,
}

impl Endpoint for Broken {
    type Header = Nothing;

    fn handle(&mut self, now: Time, input: Input<Nothing>) {
        match (self.rule, input) {
            (Rule::JoinsTwice, Input::Start) => {
                self.actions.join(Channel(0));
                self.actions.join(Channel(0));
            }
            (Rule::LeavesWhatItDoesNotHold, Input::Start) => self.actions.leave(Channel(0)),
            (Rule::DeadlineNow, _) => self.deadline = Some(now),
            (Rule::KeepsAfterStop, Input::Start) => self.actions.join(Channel(0)),
            (Rule::WokenAfterFinish, Input::DataAvailable) => {
                self.deadline = Some(now + Duration::from_secs(1))
            }
            (_, Input::Stop) => self.deadline = None,
            (_, Input::Finish) => self.finished = true,
            (rule, Input::Timer) if self.finished && rule != Rule::StaysAwakeAfterFinish => {
                self.deadline = None;
            }
            (_, Input::Timer | Input::Start) => self.deadline = Some(now + Duration::from_secs(1)),
            _ => {}
        }
    }

    fn poll_action(&mut self) -> Option<Action<Nothing>> {
        if self.rule == Rule::NeverDrains {
            self.actions.leave(Channel(0));
            self.actions.join(Channel(0));
        }
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn estimates(&self, _: Time) -> Estimates {
        Estimates::default()
    }
}

fn broken(rule: Rule) -> Broken {
    Broken { rule, actions: ActionQueue::default(), deadline: None, finished: false }
}

fn check(rule: Rule) {
    let operations = [Operation::Wait(Duration::from_secs(3)), Operation::Timer, Operation::JoinFailed];
    check_source(|| broken(rule), |_, _| None, &operations);
}

#[test]
fn what_keeps_the_rules_passes() {
    check(Rule::None);
}

#[test]
#[should_panic(expected = "which it holds")]
fn a_second_join_is_found() {
    check(Rule::JoinsTwice);
}

#[test]
#[should_panic(expected = "which it does not hold")]
fn a_leave_of_what_is_not_held_is_found() {
    check(Rule::LeavesWhatItDoesNotHold);
}

#[test]
#[should_panic(expected = "is not after")]
fn a_deadline_that_has_passed_is_found() {
    check(Rule::DeadlineNow);
}

#[test]
#[should_panic(expected = "still holds")]
fn a_channel_kept_after_the_stop_is_found() {
    check_endpoint(|| broken(Rule::KeepsAfterStop), |_, _| None, &[]);
}

#[test]
#[should_panic(expected = "which it does not hold")]
fn actions_out_of_nothing_are_found() {
    check(Rule::NeverDrains);
}

#[test]
#[should_panic(expected = "finished, but has a deadline")]
fn a_source_that_stays_awake_after_its_data_is_found() {
    check(Rule::StaysAwakeAfterFinish);
}

#[test]
#[should_panic(expected = "woken by data")]
fn a_source_that_comes_back_after_its_end_is_found() {
    check(Rule::WokenAfterFinish);
}

#[test]
fn a_receiver_need_not_heed_the_end_of_the_data() {
    let operations = [Operation::Finish, Operation::Wait(Duration::from_secs(3))];
    check_endpoint(|| broken(Rule::StaysAwakeAfterFinish), |_, _| None, &operations);
}
