//! Whole runs that need no engine, held against a little GitHub: what is not for us, and our own words.

mod after;

use std::{future::pending, sync::Mutex};

use fro_agent::{Delegation, Elevated, EngineSettings};
use fro_core::{
    Login, RepoName, Secret,
    event::Event,
    gate::{Policy, SkipReason},
    prompt::Wishes,
    say::{answer::SummaryPlace, summary::RunLink},
};
use fro_http::ClientSettings;
use fro_memory::{Retention, StoreSettings};
use fro_sim::World;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const REPO: &str = "octo/garden";

/// A comment on issue 1, and everything that is needed to answer it.
struct Garden {
    world: World,
    folder: TempDir,
    process: Process,
    occasion: Occasion,
    call: u64,
}

impl Garden {
    async fn where_says(login: &str, words: &str) -> Self {
        let world = World::start().await.unwrap();
        let call = world.write_comment(REPO, 1, login, words);
        let payload = world.comment_event(REPO, call);
        let folder = tempfile::tempdir().unwrap();
        let process = Process::new(settings(&world, &folder));
        let occasion = occasion(&payload, &folder);
        Self { world, folder, process, occasion, call }
    }

    /// Plays the whole run and returns how it ended, with what was told.
    async fn run(&self) -> (Result<Ending, Fault>, Vec<Progress>) {
        let told = Mutex::new(Vec::new());
        let tell = |progress| told.lock().unwrap().push(progress);
        let ended = match admit(&self.process, &self.occasion, &tell, pending()).await.unwrap() {
            Admission::Ended(ending) => Ok(ending),
            Admission::Admitted(admitted) => {
                Box::pin(admitted.answer(&self.process, &self.occasion, &tell, pending())).await
            }
        };
        (ended, told.into_inner().unwrap())
    }

    fn said(&self) -> Vec<String> {
        self.world.comments_by(REPO, 1, "fro-bot")
    }

    fn page(&self) -> String {
        fs_err::read_to_string(self.folder.path().join("page.md")).unwrap_or_default()
    }

    fn left_in_scratch(&self) -> usize {
        fs_err::read_dir(self.folder.path().join("scratch")).unwrap().count()
    }
}

#[tokio::test]
async fn what_is_not_for_us_costs_no_request() {
    let garden = Garden::where_says("maya", "What a wet floor.").await;
    let (ended, told) = garden.run().await;
    let Ok(Ending::Skipped(SkipReason::NoMention { .. })) = ended else { panic!("{ended:?}") };
    assert!(matches!(told.as_slice(), [Progress::Skipped(_)]), "{told:?}");
    assert_eq!(garden.world.traffic().len(), 0);
    assert_eq!(garden.left_in_scratch(), 0);
}

#[tokio::test]
async fn who_may_not_ask_is_not_answered() {
    let garden = Garden::where_says("mallory", "@fro-bot help").await;
    let (ended, _) = garden.run().await;
    let Ok(Ending::Skipped(SkipReason::Unauthorized { .. })) = ended else { panic!("{ended:?}") };
    assert_eq!((garden.said().len(), garden.left_in_scratch()), (0, 0));
}

#[tokio::test]
async fn help_is_answered_without_the_engine() {
    let garden = Garden::where_says("maya", "@fro-bot help").await;
    let (ended, told) = garden.run().await;
    let Ok(Ending::Answered(receipt)) = ended else { panic!("{ended:?}") };
    let [answer] = garden.said().try_into().unwrap();
    assert!(answer.contains("| `@fro-bot status` |"), "{answer}");
    assert!(receipt.url.contains("#issuecomment-"), "{receipt:?}");
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: hooray"]);
    assert!(told.iter().any(|progress| matches!(progress, Progress::Delivered { .. })), "{told:?}");
    assert!(!told.iter().any(|told| matches!(told, Progress::Agent(fro_agent::Step::Installing(_)))));
    assert!(garden.page().contains(&receipt.url), "{}", garden.page());
    assert_eq!(garden.left_in_scratch(), 0);
}

#[tokio::test]
async fn a_second_attempt_edits_the_answer_of_the_first() {
    let garden = Garden::where_says("maya", "@fro-bot help").await;
    let (first, _) = garden.run().await;
    let (second, _) = garden.run().await;
    assert_eq!(first, second);
    assert_eq!(garden.said().len(), 1);
}

#[tokio::test]
async fn the_status_is_told_from_what_is_remembered() {
    let garden = Garden::where_says("maya", "@fro-bot status").await;
    let (ended, _) = garden.run().await;
    assert!(matches!(ended, Ok(Ending::Answered(_))), "{ended:?}");
    assert_eq!(garden.said().len(), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_posted_fails_the_run_and_stands_on_its_page() {
    let garden = Garden::where_says("maya", "@fro-bot help").await;
    let route = "POST /repos/{owner}/{repo}/issues/{number}/comments";
    garden.world.faults().on(route, fro_sim::FaultKind::Status(403)).always();
    let (ended, _) = garden.run().await;
    assert!(ended.is_err(), "{ended:?}");
    assert!(garden.page().contains("| `@fro-bot status` |"), "{}", garden.page());
    assert_eq!(garden.world.reactions_on(REPO, garden.call), ["fro-bot: confused"]);
    assert_eq!(garden.left_in_scratch(), 0);
}

#[tokio::test]
async fn who_stops_a_run_before_it_began_gets_nothing() {
    let garden = Garden::where_says("maya", "@fro-bot help").await;
    let admitted = admit(&garden.process, &garden.occasion, &|_| {}, std::future::ready(())).await.unwrap();
    assert!(matches!(admitted, Admission::Ended(Ending::Interrupted)));
    assert_eq!(garden.said().len(), 0);
}

fn occasion(payload: &Value, folder: &TempDir) -> Occasion {
    Occasion {
        event: Event {
            name: "issue_comment".to_owned(),
            payload: payload.to_string(),
            repo: RepoName::parse(REPO).unwrap(),
            actor: Login::new("maya"),
            prompt: None,
        },
        audience: None,
        run: RunLink { id: "42".to_owned(), url: None },
        action: None,
        run_page: Some(folder.path().join("page.md")),
        checkout: folder.path().to_owned(),
        git_ref: None,
        job_began: None,
        began: Timestamp::now(),
        requested: Timestamp::now(),
        seed: 0,
    }
}

pub(crate) fn settings(world: &World, folder: &TempDir) -> Settings {
    let scratch = folder.path().join("scratch");
    fs_err::create_dir(&scratch).unwrap();
    let (api, graphql) = (world.api_url(), world.graphql_url());
    let agent = fro_agent::Settings {
        github: fro_github::Address {
            web: api.clone(),
            api: api.clone(),
            graphql,
            stores: vec![api.replace("127.0.0.1", "localhost")],
        },
        server: api,
        client: ClientSettings::loopback(),
        token: Secret::new(world.token("fro-bot")),
        hidden: Vec::new(),
        elevated: Elevated::None,
        delegation: Delegation::default(),
        engine: EngineSettings::pinned(json!({})),
        memory: StoreSettings::folder(folder.path().join("memory")),
        retention: Retention::default(),
        scratch,
    };
    Settings {
        agent,
        policy: Policy::usual(),
        wishes: Wishes::default(),
        output: None,
        summary: SummaryPlace::default(),
        progress: ProgressPlace::default(),
        share: ShareSettings { sharing: Sharing::Never, host: String::new(), card: Card::Link },
        review: ReviewSettings::default(),
    }
}
