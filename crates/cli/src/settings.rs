//! Turns what the runner hands us into the settings of a run: every complaint at once, each with its origin.

mod answers;
mod file;
mod parse;
mod review;
mod stores;
mod typed;
mod worker;

pub(crate) use review::role;
pub(crate) use stores::of_memory;
pub(crate) use worker::of_worker;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use fro_agent::{Delegation, Elevated, EngineSettings, Unwalled};
use fro_boundary::{Keys, PROTECTED_PATHS, Plan};
use fro_core::{
    Fault, Login, Permission, RepoName, Secret,
    command::WorkWords,
    conversation::again::PAUSE,
    delegation::{DelegatedWork, OutputMode},
    event::{self, Event},
    gate::{DraftPulls, Policy, Response, Role, Secrets},
    prompt::Wishes,
    say::summary::RunLink,
    sorting::GhDeeds,
};
use fro_github::{Address, App, Label};
use fro_http::{ClientSettings, Proxy, Retry};
use fro_opencode::Version;
use fro_run::{Change, Occasion, OutputSchema, Settings};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::env::{self, Env};
use file::File;
use typed::Typed;

/// How long the agent may work if nobody says otherwise.
const TIMEOUT: Duration = Duration::from_mins(30);

/// US dollars that a run may cost if nobody says otherwise: one that passes this has most likely lost its way.
const MAX_COST: f64 = 5.0;

/// How long a run waits for Oh My OpenCode if nobody says otherwise.
const OMO_PATIENCE: Duration = Duration::from_mins(1);

/// Reads the settings of a run inside a workflow, and what it was started by.
pub(crate) fn of_action(
    env: &Env,
    event_name: &str,
    payload: String,
    began: Timestamp,
) -> Result<(Settings, Occasion), Fault> {
    let mut typed = Typed::new(env, File::default());
    let token = typed.token();
    read(typed, (token, event_name), payload, began)
}

/// Reads the settings of a look at a clone on this machine. Only what is on GitHub takes a token.
pub(crate) fn of_terminal(
    env: &Env,
    began: Timestamp,
    change: &Change,
) -> Result<(Settings, Occasion), Fault> {
    let token = match (env.input("github-token"), change) {
        (None, Change::Pull(_)) => {
            return Err(Fault::yours(
                "there is no token to ask GitHub for the pull request with",
                "set `GITHUB_TOKEN`, for instance to what `gh auth token` prints",
            ));
        }
        (None, Change::Commits(_)) => Some(Secret::new("")),
        (Some(token), _) => Some(Secret::new(token)),
    };
    read(Typed::at_terminal(env), (token, "review"), String::new(), began)
}

/// Reads the settings anew, with what the repository's own file says below the inputs.
pub(crate) fn with_file(env: &Env, event_name: &str, file: &str) -> Result<Settings, Fault> {
    let mut typed = Typed::new(env, File::parse(file));
    let token = typed.token();
    read(typed, (token, event_name), String::new(), Timestamp::UNIX_EPOCH).map(|(settings, _)| settings)
}

fn read(
    mut typed: Typed<'_>,
    (token, event_name): (Option<Secret>, &str),
    payload: String,
    began: Timestamp,
) -> Result<(Settings, Occasion), Fault> {
    let env = typed.env;
    let repo = typed.required(env::GITHUB_REPOSITORY, "octo/garden", RepoName::parse);
    let policy = typed.policy();
    let agent = typed.agent(repo.as_ref())?;
    let run_page = typed.run_page(event_name, policy.response);
    let (summary, progress, share) = (typed.summary(), typed.progress(), typed.share());
    let mode_instructions = typed.text("mode-instructions");
    let output = typed.hidden_input("output-schema", None, |schema| OutputSchema::parse(schema).map(Some));
    let review = typed.review();
    let (Some(repo), Some(token), []) = (repo, token, typed.complaints.as_slice()) else {
        return Err(typed.fault());
    };
    let event = event(env, event_name, payload, &repo);
    let requested = requested(env, &event).unwrap_or(began);
    let occasion = Occasion {
        audience: event.audience(),
        event,
        run: run_link(env, &repo),
        action: env.text(env::GITHUB_ACTION_REPOSITORY).and_then(|name| RepoName::parse(name).ok()),
        run_page,
        checkout: workspace(env)?,
        git_ref: owned(env.text(env::GITHUB_REF_NAME)),
        job_began: job_began(env),
        began,
        requested,
        seed: u64::from(began.subsec_nanosecond().unsigned_abs()),
    };
    let hidden = agent.hidden.into_iter().chain(review.state_key.clone()).collect();
    let agent = fro_agent::Settings { token, hidden, ..agent };
    let wishes = Wishes { mode_instructions, prompt: owned(env.input("prompt")) };
    let settings = Settings { agent, policy, wishes, output, summary, progress, share, review };
    Ok((settings, occasion))
}

/// Returns when a workflow was asked for its first attempt; who asks for another one begins anew.
fn requested(env: &Env, event: &Event) -> Option<Timestamp> {
    let first = env.text(env::GITHUB_RUN_ATTEMPT) == Some("1");
    event::asked_at(event).filter(|_| first)
}

/// Returns when the job's first step began: then the runner makes a folder for the event.
///
/// The file in it says nothing, since the runner writes it anew for every step. Another folder than the runner's own
/// says nothing either.
fn job_began(env: &Env) -> Option<Timestamp> {
    let in_workflow = env.text(env::GITHUB_ACTIONS) == Some("true");
    let event = env.text(env::GITHUB_EVENT_PATH).filter(|_| in_workflow)?;
    // `_github_workflow` on the runner, `workflow` in a container of its.
    let folder = Path::new(event).parent().filter(|folder| {
        folder.file_name().is_some_and(|name| name == "_github_workflow" || name == "workflow")
    });
    Timestamp::try_from(fs_err::metadata(folder?).ok()?.modified().ok()?).ok()
}

fn event(env: &Env, name: &str, payload: String, repo: &RepoName) -> Event {
    Event {
        name: name.to_owned(),
        payload,
        repo: repo.clone(),
        actor: Login::new(env.text(env::GITHUB_ACTOR).unwrap_or("ghost")),
        prompt: owned(env.input("prompt")),
    }
}

/// Returns where tools are kept: the runner's folder, or the user's cache.
pub(crate) fn tool_cache(env: &Env) -> PathBuf {
    if let Some(runner) = env.text(env::RUNNER_TOOL_CACHE) {
        return PathBuf::from(runner);
    }
    let cache = env.text(env::XDG_CACHE_HOME).map(PathBuf::from);
    let cache = cache.or_else(|| env.text(env::HOME).map(|home| Path::new(home).join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("fro-bot").join("tools")
}

/// Returns where temporary folders go.
pub(crate) fn scratch(env: &Env) -> PathBuf {
    env.text(env::RUNNER_TEMP).map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Returns this very program, which is also the wall.
pub(crate) fn own_program() -> Result<PathBuf, Fault> {
    std::env::current_exe()
        .map_err(|error| Fault::ours(format!("cannot find this program's own file: {error}")))
}

fn workspace(env: &Env) -> Result<PathBuf, Fault> {
    let path =
        env.text(env::GITHUB_WORKSPACE).map_or_else(std::env::current_dir, |path| Ok(PathBuf::from(path)));
    let found = path.and_then(fs_err::canonicalize);
    found.map_err(|error| {
        Fault::yours(
            format!("cannot open the checkout: {error}"),
            "let the workflow run `actions/checkout` first",
        )
    })
}

pub(crate) fn address(env: &Env) -> Address {
    Address {
        api: env.text(env::GITHUB_API_URL).unwrap_or("https://api.github.com").to_owned(),
        graphql: env.text(env::GITHUB_GRAPHQL_URL).unwrap_or("https://api.github.com/graphql").to_owned(),
        web: env.text(env::GITHUB_SERVER_URL).unwrap_or("https://github.com").to_owned(),
        stores: env
            .text(env::FRO_ATTACHMENT_STORES)
            .unwrap_or_default()
            .split(',')
            .map(str::to_owned)
            .collect(),
    }
}

fn server(env: &Env) -> &str {
    env.text(env::GITHUB_SERVER_URL).unwrap_or("https://github.com")
}

fn run_link(env: &Env, repo: &RepoName) -> RunLink {
    let server = server(env);
    match env.text(env::GITHUB_RUN_ID) {
        Some(id) => RunLink { id: id.to_owned(), url: Some(format!("{server}/{repo}/actions/runs/{id}")) },
        None => RunLink { id: "local".to_owned(), url: None },
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

impl Typed<'_> {
    fn token(&mut self) -> Option<Secret> {
        let token = self.env.input("github-token").map(Secret::new);
        if token.is_none() {
            self.complain(
                "the input `github-token` is empty: leave it out, or write `${{ github.token }}` or a secret's name",
            );
        }
        token
    }

    /// Reads what engines, memory and delegated work need; the token is for the caller to add.
    fn agent(&mut self, repo: Option<&RepoName>) -> Result<fro_agent::Settings, Fault> {
        let (elevated, delegation) = (self.elevated(), self.delegation());
        let (client, pause) = self.client();
        let engine = self.engine(pause)?;
        let (memory, retention) = (self.stores(repo, &client), self.retention());
        Ok(fro_agent::Settings {
            github: address(self.env),
            server: server(self.env).to_owned(),
            client,
            token: Secret::new(""),
            hidden: self.env.credentials(),
            elevated,
            delegation,
            engine,
            memory,
            retention,
            scratch: scratch(self.env),
        })
    }

    /// Reads how to use the engine.
    fn engine(&mut self, pause: Duration) -> Result<EngineSettings, Fault> {
        let config = self.hidden_input("opencode-config", Value::Object(Map::new()), parse::json_object);
        let keys = self.hidden_input("auth-json", Keys::default(), Keys::parse);
        let keys = keys.and(self.key_of_model()).and_those_of(&config);
        let model = self.input("model", None, parse::model);
        let max_cost = self.input("max-cost", usual_cost(&config, model.as_deref(), &keys), parse::dollars);
        let max_steps = self.input("max-steps", None, parse::steps);
        let timeout = self.input("timeout", Some(TIMEOUT), parse::limit);
        let unwalled = self.input("allow-unwalled", false, parse::yes_or_no);
        let engine_version = self.input("opencode-version", Version::Pinned, str::parse);
        let omo = self.omo();
        let omo_patience = self.span(env::FRO_OMO_PATIENCE).unwrap_or(OMO_PATIENCE);
        let network = self.input("network", Vec::new(), parse::destinations);
        Ok(EngineSettings {
            tool_cache: tool_cache(self.env),
            program: own_program()?,
            environment: self.env.all().to_vec(),
            config,
            keys,
            max_cost,
            max_steps,
            pause,
            agent: self.text("agent"),
            version: engine_version,
            omo,
            omo_patience,
            model,
            network,
            timeout,
            unwalled: if unwalled { Unwalled::Allowed } else { Unwalled::Refused },
        })
    }

    /// Reads what opens more: an App, a person's token, or both.
    fn elevated(&mut self) -> Elevated {
        let token = self.text("elevated-token").map(Secret::new);
        let app = match (self.text("app-id"), self.text("private-key")) {
            (Some(id), Some(key)) => App::new(&id, &key).map_err(|error| {
                self.complain(format!(
                    "the input `private-key`: {error}; give the whole `.pem` file as a secret"
                ));
            }),
            (None, None) => return token.map_or(Elevated::None, Elevated::Token),
            (Some(_), None) => {
                self.complain(
                    "the input `app-id` needs `private-key` beside it: the App's `.pem` file, as a secret",
                );
                Err(())
            }
            (None, Some(_)) => {
                self.complain(
                    "the input `private-key` needs `app-id` beside it: the number on the App's page",
                );
                Err(())
            }
        };
        app.map_or(Elevated::None, |app| Elevated::App(app, token))
    }

    fn delegation(&mut self) -> Delegation {
        let work = self.input("delegated-work", DelegatedWork::default(), parse::delegated_work);
        let work = match self.role() {
            Role::Agent => work,
            Role::Reviewer => DelegatedWork::Never,
        };
        let output = self.input("output-mode", OutputMode::default(), parse::output_mode);
        if (work, output) == (DelegatedWork::Never, OutputMode::BranchPr) {
            self.complain(
                "`output-mode: branch-pr` opens pull requests, which `delegated-work: never` forbids: change one of them",
            );
        }
        let more = self.texts("protected-paths");
        let more = more
            .iter()
            .flat_map(|text| text.split([',', '\n']))
            .map(str::trim)
            .filter(|pattern| !pattern.is_empty());
        let protected_paths = PROTECTED_PATHS.into_iter().chain(more).map(str::to_owned).collect();
        let gh_deeds = self.input("gh-deeds", false, parse::yes_or_no);
        let gh_deeds = if gh_deeds { GhDeeds::On } else { GhDeeds::Off };
        let policy = self.usual_policy();
        let steering_labels = [
            self.text("work-label").unwrap_or(policy.work_words.label),
            self.text("skip-label").unwrap_or(policy.skip_label),
            Label::WORKING.name.to_owned(),
        ];
        let steering_labels = steering_labels.into();
        Delegation { work, output, protected_paths, gh_deeds, steering_labels }
    }

    fn policy(&mut self) -> Policy {
        let usual = self.usual_policy();
        let skip_drafts = self.input("skip-draft-prs", true, parse::yes_or_no);
        let response = self.response();
        let secrets = ["auth-json", "opencode_api_key"].iter().any(|name| self.env.input(name).is_some());
        Policy {
            role: usual.role,
            mention: self.input("mention", usual.mention, parse::login),
            needed: self.input("trigger-permission", Permission::Write, parse::permission),
            drafts: if skip_drafts { DraftPulls::Skipped } else { DraftPulls::Reviewed },
            skip_label: self.text("skip-label").unwrap_or(usual.skip_label),
            dedup_window: self.input("dedup-window", usual.dedup_window, parse::span),
            // GitHub empties what comes from secrets for forks and for Dependabot.
            secrets: if secrets { Secrets::Given } else { Secrets::Withheld },
            response,
            work_words: WorkWords {
                words: self.input("work-words", usual.work_words.words, parse::work_words),
                label: self.text("work-label").unwrap_or(usual.work_words.label),
            },
        }
    }

    /// Returns the file behind the run's page, which only some runs need.
    fn run_page(&mut self, event_name: &str, response: Response) -> Option<PathBuf> {
        let page = self.env.text(env::GITHUB_STEP_SUMMARY).map(PathBuf::from);
        let needed = response == Response::None || matches!(event_name, "schedule" | "workflow_dispatch");
        if page.is_none() && needed {
            let name = env::GITHUB_STEP_SUMMARY;
            self.complain(format!("the variable `{name}` is not set, and the answer would go nowhere"));
        }
        page
    }

    /// Returns the version of Oh My OpenCode to load, if it is wanted.
    fn omo(&mut self) -> Option<Version> {
        let enabled = self.input("enable-omo", true, parse::yes_or_no);
        let version = self.input("omo-version", Version::Pinned, str::parse);
        // A reviewer only looks; what brings agents of its own stays out.
        let wanted = enabled && self.role() == Role::Agent;
        wanted.then_some(version)
    }

    /// Returns how requests travel, and the pause before something is asked again.
    fn client(&mut self) -> (ClientSettings, Duration) {
        let extra_ca = self.env.authorities();
        let retry = self.retry();
        let pause = self.env.text(env::FRO_RETRY_DELAYS).and(retry.failing.first().copied()).unwrap_or(PAUSE);
        let usual = ClientSettings::default();
        let timeout = self.span(env::FRO_REQUEST_TIMEOUT).unwrap_or(usual.timeout);
        (ClientSettings { retry, timeout, proxy: Proxy::System, extra_ca, ..usual }, pause)
    }

    /// Reads a span of time from a variable.
    fn span(&mut self, name: &str) -> Option<Duration> {
        let read = parse::span(self.env.text(name)?);
        read.map_err(|error| self.complaints.push(format!("the variable `{name}`: {error}"))).ok()
    }

    fn retry(&mut self) -> Retry {
        let Some(text) = self.env.text(env::FRO_RETRY_DELAYS) else { return Retry::default() };
        let delays: Result<Vec<u64>, _> = text.split(',').map(|delay| delay.trim().parse::<u64>()).collect();
        let Ok(delays) = delays else {
            let name = env::FRO_RETRY_DELAYS;
            self.complain(format!(
                "the variable `{name}` is `{text}`: write milliseconds, such as `500,2000`"
            ));
            return Retry::default();
        };
        let pauses: Vec<_> = delays.into_iter().map(Duration::from_millis).collect();
        Retry { limited: pauses.clone(), failing: pauses, ..Retry::default() }
    }
}

#[cfg(test)]
mod tests;

/// Returns the limit of a run's cost, if its models have prices that it can be counted by.
fn usual_cost(config: &Value, model: Option<&str>, keys: &Keys) -> Option<f64> {
    Plan::draw(config, model, keys).ok()?.priced().ok().map(|()| MAX_COST)
}
