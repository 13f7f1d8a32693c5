//! What a button of ours means when it comes back. Its text went through other hands, so it is read as a stranger's.

use std::fmt;

use super::{Button, ChannelId, Style};

/// Discord's limit for the id of a button.
const LONGEST: usize = 100;

/// What a menu of ours is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The session that a thread goes on with.
    Session,
    /// The model of the channel.
    Model,
    /// The agent of the channel.
    Agent,
    /// An answer to a question of the engine's, by the number of the request.
    Answer(i64),
}

impl Pick {
    /// Reads the id of a menu; anything else was never ours.
    pub fn read(id: &str) -> Option<Self> {
        match id.split_once(':')? {
            ("pick", "session") => Some(Self::Session),
            ("pick", "model") => Some(Self::Model),
            ("pick", "agent") => Some(Self::Agent),
            ("answer", number) => number.parse().ok().filter(|number| *number > 0).map(Self::Answer),
            _ => None,
        }
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session => write!(f, "pick:session"),
            Self::Model => write!(f, "pick:model"),
            Self::Agent => write!(f, "pick:agent"),
            Self::Answer(request) => write!(f, "answer:{request}"),
        }
    }
}

/// Something that was clicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Click {
    /// What is under way in this thread is to end.
    Stop(ChannelId),
    /// Somebody's word on what the engine asked.
    Rule {
        /// The number of the request.
        approval: i64,
        /// What they say.
        answer: String,
    },
}

impl Click {
    /// Reads the id of a button; anything else was never ours.
    pub fn read(id: &str) -> Option<Self> {
        if id.chars().count() > LONGEST {
            return None;
        }
        match id.split_once(':')? {
            ("stop", thread) => Some(Self::Stop(thread.parse().ok()?)),
            ("rule", rest) => {
                let (approval, answer) = rest.split_once(':')?;
                let approval = approval.parse().ok().filter(|number| *number > 0)?;
                (!answer.is_empty()).then(|| Self::Rule { approval, answer: answer.to_owned() })
            }
            _ => None,
        }
    }

    /// Makes a button that means this.
    pub fn button(&self, label: &str, style: Style) -> Button {
        Button { label: label.to_owned(), id: self.to_string(), style }
    }
}

impl fmt::Display for Click {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop(thread) => write!(f, "stop:{thread}"),
            Self::Rule { approval, answer } => write!(f, "rule:{approval}:{answer}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_says_what_it_was_for_and_nothing_else_is_one() {
        for pick in [Pick::Session, Pick::Model, Pick::Agent, Pick::Answer(7)] {
            assert_eq!(Pick::read(&pick.to_string()), Some(pick));
        }
        for id in
            ["", "pick", "pick:", "pick:shell", "answer:", "answer:0", "answer:-1", "answer:x", "stop:1"]
        {
            assert_eq!(Pick::read(id), None, "{id}");
        }
    }

    #[test]
    fn a_click_says_what_its_button_meant_and_nothing_else_is_one() {
        let rule = Click::Rule { approval: 7, answer: "once: and only once".to_owned() };
        for click in [Click::Stop(ChannelId::new(42).unwrap()), rule] {
            assert_eq!(Click::read(&click.button("x", Style::Other).id), Some(click));
        }
        let long = format!("rule:7:{}", "a".repeat(94));
        for id in [
            "",
            "stop",
            "stop:",
            "stop:0",
            "stop:-4",
            "rule:7",
            "rule:7:",
            "rule:-7:yes",
            "rule:x:yes",
            "other:1",
            &long,
        ] {
            assert_eq!(Click::read(id), None, "{id}");
        }
    }
}
