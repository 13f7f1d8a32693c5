//! The engine's own shell uses `gh`, which reads without a token and writes nothing.

use fro_stories::{Sim, gh};
use serde_json::json;

const SCRIPT: &str = "
gh api repos/{owner}/{repo}/issues/1 --jq .number
gh api graphql -f query='{viewer{login}}' --jq .data.viewer.login
gh auth token
gh api -X PUT repos/octo/garden/pulls/1/merge --silent 2>&1
gh api user/repos --silent 2>&1
";

#[tokio::test]
async fn the_agent_reads_with_gh_and_writes_nothing() {
    let sim = Sim::new().await;
    fs_err::write(sim.checkout().join("ask.sh"), SCRIPT).unwrap();
    sim.model().calls("bash", json!({ "command": "sh ask.sh", "description": "Asks GitHub" }));
    sim.model().says("Asked.");
    let path = format!("{}:{}", gh().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = sim.mention("@fro-bot ask").variable("PATH", path).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    insta::assert_snapshot!(sim.model().seen()[1].tool_results().concat(), @"
    1
    fro-bot
    placeholder
    gh: fro-bot: `gh` may only read here, and `PUT /repos/octo/garden/pulls/1/merge` writes (HTTP 403)
    gh: fro-bot: `/user/repos` is not for `gh` here: only this repository is (HTTP 403)
    ");
    assert!(run.only_comment().contains("gh was refused 2 times"), "{run}");
    sim.finish().await;
}
