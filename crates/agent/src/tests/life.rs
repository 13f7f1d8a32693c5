//! What is left of an engine that was never started, of a run that was killed, and what is known of models and memory.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, sync::Mutex};

use fro_core::{
    Fault, Reach,
    remembered::Audience,
    tool_call::{ListPage, Read, SessionSearch},
};
use fro_memory::{Keeping, Kept, Ledger, StoreSettings};
use serde_json::json;

use super::{
    garden::{Garden, REPO},
    job, origin, permit,
};
use crate::{
    Agent, KilledRun, Process, Settings,
    memory::{Memory, PRIVATE, RowOwner, on_page, save_trouble, told_of_save},
    state::State,
    step::Step,
    try_model,
};

fn left_in(garden: &Garden) -> Vec<String> {
    let entries = fs_err::read_dir(garden.folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with("fro-bot-"));
    names.sort();
    names
}

#[tokio::test]
async fn an_engine_that_was_only_opened_leaves_nothing() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    let steps = Mutex::new(Vec::new());
    let tell = |step: Step| steps.lock().unwrap().push(step);
    let mut agent = Agent::open(&garden.process, &job, &tell).unwrap();
    assert_eq!(left_in(&garden).len(), 2, "the engine's folder and the private one");
    let told = steps.lock().unwrap().clone();
    let [Step::Opened { private }] = told.as_slice() else { panic!("{told:?}") };
    assert!(private.starts_with(garden.folder.path()) && private.exists());
    assert_eq!(agent.walls(), "the engine was not started");
    assert_eq!((agent.network(), agent.gh(), agent.sessions()), (None, None, Vec::new()));
    let handover = agent.hand_over().await;
    assert_eq!((handover.notes.len(), handover.links.len(), handover.warnings.len()), (0, 0, 0));
    let finished = agent.finish().await;
    assert_eq!((finished.kept, finished.cleaned), (None, Ok(())));
    drop(finished.private);
    assert_eq!(left_in(&garden), [""; 0]);
}

#[tokio::test]
async fn an_engine_that_is_discarded_keeps_no_memory_either() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    let agent = Agent::open(&garden.process, &job, &|_| {}).unwrap();
    agent.discard().await.unwrap();
    assert_eq!(left_in(&garden), [""; 0]);
    assert!(!garden.folder.path().join("memory").join("head").exists());
}

#[tokio::test]
async fn a_machine_without_room_for_folders_is_told_to_its_owner() {
    let garden = Garden::with(|_, settings| settings.scratch = settings.scratch.join("no-such-folder")).await;
    let job = garden.job(1, "@fro-bot why?");
    let Err(fault) = Agent::open(&garden.process, &job, &|_| {}) else { panic!("it opened") };
    assert!(fault.what().contains("no-such-folder") && fault.hint().contains("temporary files"), "{fault}");
}

#[tokio::test]
async fn nothing_is_set_up_for_a_model_that_cannot_be_asked() {
    let garden = Garden::with(|_, settings| settings.engine.config = json!({})).await;
    let job = garden.job(1, "@fro-bot why?");
    let steps = Mutex::new(Vec::new());
    let tell = |step: Step| steps.lock().unwrap().push(step);
    let mut agent = Agent::open(&garden.process, &job, &tell).unwrap();
    let fault = agent.prepare().await.err().unwrap();
    assert!(fault.hint().contains("auth-json") || fault.hint().contains("model"), "{fault}");
    assert_eq!(agent.prepare().await.err().unwrap().what(), fault.what(), "a second try says the same");
    assert!(steps.lock().unwrap().iter().all(|step| matches!(step, Step::Opened { .. })));
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn a_first_run_misses_its_memory_and_forgets_nothing() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot forget");
    let mut agent = Agent::open(&garden.process, &job, &|_| {}).unwrap();
    assert_eq!(agent.memory(), "not looked up");
    agent.recall().await;
    assert_eq!(agent.memory(), "miss (first run)");
    let status = agent.subject_status(&job.permit).await.unwrap();
    assert_eq!((status.past.len(), status.session), (0, None));
    assert_eq!(agent.forget(&job.permit).await, Ok(0));
    assert_eq!(agent.warnings(), [""; 0]);
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn where_no_memory_is_kept_none_is_missed() {
    let garden = Garden::with(|_, settings| settings.memory = StoreSettings::default()).await;
    let job = garden.job(1, "@fro-bot status");
    let mut agent = Agent::open(&garden.process, &job, &|_| {}).unwrap();
    agent.recall().await;
    assert_eq!((agent.memory().as_str(), agent.warnings().len()), ("none is kept", 0));
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_a_warning_and_nothing_is_called_forgotten() {
    let garden = Garden::new().await;
    fs_err::write(garden.folder.path().join("memory"), "no folder").unwrap();
    let job = garden.job(1, "@fro-bot forget");
    let mut agent = Agent::open(&garden.process, &job, &|_| {}).unwrap();
    agent.recall().await;
    assert_eq!(agent.memory(), "could not be read, began without it");
    assert!(agent.forget(&job.permit).await.is_err(), "there may be much to forget");
    assert_ne!(agent.warnings(), [""; 0]);
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn an_agent_without_memory_is_told_that_there_is_none() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    let memory = Memory::open(garden.scope(&job), garden.folder.path().join("engine")).unwrap();
    let archive = memory.archive_apart();
    let unknown = Read { session_id: "ses_1".to_owned(), skip: 0, limit: None };
    assert_eq!(archive.read(&unknown).unwrap(), None);
    assert_eq!(archive.info("ses_1").unwrap(), None);
    let list = archive.list(ListPage::default()).unwrap();
    let search = SessionSearch { query: "the tap".to_owned(), limit: None };
    let found = archive.search(&search, "ses_own").unwrap();
    for told in [&list, &found] {
        assert!(!told.is_empty() && !told.contains("ses_"), "{told}");
    }
}

#[tokio::test]
async fn a_session_is_written_down_before_it_is_asked() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    let memory = Memory::open(garden.scope(&job), garden.folder.path().join("engine")).unwrap();
    let (record, whose) =
        (memory.record(), RowOwner { permit: &job.permit, origin: &job.origin, audience: None });
    memory.written_by("1.18.33");
    record.begin("ses_1", whose.begun("ses_1")).await.unwrap();
    record.begin("ses_2", whose.begun("ses_2")).await.unwrap();
    assert_eq!(record.sessions(), ["ses_1", "ses_2"]);
    let state = State::read(memory.private()).unwrap().unwrap();
    assert_eq!((state.run.as_str(), state.engine_version.as_deref()), ("42", Some("1.18.33")));
    assert_eq!(state.sessions, ["ses_1", "ses_2"]);
    let runs = Ledger::open(memory.private().join("ledger.db")).unwrap().runs_about("octo/garden#1").unwrap();
    let [run] = runs.as_slice() else { panic!("two sessions of one run have one row: {runs:?}") };
    assert_eq!((run.outcome.as_str(), run.session.as_deref()), ("broken off", Some("ses_2")));
}

/// Writes down what a killed run leaves, and returns its private folder.
fn killed(garden: &Garden, run: &str, engine: &str) -> std::path::PathBuf {
    let private = garden.folder.path().join(format!("{PRIVATE}x"));
    let engine_data = garden.folder.path().join(engine).join("data");
    fs_err::create_dir_all(&private).unwrap();
    fs_err::set_permissions(&private, Permissions::from_mode(0o700)).unwrap();
    fs_err::create_dir_all(&engine_data).unwrap();
    let (sessions, parent, engine_version) = (vec!["ses_1".to_owned()], None, None);
    State { run: run.to_owned(), engine_data, sessions, parent, engine_version, wall: None }
        .write(&private)
        .unwrap();
    private
}

#[tokio::test]
async fn what_a_killed_run_left_is_taken_up_once_and_removed() {
    let garden = Garden::new().await;
    let private = killed(&garden, "42", "fro-bot-y");
    let left = KilledRun::read(&garden.process, "42", private.clone()).unwrap();
    assert!(left.has_memory());
    let kept = left.save(&garden.process, (&origin(), Audience::Everyone), &|_| {}).await;
    assert_eq!(kept, None, "nothing was set apart, so the agent was never asked");
    left.remove().unwrap();
    assert_eq!(left_in(&garden), [""; 0]);
    let gone = KilledRun::read(&garden.process, "42", private).unwrap();
    assert!(!gone.has_memory(), "doing it twice is doing it once");
    gone.remove().unwrap();
}

#[tokio::test]
async fn what_a_killed_run_left_is_not_read_while_something_of_it_may_run() {
    let garden = Garden::new().await;
    let private = killed(&garden, "42", "fro-bot-y");
    fs_err::create_dir(private.join("apart")).unwrap();
    let left = KilledRun::read(&garden.process, "42", private).unwrap();
    let steps = Mutex::new(Vec::new());
    let tell = |step: Step| steps.lock().unwrap().push(step);
    let kept = left.save(&garden.process, (&origin(), Audience::Everyone), &tell).await;
    let told = steps.lock().unwrap().clone();
    let [Step::Warning(why)] = told.as_slice() else { panic!("{told:?}") };
    let kept = kept.expect("what went wrong is told to those who read the answer");
    assert_eq!((kept.kept, kept.places, kept.warnings), (None, Vec::new(), vec![why.clone()]));
    assert_eq!(
        why,
        "the memory was not saved: what the agent started does not stand still: no process behind the wall can be seen"
    );
    left.remove().unwrap();
    assert_eq!(left_in(&garden), [""; 0]);
}

#[tokio::test]
async fn nothing_of_another_run_is_touched() {
    let garden = Garden::new().await;
    let refused = |private: std::path::PathBuf| {
        let read = KilledRun::read(&garden.process, "42", private);
        read.map(|_| ()).unwrap_err().what().to_owned()
    };
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(refused(elsewhere.path().to_owned()).ends_with("is not a folder of a run"));
    assert!(refused(garden.folder.path().join("memory")).ends_with("is not a folder of a run"));
    assert_eq!(refused(killed(&garden, "43", "fro-bot-y")), "what was left is of another run");
    assert!(refused(killed(&garden, "42", "home")).ends_with("is not a folder of a run"));
    assert!(garden.folder.path().join("home").join("data").exists());
}

#[tokio::test]
async fn a_model_is_tried_with_one_word_and_a_wrong_key_is_the_operator_s_to_mend() {
    let garden = Garden::new().await;
    garden.world.model().answers_aside("ready");
    let model = try_model(&garden.process).await.unwrap();
    assert_eq!(garden.world.model().asides().len(), 1, "{model}");
    garden.world.model().accepts_only("another-key");
    let fault = try_model(&garden.process).await.unwrap_err();
    assert!(matches!(fault, Fault::Yours { .. }) && fault.hint().contains("auth-json"), "{fault:?}");
}

#[tokio::test]
async fn other_settings_of_the_same_process_share_its_client_and_know_their_own_secrets() {
    let garden = Garden::new().await;
    let repo = fro_core::RepoName::parse(REPO).unwrap();
    let before = garden.process.github(&repo).unwrap().viewer().await.unwrap();
    let hidden = vec![fro_core::Secret::new("planted-secret-0123456789")];
    let other = garden.process.with(Settings { hidden, ..garden.process.settings.clone() });
    assert_eq!(other.github(&repo).unwrap().viewer().await.unwrap(), before);
    let shown = |process: &Process| process.redactor.clean("planted-secret-0123456789").found();
    assert_eq!((shown(&garden.process), shown(&other)), (0, 1));
}

#[test]
fn a_save_is_told_in_words() {
    let keeping = |kept: Option<Kept>, warnings: &[&str]| Keeping {
        kept,
        places: Vec::new(),
        warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
    };
    assert_eq!(told_of_save(&Kept::Nothing), "nothing to save");
    assert_eq!(save_trouble(&keeping(Some(Kept::Nothing), &[])), [""; 0]);
    assert_eq!(save_trouble(&keeping(None, &["the disk is full"])), ["the disk is full"]);
    let page = on_page(&keeping(None, &["the disk is full"]));
    assert!(page.contains("not saved") && page.contains("the disk is full"), "{page}");
}

#[test]
fn a_job_knows_its_subject_as_the_ledger_does() {
    let job = job(permit(Reach::Work));
    assert_eq!(crate::subject(&job.permit), "octo/garden#7");
}
