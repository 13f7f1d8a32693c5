//! Things left to do, subagents that work on, and a limit on steps.

use super::*;
use crate::conversation::todo::{Todo, TodoList, TodoState};

fn todo(done: usize, total: usize) -> Heard {
    let state = |n| if n < done { TodoState::Completed } else { TodoState::Pending };
    let list = (0..total).map(|n| Todo { what: format!("thing {n}"), state: state(n) });
    Heard::TodoChanged(TodoList(list.collect()))
}

fn step(finish: FinishReason) -> Heard {
    Heard::StepDone { finish, usage: Usage { calls: 1, ..Usage::default() } }
}

fn answered(text: &str) -> Outcome {
    Outcome::Answered { text: text.to_owned(), cut_short: false }
}

#[test]
fn a_model_that_left_something_undone_is_reminded_once() {
    let play = start(Limits::default()).reading("Done.").at(10, Heard::Busy).at(20, todo(1, 2));
    let play = play.at(30, Heard::Idle).at(40, Heard::Busy).at(50, Heard::Idle);
    let (deeds, turn) = play.end();
    assert_eq!(deeds, [(30, Deed::Nudge), (50, Deed::Settle)]);
    assert_eq!(turn.outcome, answered("Done."));
}

#[test]
fn a_model_that_did_everything_is_left_alone() {
    let play = start(Limits::default()).reading("Done.").at(10, Heard::Busy).at(20, todo(1, 2));
    let (deeds, _) = play.at(30, todo(2, 2)).at(40, Heard::Idle).end();
    assert_eq!(deeds, [(40, Deed::Settle)]);
}

#[test]
fn a_broken_turn_is_not_reminded() {
    let play = start(Limits::default()).reading("").at(10, Heard::Busy).at(20, todo(0, 2));
    let (deeds, _) = play.at(30, broke("APIError", Some(401), None)).at(31, Heard::Idle).end();
    assert_eq!(deeds, [(331, Deed::Settle)]);
}

#[test]
fn a_reminder_that_nobody_heard_does_not_hold_the_turn_up() {
    let play = start(Limits::default()).reading("Done.").pulse(false).at(10, Heard::Busy).at(20, todo(0, 1));
    let (deeds, turn) = play.at(30, Heard::Idle).end();
    assert_eq!(deeds, [(30, Deed::Nudge), (25_030, Deed::Poll), (25_030, Deed::Settle)]);
    assert_eq!(turn.outcome, answered("Done."));
}

#[test]
fn subagents_are_waited_for_by_looking_twice_a_second() {
    let play = start(Limits::default()).reading("Done.").pulse(true);
    let play = play.at(10, Heard::Busy).at(20, Heard::ChildBorn).at(30, Heard::Idle).at(1_200, Heard::Quiet);
    let (deeds, _) = play.pulse(false).end();
    assert_eq!(
        deeds,
        [
            (30, Deed::Poll),
            (530, Deed::Poll),
            (1_030, Deed::Poll),
            (1_530, Deed::Poll),
            (1_530, Deed::Settle)
        ]
    );
}

#[test]
fn the_last_step_may_answer_but_not_go_on() {
    let limits = Limits { steps: Some(2), ..Limits::default() };
    let play =
        start(limits.clone()).reading("So far.").at(10, Heard::Busy).at(20, step(FinishReason::ToolCalls));
    let (deeds, turn) = play.at(30, step(FinishReason::ToolCalls)).at(40, Heard::Idle).end();
    assert_eq!(deeds, [(30, Deed::Abort), (340, Deed::Settle)]);
    let failure = Failure::from(Trouble::Steps);
    assert_eq!(turn.outcome, Outcome::Failed { failure, partial: Some("So far.".to_owned()) });

    let play = start(limits).reading("Done.").at(10, Heard::Busy).at(20, step(FinishReason::ToolCalls));
    let (_, turn) = play.at(30, step(FinishReason::Stop)).at(40, Heard::Idle).end();
    assert_eq!(turn.outcome, answered("Done."));
}
