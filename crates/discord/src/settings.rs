//! How Discord is reached, as values.

use std::time::Duration;

use fro_core::Secret;

/// What a [`Discord`](crate::Discord) and a [`Gateway`](crate::Gateway) are built from.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The bot's token, without `Bot` in front.
    pub token: Secret,
    /// Where the REST API is, without its version.
    pub api: String,
    /// Where the gateway is; Discord's own if left out.
    pub gateway: Option<String>,
    /// Whether the words of messages are wanted that do not name the bot: a privileged intent.
    pub reads_content: bool,
    /// The pauses before the gateway is tried again after it refused us for good; the last one repeats.
    pub refused: Vec<Duration>,
}

impl Settings {
    /// Returns the settings for Discord itself.
    pub fn new(token: Secret) -> Self {
        Self {
            token,
            api: "https://discord.com/api".to_owned(),
            gateway: None,
            reads_content: true,
            refused: [10, 30, 60, 300, 600].map(Duration::from_secs).into(),
        }
    }
}
