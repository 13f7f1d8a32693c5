//! What is removed once it is old, and what stays, the same on both databases.

use fro_core::chat::{Deed, RoleId};
use fro_serve::{GuildStanding, Intake};

use crate::{
    contract::{at, channel, claim, guild, person, queue, spent},
    databases::each,
};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test]
async fn what_is_over_for_long_is_removed_and_what_is_under_way_stays() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51, 52]).await;
        let claimed = claim(&store, 1).await.unwrap();
        store.say(claimed.lease, 0, &Deed::say(channel(50), "The hose."), at(1)).await.unwrap();
        store.finish(claimed.lease, &spent(), at(2)).await.unwrap();
        assert_eq!(store.sweep(at(91 * DAY)).await.unwrap(), 0, "its answer waits to be said");
        for due in store.due(at(3), 9).await.unwrap() {
            store.done(due.id, None).await.unwrap();
        }
        assert_eq!(store.sweep(at(89 * DAY)).await.unwrap(), 0);
        assert_eq!(store.conversation(channel(50)).await.unwrap().len(), 2, "{}", database.kind);
        assert_eq!(store.sweep(at(91 * DAY)).await.unwrap(), 1);
        let left = store.conversation(channel(50)).await.unwrap();
        let left: Vec<_> = left.iter().map(|(words, _)| words.text.as_str()).collect();
        assert_eq!(left, ["words 52"], "{}", database.kind);
        assert_eq!(store.places(claimed.lease.turn).await.unwrap(), []);
        assert_eq!(store.load(at(3)).await.unwrap(), (0, 1));
        assert_eq!(claim(&store, 4).await.unwrap().turn.words.text, "words 52");
    }
}

#[tokio::test]
async fn an_event_is_known_for_a_week() {
    for database in each().await {
        let store = database.open().await;
        for (day, intake) in [(0, Intake::New), (6, Intake::Known), (8, Intake::New)] {
            store.sweep(at(day * DAY)).await.unwrap();
            assert_eq!(store.take_in("7", &[], at(day * DAY)).await.unwrap(), intake, "{}", database.kind);
        }
    }
}

#[tokio::test]
async fn what_somebody_is_now_is_told_to_whoever_asked_before() {
    for database in each().await {
        let store = database.open().await;
        let roles = [RoleId::new(3).unwrap()];
        let first = store.ask_standing(guild(), person(7)).await.unwrap();
        assert_eq!(store.standing(&first).await.unwrap(), None);
        let asked = store.standings_asked().await.unwrap();
        assert_eq!(asked, std::slice::from_ref(&first), "{}", database.kind);
        // Somebody asks again before the answer is there: it is as old as its question.
        let second = store.ask_standing(guild(), person(7)).await.unwrap();
        store.tell_standing(&asked[0], Some(&roles)).await.unwrap();
        assert_eq!(store.standing(&first).await.unwrap(), Some(GuildStanding::Member(roles.into())));
        assert_eq!(store.standing(&second).await.unwrap(), None, "{}", database.kind);
        store.tell_standing(&second, None).await.unwrap();
        assert_eq!(store.standing(&second).await.unwrap(), Some(GuildStanding::Gone));
        assert_eq!(store.standings_asked().await.unwrap(), []);
    }
}
