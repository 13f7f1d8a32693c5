//! Whose name a commit may have, and whom its message may name.

use crate::git::{
    rules::{Refused, Rules},
    scan::Object,
};

/// A name on commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Signature {
    /// Returns it as git writes it.
    fn written(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }
}

/// Lines of a message by which somebody is taken for an author, or for one who signed.
const NAMING: [&str; 2] = ["co-authored-by", "signed-off-by"];

/// Tells whether this is a time as git writes it, ` seconds zone`: other words there could be read as a name.
fn is_time(text: &str) -> bool {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.strip_prefix(' ').and_then(|text| text.split_once(' '));
    parts.is_some_and(|(seconds, zone)| {
        are_digits(seconds)
            && zone.strip_prefix(['+', '-']).is_some_and(|zone| zone.len() == 4 && are_digits(zone))
    })
}

impl Rules {
    /// Decides on a commit: whose it is, and that it has no header fields beside the usual ones.
    pub(super) fn check_commit(&self, commit: &Object<'_>) -> Result<(), Refused> {
        let id = || commit.id.chars().take(7).collect::<String>();
        let text = String::from_utf8_lossy(commit.content);
        let (head, message) = text.split_once("\n\n").unwrap_or((&*text, ""));
        self.check_message(message, id)?;
        let mut people = 0;
        for line in head.lines() {
            match line.split_once(' ') {
                Some(("tree" | "parent", _)) => {}
                Some(("author", who)) => {
                    self.check_person(who, "author", id)?;
                    people += 1;
                }
                Some(("committer", who)) => {
                    self.check_person(who, "committer", id)?;
                    people += 1;
                }
                _ => return Err(Refused::Header { commit: id() }),
            }
        }
        if people == 2 { Ok(()) } else { Err(Refused::Unclear) }
    }

    /// Decides on whom a message names as an author: the run's own account, and who asked.
    fn check_message(&self, message: &str, commit: impl Fn() -> String) -> Result<(), Refused> {
        let own: Vec<_> =
            [&self.signature].into_iter().chain(self.co_author.as_deref()).map(Signature::written).collect();
        let lines = message.split(['\n', '\r']).filter_map(|line| line.split_once(':'));
        let named =
            lines.filter(|(name, _)| NAMING.iter().any(|known| name.trim().eq_ignore_ascii_case(known)));
        let stranger = named.map(|(_, who)| who.trim()).find(|who| own.iter().all(|own| own != who));
        stranger
            .map_or(Ok(()), |by| Err(Refused::Named { commit: commit(), by: by.chars().take(100).collect() }))
    }

    /// Decides on a name as it stands in a commit: `name <address> seconds zone`.
    fn check_person(
        &self,
        who: &str,
        role: &'static str,
        commit: impl Fn() -> String,
    ) -> Result<(), Refused> {
        let Signature { name, email } = &self.signature;
        let (by, when) = who.rsplit_once('>').unwrap_or((who, ""));
        let own = format!("{name} <{email}");
        if by == own && is_time(when) {
            return Ok(());
        }
        let (by, own) = (format!("{by}>"), format!("{own}>"));
        Err(Refused::Identity { commit: commit(), role, by, own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::rules::BranchState;

    fn rules() -> Rules {
        let signature =
            |name: &str, email: &str| Signature { name: name.to_owned(), email: email.to_owned() };
        Rules {
            url: String::new(),
            branch: String::new(),
            stands: BranchState::NotYet,
            closed: Vec::new(),
            protected_paths: Vec::new(),
            signature: signature("fro-bot", "1+fro-bot@users.noreply.github.com"),
            co_author: Some(Box::new(signature("maya", "maya@garden.example"))),
        }
    }

    #[track_caller]
    fn check(decision: Result<(), Refused>, expected: &str) {
        assert_eq!(decision.map_or_else(|refused| refused.to_string(), |()| "yes".to_owned()), expected);
    }

    #[test]
    fn nobody_else_is_named_as_an_author() {
        let own = "fro-bot <1+fro-bot@users.noreply.github.com>";
        let said = |line: &str| {
            let text = format!("tree a\nauthor {own} 1 +0000\ncommitter {own} 1 +0000\n\nMend\n\n{line}\n");
            rules().check_commit(&Object { id: "0123456789".to_owned(), content: text.as_bytes() })
        };
        for line in [
            "Co-authored-by: maya <maya@garden.example>",
            "Signed-off-by: fro-bot <1+fro-bot@users.noreply.github.com>",
            "Reported-by: rita <r@x.test>",
        ] {
            check(said(line), "yes");
        }
        for line in [
            "Co-authored-by: rita <r@x.test>",
            "CO-AUTHORED-BY :rita <r@x.test>",
            "x\rSigned-off-by: rita <r@x.test>",
        ] {
            check(
                said(line),
                "commit 0123456 names `rita <r@x.test>` in a line of its message, who has no part in it; take that line out",
            );
        }
    }

    #[track_caller]
    fn check_commit(author: &str, committer: &str, more: &str, expected: &str) {
        let text =
            format!("tree a\nparent b\nauthor {author} 1 +0000\ncommitter {committer} 1 +0000\n{more}\nx\n");
        check(
            rules().check_commit(&Object { id: "0123456789".to_owned(), content: text.as_bytes() }),
            expected,
        );
    }

    #[test]
    fn nobody_else_s_name_is_on_it() {
        let own = "fro-bot <1+fro-bot@users.noreply.github.com>";
        let maya = "maya <maya@garden.example>";
        check_commit(own, own, "", "yes");
        let refused = |role: &str, by: &str| {
            format!(
                "commit 0123456 has the {role} `{by}`, not `{own}`; leave git's identity as it is (`git commit \
                 --amend --reset-author` puts it right)"
            )
        };
        check_commit(maya, own, "", &refused("author", maya));
        check_commit(own, maya, "", &refused("committer", maya));
        let told = "fro-bot <1+fro-bot@users.noreply.github.com> maya";
        check_commit(told, own, "", &refused("author", own));
        let half = "maya <1+fro-bot@users.noreply.github.com>";
        check_commit(half, own, "", &refused("author", half));
        let header = "commit 0123456 has a header that is not expected; make it with plain `git commit`";
        check_commit(own, own, "encoding UTF-7\n", header);
        check_commit(own, own, "gpgsig -----BEGIN\n more\n", header);
    }
}
