//! However a secret is written down, and wherever: no byte of it is stored, and what stands around it is.

use fro_core::Secret;
use fro_memory::{Keep, Store, recall};
use rusqlite::params;

use crate::engine::{Engine, after, saved, say};

const VALUE: &str = "hunter2-0123456789abcdef-loft";
const QUOTED: &str = "hall \"and\" loft, forty-two";

/// A way of writing a secret, and what must not be left of it.
struct Form {
    name: &'static str,
    text: String,
    left: &'static [&'static str],
}

fn forms() -> Vec<Form> {
    let strewn = |with: &str| VALUE.chars().map(|c| format!("{c}{with}")).collect::<Vec<_>>().concat();
    let value: &[&str] = &["hunter2", "abcdef", "loft"];
    let (shape, key) = (&["abcdef", "QRSTUVWX"][..], &["MIIEvQ", "PRIVATE"][..]);
    let form = |name, text: String, left| Form { name, text, left };
    vec![
        form("plain", VALUE.to_owned(), value),
        form("zero width", strewn("\u{200b}"), value),
        form("soft hyphens", strewn("\u{ad}"), value),
        form("word joiners and tags", strewn("\u{2060}\u{e0041}"), value),
        form("no-break spaces", strewn("\u{a0}"), value),
        form("escaped zero width", strewn("\\u200b"), value),
        form("zero width, escaped twice", strewn("\\\\u200B"), value),
        form("UTF-16", strewn("\0"), value),
        form("quotes, broken over lines", QUOTED.replace(' ', "\n    "), &["hall", "forty-two"]),
        form(
            "quotes in JSON in a string",
            serde_json::json!({ "k": QUOTED.replace(' ', "\r\n") }).to_string(),
            &["hall", "forty-two"],
        ),
        form("a token of GitHub", format!("ghp_{}", "QRSTUVWXabcdef0123456789"), shape),
        form(
            "a token after a break in JSON",
            "{\"k\":\"a\\nghs_QRSTUVWXabcdef0123456789\"}".to_owned(),
            shape,
        ),
        form("a key of AWS", "AKIAQRSTUVWX01234567".to_owned(), shape),
        form("a key file", "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----".to_owned(), key),
    ]
}

/// A place of a memory: how a text gets there, and how it reads when it was recalled.
type Spot = (&'static str, fn(&Engine, &str), fn(&Engine) -> String);

const SPOTS: [Spot; 5] = [
    (
        "a message",
        |engine, text| say(&mut engine.connect(), 1, text),
        |engine| engine.words("ses_00000001").concat(),
    ),
    (
        "a tool's answer",
        |engine, text| say(&mut engine.connect(), 1, &serde_json::json!({ "output": text }).to_string()),
        |engine| {
            let text = engine.words("ses_00000001").concat();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            json["output"].as_str().unwrap().to_owned()
        },
    ),
    (
        "a title",
        |engine, text| {
            engine.connect().execute("UPDATE session SET title = ?1", params![text]).unwrap();
        },
        |engine| engine.connect().query_one("SELECT title FROM session", [], |row| row.get(0)).unwrap(),
    ),
    (
        "a file",
        |engine, text| engine.write("session_diff/ses_00000000.txt", text),
        |engine| engine.read("session_diff/ses_00000000.txt"),
    ),
    (
        "a file of JSON",
        |engine, text| {
            engine
                .write("session_diff/ses_00000000.json", serde_json::json!([{ "patch": text }]).to_string());
        },
        |engine| {
            let json: serde_json::Value =
                serde_json::from_str(&engine.read("session_diff/ses_00000000.json")).unwrap();
            json[0]["patch"].as_str().unwrap().to_owned()
        },
    ),
];

#[test]
fn no_form_of_a_secret_survives_in_any_place() {
    let mut missed = Vec::new();
    for form in forms() {
        for (place, write, read) in SPOTS {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::folder(folder.path()).unwrap();
            let engine = Engine::with_sessions(1);
            write(&engine, &format!("before {} after", form.text));
            let keep = Keep::new(engine.data(), after(None)).without([VALUE, QUOTED].map(Secret::new));
            saved(&keep.save(&store).unwrap());
            let next = Engine::fresh();
            recall(&store, next.data()).unwrap();
            let stored = read(&next);
            let plain = stored.replace(['\0', '\u{200b}', '\u{ad}', '\u{a0}'], "");
            let is_clean =
                stored.contains("[redacted]") && form.left.iter().all(|left| !plain.contains(left));
            if !is_clean || !stored.starts_with("before ") || !stored.ends_with(" after") {
                missed.push(format!("{} in {place}: {stored:?}", form.name));
            }
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}
