//! The table of who may what, held against an oracle that is written as a table and shares no code with the decision.

use super::*;

const LINKER: u64 = 1;
const ASKER: u64 = 2;
const APPROVER: u64 = 4;
const BARRED: u64 = 8;

/// What each wish needs, as the documentation says it: any of these roles, and what of GitHub.
/// `o` is the owner of the guild, the letters are roles; `w` is write permission, `i` the App installed.
const TABLE: [(&str, WantedHere, &str, &str); 11] = [
    ("link, App there", WantedHere::Link(App::Installed), "L", "w"),
    ("link, App missing", WantedHere::Link(App::Missing), "", ""),
    ("unlink", WantedHere::Unlink, "L", ""),
    ("set policy", WantedHere::SetPolicy, "oL", ""),
    ("read audit", WantedHere::ReadAudit, "L", ""),
    ("look", WantedHere::Look, "AL", ""),
    ("ask", WantedHere::Ask, "AL", ""),
    ("stop own", WantedHere::Stop(TurnOwner::Own), "AL", ""),
    ("stop others'", WantedHere::Stop(TurnOwner::Others), "PL", ""),
    ("choose", WantedHere::Choose, "AL", ""),
    ("approve", WantedHere::Approve, "P", ""),
];

fn roles() -> Roles {
    let one = |number| [RoleId::new(number).unwrap()].into();
    Roles { linkers: one(LINKER), askers: one(ASKER), approvers: one(APPROVER), barred: one(BARRED) }
}

fn speaker(membership: Membership, held: u64, account: AccountAccess) -> Speaker {
    // A role that means nothing here is always among them.
    let all = [LINKER, ASKER, APPROVER, BARRED].into_iter().filter(|role| held & role != 0).chain([99]);
    let roles = all.filter_map(RoleId::new).collect();
    Speaker { id: UserId::new(7).unwrap(), membership, roles, account }
}

/// Says by the table alone whether it is granted, and how far words reach.
fn oracle(row: &(&str, WantedHere, &str, &str), who: Membership, held: u64, github: &str) -> &'static str {
    let (name, _, letters, needs) = row;
    let has = |letter: char| match letter {
        'o' => who == Membership::Owner,
        'L' => held & LINKER != 0,
        'A' => held & ASKER != 0,
        'P' => held & APPROVER != 0,
        _ => unreachable!(),
    };
    let human = matches!(who, Membership::Owner | Membership::Member);
    let unlocked = held & BARRED == 0 || (*name == "set policy" && who == Membership::Owner);
    let pushes = ["write", "maintain", "admin"].contains(&github);
    let granted = human && unlocked && letters.chars().any(has) && (needs.is_empty() || pushes);
    match (granted, *name) {
        (false, _) => "no",
        (true, "ask") if pushes => "work",
        (true, "ask") => "answer",
        (true, _) => "yes",
    }
}

fn describe(decision: Result<Grant, Denial>) -> &'static str {
    match decision {
        Err(_) => "no",
        Ok(Grant::Yes) => "yes",
        Ok(Grant::Talk(Reach::Answer)) => "answer",
        Ok(Grant::Talk(Reach::Work)) => "work",
        Ok(Grant::Talk(Reach::ReadOnly)) => "read-only",
    }
}

#[test]
fn every_combination_of_role_account_and_wish_is_as_the_table_says() {
    let everybody = [Membership::Owner, Membership::Member, Membership::Automaton, Membership::Outsider];
    let accounts = ["", "none", "read", "triage", "write", "maintain", "admin"];
    let mut looked_at = 0;
    for row in &TABLE {
        for who in everybody {
            for held in 0..16 {
                for github in accounts {
                    let account =
                        Permission::from_word(github).map_or(AccountAccess::NoAccount, AccountAccess::Has);
                    let decision = decide(row.1, &speaker(who, held, account), &roles());
                    let about = format!("{} {who:?} roles {held:04b} github {github:?}: {decision:?}", row.0);
                    assert_eq!(describe(decision), oracle(row, who, held, github), "{about}");
                    looked_at += 1;
                }
            }
        }
    }
    assert_eq!(looked_at, 11 * 4 * 16 * 7);
}

#[test]
fn without_a_policy_only_the_owner_may_set_one() {
    for row in &TABLE {
        let admin = AccountAccess::Has(Permission::Admin);
        let granted = decide(row.1, &speaker(Membership::Owner, 15, admin), &Roles::default()).is_ok();
        assert_eq!(granted, row.1 == WantedHere::SetPolicy, "{}", row.0);
    }
}

#[test]
fn a_refusal_says_what_is_missing() {
    let nobody = |account| speaker(Membership::Member, 0, account);
    let linker = |account| speaker(Membership::Member, LINKER, account);
    let link = WantedHere::Link(App::Installed);
    let refusals = [
        (link, nobody(AccountAccess::NoAccount)),
        (link, linker(AccountAccess::NoAccount)),
        (link, linker(AccountAccess::Has(Permission::Triage))),
        (WantedHere::Link(App::Missing), linker(AccountAccess::Has(Permission::Write))),
        (WantedHere::Ask, nobody(AccountAccess::NoAccount)),
        (WantedHere::Approve, linker(AccountAccess::NoAccount)),
        (WantedHere::Look, speaker(Membership::Member, BARRED, AccountAccess::NoAccount)),
        (WantedHere::Look, speaker(Membership::Automaton, ASKER, AccountAccess::NoAccount)),
        (WantedHere::Look, speaker(Membership::Outsider, ASKER, AccountAccess::NoAccount)),
    ];
    let texts = refusals.map(|(wanted, who)| decide(wanted, &who, &roles()).unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n"));
}
