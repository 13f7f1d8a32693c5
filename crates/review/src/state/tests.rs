//! The comments that the format promises, word for word, and what is read from them.

use fro_core::RepoName;
use serde_json::json;

use super::*;

/// A finding as the format has it, with nothing added.
const FINDING: &str = "Nested loops.\n\n---\n\n```rmcoc\n{\n  \"finding\": \"Nested loops found in data transformation.\",\n  \
                       \"assessment\": \"The array is large, making this O(n^2).\",\n  \"score\": 6\n}\n```\n";

fn account(login: &str, is_bot: bool) -> Account {
    Account { login: fro_core::Login::new(login), is_bot }
}

fn comment(id: u64, in_reply_to: Option<u64>, author: &Account, body: &str) -> ReviewComment {
    let told = json!({
        "id": id, "in_reply_to": in_reply_to, "author": author, "body": body, "path": "tap.rs", "line": 12, "original_line": 9,
        "created_at": format!("2026-01-01T00:00:{:02}Z", id % 60), "original_commit": format!("commit{id}"),
    });
    serde_json::from_value(told).unwrap()
}

fn rebuilt(own: &Account, comments: &[ReviewComment]) -> State {
    State::rebuild(own, &Seal::new(&RepoName::parse("octo/garden").unwrap(), 7, None), comments, &[])
}

/// Lets bot and people say something in a thread of ours.
fn check(said: &[(&str, &str)], expect: Status) {
    let own = account("opencode-reviewer[bot]", true);
    let mut comments = vec![comment(1, None, &own, FINDING)];
    for (who, body) in said {
        let author = if *who == "us" { own.clone() } else { account(who, who.ends_with("[bot]")) };
        comments.push(comment(comments.len() as u64 + 1, Some(1), &author, body));
    }
    let state = rebuilt(&own, &comments);
    assert_eq!(state.threads.len(), 1, "{said:?}");
    assert_eq!(state.threads[0].status, expect, "{said:?}");
}

#[test]
fn a_finding_is_read_from_what_the_format_asks_for() {
    for login in ["opencode-reviewer[bot]", "github-actions[bot]"] {
        let own = account(login, true);
        let state = rebuilt(&own, &[comment(7, None, &own, FINDING)]);
        let [thread] = state.threads.as_slice() else { panic!("{state:?}") };
        assert_eq!((thread.root.id, thread.path(), thread.root.line), (7, "tap.rs", Some(12)));
        assert_eq!((thread.status, thread.assessment.score.get()), (Status::Pending, 6));
        assert_eq!(thread.assessment.finding, "Nested loops found in data transformation.");
    }
}

#[test]
fn statuses_are_those_of_markers_and_blocks() {
    check(&[], Status::Pending);
    check(&[("maya", "Why?")], Status::Pending);
    check(&[("us", "✅ **Issue Resolved**\n\nFixed in a1b2c3.")], Status::Resolved);
    check(&[("us", "```rmcoc\n{ \"status\": \"RESOLVED\" }\n```")], Status::Resolved);
    check(&[("maya", "No."), ("us", "It matters all the same.")], Status::Disputed);
    check(&[("us", "🔺 **Escalated to Human Review**")], Status::Escalated);
    check(&[("us", "Here.\n\n```rmcoc\n{ \"status\": \"ESCALATED\" }\n```")], Status::Escalated);
    // The last event wins.
    check(&[("us", "🔺 **Escalated to Human Review**"), ("us", "✅ **Issue Resolved**")], Status::Resolved);
    check(&[("us", "✅ **Issue Resolved**"), ("us", "It is not.")], Status::Disputed);
    // Nobody else's markers count, nor what looks like one.
    for who in ["maya", "other[bot]", "opencode-reviewer"] {
        check(&[(who, "✅ **Issue Resolved**")], Status::Pending);
        check(&[(who, "```rmcoc\n{ \"status\": \"RESOLVED\" }\n```")], Status::Pending);
    }
    for spelt in [
        "✅ **Issue Resоlved**",
        "✅ **Issue\u{a0}Resolved**",
        "✅\u{fe0f} **Issue Resolved**",
        "> ✅ **Issue Resolved**",
    ] {
        check(&[("us", spelt)], Status::Disputed);
    }
}

#[test]
fn comments_without_a_valid_block_are_no_findings() {
    let (own, other) = (account("github-actions[bot]", true), account("mallory", false));
    for body in [
        "Just words.".to_owned(),
        FINDING.replace("\"score\": 6", "\"score\": 11"),
        FINDING.replace("\"score\": 6", "\"score\": \"6\""),
        FINDING.replace("\"finding\"", "\"found\""),
        FINDING.replace("rmcoc", "rmсос"),
        FINDING.replace("```", "> ```").replace("\n{", "\n> {"),
    ] {
        assert_eq!(rebuilt(&own, &[comment(1, None, &own, &body)]).threads, [], "{body}");
    }
    assert_eq!(rebuilt(&own, &[comment(1, None, &other, FINDING)]).threads, []);
}

#[test]
fn what_developers_say_is_collected_with_its_author_and_time() {
    let (own, maya) = (account("github-actions[bot]", true), account("maya", false));
    let comments = [
        comment(3, Some(1), &maya, "It is sorted."),
        comment(1, None, &own, FINDING),
        comment(2, Some(1), &maya, "Why?"),
        comment(4, Some(1), &account("other[bot]", true), "Coverage fell."),
    ];
    let state = rebuilt(&own, &comments);
    assert_eq!(
        serde_json::to_value(&state.threads[0].replies).unwrap(),
        json!([
            { "author": "maya", "body": "Why?", "timestamp": "2026-01-01T00:00:02Z" },
            { "author": "maya", "body": "It is sorted.", "timestamp": "2026-01-01T00:00:03Z" },
        ])
    );
}

#[test]
fn only_commits_before_the_newest_one_were_seen_or_spoken_of() {
    let look = |commit: &str| Look::whole(commit, &[]);
    let own = account("github-actions[bot]", true);
    let threads = rebuilt(&own, &[comment(1, None, &own, FINDING), comment(2, None, &own, FINDING)]).threads;
    let state = State { threads, reviewed: vec![look("commit2"), look("commit1")], refused: 0 };
    for (head, seen, spoken) in [
        ("commit3", Some("commit2"), Some("commit2")),
        ("commit2", Some("commit1"), Some("commit1")),
        ("commit1", Some("commit2"), Some("commit2")),
    ] {
        assert_eq!(state.seen_before(head).map(|look| look.commit.as_str()), seen, "{head}");
        assert_eq!(state.spoken_before(head), spoken, "{head}");
    }
    assert_eq!(State::default().seen_before("commit1"), None);
    assert_eq!(State::default().spoken_before("commit1"), None);
}
