//! Turns what the runner hands us into the settings of a run: every complaint at once, each with its origin.

mod answers;
mod stores;

pub(crate) use stores::of_memory;

use std::{
    fmt::Display,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use fro_boundary::{Keys, PROTECTED_PATHS};
use fro_core::{
    Fault, Login, Permission, RepoName, Secret,
    conversation::again::PAUSE,
    delegation::{DelegatedWork, OutputMode},
    event::Event,
    gate::{Drafts, Policy, Response, Secrets},
    prompt::Wishes,
    say::summary::RunLink,
};
use fro_github::{Address, App};
use fro_http::{Proxy, Retry, RoadSettings};
use fro_opencode::Version;
use fro_run::{Delegation, Elevated, EngineSettings, Settings, Unwalled};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::env::{self, Env};

/// Milliseconds that the agent may work if nobody says otherwise.
const TIMEOUT: u64 = 1_800_000;

/// Reads the settings of a run inside a workflow.
pub(crate) fn of_action(
    env: &Env,
    event_name: &str,
    payload: String,
    began: Timestamp,
) -> Result<Settings, Fault> {
    let mut typed = Typed { env, complaints: Vec::new() };
    let repo = typed.required(env::GITHUB_REPOSITORY, "octo/garden", RepoName::parse);
    let token = typed.token();
    let policy = typed.policy();
    let (elevated, delegation) = (typed.elevated(), typed.delegation());
    let run_page = typed.run_page(event_name, policy.response);
    let summary = typed.summary();
    let (road, pause) = typed.road();
    let engine = typed.engine(pause)?;
    let (memory, retention) = (typed.stores(repo.as_ref(), &road), typed.retention());
    let (Some(repo), Some(token), []) = (repo, token, typed.complaints.as_slice()) else {
        return Err(typed.fault());
    };
    Ok(Settings {
        event: event(env, event_name, payload, &repo),
        github: address(env),
        server: server(env).to_owned(),
        road,
        token,
        elevated,
        delegation,
        policy,
        wishes: wishes(env),
        summary,
        engine,
        memory,
        retention,
        workspace: workspace(env)?,
        scratch: scratch(env),
        run: run_link(env, &repo),
        run_page,
        git_ref: owned(env.text(env::GITHUB_REF_NAME)),
        began,
        seed: u64::from(began.subsec_nanosecond().unsigned_abs()),
    })
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

fn wishes(env: &Env) -> Wishes {
    Wishes { mode_instructions: owned(env.input("mode-instructions")), prompt: owned(env.input("prompt")) }
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

fn address(env: &Env) -> Address {
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

fn milliseconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_millis)
}

/// Reads a name as people write it, with or without `@`.
fn login(text: &str) -> Result<Login, &'static str> {
    let name = text.trim_start_matches('@');
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let bare = name.strip_suffix("[bot]").unwrap_or(name);
    if !bare.is_empty() && bare.chars().all(known) { Ok(Login::new(name)) } else { Err("it is a login") }
}

fn json_object(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.is_object() { Ok(value) } else { Err("it is not an object".to_owned()) }
}

fn dollars(text: &str) -> Result<Option<f64>, &'static str> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount > 0.0)
        .map(Some)
        .ok_or("it is an amount of US dollars, like `0.50`")
}

/// What was typed, and what is wrong with it so far.
struct Typed<'a> {
    env: &'a Env,
    complaints: Vec<String>,
}

impl Typed<'_> {
    fn required<T, E: Display>(
        &mut self,
        name: &str,
        example: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = self.env.text(name) else {
            self.complaints.push(format!("the variable `{name}` is not set; it reads like `{example}`"));
            return None;
        };
        parse(text).map_err(|error| self.complaints.push(format!("the variable `{name}`: {error}"))).ok()
    }

    fn input<T, E: Display>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> T {
        let Some(text) = self.env.input(name) else { return default };
        match parse(text) {
            Ok(value) => value,
            Err(error) => {
                let shown = fro_core::say::log::harmless(text);
                self.complaints.push(format!("the input `{name}` is `{shown}`: {error}"));
                default
            }
        }
    }

    fn token(&mut self) -> Option<Secret> {
        let token = self.env.input("github-token").map(Secret::new);
        if token.is_none() {
            self.complaints
                .push("the input `github-token` is empty; it reads like `${{ github.token }}`".to_owned());
        }
        token
    }

    /// Reads how to use the engine.
    fn engine(&mut self, pause: Duration) -> Result<EngineSettings, Fault> {
        let config = self.hidden_input("opencode-config", Value::Object(Map::new()), json_object);
        let keys = self.hidden_input("auth-json", Keys::default(), Keys::parse).and_those_of(&config);
        let max_cost = self.input("max-cost", None, dollars);
        let max_steps =
            self.input("max-steps", None, |text| text.parse().map(|steps: NonZeroU32| Some(steps.get())));
        let timeout = self.input("timeout", TIMEOUT, str::parse::<u64>);
        let unwalled = self.input("allow-unwalled", false, str::parse::<bool>);
        let engine_version = self.input("opencode-version", Version::Pinned, str::parse);
        let omo = self.omo();
        let model = self.model();
        Ok(EngineSettings {
            tool_cache: tool_cache(self.env),
            program: own_program()?,
            environment: self.env.all().to_vec(),
            config,
            keys,
            max_cost,
            max_steps,
            pause,
            agent: owned(self.env.input("agent")),
            version: engine_version,
            omo,
            model,
            timeout: (timeout > 0).then(|| Duration::from_millis(timeout)),
            unwalled: if unwalled { Unwalled::Allowed } else { Unwalled::Refused },
        })
    }

    /// Reads what opens more: an App if there is one, else a person's token.
    fn elevated(&mut self) -> Elevated {
        match (self.env.input("app-id"), self.env.input("private-key")) {
            (Some(id), Some(key)) => match App::new(id, key) {
                Ok(app) => return Elevated::App(app),
                Err(error) => self.complaints.push(format!("the input `private-key`: {error}")),
            },
            (None, None) => {}
            (Some(_), None) => {
                self.complaints.push("the input `app-id` needs `private-key` beside it".to_owned());
            }
            (None, Some(_)) => {
                self.complaints.push("the input `private-key` needs `app-id` beside it".to_owned());
            }
        }
        self.env.input("elevated-token").map_or(Elevated::None, |token| Elevated::Token(Secret::new(token)))
    }

    fn delegation(&mut self) -> Delegation {
        let work = self.input("delegated-work", DelegatedWork::default(), |text| match text {
            "on-request" => Ok(DelegatedWork::OnRequest),
            "never" => Ok(DelegatedWork::Never),
            _ => Err("it is `on-request` or `never`"),
        });
        let output = self.input("output-mode", OutputMode::default(), |text| match text {
            "auto" => Ok(OutputMode::Auto),
            "branch-pr" => Ok(OutputMode::BranchPr),
            "report" => Ok(OutputMode::Report),
            "working-dir" => Err("the agent works in a clone of its own; `branch-pr` hands its changes over"),
            _ => Err("it is one of `auto`, `branch-pr`, `report`"),
        });
        let more = self.env.input("protected-paths").unwrap_or_default();
        let more = more.split([',', '\n']).map(str::trim).filter(|pattern| !pattern.is_empty());
        let protected_paths = PROTECTED_PATHS.into_iter().chain(more).map(str::to_owned).collect();
        Delegation { work, output, protected_paths }
    }

    /// Reads an input that may hold keys, so that a complaint does not quote it.
    fn hidden_input<T, E: Display>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> T {
        let Some(text) = self.env.input(name) else { return default };
        parse(text).unwrap_or_else(|error| {
            self.complaints.push(format!("the input `{name}`: {error}"));
            default
        })
    }

    fn policy(&mut self) -> Policy {
        let needed =
            self.input("trigger-permission", Permission::Write, |text| match Permission::from_word(text) {
                Some(permission) if permission > Permission::None => Ok(permission),
                _ => Err("it is one of `read`, `triage`, `write`, `maintain`, `admin`"),
            });
        let usual = Policy::usual();
        let skip_drafts = self.input("skip-draft-prs", true, str::parse::<bool>);
        let window = self.input("dedup-window", usual.dedup_window, milliseconds);
        let mention = self.input("mention", usual.mention, login);
        let response = self.response();
        Policy {
            mention,
            needed,
            drafts: if skip_drafts { Drafts::Skipped } else { Drafts::Reviewed },
            skip_label: owned(self.env.input("skip-label")).unwrap_or(usual.skip_label),
            dedup_window: window,
            // GitHub empties what comes from secrets for forks and for Dependabot.
            secrets: if self.env.input("auth-json").is_some() { Secrets::Given } else { Secrets::Withheld },
            response,
        }
    }

    /// Returns the file behind the run's page, which only some runs need.
    fn run_page(&mut self, event_name: &str, response: Response) -> Option<PathBuf> {
        let page = self.env.text(env::GITHUB_STEP_SUMMARY).map(PathBuf::from);
        let needed = response == Response::None || matches!(event_name, "schedule" | "workflow_dispatch");
        if page.is_none() && needed {
            let name = env::GITHUB_STEP_SUMMARY;
            self.complaints
                .push(format!("the variable `{name}` is not set, and the answer would go nowhere"));
        }
        page
    }

    /// Returns the version of Oh My OpenCode to load, if it is wanted.
    fn omo(&mut self) -> Option<Version> {
        let enabled = self.input("enable-omo", true, str::parse::<bool>);
        let version = self.input("omo-version", Version::Pinned, str::parse);
        enabled.then_some(version)
    }

    fn model(&mut self) -> Option<String> {
        self.input("model", None, |text| match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Some(text.to_owned())),
            _ => Err("it reads `provider/model`"),
        })
    }

    /// Returns how requests travel, and the pause before something is asked again.
    fn road(&mut self) -> (RoadSettings, Duration) {
        let extra_ca = self.env.text(env::SSL_CERT_FILE).map(PathBuf::from).into_iter().collect();
        let retry = self.retry();
        let pause = self.env.text(env::FRO_RETRY_DELAYS).and(retry.failing.first().copied()).unwrap_or(PAUSE);
        (RoadSettings { retry, proxy: Proxy::System, extra_ca, ..RoadSettings::default() }, pause)
    }

    fn retry(&mut self) -> Retry {
        let Some(text) = self.env.text(env::FRO_RETRY_DELAYS) else { return Retry::default() };
        let delays: Result<Vec<u64>, _> = text.split(',').map(|delay| delay.trim().parse::<u64>()).collect();
        match delays {
            Ok(delays) => {
                let pauses: Vec<_> = delays.into_iter().map(Duration::from_millis).collect();
                Retry { limited: pauses.clone(), failing: pauses, ..Retry::default() }
            }
            Err(error) => {
                self.complaints.push(format!("the variable `{}`: {error}", env::FRO_RETRY_DELAYS));
                Retry::default()
            }
        }
    }

    fn fault(self) -> Fault {
        self.fault_with("mend them in the workflow's `with:` block and run it again")
    }

    fn fault_with(self, hint: &str) -> Fault {
        let what = match self.complaints.as_slice() {
            [only] => only.clone(),
            several => format!("{} settings are wrong:\n- {}", several.len(), several.join("\n- ")),
        };
        Fault::yours(what, hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&str, &str)]) -> Result<Settings, Fault> {
        of_action(&Env::of(pairs.iter().copied()), "schedule", String::new(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn every_complaint_comes_at_once() {
        let fault = told(&[
            ("GITHUB_REPOSITORY", "garden"),
            ("INPUT_TIMEOUT", "soon"),
            ("INPUT_TRIGGER-PERMISSION", "everyone"),
            ("INPUT_MODEL", "gpt"),
            ("INPUT_OPENCODE-CONFIG", "[]"),
            ("INPUT_AUTH-JSON", "sk-not-to-be-quoted"),
            ("INPUT_MAX-COST", "-1"),
            ("INPUT_SKIP-DRAFT-PRS", "maybe"),
            ("INPUT_DEDUP-WINDOW", "10 min"),
            ("INPUT_MENTION", "fro bot"),
        ]);
        insta::assert_snapshot!(fault.unwrap_err());
    }

    #[test]
    fn hyphens_of_an_input_are_kept() {
        let settings = told(&[
            ("GITHUB_REPOSITORY", "octo/garden"),
            ("INPUT_GITHUB-TOKEN", "t"),
            ("INPUT_MENTION", "@gardener"),
            ("INPUT_SKIP-DRAFT-PRS", "false"),
            ("INPUT_SKIP-LABEL", "hands off"),
            ("INPUT_DEDUP-WINDOW", "0"),
            ("GITHUB_STEP_SUMMARY", "page.md"),
        ]);
        let settings = settings.unwrap();
        let policy = Policy {
            mention: Login::new("gardener"),
            needed: Permission::Write,
            drafts: Drafts::Reviewed,
            skip_label: "hands off".to_owned(),
            dedup_window: Duration::ZERO,
            secrets: Secrets::Withheld,
            response: Response::GitHub,
        };
        assert_eq!((settings.policy, settings.run.id.as_str()), (policy, "local"));
        assert_eq!(settings.engine.timeout, Some(Duration::from_mins(30)));
    }
}
