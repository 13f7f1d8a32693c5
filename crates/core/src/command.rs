//! Words after the mention that mean something by themselves.
//!
//! Some are answered without the engine; a request in plain words stays one, even if it begins like a command.

use crate::{event::Trigger, mention, names::Login};

/// A word that means something by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Tells what can be asked.
    Help,
    /// Stops what is under way.
    Stop,
    /// Asks for a review.
    Review,
    /// Asks for a change.
    Fix,
    /// Asks what is under way.
    Status,
    /// Takes back what is remembered.
    Forget,
}

/// What the words after a mention turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterMention {
    /// One of our words.
    Command(Command),
    /// A word after the mention that is not a command of ours.
    Unknown {
        /// What was written.
        word: String,
        /// What was probably meant.
        meant: Option<Command>,
    },
    /// A request in plain words, or none at all.
    Request,
}

/// What asks for a change without further words, in whatever language the rest is: the operator chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkWords {
    /// First words after the mention; one that begins with `/` needs it.
    pub words: Vec<String>,
    /// The label of an issue or a pull request where every request is for a change.
    pub label: String,
}

/// What somebody who may push wants, as far as fixed words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// A change.
    Work,
    /// No fixed word says whether a change is wanted.
    Unsaid,
}

impl WorkWords {
    /// Returns what holds if nobody says otherwise.
    pub fn usual() -> Self {
        let words = ["fix", "implement", "/pr"].map(str::to_owned).into();
        Self { words, label: "agent: implement".to_owned() }
    }

    /// Returns what somebody's words and the labels of the subject say.
    pub(crate) fn wish(&self, trigger: &Trigger, name: &Login) -> Wish {
        let said = mention::request(trigger.words(), name).is_some_and(|request| self.begin(&request));
        let labelled = trigger.labels().iter().any(|label| label.eq_ignore_ascii_case(&self.label));
        if said || labelled { Wish::Work } else { Wish::Unsaid }
    }

    /// Returns what words say that need no mention, as in a thread.
    pub(crate) fn wish_of(&self, request: &str) -> Wish {
        if self.begin(request) { Wish::Work } else { Wish::Unsaid }
    }

    fn begin(&self, request: &str) -> bool {
        self.has(first(&request.to_lowercase()).0)
    }

    fn has(&self, first: &str) -> bool {
        let plain = first.trim_end_matches(|c: char| c.is_ascii_punctuation());
        let bare = plain.strip_prefix('/').unwrap_or(plain);
        self.words.iter().map(|word| word.to_lowercase()).any(|word| word == plain || word == bare)
    }
}

/// Characters of a word that are looked at.
const LONGEST: usize = 40;

impl Command {
    /// All of them, in the order in which people are told of them.
    pub const ALL: [Self; 6] = [Self::Help, Self::Review, Self::Fix, Self::Status, Self::Stop, Self::Forget];

    /// Returns the word itself.
    pub fn word(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Stop => "stop",
            Self::Review => "review",
            Self::Fix => "fix",
            Self::Status => "status",
            Self::Forget => "forget",
        }
    }

    /// Tells whether more words may follow it.
    fn takes_words(self) -> bool {
        match self {
            Self::Review | Self::Fix => true,
            Self::Help | Self::Stop | Self::Status | Self::Forget => false,
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.word() == word)
    }

    /// Returns the command that a mistyped word most likely means.
    fn nearest(word: &str) -> Option<Self> {
        let slips = |command: &Self| strsim::osa_distance(command.word(), word);
        let nearest = Self::ALL.into_iter().min_by_key(slips)?;
        let allowed = if nearest.word().len() > 4 { 2 } else { 1 };
        (slips(&nearest) <= allowed).then_some(nearest)
    }
}

/// Reads what somebody said to us. Only comments speak to us; a description is about something else.
pub fn read_trigger(trigger: &Trigger, name: &Login, work: &WorkWords) -> AfterMention {
    match trigger {
        Trigger::Comment(_) | Trigger::ReviewComment(_) | Trigger::DiscussionComment(_) => {
            read(trigger.words(), name, work)
        }
        Trigger::Issue(_) | Trigger::Pull(_) | Trigger::Discussion(_) | Trigger::Order(_) => {
            AfterMention::Request
        }
    }
}

/// Tells whether somebody's words ask us to stop.
pub fn says_stop(words: &str, name: &Login, work: &WorkWords) -> bool {
    read(words, name, work) == AfterMention::Command(Command::Stop)
}

/// Reads what follows the mention.
///
/// `/word` is meant as a command, unless it is a path: one with a second slash in it, or a word unlike any of ours with
/// more words after it. A bare word is one only if it is one of ours, or stands alone and looks like one: `help me` is a
/// request.
fn read(markdown: &str, name: &Login, known: &WorkWords) -> AfterMention {
    let Some(request) = mention::request(markdown, name) else { return AfterMention::Request };
    let text = request.to_lowercase();
    let (first, rest) = first(&text);
    if first.trim_matches('/').contains('/') {
        return AfterMention::Request;
    }
    let slashed = first.starts_with('/');
    let word: String = first.trim_matches(|c: char| c.is_ascii_punctuation()).chars().take(LONGEST).collect();
    let alone = rest.is_empty();
    match (Command::from_word(&word), Command::nearest(&word)) {
        (Some(command), _) if slashed || alone || command.takes_words() => AfterMention::Command(command),
        (None, _) if known.has(first) => AfterMention::Request,
        (None, meant) if slashed && !word.is_empty() && (alone || meant.is_some()) => {
            AfterMention::Unknown { word, meant }
        }
        (None, Some(meant)) if alone => AfterMention::Unknown { word, meant: Some(meant) },
        (Some(_) | None, _) => AfterMention::Request,
    }
}

/// Splits what follows a mention after its first word.
fn first(request: &str) -> (&str, &str) {
    let text = request.trim_start_matches([',', ':']).trim();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let told = match read(text, &Login::new("fro-bot"), &WorkWords::usual()) {
            AfterMention::Command(command) => command.word().to_owned(),
            AfterMention::Unknown { word, meant: Some(meant) } => format!("{word}? {}!", meant.word()),
            AfterMention::Unknown { word, meant: None } => format!("{word}?"),
            AfterMention::Request => "a request".to_owned(),
        };
        assert_eq!(told, expect, "{text:?}");
    }

    #[test]
    fn a_command_is_one_of_our_words() {
        for command in Command::ALL {
            check(&format!("@fro-bot {}", command.word()), command.word());
            check(&format!("@fro-bot: /{}!", command.word().to_uppercase()), command.word());
        }
        check("@fro-bot review the last commit only", "review");
        check("@fro-bot fix it", "fix");
    }

    #[test]
    fn plain_words_stay_a_request() {
        for text in [
            "@fro-bot",
            "@fro-bot help me with the tap",
            "@fro-bot stop the leak, please",
            "@fro-bot hello",
            "@fro-bot why?",
            "help @fro-bot",
            "@fro-bot 🌱",
            "@fro-bot /var is full, why?",
            "@fro-bot /var/log/syslog grows without end",
            "@fro-bot /etc/hosts",
            "@fro-bot: /fix/it.sh fails",
            "@fro-bot implement",
            "@fro-bot /pr",
        ] {
            check(text, "a request");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_noticed() {
        check("@fro-bot revuew", "revuew? review!");
        check("@fro-bot hlep", "hlep? help!");
        check("@fro-bot /statsu now", "statsu? status!");
        check("@fro-bot /dance", "dance?");
    }
}
