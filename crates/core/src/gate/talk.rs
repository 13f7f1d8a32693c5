//! Decides whether words in a chat are answered: roles open the door, the speaker's own GitHub account decides how far
//! it leads.

use std::collections::BTreeSet;

use super::{Permit, Policy};
use crate::{
    chat::{
        AccountAccess, ChannelId, Denial, Grant, Membership, RoleId, Roles, Speaker, UserId, WantedHere,
        decide,
    },
    gate::Reach,
    names::{Login, Permission, RepoName},
    trust::Trust,
};

/// Words that somebody says in a thread.
#[derive(Debug, Clone)]
pub struct ThreadWords<'a> {
    /// The repository that the thread is about.
    pub repo: &'a RepoName,
    /// The thread.
    pub thread: ChannelId,
    /// Who speaks.
    pub speaker: UserId,
    /// What they are in the guild now.
    pub membership: Membership,
    /// The roles that they have now.
    pub roles: BTreeSet<RoleId>,
    /// The GitHub account that they have shown to be theirs, and what it may do in the repository right now.
    pub account: Option<(Login, Permission)>,
    /// What they say.
    pub text: &'a str,
}

/// Decides, and mints the key to the turn. `roles` are those of the guild as they are now.
pub fn talk(talk: &ThreadWords<'_>, roles: &Roles, own: &Login, policy: &Policy) -> Result<Permit, Denial> {
    let account = match &talk.account {
        Some((_, permission)) => AccountAccess::Has(*permission),
        None => AccountAccess::NoAccount,
    };
    let (id, membership, roles_now) = (talk.speaker, talk.membership, talk.roles.clone());
    let speaker = Speaker { id, membership, roles: roles_now, account };
    let reach = match decide(WantedHere::Ask, &speaker, roles)? {
        Grant::Talk(reach) => reach,
        Grant::Yes => Reach::Answer,
    };
    // A name on a chat can be anybody's: who has shown no account is known by a number.
    let asker = match &talk.account {
        Some((login, _)) => login.clone(),
        None => Login::new(format!("discord:{}", talk.speaker)),
    };
    let trust = match reach {
        Reach::Work => Trust::Maintainer,
        Reach::Answer | Reach::ReadOnly => Trust::Stranger,
    };
    Ok(Permit::in_thread((talk.repo, talk.thread), (asker, trust, reach), talk.text, (own, policy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::{Claim, DelegatedWork};

    /// Returns what somebody with this role and account gets who says this.
    fn describe_decision(role: u64, account: Option<Permission>, text: &str) -> String {
        let id = |number| RoleId::new(number).unwrap();
        let roles = Roles { askers: [id(1)].into(), barred: [id(9)].into(), ..Roles::default() };
        let repo = RepoName::parse("octo/garden").unwrap();
        let said = ThreadWords {
            repo: &repo,
            thread: ChannelId::new(77).unwrap(),
            speaker: UserId::new(5).unwrap(),
            membership: Membership::Member,
            roles: [id(role)].into(),
            account: account.map(|permission| (Login::new("maya"), permission)),
            text,
        };
        let permit = match talk(&said, &roles, &Login::new("fro-bot"), &Policy::usual()) {
            Ok(permit) => permit,
            Err(denial) => return denial.to_string(),
        };
        let work = match Claim::in_thread(text, &permit, DelegatedWork::OnRequest) {
            Ok(Claim::Plain(commission)) => format!("pushes to {}…", commission.prefix()),
            Ok(Claim::Unsettled(_)) => "a model judges".to_owned(),
            Err(no) => format!("{no:?}"),
        };
        let (asker, reach, trust) = (permit.asker(), permit.reach(), permit.trust().word());
        format!("{asker} on {}: {reach:?}, {trust}; {work}", permit.subject().mark())
    }

    #[test]
    fn a_role_alone_is_worth_an_answer_and_the_account_decides_on_work() {
        let lines = [
            describe_decision(1, None, "fix the tap"),
            describe_decision(1, Some(Permission::Read), "fix the tap"),
            describe_decision(1, Some(Permission::Triage), "fix the tap"),
            describe_decision(1, Some(Permission::Write), "fix the tap"),
            describe_decision(1, Some(Permission::Write), "could the tap drip less?"),
            describe_decision(2, Some(Permission::Admin), "fix the tap"),
            describe_decision(9, Some(Permission::Admin), "fix the tap"),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        discord:5 on /thread/77: Answer, stranger; MayNot(Login("discord:5"))
        maya on /thread/77: Answer, stranger; MayNot(Login("maya"))
        maya on /thread/77: Answer, stranger; MayNot(Login("maya"))
        maya on /thread/77: Work, maintainer; pushes to opencode/thread77-…
        maya on /thread/77: Work, maintainer; a model judges
        this needs a role that may talk to me
        a role of yours is barred from using me
        "#);
    }
}
