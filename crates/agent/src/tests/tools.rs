//! Tools that a runner begins without: brought from the Actions cache, and kept there for the run that follows.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use fro_core::Secret;
use fro_http::ClientSettings;
use fro_memory::{CacheMode, CacheSettings, CacheUse, EntryNames, Patience};
use fro_sim::{World, state::CacheAccess};
use tracing::{Level, Metadata, Subscriber, span};

use super::garden::{Garden, REPO};
use crate::{job::Job, tool_archive_cache::ToolArchiveCache};

fn cache(world: &World, access: CacheAccess, mode: CacheMode) -> CacheUse {
    let token = world.change(|state| state.start_run(REPO, &["refs/heads/main"], access));
    CacheUse::Service(Box::new(CacheSettings {
        client: ClientSettings::loopback(),
        url: world.actions_url(),
        token: Secret::new(token),
        mode,
        names: EntryNames {
            identity: "github".to_owned(),
            repo: REPO.to_owned(),
            branch: "main".to_owned(),
            os: "Linux".to_owned(),
            run: "1".to_owned(),
            attempt: 1,
        },
        patience: Patience {
            connect: Duration::from_secs(20),
            lookup: Duration::from_mins(1),
            answer: Duration::from_mins(1),
            pauses: Vec::new(),
            settle: Duration::from_mins(1),
        },
    }))
}

/// A garden whose runner has no tools, and an Actions cache.
async fn with_cache(access: CacheAccess, mode: CacheMode) -> (Garden, Job) {
    let garden = Garden::with(|world, settings| {
        settings.memory.cache = cache(world, access, mode);
        settings.engine.tool_cache = settings.scratch.join("tools");
    })
    .await;
    let job = garden.job(1, "@fro-bot why?");
    (garden, job)
}

async fn bring(garden: &Garden, job: &Job) -> Option<ToolArchiveCache> {
    ToolArchiveCache::bring(garden.scope(job), garden.folder.path()).await
}

fn kept(garden: &Garden) -> Vec<String> {
    garden.world.state(|state| state.caches.iter().map(|entry| entry.key.clone()).collect())
}

#[tokio::test]
async fn what_one_run_downloaded_the_next_one_finds_in_the_cache() {
    let (garden, job) = with_cache(CacheAccess::Write, CacheMode::Full).await;
    let first = bring(&garden, &job).await.expect("the runner lacks its tools");
    assert_eq!(fs_err::read_dir(first.folder()).unwrap().count(), 0, "nobody has kept any");
    let (wanted, tools) = garden.process.tools(job.checkout.clone()).unwrap();
    let missing = fro_opencode::missing_archives(&wanted, None, &tools);
    let [engine, ..] = missing.as_slice() else { panic!("nothing is missing") };
    fs_err::write(first.folder().join(engine), "packed").unwrap();
    first.keep().await;
    assert_eq!(kept(&garden), [format!("fro-bot-tool-{engine}")]);

    let second = bring(&garden, &job).await.unwrap();
    assert_eq!(fs_err::read_to_string(second.folder().join(engine)).unwrap(), "packed");
    second.keep().await;
    assert_eq!(kept(&garden).len(), 1, "what came from there is not stored again");
}

#[tokio::test]
async fn without_a_cache_nothing_is_brought_and_a_cache_that_fails_stops_no_run() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    assert!(bring(&garden, &job).await.is_none());
    assert_eq!(garden.world.calls().len(), 0);

    let (garden, job) = with_cache(CacheAccess::ReadOnly, CacheMode::Full).await;
    let brought = bring(&garden, &job).await.unwrap();
    fs_err::write(brought.folder().join("opencode.tgz"), "packed").unwrap();
    brought.keep().await;
    assert_eq!(kept(&garden), [""; 0], "a run that may only read keeps nothing");
}

/// Counts the warnings of this thread.
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("fro_agent")
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, _event: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

/// Takes every connection and never says a word; returns its address and how many there were.
fn silent() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (address, taken) =
        (format!("http://{}/", listener.local_addr().unwrap()), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&taken);
    thread::spawn(move || {
        let mut open = Vec::new();
        while let Ok(connection) = listener.accept() {
            open.push(connection);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, taken)
}

#[tokio::test]
async fn a_silent_cache_is_waited_for_once_and_warned_of_once() {
    let (address, taken) = silent();
    let garden = Garden::with(|world, settings| {
        settings.memory.cache = cache(world, CacheAccess::Write, CacheMode::Full);
        let CacheUse::Service(place) = &mut settings.memory.cache else { panic!("there is a service") };
        place.url = address;
        place.patience.lookup = Duration::from_millis(200);
        place.patience.answer = Duration::from_millis(200);
        settings.engine.tool_cache = settings.scratch.join("tools");
    })
    .await;
    let job = garden.job(1, "@fro-bot why?");
    let warnings = Arc::<AtomicUsize>::default();
    let heard = tracing::subscriber::set_default(Warnings(Arc::clone(&warnings)));
    let brought = bring(&garden, &job).await.unwrap();
    let asked = taken.load(Ordering::Relaxed);
    fs_err::write(brought.folder().join("opencode.tgz"), "packed").unwrap();
    brought.keep().await;
    drop(heard);
    assert!(asked > 1, "each tool is looked for, at the same time");
    let counted = (taken.load(Ordering::Relaxed), warnings.load(Ordering::Relaxed));
    assert_eq!(counted, (asked, 1), "connections and warnings");
}
