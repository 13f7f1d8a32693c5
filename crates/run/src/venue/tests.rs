//! What people see of a run, held against a little GitHub.

mod reading;
mod review;
mod writing;

use std::{path::PathBuf, sync::Mutex, time::Duration};

use fro_core::{
    Clean, Decision, Delivery, Login, Permission, Redactor, RepoName, Secret, Surface, Target, Task,
    draft::InlineComment,
    event::{self, Event, Reading},
    gate::{self, Answered, Response},
    say::summary::RunLink,
};
use fro_http::{ClientSettings, Retry};
use fro_sim::{FaultKind, World, state::Pull};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::{
    ending::{Ending, Receipt},
    progress::Progress,
};

const REPO: &str = "octo/garden";
const COMMENTS: &str = "POST /repos/{owner}/{repo}/issues/{number}/comments";

/// A request that may be answered, with everything around it.
struct Called {
    world: World,
    process: Process,
    host: Host,
    trigger: Trigger,
    permit: Permit,
    task: Task,
    occasion: Occasion,
    /// The comment that calls us.
    call: u64,
    told: Mutex<Vec<Progress>>,
    folder: TempDir,
}

impl Called {
    /// maya calls us on issue 1.
    async fn by_comment(policy: &Policy) -> Self {
        Self::saying(World::start().await.unwrap(), "@fro-bot why is the floor wet?", policy).await
    }

    /// maya says this on issue 1.
    async fn saying(world: World, words: &str, policy: &Policy) -> Self {
        Self::said_by("maya", world, words, policy).await
    }

    /// Somebody says this on issue 1.
    async fn said_by(login: &str, world: World, words: &str, policy: &Policy) -> Self {
        let call = world.write_comment(REPO, 1, login, words);
        let payload = world.comment_event(REPO, call);
        Self::new(world, call, ("issue_comment", &payload), policy).await
    }

    /// maya calls us on issue 1, after so many other comments.
    async fn after_comments(n: usize) -> Self {
        let world = World::start().await.unwrap();
        for _ in 0..n {
            world.write_comment(REPO, 1, "maya", &"The floor is wet. ".repeat(100));
        }
        let long_ago = Timestamp::now() - Duration::from_hours(1);
        world.change(|state| {
            for comment in &mut state.issue_mut(REPO, 1).unwrap().comments {
                (comment.created_at, comment.updated_at) = (long_ago, long_ago);
            }
        });
        let call = world.write_comment(REPO, 1, "maya", "@fro-bot why?");
        let payload = world.comment_event(REPO, call);
        Self::new(world, call, ("issue_comment", &payload), &Policy::usual()).await
    }

    /// A pull request has a new commit.
    async fn by_push(policy: &Policy) -> Self {
        let world = World::start().await.unwrap();
        let payload = world.pull_event(REPO, 2, "synchronize", "rita");
        Self::new(world, 0, ("pull_request", &payload), policy).await
    }

    async fn new(world: World, call: u64, (name, payload): (&str, &Value), policy: &Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let event = Event {
            name: name.to_owned(),
            payload: payload.to_string(),
            repo: RepoName::parse(REPO).unwrap(),
            actor: Login::new("maya"),
            prompt: None,
        };
        let Ok(Reading::Trigger(trigger)) = event::read(&event) else { panic!("no trigger: {payload}") };
        let occasion = Occasion {
            event,
            audience: None,
            run: RunLink { id: "42".to_owned(), url: Some("https://example.org/run".to_owned()) },
            action: None,
            run_page: Some(folder.path().join("page.md")),
            checkout: PathBuf::new(),
            git_ref: None,
            job_began: None,
            began: Timestamp::now(),
            requested: Timestamp::now(),
            seed: 0,
        };
        let process = process(&world, &folder);
        let host = Host::open(&process, &trigger).unwrap();
        let facts = host.facts(&trigger, policy, &occasion).await.unwrap();
        let (permit, task) = match gate::decide(&trigger, &facts, policy) {
            Decision::Run(permit, task) => (*permit, task),
            Decision::Skip(reason) => panic!("{reason}"),
        };
        Self { world, process, host, trigger, permit, task, occasion, call, told: Mutex::default(), folder }
    }

    /// Has something done for the request.
    async fn asking<T>(&self, deed: impl AsyncFnOnce(&Request<'_>) -> T) -> T {
        let tell = |progress| self.told.lock().unwrap().push(progress);
        let job = self.occasion.job(&self.process, &self.trigger, &self.permit);
        let venue = self.host.venue(&self.permit, &self.occasion, &tell);
        let (process, occasion, trigger, permit) =
            (&self.process, &self.occasion, &self.trigger, &self.permit);
        let todos = &tokio::sync::watch::Sender::default();
        deed(&Request { process, occasion, job: &job, tell: &tell, trigger, permit, venue, todos }).await
    }

    /// Looks at pull request 2 as it is now.
    fn pull<T>(&self, look: impl FnOnce(&Pull) -> T) -> T {
        self.world.state(|state| {
            let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
            look(repo.issue(2).unwrap().pull.as_ref().unwrap())
        })
    }

    /// Has something done where the request is answered.
    async fn at_venue<T>(&self, deed: impl AsyncFnOnce(Venue<'_>) -> T) -> T {
        let tell = |progress| self.told.lock().unwrap().push(progress);
        deed(self.host.venue(&self.permit, &self.occasion, &tell)).await
    }

    fn delivery(&self, text: &str) -> Delivery {
        let marker = Marker::new("42", &self.trigger);
        Delivery { body: clean(&format!("{marker}\n{text}")), marker, summary: None, whole: None }
    }

    fn warnings(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        let warning = |progress: &Progress| match progress {
            Progress::Warning(warning) => Some(warning.clone()),
            _ => None,
        };
        told.iter().filter_map(warning).collect()
    }

    fn requests(&self) -> usize {
        self.world.traffic().len()
    }

    fn said(&self, number: u64) -> Vec<String> {
        self.world.comments_by(REPO, number, "fro-bot")
    }

    fn labels(&self, number: u64) -> Vec<String> {
        self.world.state(|state| {
            let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
            repo.issue(number).unwrap().labels.clone()
        })
    }
}

/// A process whose requests are tried twice, without a pause.
fn process(world: &World, folder: &TempDir) -> Process {
    let at_once = vec![Duration::ZERO];
    let retry = Retry { limited: at_once.clone(), failing: at_once, longest: Duration::from_secs(1) };
    let mut settings = crate::tests::settings(world, folder);
    settings.agent.client = ClientSettings { retry, ..ClientSettings::loopback() };
    Process::new(settings)
}

fn clean(text: &str) -> Clean {
    Redactor::knowing([]).clean(text)
}

fn answered() -> Ending {
    Ending::Answered(Receipt { url: String::new() })
}

#[tokio::test]
async fn who_asked_sees_eyes_and_label_and_how_it_ended() {
    let table = [
        (Ok(answered()), vec!["fro-bot: hooray"]),
        (Err(Fault::ours("broken")), vec!["fro-bot: confused"]),
        (Ok(Ending::Interrupted), Vec::new()),
    ];
    for (ended, left) in table {
        let called = Called::by_comment(&Policy::usual()).await;
        called
            .at_venue(async |venue| {
                let mut acknowledgement = venue.acknowledgement(called.task.visibility());
                acknowledgement.begin().await.unwrap();
                acknowledgement.label().await;
                assert_eq!(called.world.reactions_on(REPO, called.call), ["fro-bot: eyes"]);
                assert_eq!(called.labels(1), ["bug", "agent: working"]);
                acknowledgement.end(&ended).await;
            })
            .await;
        assert_eq!(called.world.reactions_on(REPO, called.call), left, "{ended:?}");
        assert_eq!(called.labels(1), ["bug"]);
        assert_eq!(called.warnings(), [""; 0]);
    }
}

#[tokio::test]
async fn nothing_is_seen_of_a_review_that_nobody_asked_for_nor_of_a_run_without_response() {
    let reviewer = Policy { role: gate::Role::Reviewer, ..Policy::usual() };
    let silent = Policy { response: Response::None, ..Policy::usual() };
    for called in [Called::by_push(&reviewer).await, Called::by_comment(&silent).await] {
        let before = called.requests();
        called
            .at_venue(async |venue| {
                let mut acknowledgement = venue.acknowledgement(called.task.visibility());
                acknowledgement.begin().await.unwrap();
                acknowledgement.label().await;
                acknowledgement.end(&Ok(answered())).await;
            })
            .await;
        assert_eq!(called.requests(), before, "{:?}", called.task);
    }
}

#[tokio::test]
async fn an_empty_list_writes_nothing() {
    let called = Called::by_comment(&Policy::usual()).await;
    let before = called.requests();
    let written = called.at_venue(async |venue| venue.publish(&[]).await).await;
    assert_eq!((written, called.requests()), (Ok(None), before));
}

#[tokio::test]
async fn an_answer_is_posted_and_an_earlier_one_edited() {
    let called = Called::by_comment(&Policy::usual()).await;
    let first = called.delivery("It is the tap.");
    let write = Write::Answer { delivery: &first, earlier: None };
    let receipt = called.at_venue(async |venue| venue.publish(&[write]).await).await.unwrap().unwrap();
    assert!(receipt.url.contains("/issues/1#issuecomment-"), "{receipt:?}");
    assert_eq!(called.said(1), [first.body.as_str()]);

    let marker = Marker::new("42", &called.trigger);
    let hydrated =
        called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await.unwrap();
    let earlier = hydrated.earlier.answer.expect("the second attempt finds the answer of the first");
    let second = called.delivery("It is the hose.");
    let write = Write::Answer { delivery: &second, earlier: Some(&earlier) };
    let again = called.at_venue(async |venue| venue.publish(&[write]).await).await.unwrap().unwrap();
    assert_eq!((again, called.said(1)), (receipt, vec![second.body.as_str().to_owned()]));
}

#[tokio::test]
async fn a_lost_receipt_is_looked_up_and_a_refusal_ends_the_list() {
    for (fault, n_written, expect) in
        [(FaultKind::AnswerWithheld, 2, Ok(())), (FaultKind::Status(403), 0, Err(()))]
    {
        let called = Called::by_comment(&Policy::usual()).await;
        let (first, second) = (called.delivery("First."), called.delivery("Second."));
        drop(called.world.faults().on(COMMENTS, fault));
        let writes = [&first, &second].map(|delivery| Write::Answer { delivery, earlier: None });
        let written = called.at_venue(async |venue| venue.publish(&writes).await).await;
        assert_eq!(written.map(drop).map_err(drop), expect);
        assert_eq!(called.said(1).len(), n_written);
    }
}

#[tokio::test]
async fn a_summary_that_is_refused_is_a_warning() {
    let called = Called::by_comment(&Policy::usual()).await;
    drop(called.world.faults().on(COMMENTS, FaultKind::Status(403)));
    let summary = called.delivery("| Event |");
    let write = Write::Summary { delivery: &summary, earlier: None };
    assert_eq!(called.at_venue(async |venue| venue.publish(&[write]).await).await, Ok(None));
    let [warning] = called.warnings().try_into().unwrap();
    assert!(warning.starts_with("the run summary was not posted: "), "{warning}");
}

#[tokio::test]
async fn what_is_for_nobody_in_particular_goes_to_the_run_s_page() {
    let called = Called::by_comment(&Policy { response: Response::None, ..Policy::usual() }).await;
    assert_eq!(*called.permit.surface(), Surface::RunPage);
    let delivery = called.delivery("It is the tap.");
    let write = Write::Answer { delivery: &delivery, earlier: None };
    let receipt = called.at_venue(async |venue| venue.publish(&[write]).await).await.unwrap().unwrap();
    assert_eq!(receipt.url, "https://example.org/run");
    let page = fs_err::read_to_string(called.folder.path().join("page.md")).unwrap();
    assert_eq!((page.trim_end(), called.said(1)), (delivery.body.as_str(), Vec::<String>::new()));
}

#[tokio::test]
async fn a_conversation_is_read_with_all_that_was_said() {
    let called = Called::by_comment(&Policy::usual()).await;
    called.world.write_comment(REPO, 1, "rita", "I saw it too.");
    let marker = Marker::new("42", &called.trigger);
    let hydrated =
        called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await.unwrap();
    assert_eq!(hydrated.earlier.answer, None);
    assert!(hydrated.files.is_empty() && hydrated.warnings.is_empty());
    let n_shown = hydrated.context.comments.value().len();
    let told = called.told.lock().unwrap();
    let hydrated = told.iter().find_map(|told| {
        if let Progress::Hydrated { n_comments, .. } = told { Some(*n_comments) } else { None }
    });
    assert_eq!(hydrated, Some(n_shown));
}

#[tokio::test]
async fn a_push_outdates_the_answer_to_the_commit_before() {
    let called = Called::by_push(&Policy::usual()).await;
    let Trigger::Pull(pull) = &called.trigger else { panic!("not a pull request") };
    let answer = |commit: &str| format!("<!-- fro-bot run=1 event=pull-2-{commit} -->\nLooks good.");
    let [old, new] =
        ["0000000", &pull.sha].map(|commit| called.world.write_comment(REPO, 2, "fro-bot", &answer(commit)));
    called.at_venue(async |venue| venue.fold_outdated(&called.trigger).await).await;
    let folded = |id: u64| {
        called.world.state(|state| {
            let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
            repo.comment(id).unwrap().1.minimized.clone()
        })
    };
    assert_eq!((folded(old).is_some(), folded(new)), (true, None));
    assert_eq!(called.warnings(), [""; 0]);
}

#[tokio::test]
async fn remarks_stand_beside_the_code_of_the_newest_commit_only() {
    let called = Called::by_push(&Policy::usual()).await;
    let Trigger::Pull(pull) = &called.trigger else { panic!("not a pull request") };
    let remark = InlineComment {
        path: "no-such-file.rs".to_owned(),
        line: 1,
        start_line: None,
        side: fro_core::Side::default(),
        body: "It drips.".to_owned(),
    };
    for seen in [Some(pull.sha.as_str()), Some("0000000"), None] {
        let placed =
            called.at_venue(async |venue| venue.place(std::slice::from_ref(&remark), seen, None).await).await;
        assert!(placed.layout.beside.is_empty(), "{seen:?}");
        assert_eq!(placed.layout.below.len(), 1, "{seen:?}");
    }
    let before = called.requests();
    let earlier = Target::Comment(1);
    let placed = called.at_venue(async |venue| venue.place(&[], None, Some(&earlier)).await).await;
    assert_eq!(
        (placed.layout.below.len(), called.requests()),
        (0, before),
        "without remarks nothing is asked"
    );
}

#[tokio::test]
async fn what_the_gate_needs_is_asked_at_once_and_only_if_it_matters() {
    let called = Called::by_comment(&Policy::usual()).await;
    let facts = called.host.facts(&called.trigger, &Policy::usual(), &called.occasion).await.unwrap();
    assert_eq!((facts.own, facts.answered), (Login::new("fro-bot"), Answered::No));
    assert_eq!(called.host.audience(&called.occasion).await, Some(Audience::Everyone));
    assert_eq!(called.host.repo_settings().await, Ok(None));
    let known = Occasion { audience: Some(Audience::Insiders), ..called.occasion.clone() };
    let before = called.requests();
    assert_eq!(called.host.audience(&known).await, Some(Audience::Insiders));
    assert_eq!(called.requests(), before);
}

#[tokio::test]
async fn of_a_thousand_comments_only_the_newest_are_read() {
    let called = Called::after_comments(1_000).await;
    let (before, marker) = (called.requests(), Marker::new("42", &called.trigger));
    called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await.unwrap();
    let asked = called.world.traffic().split_off(before);
    let bytes: usize = asked.iter().map(|call| call.response.len()).sum();
    let calls: Vec<_> = asked.iter().map(|call| format!("{} {}", call.method, call.path)).collect();
    assert_eq!(
        calls,
        [
            "POST /graphql",
            "GET /repos/octo/garden/issues/1/comments",
            "GET /repos/octo/garden/contents/AGENTS.md"
        ]
    );
    assert!(bytes < 300_000, "{bytes}");
}

#[tokio::test]
async fn what_an_earlier_attempt_left_is_found_below_many_newer_comments() {
    let called = Called::after_comments(60).await;
    let marker = Marker::new("42", &called.trigger);
    called.world.write_comment(REPO, 1, "fro-bot", &format!("{}\n- [ ] Look", marker.of_progress()));
    let answer = called.world.write_comment(REPO, 1, "fro-bot", &format!("{marker}\nIt is the tap."));
    for _ in 0..120 {
        called.world.write_comment(REPO, 1, "maya", "Thanks!");
    }
    let hydrated =
        called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await.unwrap();
    assert_eq!(hydrated.earlier.answer, Some(Target::Comment(answer)));
    assert!(hydrated.earlier.progress.is_some());
}
