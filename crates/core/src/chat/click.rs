//! What a button of ours means when it comes back. Its text went through other hands, so it is read as a stranger's.

use std::fmt;

use super::{Button, ChannelId, Style};

/// Discord's limit for the id of a button.
const LONGEST: usize = 100;

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
