//! What must never be stored is in no byte of the store.

use std::{fs, io::Read as _, path::Path};

use fro_memory::{Keep, Kept, Store, keep, recall};

use crate::engine::{Engine, after, saved, say};

const SECRET: &str = "ghp_0123456789abcdefTHESECRET";

#[test]
fn no_credential_reaches_the_store() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(2);
    engine
        .connect()
        .execute_batch(&format!(
            "INSERT INTO account VALUES ('acc', 'a@example.com', '{SECRET}', '{SECRET}');
             INSERT INTO account_state VALUES (1, 'acc');
             INSERT INTO control_account VALUES ('a@example.com', 'https://example.com', '{SECRET}');
             INSERT INTO credential VALUES ('cre', 'a label', '{SECRET}');
             INSERT INTO session_share VALUES ('ses_00000000', 'shr', '{SECRET}');
             INSERT INTO permission VALUES ('per', 'prj', 'bash', '{SECRET}', 1, 1);
             UPDATE project SET commands = '{SECRET}';
             INSERT INTO event VALUES ('evt', 'ses_00000000', 8, 'message.updated.1', '{SECRET}')"
        ))
        .unwrap();
    for file in ["auth.json", "mcp-auth.json"] {
        fs::write(engine.data().join("opencode").join(file), SECRET).unwrap();
    }
    assert!(contains(&stored(engine.data()), SECRET), "the check finds nothing where there is something");

    saved(&keep(&folder, engine.data(), &after(None)).unwrap());

    assert!(contains(&stored(store.path()), "The hose leaks."), "the check cannot see into objects");
    assert!(!contains(&stored(store.path()), SECRET));
}

#[test]
fn a_replaced_credential_does_not_survive_in_dead_space() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(2);
    let connection = engine.connect();
    connection
        .execute("INSERT INTO message VALUES ('msg_x', 'ses_00000000', 1, 1, ?1)", [SECRET.repeat(20)])
        .unwrap();
    connection
        .execute_batch("DELETE FROM message WHERE id = 'msg_x'; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    assert!(contains(&fs::read(engine.database()).unwrap(), SECRET), "nothing was left in dead space");

    saved(&keep(&folder, engine.data(), &after(None)).unwrap());

    assert!(!contains(&stored(store.path()), SECRET));
}

#[test]
fn known_secrets_are_replaced_in_every_form_and_the_rest_stays() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(0);
    let odd = "p\"a\\s\ns é word";
    let mut connection = engine.connect();
    let inner = serde_json::json!({ "output": odd }).to_string();
    for (number, words) in (0..).zip([SECRET, odd, &inner, &SECRET[..20], &SECRET[5..], "The hose leaks."]) {
        say(&mut connection, number, words);
    }
    engine.write("session_diff/ses_1.json", format!("[{SECRET}]"));
    engine.change(&format!("UPDATE session SET title = '{SECRET}' WHERE id = 'ses_00000003'"));

    let kept = Keep::new(engine.data(), after(None))
        .without([SECRET, odd].map(fro_core::Secret::new))
        .save(&folder)
        .unwrap();

    let Kept::Saved { report, .. } = kept else { panic!("{kept:?}") };
    assert_eq!(report.redacted, 6);
    let next = Engine::fresh();
    recall(&folder, next.data()).unwrap();
    let words: Vec<_> = next.remembers().into_iter().map(|(_, words, _)| words).collect();
    let marked = ["[redacted]", "[redacted]", r#"{"output":"[redacted]"}"#, "[redacted]", "[redacted]"];
    assert_eq!(words, marked.into_iter().chain(["The hose leaks."]).collect::<Vec<_>>());
    assert_eq!(next.read("session_diff/ses_1.json"), "[[redacted]]");
    for piece in [SECRET, &SECRET[..16], &SECRET[13..], "s é word"] {
        assert!(!contains(&stored(store.path()), piece), "{piece}");
    }
}

#[test]
fn an_older_engine_without_some_tables_is_kept_too() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    engine
        .connect()
        .execute_batch("DROP TABLE credential; DROP TABLE session_share; DROP TABLE event")
        .unwrap();
    saved(&keep(&folder, engine.data(), &after(None)).unwrap());
}

/// Returns every byte under a folder, compressed files unpacked.
fn stored(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(stored(&path));
            continue;
        }
        let raw = fs::read(&path).unwrap();
        let body = raw.strip_prefix(b"FROPACK3").map(|rest| {
            let (_, count) = rest.split_last_chunk::<4>().unwrap();
            &rest[..rest.len() - 4 - 40 * u32::from_le_bytes(*count) as usize]
        });
        let mut unpacked = Vec::new();
        match zstd::Decoder::new(body.unwrap_or(&raw)).unwrap().read_to_end(&mut unpacked) {
            Ok(_) => bytes.extend(unpacked),
            Err(_) => bytes.extend(&raw),
        }
    }
    bytes
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}
