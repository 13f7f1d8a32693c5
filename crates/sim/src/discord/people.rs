//! What people do: they talk, change their minds, click, choose, give commands and fill in forms.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::{
    Discord,
    chat::Chat,
    event::Heard,
    form,
    permission::{self, SEND_MESSAGES, SEND_MESSAGES_IN_THREADS, VIEW_CHANNEL},
    shape,
    things::{Channel, ChatMessage, GuildRole, Interaction, ThreadState, Upload},
};

/// All of these panic if there is no such person, channel or thing, or if the person may not do it: a story told wrong.
impl Discord {
    /// The id of a channel or thread by its name.
    pub fn channel(&self, name: &str) -> u64 {
        self.state(|chat| chat.channel_named(name).id)
    }

    /// The id of somebody by their name.
    pub fn person(&self, name: &str) -> u64 {
        self.state(|chat| chat.named(name).id)
    }

    /// Lets somebody say something; `@name` becomes a mention. Returns the message's id.
    pub fn says(&self, name: &str, channel: u64, text: &str) -> u64 {
        self.change(|chat| say(chat, (name, channel), text, Written::default()))
    }

    /// Lets a webhook say something under somebody's name; `@name` becomes a mention.
    pub fn hooks(&self, name: &str, channel: u64, text: &str) -> u64 {
        self.change(|chat| {
            let place = (name, channel);
            say(chat, place, text, Written { by_webhook: true, ..Written::default() })
        })
    }

    /// Lets somebody answer a message, which rings its author.
    pub fn replies(&self, name: &str, channel: u64, earlier: u64, text: &str) -> u64 {
        let written = Written { reply_to: Some(earlier), ..Written::default() };
        self.change(|chat| say(chat, (name, channel), text, written))
    }

    /// Lets somebody say something with a file.
    pub fn attaches(&self, name: &str, channel: u64, text: &str, file: (&str, &str, &[u8])) -> u64 {
        self.change(|chat| {
            let (name_of, kind, bytes) =
                (file.0.to_owned(), file.1.to_owned(), Bytes::copy_from_slice(file.2));
            let upload = Upload { id: chat.next_id(), name: name_of, kind, bytes };
            say(chat, (name, channel), text, Written { files: vec![upload], ..Written::default() })
        })
    }

    /// Lets whoever wrote a message change it.
    pub fn edits(&self, channel: u64, message: u64, text: &str) {
        self.change(|chat| {
            let author =
                chat.message(channel, message).unwrap_or_else(|| panic!("no message {message}")).author;
            let text = with_mentions(chat, text);
            let pings = form::pings(chat, &text, author, channel);
            chat.reword(channel, message, |message| (message.content, message.pings) = (text, pings));
        });
    }

    /// Takes a message away.
    pub fn deletes(&self, channel: u64, message: u64) {
        self.change(|chat| chat.unsay(channel, message));
    }

    /// Lets somebody begin a thread on a message, and returns its id, which is the message's.
    pub fn begins_thread(&self, name: &str, channel: u64, message: u64, title: &str) -> u64 {
        self.change(|chat| {
            let (owner, moved_at) = (chat.named(name).id, chat.now());
            let members = vec![owner];
            let thread = ThreadState {
                parent: channel,
                owner,
                private: false,
                archived: false,
                locked: false,
                moved_at,
                members,
            };
            chat.begin_thread(message, channel, title, thread);
        });
        message
    }

    /// Renames a channel or a thread.
    pub fn renames(&self, channel: u64, name: &str) {
        self.change(|chat| {
            let place = chat.channel_mut(channel).unwrap_or_else(|| panic!("no channel {channel}"));
            name.clone_into(&mut place.name);
            let heard = if place.thread.is_some() { Heard::ThreadUpdate } else { Heard::ChannelUpdate };
            chat.tell_channel(heard, channel);
        });
    }

    /// Puts a thread away, locked or not.
    pub fn archives(&self, thread: u64, locked: bool) {
        self.change(|chat| {
            let now = chat.now();
            let place = chat.channel_mut(thread).and_then(|place| place.thread.as_mut());
            let state = place.unwrap_or_else(|| panic!("no thread {thread}"));
            (state.archived, state.locked, state.moved_at) = (true, locked, now);
            chat.tell_channel(Heard::ThreadUpdate, thread);
        });
    }

    /// Removes a channel or a thread.
    pub fn removes_channel(&self, channel: u64) {
        self.change(|chat| chat.remove_channel(channel));
    }

    /// Makes a role with these permission bits, and returns its id.
    pub fn makes_role(&self, guild: u64, name: &str, permissions: u64) -> u64 {
        self.change(|chat| {
            let id = chat.next_id();
            let role = GuildRole {
                id,
                name: name.to_owned(),
                permissions: permissions | permission::USUAL,
                bot: None,
            };
            let data = json!({ "guild_id": guild.to_string(), "role": shape::role(&role) });
            chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}")).roles.push(role);
            chat.tell_all(Heard::GuildRoleCreate, data);
            id
        })
    }

    /// Gives a role other permission bits.
    pub fn changes_role(&self, guild: u64, role: u64, permissions: u64) {
        self.change(|chat| {
            let place = chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}"));
            let found = place.roles.iter_mut().find(|it| it.id == role);
            let found = found.unwrap_or_else(|| panic!("no role {role}"));
            found.permissions = permissions;
            let data = json!({ "guild_id": guild.to_string(), "role": shape::role(found) });
            chat.tell_all(Heard::GuildRoleUpdate, data);
        });
    }

    /// Makes a channel that everybody sees, and returns its id.
    pub fn makes_channel(&self, guild: u64, name: &str) -> u64 {
        self.change(|chat| {
            let (id, name) = (chat.next_id(), name.to_owned());
            let (overwrites, renamed_at) = (Vec::new(), Vec::new());
            chat.channels.push(Channel { id, guild, name, overwrites, thread: None, renamed_at });
            chat.tell_channel(Heard::ChannelCreate, id);
            id
        })
    }

    /// Puts the bot out of a guild.
    pub fn expels_bot(&self, guild: u64) {
        self.change(|chat| {
            let bot = chat.application.id;
            let place = chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}"));
            place.members.retain(|member| member.user != bot);
            chat.tell_all(Heard::GuildDelete, json!({ "id": guild.to_string(), "unavailable": false }));
        });
    }

    /// Removes a role, also from those who had it.
    pub fn removes_role(&self, guild: u64, role: u64) {
        self.change(|chat| {
            let place = chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}"));
            place.roles.retain(|it| it.id != role);
            place.members.iter_mut().for_each(|member| member.roles.retain(|it| *it != role));
            let data = json!({ "guild_id": guild.to_string(), "role_id": role.to_string() });
            chat.tell_all(Heard::GuildRoleDelete, data);
        });
    }

    /// Gives somebody a role.
    pub fn gives_role(&self, name: &str, guild: u64, role: u64) {
        self.change(|chat| {
            let user = chat.named(name).id;
            let place = chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}"));
            let member = place.members.iter_mut().find(|member| member.user == user);
            member.unwrap_or_else(|| panic!("{name} is not in it")).roles.push(role);
        });
    }

    /// Takes a role from somebody, of which no bot hears without the intent for members.
    pub fn takes_role(&self, name: &str, guild: u64, role: u64) {
        self.change(|chat| {
            let user = chat.named(name).id;
            let place = chat.guild_mut(guild).unwrap_or_else(|| panic!("no guild {guild}"));
            let member = place.members.iter_mut().find(|member| member.user == user);
            member.unwrap_or_else(|| panic!("{name} is not in it")).roles.retain(|it| *it != role);
        });
    }

    /// Lets somebody give a command with its options, and returns the interaction's id.
    pub fn commands(&self, name: &str, channel: u64, command: &str, options: &Value) -> u64 {
        self.change(|chat| {
            let data = command_data(chat, command, options, None);
            ask(chat, (name, channel), 2, data, None)
        })
    }

    /// Lets somebody type into an option of a command, which asks the bot how it may go on.
    pub fn types(&self, name: &str, channel: u64, command: &str, typed: (&str, &str)) -> u64 {
        let (option, typed) = typed;
        self.change(|chat| {
            let data = command_data(chat, command, &json!({ option: typed }), Some(option));
            ask(chat, (name, channel), 4, data, None)
        })
    }

    /// Lets somebody click a button of a message.
    pub fn clicks(&self, name: &str, channel: u64, message: u64, custom_id: &str) -> u64 {
        self.change(|chat| {
            assert!(
                component(chat, channel, message, custom_id)["disabled"] != true,
                "{custom_id} cannot be clicked"
            );
            let data = json!({ "component_type": 2, "custom_id": custom_id });
            ask(chat, (name, channel), 3, data, Some(message))
        })
    }

    /// Lets somebody choose in a menu of a message.
    pub fn chooses(&self, name: &str, channel: u64, message: u64, choice: (&str, &[&str])) -> u64 {
        let (custom_id, values) = choice;
        self.change(|chat| {
            component(chat, channel, message, custom_id);
            let data = json!({ "component_type": 3, "custom_id": custom_id, "values": values });
            ask(chat, (name, channel), 3, data, Some(message))
        })
    }

    /// Lets somebody fill in a form.
    pub fn submits(&self, name: &str, channel: u64, custom_id: &str, fields: &[(&str, &str)]) -> u64 {
        let row = |(id, value): &(&str, &str)| json!({ "type": 1, "components": [{ "type": 4, "custom_id": id, "value": value }] });
        let rows: Value = fields.iter().map(row).collect();
        self.change(|chat| {
            ask(chat, (name, channel), 5, json!({ "custom_id": custom_id, "components": rows }), None)
        })
    }

    /// What stands in a channel, as `name: text`, oldest first.
    pub fn texts(&self, channel: u64) -> Vec<String> {
        self.state(|chat| {
            let name = |id| chat.account(id).map_or("somebody", |account| account.name.as_str());
            chat.messages_in(channel).map(|it| format!("{}: {}", name(it.author), it.content)).collect()
        })
    }
}

/// What a message has besides its words.
#[derive(Default)]
struct Written {
    files: Vec<Upload>,
    reply_to: Option<u64>,
    by_webhook: bool,
}

fn say(chat: &mut Chat, (name, channel): (&str, u64), text: &str, written: Written) -> u64 {
    let Written { files, reply_to, by_webhook } = written;
    let author = chat.named(name).id;
    let place = chat.channel(channel).unwrap_or_else(|| panic!("no channel {channel}"));
    let needed = if place.thread.is_some() { SEND_MESSAGES_IN_THREADS } else { SEND_MESSAGES };
    assert!(chat.permissions(author, channel) & needed != 0, "{name} may not speak in {}", place.name);
    let content = with_mentions(chat, text);
    let mut pings = form::pings(chat, &content, author, channel);
    let answered = reply_to.and_then(|earlier| chat.message(channel, earlier)).map(|earlier| earlier.author);
    pings.users.extend(answered.filter(|answered| !pings.users.contains(answered)));
    let (id, kind) = (chat.next_id(), if reply_to.is_some() { 19 } else { 0 });
    let (nonce, components, edited_at, interaction) = (None, Vec::new(), None, None);
    chat.post(ChatMessage {
        id,
        channel,
        author,
        content,
        nonce,
        components,
        files,
        pings,
        reply_to,
        edited_at,
        flags: 0,
        kind,
        interaction,
        webhook: by_webhook,
    })
}

/// Turns `@name` of everybody there is into a mention.
fn with_mentions(chat: &Chat, text: &str) -> String {
    chat.accounts.iter().fold(text.to_owned(), |text, account| {
        text.replace(&format!("@{}", account.name), &format!("<@{}>", account.id))
    })
}

fn ask(chat: &mut Chat, (name, channel): (&str, u64), kind: u8, data: Value, message: Option<u64>) -> u64 {
    let user = chat.named(name).id;
    assert!(chat.permissions(user, channel) & VIEW_CHANNEL != 0, "{name} does not see the channel");
    let (id, asked_at) = (chat.next_id(), chat.now());
    let token = format!("aW50ZXJhY3Rpb246{id:x}");
    let asked = Interaction { id, token, kind, channel, user, data, message, asked_at, answered: None };
    let data = shape::interaction(chat, &asked);
    chat.interactions.push(asked);
    chat.tell(Heard::InteractionCreate, channel, data);
    id
}

fn command_data(chat: &Chat, command: &str, options: &Value, focused: Option<&str>) -> Value {
    let known = chat.application.commands.iter().find(|it| it["name"] == command);
    let known = known.unwrap_or_else(|| panic!("no command is called {command}"));
    let given = options.as_object().into_iter().flatten().map(|(name, value)| {
        let mut of = known["options"].as_array().into_iter().flatten();
        let option =
            of.find(|it| it["name"] == *name).unwrap_or_else(|| panic!("{command} has no option {name}"));
        let mut given = json!({ "name": name, "type": option["type"], "value": value });
        if focused == Some(name) {
            given["focused"] = json!(true);
        }
        given
    });
    let given: Value = given.collect();
    json!({ "id": known["id"], "name": command, "type": 1, "options": given })
}

/// A button or menu of a message.
fn component(chat: &Chat, channel: u64, message: u64, custom_id: &str) -> Value {
    let message = chat.message(channel, message).unwrap_or_else(|| panic!("no message {message}"));
    let all = message.components.iter().flat_map(|row| row["components"].as_array().into_iter().flatten());
    let found = all.into_iter().find(|it| it["custom_id"] == custom_id);
    found.unwrap_or_else(|| panic!("nothing on the message is called {custom_id}")).clone()
}
