//! Each deed, seen in the state of the world.

use fro_core::{Reaction, Target};
use fro_github::Label;
use fro_sim::FaultKind;

use crate::garden::{Garden, REPO, clean};

#[tokio::test]
async fn a_reaction_is_left_once_and_taken_back() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());

    let eyes = github.react(&permit, Reaction::Eyes).await.unwrap();
    assert_eq!(github.react(&permit, Reaction::Eyes).await.unwrap(), eyes);
    github.react(&permit, Reaction::Hooray).await.unwrap();
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: eyes", "fro-bot: hooray"]);

    github.unreact(&permit, eyes).await.unwrap();
    github.unreact(&permit, eyes).await.unwrap();
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: hooray"]);
    assert_eq!(garden.world.unknown_routes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_comment_is_posted_and_updated_on_the_permits_subject() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());

    let posted = github.post_comment(&permit, &clean("The **hose** leaks.")).await.unwrap();
    assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), ["The **hose** leaks."]);
    assert_eq!(github.comment(posted.id).await.unwrap(), posted);

    let updated = github.update_comment(&permit, &posted, &clean("The tap leaks.")).await.unwrap();
    assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), ["The tap leaks."]);
    assert_eq!((updated.id, updated.body.as_str()), (posted.id, "The tap leaks."));
}

#[tokio::test]
async fn a_comment_of_ours_is_removed_from_the_permits_subject_alone() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());
    let posted = github.post_comment(&permit, &clean("Working on it.")).await.unwrap();
    let elsewhere = garden.world.write_comment(REPO, 3, "fro-bot", "Six plants.");

    github.remove_comment(&permit, &Target::Comment(posted.id)).await.unwrap();
    assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), [""; 0]);
    let error = github.remove_comment(&permit, &Target::Comment(elsewhere)).await.unwrap_err();
    let told = format!("cannot remove a comment on octo/garden#1: comment {elsewhere} is not on it");
    assert_eq!(error.fault(), fro_core::Fault::ours(told));
    assert_eq!(garden.world.comments_by(REPO, 3, "fro-bot"), ["Six plants."]);
}

#[tokio::test]
async fn a_comment_on_another_subject_is_not_touched() {
    let garden = Garden::new().await;
    let github = garden.seen_by("fro-bot");
    let elsewhere = garden.world.write_comment(REPO, 3, "fro-bot", "Six plants.");
    let comment = github.comment(elsewhere).await.unwrap();

    let error = github.update_comment(&garden.permit(), &comment, &clean("None.")).await.unwrap_err();
    let told =
        format!("cannot update comment {elsewhere} on octo/garden#1: comment {elsewhere} is not on it");
    assert_eq!(error.fault(), fro_core::Fault::ours(told));
    assert_eq!(garden.world.comments_by(REPO, 3, "fro-bot"), ["Six plants."]);
}

/// Returns the labels that the repository has besides its first two, and those on issue 1.
fn labels(garden: &Garden) -> (Vec<(String, String)>, Vec<String>) {
    garden.world.state(|state| {
        let known = state.repo(REPO).unwrap().labels.iter().skip(2);
        let known = known.map(|label| (label.name.clone(), label.color.clone())).collect();
        (known, state.issue(REPO, 1).unwrap().labels.clone())
    })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn a_label_is_made_put_on_and_taken_off_however_often() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());
    let made = vec![("agent: working".to_owned(), "fbca04".to_owned())];

    for _ in 0..2 {
        github.ensure_label(&permit, &Label::WORKING).await.unwrap();
        github.add_label(&permit, &Label::WORKING).await.unwrap();
        assert_eq!(labels(&garden), (made.clone(), words(&["bug", "agent: working"])));
    }
    for _ in 0..2 {
        github.remove_label(&permit, &Label::WORKING).await.unwrap();
        assert_eq!(labels(&garden), (made.clone(), words(&["bug"])));
    }
    assert_eq!(garden.world.unknown_routes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_label_that_somebody_made_in_between_is_as_good() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());
    github.ensure_label(&permit, &Label::WORKING).await.unwrap();
    drop(garden.world.faults().on("GET /repos/{owner}/{repo}/labels/{name}", FaultKind::Status(404)));

    github.ensure_label(&permit, &Label::WORKING).await.unwrap();

    assert_eq!(labels(&garden).0.len(), 1);
    let statuses: Vec<_> = garden.world.traffic().iter().map(|exchange| exchange.status).collect();
    assert_eq!(statuses, [404, 201, 404, 422].map(Some));
}
