//! What people do, asked for in JSON by a client in another language: one deed, one answer.

use serde_json::{Value, json};

use super::Discord;

impl Discord {
    /// What a client in another language needs: addresses, the token, and the ids of channels and people.
    pub fn everything(&self) -> Value {
        let ids = self.state(|chat| {
            let channels: serde_json::Map<_, _> =
                chat.channels.iter().map(|it| (it.name.clone(), json!(it.id.to_string()))).collect();
            let people: serde_json::Map<_, _> =
                chat.accounts.iter().map(|it| (it.name.clone(), json!(it.id.to_string()))).collect();
            json!({ "guild": chat.guilds[0].id.to_string(), "channels": channels, "people": people })
        });
        json!({
            "api": self.api_url(),
            "gateway": self.gateway_url(),
            "token": self.token(),
            "routes": self.routes(),
            "ids": ids,
        })
    }

    /// Does what a line such as `["says", "maya", "CHANNEL", "text"]` says. Panics if it says nothing.
    pub fn play(&self, line: &Value) -> Value {
        let text = |at: usize| line[at].as_str().unwrap_or_default();
        let id = |at: usize| text(at).parse().unwrap_or_default();
        let made = match text(0) {
            "says" => self.says(text(1), id(2), text(3)),
            "edits" => self.edited(id(1), id(2), text(3)),
            "deletes" => self.deleted(id(1), id(2)),
            "commands" => self.commands(text(1), id(2), text(3), &line[4]),
            "types" => self.types(text(1), id(2), text(3), (text(4), text(5))),
            "clicks" => self.clicks(text(1), id(2), id(3), text(4)),
            "chooses" => self.chooses(text(1), id(2), id(3), (text(4), &[text(5)])),
            "archives" => self.archived(id(1)),
            "makes role" => self.makes_role(id(1), text(2), 0),
            "cuts" => u64::try_from(self.cut_connections()).unwrap_or_default(),
            other => panic!("nobody can do `{other}`"),
        };
        json!(made.to_string())
    }

    /// The routes that served, and what was asked for that is not there.
    pub fn record(&self) -> Value {
        json!({ "served": self.served_routes(), "unknown": self.unknown_routes() })
    }

    fn edited(&self, channel: u64, message: u64, text: &str) -> u64 {
        self.edits(channel, message, text);
        message
    }

    fn deleted(&self, channel: u64, message: u64) -> u64 {
        self.deletes(channel, message);
        message
    }

    fn archived(&self, thread: u64) -> u64 {
        self.archives(thread, false);
        thread
    }
}
