//! The reviewer on ordinary and on bad days: rewritten history, other identities, tokens that may too little, and what
//! was broken off.

use std::{collections::BTreeMap, time::Duration};

use fro_sim::{
    FaultKind,
    model::Reply,
    state::{Grant, Level, Review, ReviewState, TokenAccess},
};
use fro_stories::{Mention, REPO, Run, Sim, forms};
use insta::assert_snapshot;
use serde_json::json;

use crate::reviewer::{
    MANUAL, PULL, REVIEWS, SWELLS, UNKNOWN, all_three_once, finding, finish_without_refusal, posts,
    posts_three, pushed, replied, reviewer, shown, shown_by, submits_all, tap, thread, writes,
};

/// Lets the reviewer look at the pull request as it is now.
pub(crate) fn looking<'a>(sim: &'a Sim, action: &str) -> Mention<'a> {
    let event = sim.world().pull_event(REPO, PULL, action, "maya");
    reviewer(sim, "pull_request", &event)
}

/// Gives a bot a token as an installation has it.
pub(crate) fn granted(sim: &Sim, bot: &str, contents: Level) -> String {
    let permissions = [("contents", contents), ("pull_requests", Level::Write), ("metadata", Level::Read)];
    let permissions: BTreeMap<_, _> =
        permissions.into_iter().map(|(name, level)| (name.to_owned(), level)).collect();
    sim.world().change(|state| {
        let expires_at = state.clock.now() + jiff::SignedDuration::from_hours(24);
        state.grant_token(bot, Grant { repos: vec![REPO.to_owned()], permissions, expires_at })
    })
}

/// Returns what the model's tools said last.
pub(crate) fn heard(sim: &Sim) -> String {
    sim.model().seen().last().expect("it was asked").tool_results().join("\n")
}

/// Lets the model say that a thread is done with.
pub(crate) fn resolves(sim: &Sim, thread: u64) {
    let resolved = json!({ "thread_id": thread.to_string(), "reason": "Another seal, in tap.rs." });
    sim.model().calls("github_resolve_thread", resolved);
}

#[tokio::test]
async fn a_rewritten_history_repeats_nothing_and_proves_what_was_fixed() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    posts(&sim, finding("tap.rs", 5, MANUAL, 6));
    submits_all(&sim, 1..=4);
    pushed(&sim, "opened").await;
    let swells = thread(&sim, SWELLS);

    // The base has moved on, and nothing of the branch is as it was.
    sim.publish("main", "bed.rs", "fn dig() {}\n").await;
    sim.rebase("new-seal", "tap.rs", &tap("// Moved.\n\n", "let seal = hot_water_seal();")).await;
    resolves(&sim, swells);
    posts(&sim, finding("tap.rs", 7, "The rubber comment contradicts the tap's manual.", 9));
    submits_all(&sim, 1..=4);
    let again = pushed(&sim, "synchronize").await;
    assert_eq!(again.code, Some(0), "{again}");
    assert!(heard(&sim).contains("says the same and is open"), "{}", heard(&sim));
    assert_snapshot!(shown(&sim));
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn findings_that_a_token_may_not_post_are_in_the_log_and_on_the_page() {
    let sim = Sim::new().await;
    let token = sim.world().change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly));
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    let run = looking(&sim, "opened").with("github-token", &token).run().await;
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.log.contains("not posted: 7/10 `open` ignores"), "{run}");
    assert!(run.errors.contains("pull-requests: write"), "{run}");
    let page = sim.run_page();
    assert!(page.contains("### Findings that could not be posted") && page.contains(SWELLS), "{page}");
    assert_eq!(shown(&sim), "");
    sim.finish().await;
}

#[tokio::test]
async fn an_app_and_the_job_s_own_bot_know_their_threads_again() {
    for bot in forms(["garden-helper[bot]", "github-actions[bot]"]) {
        let sim = Sim::new().await;
        let token = granted(&sim, bot, Level::Write);
        posts(&sim, finding("tap.rs", 7, SWELLS, 7));
        submits_all(&sim, 1..=4);
        let first = looking(&sim, "opened").with("github-token", &token).run().await;
        assert_eq!(first.code, Some(0), "{bot}: {first}");
        sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
        posts(&sim, finding("tap.rs", 7, "Silicone swells in hot water, which `open` ignores.", 7));
        submits_all(&sim, 1..=4);
        let second = looking(&sim, "synchronize").with("github-token", &token).run().await;
        assert_eq!(second.code, Some(0), "{bot}: {second}");
        assert!(heard(&sim).contains("says the same and is open"), "{bot}: {}", heard(&sim));
        assert_eq!(shown_by(&sim, bot).matches("```rmcoc").count(), 1, "{bot}");
        finish_without_refusal(sim).await;
    }
}

#[tokio::test]
async fn without_the_right_to_resolve_a_fix_is_marked_once() {
    let sim = Sim::new().await;
    let (bot, token) = ("github-actions[bot]", granted(&sim, "github-actions[bot]", Level::Read));
    let push = async |action: &str| -> Run {
        submits_all(&sim, 1..=4);
        looking(&sim, action).with("github-token", &token).run().await
    };
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    posts(&sim, finding("tap.rs", 8, UNKNOWN, 6));
    push("opened").await;
    let (swells, unknown) = (thread(&sim, SWELLS), thread(&sim, UNKNOWN));
    sim.publish("new-seal", "tap.rs", &tap("", "let seal = hot_water_seal();")).await;
    resolves(&sim, swells);
    resolves(&sim, unknown);
    let fixed = push("synchronize").await;
    assert_eq!(fixed.code, Some(0), "{fixed}");
    assert_eq!(fixed.log.matches("threads are answered but not resolved").count(), 1, "{fixed}");
    let marked = shown_by(&sim, bot);
    sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
    resolves(&sim, swells);
    let again = push("synchronize").await;
    assert_eq!(again.code, Some(0), "{again}");
    assert!(heard(&sim).contains("is resolved already"), "{}", heard(&sim));
    assert_eq!(shown_by(&sim, bot), marked);
    assert_snapshot!(marked);
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn a_review_that_was_killed_before_it_was_posted_is_posted_once() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=3);
    sim.model().plays(Reply::stall());
    let running = looking(&sim, "opened").start();
    let in_last_pass = || sim.model().seen().iter().any(|call| call.last_user().starts_with("# Pass 4"));
    while !in_last_pass() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fro_stories::signal(running.pid(), fro_stories::Signal::KILL);
    running.end().await;
    looking(&sim, "opened").post().run().await;
    assert_eq!(shown(&sim), "");
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    let again = pushed(&sim, "opened").await;
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(shown(&sim).matches("```rmcoc").count(), 1, "{}", shown(&sim));
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn a_part_whose_answer_was_lost_is_looked_up_and_not_posted_again() {
    let sim = Sim::new().await;
    posts_three(&sim);
    // All three at once are refused, and nobody hears of the two halves.
    sim.world().faults().on(REVIEWS, FaultKind::Status(422));
    sim.world().faults().on(REVIEWS, FaultKind::AnswerWithheld).times(2);
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(0), "{run}");
    all_three_once(&sim);
    let posted = sim.world().calls().into_iter().filter(|call| call == REVIEWS).count();
    assert_eq!(posted, 3, "refused, and two halves");
    sim.finish().await;
}

#[tokio::test]
async fn a_question_in_a_thread_is_answered_there() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    pushed(&sim, "opened").await;
    let (swells, before) = (thread(&sim, SWELLS), writes(&sim).len());
    sim.model().says("At forty degrees it grows by a tenth.");
    let asked = replied(&sim, swells, "maya", "@review-my-code-bot how much does it swell?").await;
    assert_eq!(asked.code, Some(0), "{asked}");
    let shown = shown(&sim);
    assert!(
        shown.contains("@fro-bot: ") && shown.contains("At forty degrees it grows by a tenth."),
        "{shown}"
    );
    assert!(shown.contains("tap.rs:Some(7) resolved=false"), "{shown}");
    let replies = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";
    let wrote = writes(&sim).split_off(before);
    assert_eq!(wrote.iter().filter(|call| *call == replies).count(), 1, "{wrote:?}");
    assert!(!wrote.iter().any(|call| call.ends_with("/reviews")), "{wrote:?}");
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn a_thread_that_is_deleted_meanwhile_costs_nothing_else() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    pushed(&sim, "opened").await;
    let swells = thread(&sim, SWELLS);
    sim.publish("new-seal", "tap.rs", &tap("", "let seal = hot_water_seal();")).await;
    resolves(&sim, swells);
    posts(&sim, finding("tap.rs", 5, MANUAL, 6));
    submits_all(&sim, 1..=4);
    let replies = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";
    sim.world().faults().on(replies, FaultKind::Status(404));
    let again = pushed(&sim, "synchronize").await;
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.log.contains(": it was deleted meanwhile"), "{again}");
    assert!(shown(&sim).contains(MANUAL), "{}", shown(&sim));
    sim.finish().await;
}

#[tokio::test]
async fn a_branch_that_is_rewritten_under_a_review_gets_one_comment() {
    let sim = Sim::new().await;
    posts_three(&sim);
    sim.world().faults().on(REVIEWS, FaultKind::Delay(Duration::from_secs(2)));
    let running = looking(&sim, "opened").start();
    while !sim.world().calls().iter().any(|call| call == REVIEWS) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    sim.world().change(|state| {
        let issue = state.issue_mut(REPO, PULL).expect("it is there");
        let pull = issue.pull.as_mut().expect("it is one");
        pull.commits.clear();
        pull.head_oid = "1".repeat(40);
    });
    let run = running.end().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.log.contains("the branch was rewritten while it was looked at"), "{run}");
    let comments = sim.world().comments_by(REPO, PULL, "fro-bot");
    let [only] = comments.as_slice() else { panic!("{comments:?}") };
    for words in [SWELLS, UNKNOWN, MANUAL] {
        assert_eq!(only.matches(words).count(), 1, "{only}");
    }
    assert!(!only.contains("rmcoc"), "{only}");
    assert_eq!(shown(&sim), "");
    sim.finish().await;
}

#[tokio::test]
async fn a_review_that_its_owner_has_begun_by_hand_is_left_alone() {
    let sim = Sim::new().await;
    posts_three(&sim);
    sim.world().change(|state| {
        let (id, submitted_at) = (state.next_id(), state.clock.now());
        let (author, body) = ("fro-bot".to_owned(), "Mine.".to_owned());
        let pull = state.issue_mut(REPO, PULL).and_then(|issue| issue.pull.as_mut()).expect("it is there");
        let (commit_oid, state) = (pull.head_oid.clone(), ReviewState::Pending);
        let (edited_at, minimized) = (None, None);
        pull.reviews.push(Review { id, author, state, body, commit_oid, submitted_at, edited_at, minimized });
    });
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.log.contains("has begun a review of this pull request by hand"), "{run}");
    let comments = sim.world().comments_by(REPO, PULL, "fro-bot");
    let [only] = comments.as_slice() else { panic!("{comments:?}") };
    assert!([SWELLS, UNKNOWN, MANUAL].iter().all(|words| only.contains(words)), "{only}");
    assert_eq!(shown(&sim), "review: Mine.");
    sim.finish().await;
}

#[tokio::test]
async fn limits_are_waited_for_and_nothing_is_posted_twice() {
    let sim = Sim::new().await;
    posts_three(&sim);
    let soon = Some(Duration::from_secs(1));
    sim.world().faults().on(REVIEWS, FaultKind::SecondaryRateLimit { retry_after: soon }).times(2);
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(0), "{run}");
    all_three_once(&sim);
    sim.finish().await;
}

#[tokio::test]
async fn a_grave_finding_without_reviewers_goes_to_the_owners_of_the_file() {
    let sim = Sim::new().await;
    // The change would like to name its own judge.
    sim.publish("main", ".github/CODEOWNERS", "* @rita\n*.rs @octo/plumbers @octo @rita\n").await;
    sim.publish("new-seal", ".github/CODEOWNERS", "* @mallory\n").await;
    sim.world().change(|state| {
        state.issue_mut(REPO, PULL).expect("it is there").author = "rita".to_owned();
    });
    posts(&sim, finding("tap.rs", 7, SWELLS, 9));
    submits_all(&sim, 1..=4);
    pushed(&sim, "opened").await;
    let swells = thread(&sim, SWELLS);
    for words in ["It does not swell.", "It never does."] {
        crate::reviewer::answers(&sim, swells, "It does, see the data sheet.", false);
        let judged = replied(&sim, swells, "rita", words).await;
        assert_eq!(judged.code, Some(5), "{judged}");
    }
    let shown = shown(&sim);
    assert!(shown.contains("🔺 **Escalated to Human Review**"), "{shown}");
    assert!(shown.contains("@octo/plumbers, @octo: we do not agree here, please decide."), "{shown}");
    assert!(!shown.contains("mallory"), "{shown}");
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn what_was_conceded_in_an_earlier_review_of_the_same_file_is_recalled_as_data() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    pushed(&sim, "opened").await;
    let swells = thread(&sim, SWELLS);
    crate::reviewer::answers(&sim, swells, "Right: the greenhouse tap has no hot water at all.", true);
    replied(&sim, swells, "maya", "There is no hot water in the greenhouse.").await;

    // Another pull request changes the same file.
    sim.world().change(|state| {
        let repo = state.repo_mut(REPO).expect("the garden is there");
        let mut other = repo.issue(PULL).expect("it is there").clone();
        let pull = other.pull.as_mut().expect("it is one");
        (pull.reviews, pull.threads) = (Vec::new(), Vec::new());
        (other.id, other.number, other.comments) = (9_001, 4, Vec::new());
        repo.issues.push(other);
    });
    submits_all(&sim, 1..=4);
    let event = sim.world().pull_event(REPO, 4, "opened", "maya");
    let run = reviewer(&sim, "pull_request", &event).variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let seen = sim.model().seen();
    let told = |pass: &str| {
        let asked = seen.iter().rev().find(|call| call.last_user().starts_with(pass));
        asked.expect("the pass was asked for").last_user()
    };
    assert!(told("# Pass 4").contains("the greenhouse tap has no hot water"), "{}", told("# Pass 4"));
    assert!(!told("# Pass 3").contains("no hot water"), "the security pass has not heard it");
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn findings_outside_the_change_are_a_check_run_if_that_is_wanted() {
    let sim = Sim::new().await;
    let far: Vec<_> =
        (1..=60).map(|at| format!("Bed {at} of the plan has no path number {}.", at * 7)).collect();
    for (at, words) in far.iter().enumerate() {
        posts(&sim, finding(&format!("bed-{at}.rs"), at + 1, words, 6));
    }
    submits_all(&sim, 1..=4);
    let token = sim.world().change(|state| {
        let permissions = ["checks", "contents", "pull_requests"].map(|name| (name.to_owned(), Level::Write));
        let expires_at = state.clock.now() + jiff::SignedDuration::from_hours(24);
        let grant = Grant { repos: vec![REPO.to_owned()], permissions: permissions.into(), expires_at };
        state.grant_token("github-actions[bot]", grant)
    });
    let run = looking(&sim, "opened").with("github-token", &token).with("check_run", "true").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    sim.world().state(|state| {
        let checks = &state.repo(REPO).expect("the garden is there").check_runs;
        let [check] = checks.as_slice() else { panic!("{checks:?}") };
        assert_eq!((check.name.as_str(), check.annotations.len()), ("fro-bot review", 60));
        assert_eq!(check.title.as_deref(), Some("60 findings outside the change"));
    });
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn the_agent_leaves_pull_requests_to_the_reviewer_of_the_repository() {
    let sim = Sim::new().await;
    let workflow = "on:\n  pull_request:\njobs:\n  a:\n    steps:\n      - uses: fro-bot/agent/review@v0\n";
    // What the change says of itself does not count.
    sim.publish("new-seal", ".github/workflows/review.yaml", workflow).await;
    sim.model().says("It reads well.");
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let alone = sim.event("pull_request", &event, 0).run().await;
    assert_eq!(sim.world().comments_by(REPO, PULL, "fro-bot").len(), 1, "{alone}");
    sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
    let event = sim.world().pull_event(REPO, PULL, "synchronize", "maya");
    // By the project's own release, and by one that somebody made for themselves.
    for action in ["fro-bot/agent", "ada/our-bot"] {
        let reviewer = workflow.replace("fro-bot/agent", action);
        sim.publish("main", ".github/workflows/review.yaml", &reviewer).await;
        let agent = sim.event("pull_request", &event, 0).variable("GITHUB_ACTION_REPOSITORY", action);
        let both = agent.run().await;
        assert_eq!(both.code, Some(0), "{both}");
        assert!(
            both.log.contains("nothing to do: the reviewer of this repository looks at pull request #2"),
            "{both}"
        );
    }
    assert_eq!(sim.world().comments_by(REPO, PULL, "fro-bot").len(), 1);
    finish_without_refusal(sim).await;
}

#[tokio::test]
async fn the_web_is_opened_for_who_may_push_and_never_into_a_private_network() {
    let sim = Sim::new().await;
    let page = format!("{}/repos/octo/cellar", sim.world().api_url());
    sim.model().calls("web_fetch", json!({ "url": page }));
    sim.model().calls("web_fetch", json!({ "url": "http://169.254.169.254/latest/meta-data/" }));
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    let before = sim.world().traffic().len();
    let run = looking(&sim, "opened").with("enable_web", "true").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let seen = sim.model().seen();
    let offered = seen.first().expect("it was asked").offered_tools();
    assert!(offered.iter().any(|tool| tool == "web_fetch"), "{offered:?}");
    assert!(
        !offered.iter().any(|tool| ["web_search", "webfetch", "bash"].contains(&tool.as_str())),
        "{offered:?}"
    );
    let heard = heard(&sim);
    assert_eq!(heard.matches("does not lead to the public web, so it is not read").count(), 2, "{heard}");
    assert!(sim.run_page().contains("0 pages of the web read, 2 refused"), "{}", sim.run_page());
    let asked = sim.world().traffic().split_off(before);
    assert!(!asked.iter().any(|call| call.path.contains("cellar")), "nothing was fetched");

    // A stranger's change does not open it.
    sim.world()
        .change(|state| state.issue_mut(REPO, PULL).expect("it is there").author = "mallory".to_owned());
    sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
    submits_all(&sim, 1..=4);
    looking(&sim, "synchronize").with("enable_web", "true").run().await;
    let offered = sim.model().seen().last().expect("it was asked").offered_tools();
    assert!(!offered.iter().any(|tool| tool == "web_fetch"), "{offered:?}");
    finish_without_refusal(sim).await;
}
