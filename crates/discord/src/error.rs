//! What went wrong, on what, and who has to act.

use std::time::Duration;

use fro_core::Fault;
use serde::Deserialize;

/// Discord's number for an archived thread.
const ARCHIVED: u32 = 50083;

/// A deed or a question that came to nothing.
#[derive(Debug, thiserror::Error)]
#[error("cannot {deed}: {why}")]
pub struct Error {
    deed: String,
    why: ErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum ErrorKind {
    #[error("{0}")]
    Limit(String),
    #[error("{0}")]
    Http(#[from] fro_http::Error),
}

#[derive(Deserialize)]
struct Code {
    code: u32,
}

impl Error {
    pub(crate) fn http(deed: &str, error: fro_http::Error) -> Self {
        Self { deed: deed.to_owned(), why: ErrorKind::Http(error) }
    }

    pub(crate) fn limit(deed: &str, what: impl Into<String>) -> Self {
        Self { deed: deed.to_owned(), why: ErrorKind::Limit(what.into()) }
    }

    /// Returns Discord's own number for what is wrong.
    pub fn code(&self) -> Option<u32> {
        self.answered()?.refusal_body::<Code>().map(|body| body.code)
    }

    /// Tells whether what it was about is not there any more.
    pub fn gone(&self) -> bool {
        self.answered().is_some_and(|error| error.status() == Some(404))
    }

    /// Tells whether we may not do this here.
    pub fn forbidden(&self) -> bool {
        self.answered().is_some_and(|error| error.status() == Some(403))
    }

    /// Tells whether the thread is archived.
    pub fn archived(&self) -> bool {
        self.code() == Some(ARCHIVED)
    }

    /// Tells whether Discord does not know our token, which a new one mends.
    pub fn stranger(&self) -> bool {
        self.answered().is_some_and(|error| error.status() == Some(401))
    }

    /// Tells whether nobody knows if it was done.
    pub fn lost(&self) -> bool {
        self.answered().is_some_and(fro_http::Error::ambiguous)
    }

    /// Returns how long Discord wants us to wait.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.answered().filter(|error| error.limited())?.wait()
    }

    /// Sorts this by who has to act.
    pub fn fault(&self) -> Fault {
        match &self.why {
            // Whoever is asked, the answer is the gateway's: the same words for the same mistake.
            ErrorKind::Http(_) if self.stranger() => Fatal::Token.fault(),
            ErrorKind::Limit(_) => Fault::ours(self.to_string()),
            ErrorKind::Http(error) => error.fault_of(&format!("cannot {}", self.deed)),
        }
    }

    fn answered(&self) -> Option<&fro_http::Error> {
        match &self.why {
            ErrorKind::Http(error) => Some(error),
            ErrorKind::Limit(_) => None,
        }
    }
}

/// Why the gateway will not have us until a person changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fatal {
    /// The token is not one (4004).
    Token,
    /// More shards are wanted of us than one (4010, 4011).
    Shards,
    /// This version of the gateway is no more (4012).
    Version,
    /// An intent is not one that Discord knows (4013).
    Intents,
    /// An intent is not switched on for this bot (4014).
    PrivilegedIntents,
    /// Something that we do not know.
    Other(Option<u16>),
}

impl Fatal {
    pub(crate) fn from_close_code(code: Option<u16>) -> Self {
        match code {
            Some(4004) => Self::Token,
            Some(4010 | 4011) => Self::Shards,
            Some(4012) => Self::Version,
            Some(4013) => Self::Intents,
            Some(4014) => Self::PrivilegedIntents,
            code => Self::Other(code),
        }
    }

    /// Says it, with the next step.
    pub fn fault(self) -> Fault {
        let (what, hint) = match self {
            Self::Token => {
                ("Discord does not take the bot's token", "reset it on the bot's page and set the new one")
            }
            Self::Shards => (
                "Discord wants several shards for this bot",
                "put it on fewer servers: it speaks as one shard",
            ),
            Self::Version => ("Discord has given up this version of its gateway", "update fro-bot"),
            Self::Intents => ("Discord does not know what the bot wants to hear", "update fro-bot"),
            Self::PrivilegedIntents => (
                "Discord does not let the bot read messages",
                "switch on `Message Content Intent` on the bot's page, or serve without it",
            ),
            Self::Other(code) => {
                let code = code.map_or_else(|| "without a code".to_owned(), |code| format!("with {code}"));
                return Fault::yours(
                    format!("Discord ended the connection for good, {code}"),
                    "look up the code",
                );
            }
        };
        Fault::yours(what, hint)
    }
}
