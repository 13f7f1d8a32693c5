//! The simulated GitHub as plain data: people, repositories and what stands in them, tokens.

mod anchor;
mod app;
mod cache;
mod check;
mod clock;
mod closing;
mod comment;
mod device;
mod discussion;
mod happening;
mod id;
mod issue;
mod label;
mod node;
mod person;
mod pull;
mod reaction;
mod release;
mod repo;
mod review;
mod share;
mod status;
mod token;
mod workflow;
mod writing;

pub use anchor::Side;
pub use app::{App, Grant, Installation, Level};
pub use cache::{CacheAccess, CacheEntry, Run, Upload};
pub use check::{Annotation, AnnotationLevel, CheckRun, Conclusion, Progress};
pub use clock::Clock;
pub use comment::Comment;
pub use device::{Device, DeviceAnswer};
pub use discussion::{Discussion, DiscussionComment};
pub use happening::{Happening, HappeningKind};
pub use issue::{Closing, ClosingReason, Issue, IssueState};
pub use label::Label;
pub use person::{Association, Person, PersonKind, Role};
pub use pull::{Change, ChangedFile, Commit, Pull};
pub use reaction::{Reaction, ReactionContent};
pub use release::{Asset, Attachment, File, Release};
pub use repo::Repo;
pub use review::{Review, ReviewState, ReviewThread};
pub use share::Share;
pub use status::{CommitState, CommitStatus};
pub use token::{Token, TokenAccess, Used};
pub use workflow::{RunStart, Step, Workflow, WorkflowJob, WorkflowRun};

pub(crate) use anchor::{Anchor, Misfit, Place, anchor, moved};
pub(crate) use closing::closed_by_words;
pub(crate) use id::{Node, commit_id, node_id};
pub(crate) use pull::MergeState;
pub(crate) use token::{Pool, random_letters};

/// Everything there is. Change it as you like; what is served follows.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// All accounts.
    pub people: Vec<Person>,
    /// All repositories.
    pub repos: Vec<Repo>,
    /// All tokens that were ever given out.
    pub tokens: Vec<Token>,
    /// All apps.
    pub apps: Vec<App>,
    /// Devices that wait to be let in.
    pub devices: Vec<Device>,
    /// Files in people's texts.
    pub attachments: Vec<Attachment>,
    /// Runs of workflows, by their tokens.
    pub runs: Vec<Run>,
    /// What was put into the Actions cache, oldest first.
    pub caches: Vec<CacheEntry>,
    /// Files that were made to be downloaded once.
    pub stored: Vec<File>,
    /// Sessions that were shared, oldest first.
    pub shares: Vec<Share>,
    /// What time it is.
    pub clock: Clock,
    /// The newest id that was given out.
    pub last_id: u64,
}

impl State {
    /// Finds an account; logins ignore case.
    pub fn person(&self, login: &str) -> Option<&Person> {
        self.people.iter().find(|person| person.login.eq_ignore_ascii_case(login))
    }

    /// Finds a repository by `owner/name`, which ignores case.
    pub fn repo(&self, full_name: &str) -> Option<&Repo> {
        self.repos.iter().find(|repo| repo.full_name().eq_ignore_ascii_case(full_name))
    }

    /// Finds a repository to change it.
    pub fn repo_mut(&mut self, full_name: &str) -> Option<&mut Repo> {
        self.repos.iter_mut().find(|repo| repo.full_name().eq_ignore_ascii_case(full_name))
    }

    /// Finds an issue or pull request.
    pub fn issue(&self, full_name: &str, number: u64) -> Option<&Issue> {
        self.repo(full_name)?.issue(number)
    }

    /// Finds an issue or pull request to change it.
    pub fn issue_mut(&mut self, full_name: &str, number: u64) -> Option<&mut Issue> {
        self.repo_mut(full_name)?.issue_mut(number)
    }

    /// Finds a token by its text.
    pub fn token(&self, text: &str) -> Option<&Token> {
        self.tokens.iter().find(|token| token.text == text)
    }

    /// Gives somebody a new token and returns its text.
    pub fn give_token(&mut self, login: &str, access: TokenAccess) -> String {
        let kind = self.person(login).map_or(PersonKind::User, |person| person.kind);
        let token = Token::new(login, kind, access);
        self.tokens.push(token);
        self.tokens[self.tokens.len() - 1].text.clone()
    }

    /// Gives a bot a token that is good for what it was granted, and returns it.
    pub fn grant_token(&mut self, login: &str, grant: Grant) -> String {
        let token = Token { grant: Some(grant), ..Token::new(login, PersonKind::Bot, TokenAccess::Full) };
        self.tokens.push(token);
        self.tokens[self.tokens.len() - 1].text.clone()
    }

    /// Starts a run of a workflow and returns its runtime token. It writes to the first scope and reads them all.
    pub fn start_run(&mut self, repo: &str, scopes: &[&str], cache: CacheAccess) -> String {
        let run = Run::new(repo, scopes, cache);
        self.runs.push(run);
        self.runs[self.runs.len() - 1].token.clone()
    }

    /// Returns an id that nothing has yet.
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
