//! Who is answered and who is not.

use std::borrow::Borrow;

use super::*;
use crate::{
    event::{Comment, Discussion, Order, OrderKind, tests::all},
    names::RepoName,
    place::{NodeId, Subject, Surface, Target},
};

/// Returns maya's mention on octo/garden#7.
pub(crate) fn a_mention() -> Trigger {
    Trigger::Comment(comment("maya", "@fro-bot why is the floor wet?"))
}

/// Returns the permit that it gets.
pub(crate) fn a_permit() -> Permit {
    permit_for(&a_mention())
}

/// Returns the permit that something gets which somebody with write permission set off.
pub(crate) fn permit_for(trigger: &Trigger) -> Permit {
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    match decide(trigger, &facts, &Policy::usual()) {
        Decision::Run(permit, _) => *permit,
        Decision::Skip(reason) => panic!("{reason}"),
    }
}

fn garden() -> RepoName {
    RepoName::parse("octo/garden").unwrap()
}

fn comment(author: &str, body: &str) -> Comment {
    Comment {
        repo: garden(),
        subject: Subject::Issue(7),
        id: 99,
        author: Login::new(author),
        body: body.to_owned(),
        labels: Vec::new(),
        locked: false,
    }
}

fn issue(action: IssueAction, body: &str) -> Issue {
    Issue {
        repo: garden(),
        number: 7,
        action,
        author: Login::new("mallory"),
        sender: Login::new("maya"),
        words: body.to_owned(),
        labels: Vec::new(),
        locked: false,
    }
}

fn pull(action: PullAction) -> Pull {
    Pull {
        event: PullEvent::Plain,
        repo: garden(),
        number: 2,
        action,
        author: Login::new("rita"),
        sender: Login::new("rita"),
        body: String::new(),
        labels: Vec::new(),
        draft: false,
        locked: false,
        head: Head::Here,
        sha: "89e6c98d".to_owned(),
    }
}

fn describe_decision(trigger: &Trigger, permission: Permission, policy: &Policy) -> String {
    let facts = Facts { own: Login::new("garden-helper[bot]"), permission, answered: Answered::No };
    match decide(trigger, &facts, policy) {
        Decision::Run(permit, _) => {
            format!("run for {} on {}: {:?}", permit.asker(), permit.subject(), permit.reach())
        }
        Decision::Skip(reason) => format!("{}: {reason}", reason.word()),
    }
}

fn check(trigger: impl Borrow<Trigger>, permission: Permission, expect: &str) {
    assert_eq!(describe_decision(trigger.borrow(), permission, &Policy::usual()), expect);
}

fn check_pull(pull: Pull, policy: &Policy, expect: &str) {
    assert_eq!(describe_decision(&Trigger::Pull(pull), Permission::None, policy), expect);
}

#[test]
fn a_maintainer_is_answered() {
    check(a_mention(), Permission::Write, "run for maya on issue #7: Work");
}

#[test]
fn a_reader_is_not() {
    let expect = "unauthorized_author: @rita has `read` permission, asking needs `write`";
    check(Trigger::Comment(comment("rita", "@fro-bot why?")), Permission::Read, expect);
}

#[test]
fn who_may_ask_is_a_setting_and_does_not_give_work() {
    let policy = Policy { needed: Permission::Read, ..Policy::usual() };
    let trigger = Trigger::Comment(comment("rita", "@fro-bot why?"));
    assert_eq!(describe_decision(&trigger, Permission::Triage, &policy), "run for rita on issue #7: Answer");
}

#[test]
fn nobody_who_did_not_call_is_answered() {
    let expect = "no_mention: the comment does not mention @fro-bot";
    check(Trigger::Comment(comment("maya", "why?")), Permission::Admin, expect);
}

#[test]
fn we_never_answer_ourselves() {
    let by = |login| Trigger::Comment(comment(login, "I am @fro-bot"));
    check(by("fro-bot"), Permission::Admin, "self_comment: this is by @fro-bot, which is us");
    check(by("Fro-Bot[bot]"), Permission::Admin, "self_comment: this is by @Fro-Bot[bot], which is us");
    check(by("garden-helper"), Permission::Admin, "self_comment: this is by @garden-helper, which is us");
    let pushed = Pull { sender: Login::new("garden-helper[bot]"), ..pull(PullAction::Synchronized) };
    check(
        Trigger::Pull(pushed),
        Permission::None,
        "self_comment: this is by @garden-helper[bot], which is us",
    );
    let opened = Issue { author: Login::new("fro-bot"), ..issue(IssueAction::Opened, "I found this") };
    check(Trigger::Issue(opened), Permission::None, "self_comment: this is by @fro-bot, which is us");
}

#[test]
fn a_locked_conversation_stays_quiet() {
    let locked = Comment { locked: true, ..comment("maya", "@fro-bot why?") };
    check(Trigger::Comment(locked), Permission::Admin, "issue_locked: issue #7 is locked");
    let locked = Pull { locked: true, ..pull(PullAction::Opened) };
    check(Trigger::Pull(locked), Permission::Admin, "issue_locked: pull request #2 is locked");
}

#[test]
fn allows_opened_action() {
    let opened = issue(IssueAction::Opened, "It is wet.");
    check(Trigger::Issue(opened), Permission::None, "run for mallory on issue #7: ReadOnly");
}

#[test]
fn requires_mention_for_edited_action() {
    let edited = issue(IssueAction::Edited, "It is wet.");
    check(Trigger::Issue(edited), Permission::Write, "no_mention: the edit does not mention @fro-bot");
}

#[test]
fn allows_edited_action_with_mention() {
    let edited = issue(IssueAction::Edited, "It is wet. @fro-bot, why?");
    check(Trigger::Issue(edited), Permission::Write, "run for maya on issue #7: Work");
}

#[test]
fn on_an_edit_the_editor_counts() {
    let edited = Issue { sender: Login::new("rita"), ..issue(IssueAction::Edited, "@fro-bot, why?") };
    let expect = "unauthorized_author: @rita has `read` permission, asking needs `write`";
    check(Trigger::Issue(edited), Permission::Read, expect);
}

#[test]
fn a_pull_request_runs_for_anyone_and_only_looks() {
    for action in [PullAction::Opened, PullAction::Synchronized, PullAction::Reopened, PullAction::Ready] {
        check_pull(pull(action), &Policy::usual(), "run for rita on pull request #2: ReadOnly");
    }
}

#[test]
fn skips_draft_prs_by_default() {
    let draft = Pull { draft: true, ..pull(PullAction::Opened) };
    check_pull(draft, &Policy::usual(), "draft_pr: pull request #2 is a draft");
}

#[test]
fn allows_draft_prs_when_skip_draft_prs_is_false() {
    let policy = Policy { drafts: DraftPulls::Reviewed, ..Policy::usual() };
    let draft = Pull { draft: true, ..pull(PullAction::Opened) };
    check_pull(draft, &policy, "run for rita on pull request #2: ReadOnly");
}

#[test]
fn a_label_keeps_us_away_unless_somebody_asks() {
    let labels = vec!["Skip-Agent-Review".to_owned()];
    let labelled = Pull { labels: labels.clone(), ..pull(PullAction::Opened) };
    check_pull(labelled, &Policy::usual(), "skip_label: the label `Skip-Agent-Review` says to stay away");
    let requested = PullAction::ReviewRequested(Login::new("fro-bot"));
    let asked = Pull { labels, draft: true, ..pull(requested) };
    check_pull(asked, &Policy::usual(), "run for rita on pull request #2: ReadOnly");
}

#[test]
fn only_a_review_requested_from_us_is_ours() {
    let others = pull(PullAction::ReviewRequested(Login::new("octo")));
    check_pull(others, &Policy::usual(), "others_review: somebody else was asked to review");
    let ours = pull(PullAction::ReviewRequested(Login::new("Fro-Bot[bot]")));
    check_pull(ours, &Policy::usual(), "run for rita on pull request #2: ReadOnly");
}

#[test]
fn a_fork_without_secrets_ends_with_the_remedies() {
    let policy = Policy { secrets: Secrets::Withheld, ..Policy::usual() };
    let fork = Pull { head: Head::Fork, ..pull(PullAction::Opened) };
    let expect =
        "no_secrets: pull request #2 is from a fork or from Dependabot, and such a run gets no secrets";
    check_pull(fork.clone(), &policy, expect);
    check_pull(Pull { sender: Login::new("dependabot[bot]"), ..pull(PullAction::Opened) }, &policy, expect);
    check_pull(pull(PullAction::Opened), &policy, "run for rita on pull request #2: ReadOnly");
    check_pull(fork.clone(), &Policy::usual(), "run for rita on pull request #2: ReadOnly");
    let target = Pull { event: PullEvent::Target, ..fork };
    check_pull(target, &policy, "run for rita on pull request #2: ReadOnly");
    assert!(SkipReason::NoSecrets(Subject::PullRequest(2)).hint().unwrap().contains("pull_request_target"));
}

#[test]
fn a_discussion_needs_a_mention_and_permission() {
    let begun = |body: &str| {
        Trigger::Discussion(Discussion {
            repo: garden(),
            number: 5,
            id: NodeId::new("D_5"),
            author: Login::new("maya"),
            body: body.to_owned(),
            locked: false,
        })
    };
    check(begun("Ideas?"), Permission::Write, "no_mention: the discussion does not mention @fro-bot");
    check(begun("Ideas, @fro-bot?"), Permission::Write, "run for maya on discussion #5: Work");
    let expect = "unauthorized_author: @maya has `none` permission, asking needs `write`";
    check(begun("Ideas, @fro-bot?"), Permission::None, expect);
}

#[test]
fn an_order_is_the_operator_s() {
    let order = Trigger::Order(Order {
        kind: OrderKind::Schedule,
        repo: garden(),
        actor: Login::new("github-actions[bot]"),
        prompt: "Water the beds.".to_owned(),
    });
    check(order.clone(), Permission::None, "run for github-actions[bot] on the repository: Work");
    assert_eq!(permit_for(&order).trust(), Trust::Operator);
}

#[test]
fn the_same_state_is_not_answered_twice() {
    let facts =
        Facts { own: Login::new("fro-bot"), permission: Permission::None, answered: Answered::Lately };
    let decision = decide(&Trigger::Pull(pull(PullAction::Reopened)), &facts, &Policy::usual());
    assert_eq!(decision, Decision::Skip(SkipReason::Duplicate(Subject::PullRequest(2))));
}

#[test]
fn what_the_event_rules_out_is_ruled_out_at_a_glance() {
    for trigger in all() {
        assert_eq!(glance(&trigger, &Policy::usual()), Ok(()), "{trigger:?}");
        let elsewhere = Policy { mention: Login::new("other-bot"), ..Policy::usual() };
        let calls = matches!(OnBehalfOf::from_trigger(&trigger, &elsewhere), OnBehalfOf::Asker);
        assert!(!calls || glance(&trigger, &elsewhere).is_err(), "{trigger:?}");
    }
}

#[test]
fn a_run_that_is_not_to_respond_touches_nothing_that_people_see() {
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    let policy = Policy { response: Response::None, ..Policy::usual() };
    for trigger in all() {
        let Decision::Run(permit, _) = decide(&trigger, &facts, &policy) else { continue };
        assert_eq!((permit.target(), permit.surface()), (&Target::Nowhere, &Surface::RunPage));
        assert_eq!(permit.subject(), trigger.subject());
    }
}

#[test]
fn who_looks_at_a_clone_of_their_own_reaches_nobody_else() {
    let permit =
        permit_local_review(&garden(), Subject::PullRequest(2), &Login::new("maya"), &Policy::usual());
    assert_eq!((permit.reach(), permit.trust()), (Reach::ReadOnly, Trust::Stranger));
    assert_eq!((permit.target(), permit.surface()), (&Target::Nowhere, &Surface::RunPage));
}
