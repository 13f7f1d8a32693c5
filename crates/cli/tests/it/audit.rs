//! `fro-bot audit verify`: what it says, and how it ends.

use std::{path::Path, process::Command};

use fro_core::chat::{AuditAction, AuditEntry, GuildId, Ruling};
use fro_serve::{Address, Store};
use jiff::Timestamp;

/// A store with three decisions, and what the file of it is called.
async fn decided(folder: &Path) -> String {
    let path = folder.join("serve.db");
    let store = Store::open(&Address::File(path.clone())).await.unwrap();
    for target in ["one", "two", "three"] {
        let entry = AuditEntry {
            at: Timestamp::UNIX_EPOCH,
            guild: GuildId::new(9).unwrap(),
            actor: None,
            roles: Vec::new(),
            action: AuditAction::Link,
            target: target.to_owned(),
            before: None,
            after: None,
            ruling: Ruling::Granted,
        };
        store.record(&entry).await.unwrap();
    }
    path.to_str().unwrap().to_owned()
}

/// What is printed, and the exit code.
fn verify(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    let output = command.args(["audit", "verify"]).args(arguments).env_clear().output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{out}{err}exit code {}", output.status.code().unwrap())
}

#[tokio::test]
async fn the_audit_is_checked_and_the_first_entry_that_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = decided(folder.path()).await;
    let missing = folder.path().join("other.db");
    let whole = verify(&["--store", &path]);
    let noted = whole.split_whitespace().find(|word| word.len() == 64).unwrap().to_owned();
    let mut told = vec![
        whole.clone(),
        verify(&["--store", &path, "--noted", &noted]),
        verify(&["--store", &path, "--noted", "0123"]),
        verify(&["--store", missing.to_str().unwrap()]),
        verify(&["--store", "postgres://fro@/none?host=/nowhere"]),
        verify(&[]),
    ];
    assert!(!missing.exists(), "nothing is made for a look");
    let meddle = "DROP TRIGGER audit_is_not_changed; UPDATE audit SET body = '{}' WHERE number = 2";
    rusqlite::Connection::open(&path).unwrap().execute_batch(meddle).unwrap();
    told.push(verify(&["--store", &path]));
    let told = told.join("\n\n").replace(folder.path().to_str().unwrap(), "FOLDER");
    insta::assert_snapshot!(told);
}
