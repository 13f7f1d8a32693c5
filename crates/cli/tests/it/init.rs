//! `fro-bot init` in a clone, as somebody would type it.

use std::{path::Path, process::Command};

#[test]
fn a_clone_gets_its_workflow_once_and_hears_what_is_left_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path();
    git(clone, &["init", "--quiet"]);
    git(clone, &["remote", "add", "origin", "git@github.com:octo/garden.git"]);
    let words = ["--model", "openai/gpt-5.1", "--triggers", "mentions,pulls", "--memory", "s3", "--app"];
    let first = init(clone, &words);
    let again = init(clone, &words);
    insta::assert_snapshot!(format!("{first}\n---\n{again}"));
    let written = std::fs::read_to_string(clone.join(".github/workflows/fro-bot.yaml")).unwrap();
    insta::assert_snapshot!(written);
}

#[test]
fn what_cannot_be_written_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused = [
        init(folder.path(), &[]),
        init(folder.path(), &["--print", "--model", "claude"]),
        init(folder.path(), &["--print", "--model", "mine/a\nb"]),
        init(folder.path(), &["--print", "--triggers", "mentions,everything"]),
    ];
    insta::assert_snapshot!(refused.join("\n---\n"));
}

/// Returns what was printed, and how it ended.
fn init(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    let output = command.arg("init").args(words).current_dir(folder).env("NO_COLOR", "1").output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    format!("{printed}exit {}", output.status.code().unwrap())
}

fn git(folder: &Path, words: &[&str]) {
    assert!(Command::new("git").arg("-C").arg(folder).args(words).status().unwrap().success());
}
