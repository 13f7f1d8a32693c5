//! What happened to issues and pull requests beside what was said: found by comparing them before and after a change.

use jiff::Timestamp;

use crate::state::{Issue, IssueState, Review, ReviewState, State};

/// Something that somebody did to an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// The database id.
    pub id: u64,
    /// Who did it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: HappeningKind,
}

/// What can be done to an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HappeningKind {
    /// A label was put on.
    Labeled(String),
    /// A label was taken off.
    Unlabeled(String),
    /// Somebody is to see to it.
    Assigned(String),
    /// Somebody no longer is.
    Unassigned(String),
    /// Somebody was asked for a review.
    ReviewRequested(String),
    /// Somebody no longer is asked, though they have not given it.
    ReviewRequestRemoved(String),
    /// Its title was another one.
    Renamed(String, String),
    /// Only collaborators may comment, for this reason.
    Locked(Option<String>),
    /// Everybody may comment again.
    Unlocked,
    /// It is ready.
    ReadyForReview,
    /// It is not ready after all.
    ConvertToDraft,
    /// It was merged.
    Merged,
    /// It was closed.
    Closed,
    /// It was opened again.
    Reopened,
}

/// What can happen to each issue, as it was.
pub(crate) struct Before(Vec<(u64, Facts)>);

struct Facts {
    title: String,
    labels: Vec<String>,
    assignees: Vec<String>,
    reviewers: Vec<String>,
    n_reviews: usize,
    locked: bool,
    draft: bool,
    state: IssueState,
}

impl State {
    /// Remembers how all issues are.
    pub(crate) fn before(&self) -> Before {
        let issues = self.repos.iter().flat_map(|repo| &repo.issues);
        Before(issues.map(|issue| (issue.id, Facts::from_issue(issue))).collect())
    }

    /// Writes down what somebody has done to issues since then.
    pub(crate) fn note(&mut self, before: &Before, actor: &str) {
        let now = self.clock.peek();
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let mut last_id = self.last_id;
        for issue in self.repos.iter_mut().flat_map(|repo| &mut repo.issues) {
            let known = before.0.iter().find(|(id, _)| *id == issue.id);
            for kind in known.map(|(_, facts)| facts.differences(issue)).unwrap_or_default() {
                last_id += 1;
                issue.happenings.push(Happening { id: last_id, actor: actor.to_owned(), at: now, kind });
            }
        }
        self.last_id = last_id;
    }
}

impl Facts {
    fn from_issue(issue: &Issue) -> Self {
        let reviewers = issue.pull.as_ref().map(|pull| pull.requested_reviewers.clone());
        let given = |review: &&Review| review.state != ReviewState::Pending;
        let reviews = issue.pull.iter().flat_map(|pull| &pull.reviews);
        Self {
            title: issue.title.clone(),
            labels: issue.labels.clone(),
            assignees: issue.assignees.clone(),
            reviewers: reviewers.unwrap_or_default(),
            n_reviews: reviews.filter(given).count(),
            locked: issue.locked,
            draft: issue.pull.as_ref().is_some_and(|pull| pull.draft),
            state: issue.state,
        }
    }

    fn differences(&self, issue: &Issue) -> Vec<HappeningKind> {
        use HappeningKind as Kind;
        let now = Self::from_issue(issue);
        let mut kinds = Vec::new();
        let mut compared = |old: &[String], new: &[String], come: Named, gone: Named| {
            kinds.extend(old.iter().filter(|name| !new.contains(name)).cloned().map(gone));
            kinds.extend(new.iter().filter(|name| !old.contains(name)).cloned().map(come));
        };
        compared(&self.labels, &now.labels, Kind::Labeled, Kind::Unlabeled);
        compared(&self.assignees, &now.assignees, Kind::Assigned, Kind::Unassigned);
        compared(&self.reviewers, &now.reviewers, Kind::ReviewRequested, Kind::ReviewRequestRemoved);
        // Who has given a review is no longer asked for it, and nothing is told of that.
        if now.n_reviews > self.n_reviews {
            kinds.retain(|kind| !matches!(kind, Kind::ReviewRequestRemoved(_)));
        }
        if self.title != now.title {
            kinds.push(Kind::Renamed(self.title.clone(), now.title));
        }
        match (self.locked, now.locked) {
            (false, true) => kinds.push(Kind::Locked(issue.lock_reason.clone())),
            (true, false) => kinds.push(Kind::Unlocked),
            (false, false) | (true, true) => {}
        }
        match (self.draft, now.draft) {
            (true, false) => kinds.push(Kind::ReadyForReview),
            (false, true) => kinds.push(Kind::ConvertToDraft),
            (false, false) | (true, true) => {}
        }
        match (self.state, now.state) {
            (IssueState::Open, IssueState::Merged) => kinds.extend([Kind::Merged, Kind::Closed]),
            (IssueState::Open, IssueState::Closed) => kinds.push(Kind::Closed),
            (IssueState::Closed | IssueState::Merged, IssueState::Open) => kinds.push(Kind::Reopened),
            (_, _) => {}
        }
        kinds
    }
}

/// Makes what happened out of a name.
type Named = fn(String) -> HappeningKind;

impl HappeningKind {
    /// The word in REST.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Labeled(_) => "labeled",
            Self::Unlabeled(_) => "unlabeled",
            Self::Assigned(_) => "assigned",
            Self::Unassigned(_) => "unassigned",
            Self::ReviewRequested(_) => "review_requested",
            Self::ReviewRequestRemoved(_) => "review_request_removed",
            Self::Renamed(..) => "renamed",
            Self::Locked(_) => "locked",
            Self::Unlocked => "unlocked",
            Self::ReadyForReview => "ready_for_review",
            Self::ConvertToDraft => "convert_to_draft",
            Self::Merged => "merged",
            Self::Closed => "closed",
            Self::Reopened => "reopened",
        }
    }
}
