//! Reactions: the eight that GitHub has.

use jiff::Timestamp;

/// One person's reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// The database id.
    pub id: u64,
    /// Whose it is.
    pub author: String,
    /// Which of the eight.
    pub content: ReactionContent,
    /// When it was left.
    pub created_at: Timestamp,
}

/// The reactions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReactionContent {
    /// 👍
    ThumbsUp,
    /// 👎
    ThumbsDown,
    /// 😄
    Laugh,
    /// 😕
    Confused,
    /// ❤️
    Heart,
    /// 🎉
    Hooray,
    /// 🚀
    Rocket,
    /// 👀
    Eyes,
}

impl ReactionContent {
    /// All of them, in the order in which GitHub shows them.
    pub const ALL: [Self; 8] = [
        Self::ThumbsUp,
        Self::ThumbsDown,
        Self::Laugh,
        Self::Hooray,
        Self::Confused,
        Self::Heart,
        Self::Rocket,
        Self::Eyes,
    ];

    /// The word in REST.
    pub fn word(self) -> &'static str {
        match self {
            Self::ThumbsUp => "+1",
            Self::ThumbsDown => "-1",
            Self::Laugh => "laugh",
            Self::Confused => "confused",
            Self::Heart => "heart",
            Self::Hooray => "hooray",
            Self::Rocket => "rocket",
            Self::Eyes => "eyes",
        }
    }

    /// The picture on the page.
    pub fn emoji(self) -> &'static str {
        match self {
            Self::ThumbsUp => "👍",
            Self::ThumbsDown => "👎",
            Self::Laugh => "😄",
            Self::Confused => "😕",
            Self::Heart => "❤️",
            Self::Hooray => "🎉",
            Self::Rocket => "🚀",
            Self::Eyes => "👀",
        }
    }

    /// Reads the word in REST.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|content| content.word() == word)
    }
}
