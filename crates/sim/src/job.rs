//! A job of a workflow as a runner starts it: the event file, the files it may write to, and the environment.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use jiff::SignedDuration;
use serde_json::Value;

use crate::{
    World,
    state::{CacheAccess, Grant, Level, RunStart, State, TokenAccess},
};

/// What GitHub says about events that anybody can set off: those on the default branch only read the cache.
const TRUSTED_EVENTS: [&str; 7] = [
    "delete",
    "page_build",
    "push",
    "registry_package",
    "repository_dispatch",
    "schedule",
    "workflow_dispatch",
];

/// The events of a pull request that run on the merge of it.
const ON_THE_MERGE: [&str; 3] = ["pull_request", "pull_request_review", "pull_request_review_comment"];

/// The workflow that all jobs here are of: its name and its file.
const WORKFLOW: (&str, &str) = ("fro-bot", ".github/workflows/fro-bot.yaml");

/// A job about to start.
pub struct Job<'a> {
    world: &'a World,
    event: String,
    payload: Value,
    cache_mode: Option<CacheAccess>,
    permissions: BTreeMap<String, Level>,
}

/// A job that may go: what its steps get.
#[derive(Debug, Clone)]
pub struct Started {
    /// The environment of a step that is a JavaScript action.
    pub environment: BTreeMap<String, OsString>,
    /// What `${{ github.token }}` stands for; it is no variable until a workflow makes it one.
    pub token: String,
}

/// The refs that a job is about.
struct Refs {
    name: String,
    sha: String,
    base: String,
    head: String,
}

impl World {
    /// Prepares a job for an event with this payload, as the methods of this world make them.
    pub fn job(&self, event: &str, payload: &Value) -> Job<'_> {
        let names = ["checks", "contents", "discussions", "issues", "pull_requests"];
        let permissions = names.map(|name| (name.to_owned(), Level::Write)).into_iter();
        let permissions = permissions.chain([("metadata".to_owned(), Level::Read)]).collect();
        Job { world: self, event: event.to_owned(), payload: payload.clone(), cache_mode: None, permissions }
    }
}

impl Job<'_> {
    /// Lets the workflow say `cache-mode`, instead of what GitHub thinks of the event.
    #[must_use]
    pub fn cache_mode(mut self, mode: CacheAccess) -> Self {
        self.cache_mode = Some(mode);
        self
    }

    /// Lets the workflow say one of its `permissions`.
    #[must_use]
    pub fn permission(mut self, name: &str, level: Level) -> Self {
        self.permissions.insert(name.to_owned(), level);
        self
    }

    /// Writes the job's files below a folder and starts it.
    pub fn start(self, folder: &Path) -> io::Result<Started> {
        let id = self.world.change(State::next_id);
        let (temp, workspace) = (folder.join("_temp"), folder.join(self.text("/repository/name")));
        let commands = temp.join("_runner_file_commands");
        let event = temp.join("_github_workflow/event.json");
        for folder in [&workspace, &commands, &temp.join("_github_workflow"), &folder.join("_tool")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(&event, self.payload.to_string())?;
        let refs = self.refs();
        self.enter(id, &refs);
        let mut environment = self.words(id, &refs);
        let mut place = |name: &str, path: PathBuf| environment.insert(name.to_owned(), path.into());
        place("GITHUB_EVENT_PATH", event);
        place("GITHUB_WORKSPACE", workspace);
        place("RUNNER_TOOL_CACHE", folder.join("_tool"));
        place("RUNNER_WORKSPACE", folder.to_owned());
        place("RUNNER_TEMP", temp);
        for (name, file) in [
            ("GITHUB_ENV", "set_env"),
            ("GITHUB_OUTPUT", "set_output"),
            ("GITHUB_PATH", "add_path"),
            ("GITHUB_STATE", "save_state"),
            ("GITHUB_STEP_SUMMARY", "step_summary"),
        ] {
            let file = commands.join(format!("{file}_{id}"));
            fs::write(&file, "")?;
            place(name, file);
        }
        Ok(Started { environment, token: self.token() })
    }

    /// Enters the run and its one job where runs are listed.
    fn enter(&self, id: u64, refs: &Refs) {
        let (repo, actor) = (self.text("/repository/full_name"), self.text("/sender/login"));
        let branch =
            if refs.head.is_empty() { refs.name.trim_start_matches("refs/heads/") } else { &refs.head };
        let head = self.text("/pull_request/head/sha");
        let titles =
            ["/pull_request/title", "/issue/title", "/discussion/title"].map(|title| self.text(title));
        let title =
            titles.into_iter().find(|title| !title.is_empty()).unwrap_or_else(|| WORKFLOW.0.to_owned());
        let start = RunStart {
            id,
            path: WORKFLOW.1,
            workflow: WORKFLOW.0,
            title: &title,
            event: &self.event,
            branch,
            // A pull request's run is listed at its head, though it is on the merge.
            oid: if refs.head.is_empty() { &refs.sha } else { &head },
            actor: &actor,
        };
        self.world.change(|state| {
            let now = state.clock.peek();
            if let Some(repo) = state.repo_mut(&repo) {
                repo.begin_run(&start, now).begin_job("agent", &["Answer"], now);
            }
        });
    }

    /// The variables that are no paths.
    fn words(&self, id: u64, refs: &Refs) -> BTreeMap<String, OsString> {
        let (world, repo, run) = (self.world, self.text("/repository/full_name"), id.to_string());
        let short = refs.name.trim_start_matches("refs/heads/").trim_start_matches("refs/pull/");
        let cache = self.cache(refs);
        let mut words = vec![
            ("CI", "true".to_owned()),
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_ACTION", "__self".to_owned()),
            ("GITHUB_ACTOR", self.text("/sender/login")),
            ("GITHUB_ACTOR_ID", self.text("/sender/id")),
            ("GITHUB_TRIGGERING_ACTOR", self.text("/sender/login")),
            ("GITHUB_API_URL", world.api_url()),
            ("GITHUB_GRAPHQL_URL", world.graphql_url()),
            ("GITHUB_SERVER_URL", world.api_url()),
            ("GITHUB_BASE_REF", refs.base.clone()),
            ("GITHUB_HEAD_REF", refs.head.clone()),
            ("GITHUB_EVENT_NAME", self.event.clone()),
            ("GITHUB_JOB", "agent".to_owned()),
            ("GITHUB_REF", refs.name.clone()),
            ("GITHUB_REF_NAME", short.to_owned()),
            ("GITHUB_REF_PROTECTED", (short == "main").to_string()),
            ("GITHUB_REF_TYPE", "branch".to_owned()),
            ("GITHUB_REPOSITORY_ID", self.text("/repository/id")),
            ("GITHUB_REPOSITORY_OWNER", self.text("/repository/owner/login")),
            ("GITHUB_REPOSITORY_OWNER_ID", self.text("/repository/owner/id")),
            ("GITHUB_RETENTION_DAYS", "90".to_owned()),
            ("GITHUB_RUN_ATTEMPT", "1".to_owned()),
            ("GITHUB_RUN_ID", run.clone()),
            ("GITHUB_RUN_NUMBER", "1".to_owned()),
            ("GITHUB_SHA", refs.sha.clone()),
            ("GITHUB_WORKFLOW", WORKFLOW.0.to_owned()),
            ("GITHUB_WORKFLOW_REF", format!("{repo}/{}@refs/heads/main", WORKFLOW.1)),
            ("GITHUB_WORKFLOW_SHA", refs.sha.clone()),
            ("GITHUB_REPOSITORY", repo),
            ("RUNNER_ARCH", "X64".to_owned()),
            ("RUNNER_ENVIRONMENT", "github-hosted".to_owned()),
            ("RUNNER_NAME", "GitHub Actions 1".to_owned()),
            ("RUNNER_OS", "Linux".to_owned()),
            ("RUNNER_TRACKING_ID", format!("github_{run}")),
            ("ACTIONS_CACHE_SERVICE_V2", "True".to_owned()),
            ("ACTIONS_RESULTS_URL", world.actions_url()),
            ("ACTIONS_RUNTIME_TOKEN", cache),
            ("ACTIONS_RUNTIME_URL", world.actions_url()),
        ];
        words.extend(self.cache_mode.map(|mode| ("ACTIONS_CACHE_MODE", mode.word().to_owned())));
        words.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    }

    /// Starts the run that the cache knows, and returns its token.
    fn cache(&self, refs: &Refs) -> String {
        let main = format!("refs/heads/{}", self.text("/repository/default_branch"));
        let base = format!("refs/heads/{}", refs.base);
        let anybodys = refs.name == main && !TRUSTED_EVENTS.contains(&self.event.as_str());
        let usual = if anybodys { CacheAccess::ReadOnly } else { CacheAccess::Write };
        let mut scopes = vec![refs.name.as_str(), &base, &main];
        scopes.retain(|scope| *scope != "refs/heads/");
        scopes.dedup();
        let repo = self.text("/repository/full_name");
        self.world.change(|state| state.start_run(&repo, &scopes, self.cache_mode.unwrap_or(usual)))
    }

    /// The job's own token. A fork's, and Dependabot's, only reads.
    fn token(&self) -> String {
        let repo = self.text("/repository/full_name");
        let foreign = self.text("/pull_request/head/repo/full_name") != repo
            || self.text("/sender/login") == "dependabot[bot]";
        let bot = "github-actions[bot]";
        if ON_THE_MERGE.contains(&self.event.as_str()) && foreign {
            return self.world.change(|state| state.give_token(bot, TokenAccess::ReadOnly));
        }
        let permissions = self.permissions.clone();
        self.world.change(|state| {
            let expires_at = state.clock.now() + SignedDuration::from_hours(24);
            state.grant_token(bot, Grant { repos: vec![repo], permissions, expires_at })
        })
    }

    /// What is checked out: the merge of a pull request, or the default branch.
    fn refs(&self) -> Refs {
        let main = self.text("/repository/default_branch");
        let head = self.text("/pull_request/head/sha");
        if ON_THE_MERGE.contains(&self.event.as_str()) {
            let merge = self.text("/pull_request/merge_commit_sha");
            return Refs {
                name: format!("refs/pull/{}/merge", self.text("/pull_request/number")),
                sha: if merge.is_empty() { head } else { merge },
                base: self.text("/pull_request/base/ref"),
                head: self.text("/pull_request/head/ref"),
            };
        }
        let repo = self.text("/repository/full_name");
        let tip = self.world.state(|state| {
            let pulls = state.repo(&repo)?.issues.iter().filter_map(|issue| issue.pull.as_ref());
            pulls.filter(|pull| pull.base_ref == main).map(|pull| pull.base_oid.clone()).next()
        });
        Refs {
            name: format!("refs/heads/{main}"),
            sha: tip.unwrap_or_default(),
            base: String::new(),
            head: String::new(),
        }
    }

    /// A text or number of the payload; nothing if it is not there.
    fn text(&self, pointer: &str) -> String {
        match self.payload.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }
}
