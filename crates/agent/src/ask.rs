//! Asks the engine until there is an outcome to tell: a full session is replaced by a new one, a broken answer asked for again.

use std::time::Duration;

use fro_core::{
    conversation::{
        Limits,
        again::{Again, Tried},
        heard::Heard,
        outcome::{Outcome, Turn},
    },
    prompt::follow_up,
};
use fro_opencode::{Connection, Message, Session};
use jiff::Timestamp;

use crate::{callers::ToolRegistration, full_disk};

/// What came of it, and where.
pub(crate) struct Answered {
    pub(crate) turn: Turn,
    /// The session that answered, which may not be the first.
    pub(crate) session: Session,
    /// What a maintainer should know.
    pub(crate) warnings: Vec<String>,
}

/// Asks, and asks again where that may help. What was attached is not remembered.
pub(crate) async fn ask(
    connection: &Connection,
    session: Session,
    message: &Message,
    (bounds, registration): ((&Limits, Duration), &ToolRegistration),
    listen: &mut (dyn FnMut(&Heard) + Send),
) -> Answered {
    let answered = ask_until_settled(connection, session, message, (bounds, registration), listen).await;
    if !message.files.is_empty()
        && let Err(error) = connection.forget_files(&answered.session).await
    {
        tracing::warn!("attached files may be kept in the memory: {error}");
    }
    answered
}

/// The deadline is one for all attempts.
async fn ask_until_settled(
    connection: &Connection,
    session: Session,
    message: &Message,
    ((limits, pause), registration): ((&Limits, Duration), &ToolRegistration),
    listen: &mut (dyn FnMut(&Heard) + Send),
) -> Answered {
    let mut tried = Tried::default();
    let mut answered = Answered {
        turn: converse(connection, &session, message, limits, listen).await,
        session,
        warnings: Vec::new(),
    };
    loop {
        let next = match tried.after(&answered.turn.outcome) {
            Again::No => return answered,
            Again::InNewSession => {
                let Ok(new) = connection.create_session(&answered.session.directory, NEW_TITLE).await else {
                    return answered;
                };
                registration.add_id(&new.id);
                let full = std::mem::replace(&mut answered.session, new);
                answered.warnings.push("the session was full, so this run began a new one".to_owned());
                if let Err(error) = connection.close_session(&full).await {
                    tracing::warn!("the full session may be continued by another run: {error}");
                }
                message.clone()
            }
            Again::GoOn if !in_time(limits, pause) => return answered,
            Again::GoOn => {
                answered.warnings.push("the model broke off and was asked a second time".to_owned());
                tokio::time::sleep(pause).await;
                second_message(message, &answered.turn)
            }
        };
        let before = std::mem::replace(
            &mut answered.turn,
            converse(connection, &answered.session, &next, limits, listen).await,
        );
        answered.turn.usage += before.usage;
        keep_words(&mut answered.turn.outcome, before.outcome);
    }
}

/// Puts one turn to the engine. One that failed for want of room on the disk says so.
async fn converse(
    connection: &Connection,
    session: &Session,
    message: &Message,
    limits: &Limits,
    listen: &mut (dyn FnMut(&Heard) + Send),
) -> Turn {
    let turn = fro_opencode::converse(connection, session, message, limits.clone(), listen).await;
    Turn { outcome: full_disk::in_turn(turn.outcome, &session.directory), ..turn }
}

/// Returns what is said the second time. A prompt that never reached the model is said again, without its files: the
/// engine drops a message whose picture it cannot read.
fn second_message(message: &Message, turn: &Turn) -> Message {
    let text = match turn.usage.calls {
        0 => message.text.clone(),
        _ => follow_up::go_on().to_owned(),
    };
    Message { text, files: Vec::new(), ..message.clone() }
}

/// What a session is called that takes the place of a full one.
const NEW_TITLE: &str = "started again, the session before was full";

fn in_time(limits: &Limits, pause: Duration) -> bool {
    limits.deadline.is_none_or(|deadline| Timestamp::now() + pause < deadline)
}

/// What was said before is better than nothing.
fn keep_words(outcome: &mut Outcome, before: Outcome) {
    let Outcome::Failed { partial: earlier, .. } = before else { return };
    match outcome {
        Outcome::Refused { partial } | Outcome::OutOfTime { partial } | Outcome::Failed { partial, .. } => {
            *partial = partial.take().or(earlier);
        }
        Outcome::Answered { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use fro_core::conversation::outcome::{Trouble, Usage};
    use fro_opencode::File;

    use super::*;

    #[test]
    fn a_prompt_that_never_arrived_is_said_again_without_its_files() {
        let files = vec![File { name: "tap.png".to_owned(), mime: "image/png".to_owned(), bytes: vec![1] }];
        let message = Message { text: "Why?".to_owned(), files, agent: None, model: None };
        let after = |calls| {
            second_message(
                &message,
                &Turn { usage: Usage { calls, ..Usage::default() }, ..Turn::failed(Trouble::Silent) },
            )
        };
        assert_eq!((after(0).text.as_str(), after(0).files.len()), ("Why?", 0));
        assert_eq!((after(2).text.as_str(), after(2).files.len()), (follow_up::go_on(), 0));
    }

    #[test]
    fn nobody_waits_past_the_deadline() {
        let limits = |seconds: i64| {
            let deadline = Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
            Limits { deadline: Some(deadline), ..Limits::default() }
        };
        assert!(in_time(&Limits::default(), Duration::from_hours(1)));
        assert!(in_time(&limits(3_600), Duration::from_mins(1)));
        assert!(!in_time(&limits(60), Duration::from_hours(1)));
        assert!(!in_time(&limits(-1), Duration::ZERO));
    }

    #[test]
    fn what_was_said_before_is_kept_unless_something_better_came() {
        let words = |text: &str| Some(text.to_owned());
        let earlier = || match Turn::failed(Trouble::Silent).outcome {
            Outcome::Failed { failure, .. } => Outcome::Failed { partial: words("Half"), failure },
            other => other,
        };
        let check = |mut outcome: Outcome, expect: Outcome| {
            keep_words(&mut outcome, earlier());
            assert_eq!(outcome, expect);
        };
        check(Outcome::OutOfTime { partial: None }, Outcome::OutOfTime { partial: words("Half") });
        check(Outcome::OutOfTime { partial: words("More") }, Outcome::OutOfTime { partial: words("More") });
        check(Outcome::Refused { partial: None }, Outcome::Refused { partial: words("Half") });
        let answered = Outcome::Answered { text: "All".to_owned(), cut_short: false };
        check(answered.clone(), answered);
    }
}
