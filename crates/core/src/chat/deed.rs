//! What is to be done on Discord, as it waits in the outbox.

use serde::{Deserialize, Serialize};

use super::{ChannelId, GuildId, MessageId, UserId, Words};
use crate::names::RepoName;

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Deed {
    /// Opens a thread on a message.
    OpenThread {
        /// Where the message is.
        channel: ChannelId,
        /// The message, whose number the thread will have.
        message: MessageId,
        /// What the thread is called.
        name: String,
    },
    /// Says something.
    Say {
        /// In which channel or thread.
        channel: ChannelId,
        /// What.
        text: String,
        /// To which message it is a reply.
        reply_to: Option<MessageId>,
        /// What can be clicked below it.
        buttons: Vec<Button>,
        /// What can be chosen below it.
        #[serde(default)]
        menu: Option<Menu>,
        /// What does not fit.
        file: Option<TextFile>,
        /// Files that the agent made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        handed: Vec<HandedFile>,
        /// Whether people hear of it.
        notify: Notify,
    },
    /// Changes what was said: the message of the part that this row belongs to.
    Change {
        /// In which channel or thread.
        channel: ChannelId,
        /// What it says now.
        text: String,
        /// What can be clicked below it.
        #[serde(default)]
        buttons: Vec<Button>,
        /// What can be chosen below it.
        #[serde(default)]
        menu: Option<Menu>,
        /// What does not fit.
        #[serde(default)]
        file: Option<TextFile>,
        /// Files that the agent made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        handed: Vec<HandedFile>,
    },
    /// Takes back what was said: the message of the part that this row belongs to.
    TakeBack {
        /// In which channel or thread.
        channel: ChannelId,
    },
    /// Says in a channel what somebody asks by a command. Once that stands there, a thread is opened on it.
    Begin {
        /// In which channel.
        channel: ChannelId,
        /// What is said there.
        text: String,
        /// What the thread begins with.
        beginning: Box<ThreadOpening>,
    },
}

/// What a thread begins with whose number nobody knows yet: it is that of the message that it is opened on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadOpening {
    /// In which guild.
    pub guild: GuildId,
    /// The repository it is about.
    pub repository: RepoName,
    /// The session that it goes on with.
    pub session: Option<String>,
    /// The session that it goes on with in a copy.
    pub forked_from: Option<String>,
    /// What it is called.
    pub name: String,
    /// Whose words it begins with.
    pub asker: UserId,
    /// Their words.
    pub words: Words,
}

/// Whether people hear of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// As of any message.
    Yes,
    /// The message appears without a notification.
    No,
}

/// Something to click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Button {
    /// What it says.
    pub label: String,
    /// What comes back when it is clicked, at most 100 characters.
    pub id: String,
    /// How it looks.
    pub style: Style,
}

/// Something to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Menu {
    /// What comes back with the choice, at most 100 characters.
    pub id: String,
    /// The choices, which come back as they are.
    pub choices: Vec<String>,
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// The usual choice.
    Usual,
    /// Another choice.
    Other,
    /// Something that ends or refuses.
    Danger,
}

/// A file of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A file that the agent made, of whatever kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandedFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    #[serde(with = "as_base64")]
    pub bytes: Vec<u8>,
}

/// Bytes as text, since the outbox holds JSON.
mod as_base64 {
    use data_encoding::BASE64;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        BASE64.decode(String::deserialize(deserializer)?.as_bytes()).map_err(D::Error::custom)
    }
}

impl Deed {
    /// Makes a plain message of it.
    pub fn say(channel: ChannelId, text: impl Into<String>) -> Self {
        let (reply_to, buttons, file) = (None, Vec::new(), None);
        let (text, handed, notify) = (text.into(), Vec::new(), Notify::Yes);
        Self::Say { channel, text, reply_to, buttons, menu: None, file, handed, notify }
    }
}
