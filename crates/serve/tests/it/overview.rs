//! What an operator is shown of the store, the same on both databases.

use fro_core::chat::Deed;

use crate::{
    contract::{LEASE, at, channel, claim, entry, queue},
    databases::each,
};

#[tokio::test]
async fn threads_turns_workers_and_failures_are_shown_as_they_stand() {
    for database in each().await {
        let store = database.open().await;
        let kind = database.kind;
        assert!(store.thread_lines(at(0), (0, 9)).await.unwrap().is_empty(), "{kind}");
        queue(&store, 10, &[1, 2]).await;
        queue(&store, 20, &[]).await;
        store.greet("w", at(5)).await.unwrap();
        let claimed = claim(&store, 5).await.unwrap();

        let lines = store.thread_lines(at(6), (0, 9)).await.unwrap();
        let told: Vec<_> = lines
            .iter()
            .map(|line| (line.thread.id.number(), line.waiting, line.running, line.done, line.asked_at))
            .collect();
        assert_eq!(told, [(20, 0, 0, 0, None), (10, 1, 1, 0, Some(at(0)))], "{kind}");
        assert_eq!(store.thread_lines(at(6), (1, 1)).await.unwrap(), lines[1..], "{kind}");
        // A lease that has run out.
        let late = at(5 + i64::try_from(LEASE.as_secs()).unwrap());
        assert_eq!(store.thread_lines(late, (1, 1)).await.unwrap()[0].waiting, 2, "{kind}");

        let turns = store.unfinished_turns(9).await.unwrap();
        let told: Vec<_> = turns.iter().map(|turn| (turn.attempts, turn.held.clone())).collect();
        assert_eq!(told, [(1, Some(("w".to_owned(), late))), (0, None)], "{kind}");
        let workers = store.worker_lines().await.unwrap();
        assert_eq!((workers[0].name.as_str(), workers[0].seen_at), ("w", at(5)), "{kind}");

        let deed = store.post(channel(10), &Deed::say(channel(10), "x"), at(0)).await.unwrap();
        store.give_up(deed, "missing access").await.unwrap();
        let failed = store.failed_deeds(9).await.unwrap();
        assert_eq!(
            (failed.len(), failed[0].lane, failed[0].failure.as_str()),
            (1, channel(10), "missing access")
        );
        drop(claimed);
    }
}

#[tokio::test]
async fn the_end_of_the_audit_is_read_page_by_page() {
    for database in each().await {
        let store = database.open().await;
        for target in ["one", "two", "three"] {
            store.record(&entry(fro_core::chat::AuditAction::Link, target)).await.unwrap();
        }
        let told = async |below, most| {
            let page = store.audit_tail(below, most).await.unwrap();
            page.into_iter().map(|it| (it.number, it.entry.target)).collect::<Vec<_>>()
        };
        assert_eq!(told(i64::MAX, 2).await, [(3, "three".to_owned()), (2, "two".to_owned())]);
        assert_eq!(told(2, 2).await, [(1, "one".to_owned())]);
    }
}

#[tokio::test]
async fn whatever_changes_changes_the_pulse_and_a_look_does_not() {
    for database in each().await {
        let store = database.open().await;
        let mut pulses = vec![store.pulse().await.unwrap()];
        assert_eq!(store.pulse().await.unwrap(), pulses[0]);
        queue(&store, 10, &[1]).await;
        pulses.push(store.pulse().await.unwrap());
        claim(&store, 5).await.unwrap();
        pulses.push(store.pulse().await.unwrap());
        store.record(&entry(fro_core::chat::AuditAction::Link, "x")).await.unwrap();
        pulses.push(store.pulse().await.unwrap());
        let deed = store.post(channel(10), &Deed::say(channel(10), "x"), at(0)).await.unwrap();
        pulses.push(store.pulse().await.unwrap());
        store.done(deed, None).await.unwrap();
        pulses.push(store.pulse().await.unwrap());
        store.greet("w", at(5)).await.unwrap();
        pulses.push(store.pulse().await.unwrap());
        let all: std::collections::BTreeSet<_> = pulses.iter().collect();
        assert_eq!(all.len(), pulses.len(), "{}: {pulses:?}", database.kind);
    }
}
