use layercast_core::contract::ActionQueue;

use super::*;

/// An endpoint that breaks one rule.
#[derive(Clone)]
struct Broken {
    rule: Rule,
    actions: ActionQueue<Nothing>,
    deadline: Option<Time>,
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
            (_, Input::Stop) => self.deadline = None,
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

fn check(rule: Rule) {
    let make = || Broken { rule, actions: ActionQueue::default(), deadline: None };
    let operations = [Operation::Wait(Duration::from_secs(3)), Operation::Timer, Operation::JoinFailed];
    check_endpoint(make, |_, _| None, &operations);
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
    let make = || Broken { rule: Rule::KeepsAfterStop, actions: ActionQueue::default(), deadline: None };
    check_endpoint(make, |_, _| None, &[]);
}

#[test]
#[should_panic(expected = "which it does not hold")]
fn actions_out_of_nothing_are_found() {
    check(Rule::NeverDrains);
}
