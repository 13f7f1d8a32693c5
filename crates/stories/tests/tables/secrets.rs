//! Planted secrets in every form, said by the model, printed by a tool or sent by a provider: none gets anywhere.

use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use fro_sim::model::Reply;
use fro_stories::{Mention, Run, Sim};
use serde_json::json;

use crate::{posted::posted, table::fill};

/// The value of each variable that holds one.
const VARIABLES: [(&str, &str); 5] = [
    ("INPUT_ELEVATED-TOKEN", "ghp_plantedplantedplantedplanted0123456789"),
    ("AWS_ACCESS_KEY_ID", "AKIAPLANTED012345678"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYPLANTEDKEY"),
    ("AWS_SESSION_TOKEN", "planted+session/token==0123456789"),
    ("ACTIONS_RUNTIME_TOKEN", "planted-runtime-token-0123456789"),
];

/// The leaves of `auth.json`.
const LEAVES: [&str; 5] = [
    "planted-model-key-0123456789",
    "planted \"quoted\" \\ refresh",
    "pläntéd-ünïcode-access",
    "planted-account-id",
    "planted-well-known",
];

fn auth_json() -> String {
    let [key, refresh, access, account, known] = LEAVES;
    json!({
        "scripted": { "type": "api", "key": key },
        "github-copilot": { "type": "oauth", "refresh": refresh, "access": access, "expires": 0, "more": [{ "id": account }] },
        "elsewhere": { "type": "wellknown", "key": "short", "token": known },
    })
    .to_string()
}

/// Returns everything that must not be seen.
fn secrets(sim: &Sim) -> Vec<String> {
    let variables = VARIABLES.iter().map(|(_, value)| *value);
    let all = variables.chain(LEAVES).map(str::to_owned);
    all.chain([sim.world().token("fro-bot")]).collect()
}

/// Returns the ways in which a secret is written.
fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let json = serde_json::to_string(secret).unwrap();
    let url = |byte: &u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    vec![
        secret.to_owned(),
        BASE64.encode(bytes),
        BASE64URL.encode(bytes),
        bytes.iter().map(url).collect(),
        json[1..json.len() - 1].to_owned(),
        HEXLOWER.encode(bytes),
        HEXUPPER.encode(bytes),
    ]
}

/// Returns a text with every secret in every form, also broken over lines.
fn planted(sim: &Sim) -> String {
    let mut lines = Vec::new();
    for secret in secrets(sim) {
        for form in forms(&secret) {
            let half = form.char_indices().nth(form.chars().count() / 2).map_or(0, |(at, _)| at);
            let (head, tail) = form.split_at(half);
            lines.push(format!("- `{form}`\n- {head}\n  {tail}\n- {head}\u{200b}{tail}"));
        }
    }
    lines.join("\n")
}

/// Where the secrets come from.
#[derive(Clone, Copy)]
enum Source {
    Answer,
    Draft,
    ToolCall,
    File,
    Refusal(u16),
    ErrorInStream,
    Partial,
    Schedule,
}

const SOURCES: [(&str, Source); 9] = [
    ("the answer, in deltas", Source::Answer),
    ("a draft", Source::Draft),
    ("a tool's input and output", Source::ToolCall),
    ("a file that is read", Source::File),
    ("a provider's 400", Source::Refusal(400)),
    ("a provider's 401", Source::Refusal(401)),
    ("an error in the stream", Source::ErrorInStream),
    ("an answer that breaks off", Source::Partial),
    ("the run's page", Source::Schedule),
];

fn script(sim: &Sim, source: Source) {
    let (model, text) = (sim.model(), planted(sim));
    match source {
        Source::Answer | Source::Schedule => model.says(text),
        Source::Draft => {
            model.calls("answer_draft", json!({ "body": text }));
            model.says("I have handed it in.");
        }
        Source::ToolCall => {
            let command = format!("cat <<'END'\n{text}\nEND");
            model.calls("bash", json!({ "command": command, "description": text }));
            model.says("Printed.");
        }
        Source::File => {
            fs_err::write(sim.checkout().join("found.txt"), &text).unwrap();
            model.calls("bash", json!({ "command": "cat found.txt", "description": "Reads" }));
            model.calls("grep", json!({ "pattern": "planted" }));
            model.says("Read.");
        }
        Source::Refusal(status) => {
            model.plays(Reply::status(status).body(json!({ "error": { "message": text } }).to_string()));
        }
        Source::ErrorInStream => {
            model.plays(Reply::error_in_stream(&text));
            model.plays(Reply::error_in_stream(&text));
        }
        Source::Partial => {
            model.plays(Reply::cut_after(&text));
            model.plays(Reply::garbage());
            model.plays(Reply::garbage());
        }
    }
}

fn happen(sim: &Sim, source: Source) -> Mention<'_> {
    let mention = match source {
        Source::Schedule => sim.event("schedule", &json!({}), 0).with("prompt", "Look for secrets."),
        _ => sim.mention("@fro-bot look for secrets"),
    };
    let variables = VARIABLES.iter().fold(mention, |mention, (name, value)| mention.variable(name, *value));
    variables.with("auth-json", &auth_json()).variable("FRO_LOG", "debug")
}

/// Where they are looked for.
const PLACES: [&str; 5] = ["comments", "log", "page", "outputs", "requests to GitHub"];

#[tokio::test]
async fn no_form_of_a_secret_gets_anywhere() {
    let rows = SOURCES.map(|(name, source)| (name.to_owned(), source));
    let places = format!("{} · memory", PLACES.join(" · "));
    fill("Planted secrets: how many of their forms were found", &rows, &[(&places, ())], cell).await;
}

async fn cell(source: Source, (): ()) -> String {
    let sim = Sim::new().await;
    script(&sim, source);
    let run = happen(&sim, source).run().await;
    assert!(matches!(run.code, Some(0 | 4)), "{run}");
    let memory = remembered(&sim);
    let in_memory = needles(&sim).into_iter().filter(|form| memory.contains(form)).collect();
    let mut found: Vec<_> =
        PLACES.iter().map(|place| (*place, found(&sim, &text(&sim, &run, place)))).collect();
    // What was broken over lines is remembered as it was said; whoever says it again is redacted.
    found.push(("memory", in_memory));
    let counts: Vec<_> = found.iter().map(|(_, found)| found.len().to_string()).collect();
    assert!(found.iter().all(|(_, found)| found.is_empty()), "exit {:?}: {found:#?}", run.code);
    counts.join(" · ")
}

/// Returns all that is to be read in a place.
fn text(sim: &Sim, run: &Run, place: &str) -> String {
    let file = |name: &str| fs_err::read_to_string(sim.folder().join(name)).unwrap_or_default();
    match place {
        "comments" => posted(sim).into_iter().map(|posted| posted.body).collect(),
        "log" => run.log_and_errors(),
        "page" => sim.run_page(),
        "outputs" => file("output") + &file("state"),
        _ => {
            sim.world().traffic().into_iter().flat_map(|call| [call.path, call.query, call.request]).collect()
        }
    }
}

/// Returns every byte of the stored memory, as it is restored.
fn remembered(sim: &Sim) -> String {
    let folder = sim.folder().join("pulled");
    fs_err::create_dir(&folder).unwrap();
    let mut pull = std::process::Command::new(fro_stories::binary());
    pull.args(["memory", "pull"]).arg(&folder).arg("--memory").arg(sim.folder().join("memory"));
    let pulled = pull.output().unwrap();
    assert!(pulled.status.success(), "{}", String::from_utf8_lossy(&pulled.stderr));
    let mut text = String::new();
    let mut folders = vec![folder];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => text.push_str(&String::from_utf8_lossy(&fs_err::read(path).unwrap())),
            }
        }
    }
    assert!(text.contains("SQLite format 3"), "nothing was remembered");
    text
}

/// Returns the forms that are in a text, whatever was strewn between their letters.
fn found(sim: &Sim, text: &str) -> Vec<String> {
    let squeeze = |text: &str| -> String {
        let text = text.replace("\\n", "").replace("\\u200b", "").replace("\\u{200b}", "");
        text.chars().filter(|c| !c.is_whitespace() && !c.is_control() && *c != '\u{200b}').collect()
    };
    let squeezed = squeeze(text);
    needles(sim).into_iter().filter(|form| squeezed.contains(&squeeze(form))).collect()
}

/// Returns what must not be found.
fn needles(sim: &Sim) -> Vec<String> {
    let all = secrets(sim);
    all.iter().flat_map(|secret| forms(secret)).map(|form| form.trim_end_matches('=').to_owned()).collect()
}
