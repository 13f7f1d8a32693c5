//! What can go wrong, what people are told then, and what was done all the same.

use fro_core::{Fault, Login, Reaction};
use fro_github::{Error, Label, Since};
use fro_sim::{FaultKind, state::TokenAccess};

use crate::garden::{Garden, REPO, clean};

const COMMENTS: &str = "POST /repos/{owner}/{repo}/issues/{number}/comments";

/// Writes an error as people are told of it, without what differs from run to run.
fn describe(garden: &Garden, error: &Error) -> String {
    let fault = error.fault();
    let what = fault.what().replace(&garden.world.api_url(), "http://host");
    let what = what.replace(&garden.call.to_string(), "ID");
    let what = match error.request_id() {
        Some(id) => what.replace(id, "REQUEST"),
        None => what,
    };
    format!("{} {what}\n  {}", fault.exit_code(), fault.hint())
}

#[tokio::test]
async fn a_wrong_token_is_named_whatever_it_is_used_for() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_with("ghp_wrong", REPO), garden.permit());
    let errors = [
        github.viewer().await.map(drop).unwrap_err(),
        github.permission(&Login::new("maya")).await.map(drop).unwrap_err(),
        github.subject(1).await.map(drop).unwrap_err(),
        github.comment(garden.call).await.map(drop).unwrap_err(),
        github.comments(1, Since::TheBeginning).await.map(drop).unwrap_err(),
        github.react(&permit, Reaction::Eyes).await.map(drop).unwrap_err(),
        github.post_comment(&permit, &clean("x")).await.map(drop).unwrap_err(),
        github.ensure_label(&permit, &Label::WORKING).await.unwrap_err(),
        github.add_label(&permit, &Label::WORKING).await.unwrap_err(),
        github.remove_label(&permit, &Label::WORKING).await.unwrap_err(),
    ];
    for error in &errors {
        assert_eq!((error.status(), error.ambiguous()), (Some(401), false), "{error}");
        assert!(matches!(error.fault(), Fault::Yours { .. }), "{error}");
    }
    let told: Vec<_> = errors.iter().map(|error| describe(&garden, error)).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    2 cannot find out whose token this is: POST http://host/graphql: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot find out what @maya may do in octo/garden: GET http://host/repos/octo/garden/collaborators/maya/permission: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot read octo/garden#1: POST http://host/graphql: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot read comment ID in octo/garden: GET http://host/repos/octo/garden/issues/comments/ID: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot read the comments on octo/garden#1: GET http://host/repos/octo/garden/issues/1/comments: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot leave the reaction `eyes` on comment ID of octo/garden#1: POST http://host/repos/octo/garden/issues/comments/ID/reactions: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot post the comment on octo/garden#1: POST http://host/repos/octo/garden/issues/1/comments: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot make the label `agent: working` in octo/garden: GET http://host/repos/octo/garden/labels/agent%3A%20working: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot put the label `agent: working` on octo/garden#1: POST http://host/repos/octo/garden/issues/1/labels: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    2 cannot take the label `agent: working` off octo/garden#1: DELETE http://host/repos/octo/garden/issues/1/labels/agent%3A%20working: answered 401 (Bad credentials), request REQUEST
      check `github-token`: it is wrong, expired or of another server
    ");
}

#[tokio::test]
async fn a_token_that_may_only_look_is_told_what_it_lacks() {
    let garden = Garden::new().await;
    let token = garden.world.change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly));
    let (github, permit) = (garden.seen_with(&token, REPO), garden.permit());
    let on_a_pull = garden.world.write_comment(REPO, 2, "maya", "@fro-bot look");
    let errors = [
        github.react(&permit, Reaction::Eyes).await.map(drop).unwrap_err(),
        github.post_comment(&permit, &clean("x")).await.map(drop).unwrap_err(),
        github.post_comment(&garden.permit_for(on_a_pull), &clean("x")).await.map(drop).unwrap_err(),
    ];
    let told: Vec<_> = errors.iter().map(|error| describe(&garden, error)).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    2 cannot leave the reaction `eyes` on comment ID of octo/garden#1: POST http://host/repos/octo/garden/issues/comments/ID/reactions: answered 403 (Resource not accessible by integration), request REQUEST
      give the token `issues: write`, in a workflow under the job's `permissions`
    2 cannot post the comment on octo/garden#1: POST http://host/repos/octo/garden/issues/1/comments: answered 403 (Resource not accessible by integration), request REQUEST
      give the token `issues: write`, in a workflow under the job's `permissions`
    2 cannot post the comment on octo/garden#2: POST http://host/repos/octo/garden/issues/2/comments: answered 403 (Resource not accessible by integration), request REQUEST
      give the token `pull-requests: write`, in a workflow under the job's `permissions`
    ");
}

#[tokio::test]
async fn what_is_not_there_or_not_to_be_seen_is_told_alike() {
    let garden = Garden::new().await;
    let hidden = garden.seen_with(&garden.world.token("mallory"), "octo/cellar");
    let errors = [
        garden.seen_by("fro-bot").subject(404).await.map(drop).unwrap_err(),
        hidden.subject(1).await.map(drop).unwrap_err(),
        garden.seen_by("fro-bot").comment(7).await.map(drop).unwrap_err(),
        hidden.comments(1, Since::TheBeginning).await.map(drop).unwrap_err(),
    ];
    let told: Vec<_> = errors.iter().map(|error| describe(&garden, error)).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    2 cannot read octo/garden#404: GraphQL says: Could not resolve to an issue or pull request with the number of 404.
      check that it exists and that the token has `issues: read` and `pull-requests: read`
    2 cannot read octo/cellar#1: GraphQL says: Could not resolve to a Repository with the name 'octo/cellar'.
      check that it exists and that the token has `issues: read` and `pull-requests: read`
    2 cannot read comment 7 in octo/garden: GET http://host/repos/octo/garden/issues/comments/7: answered 404 (Not Found), request REQUEST
      check that it exists and that the token has `issues: read`
    2 cannot read the comments on octo/cellar#1: GET http://host/repos/octo/cellar/issues/1/comments: answered 404 (Not Found), request REQUEST
      check that it exists and that the token has `issues: read`
    ");
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_stands_once_and_can_be_found() {
    for fault in [FaultKind::AnswerWithheld, FaultKind::AnswerCut] {
        let garden = Garden::new().await;
        let github = garden.seen_by("fro-bot");
        drop(garden.world.faults().on(COMMENTS, fault));

        let error = github.post_comment(&garden.permit(), &clean("Only once.")).await.unwrap_err();

        assert!(error.ambiguous(), "{error}");
        assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), ["Only once."]);
        let comments = github.comments(1, Since::TheBeginning).await.unwrap();
        assert!(comments.iter().any(|comment| comment.body == "Only once."));
    }
}

#[tokio::test]
async fn a_comment_that_never_arrived_is_just_as_uncertain_and_not_sent_again() {
    for fault in [FaultKind::Dropped, FaultKind::Status(502)] {
        let garden = Garden::new().await;
        drop(garden.world.faults().on(COMMENTS, fault));
        let posting = garden.seen_by("fro-bot").post_comment(&garden.permit(), &clean("Never.")).await;
        assert!(posting.unwrap_err().ambiguous());
        assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_comment_held_back_by_a_limit_is_posted_once() {
    let garden = Garden::new().await;
    drop(garden.world.faults().on(COMMENTS, FaultKind::SecondaryRateLimit { retry_after: None }));
    garden.seen_by("fro-bot").post_comment(&garden.permit(), &clean("Later.")).await.unwrap();
    assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), ["Later."]);
}

#[tokio::test]
async fn a_limit_that_lasts_is_upstreams_and_says_when() {
    let garden = Garden::new().await;
    let reset_in = std::time::Duration::from_mins(15);
    drop(garden.world.faults().on(COMMENTS, FaultKind::RateLimit { reset_in }));
    let posting = garden.seen_by("fro-bot").post_comment(&garden.permit(), &clean("Never.")).await;
    let fault = posting.unwrap_err().fault();
    let Fault::Upstream { retry: fro_core::fault::Retry::After(wait), .. } = fault else {
        panic!("{fault:?}")
    };
    assert!((890..=902).contains(&wait.as_secs()), "{wait:?}");
}

#[tokio::test]
async fn what_does_no_harm_is_tried_again() {
    let garden = Garden::new().await;
    let (github, permit) = (garden.seen_by("fro-bot"), garden.permit());
    let routes = [
        "POST /graphql",
        "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions",
        "PATCH /repos/{owner}/{repo}/issues/comments/{id}",
        "POST /repos/{owner}/{repo}/labels",
        "POST /repos/{owner}/{repo}/issues/{number}/labels",
        "DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}",
    ];
    for route in routes {
        drop(garden.world.faults().on(route, FaultKind::AnswerWithheld));
    }
    let posted = github.post_comment(&permit, &clean("One.")).await.unwrap();

    github.subject(1).await.unwrap();
    github.react(&permit, Reaction::Eyes).await.unwrap();
    github.update_comment(&permit, &posted, &clean("Two.")).await.unwrap();
    github.ensure_label(&permit, &Label::WORKING).await.unwrap();
    github.add_label(&permit, &Label::WORKING).await.unwrap();
    github.remove_label(&permit, &Label::WORKING).await.unwrap();

    assert_eq!(garden.world.faults().unspent(), Vec::<String>::new());
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: eyes"]);
    assert_eq!(garden.world.comments_by(REPO, 1, "fro-bot"), ["Two."]);
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_upstreams() {
    let garden = Garden::new().await;
    let body = r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#.to_owned();
    let limited = FaultKind::Answer { status: 200, headers: vec![], body };
    let odd = r#"{"data":{"repository":{"isPrivate":"no"}}}"#.to_owned();
    let odd = FaultKind::Answer { status: 200, headers: vec![], body: odd };
    let mut all = Vec::new();
    for fault in [FaultKind::MalformedJson, FaultKind::Oversized(17 << 20), limited, odd] {
        drop(garden.world.faults().on("POST /graphql", fault));
        all.push(describe(&garden, &garden.seen_by("fro-bot").subject(1).await.unwrap_err()));
    }
    insta::assert_snapshot!(all.join("\n"), @"
    3 cannot read octo/garden#1: POST http://host/graphql: the answer cannot be understood at `body`: EOF while parsing a string at line 1 column 25, request REQUEST
      trying again will not help; see the log for what it said
    3 cannot read octo/garden#1: POST http://host/graphql: the answer is larger than 16777216 bytes, request REQUEST
      trying again will not help; see the log for what it said
    3 cannot read octo/garden#1: GraphQL says: API rate limit exceeded
      try again in a few minutes
    3 cannot read octo/garden#1: POST http://host/graphql: the answer cannot be understood at `data.repository.isPrivate`: expected a boolean at line 1 column 39, request REQUEST
      trying again will not help; see the log for what it said
    ");
}
