//! Decides whether a run continues the last session of its subject, and which earlier words it is reminded of.

use std::fmt;

use crate::{
    budget::Bounded,
    context::Context,
    place::Subject,
    remembered::{Excerpt, Message, Remembered},
    trust::Trust,
};

/// Bytes of a session from which on a new one is begun; more would not fit most models.
const FULL: u64 = 600_000;
/// Bytes of a title and of a request that are looked for in earlier sessions.
const TITLE: usize = 300;
const REQUEST: usize = 4_000;
/// What a session must have of the best that was found, in thousandths, to be told of, and what it must have to be told
/// of for one word alone.
const ALIKE: u32 = 500;
const BY_ONE_WORD: u32 = 900;

/// Where a run takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuity {
    /// In the session in which its subject was last spoken about.
    Continued(String),
    /// In a new one.
    Fresh(Fresh),
}

/// Why a new session is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fresh {
    /// The subject was never spoken about.
    First,
    /// It is about nothing in particular, as a schedule is.
    Order,
    /// The last session is not there any more.
    Gone,
    /// The last session was closed.
    Closed,
    /// Its words are not for those who read this.
    Private,
    /// There is no room left in it.
    Full,
    /// Words are in it that are trusted less than those which now ask.
    LessTrusted,
    /// Every review is a new session: the security pass must not have heard what the author says of the change.
    Review,
}

/// The session in which a subject was last spoken about.
#[derive(Debug, Clone, PartialEq)]
pub enum LastSession {
    /// There is none.
    None,
    /// The session does not exist any more.
    Gone,
    /// The session may not be read by those who read the subject.
    Private,
    /// The session exists and may be read.
    Here {
        /// What is known of it.
        session: Box<Remembered>,
        /// How much was said in it.
        bytes: u64,
    },
}

impl Continuity {
    /// Returns the session that is continued.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Continued(session) => Some(session),
            Self::Fresh(_) => None,
        }
    }

    /// Tells whether the end of the subject's last session is quoted: it may be heard, and is not before the agent anyway.
    pub fn quotes_last_session(&self) -> bool {
        match self {
            Self::Fresh(Fresh::Closed | Fresh::Full | Fresh::LessTrusted | Fresh::Review) => true,
            Self::Fresh(Fresh::First | Fresh::Order | Fresh::Gone | Fresh::Private) | Self::Continued(_) => {
                false
            }
        }
    }

    /// Tells whether other sessions are quoted where the words stand in them, whoever said these, rather than by their
    /// answers. What a review ends with says nothing of what it found; the calls of its tools do.
    pub fn quotes_any_place(&self) -> bool {
        *self == Self::Fresh(Fresh::Review)
    }
}

/// What a run is reminded of.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminder {
    /// Where it takes place.
    pub continuity: Continuity,
    /// The end of the session that is not continued, oldest first.
    pub before: Option<(Remembered, Vec<Message>)>,
    /// What was said elsewhere that may matter.
    pub elsewhere: Vec<Excerpt>,
}

impl Reminder {
    /// Returns the sessions that are quoted.
    pub fn sessions(&self) -> Vec<String> {
        let before = self.before.iter().map(|(session, _)| session.id.clone());
        let mut ids: Vec<String> =
            before.chain(self.elsewhere.iter().map(|place| place.session.id.clone())).collect();
        ids.dedup();
        ids
    }
}

/// Decides where a run takes place whose asker is trusted this far.
pub fn decide(subject: Subject, asker: Trust, last: &LastSession) -> Continuity {
    if subject == Subject::Repository {
        return Continuity::Fresh(Fresh::Order);
    }
    let (session, bytes) = match last {
        LastSession::None => return Continuity::Fresh(Fresh::First),
        LastSession::Gone => return Continuity::Fresh(Fresh::Gone),
        LastSession::Private => return Continuity::Fresh(Fresh::Private),
        LastSession::Here { session, bytes } => (session, *bytes),
    };
    if session.is_archived {
        Continuity::Fresh(Fresh::Closed)
    } else if asker > session.trust {
        Continuity::Fresh(Fresh::LessTrusted)
    } else if bytes > FULL {
        Continuity::Fresh(Fresh::Full)
    } else {
        Continuity::Continued(session.id.clone())
    }
}

/// How much an earlier session has in common with what a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness {
    /// In thousandths of the session that has most.
    pub weight: u32,
    /// How many words they share.
    pub shared: usize,
}

/// Tells whether a run is reminded of a session: not if others have much more in common, and by one word alone only if
/// hardly any other has more.
pub fn is_worth_telling(likeness: Likeness) -> bool {
    let enough = if likeness.shared > 1 { ALIKE } else { BY_ONE_WORD };
    likeness.weight >= enough
}

/// What is looked for in earlier sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topic {
    /// The subject's own words, which count most.
    pub words: String,
    /// Words around them: its description, and the files that it changes.
    pub around: Vec<String>,
}

impl Topic {
    /// Returns the topic of a run that was asked for in these words.
    pub fn from_context(context: &Context, request: &str) -> Self {
        let description = Bounded::text(&context.description.spoken.text, REQUEST).value().clone();
        let files = context.change.iter().map(|change| change.files.value().join(" "));
        let around = std::iter::once(description).chain(files).filter(|text| !text.is_empty());
        Self { words: topic(context.title.value(), request), around: around.collect() }
    }
}

/// Returns what is looked for first in earlier sessions: the words of the title before those of the request, without the
/// names of those who are called.
pub fn topic(title: &str, request: &str) -> String {
    let (title, request) = (Bounded::text(title, TITLE), Bounded::text(request, REQUEST));
    let words = title.value().split_whitespace().chain(request.value().split_whitespace());
    words.filter(|word| !word.starts_with('@')).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "nothing was said about this before",
            Self::Order => "it is not about one issue, pull request or discussion",
            Self::Gone => "the last session was removed",
            Self::Closed => "the last session was closed",
            Self::Private => "the last session is not for everyone",
            Self::Full => "the last session is full",
            Self::LessTrusted => "the last session has words that are trusted less than those of the asker",
            Self::Review => "every review does",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::say::sessions::tests::a_session;

    fn here(session: Remembered) -> LastSession {
        LastSession::Here { session: Box::new(session), bytes: 1_000 }
    }

    #[track_caller]
    fn check(last: &LastSession, asker: Trust, expect: Option<Fresh>) {
        let expect = match expect {
            Some(why) => Continuity::Fresh(why),
            None => Continuity::Continued("ses_1".to_owned()),
        };
        assert_eq!(decide(Subject::Issue(7), asker, last), expect);
    }

    #[test]
    fn a_subject_goes_on_in_its_session() {
        check(&here(a_session(Trust::Maintainer)), Trust::Maintainer, None);
        check(&here(a_session(Trust::Stranger)), Trust::Stranger, None);
        check(&here(a_session(Trust::Maintainer)), Trust::Stranger, None);
    }

    #[test]
    fn whoever_may_more_does_not_go_on_in_less_trusted_words() {
        check(&here(a_session(Trust::Stranger)), Trust::Maintainer, Some(Fresh::LessTrusted));
    }

    #[test]
    fn what_is_put_away_gone_private_or_full_is_not_continued() {
        let asker = Trust::Maintainer;
        let closed = Remembered { is_archived: true, ..a_session(asker) };
        check(&here(closed), asker, Some(Fresh::Closed));
        check(&LastSession::None, asker, Some(Fresh::First));
        check(&LastSession::Gone, asker, Some(Fresh::Gone));
        check(&LastSession::Private, asker, Some(Fresh::Private));
        let full = LastSession::Here { session: Box::new(a_session(asker)), bytes: FULL + 1 };
        check(&full, asker, Some(Fresh::Full));
    }

    #[test]
    fn an_order_begins_anew() {
        let last = here(a_session(Trust::Operator));
        assert_eq!(decide(Subject::Repository, Trust::Operator, &last), Continuity::Fresh(Fresh::Order));
    }

    #[test]
    fn the_subject_s_own_words_are_looked_for() {
        let check = |title: &str, request: &str, expect: &str| assert_eq!(topic(title, request), expect);
        check("The floor is wet", "@fro-bot why, near `tap.rs`?", "The floor is wet why, near `tap.rs`?");
        check("", "@fro-bot", "");
        assert!(topic("", &"word ".repeat(9_000)).len() <= REQUEST);
    }

    #[test]
    fn a_session_is_told_of_when_it_has_enough_in_common() {
        let check = |weight: u32, shared: usize, expect: bool| {
            assert_eq!(is_worth_telling(Likeness { weight, shared }), expect, "{weight} {shared}");
        };
        check(1_000, 2, true);
        check(BY_ONE_WORD, 1, true);
        check(BY_ONE_WORD - 1, 1, false);
        check(ALIKE, 3, true);
        check(ALIKE - 1, 9, false);
    }
}
