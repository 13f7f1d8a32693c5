//! What is answered to commands and clicks.

use jiff::Timestamp;

use super::{bounded, code, one_line};
use crate::{
    chat::{
        Approvals, AuditEntry, ChannelLink, ChannelSettings, Choosable, Listen, MessageId, RoleId, Roles,
        Ruling, SlashCommand, TextFile, Thread, UserId, Words, length, say::Verbosity,
    },
    names::{Login, RepoName},
};

/// So much of what somebody wrote fits on a line of a list.
const LONGEST_LINE: usize = 120;
/// So many lines are read.
const MOST_LINES: usize = 15;
/// So much of a message is for its list, with room for what stands around it.
const LONGEST_LIST: usize = 1_700;
/// So much of a session's title fits beside its id.
const LONGEST_TITLE: usize = 60;

/// Says what the commands are.
pub fn help() -> String {
    let lines = SlashCommand::ALL.map(|command| format!("`/{}` {}", command.name(), command.about()));
    format!(
        "Mention me in a linked channel, or write in a thread of mine, and I answer from the repository.\n{}",
        lines.join("\n")
    )
}

/// Says that commands belong into a guild.
pub fn no_guild() -> String {
    "I work in the channels of a server only.".to_owned()
}

/// Says that something broke on our side.
pub fn broke() -> String {
    "Something went wrong on my side, and I have noted it in my log. Nothing was changed; try again in a minute."
        .to_owned()
}

/// Says that Discord refused the answer that somebody was to get.
pub fn unanswerable() -> String {
    "I have done what I could, but Discord does not take my answer to it; my log has the reason. `/status` shows where \
     things stand."
        .to_owned()
}

/// Says that a thread will be there as soon as Discord takes it.
pub fn opens_later() -> String {
    "I have noted it. Discord is slow at the moment; the thread comes as soon as it lets me open it."
        .to_owned()
}

/// Says that Discord does not let us open a thread.
pub fn opens_never() -> String {
    "Discord does not let me write in this channel, so I could not begin. My log has the reason.".to_owned()
}

/// Says that a command is for threads.
pub fn no_thread() -> String {
    "This is no thread of mine. Use the command in a thread that I opened.".to_owned()
}

/// Says that a button is not good any more.
pub fn stale() -> String {
    "This button is not good any more.".to_owned()
}

/// Says how to show a GitHub account.
pub fn sign_in(page: &str, user_code: &str, wish: Option<&RepoName>) -> String {
    let then = match wish {
        Some(repository) => format!("I link this channel to {repository} when GitHub tells me who you are"),
        None => "I note whose account it is when GitHub tells me".to_owned(),
    };
    format!(
        "Open {page} and enter the code {}. {then}, and keep no token. Only you see this; do not give the code to anybody.",
        code(user_code)
    )
}

/// Says that nobody signed in.
pub fn not_signed_in() -> String {
    "The code was not used in time, or you said no on GitHub. Nothing was changed.".to_owned()
}

/// Says that the operator has set up no way to sign in.
pub fn no_sign_in() -> String {
    "I cannot ask GitHub who you are: whoever runs me has not set `FRO_GITHUB_CLIENT_ID`, the client id of my GitHub App."
        .to_owned()
}

/// Says whose account it is.
pub fn account_shown(login: &Login) -> String {
    format!(
        "Thank you, {}. What you ask for here can now reach as far as your account does on GitHub.",
        code(login.as_str())
    )
}

/// Says that an account is forgotten.
pub fn account_forgotten() -> String {
    "I have forgotten your GitHub account.".to_owned()
}

/// Says that what somebody wrote is not the name of a repository.
pub fn bad_repository(text: &str) -> String {
    format!("{} is no repository; write it as `owner/name`.", code(&bounded(&one_line(text), 60)))
}

/// Says that what somebody wants to link is no channel for that.
pub fn no_text_channel() -> String {
    "Only a text channel can be linked: not a thread, a forum or a voice channel. Give the command in one."
        .to_owned()
}

/// Says that a channel is linked now.
pub fn linked(repository: &RepoName) -> String {
    format!("This channel is now linked to **{repository}**. Mention me here to open a thread.")
}

/// Says that a channel was linked already.
pub fn linked_already(repository: &RepoName) -> String {
    format!("This channel is linked to {repository} already. `/unlink` it first.")
}

/// Says that a channel is nobody's now.
pub fn unlinked_now(repository: &RepoName) -> String {
    format!(
        "This channel is not linked to {repository} any more. Its threads stay, and I answer there no longer."
    )
}

/// Lists links.
pub fn links(links: &[ChannelLink]) -> String {
    let line = |link: &ChannelLink| {
        let listen = match link.settings.listen {
            Listen::Mentions => "mentions",
            Listen::Everything => "everything",
        };
        format!("<#{}> → {} ({listen}, linked by <@{}>)", link.channel, link.repository, link.linked_by)
    };
    listed(links.iter().map(line), "No channel is linked. `/link owner/repo` does it.")
}

/// Says how people talk in a channel.
pub fn settings(settings: &ChannelSettings) -> String {
    let usual = |word: &Option<String>| word.as_deref().map_or("the usual one".to_owned(), code);
    let listen = match settings.listen {
        Listen::Mentions => "messages that mention me",
        Listen::Everything => "every message",
    };
    let shown = match settings.verbosity {
        Verbosity::Text => "words only",
        Verbosity::Essential => "words, and tools that do more than look",
        Verbosity::All => "words and every tool",
    };
    let leave = match settings.approvals {
        Approvals::Nothing => "nothing; what would need it is refused",
        Approvals::Rules => "what the engine's rules say",
        Approvals::Changes => "what the engine's rules say, every change and every command",
    };
    format!(
        "A thread is opened by {listen}. Model: {}. Agent: {}. Shown: {shown}. I ask leave for {leave}.",
        usual(&settings.model),
        usual(&settings.agent)
    )
}

/// Asks for a choice in a menu.
pub fn choose(what: &str) -> String {
    format!("Choose {what}:")
}

/// Says that a file is below.
pub fn attached(file: &TextFile) -> String {
    format!("{} has it.", code(&file.name))
}

/// Says that a thread has no session yet that could be continued.
pub fn no_session() -> String {
    "This thread has no session yet. Say which one: `/sessions` shows them.".to_owned()
}

/// Says that no turn changed anything.
pub fn no_diff() -> String {
    "The last turn in this thread changed no file.".to_owned()
}

/// Says that nothing was said yet.
pub fn nothing_said() -> String {
    "Nothing was said in this thread yet.".to_owned()
}

/// Writes down what was said in a thread: each question with what was answered to it.
pub fn transcript<'a>(thread: &Thread, turns: impl Iterator<Item = (&'a Words, String)>) -> TextFile {
    let turn = |(words, answer): (&Words, String)| {
        let asked: Vec<_> = words.text.lines().map(|line| format!("> {line}")).collect();
        let asked = asked.join("\n");
        format!("## {}\n\n{asked}\n\n{}\n", one_line(&words.name), answer.trim())
    };
    let turns: Vec<_> = turns.map(turn).collect();
    let session = thread.session.as_deref().map(|session| format!(", session `{session}`"));
    let text = format!("# {}{}\n\n{}", thread.repository, session.unwrap_or_default(), turns.join("\n"));
    TextFile { name: format!("thread-{}.md", thread.id), text }
}

/// Says that what somebody wrote names no model and no agent.
pub fn bad_name() -> String {
    "That is no name: letters, digits and `-_./:` are, at most 100 of them.".to_owned()
}

/// Says which roles may do what.
pub fn policy(roles: &Roles) -> String {
    let line = |what: &str, roles: &std::collections::BTreeSet<RoleId>| {
        let names: Vec<_> = roles.iter().map(|role| format!("<@&{role}>")).collect();
        format!("{what}: {}", if names.is_empty() { "nobody".to_owned() } else { names.join(" ") })
    };
    [
        line("May link channels, set this and read the audit", &roles.linkers),
        line("May talk to me", &roles.askers),
        line("May approve", &roles.approvers),
        line("May nothing", &roles.barred),
    ]
    .join("\n")
}

/// Says that a change of the roles lacks something.
pub fn policy_lacks() -> String {
    "To change it I need both: `may` and `role`.".to_owned()
}

/// Says that somebody else was quicker.
pub fn policy_moved() -> String {
    "Somebody else changed it at the same moment. Look again with `/policy`.".to_owned()
}

/// Lists decisions, newest first.
pub fn audit<'a>(entries: impl Iterator<Item = (i64, &'a AuditEntry)>) -> String {
    let line = |(number, entry): (i64, &AuditEntry)| {
        let who = entry.actor.map_or("the operator".to_owned(), |actor| format!("<@{actor}>"));
        let action = serde_json::to_value(entry.action).unwrap_or_default();
        let ruling = match &entry.ruling {
            Ruling::Granted => String::new(),
            Ruling::Denied(why) => format!(", denied: {}", bounded(&one_line(why), LONGEST_LINE)),
        };
        let target = code(&bounded(&one_line(&entry.target), 60));
        format!(
            "{number}. {} {who} {} {target}{ruling}",
            stamp(entry.at),
            action.as_str().unwrap_or_default()
        )
    };
    listed(entries.map(line), "Nothing was decided yet.")
}

/// Lists sessions; says so if the memory could not be asked for those of runs on GitHub.
pub fn sessions(sessions: &[Choosable], memory: MemoryAnswer) -> String {
    let line = |it: &Choosable| {
        let name = it.thread.map_or_else(
            || code(&bounded(&one_line(&it.name), LONGEST_TITLE)),
            |thread| format!("<#{thread}>"),
        );
        format!("{} {name} {}", code(&one_line(&it.session)), stamp(it.at))
    };
    let list = listed(sessions.iter().map(line), "There is no session that I can tell of here.");
    match memory {
        MemoryAnswer::Told => list,
        MemoryAnswer::None => format!("{list}\n{}", memory_silent()),
    }
}

/// Whether the memory was asked with success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryAnswer {
    /// It was.
    Told,
    /// No worker answered in time, or the memory could not be read.
    None,
}

fn memory_silent() -> String {
    "-# No worker could look into the memory now, so sessions of runs on GitHub are missing here.".to_owned()
}

/// Asks for a choice among sessions.
pub fn choose_session(memory: MemoryAnswer) -> String {
    let asked = choose("the session to go on with");
    match memory {
        MemoryAnswer::Told => asked,
        MemoryAnswer::None => format!("{asked}\n{}", memory_silent()),
    }
}

/// Says that what somebody wrote is not the id of a session.
pub fn bad_session() -> String {
    "That is no session that I can go on with here: they are called like `ses_5f3a…`, and `/sessions` shows them."
        .to_owned()
}

/// Shows words that open a thread.
pub fn opened_with(person: UserId, text: &str) -> String {
    format!("<@{person}> asks:\n>>> {}", bounded(text, 1_500))
}

/// Says where a thread was opened.
pub fn opened_in(thread: MessageId) -> String {
    format!("I go on in <#{thread}>.")
}

/// Lists what waits.
pub fn queue<'a>(busy: bool, waiting: impl Iterator<Item = (UserId, &'a Words)>) -> String {
    let line = |(asker, words): (UserId, &Words)| {
        format!("<@{asker}> {}", code(&bounded(&one_line(&words.text), LONGEST_LINE)))
    };
    let now = if busy { "One turn is under way." } else { "No turn is under way." };
    format!("{now}\n{}", listed(waiting.map(line), "Nothing waits."))
}

/// Says that a turn is being ended.
pub fn stopping() -> String {
    "I am ending the turn that is under way. What waits comes next.".to_owned()
}

/// Says that there is nothing to end.
pub fn nothing_to_stop() -> String {
    "Nothing is under way in this thread.".to_owned()
}

/// Says what is under way.
pub fn status(version: &str, running: i64, waiting: i64) -> String {
    format!("fro-bot {version} · {running} under way · {waiting} waiting")
}

/// Says what somebody decided.
pub fn ruled(question: &str, answer: &str, by: UserId) -> String {
    format!("{}\n-# {} by <@{by}>", bounded(question, 1_500), code(&bounded(&one_line(answer), 60)))
}

/// Says that the time for a word is over.
pub fn too_late() -> String {
    "The time for this is over; it counts as a no.".to_owned()
}

/// Lists as many lines as fit.
fn listed(lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return none.to_owned();
    }
    let mut room = LONGEST_LIST;
    let fits = |line: &&String| {
        let taken = length(line) + 1;
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    let shown = lines.iter().take(MOST_LINES).take_while(fits).count();
    let more = lines.len() - shown;
    let rest = (more > 0).then(|| format!("… and {more} more"));
    lines[..shown].iter().chain(&rest).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Writes a time so that everybody reads it in their own zone.
fn stamp(time: Timestamp) -> String {
    format!("<t:{}:f>", time.as_second())
}

#[cfg(test)]
mod tests;
