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
    /// Shows the sessions of the repository's threads.
    Sessions,
    /// Ends what is under way in the thread.
    Abort,
    /// Shows what waits in the thread.
    Queue,
    /// Chooses the model of the channel.
    Model,
    /// Chooses the agent of the channel.
    Agent,
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
    /// It must.
    Must,
    /// It may be left out.
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
    pub const ALL: [Self; 16] = [
        Self::New,
        Self::Resume,
        Self::Sessions,
        Self::Queue,
        Self::Abort,
        Self::Model,
        Self::Agent,
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
            Self::Sessions => "Shows the sessions of this repository's threads",
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
            Self::Link => const { &[text("repo", "The repository, owner/name", Requirement::Must)] },
            Self::Listen => {
                const {
                    &[one_of(
                        "to",
                        "Which messages: those that mention me, or all",
                        &["mentions", "everything"],
                    )]
                }
            }
            Self::Account => const { &[one_of("do", "Show it, or let me forget it", &["show", "forget"])] },
            Self::Policy => {
                const {
                    &[
                        one_of(
                            "may",
                            "What the role may do, or `barred`",
                            &["link", "ask", "approve", "barred"],
                        ),
                        Parameter {
                            name: "role",
                            about: "The role",
                            kind: ParameterKind::Role,
                            need: Requirement::May,
                        },
                        one_of("change", "Whether it is given or taken", &["give", "take"]),
                    ]
                }
            }
            Self::New => const { &[text("prompt", "What you want to know or have done", Requirement::Must)] },
            Self::Resume => {
                const {
                    &[
                        text("session", "The session, as `/sessions` shows it", Requirement::Must),
                        text("prompt", "How to go on", Requirement::Must),
                    ]
                }
            }
            Self::Model => const { &[text("name", "provider/model, or `usual`", Requirement::May)] },
            Self::Agent => const { &[text("name", "The agent, or `usual`", Requirement::May)] },
            Self::Unlink
            | Self::Links
            | Self::Audit
            | Self::Sessions
            | Self::Abort
            | Self::Queue
            | Self::Status
            | Self::Help => &[],
        }
    }
}

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
