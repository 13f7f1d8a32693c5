//! What people are told who used one of our words, without asking the engine.

use std::fmt::Write as _;

use crate::{
    command::{Command, Said},
    fence,
    names::Login,
};

/// Returns the answer that needs no engine, if this is such a case.
pub fn answer(said: &Said, name: &Login) -> Option<String> {
    Some(match said {
        Said::Command(Command::Help) => help(name),
        Said::Command(Command::Stop) => STOP.to_owned(),
        Said::Command(Command::Status) => STATUS.to_owned(),
        Said::Command(Command::Forget) => FORGET.to_owned(),
        Said::Command(Command::Review | Command::Fix) | Said::Request => return None,
        Said::Unknown { word, meant } => {
            let meant = match meant {
                Some(meant) => format!(" Did you mean `@{name} {}`?", meant.word()),
                None => String::new(),
            };
            format!("I do not know `{}`.{meant}\n\n{}", fence::inline(word), help(name))
        }
    })
}

fn help(name: &Login) -> String {
    let mut text = String::from(
        "Mention me and say in plain words what you want to know or have done. These words mean something by \
         themselves:\n\n| write | and I will |\n|---|---|\n",
    );
    for command in Command::ALL {
        let _ = writeln!(text, "| `@{name} {}` | {} |", command.word(), meaning(command));
    }
    text
}

fn meaning(command: Command) -> &'static str {
    match command {
        Command::Help => "show this table",
        Command::Review => "review the pull request; you can add what to look at",
        Command::Fix => "work on what was found; you can add what exactly",
        Command::Status => "say how to see what I am doing",
        Command::Stop => "say how to stop me",
        Command::Forget => "say how to make me forget",
    }
}

const STATUS: &str = "I am here. What I am working on carries 👀 and the label `agent: working`; the log of each \
run is in the repository's *Actions* tab.";

const STOP: &str = "To stop me, cancel the run in the repository's *Actions* tab. I then stop the work at once, take \
👀 and the label away and post nothing more.";

const FORGET: &str = "What I remember is kept in the place that the workflow names for it. Remove it there and I \
begin anew with the next run.";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &Said) -> String {
        answer(said, &Login::new("fro-bot")).unwrap_or_default()
    }

    #[test]
    fn help_reads_like_this() {
        insta::assert_snapshot!(told(&Said::Command(Command::Help)));
    }

    #[test]
    fn an_unknown_word_gets_a_guess() {
        let said = Said::Unknown { word: "rev`uew".to_owned(), meant: Some(Command::Review) };
        let first = told(&said).lines().next().unwrap_or_default().to_owned();
        assert_eq!(first, "I do not know `rev'uew`. Did you mean `@fro-bot review`?");
    }

    #[test]
    fn work_is_left_to_the_engine() {
        for said in [Said::Command(Command::Review), Said::Command(Command::Fix), Said::Request] {
            assert_eq!(answer(&said, &Login::new("fro-bot")), None);
        }
    }
}
