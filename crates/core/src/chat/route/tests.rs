//! What follows from messages, as lines.

use super::*;
use crate::{chat::ChannelSettings, names::RepoName};

const ME: u64 = 500;

fn repository(name: &str) -> RepoName {
    RepoName::parse(name).unwrap()
}

fn link(name: &str, listen: Listen) -> ChannelLink {
    ChannelLink {
        channel: ChannelId::new(1).unwrap(),
        guild: GuildId::new(9).unwrap(),
        repository: repository(name),
        settings: ChannelSettings { listen, ..ChannelSettings::default() },
        linked_by: UserId::new(7).unwrap(),
        linked_at: Timestamp::UNIX_EPOCH,
    }
}

fn thread(link: Option<ChannelLink>, ahead: usize) -> MessagePlace {
    let thread = Thread {
        id: ChannelId::new(2).unwrap(),
        channel: ChannelId::new(1).unwrap(),
        guild: GuildId::new(9).unwrap(),
        repository: repository("octo/garden"),
        session: Some("ses_1".to_owned()),
        forked_from: None,
        named: None,
        opened_at: Timestamp::UNIX_EPOCH,
    };
    MessagePlace::Thread { thread, link, ahead }
}

/// Somebody with these roles says something.
fn says(who: Membership, role: u64, text: &str) -> Posted {
    Posted {
        id: MessageId::new(42).unwrap(),
        channel: ChannelId::new(2).unwrap(),
        guild: GuildId::new(9).unwrap(),
        author: UserId::new(7).unwrap(),
        name: "Maya".to_owned(),
        membership: who,
        roles: RoleId::new(role).into_iter().collect(),
        text: text.to_owned(),
        rings_us: false,
        quoted: None,
        seen_by: None,
        files: Vec::new(),
    }
}

fn line(follow: &Follow) -> String {
    match follow {
        Follow::OpenThread(thread) => format!("thread {} of {}", thread.id, thread.repository),
        Follow::Queue(asked) => format!("queue in {}: {}", asked.thread, asked.words.text),
        Follow::Do { lane, deed: Deed::OpenThread { message, name, .. } } => {
            format!("{lane}: open on {message}: {name}")
        }
        Follow::Do { lane, deed: Deed::Say { text, buttons, .. } } => {
            format!(
                "{lane}: say {text:.40} [{}]",
                buttons.iter().map(|button| &*button.id).collect::<Vec<_>>().join(",")
            )
        }
        Follow::Record(entry) => format!("record {:?} {:?}", entry.action, entry.ruling),
        Follow::Do { .. } | Follow::Reword { .. } | Follow::Withdraw(_) => format!("{follow:?}"),
    }
}

/// An asker has role 2, others have none of ours.
fn check(message: &Posted, room: MessagePlace, expect: &[&str]) {
    let roles = Roles { askers: [RoleId::new(2).unwrap()].into(), ..Roles::default() };
    let (me, now) = (UserId::new(ME).unwrap(), Timestamp::UNIX_EPOCH);
    let situation = Situation { me, own_role: RoleId::new(501), place: room, roles, now };
    let lines: Vec<_> = posted(message, &situation).iter().map(line).collect();
    assert_eq!(lines, expect, "{message:?}");
}

#[test]
fn a_mention_in_a_linked_channel_opens_a_thread_with_the_message_s_own_number() {
    let mention = says(Membership::Member, 2, "<@500> why is the *floor* wet?");
    let expect = [
        "thread 42 of octo/garden",
        "42: open on 42: why is the floor wet?",
        "queue in 42: why is the *floor* wet?",
    ];
    check(&mention, MessagePlace::Linked(link("octo/garden", Listen::Mentions)), &expect);
}

#[test]
fn plain_words_open_one_only_where_everything_is_listened_to() {
    let plain = says(Membership::Member, 2, "why?");
    check(&plain, MessagePlace::Linked(link("octo/garden", Listen::Mentions)), &[]);
    let expect = ["thread 42 of octo/garden", "42: open on 42: why?", "queue in 42: why?"];
    check(&plain, MessagePlace::Linked(link("octo/garden", Listen::Everything)), &expect);
}

#[test]
fn words_in_a_thread_go_on_and_wait_for_their_turn() {
    let garden = || Some(link("octo/garden", Listen::Mentions));
    let more = says(Membership::Member, 2, "and the roof?");
    check(&more, thread(garden(), 0), &["queue in 2: and the roof?"]);
    let waits = "2: say Noted; 2 turns come first. Edit or delet [stop:2]";
    check(&more, thread(garden(), 2), &["queue in 2: and the roof?", waits]);
}

#[test]
fn whoever_has_no_role_is_told_so_once_they_call_and_left_alone_otherwise() {
    let garden = || Some(link("octo/garden", Listen::Mentions));
    check(&says(Membership::Member, 3, "I agree"), thread(garden(), 0), &[]);
    let refused = [
        "record Ask Denied(\"this needs a role that may talk to me\")",
        "2: say I cannot do that: this needs a role that []",
    ];
    check(&says(Membership::Member, 3, "<@500> push it"), thread(garden(), 0), &refused);
    check(
        &says(Membership::Owner, 3, "<@!500> push it"),
        MessagePlace::Linked(link("octo/garden", Listen::Everything)),
        &refused,
    );
}

#[test]
fn programs_and_we_ourselves_are_never_answered() {
    for room in [
        MessagePlace::Elsewhere,
        MessagePlace::Linked(link("octo/garden", Listen::Everything)),
        thread(None, 0),
    ] {
        check(&says(Membership::Automaton, 2, "<@500> hi"), room.clone(), &[]);
        let own = Posted { author: UserId::new(ME).unwrap(), ..says(Membership::Member, 2, "<@500> hi") };
        check(&own, room, &[]);
    }
}

#[test]
fn a_place_that_is_no_repository_s_says_so() {
    check(&says(Membership::Member, 2, "hi"), MessagePlace::Elsewhere, &[]);
    let not_linked = ["2: say This channel is linked to no repository. []"];
    check(&says(Membership::Member, 2, "<@500> hi"), MessagePlace::Elsewhere, &not_linked);
    let unlinked = "2: say This thread was about octo/garden, but i []";
    check(&says(Membership::Member, 2, "go on"), thread(None, 0), &[unlinked]);
    let other = "2: say This thread is about octo/garden, but it []";
    check(
        &says(Membership::Member, 2, "go on"),
        thread(Some(link("octo/cellar", Listen::Mentions)), 0),
        &[other],
    );
}

#[test]
fn a_thread_that_people_began_is_left_alone_until_they_call() {
    let theirs = || MessagePlace::Theirs { link: link("octo/garden", Listen::Everything) };
    check(&says(Membership::Member, 2, "I agree"), theirs(), &[]);
    let expect = ["thread 2 of octo/garden", "queue in 2: what about the roof?"];
    check(&says(Membership::Member, 2, "<@500> what about the roof?"), theirs(), &expect);
}

#[test]
fn a_picture_without_words_is_a_question_where_it_is_listened_to() {
    let file = SaidFile { name: "wet.png".to_owned(), url: String::new(), size: 1 };
    let picture = Posted { files: vec![file], ..says(Membership::Member, 2, "") };
    check(&picture, thread(Some(link("octo/garden", Listen::Mentions)), 0), &["queue in 2: "]);
}

#[test]
fn a_bare_mention_is_asked_what_it_wants() {
    let expect = ["2: say What can I do for you? Mention me togeth []"];
    check(
        &says(Membership::Member, 2, " <@500> "),
        MessagePlace::Linked(link("octo/garden", Listen::Mentions)),
        &expect,
    );
    check(&says(Membership::Member, 2, ""), thread(Some(link("octo/garden", Listen::Mentions)), 0), &[]);
}

#[test]
fn an_edit_changes_what_waits_and_an_empty_one_takes_it_back() {
    let (source, me) = (MessageId::new(42).unwrap(), (UserId::new(ME).unwrap(), RoleId::new(501)));
    let reworded = Follow::Reword { source, text: "why, really?".to_owned() };
    let nothing = WithoutWords::Nothing;
    assert_eq!(edited(source, "<@500> why, really?", nothing, me), reworded);
    assert_eq!(edited(source, " <@500> <@&501>", nothing, me), Follow::Withdraw(source));
    let picture = Follow::Reword { source, text: String::new() };
    assert_eq!(edited(source, "<@500>", WithoutWords::Something, me), picture);
}

#[test]
fn an_answer_that_rings_us_calls_us_and_so_does_the_role_that_the_guild_made_for_us() {
    let linked = || MessagePlace::Linked(link("octo/garden", Listen::Mentions));
    let answer = |text: &str| Posted { rings_us: true, ..says(Membership::Member, 2, text) };
    let expect = ["thread 42 of octo/garden", "42: open on 42: and why?", "queue in 42: and why?"];
    check(&answer("and why?"), linked(), &expect);
    check(&says(Membership::Member, 2, "<@&501> and why?"), linked(), &expect);
    check(&says(Membership::Member, 2, "<@&502> and why?"), linked(), &[]);
    check(&answer(""), linked(), &["2: say What can I do for you? Mention me togeth []"]);
    // Whoever may not is told so as with a mention, and a program is not heard at all.
    let refused = [
        "record Ask Denied(\"this needs a role that may talk to me\")",
        "2: say I cannot do that: this needs a role that []",
    ];
    let stranger = Posted { rings_us: true, ..says(Membership::Member, 3, "push it") };
    check(&stranger, thread(Some(link("octo/garden", Listen::Mentions)), 0), &refused);
    let program = Posted { rings_us: true, ..says(Membership::Automaton, 2, "push it") };
    check(&program, linked(), &[]);
}

#[test]
fn what_is_passed_on_is_a_question_and_a_sticker_in_answer_to_something_is_none() {
    let quoting = |reason, text: &str| Posted {
        quoted: Some(QuotedMessage { reason, name: String::new(), text: "It drips.".to_owned() }),
        ..says(Membership::Member, 2, text)
    };
    let garden = || thread(Some(link("octo/garden", Listen::Mentions)), 0);
    check(&quoting(QuoteReason::PassedOn, ""), garden(), &["queue in 2: "]);
    check(&quoting(QuoteReason::Answered, ""), garden(), &[]);
    let situation = Situation {
        me: UserId::new(ME).unwrap(),
        own_role: None,
        place: garden(),
        roles: Roles { askers: [RoleId::new(2).unwrap()].into(), ..Roles::default() },
        now: Timestamp::UNIX_EPOCH,
    };
    let message = quoting(QuoteReason::Answered, "why?");
    let follows = posted(&message, &situation);
    let [Follow::Queue(asked)] = &follows[..] else { panic!("{follows:?}") };
    assert_eq!(asked.words.quoted, message.quoted);
}
