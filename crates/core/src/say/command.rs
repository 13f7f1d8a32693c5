//! What people are told who used one of our words, without asking the engine.

use std::fmt::Write as _;

use crate::{
    command::{AfterMention, Command, WorkWords},
    fence,
    names::Login,
    say::work,
};

/// How somebody is answered without the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandReply {
    /// By these words.
    Words(String),
    /// By what is known of the subject.
    Status,
    /// By forgetting the subject.
    Forget,
    /// By what comes of the work that is under way.
    Stop,
}

/// Returns how this is answered without the engine, if it is such a case.
pub fn reply(said: &AfterMention, name: &Login, words: &WorkWords) -> Option<CommandReply> {
    Some(CommandReply::Words(match said {
        AfterMention::Command(Command::Status) => return Some(CommandReply::Status),
        AfterMention::Command(Command::Forget) => return Some(CommandReply::Forget),
        AfterMention::Command(Command::Stop) => return Some(CommandReply::Stop),
        AfterMention::Command(Command::Help) => help(name, words),
        AfterMention::Command(Command::Review | Command::Fix) | AfterMention::Request => return None,
        AfterMention::Unknown { word, meant } => {
            let meant = match meant {
                Some(meant) => format!(" Did you mean `@{name} {}`?", meant.word()),
                None => String::new(),
            };
            format!("I do not know `{}`.{meant}\n\n{}", fence::inline(word), help(name, words))
        }
    }))
}

fn help(name: &Login, words: &WorkWords) -> String {
    let mut text = String::from(
        "Mention me and say in plain words what you want to know or have done. These words mean something by \
         themselves:\n\n| write | and I will |\n|---|---|\n",
    );
    for command in Command::ALL {
        let _ = writeln!(text, "| `@{name} {}` | {} |", command.word(), meaning(command));
    }
    let _ = write!(
        text,
        "\nIf you may push here and want something changed, write {}.",
        work::asking(name, words)
    );
    text
}

fn meaning(command: Command) -> &'static str {
    match command {
        Command::Help => "show this table",
        Command::Review => "review the pull request; you can add what to look at",
        Command::Fix => "work on what was found; you can add what exactly",
        Command::Status => "tell what I did here and what I remember",
        Command::Stop => "stop what I am doing here; for those who may push",
        Command::Forget => "forget what was said here; for those who may push",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_text(said: &AfterMention) -> String {
        match reply(said, &Login::new("fro-bot"), &WorkWords::usual()) {
            Some(CommandReply::Words(words)) => words,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn help_reads_like_this() {
        insta::assert_snapshot!(reply_text(&AfterMention::Command(Command::Help)));
    }

    #[test]
    fn an_unknown_word_gets_a_guess() {
        let said = AfterMention::Unknown { word: "rev`uew".to_owned(), meant: Some(Command::Review) };
        let first = reply_text(&said).lines().next().unwrap_or_default().to_owned();
        assert_eq!(first, "I do not know `rev'uew`. Did you mean `@fro-bot review`?");
    }

    #[test]
    fn work_is_left_to_the_engine() {
        for said in [
            AfterMention::Command(Command::Review),
            AfterMention::Command(Command::Fix),
            AfterMention::Request,
        ] {
            assert_eq!(reply(&said, &Login::new("fro-bot"), &WorkWords::usual()), None);
        }
    }

    #[test]
    fn some_words_are_about_what_is_or_was_done() {
        assert_eq!(reply_text(&AfterMention::Command(Command::Status)), "Some(Status)");
        assert_eq!(reply_text(&AfterMention::Command(Command::Forget)), "Some(Forget)");
        assert_eq!(reply_text(&AfterMention::Command(Command::Stop)), "Some(Stop)");
    }
}
