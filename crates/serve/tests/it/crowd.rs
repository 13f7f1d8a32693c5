//! Many workers at once, on connections of their own: real races, which the model cannot have.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use fro_core::{
    RepoName,
    chat::{Follow, Thread},
};
use fro_serve::{Caps, Error, Store, Turn};

use crate::{
    contract::{LEASE, asked, at, spent, thread},
    databases::each,
};

const CAPS: Caps = Caps { all: 4, repository: 2 };

/// What all workers saw.
#[derive(Default)]
struct Seen {
    /// Turns as they were begun, by thread; one that was begun anew stands there once.
    begun: BTreeMap<u64, Vec<u64>>,
    done: BTreeSet<u64>,
    /// Threads whose turn runs now, with their repository.
    busy: BTreeMap<u64, String>,
    most: usize,
}

impl Seen {
    fn begin(&mut self, turn: &Turn) {
        let (thread, source, repository) =
            (turn.thread.number(), turn.source.number(), turn.repository.to_string());
        let begun = self.begun.entry(thread).or_default();
        if begun.last() != Some(&source) {
            begun.push(source);
        }
        let before = self.busy.insert(thread, repository.clone());
        assert_eq!(before, None, "two turns of thread {thread} at once");
        let same = self.busy.values().filter(|other| **other == repository).count();
        assert!(same <= 2 && self.busy.len() <= 4, "{:?}", self.busy);
        self.most = self.most.max(self.busy.len());
    }
}

/// Works until nothing is left. Every third claim is let go, as if the worker had died.
async fn work(store: Store, name: String, seen: Arc<Mutex<Seen>>) {
    let mut claims = 0;
    loop {
        let Some(claimed) = store.claim(&name, CAPS, at(1), LEASE).await.unwrap() else {
            if store.load(at(1)).await.unwrap() == (0, 0) {
                return;
            }
            tokio::task::yield_now().await;
            continue;
        };
        let thread = claimed.turn.thread.number();
        seen.lock().unwrap().begin(&claimed.turn);
        until_two_work(&seen).await;
        claims += 1;
        let dies = claims % 3 == 0;
        store.renew(claimed.lease, at(1), LEASE).await.unwrap();
        seen.lock().unwrap().busy.remove(&thread);
        if dies {
            store.abandon(&name).await.unwrap();
            let stale = store.finish(claimed.lease, &spent(), at(2)).await;
            // Nobody may have claimed it yet, and then it still counts: an end that was only thought to be one.
            if matches!(stale, Err(Error::Stale { .. })) {
                continue;
            }
        } else {
            store.finish(claimed.lease, &spent(), at(2)).await.unwrap();
        }
        let source = claimed.turn.source.number();
        assert!(seen.lock().unwrap().done.insert(source), "{source} was answered twice");
    }
}

/// Holds the first turn until another was begun beside it, so that it is no matter of chance whether they meet.
async fn until_two_work(seen: &Mutex<Seen>) {
    let met = async {
        while seen.lock().unwrap().most < 2 {
            tokio::task::yield_now().await;
        }
    };
    let met = tokio::time::timeout(Duration::from_mins(1), met).await;
    assert!(met.is_ok(), "they never work at the same time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_answer_every_message_once_and_in_order_within_the_caps() {
    for database in each().await {
        let store = database.open().await;
        let mut expected = BTreeMap::<u64, Vec<u64>>::new();
        for number in 10..22_u64 {
            let repository = RepoName::parse(&format!("octo/r{}", number % 4)).unwrap();
            let open = Follow::OpenThread(Thread { repository, ..thread(number, "octo/garden") });
            store.take_in(format!("thread {number}"), &[open], at(0)).await.unwrap();
            for place in 0..5 {
                let source = number * 100 + place;
                store.take_in(source, &[Follow::Queue(asked(number, source, "words"))], at(0)).await.unwrap();
                expected.entry(number).or_default().push(source);
            }
        }
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut tasks = Vec::new();
        for number in 0..8 {
            // Each pair is a process of its own.
            let store = if number % 2 == 0 { database.open().await } else { store.clone() };
            tasks.push(tokio::spawn(work(store, format!("worker {number}"), Arc::clone(&seen))));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let seen = seen.lock().unwrap();
        assert_eq!(seen.begun, expected, "{}", database.kind);
        assert_eq!(seen.done.len(), 60);
    }
}
