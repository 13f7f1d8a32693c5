//! What the agent is told about the subject, cut to a budget, every text with its trust.

mod change;

pub use change::{Change, PullOutline, RawChange, RawCommit, RawFile, RawReview, RawThread};

use jiff::Timestamp;

use crate::{
    attachment::{self, Attached},
    budget::Bounded,
    event::SubjectThen,
    gate::Permit,
    names::{Login, RepoName},
    place::{Subject, Target},
    trust::{Spoken, Trust},
};

/// Bytes that one body may take.
const BODY: usize = 10_000;
/// Comments that are shown, newest first in importance.
const COMMENTS: usize = 50;
/// Bytes that all comments together may take.
const ALL_COMMENTS: usize = 40_000;
/// Bytes of a title or a label.
const LINE: usize = 256;
/// Labels that are shown.
const LABELS: usize = 30;
/// Bytes of the maintainers' rules for agents.
const RULES: usize = 16_000;
/// People who see to it that are shown.
const ASSIGNEES: usize = 10;
/// Bytes that all of it may take. What the other parts leave is for comments.
const ALL: usize = 100_000;

/// The subject as GitHub told it, before anything is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawContext {
    /// The branch that pull requests go into by default.
    pub default_branch: String,
    /// The subject's title.
    pub title: String,
    /// Who opened it, if the account still exists.
    pub author: Option<Login>,
    /// Its description.
    pub body: String,
    /// When it was opened, if GitHub told.
    pub created: Option<Timestamp>,
    /// Who sees to it.
    pub assignees: Vec<Login>,
    /// When the description was last changed, if it was.
    pub edited: Option<Timestamp>,
    /// `OPEN`, `CLOSED`, `MERGED` or `ANSWERED`.
    pub state: String,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// The newest comments, oldest first.
    pub comments: Vec<RawComment>,
    /// How many comments there are in all.
    pub n_comments: usize,
    /// What only a pull request has.
    pub change: Option<RawChange>,
}

/// A comment as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawComment {
    /// The comment itself.
    pub target: Target,
    /// Who wrote it, if the account still exists.
    pub author: Option<Login>,
    /// When.
    pub at: Timestamp,
    /// When it was last changed, if it was.
    pub edited: Option<Timestamp>,
    /// What.
    pub body: String,
}

/// Stands in the place of words that were changed after somebody asked: nobody asked about those.
const CHANGED: &str = "[changed after the request; the words of that time are not known]";

impl RawContext {
    /// Tells whether every comment and every review is in it. Those who look for an earlier answer need not ask for more then.
    pub fn shows_all(&self, extent: Extent) -> bool {
        let reviews = self.change.as_ref().is_none_or(|change| change.reviews.len() >= change.n_reviews);
        extent == Extent::Whole && self.comments.len() >= self.n_comments && reviews
    }

    /// Returns its comments and reviews: who wrote each, what it says and where it stands.
    pub fn messages(&self) -> impl Iterator<Item = (Option<&Login>, &str, &Target)> {
        let reviews = self.change.iter().flat_map(|change| &change.reviews).map(|review| &review.comment);
        let all = self.comments.iter().chain(reviews);
        all.map(|message| (message.author.as_ref(), message.body.as_str(), &message.target))
    }

    /// Takes out what was changed or written after the moment of the request, and returns how much was written since. Title
    /// and description are known from the event as they were; of a title, GitHub does not tell when it was changed.
    #[must_use]
    pub fn as_of(mut self, asked: Option<Timestamp>, then: SubjectThen) -> (Self, usize) {
        if let Some(title) = then.title {
            self.title = title;
        }
        let Some(asked) = asked else { return (self, 0) };
        let is_later = |edited: &Option<Timestamp>| edited.is_some_and(|edited| edited > asked);
        if is_later(&self.edited) {
            self.body = then.body.unwrap_or_else(|| CHANGED.to_owned());
        }
        let is_there = |comment: &RawComment| comment.at <= asked;

        let n_comments = retain_counted(&mut self.comments, is_there);
        self.n_comments = self.n_comments.saturating_sub(n_comments);
        let n_beside = self.change.as_mut().map_or(0, |change| {
            let n_reviews = retain_counted(&mut change.reviews, |review| is_there(&review.comment));
            change.n_reviews = change.n_reviews.saturating_sub(n_reviews);
            let threads = change.threads.iter_mut();
            n_reviews + threads.map(|thread| retain_counted(&mut thread.comments, is_there)).sum::<usize>()
        });
        let change = self.change.iter_mut();
        let beside = change.flat_map(|change| {
            let reviews = change.reviews.iter_mut().map(|review| &mut review.comment);
            reviews.chain(change.threads.iter_mut().flat_map(|thread| &mut thread.comments))
        });
        for comment in self.comments.iter_mut().chain(beside).filter(|comment| is_later(&comment.edited)) {
            CHANGED.clone_into(&mut comment.body);
        }
        (self, n_comments + n_beside)
    }
}

/// Keeps what fits, and returns how many did not.
fn retain_counted<T>(all: &mut Vec<T>, fits: impl Fn(&T) -> bool) -> usize {
    let before = all.len();
    all.retain(fits);
    before - all.len()
}

/// The subject, fit to be shown to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Where it is.
    pub repo: RepoName,
    /// What it is.
    pub subject: Subject,
    /// The branch that pull requests go into by default.
    pub default_branch: String,
    /// The title, on one line.
    pub title: Bounded<String>,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub state: String,
    /// The description.
    pub description: Remark,
    /// When it was opened.
    pub created: Option<Timestamp>,
    /// Who sees to it.
    pub assignees: Bounded<Vec<Login>>,
    /// The branch or tag that the run is on.
    pub git_ref: Option<String>,
    /// The names of the labels.
    pub labels: Bounded<Vec<String>>,
    /// The newest comments, oldest first.
    pub comments: Bounded<Vec<Remark>>,
    /// What only a pull request has.
    pub change: Option<Change>,
    /// Whether all of it could be read.
    pub extent: Extent,
    /// How many remarks were written after the request, and are left out.
    pub n_later: usize,
    /// The files that came with the request and the description.
    pub attached: Vec<Attached>,
    /// What `AGENTS.md` of the base branch says.
    pub rules: Option<Bounded<String>>,
}

/// How much of a subject could be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// All that there is a place for.
    #[default]
    Whole,
    /// The richer question failed, so that reviews, threads and commits are missing.
    Degraded,
}

/// A text somebody wrote, cut to its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What it is about, if not the whole: a verdict, or a place in the code.
    pub about: Option<String>,
    /// When, if it is a comment.
    pub at: Option<Timestamp>,
    /// Who, what, and how far to believe it.
    pub spoken: Spoken,
}

impl Remark {
    /// Returns how many bytes it takes.
    fn bytes(&self) -> usize {
        self.spoken.text.len() + self.spoken.who.as_str().len() + self.about.as_ref().map_or(0, String::len)
    }
}

impl Context {
    /// Cuts what GitHub told to the budget.
    ///
    /// Only the asker's permission was looked up, so everyone else's words count as a stranger's. The
    /// request itself is left out, because it has a place of its own.
    pub fn within_budget(permit: &Permit, told: RawContext) -> Self {
        let n_missing = told.n_comments.saturating_sub(told.comments.len());
        let others = told.comments.iter().filter(|comment| !is_request(permit, comment));
        let comments = others.map(|comment| said(permit, comment)).collect();
        let labels = told.labels.iter().map(|label| Bounded::text(label, LINE).noted()).collect();
        let mut context = Self {
            repo: permit.repo().clone(),
            subject: permit.subject(),
            description: remark(permit, told.author.as_ref(), &told.body),
            default_branch: told.default_branch,
            title: Bounded::text(&told.title, LINE),
            state: told.state,
            created: told.created,
            assignees: Bounded::first(told.assignees, ASSIGNEES),
            git_ref: None,
            labels: Bounded::first(labels, LABELS),
            comments: Bounded::newest(Vec::new(), 0),
            change: told.change.map(|change| Change::within_budget(change, permit)),
            extent: Extent::Whole,
            n_later: 0,
            attached: Vec::new(),
            rules: None,
        };
        let left = ALL.saturating_sub(RULES + context.bytes());
        context.comments = newest_within(comments, left.min(ALL_COMMENTS), COMMENTS).and_missing(n_missing);
        context
    }

    /// Returns how many bytes of GitHub's words it takes.
    fn bytes(&self) -> usize {
        let comments: usize = self.comments.value().iter().map(Remark::bytes).sum();
        let labels: usize = self.labels.value().iter().map(String::len).sum();
        let people: usize = self.assignees.value().iter().map(|login| login.as_str().len()).sum();
        let lines = [&self.default_branch, self.title.value(), &self.state].map(String::len);
        let rules = self.rules.as_ref().map_or(0, |rules| rules.value().len());
        let change = self.change.as_ref().map_or(0, Change::bytes);
        self.description.bytes() + comments + labels + people + lines.iter().sum::<usize>() + rules + change
    }

    /// Adds files, by whose names the description calls them from now on.
    pub fn attach(&mut self, attached: Vec<Attached>) {
        self.attached = attached;
        self.description.spoken.text = self.called_by_name(&self.description.spoken.text);
    }

    /// Puts the names of attached files in the place of their addresses.
    pub(crate) fn called_by_name(&self, text: &str) -> String {
        attachment::renamed(text, &self.attached)
    }

    /// Returns who takes part in the conversation, with who asks and with ourselves.
    pub fn people(&self, permit: &Permit) -> Vec<Login> {
        let reviewers = self.change.iter().flat_map(|change| {
            change.reviews.value().iter().chain(change.threads.value()).map(|remark| &remark.spoken.who)
        });
        let speakers =
            self.comments.value().iter().chain([&self.description]).map(|remark| &remark.spoken.who);
        speakers.chain(reviewers).chain([permit.asker(), permit.own()]).cloned().collect()
    }

    /// Adds the maintainers' rules for agents, if there are any.
    pub fn set_rules(&mut self, rules: Option<&str>) {
        let rules = rules.map(str::trim).filter(|rules| !rules.is_empty());
        self.rules = rules.map(|rules| Bounded::text(rules, RULES));
    }

    /// Returns the context of a run that is about nothing in particular.
    pub fn of_repository(permit: &Permit) -> Self {
        Self {
            repo: permit.repo().clone(),
            subject: permit.subject(),
            description: remark(permit, None, ""),
            default_branch: String::new(),
            title: Bounded::text("", LINE),
            state: String::new(),
            created: None,
            assignees: Bounded::first(Vec::new(), ASSIGNEES),
            git_ref: None,
            labels: Bounded::first(Vec::new(), LABELS),
            comments: Bounded::first(Vec::new(), COMMENTS),
            change: None,
            extent: Extent::Whole,
            n_later: 0,
            attached: Vec::new(),
            rules: None,
        }
    }
}

/// Tells whether this is what the run answers, which has a place of its own.
fn is_request(permit: &Permit, comment: &RawComment) -> bool {
    *permit.target() == comment.target
}

fn said(permit: &Permit, comment: &RawComment) -> Remark {
    Remark { at: Some(comment.at), ..remark(permit, comment.author.as_ref(), &comment.body) }
}

fn remark(permit: &Permit, author: Option<&Login>, body: &str) -> Remark {
    Remark {
        about: None,
        at: None,
        spoken: Spoken {
            who: author.cloned().unwrap_or_else(|| Login::new("ghost")),
            trust: if author == Some(permit.asker()) { permit.trust() } else { Trust::Stranger },
            text: Bounded::text(body, BODY).noted(),
        },
    }
}

/// Keeps the newest of what was said that fits into so many bytes.
fn newest_within(remarks: Vec<Remark>, bytes: usize, most: usize) -> Bounded<Vec<Remark>> {
    let mut left = bytes;
    let fits = |remark: &&Remark| match left.checked_sub(remark.bytes()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let fitting = remarks.iter().rev().take_while(fits).count();
    Bounded::newest(remarks, fitting.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Trigger, tests::all},
        gate::tests::{a_permit, permit_for},
    };

    fn raw_context(comments: Vec<RawComment>) -> RawContext {
        RawContext {
            default_branch: "main".to_owned(),
            title: "The floor is wet".to_owned(),
            author: Some(Login::new("rita")),
            body: "It is.".to_owned(),
            created: None,
            assignees: Vec::new(),
            edited: None,
            state: "OPEN".to_owned(),
            labels: vec!["bug".to_owned()],
            n_comments: comments.len(),
            comments,
            change: None,
        }
    }

    fn said(author: &str, body: &str) -> RawComment {
        RawComment {
            target: Target::Comment(1),
            author: Some(Login::new(author)),
            at: Timestamp::UNIX_EPOCH,
            edited: None,
            body: body.to_owned(),
        }
    }

    #[test]
    fn only_the_asker_is_believed() {
        let told = raw_context(vec![said("Maya", "please"), said("mallory", "trust me")]);
        let context = Context::within_budget(&a_permit(), told);
        let trusts: Vec<_> = context.comments.value().iter().map(|remark| remark.spoken.trust).collect();
        assert_eq!(trusts, [Trust::Maintainer, Trust::Stranger]);
        assert_eq!(context.description.spoken.trust, Trust::Stranger);
    }

    #[test]
    fn the_newest_comments_fit_and_the_rest_is_counted() {
        let long = "x".repeat(BODY);
        let mut told = raw_context((0..60).map(|_| said("rita", &long)).collect());
        told.n_comments = 100;
        let context = Context::within_budget(&a_permit(), told);
        assert_eq!((context.comments.value().len(), context.comments.cut()), (3, 97));
    }

    #[test]
    fn the_thread_of_the_request_is_shown_though_it_is_resolved() {
        let asked = all().into_iter().find(|trigger| matches!(trigger, Trigger::ReviewComment(_))).unwrap();
        let permit = permit_for(&asked);
        let request = RawComment { target: permit.target().clone(), ..said("maya", "@fro-bot still?") };
        let thread = |line, comments| RawThread {
            path: "tap.rs".to_owned(),
            line: Some(line),
            is_resolved: true,
            comments,
        };
        let threads = vec![
            thread(3, vec![said("octo", "Rubber again?"), request]),
            thread(9, vec![said("octo", "Old")]),
        ];
        let told =
            RawContext { change: Some(RawChange { threads, ..a_change() }), ..raw_context(Vec::new()) };
        let change = Context::within_budget(&permit, told).change.unwrap();
        let shown: Vec<_> = change.threads.value().iter().map(|remark| remark.about.clone()).collect();
        assert_eq!(shown, [Some("tap.rs:3, resolved".to_owned())]);
    }

    #[test]
    fn whether_all_was_shown_is_counted() {
        let review = || RawReview { verdict: "APPROVED".to_owned(), comment: said("octo", "Fine.") };
        let told = |n_comments, n_reviews| {
            let change = RawChange { reviews: vec![review()], n_reviews, ..a_change() };
            let comments = vec![said("rita", "Wet."), said("maya", "Dry?")];
            RawContext { n_comments, change: Some(change), ..raw_context(comments) }
        };
        assert!(told(2, 1).shows_all(Extent::Whole));
        assert!(!told(2, 1).shows_all(Extent::Degraded), "reviews are not told at all");
        assert!(!told(3, 1).shows_all(Extent::Whole), "a comment is missing");
        assert!(!told(2, 2).shows_all(Extent::Whole), "a review is missing");
        assert!(RawContext { change: None, ..told(2, 0) }.shows_all(Extent::Whole));

        let told = told(2, 1);
        let messages: Vec<_> = told.messages().map(|(_, body, _)| body).collect();
        assert_eq!(messages, ["Wet.", "Dry?", "Fine."]);
    }

    fn a_change() -> RawChange {
        RawChange {
            outline: PullOutline {
                draft: false,
                fork: false,
                base: "main".to_owned(),
                head: "seal".to_owned(),
                head_oid: "89e6c98d".to_owned(),
                additions: 1,
                deletions: 1,
            },
            files: Vec::new(),
            n_files: 0,
            commits: Vec::new(),
            n_commits: 0,
            reviews: Vec::new(),
            n_reviews: 0,
            threads: Vec::new(),
        }
    }

    #[test]
    fn all_of_it_together_keeps_to_one_number() {
        let long = "x".repeat(BODY);
        let thread = || RawThread {
            path: long.clone(),
            line: Some(1),
            is_resolved: false,
            comments: vec![said("rita", &long)],
        };
        let commit = || RawCommit { oid: long.clone(), author: Some(long.clone()), message: long.clone() };
        let file =
            || RawFile { path: long.clone(), additions: 1, deletions: 1, change: "MODIFIED".to_owned() };
        let review = || RawReview { verdict: "APPROVED".to_owned(), comment: said("rita", &long) };
        let change = RawChange {
            files: (0..200).map(|_| file()).collect(),
            n_files: 200,
            commits: (0..200).map(|_| commit()).collect(),
            n_commits: 200,
            reviews: (0..200).map(|_| review()).collect(),
            n_reviews: 200,
            threads: (0..200).map(|_| thread()).collect(),
            ..a_change()
        };
        let told = RawContext {
            title: long.clone(),
            body: long.clone(),
            labels: vec![long.clone(); 100],
            change: Some(change),
            ..raw_context((0..60).map(|_| said("rita", &long[..900])).collect())
        };
        let mut context = Context::within_budget(&a_permit(), told);
        context.set_rules(Some(&"r".repeat(2 * RULES)));
        assert!(context.bytes() <= ALL, "{}", context.bytes());
        assert!(!context.comments.value().is_empty() && context.comments.cut() > 0);
    }

    #[test]
    fn what_was_changed_after_the_request_is_not_shown_as_if_it_had_been_there() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let edited = |second| RawComment { edited: Some(at(second)), ..said("rita", "words") };
        let written = |second| RawComment { at: at(second), ..said("rita", "more words") };
        let review = |comment| RawReview { verdict: "APPROVED".to_owned(), comment };
        let thread = RawThread {
            path: "tap.rs".to_owned(),
            line: None,
            is_resolved: false,
            comments: vec![edited(9), edited(12), written(12)],
        };
        let change = RawChange {
            reviews: vec![review(edited(11)), review(written(11))],
            n_reviews: 2,
            threads: vec![thread],
            ..a_change()
        };
        let told = RawContext {
            edited: Some(at(11)),
            change: Some(change),
            ..raw_context(vec![said("rita", "words"), edited(10), edited(11), written(10), written(11)])
        };
        let bodies = |told: RawContext| {
            let change = told.change.unwrap();
            assert_eq!(told.n_comments, told.comments.len());
            let reviews = change.reviews.into_iter().map(|review| review.comment);
            let threads = change.threads.into_iter().flat_map(|thread| thread.comments);
            let comments = told.comments.into_iter().chain(reviews).chain(threads);
            [told.body].into_iter().chain(comments.map(|comment| comment.body)).collect::<Vec<_>>()
        };
        let (then, n_later) = told.clone().as_of(Some(at(10)), SubjectThen::default());
        assert_eq!((n_later, then.change.as_ref().unwrap().n_reviews), (3, 1));
        assert_eq!(
            bodies(then),
            [CHANGED, "words", "words", CHANGED, "more words", CHANGED, "words", CHANGED]
        );
        let was = SubjectThen { title: Some("It was dry".to_owned()), body: Some("It was.".to_owned()) };
        let (then, _) = told.clone().as_of(Some(at(10)), was);
        assert_eq!((then.title.as_str(), then.body.as_str()), ("It was dry", "It was."));
        let (all, n_later) = told.as_of(None, SubjectThen::default());
        assert_eq!((all.body.clone().as_str(), bodies(all).len(), n_later), ("It is.", 11, 0));
    }

    #[test]
    fn the_request_is_not_repeated() {
        let request =
            RawComment { target: Target::Comment(99), ..said("maya", "@fro-bot why is the floor wet?") };
        let context = Context::within_budget(&a_permit(), raw_context(vec![said("rita", "hm"), request]));
        assert_eq!((context.comments.value().len(), context.comments.cut()), (1, 0));
    }

    #[test]
    fn a_long_body_is_cut_with_a_note() {
        let context =
            Context::within_budget(&a_permit(), raw_context(vec![said("rita", &"y".repeat(BODY + 5))]));
        assert!(context.comments.value()[0].spoken.text.ends_with("[… 5 bytes left out]"));
    }
}
