//! Hostile words in every place that a stranger can write to, all of them at once: nothing gets out of its fence, no
//! marker is believed, and the runner takes no command.

use std::collections::BTreeSet;

use fro_sim::{
    model::Reply,
    state::{ChangedFile, Commit, Issue, Person, PersonKind, Pull, State},
};
use fro_stories::{Mention, REPO, Run, Sim};
use serde_json::json;

use crate::{happenings::PULL, posted::posted, table::fill};

/// Where words of strangers stand.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Title,
    Body,
    Comment,
    Login,
    Label,
    Branch,
    Path,
    CommitMessage,
    AttachmentName,
    Diff,
}

const SLOTS: [(&str, Slot); 10] = [
    ("title", Slot::Title),
    ("body", Slot::Body),
    ("comment", Slot::Comment),
    ("login", Slot::Login),
    ("label", Slot::Label),
    ("branch", Slot::Branch),
    ("path", Slot::Path),
    ("commit message", Slot::CommitMessage),
    ("attachment name", Slot::AttachmentName),
    ("diff", Slot::Diff),
];

/// The corpus of the pure tests.
fn corpus() -> Vec<String> {
    let corpus: Vec<String> =
        serde_json::from_str(include_str!("../../../core/tests/it/corpus.json")).unwrap();
    assert!(corpus.len() >= 60, "{}", corpus.len());
    corpus
}

#[tokio::test]
async fn no_words_in_any_slot_get_out_of_it() {
    let usual = outcome(None, &["usual words".to_owned()]).await;
    let rows = SLOTS.map(|(name, slot)| (name.to_owned(), slot));
    fill("Hostile words, all at once: what came of them", &rows, &[("", ())], async |slot, ()| {
        let attacked = outcome(Some(slot), &corpus()).await;
        assert_eq!(attacked.headings, usual.headings, "{slot:?}");
        assert_eq!(attacked.names, usual.names, "{slot:?}");
        "one answer, same headings, no command".to_owned()
    })
    .await;
}

/// What can be compared with a run on usual words.
struct Outcome {
    /// The headings that the model saw outside of fences.
    headings: BTreeSet<String>,
    /// The names of outputs and states that the runner was given.
    names: BTreeSet<String>,
}

async fn outcome(slot: Option<Slot>, words: &[String]) -> Outcome {
    let sim = Sim::new().await;
    let mention = plant(&sim, slot, words).variable("GITHUB_ACTIONS", "true").variable("FRO_LOG", "debug");
    let said = words.join("\n");
    sim.model().calls("bash", json!({ "command": format!("cat <<'END'\n{said}\nEND"), "description": said }));
    // The model repeats everything that it was told.
    sim.model().plays(Reply::answering(|seen| Reply::text(seen.last_user())));
    let run = mention.run().await;
    assert_eq!(run.code, Some(0), "{slot:?}: {run}");
    let posted = posted(&sim);
    let [only] = posted.as_slice() else { panic!("{slot:?}: {posted:#?}") };
    assert!(only.body.starts_with("<!-- fro-bot run=42 event="), "{slot:?}: {}", only.body);
    assert!(only.body.ends_with("\n</details>\n"), "{slot:?}: {}", only.body);
    no_command(&run);
    let told = sim.model().seen()[0].last_user();
    let headings =
        outside(&told).into_iter().filter(|line| line.starts_with('#')).map(str::to_owned).collect();
    let file = |name: &str| fs_err::read_to_string(sim.folder().join(name)).unwrap_or_default();
    let given = file("output") + &file("state");
    let names =
        given.lines().map(|line| line.split(['=', '<']).next().unwrap_or_default().to_owned()).collect();
    sim.finish().await;
    Outcome { headings, names }
}

/// Sees that the runner would take no command from the log but our own warnings.
///
/// It takes `::name::` at the start of a line and `##[name` anywhere in it.
fn no_command(run: &Run) {
    for line in run.log.lines().chain(run.errors.lines()) {
        assert!(!line.contains("##["), "{line}");
        let command = line.trim_start().starts_with("::");
        assert!(!command || line.starts_with("::warning::"), "{line}");
    }
}

/// Returns the lines outside of fences.
fn outside(text: &str) -> Vec<&str> {
    let (mut lines, mut end) = (Vec::new(), None);
    for line in text.lines() {
        match &end {
            Some(close) if line == close => end = None,
            Some(_) => {}
            None => match line.strip_prefix("<words-").and_then(|rest| rest.get(..16)) {
                Some(name) => end = Some(format!("</words-{name}>")),
                None => lines.push(line),
            },
        }
    }
    assert_eq!(end, None, "a fence is open:\n{text}");
    lines
}

/// Puts the words into a slot, and asks about the pull request.
fn plant<'a>(sim: &'a Sim, slot: Option<Slot>, words: &[String]) -> Mention<'a> {
    let all = words.join("\n");
    sim.world().change(|state| {
        // In any case there is a thread, a comment and a label, so that the headings are the same.
        state.begin_thread(REPO, PULL, "octo", "Rubber again?");
        state.write_comment(REPO, PULL, "mallory", "Fine.");
        match slot {
            Some(Slot::Login) => by_strange_people(state, words),
            Some(Slot::Comment) => words.iter().for_each(|word| {
                state.write_comment(REPO, PULL, "mallory", word);
            }),
            Some(slot) => in_pull(slot, state.issue_mut(REPO, PULL).unwrap(), words),
            None => {}
        }
    });
    let files = match slot {
        Some(Slot::AttachmentName) => words.chunks(20).map(|names| attached(sim, &names.join(" "))).collect(),
        _ => vec![attached(sim, "tap.txt")],
    };
    let text = format!("@fro-bot look at this\n\n{}", files.join("\n"));
    let comment = sim.world().change(|state| state.begin_thread(REPO, PULL, "maya", &text).unwrap());
    let mut event = sim.world().review_comment_event(REPO, comment);
    if let Some(Slot::Diff) = slot {
        event["comment"]["diff_hunk"] = json!(all);
    }
    sim.event("pull_request_review_comment", &event, comment)
}

fn attached(sim: &Sim, name: &str) -> String {
    format!("[file]({})", sim.world().attach(REPO, name, "text/plain", "A tap.\n"))
}

fn by_strange_people(state: &mut State, words: &[String]) {
    for word in words {
        let id = state.next_id();
        state.people.push(Person { id, login: word.clone(), name: word.clone(), kind: PersonKind::User });
        state.write_comment(REPO, PULL, word, "Hello.");
    }
}

fn in_pull(slot: Slot, issue: &mut Issue, words: &[String]) {
    let all = words.join("\n");
    match slot {
        Slot::Title => return issue.title = all,
        Slot::Body => return issue.body = all,
        Slot::Label => return issue.labels.extend(words.iter().cloned()),
        _ => {}
    }
    let Pull { head_ref, files, commits, threads, .. } = issue.pull.as_mut().unwrap();
    match slot {
        Slot::Branch => *head_ref = all,
        Slot::Path => {
            let file = files[0].clone();
            files.extend(words.iter().map(|word| ChangedFile { path: word.clone(), ..file.clone() }));
            words[0].clone_into(&mut threads[0].path);
        }
        Slot::CommitMessage => {
            let commit = commits[0].clone();
            commits.extend(words.iter().map(|word| Commit { message: word.clone(), ..commit.clone() }));
        }
        _ => {}
    }
}
