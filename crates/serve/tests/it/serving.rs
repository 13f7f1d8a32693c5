//! What `serve` asks of the store, on both databases.

use fro_core::chat::{AuditAction, ChannelLink, ChannelSettings, Deed, Follow, Listen, MessageId};

use crate::{
    contract::{CAPS, LEASE, asked, at, channel, entry, guild, person, thread},
    databases::each,
};

#[tokio::test]
async fn a_deed_that_is_being_done_is_not_given_out_again_but_to_whoever_takes_up_the_work() {
    for database in each().await {
        let store = database.open().await;
        let id = store.post(channel(1), &Deed::say(channel(1), "a"), at(0)).await.unwrap();
        assert_eq!(store.due(at(0), 9).await.unwrap().len(), 1);
        assert_eq!(store.due(at(60), 9).await.unwrap(), [], "{}", database.kind);
        store.take_up_outbox().await.unwrap();
        let again = store.due(at(60), 9).await.unwrap().remove(0);
        assert_eq!((again.id, again.first_try), (id, Some(at(0))));
        assert_eq!(store.said_in(channel(1), at(0)).await.unwrap(), []);
        let message = MessageId::new(77).unwrap();
        store.done(id, Some(message)).await.unwrap();
        assert_eq!(store.said_in(channel(1), at(0)).await.unwrap(), [message]);
        assert_eq!(store.said_in(channel(1), at(1)).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_thread_that_is_cleared_has_nothing_waiting_and_what_runs_is_asked_to_end() {
    for database in each().await {
        let store = database.open().await;
        let follows = [
            Follow::OpenThread(thread(50, "octo/garden")),
            Follow::Queue(asked(50, 51, "one")),
            Follow::Queue(asked(50, 52, "two")),
        ];
        store.take_in("x", &follows, at(0)).await.unwrap();
        assert_eq!(store.ahead(channel(50)).await.unwrap(), 2);
        let claimed = store.claim("w", CAPS, at(0), LEASE).await.unwrap().unwrap();
        assert_eq!(store.answering(at(1)).await.unwrap(), [channel(50)]);
        assert_eq!(store.answered_now(channel(50)).await.unwrap(), Some(claimed.turn.asker));
        assert_eq!(store.unfinished_in(channel(1)).await.unwrap(), [channel(50)]);
        store.clear(channel(50)).await.unwrap();
        assert_eq!(store.waiting(channel(50)).await.unwrap(), []);
        assert_eq!(store.renew(claimed.lease, at(1), LEASE).await.unwrap(), fro_serve::Wish::Stop);
        let approval = store.request(claimed.lease, "per_1", "run?", at(60)).await.unwrap();
        assert_eq!(store.asked_in(approval.id).await.unwrap(), Some(channel(50)), "{}", database.kind);
        assert_eq!(store.asked_in(99).await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_settings_of_a_linked_channel_change_with_their_audit_row() {
    for database in each().await {
        let store = database.open().await;
        let settings = ChannelSettings { listen: Listen::Everything, ..ChannelSettings::default() };
        assert!(!store.set_settings(channel(1), &settings, &entry(AuditAction::Choose, "1")).await.unwrap());
        let link = ChannelLink {
            channel: channel(1),
            guild: guild(),
            repository: thread(1, "octo/garden").repository,
            settings: ChannelSettings::default(),
            linked_by: person(7),
            linked_at: at(0),
        };
        store.link(&link, entry(AuditAction::Link, "1")).await.unwrap();
        assert!(store.set_settings(channel(1), &settings, &entry(AuditAction::Choose, "1")).await.unwrap());
        assert_eq!(store.link_of(channel(1)).await.unwrap().unwrap().settings, settings);
        assert_eq!(store.audited(guild(), 9).await.unwrap().len(), 3, "{}", database.kind);
    }
}
