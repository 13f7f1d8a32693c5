//! Searching issues and pull requests: the question as people type it, and what it finds.

use jiff::Timestamp;

use crate::{
    auth::Caller,
    span::Span,
    state::{Issue, IssueState, Repo, State},
};

/// A question: words, and qualifiers such as `label:bug`; each may be turned around by a minus.
pub(crate) struct Question<'a> {
    terms: Vec<Term>,
    /// Who `@me` is.
    caller: &'a Caller,
}

struct Term {
    turned: bool,
    kind: Kind,
}

enum Kind {
    /// Stands in the title, the text or a comment.
    Words(String),
    Qualifier(String, String),
}

/// The qualifiers that are obeyed. `in` and `sort` say nothing about one issue.
const KNOWN: [&str; 23] = [
    "archived",
    "assignee",
    "author",
    "base",
    "closed",
    "commenter",
    "created",
    "draft",
    "head",
    "in",
    "involves",
    "is",
    "label",
    "mentions",
    "no",
    "org",
    "repo",
    "review-requested",
    "sort",
    "state",
    "type",
    "updated",
    "user",
];

impl<'a> Question<'a> {
    /// Reads a question; or names what of it is not obeyed here.
    pub(crate) fn read(text: &str, caller: &'a Caller) -> Result<Self, String> {
        let terms: Vec<_> = split(text).iter().map(|word| Term::read(word)).collect();
        let strange = terms.iter().find_map(|term| match &term.kind {
            Kind::Qualifier(name, _) if !KNOWN.contains(&name.as_str()) => Some(name.clone()),
            Kind::Words(word) if word == "OR" => Some(word.clone()),
            Kind::Qualifier(..) | Kind::Words(_) => None,
        });
        strange.map_or(Ok(Self { terms, caller }), Err)
    }

    /// What is found of what the caller sees, newest first.
    pub(crate) fn found<'s>(&self, state: &'s State) -> Vec<(&'s Repo, &'s Issue)> {
        let seen = state.repos.iter().filter(|repo| self.caller.sees(repo));
        let all = seen.flat_map(|repo| repo.issues.iter().map(move |issue| (repo, issue)));
        let mut found: Vec<_> = all.filter(|(repo, issue)| self.fits(repo, issue)).collect();
        found.sort_by_key(|(_, issue)| std::cmp::Reverse((issue.created_at, issue.number)));
        let ascending = self.terms.iter().any(
            |term| matches!(&term.kind, Kind::Qualifier(name, value) if name == "sort" && value.ends_with("-asc")),
        );
        if ascending {
            found.reverse();
        }
        found
    }

    /// Whether it names repositories and people, and the caller sees none of them.
    pub(crate) fn looks_nowhere(&self, state: &State) -> bool {
        let places: Vec<_> = self
            .terms
            .iter()
            .filter(|term| !term.turned)
            .filter_map(|term| match &term.kind {
                Kind::Qualifier(name, value) if ["repo", "user", "org"].contains(&name.as_str()) => {
                    Some((name.as_str(), self.login(value)))
                }
                Kind::Qualifier(..) | Kind::Words(_) => None,
            })
            .collect();
        let is_there = |(name, value): &(&str, String)| match *name {
            "repo" => state.repo(value).is_some_and(|repo| self.caller.sees(repo)),
            _ => state.person(value).is_some(),
        };
        !places.is_empty() && !places.iter().any(is_there)
    }

    fn fits(&self, repo: &Repo, issue: &Issue) -> bool {
        let readable = self.caller.may_read(repo, crate::permission::talk_about(repo, issue.number));
        readable && self.terms.iter().all(|term| term.turned != self.has(repo, issue, &term.kind))
    }

    fn has(&self, repo: &Repo, issue: &Issue, kind: &Kind) -> bool {
        match kind {
            Kind::Words(words) => issue.says(words),
            Kind::Qualifier(name, value) => self.qualifies(repo, issue, (name, value)),
        }
    }

    fn qualifies(&self, repo: &Repo, issue: &Issue, (name, value): (&str, &str)) -> bool {
        let login = self.login(value);
        let is = |other: &String| other.eq_ignore_ascii_case(&login);
        let pull = issue.pull.as_ref();
        match name {
            "repo" => repo.full_name().eq_ignore_ascii_case(value),
            "user" | "org" => repo.owner.eq_ignore_ascii_case(&login),
            "is" | "state" | "type" => is_so(repo, issue, value),
            "archived" => repo.archived == (value == "true"),
            "draft" => pull.is_some_and(|pull| pull.draft == (value == "true")),
            "label" => {
                value.split(',').any(|name| issue.labels.iter().any(|own| own.eq_ignore_ascii_case(name)))
            }
            "no" => match value {
                "label" => issue.labels.is_empty(),
                "assignee" => issue.assignees.is_empty(),
                // Nothing here has a milestone or a project.
                _ => true,
            },
            "author" => is(&issue.author),
            "assignee" => issue.assignees.iter().any(is),
            "commenter" => issue.comments.iter().any(|comment| is(&comment.author)),
            "mentions" => issue.mentions(&login),
            "involves" => ["author", "assignee", "commenter", "mentions"]
                .into_iter()
                .any(|name| self.qualifies(repo, issue, (name, value))),
            "review-requested" => pull.is_some_and(|pull| pull.requested_reviewers.iter().any(is)),
            "head" => pull.is_some_and(|pull| pull.head_ref.starts_with(value)),
            "base" => pull.is_some_and(|pull| pull.base_ref.starts_with(value)),
            "created" => within(value, Some(issue.created_at)),
            "updated" => within(value, Some(issue.updated_at)),
            "closed" => within(value, issue.closed_at()),
            _ => true,
        }
    }

    /// The login behind `@me` and `app/name`.
    fn login(&self, value: &str) -> String {
        match value.strip_prefix("app/") {
            Some(app) => format!("{app}[bot]"),
            None if value == "@me" => self.caller.login().unwrap_or_default().to_owned(),
            None => value.to_owned(),
        }
    }
}

impl Term {
    fn read(word: &str) -> Self {
        let (turned, word) = word.strip_prefix('-').map_or((false, word), |word| (true, word));
        let named = |(name, value): &(&str, &str)| {
            !name.is_empty()
                && !value.is_empty()
                && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
        };
        let kind = match word.split_once(':').filter(named) {
            Some((name, value)) => Kind::Qualifier(name.to_owned(), value.replace('"', "")),
            None => Kind::Words(word.replace('"', "")),
        };
        Self { turned, kind }
    }
}

/// Whether something happened in a span of time; one that cannot be read has nothing.
fn within(span: &str, time: Option<Timestamp>) -> bool {
    Span::read(span).zip(time).is_some_and(|(span, time)| span.has(time))
}

fn is_so(repo: &Repo, issue: &Issue, value: &str) -> bool {
    match value {
        "open" => issue.state == IssueState::Open,
        "closed" => issue.state != IssueState::Open,
        "merged" => issue.state == IssueState::Merged,
        "unmerged" => issue.pull.is_some() && issue.state != IssueState::Merged,
        "issue" => issue.pull.is_none(),
        "pr" => issue.pull.is_some(),
        "draft" => issue.pull.as_ref().is_some_and(|pull| pull.draft),
        "locked" => issue.locked,
        "unlocked" => !issue.locked,
        "public" => !repo.private,
        "private" => repo.private,
        _ => false,
    }
}

/// Splits at blanks and parentheses that do not stand in quotes. All terms must fit, so that `AND` says nothing new.
fn split(text: &str) -> Vec<String> {
    let mut quoted = false;
    let parts = text.split(|letter: char| {
        quoted ^= letter == '"';
        !quoted && (letter.is_whitespace() || matches!(letter, '(' | ')'))
    });
    parts.filter(|part| !part.is_empty() && *part != "AND").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::garden::planted;

    fn check(question: &str, expect: &[u64]) {
        let state = planted();
        let read = Question::read(question, &Caller::Anonymous).unwrap();
        let found: Vec<_> = read.found(&state).iter().map(|(_, issue)| issue.number).collect();
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn words_and_qualifiers_narrow_what_is_found() {
        check("repo:octo/garden", &[3, 2, 1]);
        check("repo:octo/garden sort:created-asc", &[1, 2, 3]);
        check("is:pr", &[2]);
        check("is:issue label:\"help wanted\"", &[3]);
        check("is:issue -label:bug", &[3]);
        check("WET floor", &[1]);
        check("\"two litres\"", &[1]);
        check("commenter:rita", &[1]);
        check("author:nobody", &[]);
        check("is:closed", &[]);
        check("created:<2026-05-05 is:issue", &[1]);
        check("created:2026-05-05 updated:>=2026-05-05", &[3, 2]);
        check("closed:*..2026-06-01", &[]);
        check("( wet label:bug ) AND archived:false", &[1]);
    }

    #[test]
    fn what_is_private_is_not_found_and_what_is_not_obeyed_is_named() {
        check("repo:octo/cellar", &[]);
        assert_eq!(Question::read("stars:>10", &Caller::Anonymous).err().as_deref(), Some("stars"));
    }
}
