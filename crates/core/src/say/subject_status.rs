//! What people are told of one subject: what was done there, what is remembered, and that it was forgotten.

use std::fmt::Write as _;

use crate::{
    fence,
    remembered::{EarlierRun, Remembered},
    say::{
        sessions::{ran, time},
        summary::counted,
    },
};

/// What is known of a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectStatus {
    /// The runs there, newest first.
    pub past: Vec<EarlierRun>,
    /// The session in which it was last spoken about, if that may be told of.
    pub session: Option<Remembered>,
    /// What there is of the memory as a whole.
    pub memory: String,
}

/// So many runs are told of one by one.
const SHOWN: usize = 5;

/// Answers somebody who asks what is under way.
pub fn describe(status: &SubjectStatus) -> String {
    let mut text = String::from(
        "I am here. What I am working on carries 👀 and the label `agent: working`; the log of each run is in the \
         repository's *Actions* tab.\n\n",
    );
    let _ = writeln!(text, "Runs here that I remember: {}", status.past.len());
    for run in status.past.iter().take(SHOWN) {
        let _ = writeln!(text, "- {}", ran(run));
    }
    if let Some(session) = &status.session {
        let Remembered { id, messages, cost, updated, .. } = session;
        let id = fence::inline(id);
        let _ = write!(
            text,
            "\nSession: `{id}`, {}, ${cost:.4}, last used {}",
            counted(*messages, "message"),
            time(*updated)
        );
        text.push_str(if session.is_archived { ", closed\n" } else { "\n" });
    }
    let _ = write!(text, "\nMemory: {}", status.memory);
    text
}

/// Answers somebody who asks to forget a subject.
pub fn forgotten(sessions: usize) -> String {
    match sessions {
        0 => "There was nothing to forget: I remember nothing of what was said here.".to_owned(),
        sessions => format!(
            "I have forgotten what was said here ({}). Nothing that I save from now on has it; older saves \
             are deleted after three days, or by the store that keeps them. What stands here on GitHub stays, and I \
             read it when I am asked again.",
            counted(sessions, "session"),
        ),
    }
}

/// Answers somebody who asks to forget and has no right to.
pub const NOT_YOURS_TO_FORGET: &str =
    "Only those who may push to this repository can make me forget. I have kept what I remember.";

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{say::sessions::tests::a_session, trust::Trust};

    fn a_run(outcome: &str) -> EarlierRun {
        EarlierRun {
            ended: Timestamp::from_second(86_400).unwrap(),
            event: "issue_comment".to_owned(),
            actor: "maya".to_owned(),
            outcome: outcome.to_owned(),
            links: vec!["https://github.com/octo/garden/issues/7#issuecomment-1".to_owned()],
        }
    }

    #[test]
    fn a_known_subject_reads_like_this() {
        let status = SubjectStatus {
            past: vec![a_run("answered"), a_run("out of time")],
            session: Some(a_session(Trust::Maintainer)),
            memory: "hit, 12 sessions, 1.2 MB".to_owned(),
        };
        insta::assert_snapshot!(describe(&status));
        let many = SubjectStatus { past: vec![a_run("answered"); 9], ..status };
        assert_eq!(describe(&many).matches("for `maya`").count(), SHOWN);
    }

    #[test]
    fn an_unknown_subject_reads_like_this() {
        let memory = "miss (first run)".to_owned();
        insta::assert_snapshot!(describe(&SubjectStatus { past: Vec::new(), session: None, memory }));
    }

    #[test]
    fn what_was_forgotten_is_told() {
        insta::assert_snapshot!([forgotten(0), forgotten(1), forgotten(2)].join("\n"));
    }
}
