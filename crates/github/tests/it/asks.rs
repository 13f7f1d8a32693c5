//! Each question, with the answer that the world really gives.

use fro_core::{Login, Permission};
use fro_github::{Since, Writable};
use fro_sim::{
    FaultKind,
    state::{Grant, Level, Person, PersonKind},
};
use jiff::{SignedDuration, Timestamp};

use crate::garden::{Garden, REPO};

#[tokio::test]
async fn a_person_and_an_app_both_learn_who_they_are() {
    let garden = Garden::new().await;
    for login in ["fro-bot", "github-actions[bot]"] {
        assert_eq!(garden.seen_by(login).viewer().await.unwrap().as_str(), login);
    }
}

#[tokio::test]
async fn what_a_token_may_write_is_found_out_without_writing() {
    let garden = Garden::new().await;
    let before = garden.world.state(|state| format!("{:?}", state.repo(REPO)));
    let granted = [("issues", Level::Write), ("pull_requests", Level::Read), ("contents", Level::Write)];
    let grant = Grant {
        repos: vec![REPO.to_owned()],
        permissions: granted.map(|(name, level)| (name.to_owned(), level)).into(),
        expires_at: Timestamp::now() + SignedDuration::from_hours(1),
    };
    let token = garden.world.change(|state| state.grant_token("github-actions[bot]", grant));
    let github = garden.seen_with(&token, REPO);
    for (what, may) in Writable::ALL.into_iter().zip([true, false, true]) {
        assert_eq!(github.may_write(what).await.unwrap(), may, "{what:?}");
    }
    assert_eq!(garden.world.state(|state| format!("{:?}", state.repo(REPO))), before);
}

#[tokio::test]
async fn a_permission_is_the_role_that_somebody_has() {
    let garden = Garden::new().await;
    let github = garden.seen_by("fro-bot");
    let expect = [
        ("octo", Permission::Admin),
        ("maya", Permission::Write),
        ("rita", Permission::Read),
        ("github-actions[bot]", Permission::None),
        ("mallory", Permission::Read),
        ("nobody-at-all", Permission::None),
        ("../../octo", Permission::None),
    ];
    for (login, permission) in expect {
        assert_eq!(github.permission(&Login::new(login)).await.unwrap(), permission, "{login}");
    }
    let cellar = garden.seen_with(&garden.world.token("octo"), "octo/cellar");
    assert_eq!(cellar.permission(&Login::new("maya")).await.unwrap(), Permission::Triage);
    assert_eq!(cellar.permission(&Login::new("mallory")).await.unwrap(), Permission::None);
}

#[tokio::test]
async fn a_name_that_somebody_else_has_taken_is_worth_nothing() {
    let garden = Garden::new().await;
    let (github, maya) = (garden.seen_by("fro-bot"), Login::new("maya"));
    let id = garden.world.state(|state| state.person("maya").unwrap().id);
    let id = i64::try_from(id).unwrap();
    assert_eq!(github.permission_of(&maya, id).await.unwrap(), Permission::Write);
    assert_eq!(github.permission_of(&maya, id + 1).await.unwrap(), Permission::None);
}

#[tokio::test]
async fn a_made_up_role_counts_as_the_permission_it_is_based_on() {
    let garden = Garden::new().await;
    let body = r#"{"permission":"write","role_name":"gardener"}"#.to_owned();
    let answer = FaultKind::Answer { status: 200, headers: vec![], body };
    drop(garden.world.faults().on("GET /repos/{owner}/{repo}/collaborators/{login}/permission", answer));
    let permission = garden.seen_by("fro-bot").permission(&Login::new("maya")).await.unwrap();
    assert_eq!(permission, Permission::Write);
}

#[tokio::test]
async fn an_issue_is_told_in_one_query() {
    let garden = Garden::new().await;
    garden.world.change(|state| {
        let issue = state.issue_mut(REPO, 1).unwrap();
        issue.locked = true;
        issue.comments[0].author = "github-actions[bot]".to_owned();
        issue.comments[1].author = "somebody-who-left".to_owned();
        issue.comments[1].created_at = Timestamp::UNIX_EPOCH;
        issue.comments[1].updated_at = Timestamp::from_second(1).unwrap();
    });
    let mut hydrated = garden.seen_by("fro-bot").subject(1).await.unwrap();
    hydrated.url = hydrated.url.replace(&garden.world.api_url(), "");
    insta::assert_debug_snapshot!(hydrated);
    assert_eq!(garden.requests(), ["POST /graphql"]);
}

#[tokio::test]
async fn a_pull_request_is_told_with_what_it_wants_to_change() {
    let garden = Garden::new().await;
    garden.world.change(|state| {
        let pull = state.issue_mut(REPO, 2).unwrap().pull.as_mut().unwrap();
        pull.draft = true;
        pull.head_repo = None;
    });
    let mut hydrated = garden.seen_by("rita").subject(2).await.unwrap();
    hydrated.url = hydrated.url.replace(&garden.world.api_url(), "");
    insta::assert_debug_snapshot!(hydrated);
}

#[tokio::test]
async fn a_long_conversation_is_told_by_its_newest_comments() {
    let garden = Garden::new().await;
    for n in 0..60 {
        garden.world.write_comment(REPO, 3, "rita", &format!("remark {n}"));
    }
    let told = garden.seen_by("fro-bot").subject(3).await.unwrap().told;
    let first_and_last = (told.comments[0].body.as_str(), told.comments[49].body.as_str());
    assert_eq!((told.n_comments, told.comments.len(), first_and_last), (60, 50, ("remark 10", "remark 59")));
}

#[tokio::test]
async fn a_comment_is_read_back() {
    let garden = Garden::new().await;
    let comment = garden.seen_by("fro-bot").comment(garden.call).await.unwrap();
    assert_eq!((comment.id, comment.number), (garden.call, 1));
    assert_eq!(comment.author, Some(Login::new("maya")));
    assert_eq!(comment.body, "@fro-bot why is the floor wet?");
    assert_eq!(comment.url.rsplit_once('#').unwrap().1, format!("issuecomment-{}", garden.call));
}

#[tokio::test]
async fn all_pages_of_a_conversation_are_read() {
    let garden = Garden::new().await;
    for n in 0..201 {
        garden.world.write_comment(REPO, 3, "rita", &format!("remark {n}"));
    }
    let comments = garden.seen_by("fro-bot").comments(3, Since::TheBeginning).await.unwrap();
    let expect: Vec<_> = (0..201).map(|n| format!("remark {n}")).collect();
    assert_eq!(comments.iter().map(|comment| comment.body.as_str()).collect::<Vec<_>>(), expect);
    assert_eq!(garden.requests().len(), 3);
}

#[tokio::test]
async fn only_what_was_written_or_changed_since_is_read() {
    let garden = Garden::new().await;
    let start = Timestamp::now() + SignedDuration::from_hours(1);
    garden.world.change(|state| {
        let issue = state.issue_mut(REPO, 1).unwrap();
        issue.comments[0].updated_at = start;
    });
    let comments = garden.seen_by("fro-bot").comments(1, Since::Time(start)).await.unwrap();
    let bodies: Vec<_> = comments.iter().map(|comment| comment.body.as_str()).collect();
    assert_eq!(bodies, ["I saw it too. About two litres."]);
}

#[tokio::test]
async fn a_login_with_a_bracket_stays_one_login() {
    let garden = Garden::new().await;
    let helper = Person { id: 1, login: "odd[bot]".to_owned(), name: String::new(), kind: PersonKind::Bot };
    garden.world.change(|state| state.people.push(helper));
    garden.seen_by("fro-bot").permission(&Login::new("odd[bot]")).await.unwrap();
    assert_eq!(garden.requests(), ["GET /repos/octo/garden/collaborators/odd%5Bbot%5D/permission"]);
}
