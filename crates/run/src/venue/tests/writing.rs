//! What is written besides the answer: the run's page, the summary's last line, a check run, remarks beside the code.

use fro_core::{Anchor, Side, conversation::outcome::Usage, say::summary::Account};
use fro_review::{
    Diff, FileDiff,
    finding::{Finding, Kind, Pass, Score},
    review::Settled,
    scoring::Gate,
};

use super::*;
use crate::{
    publish::Answer,
    settings::{CheckRuns, ReviewSettings},
};

const REVIEWS: &str = "POST /repos/{owner}/{repo}/pulls/{number}/reviews";
const COMMENT: &str = "GET /repos/{owner}/{repo}/issues/comments/{id}";

fn account() -> Account {
    Account {
        event: "issue_comment".to_owned(),
        repo: RepoName::parse(REPO).unwrap(),
        git_ref: None,
        run: RunLink { id: "42".to_owned(), url: None },
        memory: "none is kept".to_owned(),
        recalled: None,
        sessions: Vec::new(),
        duration: Duration::from_secs(7),
        since_job: None,
        usage: Usage::default(),
        model: None,
        agent: None,
        walls: "none".to_owned(),
        gh: None,
        network: None,
        work: Vec::new(),
        share: None,
        warnings: Vec::new(),
    }
}

fn page(called: &Called) -> String {
    fs_err::read_to_string(called.folder.path().join("page.md")).unwrap_or_default()
}

fn remark(path: &str, line: u32, body: &str) -> InlineComment {
    InlineComment { path: path.to_owned(), line, start_line: None, side: Side::Right, body: body.to_owned() }
}

/// Gives an answer with remarks, as the agent of a pull request does.
async fn give(called: &Called, remarks: Vec<InlineComment>) -> Result<Receipt, Fault> {
    let Trigger::Pull(pull) = &called.trigger else { panic!("not a pull request") };
    let turn = fro_core::conversation::outcome::Turn::answered("Looks good.".to_owned());
    let said = Answer { remarks, commit: Some(pull.sha.clone()), ..Answer::new(turn) };
    let marker = Marker::new("42", &called.trigger);
    called.asking(async |request| said.publish(request, account(), &marker).await).await
}

#[tokio::test]
async fn remarks_are_given_as_a_review_beside_the_code() {
    let called = Called::by_push(&Policy::usual()).await;
    let remarks = vec![remark("tap.rs", 7, "It drips."), remark("hose.rs", 1, "Nobody changed it.")];
    let receipt = give(&called, remarks).await.unwrap();
    assert!(receipt.url.contains("#pullrequestreview-"), "{receipt:?}");
    called.pull(|pull| {
        let [review] = pull.reviews.as_slice() else { panic!("{:?}", pull.reviews) };
        assert!(
            review.body.contains("Looks good.") && review.body.contains("Nobody changed it."),
            "{review:?}"
        );
        let [thread] = pull.threads.as_slice() else { panic!("{:?}", pull.threads) };
        assert_eq!((thread.line, thread.comments[0].body.as_str()), (Some(7), "It drips."));
    });
    assert_eq!(called.said(2), [""; 0]);
    assert!(page(&called).contains(&receipt.url), "{}", page(&called));
}

#[tokio::test]
async fn where_github_takes_no_place_the_remarks_stand_in_the_answer() {
    let called = Called::by_push(&Policy::usual()).await;
    called.world.faults().on(REVIEWS, FaultKind::Status(422)).always();
    give(&called, vec![remark("tap.rs", 7, "It drips.")]).await.unwrap();
    let [answer] = called.said(2).try_into().unwrap();
    assert!(answer.contains("Looks good.") && answer.contains("It drips."), "{answer}");
    called.pull(|pull| assert!(pull.threads.is_empty()));
}

#[tokio::test]
async fn remarks_that_github_lost_fail_the_run_and_the_answer_stands_on_its_page() {
    let called = Called::by_push(&Policy::usual()).await;
    let none = FaultKind::Answer { status: 200, headers: Vec::new(), body: "[]".to_owned() };
    let of_review = "GET /repos/{owner}/{repo}/pulls/{number}/reviews/{review}/comments";
    called.world.faults().on(of_review, none).always();
    let fault = give(&called, vec![remark("tap.rs", 7, "It drips.")]).await.unwrap_err();
    assert!(fault.what().starts_with("0 of 1 remarks of the review are there"), "{fault}");
    assert!(page(&called).contains("Looks good."), "{}", page(&called));
}

#[tokio::test]
async fn an_answer_that_reads_otherwise_than_it_was_written_is_no_answer() {
    let called = Called::by_comment(&Policy::usual()).await;
    let delivery = called.delivery("It is the tap.");
    let other = called.world.write_comment(REPO, 1, "fro-bot", "It is the hose.");
    let shown = called.world.state(|state| {
        let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
        repo.comment(other).unwrap().1.body.clone()
    });
    assert_eq!(shown, "It is the hose.");
    let proved = called
        .at_venue(async |venue| {
            super::super::deliver::read_back(venue.github, venue.permit, &delivery, &Target::Comment(other))
                .await
        })
        .await;
    let fault = proved.unwrap_err();
    assert!(fault.what().contains("does not read as it was written"), "{fault}");
    called.world.faults().on(COMMENT, FaultKind::Status(404)).always();
    let gone = called
        .at_venue(async |venue| {
            super::super::deliver::read_back(venue.github, venue.permit, &delivery, &Target::Comment(other))
                .await
        })
        .await;
    assert!(gone.is_err(), "an answer that nobody can read is none");
}

#[tokio::test]
async fn line_ends_that_github_changes_are_no_difference() {
    let called = Called::by_comment(&Policy::usual()).await;
    let delivery = called.delivery("It is\nthe tap.\n");
    let shown = delivery.body.as_str().replace('\n', "\r\n");
    let id = called.world.write_comment(REPO, 1, "fro-bot", &shown);
    let proved = called
        .at_venue(async |venue| {
            super::super::deliver::read_back(venue.github, venue.permit, &delivery, &Target::Comment(id))
                .await
        })
        .await;
    assert!(proved.unwrap().url.ends_with(&id.to_string()));
}

#[tokio::test]
async fn what_went_wrong_with_the_save_is_added_to_the_summary() {
    let called = Called::by_comment(&Policy::usual()).await;
    let marker = Marker::new("42", &called.trigger);
    let summary = "<details>\n<summary>Run summary</summary>\n\n| Memory | hit |\n\n</details>";
    let own =
        called.world.write_comment(REPO, 1, "fro-bot", &format!("{marker}\nIt is the tap.\n\n{summary}"));
    let trouble = ["the memory was not saved: the disk is full".to_owned()];
    called.asking(async |request| request.venue.amend(request, &trouble).await).await;
    let body = called.world.state(|state| {
        let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
        repo.comment(own).unwrap().1.body.clone()
    });
    assert!(body.contains("It is the tap.") && body.contains("the disk is full"), "{body}");
    let before = called.requests();
    called.asking(async |request| request.venue.amend(request, &[]).await).await;
    assert_eq!(called.requests(), before, "without trouble nothing is asked");
}

#[tokio::test]
async fn a_summary_that_cannot_be_amended_fails_no_run() {
    let called = Called::by_comment(&Policy::usual()).await;
    let comments = "GET /repos/{owner}/{repo}/issues/{number}/comments";
    called.world.faults().on(comments, FaultKind::Status(500)).always();
    called.asking(async |request| request.venue.amend(request, &["lost".to_owned()]).await).await;
    let [warning] = called.warnings().try_into().unwrap();
    assert!(warning.starts_with("the summary does not tell of the save: "), "{warning}");
}

#[tokio::test]
async fn the_page_has_the_account_and_an_answer_that_could_not_be_posted() {
    let called = Called::by_comment(&Policy::usual()).await;
    let delivery = called.delivery("It is the tap.");
    let redactor = Redactor::knowing([&Secret::new("hunter2hunter2")]);
    let tell = |delivered: &Result<Receipt, Fault>| {
        let account = Account { warnings: vec!["hunter2hunter2 was seen".to_owned()], ..account() };
        super::super::account(
            &called.occasion,
            &called.permit,
            (&account, &redactor),
            (&delivery, delivered),
        );
    };
    tell(&Ok(Receipt { url: "https://example.org/answer".to_owned() }));
    let posted = page(&called);
    assert!(posted.contains("https://example.org/answer") && !posted.contains("It is the tap."), "{posted}");
    assert!(!posted.contains("hunter2hunter2"), "{posted}");
    tell(&Err(Fault::ours("refused")));
    assert!(page(&called).contains("It is the tap."), "{}", page(&called));
}

#[tokio::test]
async fn a_page_that_cannot_be_written_fails_no_run_but_an_answer_that_belongs_there_does() {
    let mut called = Called::by_comment(&Policy { response: Response::None, ..Policy::usual() }).await;
    called.occasion.run_page = Some(called.folder.path().join("no").join("page.md"));
    super::super::list(&called.occasion, &Redactor::knowing([]), "- tap.rs");
    let delivery = called.delivery("It is the tap.");
    let write = Write::Answer { delivery: &delivery, earlier: None };
    let fault = called.at_venue(async |venue| venue.publish(&[write]).await).await.unwrap_err();
    assert!(fault.hint().contains("GITHUB_STEP_SUMMARY"), "{fault}");
    called.occasion.run_page = None;
    let write = Write::Answer { delivery: &delivery, earlier: None };
    let fault = called.at_venue(async |venue| venue.publish(&[write]).await).await.unwrap_err();
    assert!(fault.what().contains("there is none of"), "{fault}");
}

#[tokio::test]
async fn findings_outside_the_change_become_a_check_run_where_one_is_wanted() {
    let mut called = Called::by_push(&Policy { role: gate::Role::Reviewer, ..Policy::usual() }).await;
    let finding = |path: &str, line: usize, score: u64| {
        let score = Score::new(score).unwrap();
        let anchor = Anchor { path: path.to_owned(), side: Side::Right, start_line: None, line };
        let (finding, assessment, body) =
            ("It drips.".to_owned(), "Water.".to_owned(), "hunter2hunter2 drips.".to_owned());
        Finding {
            anchor,
            pass: Pass::Diff,
            kind: Kind::Logic,
            given: score,
            score,
            finding,
            assessment,
            body,
        }
    };
    let settled = |gate| Settled {
        findings: vec![finding("tap.rs", 7, 9), finding("hose.rs", 3, 9), finding("hose.rs", 9, 5)],
        withdrawn: Vec::new(),
        deeds: Vec::new(),
        gate,
    };
    let read = |file: &fro_sim::state::ChangedFile| {
        FileDiff::from_patch(&file.path, None, file.patch.as_deref()).unwrap()
    };
    let diff = Diff::new(called.pull(|pull| pull.files.iter().map(read).collect()));
    let off =
        called.asking(async |request| check_run(request, &settled(Gate::Passed), &diff).is_none()).await;
    assert!(off, "nobody wanted one");
    called.process.review = ReviewSettings { check_runs: CheckRuns::On, ..ReviewSettings::default() };
    called
        .asking(async |request| {
            let check = check_run(request, &settled(Gate::Blocked(1)), &diff).unwrap();
            let told: Vec<_> =
                check.annotations.iter().map(|note| (note.anchor.path.as_str(), note.anchor.line)).collect();
            assert_eq!(told, [("hose.rs", 3), ("hose.rs", 9)], "what stands beside the code is said there");
            assert_eq!(format!("{:?}", check.conclusion), "Failure");
            assert_eq!(
                check.annotations.iter().map(|note| format!("{:?}", note.level)).collect::<Vec<_>>(),
                ["Failure", "Warning"]
            );
        })
        .await;
}

#[tokio::test]
async fn a_check_run_that_is_refused_is_a_warning() {
    let mut called = Called::by_push(&Policy { role: gate::Role::Reviewer, ..Policy::usual() }).await;
    called.process.review = ReviewSettings { check_runs: CheckRuns::On, ..ReviewSettings::default() };
    called.world.faults().on("POST /repos/{owner}/{repo}/check-runs", FaultKind::Status(403)).always();
    let score = Score::new(9).unwrap();
    let anchor = Anchor { path: "hose.rs".to_owned(), side: Side::Right, start_line: None, line: 3 };
    let (finding, assessment, body) = ("It drips.".to_owned(), String::new(), String::new());
    let finding = Finding {
        anchor,
        pass: Pass::Diff,
        kind: Kind::Logic,
        given: score,
        score,
        finding,
        assessment,
        body,
    };
    let settled =
        Settled { findings: vec![finding], withdrawn: Vec::new(), deeds: Vec::new(), gate: Gate::Passed };
    called
        .asking(async |request| {
            let check = check_run(request, &settled, &Diff::default()).unwrap();
            let write = Write::Check { check: &check, commit: "af4492d5ac94bb1542074f8116385bd24f443a45" };
            assert_eq!(request.venue.publish(&[write]).await, Ok(None));
        })
        .await;
    assert_eq!(called.warnings().len(), 1);
}

#[tokio::test]
async fn who_may_not_even_react_begins_nothing() {
    let called = Called::by_comment(&Policy::usual()).await;
    let route = "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions";
    called.world.faults().on(route, FaultKind::Status(403)).always();
    let begun =
        called.at_venue(async |venue| venue.acknowledgement(called.task.visibility()).begin().await).await;
    assert!(begun.is_err());
    called.world.faults().heal();
    called.world.faults().on(route, FaultKind::Status(500)).always();
    let begun =
        called.at_venue(async |venue| venue.acknowledgement(called.task.visibility()).begin().await).await;
    assert_eq!(begun, Ok(()), "a hiccup costs the 👀 and nothing else");
    assert_eq!(called.warnings().len(), 1);
}

#[tokio::test]
async fn a_word_that_is_answered_without_the_engine_takes_no_label_of_a_run_at_work() {
    let world = World::start().await.unwrap();
    let called = Called::saying(world, "@fro-bot status", &Policy::usual()).await;
    called
        .at_venue(async |venue| {
            let mut acknowledgement = venue.acknowledgement(called.task.visibility());
            acknowledgement.begin().await.unwrap();
            acknowledgement.label().await;
            assert_eq!(called.labels(1), ["bug"]);
            acknowledgement.end(&Ok(super::answered())).await;
        })
        .await;
    assert_eq!(called.world.reactions_on(REPO, called.call), ["fro-bot: hooray"]);
}

#[tokio::test]
async fn the_step_after_a_killed_run_takes_up_its_eyes_and_label() {
    let called = Called::by_comment(&Policy::usual()).await;
    called
        .at_venue(async |venue| {
            let mut killed = venue.acknowledgement(called.task.visibility());
            killed.begin().await.unwrap();
            killed.label().await;
            let mut later = venue.acknowledgement(called.task.visibility());
            later.resume().await;
            later.end(&Ok(Ending::Interrupted)).await;
        })
        .await;
    assert_eq!(called.world.reactions_on(REPO, called.call), [""; 0]);
    assert_eq!(called.labels(1), ["bug"]);
}
