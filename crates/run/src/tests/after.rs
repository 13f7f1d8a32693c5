//! What comes after a run: the step that follows a killed one, a shared session, and words that need no engine.

use std::time::Duration;

use fro_agent::Handover;
use fro_core::{
    Reach,
    conversation::outcome::{Trouble, Turn, Usage},
    remembered::Audience,
};
use fro_sim::FaultKind;

use super::*;
use crate::{answer::Request, publish, share, venue::Host};

impl Garden {
    /// Has something done for the request, as in the middle of a run.
    async fn asking<T>(&self, deed: impl AsyncFnOnce(&Request<'_>) -> T) -> T {
        let tell = |_| {};
        let admitted = match admit(&self.process, &self.occasion, &tell, pending()).await.unwrap() {
            Admission::Admitted(admitted) => admitted,
            Admission::Ended(ending) => panic!("{ending:?}"),
        };
        let Admitted { trigger, permit, .. } = &*admitted;
        let host = Host::open(&self.process, trigger).unwrap();
        let (process, occasion) = (&self.process, &self.occasion);
        let job = occasion.job(process, trigger, permit);
        let venue = host.venue(permit, occasion, &tell);
        let todos = &tokio::sync::watch::Sender::default();
        deed(&Request { process, occasion, job: &job, tell: &tell, trigger, permit, venue, todos }).await
    }
}

/// Where an agent of this garden would be asked.
async fn shared(garden: &Garden, data: Vec<Value>) -> Result<fro_core::say::summary::Share, String> {
    garden.asking(async |request| share::post(request, ("ses_0123456789", None), data).await).await
}

#[tokio::test]
async fn the_step_after_a_killed_run_takes_its_eyes_and_folders_away() {
    let garden = Garden::where_says("maya", "@fro-bot why is the floor wet?").await;
    let scratch = garden.folder.path().join("scratch");
    let private = scratch.join("fro-bot-private-x");
    fs_err::create_dir(&private).unwrap();
    garden
        .asking(async |request| {
            let mut seen = request.venue.acknowledgement(fro_core::task::Visibility::Shown);
            seen.begin().await.unwrap();
            seen.label().await;
        })
        .await;
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: eyes"]);
    for _ in 0..2 {
        fs_err::create_dir_all(&private).unwrap();
        let left = KilledRun::read(&garden.process, &garden.occasion, private.clone()).unwrap();
        assert!(!left.has_memory());
        left.finish(&garden.process, &garden.occasion, &|_| {}).await.unwrap();
        assert_eq!(garden.world.reactions_on(REPO, garden.call), [""; 0]);
        assert_eq!(garden.left_in_scratch(), 0);
    }
}

#[tokio::test]
async fn nothing_is_taken_away_where_the_event_was_never_for_us() {
    let garden = Garden::where_says("maya", "What a wet floor.").await;
    let private = garden.folder.path().join("scratch").join("fro-bot-private-x");
    fs_err::create_dir(&private).unwrap();
    let left = KilledRun::read(&garden.process, &garden.occasion, private).unwrap();
    left.finish(&garden.process, &garden.occasion, &|_| {}).await.unwrap();
    assert_eq!(garden.world.traffic().len(), 0);
    assert_eq!(garden.left_in_scratch(), 0);
}

#[tokio::test]
async fn a_session_is_shared_unless_something_in_it_is_secret() {
    let mut garden = Garden::where_says("maya", "@fro-bot why?").await;
    garden.process.share =
        ShareSettings { sharing: Sharing::Always, host: garden.world.api_url(), card: Card::Picture };
    let words =
        |text: &str| vec![json!({ "type": "session", "data": { "id": "ses_0123456789", "title": text } })];
    let share = shared(&garden, words("The floor")).await.unwrap();
    assert!(share.url.starts_with("http"), "{share:?}");
    assert!(share.card.is_some_and(|card| card.starts_with("https://") && card.contains(".png?")));
    assert_eq!(garden.world.state(|state| state.shares.len()), 1);
    let again = shared(&garden, words("The floor")).await.unwrap();
    assert_ne!(again.url, share.url, "each run has its own");

    let token = garden.process.agent.settings.token.expose().to_owned();
    let why = shared(&garden, words(&token)).await.unwrap_err();
    assert!(why.contains("secrets in it"), "{why}");
    let why = shared(&garden, words(&"x".repeat(17 << 20))).await.unwrap_err();
    assert_eq!(why, "it is larger than 16 MB");
    garden.world.faults().on("POST /api/share", FaultKind::Status(500)).always();
    assert!(shared(&garden, words("The floor")).await.is_err());
    assert_eq!(garden.world.state(|state| state.shares.len()), 2);
}

#[tokio::test]
async fn sharing_follows_the_settings_and_who_can_read_the_repository() {
    let table = [
        (Sharing::Always, Some(Audience::Insiders), true),
        (Sharing::Never, Some(Audience::Everyone), false),
        (Sharing::Public, Some(Audience::Everyone), true),
        (Sharing::Public, Some(Audience::Insiders), false),
        (Sharing::Public, None, false),
    ];
    let mut garden = Garden::where_says("maya", "@fro-bot why?").await;
    for (sharing, audience, expect) in table {
        garden.process.share.sharing = sharing;
        garden.occasion.audience = audience;
        let wanted = garden.asking(async |request| share::is_wanted(request)).await;
        assert_eq!(wanted, expect, "{sharing:?} {audience:?}");
    }
    garden.process.share.sharing = Sharing::Always;
    garden.process.policy.response = fro_core::gate::Response::None;
    assert!(!garden.asking(async |request| share::is_wanted(request)).await, "nothing is to be seen of it");
}

#[tokio::test]
async fn only_who_may_push_has_things_forgotten() {
    let mut garden = Garden::where_says("rita", "@fro-bot forget").await;
    garden.process.policy.needed = fro_core::Permission::Read;
    let reach = garden.asking(async |request| request.permit.reach()).await;
    assert_eq!(reach, Reach::Answer);
    let (ended, _) = garden.run().await;
    assert!(matches!(ended, Ok(Ending::Answered(_))), "{ended:?}");
    let [answer] = garden.said().try_into().unwrap();
    assert!(answer.contains("Only those who may push"), "{answer}");

    let garden = Garden::where_says("maya", "@fro-bot forget").await;
    let (ended, _) = garden.run().await;
    assert!(matches!(ended, Ok(Ending::Answered(_))), "{ended:?}");
}

#[tokio::test]
async fn a_memory_that_cannot_be_used_is_a_red_run_with_a_comment() {
    let garden = Garden::where_says("maya", "@fro-bot forget").await;
    fs_err::write(garden.folder.path().join("memory"), "no folder").unwrap();
    let (ended, _) = garden.run().await;
    let fault = ended.unwrap_err();
    assert!(fault.what().starts_with("the memory of #1 cannot be used"), "{fault}");
    assert_eq!(garden.said().len(), 1, "who asked is told");
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: confused"]);
}

#[tokio::test]
async fn a_request_that_no_model_can_answer_is_told_and_fails() {
    let garden = Garden::where_says("maya", "@fro-bot why is the floor wet?").await;
    let (ended, told) = garden.run().await;
    let fault = ended.unwrap_err();
    assert_eq!(fault.exit_code(), 2, "{fault}");
    let [answer] = garden.said().try_into().unwrap();
    assert!(answer.contains("model"), "{answer}");
    assert!(!told.iter().any(|told| matches!(told, Progress::Agent(fro_agent::Step::Installing(_)))));
    assert_eq!(garden.left_in_scratch(), 0);
}

#[tokio::test]
async fn a_run_accounts_for_what_it_had_and_who_was_not_asked_has_no_model() {
    let mut garden = Garden::where_says("maya", "@fro-bot why?").await;
    let began = garden.occasion.began;
    garden.occasion.job_began = began.checked_sub(Duration::from_mins(2)).ok();
    let turn =
        Turn { usage: Usage { calls: 1, input: 7, ..Usage::default() }, ..Turn::failed(Trouble::NotStarted) };
    let handover = Handover { warnings: vec!["a push was refused".to_owned()], ..Handover::default() };
    let accounted = garden.asking(async |request| {
        let mut agent = Agent::open(&request.process.agent, request.job, &|_| {}).unwrap();
        agent.note(vec!["the registry was slow".to_owned()]);
        let account = publish::account(request, (&agent, None), (&turn, handover, None));
        agent.discard().await.unwrap();
        account
    });
    let account = Box::pin(accounted).await;
    assert_eq!((account.event.as_str(), account.repo.to_string().as_str()), ("issue_comment", REPO));
    assert_eq!(
        (account.walls.as_str(), account.memory.as_str()),
        ("the engine was not started", "not looked up")
    );
    assert_eq!((account.model, account.agent, account.recalled, account.gh), (None, None, None, None));
    assert_eq!((account.usage.input, account.sessions.len()), (7, 0), "what judging took counts");
    assert_eq!(account.warnings, ["the registry was slow", "a push was refused"]);
    let waited = account.since_job.unwrap().saturating_sub(account.duration);
    assert_eq!(waited.as_secs(), 120, "people wait from the start of the job");
}

#[tokio::test]
async fn an_engine_is_for_the_commit_of_the_event_and_for_the_run_that_answers_it() {
    let garden = Garden::where_says("maya", "@fro-bot why?").await;
    let job = garden.asking(async |request| request.job.clone()).await;
    assert_eq!((job.head, job.permit.reach()), (None, Reach::Work), "a comment names no commit");
    assert_eq!((job.origin.surface.as_str(), job.origin.event.as_str()), ("github", "issue_comment"));
    assert_eq!(job.origin.run, garden.occasion.run.id);
    assert!(
        job.origin.key.contains(&garden.call.to_string()),
        "{}: a second attempt has the same",
        job.origin.key
    );
    assert_eq!(job.origin.waited_since, garden.occasion.began, "there was no job before");

    let mut pushed = garden;
    let payload = pushed.world.pull_event(REPO, 2, "synchronize", "maya");
    pushed.occasion.event =
        Event { name: "pull_request".to_owned(), payload: payload.to_string(), ..pushed.occasion.event };
    let sha = payload["pull_request"]["head"]["sha"].as_str().unwrap();
    let job = pushed.asking(async |request| request.job.clone()).await;
    assert_eq!((job.head.as_deref(), job.permit.reach()), (Some(sha), Reach::ReadOnly));
}
