//! The chain of decisions: the database refuses to change it, and what was changed all the same is found.

use fro_core::chat::AuditAction;
use fro_serve::{Broken, Head, Store};

use crate::{
    contract::entry,
    databases::{Database, each},
};

/// How somebody with the database in their hands gets around its triggers.
fn unlocked(database: &Database, deed: &str) -> String {
    match database.kind {
        "sqlite" => format!("DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_removed; {deed}"),
        _ => format!("ALTER TABLE audit DISABLE TRIGGER ALL; {deed}"),
    }
}

async fn filled(database: &Database) -> Store {
    let store = database.open().await;
    for number in 1..=5 {
        store.record(&entry(AuditAction::Link, &format!("channel {number}"))).await.unwrap();
    }
    store
}

#[tokio::test]
async fn the_database_refuses_to_change_what_was_decided() {
    for database in each().await {
        let store = filled(&database).await;
        for deed in ["UPDATE audit SET body = '{}' WHERE number = 2", "DELETE FROM audit WHERE number = 5"] {
            assert_eq!(
                database.meddle(deed).await.unwrap_err(),
                "the audit is append-only",
                "{}",
                database.kind
            );
        }
        let Head { entries, hash } = store.verify_audit(None).await.unwrap().unwrap();
        assert_eq!((entries, hash.len()), (5, 64));
    }
}

#[tokio::test]
async fn whatever_is_changed_all_the_same_is_found() {
    let changes = [
        (
            "UPDATE audit SET body = replace(body, 'channel 2', 'channel 9') WHERE number = 2",
            Broken::Changed(2),
        ),
        ("UPDATE audit SET hash = 'x' WHERE number = 3", Broken::Changed(3)),
        ("UPDATE audit SET previous = 'x' WHERE number = 3", Broken::Detached(3)),
        ("DELETE FROM audit WHERE number = 3", Broken::Missing(3)),
        ("DELETE FROM audit WHERE number = 1", Broken::Missing(1)),
        ("DELETE FROM audit WHERE number = 5", Broken::Cut { found: 4, written: 5 }),
        ("DELETE FROM audit", Broken::Cut { found: 0, written: 5 }),
    ];
    for (change, broken) in changes {
        for database in each().await {
            let store = filled(&database).await;
            database.meddle(&unlocked(&database, change)).await.unwrap();
            assert_eq!(store.verify_audit(None).await.unwrap(), Err(broken.clone()), "{change}");
        }
    }
}

#[tokio::test]
async fn a_chain_that_was_rewritten_as_a_whole_lacks_the_hash_that_was_noted() {
    for database in each().await {
        let store = filled(&database).await;
        let noted = store.verify_audit(None).await.unwrap().unwrap().hash;
        store.record(&entry(AuditAction::Unlink, "channel 1")).await.unwrap();
        assert_eq!(store.verify_audit(Some(&noted)).await.unwrap().unwrap().entries, 6);
        let wipe = "DELETE FROM audit; UPDATE audit_head SET number = 0, hash = ''";
        database.meddle(&unlocked(&database, wipe)).await.unwrap();
        filled(&database).await;
        store.record(&entry(AuditAction::Link, "channel 6")).await.unwrap();
        assert_eq!(store.verify_audit(None).await.unwrap().unwrap().entries, 6, "it looks whole");
        // The same five entries have the same hash; one more word, and all hashes after it differ.
        let wipe = "DELETE FROM audit; UPDATE audit_head SET number = 0, hash = ''";
        database.meddle(wipe).await.unwrap();
        store.record(&entry(AuditAction::Unlink, "channel 1")).await.unwrap();
        assert_eq!(store.verify_audit(Some(&noted)).await.unwrap(), Err(Broken::Unknown(noted.clone())));
    }
}

#[tokio::test]
async fn decisions_at_the_same_time_stand_in_one_chain() {
    for database in each().await {
        let (one, other) = (database.open().await, database.open().await);
        let tasks: Vec<_> = (0..20)
            .map(|number| {
                let store = if number % 2 == 0 { one.clone() } else { other.clone() };
                tokio::spawn(async move {
                    store.record(&entry(AuditAction::Ask, &number.to_string())).await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(one.verify_audit(None).await.unwrap().unwrap().entries, 20, "{}", database.kind);
    }
}
