//! The commands that people can give us, registered all at once.

use serde_json::{Value, json};
use twilight_http_ratelimiting::Method;

use crate::{client::Discord, error::Error};

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Its name, in small letters.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it can be given; what it must be given comes first.
    pub options: Vec<CommandOption>,
}

/// Something that a command can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOption {
    /// Its name, in small letters.
    pub name: String,
    /// What it is.
    pub description: String,
    /// What can be given.
    pub kind: OptionKind,
    /// Whether it must be given.
    pub required: bool,
}

/// What can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A text that we help to type.
    Completed,
    /// One of these choices.
    OneOf(Vec<Choice>),
    /// A whole number.
    Number,
    /// `true` or `false`.
    Flag,
    /// Somebody.
    User,
    /// A role.
    Role,
}

/// One of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What people see.
    pub name: String,
    /// What we get.
    pub value: String,
}

impl Discord {
    /// Puts these commands in the place of all that were there, on every server.
    pub async fn register(&self, commands: &[CommandSpec]) -> Result<(), Error> {
        let deed = "register the commands";
        let me = self.about_me().await?.me;
        let forms: Value = commands.iter().map(CommandSpec::form).collect();
        let path = format!("applications/{me}/commands");
        self.call(deed, (Method::Put, &path), |request| request.json(&forms)).await?;
        Ok(())
    }
}

impl CommandSpec {
    fn form(&self) -> Value {
        let options: Value = self.options.iter().map(CommandOption::form).collect();
        // Servers only: what we do hangs on a channel and its roles.
        json!({ "name": self.name, "description": self.description, "type": 1, "contexts": [0], "options": options })
    }
}

impl CommandOption {
    fn form(&self) -> Value {
        let kind = match &self.kind {
            OptionKind::Text | OptionKind::Completed | OptionKind::OneOf(_) => 3,
            OptionKind::Number => 4,
            OptionKind::Flag => 5,
            OptionKind::User => 6,
            OptionKind::Role => 8,
        };
        let mut form = json!({
            "name": self.name,
            "description": self.description,
            "type": kind,
            "required": self.required,
        });
        match &self.kind {
            OptionKind::Completed => form["autocomplete"] = json!(true),
            OptionKind::OneOf(choices) => {
                let choices =
                    choices.iter().map(|choice| json!({ "name": choice.name, "value": choice.value }));
                form["choices"] = choices.collect();
            }
            OptionKind::Text
            | OptionKind::Number
            | OptionKind::Flag
            | OptionKind::User
            | OptionKind::Role => {}
        }
        form
    }
}
