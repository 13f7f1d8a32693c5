//! What the reviewer asks and does, seen in the state of the world.

use fro_core::{Anchor, NodeId, Permit, Side};
use fro_github::{Annotation, AnnotationLevel, CheckRun, Conclusion, GitHub, Remark};

use crate::garden::{Garden, REPO, clean};

const PULL: u64 = 2;

async fn opened() -> (Garden, GitHub, Permit) {
    let garden = Garden::new().await;
    let permit = garden.permit_by("pull_request", &garden.world.pull_event(REPO, PULL, "opened", "maya"));
    let github = garden.seen_by("fro-bot");
    (garden, github, permit)
}

fn remark(line: usize, body: &str) -> Remark {
    let anchor = Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line };
    Remark { anchor, body: clean(body) }
}

#[tokio::test]
async fn a_thread_is_begun_answered_resolved_and_told_of() {
    let (garden, github, permit) = opened().await;
    let told = github.pull_request(PULL).await.unwrap();
    assert_eq!(told.head, github.head(PULL).await.unwrap());
    github.post_review(&permit, &told.head, &clean("One finding."), &[remark(6, "It leaks.")]).await.unwrap();
    let root = github.code_comments(PULL).await.unwrap().pop().unwrap();
    assert_eq!(
        (root.path.as_str(), root.line, root.original_commit.as_str()),
        ("tap.rs", Some(6), told.head.as_str())
    );
    assert_eq!(root.author.as_ref().map(|who| (who.login.as_str(), who.is_bot)), Some(("fro-bot", false)));

    github.reply_in_thread(&permit, root.id, &clean("It still does.")).await.unwrap();
    let replies = github.code_comments(PULL).await.unwrap();
    assert_eq!(replies.iter().filter(|reply| reply.in_reply_to == Some(root.id)).count(), 1);

    let thread =
        github.code_threads(PULL).await.unwrap().into_iter().find(|thread| thread.root == root.id).unwrap();
    assert!(thread.can_resolve && !thread.resolved);
    github.resolve_thread(&permit, &NodeId::new(thread.node)).await.unwrap();
    let thread =
        github.code_threads(PULL).await.unwrap().into_iter().find(|thread| thread.root == root.id).unwrap();
    assert_eq!(
        (thread.resolved, thread.resolved_by.map(|who| who.to_string())),
        (true, Some("fro-bot".to_owned()))
    );
    assert_eq!(garden.world.unknown_routes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_remark_on_a_whole_file_begins_a_thread_without_a_line() {
    let (garden, github, permit) = opened().await;
    let head = github.head(PULL).await.unwrap();
    github.remark_on_file(&permit, (&head, "tap.rs"), &clean("Too long.")).await.unwrap();
    let last = github.code_comments(PULL).await.unwrap().pop().unwrap();
    assert_eq!((last.path.as_str(), last.line, last.original_line), ("tap.rs", None, None));
    assert_eq!(garden.world.unknown_routes(), Vec::<String>::new());
}

#[tokio::test]
async fn all_pages_of_comments_and_threads_are_read() {
    let (garden, github, _) = opened().await;
    let before = github.code_threads(PULL).await.unwrap().len();
    garden.world.change(|state| {
        for at in 0..230 {
            let root = state.begin_thread(REPO, PULL, "octo", &format!("remark {at}")).unwrap();
            state.reply_in_thread(REPO, root, "maya", "yes").unwrap();
        }
    });
    assert_eq!(github.code_threads(PULL).await.unwrap().len(), before + 230);
    let comments = github.code_comments(PULL).await.unwrap();
    assert_eq!(comments.iter().filter(|said| said.body == "yes").count(), 230);
}

/// A check run that says something about so many lines.
fn check(lines: usize) -> CheckRun {
    let annotation = |line| Annotation {
        anchor: Anchor { path: "bed.rs".to_owned(), side: Side::Right, start_line: None, line },
        level: AnnotationLevel::Warning,
        title: clean("It is dry."),
        message: clean("Water it."),
    };
    CheckRun {
        name: "fro-bot review",
        conclusion: Conclusion::Neutral,
        title: clean("Beds"),
        summary: clean("Dry ones."),
        annotations: (1..=lines).map(annotation).collect(),
    }
}

#[tokio::test]
async fn a_check_run_has_all_its_annotations_fifty_at_a_time() {
    let (garden, _, permit) = opened().await;
    let github = garden.seen_by("garden-helper[bot]");
    let head = github.head(PULL).await.unwrap();
    let before = garden.requests().len();
    github.post_check_run(&permit, &head, &check(101)).await.unwrap();
    assert_eq!(garden.requests().len() - before, 3);
    let lines: Vec<u64> = garden.world.state(|state| {
        let checks = &state.repo(REPO).unwrap().check_runs;
        checks.iter().flat_map(|check| &check.annotations).map(|annotation| annotation.end_line).collect()
    });
    assert_eq!(lines, (1..=101).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_person_s_token_writes_no_check_run() {
    let (_garden, github, permit) = opened().await;
    let head = github.head(PULL).await.unwrap();
    let refused = github.post_check_run(&permit, &head, &check(1)).await.unwrap_err();
    assert!(refused.is_forbidden() && refused.fault().hint().contains("checks: write"), "{refused}");
}

#[tokio::test]
async fn a_folder_names_what_is_in_it() {
    let (_garden, github, _) = opened().await;
    assert_eq!(github.folder("").await.unwrap(), ["README.md", "greenhouse", "tap.rs"]);
    assert_eq!(github.folder(".github/workflows").await.unwrap(), [""; 0]);
}
