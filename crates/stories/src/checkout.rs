//! The checkout that the agent works in.

use std::{path::Path, process::Command};

/// Clones a repository as `actions/checkout` does: one commit deep.
pub(crate) async fn clone(url: &str, folder: &Path) {
    let mut git = tokio::process::Command::new("git");
    git.args(["clone", "--quiet", "--depth=1", url]).arg(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.status().await.is_ok_and(|status| status.success()), "git clone failed");
}

/// Commits files to a branch and pushes them.
pub(crate) async fn publish(url: &str, branch: &str, files: &[(String, String)]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    git(folder.path(), &["clone", "--quiet", "--branch", branch, url, "."]).await;
    for (file, text) in files {
        let path = folder.path().join(file);
        fs_err::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("the clone can be written");
        fs_err::write(path, text).expect("the clone can be written");
    }
    git(folder.path(), &["add", "."]).await;
    let about = files.first().map_or("nothing", |(file, _)| file.as_str());
    git(folder.path(), &["commit", "--quiet", "-m", about]).await;
    git(folder.path(), &["push", "--quiet", "origin", branch]).await;
}

/// Replaces the history of a branch by the default one's and a commit of one file.
pub(crate) async fn rebase(url: &str, branch: &str, (file, text): (&str, &str)) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    git(folder.path(), &["clone", "--quiet", url, "."]).await;
    git(folder.path(), &["checkout", "--quiet", "-B", branch, "origin/HEAD"]).await;
    fs_err::write(folder.path().join(file), text).expect("the clone can be written");
    git(folder.path(), &["add", "."]).await;
    git(folder.path(), &["commit", "--quiet", "-m", "all anew"]).await;
    git(folder.path(), &["push", "--quiet", "--force", "origin", branch]).await;
}

async fn git(folder: &Path, arguments: &[&str]) {
    let mut git = tokio::process::Command::new("git");
    git.args(["-c", "user.name=Octavia", "-c", "user.email=octo@garden.example"]).args(arguments);
    let done = git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").status().await;
    assert!(done.is_ok_and(|status| status.success()), "git {arguments:?} failed");
}

/// Makes a repository with one commit.
pub(crate) fn make(folder: &Path) {
    fs_err::create_dir(folder).expect("the folder is new");
    fs_err::write(folder.join("tap.rs"), "fn tap() {}\n").expect("the folder can be written");
    run(folder, &["init", "-q", "-b", "main"]);
    commit(folder, "tap.rs");
}

/// Commits a file that was written into a checkout.
pub(crate) fn commit(folder: &Path, file: &str) {
    run(folder, &["add", file]);
    run(folder, &["commit", "-q", "-m", file]);
}

/// Runs git in a checkout.
pub(crate) fn run(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Maya", "-c", "user.email=maya@garden.example"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(done.is_ok_and(|status| status.success()), "git {arguments:?} failed");
}
