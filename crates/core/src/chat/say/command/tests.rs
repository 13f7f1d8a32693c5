//! What is answered to commands, as people read it.

use super::*;
use crate::chat::{AuditAction, ChannelId, GuildId, LONGEST};

fn id<T>(make: fn(u64) -> Option<T>, number: u64) -> T {
    make(number).unwrap()
}

#[test]
fn answers_to_commands_read_like_this() {
    let garden = RepoName::parse("octo/garden").unwrap();
    let maya = id(UserId::new, 7);
    let chosen = ChannelSettings {
        listen: Listen::Everything,
        agent: Some("plan".to_owned()),
        model: Some("anthropic/claude".to_owned()),
        verbosity: Verbosity::All,
        approvals: Approvals::Changes,
    };
    let link = ChannelLink {
        channel: id(ChannelId::new, 1),
        guild: id(GuildId::new, 9),
        repository: garden.clone(),
        settings: ChannelSettings::default(),
        linked_by: maya,
        linked_at: Timestamp::UNIX_EPOCH,
    };
    let roles = Roles { askers: [id(RoleId::new, 2), id(RoleId::new, 3)].into(), ..Roles::default() };
    let texts = [
        help(),
        no_guild(),
        broke(),
        no_thread(),
        stale(),
        sign_in("https://github.com/login/device", "ABCD-1234", Some(&garden)),
        sign_in("https://github.com/login/device", "ABCD-1234", None),
        not_signed_in(),
        no_sign_in(),
        account_shown(&Login::new("maya")),
        account_forgotten(),
        bad_repository("a`b\n@everyone"),
        linked(&garden),
        linked_already(&garden),
        unlinked_now(&garden),
        links(&[]),
        links(&[link]),
        settings(&ChannelSettings::default()),
        settings(&chosen),
        bad_name(),
        policy(&roles),
        policy_lacks(),
        policy_moved(),
        bad_session(),
        opened_with(maya, "why is the *floor* wet?"),
        stopping(),
        nothing_to_stop(),
        status("0.1.0", 1, 2),
        ruled("Run `make`?", "once", maya),
        too_late(),
        choose("a session"),
        no_session(),
        no_diff(),
        nothing_said(),
    ];
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn what_people_wrote_cannot_break_out_of_its_line() {
    let words = Words {
        name: "Maya".to_owned(),
        roles: Vec::new(),
        text: "`@everyone`\n# Heading\n[click](https://evil.example)".to_owned(),
        seen_by: None,
        files: Vec::new(),
        quoted: None,
    };
    let maya = id(UserId::new, 7);
    let entry = AuditEntry {
        at: Timestamp::UNIX_EPOCH,
        guild: id(GuildId::new, 9),
        actor: Some(maya),
        roles: Vec::new(),
        action: AuditAction::Link,
        target: "octo/garden\n@everyone".to_owned(),
        before: None,
        after: None,
        ruling: Ruling::Denied("no\nrole".to_owned()),
    };
    let choosable = |thread| Choosable {
        session: "ses_1`\n@here".to_owned(),
        name: format!("why `is` it wet? {}\n# x", "x".repeat(90)),
        thread,
        at: Timestamp::UNIX_EPOCH,
    };
    let texts = [
        queue(true, [(maya, &words)].into_iter()),
        queue(false, [].into_iter()),
        audit([(1, &entry)].into_iter()),
        sessions(&vec![choosable(ChannelId::new(42)); 17], MemoryAnswer::Told),
        sessions(&[choosable(None)], MemoryAnswer::None),
        sessions(&[], MemoryAnswer::None),
        choose_session(MemoryAnswer::None),
    ];
    insta::assert_snapshot!(texts.join("\n\n"));
}

/// Bug: fifteen long lines are more than a message takes, and such a list was not shown at all.
#[test]
fn the_longest_lists_fit_into_a_message() {
    let words = Words {
        name: String::new(),
        roles: Vec::new(),
        text: "👩‍👩‍👧 why? ".repeat(50),
        seen_by: None,
        files: Vec::new(),
        quoted: None,
    };
    let people = u64::MAX / 2;
    let asker = id(UserId::new, people);
    let entry = AuditEntry {
        at: Timestamp::MAX,
        guild: id(GuildId::new, people),
        actor: Some(asker),
        roles: Vec::new(),
        action: AuditAction::ProveAccount,
        target: "x".repeat(200),
        before: None,
        after: None,
        ruling: Ruling::Denied("y".repeat(200)),
    };
    let link = ChannelLink {
        channel: id(ChannelId::new, people),
        guild: id(GuildId::new, people),
        repository: RepoName::parse(&format!("{}/{}", "o".repeat(39), "r".repeat(100))).unwrap(),
        settings: ChannelSettings::default(),
        linked_by: asker,
        linked_at: Timestamp::MAX,
    };
    let session =
        Choosable { session: "ses_".repeat(8), name: "z".repeat(200), thread: None, at: Timestamp::MAX };
    for (list, shown) in [
        (queue(true, vec![(asker, &words); 40].into_iter()), 12),
        (audit((0..40).map(|number| (number, &entry))), 6),
        (links(&vec![link; 40]), 8),
        (sessions(&vec![session; 40], MemoryAnswer::None), 13),
    ] {
        assert!(length(&list) <= LONGEST, "{}: {list}", length(&list));
        let more = list.lines().find(|line| line.starts_with("… and ")).unwrap();
        let left: usize = more.split(' ').nth(2).unwrap().parse().unwrap();
        assert!(40 - left >= shown, "only {} lines: {list}", 40 - left);
    }
    assert!(length(&help()) <= LONGEST);
}
