//! How the daemon stands, the same on both databases.

use std::time::Duration;

use fro_core::chat::Deed;
use fro_serve::Status;

use crate::{
    contract::{LEASE, at, channel, claim, queue},
    databases::each,
};

#[tokio::test]
async fn what_waits_what_runs_and_who_lives_is_told() {
    for database in each().await {
        let store = database.open().await;
        assert_eq!(store.status(at(0)).await.unwrap(), Status::default(), "{}", database.kind);
        queue(&store, 10, &[1, 2]).await;
        store.post(channel(10), &Deed::say(channel(10), "queued"), at(0)).await.unwrap();
        store.greet("w", at(5)).await.unwrap();
        claim(&store, 5).await.unwrap();
        let standing = Status {
            waiting: 1,
            running: 1,
            oldest_waiting: Some(Duration::from_secs(7)),
            outbox: 1,
            workers: 1,
            worker_seen: Some(at(5)),
        };
        assert_eq!(store.status(at(7)).await.unwrap(), standing, "{}", database.kind);

        // Nobody is seen any more: what ran waits for somebody else.
        let later = i64::try_from((Status::LATELY + LEASE).as_secs()).unwrap() + 6;
        let told = store.status(at(later)).await.unwrap();
        assert_eq!((told.waiting, told.running, told.workers, told.worker_seen), (2, 0, 0, Some(at(5))));
        store.part("w").await.unwrap();
        assert_eq!(store.status(at(later)).await.unwrap().worker_seen, None);
        // A clock that was put back.
        assert_eq!(store.status(at(-5)).await.unwrap().oldest_waiting, Some(Duration::ZERO));
    }
}
