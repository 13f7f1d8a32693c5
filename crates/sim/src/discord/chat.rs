//! The state of the simulated Discord, and what people and bots can change in it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    event::{Event, Heard},
    flaw::Flaw,
    permission::VIEW_CHANNEL,
    shape,
    things::{Account, Application, Channel, ChatMessage, Guild, Interaction, Member, ThreadState},
};

const EPOCH_MS: i64 = 1_420_070_400_000;

/// Everything that is.
#[derive(Debug, Clone)]
pub struct Chat {
    /// The bot as its developer set it up.
    pub application: Application,
    /// Everybody.
    pub accounts: Vec<Account>,
    /// The servers.
    pub guilds: Vec<Guild>,
    /// Channels and threads of all of them.
    pub channels: Vec<Channel>,
    /// What was said, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What the bot was asked by commands, clicks and forms.
    pub interactions: Vec<Interaction>,
    /// Where somebody was seen typing, and who, oldest first.
    pub typing: Vec<(u64, u64)>,
    /// What sessions of the gateway will hear.
    pub(crate) outgoing: Vec<Event>,
    /// Where this Discord is reached.
    pub(crate) address: String,
    /// The mistake that it makes, if any.
    pub(crate) flaw: Option<Flaw>,
    skew: SignedDuration,
    last_id: u64,
}

impl Chat {
    pub(crate) fn new(application: Application, address: String) -> Self {
        Self {
            application,
            accounts: Vec::new(),
            guilds: Vec::new(),
            channels: Vec::new(),
            messages: Vec::new(),
            interactions: Vec::new(),
            typing: Vec::new(),
            outgoing: Vec::new(),
            address,
            flaw: None,
            skew: SignedDuration::ZERO,
            last_id: 0,
        }
    }

    /// Tells the time.
    pub fn now(&self) -> Timestamp {
        Timestamp::now() + self.skew
    }

    /// Lets time pass at once.
    pub fn pass(&mut self, time: Duration) {
        self.skew += SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    }

    /// Makes an id of this moment, larger than all before.
    pub fn next_id(&mut self) -> u64 {
        let milliseconds = u64::try_from(self.now().as_millisecond() - EPOCH_MS).unwrap_or_default();
        self.last_id = (milliseconds << 22).max(self.last_id + 1);
        self.last_id
    }

    /// Finds somebody by id.
    pub fn account(&self, id: u64) -> Option<&Account> {
        self.accounts.iter().find(|account| account.id == id)
    }

    /// Finds somebody by name. Panics if nobody is called so.
    pub fn named(&self, name: &str) -> &Account {
        let found = self.accounts.iter().find(|account| account.name == name);
        found.unwrap_or_else(|| panic!("nobody is called {name}"))
    }

    /// Finds a guild.
    pub fn guild(&self, id: u64) -> Option<&Guild> {
        self.guilds.iter().find(|guild| guild.id == id)
    }

    pub(crate) fn guild_mut(&mut self, id: u64) -> Option<&mut Guild> {
        self.guilds.iter_mut().find(|guild| guild.id == id)
    }

    /// Finds a channel or a thread.
    pub fn channel(&self, id: u64) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.id == id)
    }

    pub(crate) fn channel_mut(&mut self, id: u64) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|channel| channel.id == id)
    }

    /// Finds a channel by its name. Panics if there is none.
    pub fn channel_named(&self, name: &str) -> &Channel {
        let found = self.channels.iter().find(|channel| channel.name == name);
        found.unwrap_or_else(|| panic!("no channel is called {name}"))
    }

    /// Finds a message.
    pub fn message(&self, channel: u64, id: u64) -> Option<&ChatMessage> {
        self.messages.iter().find(|message| message.id == id && message.channel == channel)
    }

    pub(crate) fn message_mut(&mut self, channel: u64, id: u64) -> Option<&mut ChatMessage> {
        self.messages.iter_mut().find(|message| message.id == id && message.channel == channel)
    }

    /// The messages of a channel, oldest first.
    pub fn messages_in(&self, channel: u64) -> impl DoubleEndedIterator<Item = &ChatMessage> {
        self.messages.iter().filter(move |message| message.channel == channel)
    }

    pub(crate) fn member(&self, guild: u64, user: u64) -> Option<&Member> {
        self.guild(guild)?.members.iter().find(|member| member.user == user)
    }

    /// Puts a message where it belongs and tells everybody who may hear it.
    pub(crate) fn post(&mut self, message: ChatMessage) -> u64 {
        let (id, channel) = (message.id, message.channel);
        if !message.ephemeral() {
            self.wake(channel);
        }
        let data = shape::message(self, &message, shape::Nonce::Told);
        self.messages.push(message);
        self.tell(Heard::MessageCreate, channel, data);
        id
    }

    /// Takes a thread out of the archive, as words in it do.
    fn wake(&mut self, channel: u64) {
        let now = self.now();
        let thread = self.channel_mut(channel).and_then(|channel| channel.thread.as_mut());
        let Some(thread) = thread.filter(|thread| thread.archived) else { return };
        (thread.archived, thread.moved_at) = (false, now);
        self.tell_channel(Heard::ThreadUpdate, channel);
    }

    /// Changes a message's text and tells it.
    pub(crate) fn reword(&mut self, channel: u64, id: u64, change: impl FnOnce(&mut ChatMessage)) {
        let now = self.now();
        let Some(message) = self.message_mut(channel, id) else { return };
        change(message);
        message.edited_at = Some(now);
        let message = message.clone();
        let mut data = shape::message(self, &message, shape::Nonce::Untold);
        data["guild_id"] = json!(self.channel(channel).map(|place| place.guild.to_string()));
        self.tell(Heard::MessageUpdate, channel, data);
    }

    /// Removes a message and tells it.
    pub(crate) fn unsay(&mut self, channel: u64, id: u64) {
        self.messages.retain(|message| message.id != id || message.channel != channel);
        let guild = self.channel(channel).map(|channel| channel.guild.to_string());
        let data = json!({ "id": id.to_string(), "channel_id": channel.to_string(), "guild_id": guild });
        self.tell(Heard::MessageDelete, channel, data);
    }

    /// Begins a thread; one on a message has the message's id.
    pub(crate) fn begin_thread(&mut self, id: u64, parent: u64, name: &str, thread: ThreadState) {
        let guild = self.channel(parent).map_or(0, |channel| channel.guild);
        let name = name.to_owned();
        let (overwrites, renamed_at) = (Vec::new(), Vec::new());
        self.channels.push(Channel { id, guild, name, overwrites, thread: Some(thread), renamed_at });
        if let Some(message) = self.message_mut(parent, id) {
            message.flags |= 1 << 5;
        }
        let mut data = self.channel(id).map_or(Value::Null, |channel| shape::channel(self, channel));
        data["newly_created"] = json!(true);
        self.tell(Heard::ThreadCreate, id, data);
    }

    /// Removes a channel or a thread with all that was said there.
    pub(crate) fn remove_channel(&mut self, id: u64) {
        let Some(channel) = self.channel(id).cloned() else { return };
        let (name, data) = match &channel.thread {
            Some(_) => (Heard::ThreadDelete, shape::thread_stub(&channel)),
            None => (Heard::ChannelDelete, shape::channel(self, &channel)),
        };
        // Told before it is gone: afterwards nobody may see it.
        self.tell(name, id, data);
        self.channels.retain(|other| other.id != id);
        self.messages.retain(|message| message.channel != id);
    }

    /// Tells a channel as it is now.
    pub(crate) fn tell_channel(&mut self, name: Heard, id: u64) {
        let Some(channel) = self.channel(id) else { return };
        let data = shape::channel(self, channel);
        self.tell(name, id, data);
    }

    /// Tells something of a channel to those who may see it.
    pub(crate) fn tell(&mut self, heard: Heard, channel: u64, data: serde_json::Value) {
        let visible = self.permissions(self.application.id, channel) & VIEW_CHANNEL != 0;
        // What the bot is asked itself comes to it from anywhere.
        let seen = visible || heard == Heard::InteractionCreate;
        self.outgoing.push(Event { heard, seen, data });
    }

    /// Tells something of a whole guild.
    pub(crate) fn tell_all(&mut self, heard: Heard, data: serde_json::Value) {
        self.outgoing.push(Event { heard, seen: true, data });
    }
}
