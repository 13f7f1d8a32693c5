//! The stepper on scripts: what is heard when, what is done about it, how it ends.

use std::time::Duration;

use jiff::Timestamp;

mod bounds;

use super::{
    Conversation, Do, Limits,
    heard::{Ask, AskKind, FinalMessage, FinishReason, Heard, SessionActivity},
    outcome::{Breakage, Failure, ForLog, Outcome, Trouble, Turn, Usage},
};

/// A driver that waits by moving its clock and writes down every deed.
struct Play {
    conversation: Conversation,
    now: Timestamp,
    deeds: Vec<(i64, Deed)>,
    reading: Option<FinalMessage>,
    pulse: Option<SessionActivity>,
    turn: Option<Turn>,
}

#[derive(Debug, PartialEq)]
enum Deed {
    Refuse,
    Nudge,
    Poll,
    Abort,
    Settle,
}

fn start(limits: Limits) -> Play {
    let now = Timestamp::UNIX_EPOCH;
    let conversation = Conversation::new(limits, now);
    Play { conversation, now, deeds: vec![], reading: None, pulse: None, turn: None }
}

impl Play {
    /// Lets the time pass until then, then hears this.
    fn at(mut self, millisecond: i64, heard: Heard) -> Self {
        let then = moment(millisecond);
        let next = self.conversation.tick(self.now);
        self.perform(next, then);
        self.now = then;
        let next = self.conversation.hear(then, heard);
        self.perform(next, then);
        self
    }

    /// Lets the time pass until it is over.
    fn end(mut self) -> (Vec<(i64, Deed)>, Turn) {
        let next = self.conversation.tick(self.now);
        self.perform(next, moment(3_600_000));
        (self.deeds, self.turn.expect("over within the hour"))
    }

    fn perform(&mut self, mut next: Do, then: Timestamp) {
        loop {
            next = match next {
                Do::Wait { until } if until > then => return,
                Do::Wait { until } => {
                    self.now = until;
                    self.conversation.tick(until)
                }
                Do::Finish(turn) => {
                    self.turn = Some(turn);
                    return;
                }
                Do::Refuse(_) => self.deed(Deed::Refuse, None),
                Do::Nudge => self.deed(Deed::Nudge, None),
                Do::Abort => self.deed(Deed::Abort, None),
                Do::Poll => {
                    let heard = self.pulse.clone().map_or(Heard::NoPulse, Heard::Pulse);
                    self.deed(Deed::Poll, Some(heard))
                }
                Do::Settle => {
                    let heard = self.reading.clone().map_or(Heard::Unreadable, Heard::Read);
                    self.deed(Deed::Settle, Some(heard))
                }
            };
        }
    }

    fn deed(&mut self, deed: Deed, answer: Option<Heard>) -> Do {
        self.deeds.push((self.now.as_millisecond(), deed));
        match answer {
            Some(heard) => self.conversation.hear(self.now, heard),
            None => self.conversation.tick(self.now),
        }
    }

    fn reading(mut self, text: &str) -> Self {
        self.reading = Some(FinalMessage { text: Some(text.to_owned()), ..FinalMessage::default() });
        self
    }

    fn pulse(mut self, busy: bool) -> Self {
        self.pulse = Some(SessionActivity { busy, asked: vec![] });
        self
    }
}

fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a small number")
}

fn until(second: i64) -> Limits {
    Limits { deadline: Some(moment(second * 1000)), ..Limits::default() }
}

fn broke(name: &str, status: Option<u16>, code: Option<&str>) -> Heard {
    let words = ForLog::new("words of the provider");
    Heard::Broke(Breakage { name: name.to_owned(), status, code: code.map(str::to_owned), words })
}

fn retrying(attempt: u32, next: i64) -> Heard {
    Heard::Retrying { attempt, next: moment(next), spent: false }
}

fn step(finish: FinishReason) -> Heard {
    Heard::StepDone { finish, usage: Usage { calls: 1, input: 10, cost: 0.5, ..Usage::default() } }
}

fn permission(id: &str) -> Ask {
    Ask { id: id.to_owned(), kind: AskKind::Permission, about: String::new(), choices: Vec::new() }
}

fn answered(text: &str) -> Outcome {
    Outcome::Answered { text: text.to_owned(), cut_short: false }
}

fn failed(trouble: Trouble) -> Outcome {
    let words = if trouble == Trouble::Unavailable { "" } else { "words of the provider" };
    Outcome::Failed { failure: Failure { trouble, words: ForLog::new(words) }, partial: None }
}

#[test]
fn a_good_turn_is_read_as_soon_as_it_rests() {
    let (deeds, turn) = start(until(60))
        .reading("All done.")
        .at(100, Heard::Busy)
        .at(200, step(FinishReason::ToolCalls))
        .at(900, step(FinishReason::Stop))
        .at(950, Heard::Idle)
        .end();

    assert_eq!((deeds, turn.outcome), (vec![(950, Deed::Settle)], answered("All done.")));
}

#[test]
fn a_rest_before_any_work_belongs_to_another_turn() {
    let (deeds, turn) =
        start(until(60)).reading("Now.").at(10, Heard::Idle).at(100, Heard::Busy).at(500, Heard::Idle).end();

    assert_eq!((deeds, turn.outcome), (vec![(500, Deed::Settle)], answered("Now.")));
}

#[test]
fn an_error_is_kept_over_the_rest_that_follows_and_the_messages_are_read_later() {
    let (deeds, turn) = start(until(60))
        .at(100, Heard::Busy)
        .at(200, broke("APIError", Some(401), None))
        .at(210, Heard::Idle)
        .at(260, Heard::Idle)
        .end();

    assert_eq!((deeds, turn.outcome), (vec![(510, Deed::Settle)], failed(Trouble::Auth)));
}

#[test]
fn an_error_without_a_rest_ends_the_turn_all_the_same() {
    let (deeds, turn) = start(until(60)).at(100, broke("UnknownError", None, None)).end();
    assert_eq!((deeds, turn.outcome), (vec![(400, Deed::Settle)], failed(Trouble::Engine)));

    let (deeds, turn) = start(until(60)).at(50, Heard::Busy).at(100, broke("UnknownError", None, None)).end();
    assert_eq!((deeds, turn.outcome), (vec![(10_100, Deed::Settle)], failed(Trouble::Engine)));
}

#[test]
fn errors_are_told_apart_by_fields() {
    for (name, status, code, trouble) in [
        ("ProviderAuthError", None, None, Trouble::Auth),
        ("APIError", Some(401), Some("invalid_request_error"), Trouble::Auth),
        ("APIError", Some(403), None, Trouble::Auth),
        ("APIError", Some(400), Some("invalid_api_key"), Trouble::Auth),
        ("APIError", Some(402), None, Trouble::Quota),
        ("APIError", Some(402), Some("run_budget"), Trouble::Budget),
        ("APIError", Some(429), Some("insufficient_quota"), Trouble::Quota),
        ("APIError", Some(429), None, Trouble::RateLimited),
        ("APIError", Some(404), Some("model_not_found"), Trouble::UnknownModel),
        ("APIError", Some(404), None, Trouble::Rejected),
        ("APIError", Some(400), None, Trouble::Rejected),
        ("APIError", Some(413), None, Trouble::ContextOverflow),
        ("ContextOverflowError", None, None, Trouble::ContextOverflow),
        ("MessageAbortedError", None, None, Trouble::Aborted),
        ("MessageOutputLengthError", None, None, Trouble::Engine),
    ] {
        let (_, turn) = start(until(60)).at(100, broke(name, status, code)).end();
        assert_eq!(turn.outcome, failed(trouble), "{name} {status:?} {code:?}");
    }
}

#[test]
fn a_withheld_answer_is_a_refusal() {
    let refused = Outcome::Refused { partial: None };

    let (_, turn) = start(until(60)).at(100, broke("ContentFilterError", None, None)).end();
    assert_eq!(turn.outcome, refused);

    let (_, turn) =
        start(until(60)).at(1, Heard::Busy).at(2, step(FinishReason::Filtered)).at(3, Heard::Idle).end();
    assert_eq!(turn.outcome, refused);
}

#[test]
fn retries_are_borne_until_the_fourth() {
    let bearable = start(until(600)).reading("Recovered.").at(100, retrying(1, 2_000)).at(2_000, Heard::Busy);
    let bearable = bearable.at(2_100, retrying(2, 6_000)).at(6_100, retrying(3, 14_000));
    let (deeds, turn) = bearable.at(14_000, Heard::Busy).at(14_100, Heard::Idle).end();
    assert_eq!((deeds, turn.outcome), (vec![(14_100, Deed::Settle)], answered("Recovered.")));

    let hopeless = start(until(600)).at(100, retrying(3, 14_000)).at(14_100, retrying(4, 30_000));
    let (deeds, turn) = hopeless.at(14_200, Heard::Idle).end();
    let expected = vec![(14_100, Deed::Abort), (14_500, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, failed(Trouble::Unavailable)));
}

#[test]
fn a_retry_past_the_deadline_is_not_waited_for() {
    let (deeds, turn) = start(until(60)).at(100, retrying(1, 61_200_000)).at(300, Heard::Idle).end();
    let expected = vec![(100, Deed::Abort), (600, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, failed(Trouble::Unavailable)));
}

#[test]
fn an_allowance_that_is_used_up_ends_the_turn_at_the_first_retry() {
    let spent = Heard::Retrying { attempt: 1, next: moment(2_000), spent: true };
    let (deeds, turn) = start(until(60)).at(100, spent).at(200, Heard::Idle).end();
    let quota = Outcome::Failed { failure: Trouble::Quota.into(), partial: None };
    assert_eq!((deeds, turn.outcome), (vec![(100, Deed::Abort), (500, Deed::Settle)], quota));
}

#[test]
fn the_deadline_aborts_and_keeps_what_was_said() {
    let Heard::Broke(aborted) = broke("MessageAbortedError", None, None) else { unreachable!() };
    let mut play = start(until(20));
    play.reading = Some(FinalMessage { breakage: Some(aborted), ..FinalMessage::default() });
    let (deeds, turn) = play
        .at(100, Heard::Busy)
        .at(300, Heard::Said("So far:".to_owned()))
        .at(20_100, broke("MessageAbortedError", None, None))
        .at(20_110, Heard::Idle)
        .end();

    let out_of_time = Outcome::OutOfTime { partial: Some("So far:".to_owned()) };
    assert_eq!((deeds, turn.outcome), (vec![(20_000, Deed::Abort), (20_410, Deed::Settle)], out_of_time));
}

#[test]
fn an_abort_that_is_not_heeded_ends_the_turn_too() {
    let (deeds, turn) = start(until(20)).at(100, Heard::Busy).end();
    let expected = vec![(20_000, Deed::Abort), (30_000, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, Outcome::OutOfTime { partial: None }));
}

#[test]
fn streams_that_break_off_again_and_again_end_the_turn() {
    let cut = || step(FinishReason::Cut);
    let play = start(until(60)).reading("Whole.").at(10, Heard::Busy);
    let play = play.at(20, cut()).at(30, cut()).at(40, cut()).at(50, step(FinishReason::ToolCalls));
    let play = play.at(60, cut()).at(70, step(FinishReason::Stop));
    let (_, turn) = play.at(80, Heard::Idle).end();
    assert_eq!(turn.outcome, answered("Whole."));

    let play = start(until(60)).at(10, Heard::Busy).at(20, cut()).at(30, cut()).at(40, cut()).at(50, cut());
    let (deeds, turn) = play.at(60, Heard::Idle).end();
    let expected = Outcome::Failed { failure: Trouble::CutStream.into(), partial: None };
    assert_eq!((deeds, turn.outcome), (vec![(50, Deed::Abort), (360, Deed::Settle)], expected));
}

#[test]
fn whoever_asks_is_refused_at_once() {
    let play = start(until(60)).reading("Without it, then.").at(10, Heard::Busy);
    let play = play.at(20, Heard::Asked(permission("per_1"))).at(30, Heard::Asked(permission("per_2")));
    let (deeds, turn) = play.at(40, Heard::Idle).end();

    let expected = vec![(20, Deed::Refuse), (30, Deed::Refuse), (40, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, answered("Without it, then.")));
}

#[test]
fn silence_makes_us_look_and_heartbeats_are_silence() {
    let play = start(until(600)).reading("Slow.").pulse(true).at(100, Heard::Busy);
    let play = play.at(10_000, Heard::Quiet).at(20_000, Heard::Quiet).at(30_000, Heard::Quiet);
    let (deeds, turn) = play.at(40_000, Heard::Writing).at(41_000, Heard::Idle).end();
    assert_eq!(
        (deeds, turn.outcome),
        (vec![(25_100, Deed::Poll), (41_000, Deed::Settle)], answered("Slow."))
    );
}

#[test]
fn a_look_finds_what_the_events_did_not_tell() {
    let mut play = start(until(600)).reading("Found.").at(100, Heard::Busy);
    play.pulse = Some(SessionActivity { busy: true, asked: vec![permission("per_1")] });
    let play = play.at(200, Heard::Gap).pulse(false);
    let (deeds, turn) = play.end();

    let expected = vec![(200, Deed::Poll), (200, Deed::Refuse), (25_200, Deed::Poll), (25_200, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, answered("Found.")));
}

#[test]
fn a_gap_right_after_the_prompt_does_not_end_the_turn() {
    let play = start(until(600)).reading("Late.").pulse(false).at(50, Heard::Gap);
    let (deeds, turn) = play.at(100, Heard::Busy).at(900, Heard::Idle).end();
    assert_eq!((deeds, turn.outcome), (vec![(50, Deed::Poll), (900, Deed::Settle)], answered("Late.")));
}

#[test]
fn a_turn_whose_events_were_all_lost_is_found_at_rest() {
    let (deeds, turn) = start(until(600)).reading("Unheard.").pulse(false).end();
    let expected = vec![(25_000, Deed::Poll), (25_000, Deed::Settle)];
    assert_eq!((deeds, turn.outcome), (expected, answered("Unheard.")));
}

#[test]
fn an_error_whose_event_was_lost_is_found_in_the_messages() {
    let Heard::Broke(breakage) = broke("APIError", Some(401), None) else { unreachable!() };
    let mut play = start(until(600)).pulse(false).at(100, Heard::Busy);
    play.reading = Some(FinalMessage { breakage: Some(breakage), ..FinalMessage::default() });
    let (_, turn) = play.at(200, Heard::Gap).end();
    assert_eq!(turn.outcome, failed(Trouble::Auth));
}

#[test]
fn a_server_that_does_not_answer_any_more_is_given_up() {
    let (deeds, turn) = start(Limits::default()).at(0, Heard::Busy).end();
    let polls = [25_000, 50_000, 75_000].map(|millisecond| (millisecond, Deed::Poll));
    let expected =
        polls.into_iter().chain([(75_000, Deed::Abort), (85_000, Deed::Settle)]).collect::<Vec<_>>();
    let engine = Outcome::Failed { failure: Trouble::Engine.into(), partial: None };
    assert_eq!((deeds, turn.outcome), (expected, engine));
}

#[test]
fn a_server_that_is_gone_ends_the_turn_at_once() {
    let play = start(until(60))
        .at(10, Heard::Busy)
        .at(20, Heard::Said("Half".to_owned()))
        .at(30, step(FinishReason::ToolCalls));
    let (deeds, turn) = play.at(40, Heard::Gone).at(50, Heard::Idle).end();

    let outcome = Outcome::Failed { failure: Trouble::Gone.into(), partial: Some("Half".to_owned()) };
    let usage = Usage { calls: 1, input: 10, cost: 0.5, ..Usage::default() };
    assert_eq!((deeds, turn), (vec![], Turn { outcome, usage }));
}

#[test]
fn messages_that_cannot_be_read_leave_what_the_events_told() {
    let play = start(until(60)).at(10, Heard::Busy).at(20, Heard::Said("A very long".to_owned()));
    let (_, turn) = play.at(30, step(FinishReason::Length)).at(40, Heard::Idle).end();

    let outcome = Outcome::Answered { text: "A very long".to_owned(), cut_short: true };
    let usage = Usage { calls: 1, input: 10, cost: 0.5, ..Usage::default() };
    assert_eq!(turn, Turn { outcome, usage });
}

#[test]
fn a_turn_without_a_word_is_not_an_answer() {
    let mut play = start(until(60)).at(10, Heard::Busy);
    play.reading = Some(FinalMessage::default());
    let (_, turn) = play.at(40, Heard::Idle).end();
    assert_eq!(turn.outcome, Outcome::Failed { failure: Trouble::Silent.into(), partial: None });
}

#[test]
fn the_end_of_a_child_is_not_the_end_of_its_parent() {
    assert_eq!(Heard::Idle.in_child(), None);
    assert_eq!(broke("APIError", Some(401), None).in_child(), None);
    assert_eq!(Heard::Asked(permission("per_1")).in_child(), Some(Heard::Asked(permission("per_1"))));
}

#[test]
fn words_of_a_provider_are_bounded_and_do_not_print() {
    let words = ForLog::new(&"x".repeat(10_000));
    assert_eq!((words.for_log().len(), format!("{words:?}")), (600, "[words for the log]".to_owned()));
}

#[test]
fn the_defaults_are_these() {
    let limits = Limits::default();
    let Limits { deadline, steps, nudges, retries, cut_streams, unanswered, .. } = limits;
    assert_eq!((deadline, steps, nudges, retries, cut_streams, unanswered), (None, None, 1, 3, 3, 3));
    let Limits { silence, resting, settling, stopping, .. } = limits;
    let times = [silence, resting, settling, stopping].map(|duration: Duration| duration.as_millis());
    assert_eq!(times, [25_000, 500, 300, 10_000]);
}
