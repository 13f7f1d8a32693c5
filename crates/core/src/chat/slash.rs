//! The commands that people can give in a chat, and what they can be given.

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlashCommand {
    /// Makes the channel a repository's.
    Link,
    /// Makes the channel nobody's.
    Unlink,
    /// Shows which channel is which repository's.
    Links,
    /// Sets what is listened to in the channel.
    Listen,
    /// Shows a GitHub account to be somebody's.
    Account,
    /// Shows or sets which roles may do what.
    Policy,
    /// Shows the last decisions.
    Audit,
    /// Opens a thread with words.
    New,
    /// Opens a thread that goes on with a session.
    Resume,
    /// Opens a thread that goes on with a copy of a session.
    Fork,
    /// Shows the sessions of the repository's threads.
    Sessions,
    /// Shows what the last turn changed, as a file.
    Diff,
    /// Shows what was said in the thread, as a file.
    Share,
    /// Ends what is under way in the thread.
    Abort,
    /// Shows what waits in the thread.
    Queue,
    /// Chooses the model of the channel.
    Model,
    /// Chooses the agent of the channel.
    Agent,
    /// Sets how much of the agent's work is shown in the channel.
    Verbosity,
    /// Sets what the agent asks leave for in the channel.
    Approvals,
    /// Shows what is under way.
    Status,
    /// Shows the commands.
    Help,
}

/// Something that a command can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What can be given.
    pub kind: ParameterKind,
    /// Whether it must be given.
    pub need: Requirement,
}

/// What can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A role.
    Role,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Whether something must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// The parameter is required.
    Must,
    /// The parameter may be left out.
    May,
}

const fn text(name: &'static str, about: &'static str, need: Requirement) -> Parameter {
    Parameter { name, about, kind: ParameterKind::Text, need }
}

const fn one_of(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Parameter {
    Parameter { name, about, kind: ParameterKind::OneOf(words), need: Requirement::May }
}

impl SlashCommand {
    /// All of them, in the order of `/help`.
    pub const ALL: [Self; 21] = [
        Self::New,
        Self::Resume,
        Self::Fork,
        Self::Sessions,
        Self::Queue,
        Self::Abort,
        Self::Model,
        Self::Agent,
        Self::Diff,
        Self::Share,
        Self::Verbosity,
        Self::Approvals,
        Self::Status,
        Self::Account,
        Self::Link,
        Self::Unlink,
        Self::Links,
        Self::Listen,
        Self::Policy,
        Self::Audit,
        Self::Help,
    ];

    /// Finds a command by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::Links => "links",
            Self::Listen => "listen",
            Self::Account => "account",
            Self::Policy => "policy",
            Self::Audit => "audit",
            Self::New => "new",
            Self::Resume => "resume",
            Self::Fork => "fork",
            Self::Diff => "diff",
            Self::Share => "share",
            Self::Verbosity => "verbosity",
            Self::Approvals => "approvals",
            Self::Sessions => "sessions",
            Self::Abort => "abort",
            Self::Queue => "queue",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Status => "status",
            Self::Help => "help",
        }
    }

    /// Says what it does, in at most 100 characters.
    pub fn about(self) -> &'static str {
        match self {
            Self::Link => "Links this channel to a repository on GitHub, where you must be able to push",
            Self::Unlink => "Unlinks this channel; what waits in its threads is dropped",
            Self::Links => "Shows which channels are linked to which repositories",
            Self::Listen => "Sets which messages in this channel open a thread",
            Self::Account => "Shows me your GitHub account, so that I may push for you",
            Self::Policy => "Shows which roles may do what, or changes it",
            Self::Audit => "Shows the last decisions about this server",
            Self::New => "Opens a thread and asks the agent",
            Self::Resume => "Opens a thread that goes on with an earlier session",
            Self::Fork => "Opens a thread that goes on with a copy of this thread's session",
            Self::Diff => "Shows what the last turn in this thread changed, as a file",
            Self::Share => "Shows what was said in this thread, as a file",
            Self::Verbosity => "Sets how much of the agent's work is shown in this channel",
            Self::Approvals => "Sets what the agent asks leave for in this channel",
            Self::Sessions => "Shows the sessions of this channel's threads and of the memory",
            Self::Abort => "Ends the turn that is under way in this thread",
            Self::Queue => "Shows what waits in this thread",
            Self::Model => "Shows or chooses the model for this channel",
            Self::Agent => "Shows or chooses the agent for this channel",
            Self::Status => "Shows what is under way",
            Self::Help => "Shows what I can do",
        }
    }

    /// Returns what it can be given; what it must be given comes first.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Link => &LINK,
            Self::Listen => &LISTEN,
            Self::Account => &ACCOUNT,
            Self::Policy => &POLICY,
            Self::New => &NEW,
            Self::Resume => &RESUME,
            Self::Fork => &FORK,
            Self::Sessions => &SESSIONS,
            Self::Verbosity => &VERBOSITY,
            Self::Approvals => &APPROVALS,
            Self::Model => &MODEL,
            Self::Agent => &AGENT,
            Self::Unlink
            | Self::Links
            | Self::Audit
            | Self::Diff
            | Self::Share
            | Self::Abort
            | Self::Queue
            | Self::Status
            | Self::Help => &[],
        }
    }
}

const LINK: [Parameter; 1] = [text("repo", "The repository, owner/name", Requirement::Must)];
const LISTEN: [Parameter; 1] =
    [one_of("to", "Which messages: those that mention me, or all", &["mentions", "everything"])];
const ACCOUNT: [Parameter; 1] = [one_of("do", "Show it, or let me forget it", &["show", "forget"])];
const POLICY: [Parameter; 3] = [
    one_of("may", "What the role may do, or `barred`", &["link", "ask", "approve", "barred"]),
    Parameter { name: "role", about: "The role", kind: ParameterKind::Role, need: Requirement::May },
    one_of("change", "Whether it is given or taken", &["give", "take"]),
];
const NEW: [Parameter; 1] = [text("prompt", "What you want to know or have done", Requirement::Must)];
const RESUME: [Parameter; 2] = [
    text("prompt", "How to go on", Requirement::Must),
    text("session", "The session; without it, I offer those of this channel", Requirement::May),
];
const FORK: [Parameter; 2] = [
    text("prompt", "How the copy goes on", Requirement::Must),
    text("session", "The session, if not this thread's", Requirement::May),
];
const SESSIONS: [Parameter; 1] = [text("search", "Words of what was asked there", Requirement::May)];
const VERBOSITY: [Parameter; 1] = [one_of(
    "show",
    "Words only, also tools that do more than look, or every tool",
    &["text", "essential", "all"],
)];
const APPROVALS: [Parameter; 1] = [one_of(
    "ask",
    "Nothing, what the engine's rules say, or also every change and command",
    &["nothing", "rules", "changes"],
)];
const MODEL: [Parameter; 1] = [text("name", "provider/model, or `usual`", Requirement::May)];
const AGENT: [Parameter; 1] = [text("name", "The agent, or `usual`", Requirement::May)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_apart_and_fit_into_discords_limits() {
        for command in SlashCommand::ALL {
            assert_eq!(SlashCommand::named(command.name()), Some(command));
            let told = command.parameters().iter().map(|it| (it.name, it.about));
            for (name, about) in told.chain([(command.name(), command.about())]) {
                assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
                assert!((1..=100).contains(&about.chars().count()), "{about}");
            }
            let needs: Vec<_> = command.parameters().iter().map(|it| it.need == Requirement::May).collect();
            assert!(needs.is_sorted(), "{}: what it must be given comes first", command.name());
        }
        assert_eq!(SlashCommand::named("shell"), None);
    }
}
