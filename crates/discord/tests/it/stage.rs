//! A Discord, and a bot that hears and does.

use std::time::Duration;

use fro_core::{
    Clean, Redactor, Secret,
    chat::{ChannelId, MessageId},
};
use fro_discord::{Discord, Gateway, Heard, Interaction, Message, Nonce, Post, Session, Settings};
use fro_http::{Client, ClientSettings, Retry};
use fro_sim::discord::Discord as World;

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) discord: Discord,
    pub(crate) settings: Settings,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let world = World::start().await.unwrap();
        let pauses: Vec<_> = [1, 1, 1].map(Duration::from_millis).into();
        let retry =
            Retry { failing: pauses.clone(), limited: pauses.clone(), longest: Duration::from_secs(5) };
        let client = Client::new(ClientSettings { retry, ..ClientSettings::loopback() }).unwrap();
        let settings = Settings {
            api: world.api_url(),
            gateway: Some(world.gateway_url()),
            refused: pauses,
            ..Settings::new(Secret::new(world.token()))
        };
        let discord = Discord::open(&settings, &client);
        Self { world, discord, settings }
    }

    pub(crate) fn garden(&self) -> ChannelId {
        ChannelId::new(self.world.channel("garden")).unwrap()
    }

    /// Opens the gateway and waits until the guild was told.
    pub(crate) async fn listen(&self, kept: Option<Session>) -> Gateway {
        let resumes = kept.is_some();
        let mut gateway = Gateway::open(&self.settings, kept);
        if !resumes {
            until(&mut gateway, |heard| matches!(heard, Heard::Guild(_)).then_some(())).await;
        }
        gateway
    }

    pub(crate) fn says(&self, name: &str, text: &str) -> u64 {
        self.world.says(name, self.garden().number(), text)
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.world.texts(self.garden().number())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.world.unknown_routes(), Vec::<String>::new());
            assert_eq!(self.world.faults().unspent(), Vec::<String>::new());
        }
    }
}

/// Hears until something is what is waited for; half a minute at the most.
pub(crate) async fn until<T>(gateway: &mut Gateway, mut fact: impl FnMut(Heard) -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = fact(gateway.next().await) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap()
}

pub(crate) async fn next(gateway: &mut Gateway) -> Heard {
    until(gateway, Some).await
}

pub(crate) async fn message(gateway: &mut Gateway) -> Message {
    until(gateway, |heard| if let Heard::Message(message) = heard { Some(message) } else { None }).await
}

pub(crate) async fn interaction(gateway: &mut Gateway) -> Interaction {
    until(gateway, |heard| if let Heard::Interaction(asked) = heard { Some(asked) } else { None }).await
}

pub(crate) fn clean(text: &str) -> Clean {
    Redactor::knowing([]).clean(text)
}

pub(crate) fn post(text: &str) -> Post {
    Post::new(clean(text))
}

pub(crate) fn nonce(text: &str) -> Nonce {
    Nonce::new(text).unwrap()
}

pub(crate) fn message_id(number: u64) -> MessageId {
    MessageId::new(number).unwrap()
}
