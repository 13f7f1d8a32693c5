//! The demo of the reviewer: three pushes to a pull request and a word in between, and what it makes of them.

use std::path::Path;

use fro_core::{
    Fault, Login, RepoName,
    event::Event,
    gate::{Policy, Role},
};
use fro_run::{Ending, Process};
use fro_sim::{World, model::Model, state::ReviewThread};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    demo::{Stage, garden, play, show::DemoScreen},
    interrupt::Interrupt,
};

/// The pull request.
pub(super) const PULL: u64 = 2;
/// What the reviewer is called.
const NAME: &str = "review-my-code-bot";

const SWELLS: &str = "`open` ignores that silicone swells in hot water.";
const OLD: &str = "`flow` still asks for rubber, which no tap has any more.";

/// Returns what a process of the reviewer goes by.
pub(super) fn policy() -> Policy {
    Policy { role: Role::Reviewer, mention: Login::new(NAME), ..Policy::usual() }
}

/// Plays all of it, until somebody interrupts.
pub(super) async fn review(
    stage: &Stage,
    process: &Process,
    show: &DemoScreen,
    interrupt: &mut Interrupt,
) -> Result<Ending, Fault> {
    let (world, model) = (&stage.world, stage.world.model());
    let acts: [&str; 4] = [
        "maya opens a pull request with a new seal",
        "maya contradicts in one of the threads",
        "maya pushes a seal for hot water",
        "maya pushes a word of documentation",
    ];
    let mut ending = Ending::Interrupted;
    for (at, about) in acts.into_iter().enumerate() {
        show.act(about);
        let event = match at {
            0 => opened(world, &model)?,
            1 => contradicted(world, &model)?,
            2 => fixed(stage, &model).await?,
            _ => documented(stage, &model).await?,
        };
        let occasion = stage.occasion(event, Timestamp::now());
        ending = Box::pin(play(process, &occasion, &|news| show.tell(&news), interrupt)).await?;
        if ending == Ending::Interrupted {
            return Ok(ending);
        }
        show.lines(&threads(world));
    }
    Ok(ending)
}

fn opened(world: &World, model: &Model) -> Result<Event, Fault> {
    model.calls("github_get_run_state", json!({}));
    model.calls("read", json!({ "filePath": "tap.rs" }));
    model.calls("github_post_review_comment", finding(7, SWELLS, 7));
    model.calls("github_post_review_comment", finding(6, "The comment could be shorter.", 2));
    submit(model, 1);
    model.calls("grep", json!({ "pattern": "rubber" }));
    model.calls("github_post_review_comment", finding(8, OLD, 6));
    (2..=4).for_each(|pass| submit(model, pass));
    event("pull_request", &world.pull_event(garden::REPO, PULL, "opened", "maya"))
}

fn contradicted(world: &World, model: &Model) -> Result<Event, Fault> {
    let root = thread(world, OLD)?;
    let words = "The taps in the cellar have rubber seals until autumn.";
    let reply = world.change(|state| state.reply_in_thread(garden::REPO, root, "maya", words));
    let reply = reply.ok_or_else(|| Fault::ours("the thread is not on the little GitHub"))?;
    let answer = json!({ "thread_id": root.to_string(), "body": "Then it has to stay for now.", "is_concession": true });
    model.calls("github_reply_to_thread", answer);
    model.says("Conceded.");
    event("pull_request_review_comment", &world.review_comment_event(garden::REPO, reply))
}

async fn fixed(stage: &Stage, model: &Model) -> Result<Event, Fault> {
    push(stage, "tap.rs", |text| text.replace("\"silicone\"", "\"silicone for hot water\"")).await?;
    model.calls("github_get_run_state", json!({}));
    let root = thread(&stage.world, SWELLS)?;
    let reason = "`tap.rs` takes a seal for hot water now.";
    model.calls("github_resolve_thread", json!({ "thread_id": root.to_string(), "reason": reason }));
    // The same again in other words, which the rules do not let through.
    model.calls(
        "github_post_review_comment",
        finding(8, "`flow` asks for rubber although no tap has it any more.", 6),
    );
    (1..=4).for_each(|pass| submit(model, pass));
    event("pull_request", &stage.world.pull_event(garden::REPO, PULL, "synchronize", "maya"))
}

async fn documented(stage: &Stage, model: &Model) -> Result<Event, Fault> {
    push(stage, "README.md", |text| format!("{text}\nThe taps have seals for hot water.\n")).await?;
    (1..=4).for_each(|pass| submit(model, pass));
    event("pull_request", &stage.world.pull_event(garden::REPO, PULL, "synchronize", "maya"))
}

fn finding(line: usize, finding: &str, score: u64) -> Value {
    let assessment =
        json!({ "finding": finding, "assessment": "Water runs where it should not.", "score": score });
    json!({ "file": "tap.rs", "line": line, "body": finding, "assessment": assessment })
}

fn submit(model: &Model, pass: u64) {
    let results =
        json!({ "pass_number": pass, "summary": "Looked at `tap.rs`.", "has_blocking_issues": false });
    model.calls("submit_pass_results", results);
    model.says(format!("Pass {pass} is done."));
}

fn event(name: &str, payload: &Value) -> Result<Event, Fault> {
    let repo = RepoName::parse(garden::REPO).map_err(|error| Fault::ours(error.to_string()))?;
    let (name, payload) = (name.to_owned(), payload.to_string());
    Ok(Event { name, payload, repo, actor: Login::new("maya"), prompt: None })
}

/// Changes a file on the pull request's branch, as somebody with a clone does.
async fn push(stage: &Stage, file: &str, change: impl Fn(String) -> String) -> Result<(), Fault> {
    let folder = stage.folder.path().join("maya");
    let token = stage.world.token("maya");
    let url = stage.world.clone_url(garden::REPO).replace("://", &format!("://x-access-token:{token}@"));
    if !folder.exists() {
        fs_err::create_dir(&folder).map_err(|error| unpushed(&error))?;
        garden::git(&folder, &["clone", "--quiet", "--branch", "new-seal", &url, "."]).await?;
    }
    edit(&folder.join(file), change).map_err(|error| unpushed(&error))?;
    garden::git(&folder, &["commit", "--quiet", "--all", "--message", file]).await?;
    garden::git(&folder, &["push", "--quiet", "origin", "new-seal"]).await
}

fn edit(file: &Path, change: impl Fn(String) -> String) -> std::io::Result<()> {
    let text = fs_err::read_to_string(file)?;
    fs_err::write(file, change(text))
}

fn unpushed(error: &std::io::Error) -> Fault {
    Fault::ours(format!("cannot change the demo's repository: {error}"))
}

/// Finds the thread that begins with these words.
fn thread(world: &World, words: &str) -> Result<u64, Fault> {
    let found = world.state(|state| {
        let pull = state.issue(garden::REPO, PULL)?.pull.as_ref()?;
        let mut roots = pull.threads.iter().filter_map(|thread| thread.comments.first());
        roots.find(|root| root.author == garden::BOT && root.body.starts_with(words)).map(|root| root.id)
    });
    found.ok_or_else(|| Fault::ours("the finding is not on the little GitHub"))
}

/// Returns the threads as they stand on the pull request.
fn threads(world: &World) -> Vec<String> {
    world.state(|state| {
        let pull = state.issue(garden::REPO, PULL).and_then(|issue| issue.pull.as_ref());
        let threads = pull.map(|pull| pull.threads.as_slice()).unwrap_or_default();
        let ours = threads
            .iter()
            .filter(|thread| thread.comments.first().is_some_and(|root| root.author == garden::BOT));
        let line = |thread: &ReviewThread| {
            let mark = if thread.resolved { "resolved" } else { "open" };
            let said =
                thread.comments.first().map(|root| root.body.lines().next().unwrap_or_default().to_owned());
            format!("{mark:<9} {}: {}", thread.path, said.unwrap_or_default())
        };
        ours.map(line).collect()
    })
}
