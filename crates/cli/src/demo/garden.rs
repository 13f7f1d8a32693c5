//! The small repository of the demo: a garden whose test fails, and what is said about it.

use std::path::{Path, PathBuf};

use fro_core::{Fault, Login, RepoName, event::Event};
use fro_sim::{
    World,
    model::{Model, Reply, Seen},
    state::PersonKind,
};
use serde_json::json;
use tokio::process::Command;

/// The account that answers.
pub(crate) const BOT: &str = "fro-bot";
/// The repository of the demo.
pub(crate) const REPO: &str = "octo/garden";

const TITLE: &str = "Hot beds get too little water";
const DESCRIPTION: &str =
    "At exactly 30 degrees a bed gets the amount for a cool day. `sh test.sh` fails since yesterday.";
const REQUEST: &str = "@fro-bot why does the test fail, and what would fix it?";

const WATER: &str = "\
# Prints how many litres a bed needs: 2 for a square metre, 3 from 30 degrees on.
litres() {
  area=$1
  degrees=$2
  if [ \"$degrees\" -gt 30 ]; then
    echo $((area * 3))
  else
    echo $((area * 2))
  fi
}
";

const TEST: &str = "\
. ./water.sh
failed=0
check() {
  got=$(litres \"$1\" \"$2\")
  if [ \"$got\" = \"$3\" ]; then
    echo \"ok: $1 square metres at $2 degrees get $3 litres\"
  else
    echo \"not ok: $1 square metres at $2 degrees get $got litres, not $3\"
    failed=1
  fi
}
check 4 20 8
check 4 35 12
check 4 30 12
exit $failed
";

/// Makes the repository, with one commit.
pub(crate) async fn plant(folder: &Path) -> Result<PathBuf, Fault> {
    let garden = folder.join("garden");
    let written = fs_err::create_dir(&garden)
        .and_then(|()| fs_err::write(garden.join("water.sh"), WATER))
        .and_then(|()| fs_err::write(garden.join("test.sh"), TEST));
    written.map_err(|error| Fault::in_temporary_folder("cannot make the demo's repository", &error))?;
    git(&garden, &["init", "--quiet", "--initial-branch=main"]).await?;
    git(&garden, &["add", "."]).await?;
    git(&garden, &["commit", "--quiet", "--message=Water the garden"]).await?;
    Ok(garden)
}

/// Makes the account that answers a bot's, which the page then says.
pub(super) fn make_bot(world: &World) {
    world.change(|state| {
        let own = state.people.iter_mut().filter(|person| person.login == BOT);
        own.for_each(|person| person.kind = PersonKind::Bot);
    });
}

/// The request as it stands on the little GitHub.
pub(crate) struct Request {
    /// The issue's number.
    pub(crate) issue: u64,
    /// What a workflow run would be started with.
    pub(crate) event: Event,
}

/// Opens the issue and asks for help on it.
pub(crate) fn ask(world: &World) -> Result<Request, Fault> {
    ask_on_new_issue(world, (TITLE, DESCRIPTION), REQUEST)
}

/// Opens an issue by somebody, and asks something on it as somebody who may push.
pub(super) fn ask_on_new_issue(
    world: &World,
    (title, description): (&str, &str),
    request: &str,
) -> Result<Request, Fault> {
    let opened = world.change(|state| state.open_issue(REPO, "rita", title, description));
    let issue = opened.ok_or_else(|| Fault::ours(format!("the little GitHub has no {REPO}")))?;
    let comment = world.write_comment(REPO, issue, "maya", request);
    let payload = world.comment_event(REPO, comment).to_string();
    let repo = RepoName::parse(REPO).map_err(|error| Fault::ours(error.to_string()))?;
    let name = "issue_comment".to_owned();
    Ok(Request { issue, event: Event { name, payload, repo, actor: Login::new("maya"), prompt: None } })
}

/// Returns the answer as the little GitHub has it.
pub(crate) fn answer(world: &World, issue: u64) -> Result<String, Fault> {
    let answers = world.comments_by(REPO, issue, BOT);
    answers.into_iter().next().ok_or_else(|| Fault::ours("the answer is not on the little GitHub"))
}

/// Runs git as maya, heeding nobody's settings.
pub(crate) async fn git(garden: &Path, arguments: &[&str]) -> Result<(), Fault> {
    let done = Command::new("git")
        .args(["-c", "user.name=Maya", "-c", "user.email=maya@garden.example", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(garden)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .await
        .map_err(|error| Fault::yours(format!("cannot start `git`: {error}"), "install git"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(Fault::ours(format!(
        "`git {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&done.stderr)
    )))
}

/// Teaches the model its part. It says only what it saw: the test's own lines come from the engine's shell.
pub(crate) fn rehearse(model: &Model) {
    // Asked what the words mean, outside of the session: they are a question.
    model.answers_aside("no");
    let water = "water.sh";
    model.calls("bash", json!({"command": "sh test.sh", "description": "Runs the test"}));
    model.calls("read", json!({"filePath": water}));
    model.calls("edit", json!({"filePath": water, "oldString": "-gt 30", "newString": "-ge 30"}));
    model.calls("bash", json!({"command": "sh test.sh && git diff", "description": "Runs the test again"}));
    model.plays(Reply::answering(|seen| Reply::text(conclusion(seen))));
}

fn conclusion(seen: &Seen) -> String {
    let results = seen.tool_results();
    let lines = |n: usize, keep: fn(&str) -> bool| -> Vec<String> {
        results
            .get(n)
            .map(|text| text.lines().filter(|line| keep(line)).map(str::to_owned).collect())
            .unwrap_or_default()
    };
    let failed = lines(0, |line| line.starts_with("not ok"));
    let passed = lines(3, |line| line.starts_with("ok:")).len();
    let change = lines(3, |line| line.starts_with("-  ") || line.starts_with("+  "));
    format!(
        "`water.sh` compares with `-gt 30`, so **exactly 30 degrees** counts as a cool day. The test says so:\n\n\
         ```text\n{}\n```\n\nThe description promises three litres *from* 30 degrees on, so this is the fix:\n\n\
         ```diff\n{}\n```\n\nWith it, all {passed} checks of `test.sh` pass. I tried it in my own clone and \
         pushed nothing.",
        failed.join("\n"),
        change.join("\n"),
    )
}
