//! What one engine learned, the next is reminded of: the real engine, its database and a folder as the store.

use fro_agent::{Agent, Job, Offer, Plan, Process, Question};
use fro_core::continuity::{Continuity, Fresh, Reminder, Topic};
use fro_sim::World;
use jiff::Timestamp;
use serde_json::json;

use super::{ask, job, plan, settings};

fn topic(words: &str) -> Topic {
    Topic { words: words.to_owned(), around: Vec::new() }
}

/// Asks one question in an engine of its own, which is then finished, and returns the session's id and what it was
/// reminded of.
async fn one_run(process: &Process, job: &Job, world: &World, says: &str) -> (String, Reminder) {
    let mut agent = Agent::open(process, job, &|_| {}).unwrap();
    let mut prepared = agent.prepare().await.unwrap();
    let reminder = prepared.remember(&job.permit, topic("why is the floor wet")).await.unwrap();
    let running = prepared.start(Offer::usual()).await.unwrap();
    let continuity = Some(reminder.continuity.clone());
    let mut session = running.open_session(Plan { continuity, ..plan(job, "The floor") }).await.unwrap();
    world.model().says(says);
    let question =
        Question { text: "Why is the floor wet?".to_owned(), files: Vec::new(), began: Timestamp::now() };
    let turn = session.ask(question).await;
    session.record(&turn, vec!["https://example.org/1".to_owned()]).await;
    let id = session.id().to_owned();
    assert_eq!(session.warnings(), [""; 0]);
    drop(session);
    let finished = agent.finish().await;
    assert!(finished.kept.is_some_and(|keeping| keeping.warnings.is_empty()));
    finished.cleaned.unwrap();
    (id, reminder)
}

#[tokio::test]
async fn the_next_engine_goes_on_in_the_session_and_can_forget_it() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let process = Process::new(settings(&world, &folder));
    let job = job(&world, &folder);
    let (first, reminder) = Box::pin(one_run(&process, &job, &world, "The seal of the tap is hard.")).await;
    assert_eq!(reminder.continuity, Continuity::Fresh(Fresh::First));

    let (second, reminder) = Box::pin(one_run(&process, &job, &world, "Still the seal.")).await;
    assert_eq!(reminder.continuity, Continuity::Continued(first.clone()));
    assert_eq!(second, first);
    let seen = json!(world.model().seen().last().unwrap().body).to_string();
    assert!(seen.contains("The seal of the tap is hard."), "the model hears what it said before: {seen}");

    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    agent.recall().await;
    assert!(agent.memory().starts_with("hit, 1 session"), "{}", agent.memory());
    let status = agent.subject_status(&job.permit).await.unwrap();
    assert_eq!(status.past.iter().map(|past| past.outcome.as_str()).collect::<Vec<_>>(), ["answered"]);
    assert_eq!(status.session.map(|session| session.id), Some(first));
    assert_eq!(agent.forget(&job.permit).await, Ok(1));
    agent.finish().await.cleaned.unwrap();

    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    agent.recall().await;
    let status = agent.subject_status(&job.permit).await.unwrap();
    assert_eq!((status.past.len(), status.session), (0, None));
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn whoever_begins_afresh_is_told_how_the_last_session_ended_and_may_choose_it_again() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let process = Process::new(settings(&world, &folder));
    let job = job(&world, &folder);
    let (first, _) = Box::pin(one_run(&process, &job, &world, "The seal of the tap is hard.")).await;

    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    let mut prepared = agent.prepare().await.unwrap();
    let afresh =
        prepared.remember_afresh(&job.permit, topic("the seal of the tap"), Fresh::Full).await.unwrap();
    assert_eq!(afresh.continuity, Continuity::Fresh(Fresh::Full));
    let (before, words) = afresh.before.expect("the last session is told of");
    assert_eq!(before.id, first);
    assert!(words.iter().any(|said| said.text.contains("The seal of the tap is hard.")), "{words:?}");
    let chosen = prepared.remember_in(&job.permit, topic("the seal"), &first).await.unwrap();
    assert_eq!(chosen.continuity, Continuity::Continued(first));
    let unknown = prepared.remember_in(&job.permit, topic("the seal"), "ses_unknown").await.unwrap();
    assert_eq!(unknown.continuity, Continuity::Fresh(Fresh::Gone));
    agent.discard().await.unwrap();
}

#[tokio::test]
async fn what_an_engine_learned_that_is_discarded_was_never_said() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let process = Process::new(settings(&world, &folder));
    let job = job(&world, &folder);
    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    let running = agent.prepare().await.unwrap().start(Offer::usual()).await.unwrap();
    let mut session = running.open_session(plan(&job, "The floor")).await.unwrap();
    world.model().says("The seal of the tap is hard.");
    ask(&mut session, "Why is the floor wet?").await;
    drop(session);
    agent.discard().await.unwrap();
    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    agent.recall().await;
    assert_eq!(agent.memory(), "miss (first run)");
    agent.finish().await.cleaned.unwrap();
    let left: Vec<_> = fs_err::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
