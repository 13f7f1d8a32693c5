//! The engine's own shell uses `gh`: it reads without a token, and what it says is the draft of the one answer.

use std::path::{Path, PathBuf};

use fro_stories::{REPO, Run, Sim, forms, gh, old_gh};
use serde_json::json;

/// The pull request of octo/garden.
const PULL: u64 = 2;

const SCRIPT: &str = "
gh api repos/{owner}/{repo}/issues/1 --jq .number
gh api graphql -f query='{viewer{login}}' --jq .data.viewer.login
gh auth token
gh api -X PUT repos/octo/garden/pulls/1/merge --silent 2>&1
gh api user/repos --silent 2>&1
";

/// The versions that the stories are told with.
fn versions() -> impl Iterator<Item = PathBuf> {
    forms([gh(), old_gh()])
}

/// Lets the model run a command.
fn runs(sim: &Sim, command: &str) {
    sim.model().calls("bash", json!({ "command": command, "description": "Speaks" }));
}

/// Returns what the model's first call came to.
fn heard(sim: &Sim) -> String {
    sim.model().seen()[1].tool_results().concat()
}

/// Returns the requests that wrote something on GitHub, but for reactions and labels.
fn writes(sim: &Sim) -> Vec<String> {
    let aside = ["/graphql", "/reactions", "/labels"];
    let traffic = sim.world().traffic().into_iter();
    let writes =
        traffic.filter(|call| call.method != "GET" && !aside.iter().any(|part| call.path.contains(part)));
    writes.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[tokio::test]
async fn the_agent_reads_with_gh_and_writes_nothing() {
    let sim = Sim::new().await;
    fs_err::write(sim.checkout().join("ask.sh"), SCRIPT).unwrap();
    runs(&sim, "sh ask.sh");
    sim.model().says("Asked.");
    let run = sim.mention("@fro-bot ask").finding(&gh()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    insta::assert_snapshot!(heard(&sim), @"
    1
    fro-bot
    placeholder
    gh: fro-bot: `gh` may only read here, and `PUT /repos/octo/garden/pulls/1/merge` writes (HTTP 403)
    gh: fro-bot: `/user/repos` is not for `gh` here: only this repository is (HTTP 403)
    ");
    let comment = run.only_comment();
    assert!(comment.contains("| gh | 2 passed, 2 refused |"), "{comment}");
    assert!(comment.contains("gh was refused 2 times"), "{comment}");
    for line in [
        "gh: GET /repos/octo/garden/issues/1: /repos/octo/garden/issues/1",
        "gh: POST /graphql: query {viewer}",
        "gh: PUT /repos/octo/garden/pulls/1/merge: refused: `gh` may only read here",
        "gh: GET /user/repos: refused: `/user/repos` is not for `gh` here",
    ] {
        assert!(run.log_and_errors().contains(line), "{line}: {run}");
    }
    sim.finish().await;
}

#[tokio::test]
async fn what_the_agent_says_by_gh_is_its_answer() {
    for version in versions() {
        let sim = Sim::new().await;
        runs(&sim, "gh issue comment 1 --body 'The hose leaks.' 2>&1");
        sim.model().says("I have said it.");

        let run = sim.mention("@fro-bot why is the floor wet?").finding(&version).run().await;

        let comment = run.only_comment();
        assert!(comment.contains("The hose leaks.") && !comment.contains("I have said it."), "{comment}");
        assert!(comment.contains("passed, 1 taken over |"), "{comment}");
        let page = format!("{}/octo/garden/issues/1#draft-1", sim.world().api_url());
        assert_eq!(heard(&sim).trim(), page);
        assert_eq!(writes(&sim), ["POST /repos/octo/garden/issues/1/comments"]);
        sim.finish().await;
    }
}

#[tokio::test]
async fn gh_and_the_draft_tool_write_the_same_draft_and_the_last_one_counts() {
    let by_gh = "gh issue comment 1 --body 'By gh.'";
    let sim = Sim::new().await;
    runs(&sim, by_gh);
    sim.model().calls("answer_draft", json!({ "body": "By the tool." }));
    sim.model().says("Done.");
    let run = sim.mention("@fro-bot why?").finding(&gh()).run().await;
    let comment = run.only_comment();
    assert!(comment.contains("By the tool.") && !comment.contains("By gh."), "{comment}");
    sim.finish().await;

    let sim = Sim::new().await;
    sim.model().calls("answer_draft", json!({ "body": "By the tool." }));
    runs(&sim, by_gh);
    sim.model().says("Done.");
    let run = sim.mention("@fro-bot why?").finding(&gh()).run().await;
    let comment = run.only_comment();
    assert!(comment.contains("By gh.") && !comment.contains("By the tool."), "{comment}");
    assert_eq!(writes(&sim), ["POST /repos/octo/garden/issues/1/comments"]);
    sim.finish().await;
}

/// Asks on the pull request, lets the agent speak by a command, and returns the run with its answer there.
async fn on_the_pull_request(version: &Path, command: &str) -> (Sim, Run, Vec<String>) {
    let sim = Sim::new().await;
    runs(&sim, command);
    sim.model().says("I have said it.");
    let comment = sim.world().write_comment(REPO, PULL, "maya", "@fro-bot what do you think?");
    let event = sim.world().comment_event(REPO, comment);
    let run = sim.event("issue_comment", &event, comment).finding(version).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let answers = sim.world().comments_by(REPO, PULL, "fro-bot");
    (sim, run, answers)
}

#[tokio::test]
async fn a_comment_on_a_pull_request_and_a_review_without_a_verdict_are_drafts_too() {
    let commands = [
        "gh pr comment 2 --body 'It is rubber.' 2>&1",
        "gh pr review 2 --comment --body 'It is rubber.' 2>&1",
        "gh api repos/{owner}/{repo}/pulls/2/reviews -f event=COMMENT -f body='It is rubber.' 2>&1",
    ];
    // Both versions usually speak, if not in all ways.
    for versions in forms([[gh(), old_gh(), gh()], [old_gh(), gh(), old_gh()]]) {
        for (version, command) in versions.into_iter().zip(commands) {
            let (sim, run, answers) = on_the_pull_request(&version, command).await;
            let [answer] = &answers[..] else { panic!("{answers:?}\n{run}\n{}", heard(&sim)) };
            assert!(answer.contains("It is rubber.") && !answer.contains("I have said it."), "{answer}");
            sim.finish().await;
        }
    }
}

#[tokio::test]
async fn a_verdict_is_refused_and_said_so() {
    let (sim, _, answers) = on_the_pull_request(&gh(), "gh pr review 2 --approve --body Fine. 2>&1").await;
    let told = heard(&sim);
    assert!(told.contains("the verdict `APPROVE` is for people to give"), "{told}");
    assert!(answers[0].contains("I have said it."), "{answers:?}");
    sim.finish().await;
}

#[tokio::test]
async fn what_is_said_in_a_discussion_by_gh_is_the_answer() {
    for version in versions() {
        let sim = Sim::new().await;
        let number = sim.world().change(|state| {
            state.begin_discussion(REPO, "maya", "Ideas", "@fro-bot, what shall we grow?").unwrap()
        });
        runs(
            &sim,
            &format!(
                "id=$(gh api graphql -f query='{{repository(owner:\"octo\",name:\"garden\"){{discussion(number:{number}){{id}}}}}}' \
                 --jq .data.repository.discussion.id) && gh api graphql -f id=$id -f body='Tomatoes.' -f query='\
                 mutation($id: ID!, $body: String!) {{ addDiscussionComment(input: {{discussionId: $id, body: $body}}) \
                 {{ comment {{ url }} }} }}' --jq .data.addDiscussionComment.comment.url 2>&1"
            ),
        );
        sim.model().says("I have said it.");
        let event = sim.world().discussion_event(REPO, number);

        let run = sim.event("discussion", &event, 0).finding(&version).run().await;

        assert_eq!(run.code, Some(0), "{run}");
        let said: Vec<String> = sim.world().state(|state| {
            let discussion = state.repo(REPO).and_then(|repo| repo.discussion(number)).unwrap();
            discussion.comments.iter().map(|top| top.comment.body.clone()).collect()
        });
        let [answer] = &said[..] else { panic!("{said:?}\n{}", heard(&sim)) };
        assert!(answer.contains("Tomatoes.") && !answer.contains("I have said it."), "{answer}");
        sim.finish().await;
    }
}

#[tokio::test]
async fn gh_opens_the_pull_request_of_delegated_work() {
    for version in versions() {
        let sim = Sim::cloned().await;
        runs(
            &sim,
            "echo '// mended' >> tap.rs && git add -A && git commit -qm 'Mend the tap' && git push -q origin HEAD 2>&1 && \
             gh pr create --title 'A dry floor' --body 'The tap has a seal.' 2>&1",
        );
        sim.model().says("Mended.");

        let run = sim.mention("@fro-bot fix it").on_github_com().finding(&version).run().await;

        assert_eq!(run.code, Some(0), "{run}\n{}", heard(&sim));
        let told = heard(&sim);
        assert!(told.contains("/octo/garden/pull/4"), "{told}\n{run}");
        let (title, body) = sim.world().state(|state| {
            let issue = state.issue(REPO, 4).expect("the pull request is there");
            (issue.title.clone(), issue.body.clone())
        });
        let expected = "The tap has a seal.\n\nCloses #1.\n\nAsked for by @maya.";
        assert_eq!((title.as_str(), body.as_str()), ("A dry floor", expected));
        assert!(run.only_comment().contains("Mended.\n\nI opened #4 from `opencode/issue1-"), "{run}");
        let opened = writes(&sim).into_iter().filter(|call| call == "POST /repos/octo/garden/pulls");
        assert_eq!(opened.count(), 1);
        sim.finish().await;
    }
}

/// Sorts the issue as people do it by hand, and as the agent is told to.
const SORTED: &str = "
issue=$(gh api repos/{owner}/{repo}/issues/1 --jq .node_id)
label=$(gh api repos/{owner}/{repo}/labels/bug --jq .node_id)
ids=\"labelableId: \\\"$issue\\\", labelIds: [\\\"$label\\\"]\"
gh api graphql -f query=\"mutation { addLabelsToLabelable(input: { $ids }) { clientMutationId } }\" --silent 2>&1
gh issue close 1 --reason 'not planned' 2>&1
gh api repos/{owner}/{repo}/issues/1/assignees -f 'assignees[]=maya' --silent 2>&1
gh api repos/{owner}/{repo}/issues/1/labels -f 'labels[]=agent: implement' --silent 2>&1
gh api repos/{owner}/{repo}/issues/1/labels -f 'labels[]=made-up' --silent 2>&1
gh api -X PATCH repos/{owner}/{repo}/issues/2 -f state=closed --silent 2>&1
";

/// Lets the agent sort the issue, and returns the run with what became of the issue.
async fn sorted(setting: &str) -> (Run, String, String) {
    let sim = Sim::new().await;
    sim.world().change(|state| state.issue_mut(REPO, 1).unwrap().labels.clear());
    fs_err::write(sim.checkout().join("sort.sh"), SORTED).unwrap();
    runs(&sim, "sh sort.sh");
    sim.model().says("Sorted.");
    let run = sim.mention("@fro-bot sort this").with("gh-deeds", setting).finding(&gh()).run().await;
    let became = sim.world().state(|state| {
        let issue = state.issue(REPO, 1).unwrap();
        format!("{:?} {:?} {:?}", issue.state, issue.labels, issue.assignees)
    });
    let (run, heard) = (run, heard(&sim));
    sim.finish().await;
    (run, became, heard)
}

#[tokio::test]
async fn who_may_push_may_have_the_issue_sorted_by_gh_where_the_operator_lets_it() {
    let (run, became, heard) = sorted("true").await;
    assert_eq!(became, r#"Closed ["bug"] ["maya"]"#, "{heard}\n{run}");
    for line in [
        "✓ Closed issue octo/garden#1",
        "the label `agent: implement` tells this bot what to do; people set it",
        "there is no label `made-up`",
        "this run is about #1, and its answer goes there",
    ] {
        assert!(heard.contains(line), "{line}: {heard}");
    }
    let comment = run.only_comment();
    assert!(comment.contains("taken over, "), "{comment}");
    assert!(comment.contains(": labelled `bug`, closed it as not planned, assigned `maya` |"), "{comment}");
    assert!(run.log_and_errors().contains("taken over: closed it as not planned"), "{run}");
}

#[tokio::test]
async fn an_issue_is_left_as_it_is_unless_the_operator_lets_gh_sort_it() {
    let (run, became, heard) = sorted("false").await;
    assert_eq!(became, "Open [] []", "{heard}\n{run}");
    assert!(heard.contains("labels, assignees, closing and reopening are for people here"), "{heard}");
}
