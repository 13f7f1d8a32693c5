//! An issue, or the issue that a pull request also is.

use jiff::Timestamp;

use crate::state::{Association, Comment, Happening, Pull, Reaction};

/// An issue or pull request.
#[derive(Debug, Clone)]
pub struct Issue {
    /// The database id.
    pub id: u64,
    /// The number in its repository.
    pub number: u64,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The author's login.
    pub author: String,
    /// What the author is to the repository.
    pub association: Association,
    /// Names of labels of the repository.
    pub labels: Vec<String>,
    /// Logins of those who are to see to it.
    pub assignees: Vec<String>,
    /// Whether it stands above all others.
    pub pinned: bool,
    /// Whether only collaborators may comment.
    pub locked: bool,
    /// Why that is so, if somebody said it: `off-topic`, `too heated`, `resolved` or `spam`.
    pub lock_reason: Option<String>,
    /// Open or closed.
    pub state: IssueState,
    /// How it was last closed; none if it never was.
    pub closing: Option<Closing>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
    /// When its opening text was last changed, if it was.
    pub edited_at: Option<Timestamp>,
    /// Oldest first.
    pub comments: Vec<Comment>,
    /// What was done to it, oldest first.
    pub happenings: Vec<Happening>,
    /// On the opening text.
    pub reactions: Vec<Reaction>,
    /// What makes it a pull request.
    pub pull: Option<Pull>,
}

/// Whether there is still something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueState {
    /// To be done.
    Open,
    /// Done with; a pull request is not merged.
    Closed,
    /// A merged pull request.
    Merged,
}

/// How an issue was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Why.
    pub reason: ClosingReason,
}

/// Why an issue can be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingReason {
    /// It is done.
    Completed,
    /// Nobody will do it.
    NotPlanned,
    /// Another one says the same.
    Duplicate,
}

impl Issue {
    /// An open issue without words.
    pub fn new(id: u64, number: u64, author: &str, now: Timestamp) -> Self {
        Self {
            id,
            number,
            title: String::new(),
            body: String::new(),
            author: author.to_owned(),
            association: Association::None,
            labels: Vec::new(),
            assignees: Vec::new(),
            pinned: false,
            locked: false,
            lock_reason: None,
            state: IssueState::Open,
            closing: None,
            created_at: now,
            updated_at: now,
            edited_at: None,
            comments: Vec::new(),
            happenings: Vec::new(),
            reactions: Vec::new(),
            pull: None,
        }
    }

    /// Finds a comment.
    pub fn comment(&self, id: u64) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.id == id)
    }

    /// Finds a comment to change it.
    pub fn comment_mut(&mut self, id: u64) -> Option<&mut Comment> {
        self.comments.iter_mut().find(|comment| comment.id == id)
    }

    /// Whether words stand in the title, the text or a comment, in capitals or not.
    pub(crate) fn says(&self, words: &str) -> bool {
        let (said, words) = (self.comments.iter().map(|comment| &comment.body), words.to_lowercase());
        [&self.title, &self.body].into_iter().chain(said).any(|text| text.to_lowercase().contains(&words))
    }

    /// Whether the title or the text names an issue by its number.
    pub(crate) fn names(&self, number: u64) -> bool {
        let named = format!("#{number}");
        let whole = |text: &str| {
            text.match_indices(&named).any(|(place, _)| {
                let before = text[..place].chars().next_back().is_none_or(|letter| !letter.is_alphanumeric());
                let after = text[place + named.len()..].chars().next();
                before && after.is_none_or(|letter| !letter.is_alphanumeric())
            })
        };
        whole(&self.title) || whole(&self.body)
    }

    /// Whether somebody is named with an `@`.
    pub(crate) fn mentions(&self, login: &str) -> bool {
        self.says(&format!("@{login}"))
    }

    /// Closes it, unless it is closed already for the same reason.
    pub(crate) fn close(&mut self, state: IssueState, closing: Closing) {
        let same = self.closing.as_ref().is_some_and(|before| before.reason == closing.reason);
        if self.state == IssueState::Open || !same {
            self.closing = Some(closing);
        }
        self.state = state;
    }

    /// When it was closed, as long as it is.
    pub(crate) fn closed_at(&self) -> Option<Timestamp> {
        let at = self.closing.as_ref().map_or(self.updated_at, |closing| closing.at);
        (self.state != IssueState::Open).then_some(at)
    }

    /// Who closed it, as long as it is closed.
    pub(crate) fn closed_by(&self) -> Option<&str> {
        let closing = self.closing.as_ref().filter(|_| self.state != IssueState::Open);
        closing.map(|closing| closing.by.as_str())
    }

    /// Why it is open or closed, in REST's words; pull requests have no reasons.
    pub(crate) fn state_reason(&self) -> Option<&'static str> {
        let reason = self.closing.as_ref().map(|closing| closing.reason);
        match self.state {
            _ if self.pull.is_some() => None,
            IssueState::Open => reason.map(|_| "reopened"),
            IssueState::Closed | IssueState::Merged => {
                Some(reason.unwrap_or(ClosingReason::Completed).word())
            }
        }
    }

    /// The last part of its page's path.
    pub(crate) fn page(&self) -> String {
        let kind = if self.pull.is_some() { "pull" } else { "issues" };
        format!("{kind}/{}", self.number)
    }
}

impl ClosingReason {
    /// The word in REST.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NotPlanned => "not_planned",
            Self::Duplicate => "duplicate",
        }
    }

    /// Reads the word in REST.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Completed, Self::NotPlanned, Self::Duplicate].into_iter().find(|reason| reason.word() == word)
    }
}

impl IssueState {
    /// The word in REST, which knows no merged issues.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed | Self::Merged => "closed",
        }
    }
}
