//! What the store promises, the same on both databases.

use std::time::Duration;

use fro_core::{
    Login, RepoName,
    chat::{
        AuditAction, AuditEntry, ChannelId, ChannelLink, ChannelSettings, Deed, Follow, GuildId, Listen,
        MessageId, RoleId, Roles, Ruling, Thread, ThreadRequest, UserId, Words,
    },
};
use fro_serve::{Account, Caps, Claimed, Error, Intake, Policy, Spent, Store, Verdict, Wish};
use jiff::Timestamp;

use crate::databases::each;

pub(crate) const GUILD: u64 = 900;
pub(crate) const LEASE: Duration = Duration::from_secs(30);
pub(crate) const CAPS: Caps = Caps { all: 4, repository: 2 };

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(crate) fn channel(number: u64) -> ChannelId {
    ChannelId::new(number).unwrap()
}

fn message(number: u64) -> MessageId {
    MessageId::new(number).unwrap()
}

pub(crate) fn person(number: u64) -> UserId {
    UserId::new(number).unwrap()
}

pub(crate) fn guild() -> GuildId {
    GuildId::new(GUILD).unwrap()
}

pub(crate) fn entry(action: AuditAction, target: &str) -> AuditEntry {
    AuditEntry {
        at: at(0),
        guild: guild(),
        actor: Some(person(7)),
        roles: vec![RoleId::new(1).unwrap()],
        action,
        target: target.to_owned(),
        before: None,
        after: None,
        ruling: Ruling::Granted,
    }
}

pub(crate) fn thread(number: u64, repository: &str) -> Thread {
    Thread {
        id: channel(number),
        channel: channel(1),
        guild: guild(),
        repository: RepoName::parse(repository).unwrap(),
        session: None,
        forked_from: None,
        named: None,
        opened_at: at(0),
    }
}

pub(crate) fn asked(thread: u64, source: u64, text: &str) -> ThreadRequest {
    let words = Words {
        name: "Maya".to_owned(),
        roles: Vec::new(),
        text: text.to_owned(),
        seen_by: None,
        files: Vec::new(),
        quoted: None,
    };
    ThreadRequest { thread: channel(thread), source: message(source), asker: person(7), words }
}

pub(crate) fn spent() -> Spent {
    Spent { ending: "answered".to_owned(), tokens_in: 10, tokens_out: 5, cost: 120 }
}

/// A thread of octo/garden with these words in its queue.
pub(crate) async fn queue(store: &Store, number: u64, words: &[u64]) {
    let open = Follow::OpenThread(thread(number, "octo/garden"));
    store.take_in(format!("open {number}"), &[open], at(0)).await.unwrap();
    for source in words {
        let follow = Follow::Queue(asked(number, *source, &format!("words {source}")));
        store.take_in(source, &[follow], at(0)).await.unwrap();
    }
}

pub(crate) async fn claim(store: &Store, second: i64) -> Option<Claimed> {
    store.claim("w", CAPS, at(second), LEASE).await.unwrap()
}

fn texts(turns: &[fro_serve::Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.words.text.as_str()).collect()
}

#[tokio::test]
async fn a_channel_is_linked_once_and_the_audit_tells_of_both_tries() {
    for database in each().await {
        let store = database.open().await;
        let settings = ChannelSettings { listen: Listen::Everything, ..ChannelSettings::default() };
        let link = |repository: &str| ChannelLink {
            channel: channel(1),
            guild: guild(),
            repository: RepoName::parse(repository).unwrap(),
            settings: settings.clone(),
            linked_by: person(7),
            linked_at: at(5),
        };
        assert_eq!(store.link(&link("octo/garden"), entry(AuditAction::Link, "1")).await.unwrap(), None);
        let taken = store.link(&link("octo/cellar"), entry(AuditAction::Link, "1")).await.unwrap();
        assert_eq!(taken, Some(link("octo/garden")));
        assert_eq!(store.links(guild()).await.unwrap(), [link("octo/garden")]);
        assert_eq!(store.link_of(channel(2)).await.unwrap(), None);

        let unlink = || entry(AuditAction::Unlink, "1");
        assert_eq!(store.unlink(channel(1), unlink()).await.unwrap().unwrap().to_string(), "octo/garden");
        assert_eq!(store.unlink(channel(1), unlink()).await.unwrap(), None);
        assert_eq!(store.link_of(channel(1)).await.unwrap(), None);
        let rulings = store.audited(guild(), 10).await.unwrap();
        let rulings: Vec<_> =
            rulings.into_iter().map(|audited| (audited.number, audited.entry.ruling)).collect();
        let denied = |why: &str| Ruling::Denied(why.to_owned());
        let expected = [
            (4, denied("the channel is not linked")),
            (3, Ruling::Granted),
            (2, denied("the channel is linked to octo/garden already")),
            (1, Ruling::Granted),
        ];
        assert_eq!(rulings, expected, "{}", database.kind);
    }
}

#[tokio::test]
async fn a_policy_that_changed_meanwhile_is_not_overwritten() {
    for database in each().await {
        let store = database.open().await;
        let none = store.policy(guild()).await.unwrap();
        assert_eq!(none, Policy::default());
        let roles = Roles { askers: [RoleId::new(2).unwrap()].into(), ..Roles::default() };
        let set = |was: Policy, roles: Roles| {
            let store = store.clone();
            async move {
                store.set_policy(guild(), &was, &roles, entry(AuditAction::SetPolicy, "")).await.unwrap()
            }
        };
        assert!(set(none.clone(), roles.clone()).await);
        assert!(!set(none, Roles::default()).await, "{}", database.kind);
        let policy = store.policy(guild()).await.unwrap();
        assert_eq!(policy, Policy { roles, version: 1 });
        assert!(set(policy, Roles::default()).await);
        assert_eq!(store.policy(guild()).await.unwrap().version, 2);
    }
}

#[tokio::test]
async fn an_account_is_somebody_s_until_it_is_forgotten() {
    for database in each().await {
        let store = database.open().await;
        for (login, github_id) in [("maya", 1), ("maya-new", 2)] {
            let account = Account { login: Login::new(login), github_id, proven_at: at(1) };
            let entry = entry(AuditAction::ProveAccount, login);
            store.prove_account(person(7), &account, &entry).await.unwrap();
            assert_eq!(store.account(person(7)).await.unwrap(), Some(account));
        }
        store.forget_account(person(7), &entry(AuditAction::ForgetAccount, "")).await.unwrap();
        assert_eq!(store.account(person(7)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_event_that_is_told_twice_is_dealt_with_once() {
    for database in each().await {
        let store = database.open().await;
        let follows = [
            Follow::OpenThread(thread(50, "octo/garden")),
            Follow::Do { lane: channel(50), deed: Deed::say(channel(50), "one moment") },
            Follow::Queue(asked(50, 50, "a NUL \0 and an 🪴")),
            Follow::Record(entry(AuditAction::Ask, "50")),
        ];
        assert_eq!(store.take_in(message(50), &follows, at(1)).await.unwrap(), Intake::New);
        // After a restart, as Discord replays what it is not sure of.
        let store = database.open().await;
        assert_eq!(store.take_in(message(50), &follows, at(2)).await.unwrap(), Intake::Known);
        assert_eq!(texts(&store.waiting(channel(50)).await.unwrap()), ["a NUL \0 and an 🪴"]);
        assert_eq!(store.due(at(2), 10).await.unwrap().len(), 1);
        assert_eq!(store.audited(guild(), 10).await.unwrap().len(), 1);
        assert_eq!(store.thread(channel(50)).await.unwrap(), Some(thread(50, "octo/garden")));
    }
}

#[tokio::test]
async fn what_follows_from_an_event_is_written_whole_or_not_at_all() {
    for database in each().await {
        let store = database.open().await;
        // There is no such thread, so the last of them fails.
        let follows = [
            Follow::Do { lane: channel(1), deed: Deed::say(channel(1), "one moment") },
            Follow::Record(entry(AuditAction::Ask, "50")),
            Follow::Queue(asked(50, 50, "lost")),
        ];
        store.take_in(message(50), &follows, at(1)).await.unwrap_err();
        assert_eq!(store.due(at(1), 10).await.unwrap(), []);
        assert_eq!(store.audited(guild(), 10).await.unwrap(), []);
        assert_eq!(
            store.take_in(message(50), &follows[..1], at(1)).await.unwrap(),
            Intake::New,
            "{}",
            database.kind
        );
    }
}

#[tokio::test]
async fn words_of_a_thread_are_answered_one_after_the_other() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51, 52]).await;
        let first = claim(&store, 1).await.unwrap();
        assert_eq!((first.turn.words.text.as_str(), first.attempt), ("words 51", 1));
        assert_eq!(claim(&store, 1).await, None, "the second waits for the first");
        assert_eq!(store.load(at(1)).await.unwrap(), (1, 1));
        store.finish(first.lease, &spent(), at(2)).await.unwrap();
        assert_eq!(claim(&store, 3).await.unwrap().turn.words.text, "words 52", "{}", database.kind);
    }
}

#[tokio::test]
async fn a_worker_that_was_thought_dead_changes_nothing_when_it_comes_back() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51]).await;
        let dead = claim(&store, 0).await.unwrap();
        assert_eq!(store.renew(dead.lease, at(20), LEASE).await.unwrap(), Wish::None);
        assert_eq!(claim(&store, 49).await, None, "the lease was renewed");
        let heir = claim(&store, 50).await.unwrap();
        assert_eq!((heir.attempt, heir.lease.fence > dead.lease.fence), (2, true));

        let words = Deed::say(channel(50), "from beyond");
        let stale = [
            store.renew(dead.lease, at(51), LEASE).await.map(drop),
            store.say(dead.lease, 0, &words, at(51)).await,
            store.end_at(dead.lease, 0, at(51)).await,
            store.request(dead.lease, "r", "may I?", at(99)).await.map(drop),
            store.finish(dead.lease, &spent(), at(51)).await,
        ];
        assert!(stale.iter().all(|done| matches!(done, Err(Error::Stale { .. }))), "{stale:?}");
        assert_eq!(store.due(at(99), 9).await.unwrap(), []);
        store.finish(heir.lease, &spent(), at(52)).await.unwrap();
        assert!(matches!(store.finish(heir.lease, &spent(), at(52)).await, Err(Error::Stale { .. })));
    }
}

#[tokio::test]
async fn turns_of_a_worker_that_ended_are_free_at_once() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51]).await;
        claim(&store, 0).await.unwrap();
        assert_eq!(store.abandon("somebody else").await.unwrap(), 0);
        assert_eq!(store.abandon("w").await.unwrap(), 1);
        assert_eq!(claim(&store, 1).await.unwrap().attempt, 2, "{}", database.kind);
    }
}

#[tokio::test]
async fn a_message_that_waits_can_be_edited_and_deleted_and_one_that_runs_cannot() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51, 52, 53]).await;
        let running = claim(&store, 1).await.unwrap();
        let edit = |source, text: &str| Follow::Reword { source: message(source), text: text.to_owned() };
        let follows = [
            edit(51, "too late"),
            edit(52, "better words"),
            Follow::Withdraw(message(53)),
            Follow::Withdraw(message(51)),
        ];
        store.take_in("edits", &follows, at(2)).await.unwrap();
        assert_eq!(texts(&store.waiting(channel(50)).await.unwrap()), ["better words"]);
        store.finish(running.lease, &spent(), at(3)).await.unwrap();
        assert_eq!(claim(&store, 4).await.unwrap().turn.words.text, "better words", "{}", database.kind);
    }
}

#[tokio::test]
async fn somebody_who_stops_a_turn_is_heard_by_its_worker() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51]).await;
        let stop = || entry(AuditAction::Abort, "50");
        assert!(!store.stop(channel(50), &stop()).await.unwrap(), "nothing runs yet");
        let running = claim(&store, 1).await.unwrap();
        assert!(store.stop(channel(50), &stop()).await.unwrap());
        assert_eq!(store.renew(running.lease, at(2), LEASE).await.unwrap(), Wish::Stop, "{}", database.kind);
    }
}

/// Says what waits in the outbox, does it, and returns it as lines.
async fn deliver(store: &Store, second: i64) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let due = store.due(at(second), 10).await.unwrap();
        if due.is_empty() {
            return lines;
        }
        for due in due {
            let made =
                matches!(due.deed, Deed::Say { .. }).then(|| message(1000 + u64::try_from(due.id).unwrap()));
            lines.push(match (&due.deed, due.message) {
                (Deed::Say { text, .. }, _) => format!("say {text}"),
                (Deed::Change { text, .. }, Some(_)) => format!("change to {text}"),
                (Deed::TakeBack { .. }, Some(_)) => "take back".to_owned(),
                (other, message) => panic!("{other:?} of {message:?}"),
            });
            store.done(due.id, made).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_begun_anew_overwrites_what_was_posted() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51]).await;
        let say = |text: &str| Deed::say(channel(50), text);
        let killed = claim(&store, 0).await.unwrap();
        for (position, text) in [(0, "I look."), (1, "It drips."), (2, "And rusts.")] {
            store.say(killed.lease, position, &say(text), at(1)).await.unwrap();
        }
        assert_eq!(deliver(&store, 1).await, ["say I look.", "say It drips.", "say And rusts."]);
        // The next worker comes to another answer, in two pieces.
        let heir = claim(&store, 60).await.unwrap();
        for (position, text) in [(0, "I look."), (1, "The tap drips.")] {
            store.say(heir.lease, position, &say(text), at(61)).await.unwrap();
        }
        store.end_at(heir.lease, 2, at(61)).await.unwrap();
        assert_eq!(deliver(&store, 61).await, ["change to The tap drips.", "take back"]);
        assert_eq!(store.places(heir.lease.turn).await.unwrap().len(), 2);
        // Killed before it could finish; the third says three pieces after all.
        let third = claim(&store, 120).await.unwrap();
        for (position, text) in [(0, "I look."), (1, "The tap drips."), (2, "Done.")] {
            store.say(third.lease, position, &say(text), at(121)).await.unwrap();
        }
        assert_eq!(deliver(&store, 121).await, ["say Done."], "{}", database.kind);
    }
}

#[tokio::test]
async fn a_deed_that_fails_keeps_its_own_lane_waiting_and_no_other() {
    for database in each().await {
        let store = database.open().await;
        for (lane, text) in [(1, "a"), (1, "b"), (2, "c")] {
            store.post(channel(lane), &Deed::say(channel(lane), text), at(0)).await.unwrap();
        }
        let due = store.due(at(0), 10).await.unwrap();
        assert_eq!(
            due.iter().map(|due| (due.lane, due.attempts)).collect::<Vec<_>>(),
            [(channel(1), 0), (channel(2), 0)]
        );
        assert_eq!(due[0].first_try, None);
        store.retry(due[0].id, "503", at(0), Duration::from_secs(10)).await.unwrap();
        store.done(due[1].id, None).await.unwrap();
        assert_eq!(store.due(at(9), 10).await.unwrap(), [], "what comes after it waits, too");
        let again = store.due(at(10), 10).await.unwrap().remove(0);
        assert_eq!((again.id, again.attempts, again.first_try), (due[0].id, 1, Some(at(0))));
        store.give_up(again.id, "the channel is gone").await.unwrap();
        let [next] = store.due(at(10), 10).await.unwrap().try_into().unwrap();
        assert_eq!(next.deed, Deed::say(channel(1), "b"), "{}", database.kind);
    }
}

#[tokio::test]
async fn of_two_words_on_a_request_the_first_stands_and_none_after_the_deadline() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[51]).await;
        let lease = claim(&store, 0).await.unwrap().lease;
        let first = store.request(lease, "per_1", "run `make`?", at(60)).await.unwrap();
        assert_eq!(store.request(lease, "per_1", "run `make`?", at(90)).await.unwrap(), first, "asked once");
        let late = store.request(lease, "per_2", "push?", at(0)).await.unwrap();
        assert_eq!(store.verdict(first.id, at(1)).await.unwrap(), Verdict::Open);
        let rule = |id, by, answer: &'static str| {
            let store = store.clone();
            async move { store.rule(id, (person(by), answer), entry(AuditAction::Approve, "")).await.unwrap() }
        };
        let decided = Verdict::Decided { by: person(7), answer: "yes".to_owned() };
        assert_eq!(rule(first.id, 7, "yes").await, decided);
        assert_eq!(rule(first.id, 8, "no").await, decided);
        assert_eq!(rule(late.id, 7, "yes").await, Verdict::Expired);
        assert_eq!(store.verdict(first.id, at(999)).await.unwrap(), decided, "a decision does not expire");
        assert_eq!(store.audited(guild(), 10).await.unwrap().len(), 3, "{}", database.kind);
    }
}

#[tokio::test]
async fn one_process_speaks_for_a_shard_and_the_next_goes_on_where_it_stopped() {
    for database in each().await {
        let store = database.open().await;
        let take = |holder: &'static str, second| {
            let store = store.clone();
            async move { store.take_shard::<String>(0, holder, at(second), LEASE).await.unwrap() }
        };
        let (first, session) = take("a", 0).await.unwrap();
        assert_eq!(session, None);
        assert!(store.keep_shard(first, Some(&"session at 41".to_owned()), at(30)).await.unwrap());
        assert_eq!(take("b", 29).await, None);
        let (second, session) = take("b", 30).await.unwrap();
        assert_eq!(session.as_deref(), Some("session at 41"));
        assert!(!store.keep_shard(first, Some(&"session at 40".to_owned()), at(99)).await.unwrap());
        assert!(store.keep_shard::<String>(second, None, at(60)).await.unwrap());
        assert_eq!(take("b", 31).await.unwrap().1, None, "{}", database.kind);
    }
}

#[tokio::test]
async fn a_thread_keeps_its_session() {
    for database in each().await {
        let store = database.open().await;
        queue(&store, 50, &[]).await;
        store.set_session(channel(50), Some("ses_1")).await.unwrap();
        let kept = Thread { session: Some("ses_1".to_owned()), ..thread(50, "octo/garden") };
        assert_eq!(store.threads_of("ses_1").await.unwrap(), [kept]);
        store.set_session(channel(50), None).await.unwrap();
        assert_eq!(store.threads_of("ses_1").await.unwrap(), [], "{}", database.kind);
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    for database in each().await {
        drop(database.open().await);
        database.meddle("UPDATE schema_version SET number = 8").await.unwrap();
        let error = fro_serve::Store::open(&database.address).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database has version 8, this fro-bot knows up to 6",
            "{}",
            database.kind
        );
        assert_eq!(error.fault().exit_code(), 2);
    }
}
