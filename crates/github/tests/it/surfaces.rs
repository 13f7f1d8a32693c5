//! Review threads and discussions: reactions, answers and what is read back, seen in the state of the world.

use fro_core::{Permit, Reaction, Target};
use fro_github::{GitHub, Label, Since};
use fro_sim::{FaultKind, state::TokenAccess};

use crate::garden::{Garden, REPO, clean};

/// Returns a garden in which maya called us in the thread that octo began.
async fn with_thread() -> (Garden, Permit, u64) {
    let garden = Garden::new().await;
    let comment = garden.world.change(|state| {
        let root = state.begin_thread(REPO, 2, "octo", "Rubber again?").unwrap();
        state.reply_in_thread(REPO, root, "maya", "@fro-bot is it?").unwrap()
    });
    let event = garden.world.review_comment_event(REPO, comment);
    let permit = garden.permit_by("pull_request_review_comment", &event);
    (garden, permit, comment)
}

/// Returns a garden in which maya called us in a reply below rita's comment.
async fn with_discussion() -> (Garden, Permit) {
    let garden = Garden::new().await;
    let reply = garden.world.change(|state| {
        let number = state.begin_discussion(REPO, "octo", "Ideas", "What shall we grow?").unwrap();
        let top = state.discuss(REPO, number, "rita", "Tomatoes").unwrap();
        state.reply_in_discussion(REPO, top, "maya", "@fro-bot which?").unwrap()
    });
    let event = garden.world.discussion_comment_event(REPO, reply);
    let permit = garden.permit_by("discussion_comment", &event);
    (garden, permit)
}

/// Returns what stands below rita's comment.
fn replies(garden: &Garden) -> Vec<(String, String, usize)> {
    garden.world.state(|state| {
        let replies = state.repo(REPO).unwrap().discussions[0].comments[0].replies.iter();
        replies.map(|said| (said.author.clone(), said.body.clone(), said.reactions.len())).collect()
    })
}

fn said(author: &str, body: &str, n_reactions: usize) -> (String, String, usize) {
    (author.to_owned(), body.to_owned(), n_reactions)
}

async fn post_mend_and_read(github: &GitHub, permit: &Permit) -> Target {
    let posted = github.post_answer(permit, &clean("First.")).await.unwrap();
    let updated = github.update_answer(permit, &posted.target, &clean("Second.")).await.unwrap();
    let read = github.answer(permit, &posted.target).await.unwrap();
    assert_eq!((&read.target, read.body.as_str(), &read.url), (&posted.target, "Second.", &updated.url));
    let found = github.answers(permit, Since::TheBeginning).await.unwrap();
    assert!(found.iter().any(|answer| answer.target == posted.target && answer.body == "Second."));
    posted.target
}

#[tokio::test]
async fn a_review_thread_gets_a_reply_that_can_be_mended() {
    let (garden, permit, comment) = with_thread().await;
    let github = garden.seen_by("fro-bot");
    let eyes = github.react(&permit, Reaction::Eyes).await.unwrap();
    let reactions = |garden: &Garden| {
        garden
            .world
            .state(|state| state.repo(REPO).unwrap().review_comment(comment).unwrap().2.reactions.len())
    };
    assert_eq!(reactions(&garden), 1);
    github.unreact(&permit, eyes).await.unwrap();
    assert_eq!(reactions(&garden), 0);

    let target = post_mend_and_read(&github, &permit).await;

    let thread: Vec<_> = garden.world.state(|state| {
        let pull = state.issue(REPO, 2).unwrap().pull.clone().unwrap();
        pull.threads[0].comments.iter().map(|said| said.body.clone()).collect()
    });
    assert_eq!(thread, ["Rubber again?", "@fro-bot is it?", "Second."]);
    assert!(matches!(target, Target::ReviewComment(_)));
    assert_eq!(garden.world.unknown_routes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_discussion_gets_a_reply_beside_the_one_that_called_us() {
    let (garden, permit) = with_discussion().await;
    let github = garden.seen_by("fro-bot");
    let eyes = github.react(&permit, Reaction::Eyes).await.unwrap();
    assert_eq!(replies(&garden), [said("maya", "@fro-bot which?", 1)]);
    github.unreact(&permit, eyes).await.unwrap();

    post_mend_and_read(&github, &permit).await;

    assert_eq!(replies(&garden), [said("maya", "@fro-bot which?", 0), said("fro-bot", "Second.", 0)]);
}

#[tokio::test]
async fn a_discussion_wears_the_label_while_we_work() {
    let (garden, permit) = with_discussion().await;
    let github = garden.seen_by("fro-bot");
    let worn = || garden.world.state(|state| state.repo(REPO).unwrap().discussions[0].labels.clone());
    github.ensure_label(&permit, &Label::WORKING).await.unwrap();
    for _ in 0..2 {
        github.add_label(&permit, &Label::WORKING).await.unwrap();
        assert_eq!(worn(), ["agent: working"]);
    }
    for _ in 0..2 {
        github.remove_label(&permit, &Label::WORKING).await.unwrap();
        assert_eq!(worn(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_discussion_is_told_with_its_replies_in_one_query() {
    let (garden, _) = with_discussion().await;
    let told = garden.seen_by("fro-bot").discussion(4).await.unwrap().told;
    let words: Vec<_> = told.comments.iter().map(|said| said.body.as_str()).collect();
    assert_eq!(
        (told.title.as_str(), told.state.as_str(), words),
        ("Ideas", "OPEN", vec!["Tomatoes", "@fro-bot which?"])
    );
    assert_eq!(garden.requests(), ["POST /graphql"]);
}

#[tokio::test]
async fn a_lost_answer_in_a_thread_or_a_discussion_stands_once_and_can_be_found() {
    let (garden, permit, _) = with_thread().await;
    let route = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";
    drop(garden.world.faults().on(route, FaultKind::AnswerWithheld));
    let github = garden.seen_by("fro-bot");
    assert!(github.post_answer(&permit, &clean("Only once.")).await.unwrap_err().ambiguous());
    let found = github.answers(&permit, Since::TheBeginning).await.unwrap();
    assert_eq!(found.iter().filter(|answer| answer.body == "Only once.").count(), 1);
}

#[tokio::test]
async fn a_token_that_may_only_look_is_told_what_a_discussion_needs() {
    let (garden, permit) = with_discussion().await;
    let token = garden.world.change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly));
    let github = garden.seen_with(&token, REPO);
    let faults = [
        github.react(&permit, Reaction::Eyes).await.map(drop).unwrap_err().fault(),
        github.post_answer(&permit, &clean("x")).await.map(drop).unwrap_err().fault(),
    ];
    let told: Vec<_> = faults.iter().map(|fault| format!("{fault}\n  {}", fault.hint())).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    cannot leave the reaction `eyes` on octo/garden#4: GraphQL says: Resource not accessible by integration
      give the token `discussions: write`, in a workflow under the job's `permissions`
    cannot write in octo/garden#4: GraphQL says: Resource not accessible by integration
      give the token `discussions: write`, in a workflow under the job's `permissions`
    ");
    assert_eq!(replies(&garden).len(), 1);
}

#[tokio::test]
async fn an_answer_on_another_pull_request_is_not_touched() {
    let (garden, permit, _) = with_thread().await;
    let elsewhere = garden.world.change(|state| {
        let mut other = state.issue(REPO, 2).unwrap().clone();
        other.number = 9;
        other.pull.as_mut().unwrap().threads.clear();
        state.repo_mut(REPO).unwrap().issues.push(other);
        state.begin_thread(REPO, 9, "fro-bot", "Mine.").unwrap()
    });
    let target = Target::ReviewComment(elsewhere);
    let error = garden.seen_by("fro-bot").update_answer(&permit, &target, &clean("x")).await.unwrap_err();
    let told = format!(
        "cannot update review comment {elsewhere} on octo/garden#2: review comment {elsewhere} is not on it"
    );
    assert_eq!(error.fault(), fro_core::Fault::ours(told));
}

#[tokio::test]
async fn when_words_were_changed_is_told_of_reviews_and_discussions_too() {
    let garden = Garden::new().await;
    let github = garden.seen_by("fro-bot");
    let later = |at: jiff::Timestamp| at + jiff::SignedDuration::from_hours(1);
    let (discussion, edits) = garden.world.change(|state| {
        let number = state.begin_discussion(REPO, "octo", "Ideas", "What shall we grow?").unwrap();
        let top = state.discuss(REPO, number, "rita", "Tomatoes").unwrap();
        state.begin_thread(REPO, 2, "octo", "Rubber again?").unwrap();
        let repo = state.repo_mut(REPO).unwrap();
        let begun = repo.discussion_mut(number).unwrap();
        begun.edited_at = Some(later(begun.created_at));
        let edits = (begun.edited_at, Some(later(begun.comment(top).unwrap().created_at)));
        begun.comment_mut(top).unwrap().updated_at = edits.1.unwrap();
        let review = &mut repo.issue_mut(2).unwrap().pull.as_mut().unwrap().reviews[0];
        review.edited_at = edits.0;
        let issue = repo.issue_mut(1).unwrap();
        issue.updated_at = later(issue.created_at);
        (number, edits)
    });

    let told = github.discussion(discussion).await.unwrap().told;
    assert_eq!((told.edited, told.comments[0].edited), edits);
    let change = github.subject(2).await.unwrap().told.change.unwrap();
    assert_eq!(change.reviews[0].comment.edited, edits.0);
    // REST tells of any change, which may have been one of the words.
    let issue = github.subject_in_parts(1).await.unwrap();
    assert_eq!(issue.edited, issue.created.map(later));
}
