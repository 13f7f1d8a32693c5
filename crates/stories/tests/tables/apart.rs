//! Ten runs of the real engine at once, each on an issue of its own: no session is lost among the saves of the others.

use std::{collections::BTreeSet, path::PathBuf};

use fro_sim::model::{Reply, Seen};
use fro_stories::{Launched, REPO, Run, Sim};

use crate::memory::{bucket::Bucket, read, through};

const RUNS: usize = 10;

#[tokio::test]
async fn ten_runs_at_once_on_ten_issues_keep_and_continue_ten_sessions() {
    let (sim, bucket) = (Sim::new().await, Bucket::open());
    let issue = |title: String| sim.world().change(|state| state.open_issue(REPO, "maya", &title, "Wet."));
    let issues: Vec<u64> = (0..RUNS).map(|number| issue(format!("Bed {number} is wet")).unwrap()).collect();
    let (begun, raced_first) = all_at_once(&sim, &bucket, &issues, Round::First).await;
    let (continued, raced_then) = all_at_once(&sim, &bucket, &issues, Round::Second).await;
    println!("{RUNS} runs at once: {raced_first} had to merge with others, then {raced_then}");

    assert_eq!(begun, continued, "every issue goes on in its own session");
    assert_eq!(begun.iter().collect::<BTreeSet<_>>().len(), RUNS, "{begun:?}");
    let seen = sim.model().seen();
    for (session, issue) in begun.iter().zip(&issues) {
        every_turn_is_there_once_in_order(&bucket, session, *issue);
        let last = seen.iter().rfind(|seen| seen.session.as_ref() == Some(session)).unwrap();
        let history = last.render();
        assert!(
            history.contains(&answer(*issue, Round::First)),
            "{session} was continued blindly: {history}"
        );
    }
    sim.finish().await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    First,
    Second,
}

fn question(issue: u64, round: Round) -> String {
    format!("remark {round:?}-{issue}.")
}

fn answer(issue: u64, round: Round) -> String {
    format!("Noted: {}", question(issue, round))
}

/// Asks under every issue at once, and returns the session of each, and how many had to merge with others.
async fn all_at_once(sim: &Sim, bucket: &Bucket, issues: &[u64], round: Round) -> (Vec<String>, usize) {
    let mut runs: Vec<(Launched<'_>, PathBuf)> = Vec::new();
    for issue in issues {
        let known = issues.to_owned();
        sim.model().plays(Reply::answering(move |seen| Reply::text(answered(seen, &known, round))));
        let text = format!("@fro-bot remember {}", question(*issue, round));
        let comment = sim.world().write_comment(REPO, *issue, "maya", &text);
        let output = sim.folder().join(format!("output-{round:?}-{issue}"));
        let mention = through(bucket, sim.mention("").again(comment)).variable("GITHUB_OUTPUT", &output);
        let state = sim.folder().join(format!("state-{round:?}-{issue}"));
        let mention = mention.variable("GITHUB_RUN_ID", comment.to_string()).variable("GITHUB_STATE", state);
        runs.push((mention.start(), output));
    }
    let mut ended: Vec<Run> = Vec::new();
    let mut sessions = Vec::new();
    for (run, output) in runs {
        let run = run.end().await;
        let told = fs_err::read_to_string(output).unwrap_or_default();
        assert!(run.code == Some(0) && told.contains("memory-saved=true"), "{told}\n{run}");
        sessions.extend(told.lines().find_map(|line| line.strip_prefix("session-id=")).map(str::to_owned));
        ended.push(run);
    }
    let raced = ended.iter().filter(|run| run.log.contains("other runs that saved meanwhile")).count();
    assert!(raced > 0, "no two saved at the same time: {ended:?}");
    (sessions, raced)
}

/// Answers whichever of the questions is asked: the runs come in any order.
fn answered(seen: &Seen, issues: &[u64], round: Round) -> String {
    let asked = seen.last_user();
    let issue = issues.iter().find(|issue| asked.contains(&question(**issue, round)));
    answer(*issue.unwrap_or_else(|| panic!("nobody asked this: {asked}")), round)
}

fn every_turn_is_there_once_in_order(bucket: &Bucket, session: &str, issue: u64) {
    let said = read(bucket, session);
    let answers: Vec<_> = said.iter().filter(|(role, _)| role == "assistant").map(|(_, text)| text).collect();
    assert_eq!(answers, [&answer(issue, Round::First), &answer(issue, Round::Second)], "{said:#?}");
    for round in [Round::First, Round::Second] {
        let place = said.iter().position(|(_, text)| *text == answer(issue, round)).unwrap();
        let (role, text) = &said[place - 1];
        assert!(role == "user" && text.contains(&question(issue, round)), "{said:#?}");
    }
}
