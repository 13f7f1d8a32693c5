//! What a review writes into a pull request: each remark once, none lost, and threads closed before a reply says so.

use fro_core::{Anchor, Side};
use fro_github::GitHub;
use fro_review::{
    Diff, FileDiff, Look,
    finding::{Finding, Kind, Pass, Score},
    review::{Deed, Settled, Writes},
    say::Verdict,
    scoring::Gate,
};
use fro_sim::state::{Pull, ReviewThread, Role};

use super::*;

const REVIEWS: &str = "POST /repos/{owner}/{repo}/pulls/{number}/reviews";
const FILE_REMARKS: &str = "POST /repos/{owner}/{repo}/pulls/{number}/comments";
const REPLIES: &str = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";

/// A pull request that the reviewer looks at.
async fn reviewed() -> Called {
    Called::by_push(&Policy { role: gate::Role::Reviewer, ..Policy::usual() }).await
}

/// Returns the bodies of all threads' first comments.
fn remarks(called: &Called) -> Vec<String> {
    let first = |thread: &ReviewThread| thread.comments[0].body.lines().next().unwrap_or_default().to_owned();
    called.pull(|pull| pull.threads.iter().map(first).collect())
}

/// Returns the bodies of all reviews that have one.
fn reviews(called: &Called) -> Vec<String> {
    let bodies = |pull: &Pull| pull.reviews.iter().map(|review| review.body.clone()).collect::<Vec<_>>();
    called.pull(bodies).into_iter().filter(|body| !body.is_empty()).collect()
}

fn at(path: &str, line: usize) -> Anchor {
    Anchor { path: path.to_owned(), side: Side::Right, start_line: None, line }
}

fn beside(remarks: &[(usize, &str)]) -> Writes {
    let beside = remarks.iter().map(|(line, text)| (at("tap.rs", *line), (*text).to_owned())).collect();
    Writes { beside, ..Writes::default() }
}

async fn publish(called: &Called, writes: &Writes) -> Result<Receipt, Fault> {
    let delivery = called.delivery("Two findings.");
    called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            let publisher =
                Publisher { request, pull: &pull, people: pull.people(), look: Look::part(&pull.told.head) };
            publisher.review(&delivery, writes).await
        })
        .await
}

fn finding(words: &str) -> Finding {
    let score = Score::new(7).unwrap();
    Finding {
        anchor: at("tap.rs", 7),
        pass: Pass::Diff,
        kind: Kind::Logic,
        given: score,
        score,
        finding: words.to_owned(),
        assessment: "Water runs out.".to_owned(),
        body: words.to_owned(),
    }
}

fn found(findings: Vec<Finding>) -> Settled {
    Settled { findings, withdrawn: Vec::new(), deeds: Vec::new(), gate: Gate::Passed }
}

/// Writes one finding as a review does, sealed, and returns its thread.
async fn find_a_leak(called: &Called) -> u64 {
    let settled = found(vec![finding("The tap leaks.")]);
    let read = |file: &fro_sim::state::ChangedFile| {
        FileDiff::from_patch(&file.path, None, file.patch.as_deref()).unwrap()
    };
    let diff = Diff::new(called.pull(|pull| pull.files.iter().map(read).collect()));
    let writes = called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            settled.writes(&diff, &pull.seal, &Look::whole(&pull.told.head, &[]), |_| 0)
        })
        .await;
    publish(called, &writes).await.unwrap();
    called.pull(|pull| pull.threads[0].comments[0].id)
}

fn decided(thread: u64, verdict: Verdict, heard: Option<u64>) -> Settled {
    let deeds = vec![Deed { thread, verdict, body: "Thank you.".to_owned(), heard }];
    Settled { findings: Vec::new(), withdrawn: Vec::new(), deeds, gate: Gate::Passed }
}

async fn decide(called: &Called, thread: u64, verdict: Verdict) -> Result<usize, Fault> {
    let settled = decided(thread, verdict, None);
    called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            Publisher { request, pull: &pull, people: Vec::new(), look: Look::part(&pull.told.head) }
                .deeds(&settled)
                .await
        })
        .await
}

fn seen_by(called: &Called, login: &str) -> GitHub {
    let (address, client) = (called.process.agent.settings.github.clone(), called.process.agent.client());
    let token = Secret::new(called.world.token(login));
    GitHub::new(address, token, RepoName::parse(REPO).unwrap(), client.unwrap())
}

#[tokio::test]
async fn a_review_is_one_write_with_its_remarks() {
    let called = reviewed().await;
    let receipt = publish(&called, &beside(&[(5, "It grows."), (7, "It drips.")])).await.unwrap();
    assert!(receipt.url.contains("/pull/2#pullrequestreview-"), "{receipt:?}");
    assert_eq!(remarks(&called), ["It grows.", "It drips."]);
    assert_eq!(reviews(&called), [called.delivery("Two findings.").body.as_str()]);
}

#[tokio::test]
async fn a_remark_without_a_place_stands_with_its_file_and_the_others_beside_the_code() {
    let called = reviewed().await;
    publish(&called, &beside(&[(5, "It grows."), (400, "It is gone."), (7, "It drips.")])).await.unwrap();
    let mut said = remarks(&called);
    said.sort();
    assert_eq!(said, ["It drips.", "It grows.", "It is gone."]);
    let whole_files: Vec<_> = called.pull(|pull| {
        let whole = pull.threads.iter().filter(|thread| thread.original_line.is_none());
        whole.map(|thread| thread.comments[0].body.clone()).collect()
    });
    assert_eq!(whole_files, ["It is gone."]);
    assert!(reviews(&called).contains(&called.delivery("Two findings.").body.as_str().to_owned()));
}

#[tokio::test]
async fn a_remark_that_not_even_its_file_takes_is_said_in_the_conversation() {
    let called = reviewed().await;
    publish(
        &called,
        &Writes {
            on_files: vec![("no-such-file.rs".to_owned(), "Nowhere to stand.".to_owned())],
            ..beside(&[(7, "It drips.")])
        },
    )
    .await
    .unwrap();
    assert_eq!(
        (remarks(&called), called.said(2)),
        (vec!["It drips.".to_owned()], vec!["Nowhere to stand.".to_owned()])
    );
}

#[tokio::test]
async fn a_review_whose_answer_was_lost_is_found_and_not_posted_again() {
    let called = reviewed().await;
    drop(called.world.faults().on(REVIEWS, FaultKind::AnswerWithheld));
    let receipt = publish(&called, &beside(&[(7, "It drips.")])).await.unwrap();
    assert!(receipt.url.contains("#pullrequestreview-"), "{receipt:?}");
    assert_eq!((remarks(&called).len(), reviews(&called).len()), (1, 1));
}

#[tokio::test]
async fn a_part_whose_answer_was_lost_is_found_too() {
    let called = reviewed().await;
    // The whole review is refused for its second remark; then the answer to the first half is lost.
    let one_by_one = beside(&[(5, "It grows."), (400, "It is gone.")]);
    called.world.faults().on(REVIEWS, FaultKind::Status(422)).times(1);
    called.world.faults().on(REVIEWS, FaultKind::AnswerWithheld).times(1);
    publish(&called, &one_by_one).await.unwrap();
    let mut said = remarks(&called);
    said.sort();
    assert_eq!(said, ["It grows.", "It is gone."], "{:?}", called.world.calls());
}

#[tokio::test]
async fn a_review_that_is_refused_fails_and_says_why() {
    let called = reviewed().await;
    called.world.faults().on(REVIEWS, FaultKind::Status(403)).always();
    let fault = publish(&called, &beside(&[(7, "It drips.")])).await.unwrap_err();
    assert!(fault.what().contains("octo/garden"), "{fault}");
    assert_eq!(remarks(&called).len(), 0);
}

#[tokio::test]
async fn a_remark_on_a_file_whose_answer_was_lost_is_not_repeated() {
    let called = reviewed().await;
    drop(called.world.faults().on(FILE_REMARKS, FaultKind::AnswerWithheld));
    let on_files = vec![("tap.rs".to_owned(), "The whole file drips.".to_owned())];
    publish(&called, &Writes { on_files, ..Writes::default() }).await.unwrap();
    assert_eq!(remarks(&called), ["The whole file drips."]);
}

#[tokio::test]
async fn what_was_mended_is_resolved_before_the_reply_says_so() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    assert_eq!(decide(&called, thread, Verdict::Fixed { path: None }).await, Ok(1));
    let (resolved, said) =
        called.pull(|pull| (pull.threads[0].resolved, pull.threads[0].comments[1].body.clone()));
    assert!(resolved && said.contains("Thank you."), "{said}");
    let traffic = called.world.traffic();
    let closing = traffic.iter().rposition(|call| call.request.contains("resolveReviewThread")).unwrap();
    let answer = traffic.iter().rposition(|call| call.path.ends_with("/replies")).unwrap();
    assert!(closing < answer, "{traffic:?}");
    assert_eq!(called.warnings(), [""; 0]);
}

#[tokio::test]
async fn what_stands_is_answered_and_left_open() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    assert_eq!(decide(&called, thread, Verdict::Upheld).await, Ok(0));
    let (resolved, n_comments) =
        called.pull(|pull| (pull.threads[0].resolved, pull.threads[0].comments.len()));
    assert_eq!((resolved, n_comments), (false, 2));
}

/// A run for a reply and one for a push have read the same.
#[tokio::test]
async fn of_two_runs_that_judge_the_same_reply_one_answers() {
    for verdict in [Verdict::Upheld, Verdict::Conceded] {
        let called = reviewed().await;
        let thread = find_a_leak(&called).await;
        let first = clean("It is meant to.");
        seen_by(&called, "maya").reply_in_thread(&called.permit, thread, &first).await.unwrap();
        let settled = decided(thread, verdict, None);
        called
            .asking(async |request| {
                let pull = PullSoFar::fetch(request).await.unwrap();
                for _ in 0..2 {
                    let look = Look::part(&pull.told.head);
                    Publisher { request, pull: &pull, people: Vec::new(), look }
                        .deeds(&settled)
                        .await
                        .unwrap();
                }
            })
            .await;
        assert_eq!(called.pull(|pull| pull.threads[0].comments.len()), 3, "finding, reply and one answer");
        let [warning] = called.warnings().try_into().unwrap();
        assert!(warning.ends_with("another run has answered it meanwhile"), "{warning}");
    }
}

/// A push and somebody's mention have had the same commit looked at.
#[tokio::test]
async fn of_two_reviews_at_the_same_time_one_says_what_both_have_found() {
    let called = reviewed().await;
    let settled = found(vec![finding("The tap is leaking."), finding("Nobody orders a new seal.")]);
    let (unsaid, said) = called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            let look = Look::part(&pull.told.head);
            let publisher = Publisher { request, pull: &pull, people: Vec::new(), look };
            assert_eq!(publisher.unsaid(&settled).await.unwrap(), (settled.clone(), 0));
            find_a_leak(&called).await;
            publisher.unsaid(&settled).await.unwrap()
        })
        .await;
    assert_eq!((unsaid.findings.as_slice(), said), (&settled.findings[1..], 1));
    assert_eq!(called.warnings(), ["another run has said meanwhile: 7/10 The tap is leaking."]);
}

#[tokio::test]
async fn what_somebody_resolves_while_it_is_judged_hears_nothing_more() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            called.world.change(|state| {
                let thread = &mut state.issue_mut(REPO, 2).unwrap().pull.as_mut().unwrap().threads[0];
                (thread.resolved, thread.resolved_by) = (true, Some("maya".to_owned()));
            });
            let look = Look::part(&pull.told.head);
            let publisher = Publisher { request, pull: &pull, people: Vec::new(), look };
            publisher.deeds(&decided(thread, Verdict::Upheld, None)).await.unwrap();
        })
        .await;
    assert_eq!(called.pull(|pull| pull.threads[0].comments.len()), 1);
    let [warning] = called.warnings().try_into().unwrap();
    assert!(warning.ends_with("it was resolved meanwhile"), "{warning}");
}

#[tokio::test]
async fn what_is_replied_while_an_earlier_reply_is_judged_still_waits() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    let says = async |words: &str| {
        seen_by(&called, "maya").reply_in_thread(&called.permit, thread, &clean(words)).await.unwrap();
    };
    says("It is meant to.").await;
    called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            let heard = pull.state.threads[0].replies.last().map(|reply| reply.id);
            says("See the manual.").await;
            let look = Look::part(&pull.told.head);
            let publisher = Publisher { request, pull: &pull, people: Vec::new(), look };
            publisher.deeds(&decided(thread, Verdict::Upheld, heard)).await.unwrap();
            let now = pull.state_now(request.venue.github).await.unwrap();
            let waiting: Vec<_> = now.threads[0].unanswered().map(|reply| reply.body.as_str()).collect();
            assert_eq!(waiting, ["See the manual."]);
        })
        .await;
}

#[tokio::test]
async fn a_thread_that_nobody_knows_is_left_alone() {
    let called = reviewed().await;
    assert_eq!(decide(&called, 12, Verdict::Fixed { path: None }).await, Ok(0));
    assert!(!called.world.calls().iter().any(|call| call.contains("/replies")));
}

#[tokio::test]
async fn a_token_that_cannot_resolve_is_told_of_once_and_the_reply_goes_out_all_the_same() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    called.world.change(|state| {
        state.repo_mut(REPO).unwrap().roles.insert("fro-bot".to_owned(), Role::Read);
    });
    assert_eq!(decide(&called, thread, Verdict::Fixed { path: None }).await, Ok(1));
    let [warning] = called.warnings().try_into().unwrap();
    assert!(warning.contains("contents: write"), "{warning}");
    assert_eq!(called.pull(|pull| pull.threads[0].comments.len()), 2);
}

#[tokio::test]
async fn a_reply_whose_answer_was_lost_is_not_repeated() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    drop(called.world.faults().on(REPLIES, FaultKind::AnswerWithheld));
    decide(&called, thread, Verdict::Upheld).await.unwrap();
    assert_eq!(called.pull(|pull| pull.threads[0].comments.len()), 2);
}

#[tokio::test]
async fn the_state_is_rebuilt_from_what_was_said() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    for login in ["maya", "mallory"] {
        let said = clean(&format!("{login} disagrees."));
        seen_by(&called, login).reply_in_thread(&called.permit, thread, &said).await.unwrap();
    }
    called
        .asking(async |request| {
            let pull = PullSoFar::fetch(request).await.unwrap();
            let [known] = pull.state.threads.as_slice() else { panic!("{:?}", pull.state) };
            assert_eq!((known.root.id, known.unanswered().count()), (thread, 2));
            let may: Vec<_> = pull.unanswered(known).iter().map(|speaker| speaker.permission).collect();
            assert_eq!(may[0], Permission::Write);
            assert!(may[1] < Permission::Write, "mallory may not push: {may:?}");
            let wrote: Vec<_> = pull.unanswered(known).iter().map(|speaker| speaker.wrote_the_pull).collect();
            assert_eq!(wrote, [true, false], "maya wrote the pull request");
            assert_eq!(pull.reviewers(), [""; 0], "nobody is above the author who may push");
            let people: Vec<_> = pull.people().iter().map(|login| login.as_str().to_owned()).collect();
            assert_eq!(people, ["maya", "mallory", "maya"]);
            assert_eq!(pull.seen_before(), None, "the newest commit is the one that was looked at");
        })
        .await;
}

#[tokio::test]
async fn who_was_asked_and_may_push_decides_where_nobody_agrees() {
    let called = reviewed().await;
    called.world.change(|state| {
        let repo = state.repos.iter_mut().find(|repo| repo.full_name() == REPO).unwrap();
        let pull = repo.issue_mut(2).unwrap().pull.as_mut().unwrap();
        pull.requested_reviewers =
            vec!["octo".to_owned(), "garden-helper[bot]".to_owned(), "maya".to_owned()];
    });
    let reviewers = called.asking(async |request| PullSoFar::fetch(request).await.unwrap().reviewers()).await;
    assert_eq!(reviewers, ["octo"], "neither a bot nor the author stands above the author");
}

/// Moves the branch to a commit of this name.
fn push(called: &Called, digit: &str) {
    called.world.change(|state| {
        let repo = state.repos.iter_mut().find(|repo| repo.full_name() == REPO).unwrap();
        repo.issue_mut(2).unwrap().pull.as_mut().unwrap().head_oid = digit.repeat(40);
    });
}

#[tokio::test]
async fn neither_a_reply_nor_a_review_that_broke_off_has_seen_a_commit() {
    let called = reviewed().await;
    let thread = find_a_leak(&called).await;
    let whole = called.pull(|pull| pull.head_oid.clone());
    // The next commit is looked at in part only, and somebody is answered meanwhile.
    push(&called, "1");
    decide(&called, thread, Verdict::Upheld).await.unwrap();
    let look =
        called.asking(async |request| PullSoFar::fetch(request).await.unwrap().seen_before().cloned()).await;
    assert_eq!(look, Some(Look::whole(&whole, &[])));
    push(&called, "2");
    let look =
        called.asking(async |request| PullSoFar::fetch(request).await.unwrap().seen_before().cloned()).await;
    assert_eq!(look, Some(Look::whole(&whole, &[])), "the reply has not seen the second commit");
}

#[tokio::test]
async fn a_new_commit_is_compared_with_the_one_that_was_looked_at() {
    let called = reviewed().await;
    find_a_leak(&called).await;
    let before = called.pull(|pull| pull.head_oid.clone());
    called.world.change(|state| {
        let repo = state.repos.iter_mut().find(|repo| repo.full_name() == REPO).unwrap();
        repo.issue_mut(2).unwrap().pull.as_mut().unwrap().head_oid = "1".repeat(40);
    });
    let seen =
        called.asking(async |request| PullSoFar::fetch(request).await.unwrap().seen_before().cloned()).await;
    assert_eq!(seen, Some(Look::whole(&before, &[])));
}
