//! `fro-bot init` in a clone, as somebody would type it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::terminal::on_terminal;

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
        init(folder.path(), &["--print", "--action", "you/agent"]),
    ];
    insta::assert_snapshot!(refused.join("\n---\n"));
}

#[test]
fn a_release_of_ones_own_is_used_in_every_job() {
    let folder = tempfile::tempdir().unwrap();
    let printed = init(folder.path(), &["--print", "--action", "you/agent@v0"]);
    let used = printed.lines().filter(|line| line.contains("uses: ") && !line.contains("actions/checkout"));
    let used: Vec<_> = used.map(str::trim).collect();
    assert_eq!(used, ["- uses: you/agent@v0"; 7]);
}

/// A `gh` that writes down its arguments and what it reads, and cannot set what `$REFUSED` names.
const GH: &str = "#!/bin/sh\n[ \"$3\" != \"$REFUSED\" ] || exit 1\necho \"$*\" >> \"$SEEN\"\ncat >> \"$SEEN\"\necho >> \"$SEEN\"\n";

/// A clone of octo/garden, and a `gh`.
struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    fn new() -> Self {
        let checkout = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [checkout.clone(), checkout.folder.path().join("tools")] {
            std::fs::create_dir(folder).unwrap();
        }
        git(&checkout.clone(), &["init", "--quiet"]);
        git(&checkout.clone(), &["remote", "add", "origin", "git@github.com:octo/garden.git"]);
        let gh = checkout.folder.path().join("tools/gh");
        std::fs::write(&gh, GH).unwrap();
        std::fs::set_permissions(&gh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        checkout
    }

    fn clone(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    /// Returns the command with these variables beside the usual ones.
    fn init<'a>(&self, words: &[&str], variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Command {
        let tools = self.folder.path().join("tools");
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
        command.arg("init").args(words).current_dir(self.clone()).env_clear();
        command.env("PATH", path).env("NO_COLOR", "1").env("SEEN", self.folder.path().join("seen"));
        command.env("HOME", self.folder.path()).envs(variables);
        command
    }

    /// Returns what `gh` was asked and told.
    fn seen(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("seen")).unwrap_or_default()
    }
}

#[test]
fn secrets_go_to_gh_by_its_input_and_what_has_no_value_is_told() {
    let checkout = Checkout::new();
    let variables = [("OPENCODE_AUTH_JSON", "planted-auth"), ("FRO_BOT_APP_ID", "4711")];
    let printed = printed(checkout.init(&["--set-secrets", "--app"], variables));
    assert!(!printed.contains("planted-auth"), "{printed}");
    insta::assert_snapshot!(format!("{printed}\n--- gh\n{}", checkout.seen()));
}

/// As the README says it: `init`, and then `init --set-secrets`; and again after `gh` failed half-way.
#[test]
fn secrets_are_set_for_a_file_that_is_there_as_often_as_it_takes() {
    let checkout = Checkout::new();
    let first = printed(checkout.init(&["--model", "openai/gpt-5.1", "--app"], []));
    assert!(first.ends_with("exit 0"), "{first}");
    let auth = [("OPENCODE_AUTH_JSON", "planted-auth"), ("FRO_BOT_APP_ID", "4711")];
    let refused = [("REFUSED", "FRO_BOT_APP_ID")];
    let failed = printed(checkout.init(&["--set-secrets"], auth.into_iter().chain(refused)));
    let again = printed(checkout.init(&["--set-secrets"], auth));
    insta::assert_snapshot!(format!("{failed}\n---\n{again}\n--- gh\n{}", checkout.seen()));
    let same = printed(checkout.init(&["--set-secrets", "--model", "openai/gpt-5.1", "--app"], auth));
    assert!(same.ends_with("exit 0"), "{same}");
    let other = printed(checkout.init(&["--set-secrets", "--model", "openai/gpt-5.2", "--app"], auth));
    assert!(other.ends_with("exit 2"), "{other}");
}

#[test]
fn a_value_of_several_lines_comes_from_a_file_and_is_not_typed() {
    let checkout = Checkout::new();
    let key = checkout.folder.path().join("app.pem");
    std::fs::write(&key, "-----BEGIN KEY-----\nplanted\n-----END KEY-----\n").unwrap();
    let words = [
        "--set-secrets",
        "--app",
        "--model",
        "openai/gpt-5.1",
        "--triggers",
        "mentions",
        "--memory",
        "cache",
    ];
    let command = checkout.init(&words, [("OPENCODE_AUTH_JSON", "planted-auth"), ("FRO_BOT_APP_ID", "4711")]);
    let printed = on_terminal(&command, &format!("{}\n", key.display()));
    assert!(printed.contains("Which file has it, such as `my-app.private-key.pem`"), "{printed}");
    assert!(printed.ends_with("exit 0"), "{printed}");
    let seen = checkout.seen();
    let whole = "secret set FRO_BOT_PRIVATE_KEY --repo octo/garden\n-----BEGIN KEY-----\nplanted\n-----END KEY-----\n";
    assert!(seen.contains(whole), "{seen}");
    assert!(!printed.contains("BEGIN KEY"), "{printed}");
}

const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "planted-id"), ("AWS_SECRET_ACCESS_KEY", "planted-secret")];

#[test]
fn keys_of_aws_are_not_sent_where_nobody_can_be_asked() {
    let checkout = Checkout::new();
    let printed = printed(checkout.init(&["--set-secrets", "--memory", "s3"], KEYS));
    assert!(!checkout.seen().contains("planted"), "{}", checkout.seen());
    insta::assert_snapshot!(printed);
}

#[test]
fn keys_of_aws_are_sent_after_a_yes() {
    let checkout = Checkout::new();
    let words = ["--set-secrets", "--memory", "s3", "--model", "openai/gpt-5.1", "--triggers", "mentions"];
    let others = [("OPENCODE_AUTH_JSON", "planted-auth"), ("FRO_BOT_BUCKET", "beds")];
    let command = checkout.init(&words, KEYS.into_iter().chain(others));
    // What is not sent is left to `gh`, which reads the terminal, and there the end of a file.
    let printed = on_terminal(&command, "yes\nno\n\u{4}");
    assert!(printed.contains("Send your own AWS_ACCESS_KEY_ID to octo/garden as its secret"), "{printed}");
    let seen = checkout.seen();
    assert!(printed.ends_with("exit 0"), "{printed}");
    assert!(seen.contains("secret set AWS_ACCESS_KEY_ID --repo octo/garden\nplanted-id\n"), "{seen}");
    assert!(!seen.contains("planted-secret"), "{seen}");
}

#[test]
fn a_terminal_is_asked_for_what_no_option_says() {
    let checkout = Checkout::new();
    let printed = on_terminal(&checkout.init(&[], []), "openai/gpt-5.1\nmentions,pulls\n\n");
    let asked =
        ["Which model? [anthropic/claude-sonnet-4-5]", "What to answer? [all]", "cache or s3? [cache]"];
    assert!(asked.iter().all(|question| printed.contains(question)), "{printed}");
    assert!(printed.contains("wrote .github/workflows/fro-bot.yaml: mentions, pulls"), "{printed}");
    let written = std::fs::read_to_string(checkout.clone().join(".github/workflows/fro-bot.yaml")).unwrap();
    assert!(written.contains("model: openai/gpt-5.1\n"), "{written}");
}

/// Returns what was printed, and how it ended.
fn init(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    command.arg("init").args(words).current_dir(folder).env("NO_COLOR", "1");
    printed(command)
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    format!("{printed}exit {}", output.status.code().unwrap())
}

fn git(folder: &Path, words: &[&str]) {
    assert!(Command::new("git").arg("-C").arg(folder).args(words).status().unwrap().success());
}
