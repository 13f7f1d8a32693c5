//! From a mention to its answer through the store alone, as `serve` and `work` do it, with a death in between.

use fro_core::{
    Redactor,
    chat::{
        AuditAction, ChannelLink, ChannelSettings, Deed, Membership, MessageId, MessagePlace, Posted, RoleId,
        Roles, Situation, posted, render,
    },
};
use fro_serve::{Intake, Store};

use crate::{
    contract::{CAPS, LEASE, at, channel, entry, guild, person, spent, thread},
    databases::each,
};

fn mention(roles: &Roles) -> Posted {
    Posted {
        id: MessageId::new(42).unwrap(),
        channel: channel(1),
        guild: guild(),
        author: person(8),
        name: "Sam".to_owned(),
        membership: Membership::Member,
        roles: roles.askers.clone(),
        text: "<@500> why is the floor wet?".to_owned(),
        rings_us: false,
        quoted: None,
        seen_by: None,
        files: Vec::new(),
    }
}

/// Does what waits in the outbox, and returns it.
async fn delivered(store: &Store) -> Vec<Deed> {
    let mut done = Vec::new();
    while let Some(due) = store.due(at(99), 1).await.unwrap().pop() {
        store.done(due.id, None).await.unwrap();
        done.push(due.deed);
    }
    done
}

#[tokio::test]
async fn a_mention_that_is_told_twice_and_whose_worker_dies_is_answered_once() {
    for database in each().await {
        let store = database.open().await;
        let garden = thread(42, "octo/garden");
        let link = ChannelLink {
            channel: channel(1),
            guild: guild(),
            repository: garden.repository.clone(),
            settings: ChannelSettings::default(),
            linked_by: person(7),
            linked_at: at(0),
        };
        store.link(&link, entry(AuditAction::Link, "1")).await.unwrap();
        let roles = Roles { askers: [RoleId::new(2).unwrap()].into(), ..Roles::default() };
        store
            .set_policy(
                guild(),
                &store.policy(guild()).await.unwrap(),
                &roles,
                entry(AuditAction::SetPolicy, ""),
            )
            .await
            .unwrap();

        let message = mention(&roles);
        for expected in [Intake::New, Intake::Known] {
            // Each time by a process that has just started.
            let store = database.open().await;
            let room = MessagePlace::Linked(store.link_of(channel(1)).await.unwrap().unwrap());
            let roles = store.policy(guild()).await.unwrap().roles;
            let situation = Situation { me: person(500), own_role: None, place: room, roles, now: at(1) };
            let follows = posted(&message, &situation);
            assert_eq!(store.take_in(message.id, &follows, at(1)).await.unwrap(), expected);
        }

        let answer = render("The hose leaks.\n\n```rust\nfn drip() {}\n```", &Redactor::knowing([])).messages;
        for second in [10, 60] {
            // The first worker dies after it said all but before it could finish; the second says it again.
            let claimed = store.claim("w", CAPS, at(second), LEASE).await.unwrap().unwrap();
            assert_eq!(claimed.turn.words.text, "why is the floor wet?");
            for (position, text) in (0..).zip(&answer) {
                store.say(claimed.lease, position, &Deed::say(channel(42), text), at(second)).await.unwrap();
            }
            if second == 60 {
                store.finish(claimed.lease, &spent(), at(61)).await.unwrap();
            }
        }
        let done = delivered(&store).await;
        let open = Deed::OpenThread {
            channel: channel(1),
            message: message.id,
            name: "why is the floor wet?".to_owned(),
        };
        let said = Deed::say(channel(42), "The hose leaks.\n```rust\nfn drip() {}\n```");
        assert_eq!(done, [open, said], "{}", database.kind);
        assert_eq!(store.load(at(99)).await.unwrap(), (0, 0));
    }
}
