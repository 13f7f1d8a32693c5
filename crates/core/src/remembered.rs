//! Earlier sessions as they are told of: what they were about, whose words are in them, and who may hear them.

use std::fmt::Display;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::trust::Trust;

/// An earlier session.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The engine's id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it was about, such as `octo/garden#7`, if that was written down.
    pub about: Option<String>,
    /// When it began.
    pub created: Timestamp,
    /// When something was last said.
    pub updated: Timestamp,
    /// How many messages it has.
    pub messages: u32,
    /// What it cost, in US dollars.
    pub cost: f64,
    /// The least trusted words that set one of its runs off.
    pub trust: Trust,
    /// Tells whether the session was closed.
    pub is_archived: bool,
}

/// A message of an earlier session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// When it was said.
    pub at: Timestamp,
    /// What was said, and what tools were asked and answered.
    pub text: String,
}

/// An earlier session that was found, with a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The session.
    pub session: Remembered,
    /// The words around what was looked for, or how its answer begins.
    pub text: String,
    /// The words of the question that it has too, those that say most first.
    pub shared: Vec<String>,
}

/// A run that an earlier session served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRun {
    /// When it ended.
    pub ended: Timestamp,
    /// What set it off.
    pub event: String,
    /// Whose words it acted on.
    pub actor: String,
    /// How it ended.
    pub outcome: String,
    /// Where its answer is.
    pub links: Vec<String>,
}

/// Who can see a subject, and so may be told what was said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// Everyone.
    Everyone,
    /// Those who can see the repository.
    Insiders,
}

impl Audience {
    /// Tells whether this audience may hear what was said before another one.
    pub fn may_hear(self, said_before: Self) -> bool {
        self == Self::Insiders || said_before == Self::Everyone
    }
}

/// Returns what the ledger calls a place of a surface that not all who can see the repository can read.
pub fn hidden_place(surface: &str, place: impl Display) -> String {
    format!("{surface}:{place}")
}

/// Tells whether what was said in one place may be told in another: what was said in a hidden one stays there.
pub fn is_told(said_in: &str, here: &str) -> bool {
    !said_in.contains(':') || said_in == here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_a_hidden_place_stays_there() {
        let [cellar, attic] = [7, 8].map(|channel| hidden_place("discord", channel));
        let check = |said_in: &str, here: &str, told: bool| {
            assert_eq!(is_told(said_in, here), told, "from {said_in} in {here}");
        };
        for here in ["github", "discord", &cellar] {
            check("github", here, true);
            check("discord", here, true);
        }
        for here in ["github", "discord", &attic] {
            check(&cellar, here, false);
        }
        check(&cellar, &cellar, true);
    }

    #[test]
    fn a_public_subject_never_hears_a_private_session() {
        let heard = |own: Audience| [Audience::Everyone, Audience::Insiders].map(|said| own.may_hear(said));
        assert_eq!(heard(Audience::Everyone), [true, false]);
        assert_eq!(heard(Audience::Insiders), [true, true]);
    }
}
