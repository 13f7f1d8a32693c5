//! `fro-bot eval`: the figures of a file, and an exit code that says whether they are good enough.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A file of the reviewer's own sample.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../review/tests/data").join(name)
}

/// What is printed of a file, and the exit code. The file's name is left out.
fn evaluate(what: &str, data: &Path) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    let output = command.args(["eval", what, "--data"]).arg(data).env_clear().output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let folder = format!("{}/", data.parent().unwrap().display());
    (format!("{out}{err}").replace(&folder, ""), output.status.code().unwrap())
}

/// The same of a text.
fn evaluate_text(what: &str, text: &str) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, text).unwrap();
    evaluate(what, &path)
}

#[test]
fn the_sample_is_good_enough_packed_or_not() {
    let (anchors, code) = evaluate("anchors", &sample("pull-requests.jsonl.gz"));
    assert_eq!(code, 0, "{anchors}");
    assert!(anchors.contains("wrong                       0\n"), "{anchors}");
    let (duplicates, code) = evaluate("duplicates", &sample("told-apart.jsonl"));
    assert_eq!(code, 0, "{duplicates}");
    assert!(duplicates.ends_with("good enough                 yes\n"), "{duplicates}");
}

#[test]
fn figures_under_the_bar_end_with_exit_code_1() {
    let pair = |a: &str, b: &str, same: bool| serde_json::json!({ "a": a, "b": b, "same": same }).to_string();
    let unlike = format!("{}\n", pair("The tap leaks", "Nobody waters the bed", true));
    let (duplicates, code) = evaluate_text("duplicates", &unlike);
    assert!(code == 1 && duplicates.ends_with("good enough                 no\n"), "{duplicates}");

    let pull = serde_json::json!({
        "id": "octo/garden#1",
        "diff": "diff --git a/tap.rs b/tap.rs\n--- a/tap.rs\n+++ b/tap.rs\n@@ -1 +1 @@\n-a\n+b\n",
        "files": [{ "path": "tap.rs", "hunks": [[1, 1, 1, 1]], "right": [2], "left": [1] }],
    });
    let (anchors, code) = evaluate_text("anchors", &pull.to_string());
    assert!(code == 1 && anchors.contains("wrong:                      octo/garden#1: tap.rs"), "{anchors}");

    let history = serde_json::json!({
        "repo": "octo/garden",
        "pull": 7,
        "own": { "login": "fro-bot", "is_bot": true },
        "comments": [{
            "id": 1,
            "author": { "login": "fro-bot", "is_bot": true },
            "body": "It leaks.\n\n---\n\n```rmcoc\n{\"finding\": \"It leaks\", \"assessment\": \"Wet\", \"score\": 7}\n```",
            "created_at": "2026-01-01T00:00:00Z",
        }],
        "expect": { "1": "PENDING" },
    });
    let (state, code) = evaluate_text("state", &history.to_string());
    assert_eq!(code, 0, "{state}");
    let wrong = history.to_string().replace("PENDING", "RESOLVED");
    let (state, code) = evaluate_text("state", &wrong);
    assert!(code == 1 && state.contains("wrong: history              1"), "{state}");
}

#[test]
fn a_file_with_nothing_in_it_is_an_error_and_one_that_is_not_there_is_not_run() {
    for what in ["anchors", "duplicates", "state"] {
        let (empty, code) = evaluate_text(what, "\n");
        assert!(code != 0 && empty.contains("cannot read `data`: there is nothing in it"), "{code} {empty}");
        assert!(!empty.contains("good enough"), "{empty}");
        let (torn, code) = evaluate_text(what, "{\"id\": ");
        assert!(code != 0 && torn.contains("cannot read line 1"), "{code} {torn}");
        let (missing, code) = evaluate(what, Path::new("/nowhere/data"));
        assert_eq!((missing.as_str(), code), ("not run: there is no file `data`\n", 0));
    }
}
