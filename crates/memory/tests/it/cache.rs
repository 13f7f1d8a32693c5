//! What only the Actions cache can show: tokens that may not write, entries that go, branches, and blocks.

use std::{collections::BTreeMap, time::Duration};

use fro_memory::{
    Advance, CacheMode, CacheSettings, Flaw, Head, Object, Part, Patience, Recall, Refusal, Store, keep,
    recall,
};
use fro_sim::{FaultKind, state::CacheAccess};

use crate::{
    contract::{self, get, put},
    engine::{Engine, after, saved, say},
    github::GitHub,
};

const LOOK_UP: &str = "POST /twirp/github.actions.results.api.v1.CacheService/GetCacheEntryDownloadURL";

#[test]
fn the_cache_keeps_the_contract() {
    let github = GitHub::open();
    contract::holds(|| {
        github.evict("");
        github.store()
    });
}

#[test]
fn a_memory_goes_from_run_to_run_under_keys_of_the_pattern() {
    let github = GitHub::open();
    let engine = Engine::with_sessions(2);
    let head = saved(&keep(&github.store(), engine.data(), &after(None)).unwrap());
    let next = Engine::fresh();
    let recalled = recall(&github.store(), next.data()).unwrap();
    assert_eq!(recalled.head(), Some(&head));
    assert_eq!(next.remembers(), engine.remembers());

    let keys = github.world.state(|state| {
        state.caches.iter().filter(|entry| entry.bytes().is_some()).map(|entry| entry.key.clone()).collect()
    });
    let keys: Vec<String> = keys;
    assert!(keys.contains(&"opencode-storage-github-octo/garden-main-Linux-1-1-1".to_owned()), "{keys:?}");
}

#[test]
fn a_branch_starts_from_the_default_branch_and_does_not_disturb_it() {
    let github = GitHub::open();
    let main = saved(&keep(&github.store(), Engine::with_sessions(2).data(), &after(None)).unwrap());
    let branch = Store::actions_cache(&github.settings("fix/hose", CacheAccess::Write)).unwrap();
    let engine = Engine::fresh();
    recall(&branch, engine.data()).unwrap();
    say(&mut engine.connect(), 5, "on a branch");
    let head = saved(&keep(&branch, engine.data(), &after(Some(&main))).unwrap());

    assert_eq!(github.store().head().unwrap(), Some(main));
    assert_eq!(branch.head().unwrap(), Some(head));
}

#[test]
fn a_large_pack_goes_up_in_blocks_and_comes_down_in_ranges() {
    let github = GitHub::open();
    let store = github.store();
    let content: Vec<u8> = (0..5_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let object = Object::Pack(blake3::hash(&content).into());
    assert_eq!(put(&store, object, &content), content.len() as u64);
    assert!(get(&store, object, Part::Slice { from: 1, length: content.len() as u64 }) == content[1..]);

    let mut seen = BTreeMap::<String, u32>::new();
    for exchange in github.world.traffic().iter().filter(|exchange| exchange.path.contains("actions-cache")) {
        let deed = exchange.query.split('&').find(|part| part.starts_with("comp=")).unwrap_or("");
        *seen.entry(format!("{} {deed}", exchange.method)).or_default() += 1;
    }
    let expected = [("GET ", 5), ("PUT comp=block", 3), ("PUT comp=blocklist", 1)];
    assert_eq!(seen, expected.map(|(deed, times)| (deed.to_owned(), times)).into());
}

#[test]
fn a_token_that_may_only_read_is_recognised_before_anything_is_packed() {
    let github = GitHub::open();
    let head = saved(&keep(&github.store(), Engine::with_sessions(1).data(), &after(None)).unwrap());
    let store = Store::actions_cache(&github.settings("main", CacheAccess::ReadOnly)).unwrap();
    assert_eq!(store.head().unwrap(), Some(head));
    let before = github.requests();
    let refused = store.may_write().unwrap_err();
    assert_eq!((refused.refusal(), github.requests() - before), (Some(Refusal::ReadOnly), 1));
    insta::assert_snapshot!(refused.story(), @"cannot reserve an entry in the Actions cache: this run may only read it: cache write denied: token has no writable scopes");
}

#[test]
fn the_mode_forbids_without_a_request() {
    let github = GitHub::open();
    let with = |mode| {
        let settings = CacheSettings { mode, ..github.settings("main", CacheAccess::Write) };
        Store::actions_cache(&settings).unwrap()
    };
    for mode in [CacheMode::Read, CacheMode::None] {
        assert_eq!(with(mode).may_write().unwrap_err().refusal(), Some(Refusal::ReadOnly));
    }
    for mode in [CacheMode::Write, CacheMode::None] {
        assert_eq!(with(mode).head().unwrap(), None);
    }
    assert_eq!(github.requests(), 0);
    assert_eq!(
        ["read", "none", "write-only", "write", ""].map(CacheMode::parse),
        [CacheMode::Read, CacheMode::None, CacheMode::Write, CacheMode::Full, CacheMode::Full]
    );
}

#[test]
fn an_evicted_pack_is_survived() {
    let github = GitHub::open();
    let engine = Engine::with_sessions(2);
    saved(&keep(&github.store(), engine.data(), &after(None)).unwrap());
    assert!(github.evict("fro-bot-memory-pack-") > 0);

    let store = github.store();
    let next = Engine::fresh();
    let recalled = recall(&store, next.data()).unwrap();
    assert!(matches!(recalled, Recall::Damaged { why: Flaw::Missing(_) }), "{recalled:?}");
    let fresh = Engine::with_sessions(1);
    saved(&keep(&store, fresh.data(), &after(None)).unwrap());

    let last = Engine::fresh();
    assert!(matches!(recall(&github.store(), last.data()).unwrap(), Recall::Warm { sessions: 1, .. }));
}

#[test]
fn a_chain_of_saves_stays_short() {
    let github = GitHub::open();
    let engine = Engine::with_sessions(3);
    let mut head = saved(&keep(&github.store(), engine.data(), &after(None)).unwrap());
    for number in 10..30 {
        say(&mut engine.connect(), number, &format!("{number} ").repeat(4000));
        head = saved(&keep(&github.store(), engine.data(), &after(Some(&head))).unwrap());
    }
    let before = github.requests();
    let next = Engine::fresh();
    recall(&github.store(), next.data()).unwrap();
    assert_eq!(next.remembers(), engine.remembers());
    let requests = github.requests() - before;
    assert!(requests <= 4 + 9 * 3, "{requests} requests to restore");
}

#[test]
fn a_writer_that_died_in_its_turn_is_passed_by() {
    let github = GitHub::open();
    let store = github.store();
    let first = Head::from(fro_memory::ObjectName::from(blake3::hash(b"first")));
    store.advance(None, &first).unwrap();
    // Somebody reserves the next turn and is never heard of again.
    github
        .world
        .faults()
        .on(
            "POST /twirp/github.actions.results.api.v1.CacheService/FinalizeCacheEntryUpload",
            FaultKind::Status(404),
        )
        .times(1);
    let second = Head::from(fro_memory::ObjectName::from(blake3::hash(b"second")));
    store.advance(Some(&first), &second).unwrap_err();

    let mut settings = github.settings("main", CacheAccess::Write);
    settings.patience = Patience { settle: Duration::from_millis(300), ..settings.patience };
    let next = Store::actions_cache(&settings).unwrap();
    assert_eq!(next.advance(Some(&first), &second).unwrap(), Advance::Done);
    assert_eq!(github.store().head().unwrap(), Some(second));
}

#[test]
fn what_passes_is_tried_again_and_a_late_address_is_asked_for_anew() {
    let github = GitHub::open();
    let engine = Engine::with_sessions(1);
    saved(&keep(&github.store(), engine.data(), &after(None)).unwrap());
    github.world.faults().on(LOOK_UP, FaultKind::Status(503)).times(1);
    github.world.faults().on("GET /actions-cache/{blob}", FaultKind::AnswerCut).times(1);
    let store = github.store();
    store.head().unwrap();
    github.world.faults().on("GET /actions-cache/{blob}", FaultKind::Status(500)).times(1);
    let next = Engine::fresh();
    assert!(matches!(recall(&store, next.data()).unwrap(), Recall::Warm { sessions: 1, .. }));
    assert_eq!(github.world.faults().unspent(), Vec::<String>::new());
}
