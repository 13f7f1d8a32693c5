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

/// A `gh` that writes down its arguments and what it reads.
const GH: &str = "#!/bin/sh\necho \"$*\" >> \"$SEEN\"\ncat >> \"$SEEN\"\necho >> \"$SEEN\"\n";

#[test]
fn secrets_go_to_gh_by_its_input_and_what_has_no_value_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (clone, tools, seen) =
        (folder.path().join("clone"), folder.path().join("tools"), folder.path().join("seen"));
    for folder in [&clone, &tools] {
        std::fs::create_dir(folder).unwrap();
    }
    git(&clone, &["init", "--quiet"]);
    git(&clone, &["remote", "add", "origin", "git@github.com:octo/garden.git"]);
    std::fs::write(tools.join("gh"), GH).unwrap();
    std::fs::set_permissions(tools.join("gh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    command.args(["init", "--set-secrets", "--app"]).current_dir(&clone);
    command.envs([("PATH", path.as_str()), ("NO_COLOR", "1"), ("SEEN", seen.to_str().unwrap())]);
    command.envs([("OPENCODE_AUTH_JSON", "planted-auth"), ("FRO_BOT_APP_ID", "4711")]);
    let output = command.output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!printed.contains("planted-auth"), "{printed}");
    let seen = std::fs::read_to_string(seen).unwrap();
    insta::assert_snapshot!(format!("{printed}--- gh\n{seen}"));
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
