//! What is to be done for a request, decided together with whether it may be.

use crate::{
    event::Trigger,
    gate::{Permit, Policy, ReviewWish},
    say::command::{self, CommandReply},
};

/// What is to be done for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// The agent is asked, and answers.
    Answer,
    /// One of our own words is answered without the engine.
    BuiltInCommand(CommandReply),
    /// A pull request is looked at, with or without a word in the end.
    Review(ReviewWish),
}

/// Whether anything is to be seen of a run while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// 👀, the label, and another reaction at the end.
    Shown,
    /// Nothing: nobody asked, and nobody waits.
    Quiet,
}

impl Task {
    /// Finds out what a permitted request is about.
    pub(crate) fn find(trigger: &Trigger, permit: &Permit, policy: &Policy) -> Self {
        if let Some(wish) = ReviewWish::from_trigger(trigger, policy) {
            return Self::Review(wish);
        }
        match command::reply(permit.said(), permit.name(), permit.work_words()) {
            Some(reply) => Self::BuiltInCommand(reply),
            None => Self::Answer,
        }
    }

    /// Returns what is to be seen of it while it is done. A review that nobody asked for may end without a word, so
    /// that it begins without one.
    pub fn visibility(&self) -> Visibility {
        match self {
            Self::Answer | Self::BuiltInCommand(_) | Self::Review(ReviewWish::Asked) => Visibility::Shown,
            Self::Review(ReviewWish::Unasked | ReviewWish::Reply { .. }) => Visibility::Quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Comment, tests::all},
        gate::{Answered, Decision, Facts, Role, decide, tests::a_mention},
        names::{Login, Permission},
        place::Subject,
    };

    /// Returns the task of every kind of event with the name of the event, in one line.
    fn tasks(role: Role) -> Vec<String> {
        let facts =
            Facts { own: Login::new("me[bot]"), permission: Permission::Write, answered: Answered::No };
        let policy = Policy { role, ..Policy::usual() };
        let told = |trigger: Trigger| match decide(&trigger, &facts, &policy) {
            Decision::Run(_, task) => format!("{}: {task:?}, {:?}", trigger.event_name(), task.visibility()),
            Decision::Skip(reason) => format!("{}: {}", trigger.event_name(), reason.word()),
        };
        all().into_iter().map(told).collect()
    }

    #[test]
    fn an_agent_answers_and_shows_that_it_does() {
        insta::assert_snapshot!(tasks(Role::Agent).join("\n"));
    }

    #[test]
    fn a_reviewer_reviews_and_is_quiet_unless_somebody_asked() {
        insta::assert_snapshot!(tasks(Role::Reviewer).join("\n"));
    }

    #[test]
    fn one_of_our_words_needs_no_engine_whatever_we_are() {
        let check = |role: Role, words: &str, expect: &Task| {
            let Trigger::Comment(comment) = a_mention() else { panic!("not a comment") };
            let subject = Subject::PullRequest(7);
            let trigger = Trigger::Comment(Comment { body: format!("@fro-bot {words}"), subject, ..comment });
            let facts =
                Facts { own: Login::new("me[bot]"), permission: Permission::Write, answered: Answered::No };
            let decided = decide(&trigger, &facts, &Policy { role, ..Policy::usual() });
            let Decision::Run(_, task) = decided else { panic!("{decided:?}") };
            assert_eq!(task, *expect, "{role:?} {words}");
        };
        for role in [Role::Agent, Role::Reviewer] {
            check(role, "status", &Task::BuiltInCommand(CommandReply::Status));
            check(role, "forget", &Task::BuiltInCommand(CommandReply::Forget));
            check(role, "why is the floor wet?", &Task::Answer);
        }
        check(Role::Agent, "review", &Task::Answer);
        check(Role::Reviewer, "review", &Task::Review(ReviewWish::Asked));
    }
}
