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
            "replies" => self.replies(text(1), id(2), id(3), text(4)),
            "commands" => self.commands(text(1), id(2), text(3), &line[4]),
            "types" => self.types(text(1), id(2), text(3), (text(4), text(5))),
            "clicks" => self.clicks(text(1), id(2), id(3), text(4)),
            "chooses" => self.chooses(text(1), id(2), id(3), (text(4), &[text(5)])),
            "submits" => self.submits(text(1), id(2), text(3), &[(text(4), text(5))]),
            "begins thread" => self.begins_thread(text(1), id(2), id(3), text(4)),
            "makes channel" => self.makes_channel(id(1), text(2)),
            "makes role" => self.makes_role(id(1), text(2), 0),
            "cuts" => u64::try_from(self.cut_connections()).unwrap_or_default(),
            _ => self.changes_something(line),
        };
        json!(made.to_string())
    }

    /// Does what makes nothing new, and returns what it was done to.
    fn changes_something(&self, line: &Value) -> u64 {
        let text = |at: usize| line[at].as_str().unwrap_or_default();
        let id = |at: usize| text(at).parse().unwrap_or_default();
        match text(0) {
            "edits" => self.edits(id(1), id(2), text(3)),
            "deletes" => self.deletes(id(1), id(2)),
            "archives" => self.archives(id(1), false),
            "renames" => self.renames(id(1), text(2)),
            "removes channel" => self.removes_channel(id(1)),
            "changes role" => self.changes_role(id(1), id(2), 0),
            "removes role" => self.removes_role(id(1), id(2)),
            "expels" => self.expels_bot(id(1)),
            other => panic!("nobody can do `{other}`"),
        }
        id(1)
    }

    /// The routes that served, and what was asked for that is not there.
    pub fn record(&self) -> Value {
        json!({ "served": self.served_routes(), "unknown": self.unknown_routes() })
    }
}
