//! The checks of `fro-bot doctor`, a function for each thing that a run depends on.

use fro_boundary::{Enclosure, Strictness, probe};
use fro_core::{Fault, workflow::PAGES};
use fro_github::{Rights, Writable};
use fro_opencode::InstallProgress;
use fro_run::{Occasion, Process, REPO_SETTINGS, Settings};
use jiff::Timestamp;

use super::{Finding, Health, bucket, memory};
use crate::{
    env::{self, Env},
    settings,
    waiting::Waiting,
};

/// The event of most runs.
const EVENT: &str = "issue_comment";

/// Whether the model is asked for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    Asked,
    Skipped,
}

/// What can be looked at although something is wrong with the inputs.
struct Readable {
    settings: Settings,
    occasion: Occasion,
    /// The variables of the inputs that were left out, since they cannot be read.
    wrong: Vec<String>,
}

/// Examines everything, in the order in which a run would need it.
pub(crate) async fn all(env: &Env, model: Model, waiting: &Waiting) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_anonymous = lacks_token(env);
    if is_anonymous {
        findings.push(Finding::bad("token", &no_token()));
    }
    if let Some(Readable { settings, occasion, wrong }) = read(env, &mut findings) {
        let process = Process::new(settings);
        if !is_anonymous {
            findings.extend(on_github(env, &process, &occasion).await);
        }
        if !wrong.iter().any(|name| name == "INPUT_MODEL") {
            findings.push(models(&process, model).await);
        }
        findings.push(engine(&process, &occasion, waiting).await);
        findings.extend(bucket::rights(&process.agent.settings).await);
        findings.extend(memory::state(&process.agent.settings).await);
    }
    findings.push(cache(env));
    findings.push(walls().await);
    findings
}

/// Reads the inputs. What is wrong with one hides nothing that does not hang on it.
fn read(env: &Env, findings: &mut Vec<Finding>) -> Option<Readable> {
    let of_action = |env: &Env| settings::of_action(env, EVENT, String::new(), Timestamp::now());
    // Without a token only GitHub cannot be asked; the value is never sent.
    let env = if lacks_token(env) { &env.with_inputs([("github-token", "none")]) } else { env };
    match of_action(env) {
        Ok((settings, occasion)) => {
            findings.push(Finding::good("inputs", "all of them can be read"));
            Some(Readable { settings, occasion, wrong: Vec::new() })
        }
        Err(fault) => {
            findings.push(Finding::bad("inputs", &fault));
            let names: Vec<_> = env.starting_with("INPUT_").map(|(name, _)| name).collect();
            let without = |left_out: &[&String]| env.with(left_out.iter().map(|name| (name.as_str(), "")));
            let is_wrong = |name: &&String| {
                let others = names.iter().filter(|other| other != name && *other != "INPUT_GITHUB-TOKEN");
                of_action(&without(&others.collect::<Vec<_>>())).is_err()
            };
            let wrong: Vec<_> = names.iter().filter(is_wrong).collect();
            let (settings, occasion) = of_action(&without(&wrong)).ok()?;
            Some(Readable { settings, occasion, wrong: wrong.into_iter().cloned().collect() })
        }
    }
}

/// Asks GitHub about the token, and with a good one about the rest.
async fn on_github(env: &Env, process: &Process, occasion: &Occasion) -> Vec<Finding> {
    let mut findings = token(process, occasion).await;
    if findings.iter().all(|finding| finding.health != Health::Bad) {
        findings.extend(writes(env, process, occasion).await);
        findings.push(repo_file(env, process, occasion).await);
    }
    findings
}

/// Tells whether somebody looks from a machine of their own and has no token there.
fn lacks_token(env: &Env) -> bool {
    env.text(env::GITHUB_ACTIONS).is_none() && env.input("github-token").is_none()
}

fn no_token() -> Fault {
    Fault::yours(
        "there is no token to ask GitHub with",
        "set `GITHUB_TOKEN`, for instance to what `gh auth token` prints",
    )
}

/// Reads the settings that live with the repository, if there are any.
async fn repo_file(env: &Env, process: &Process, occasion: &Occasion) -> Finding {
    const ABOUT: &str = "file";
    let file = async { fro_run::repo_settings(&process.github(&occasion.event.repo)?).await };
    let read = file.await.and_then(|file| match file {
        Some(text) => settings::with_file(env, EVENT, &text).map(|_| "can be read"),
        None => Ok("there is none, and none is needed"),
    });
    match read {
        Ok(says) => Finding::good(ABOUT, format!("{REPO_SETTINGS}: {says}")),
        Err(fault) => Finding::bad(ABOUT, &fault),
    }
}

/// Asks GitHub whose token it is and what it may do.
async fn token(process: &Process, occasion: &Occasion) -> Vec<Finding> {
    const ABOUT: &str = "token";
    let github = match process.github(&occasion.event.repo) {
        Ok(github) => github,
        Err(fault) => return vec![Finding::bad(ABOUT, &fault)],
    };
    let (viewer, rights) = tokio::join!(github.viewer(), github.rights());
    match (viewer, rights) {
        (Err(error), _) | (_, Err(error)) => vec![Finding::bad(ABOUT, &error.fault())],
        (Ok(login), Ok(Rights { push, private, scopes })) => {
            let visible = if private { "private" } else { "public" };
            let may = if push { "read and push to" } else { "read" };
            let says = format!("@{login} may {may} the {visible} repository {}", github.repo());
            let mut findings = vec![Finding::good(ABOUT, says)];
            if let Some(scopes) = scopes {
                let says =
                    format!("a classic token with the scopes {scopes}, which reach beyond this repository");
                let next = "use the job's token, a GitHub App or a fine-grained token";
                findings.push(Finding::doubtful("scopes", says, next));
            }
            findings
        }
    }
}

/// Asks which permissions the token has that only a write would use.
async fn writes(env: &Env, process: &Process, occasion: &Occasion) -> Option<Finding> {
    const ABOUT: &str = "writes";
    let github = process.github(&occasion.event.repo).ok()?;
    let mut missing = Vec::new();
    for what in Writable::ALL {
        match github.may_write(what).await {
            Ok(true) => {}
            Ok(false) => missing.push(format!("`{}`", what.permission())),
            Err(error) => return Some(Finding::bad(ABOUT, &error.fault())),
        }
    }
    let all = Writable::ALL.map(Writable::permission).join(", ");
    Some(match missing.as_slice() {
        [] => Finding::good(ABOUT, format!("the token has {all}")),
        missing => {
            let next = format!("{}; {PAGES}/permissions.md says what each is for", grant(env));
            Finding::doubtful(ABOUT, format!("the token does not have {}", missing.join(", ")), next)
        }
    })
}

/// Says how a token gets a permission: a job's by the workflow, a person's where it was made.
fn grant(env: &Env) -> &'static str {
    if env.text(env::GITHUB_ACTIONS).is_some() {
        "grant it under the job's `permissions` if runs are to do this"
    } else {
        "only this token lacks it: in a workflow the job's `permissions` decide"
    }
}

/// Sees whether the configured model has a key and a way, and whether it answers.
async fn models(process: &Process, asked: Model) -> Finding {
    const ABOUT: &str = "model";
    let settings = &process.agent.settings;
    let named = settings.model();
    let name = named.as_deref().unwrap_or("the one of `opencode-config`");
    match (settings.models(), asked) {
        (Err(fault), _) => Finding::bad(ABOUT, &fault),
        (Ok(_), Model::Skipped) => Finding::good(ABOUT, format!("{name}: was not asked")),
        (Ok(_), Model::Asked) => match fro_agent::try_model(&process.agent).await {
            Ok(model) => Finding::good(ABOUT, format!("{model} answers; its key stays with the harness")),
            Err(fault) => Finding::bad(ABOUT, &fault),
        },
    }
}

/// Installs the engine, as a run would.
async fn engine(process: &Process, occasion: &Occasion, waiting: &Waiting) -> Finding {
    const ABOUT: &str = "engine";
    let (wanted, cache) = match process.agent.tools(occasion.checkout.clone()) {
        Ok(tools) => tools,
        Err(fault) => return Finding::bad(ABOUT, &fault),
    };
    let progress = &mut |progress: InstallProgress| waiting.installs(&progress);
    match fro_opencode::install(&wanted, &cache, progress).await {
        Ok(engine) => {
            Finding::good(ABOUT, format!("OpenCode {} at {}", engine.version, engine.binary.display()))
        }
        Err(error) => Finding::bad(ABOUT, &error.fault()),
    }
}

/// Sees where the memory can go without S3.
fn cache(env: &Env) -> Finding {
    const ABOUT: &str = "cache";
    const S3: &str = "keep the memory in S3 (`s3-backup`)";
    match (env.text(env::GITHUB_ACTIONS), env.text(env::ACTIONS_RESULTS_URL)) {
        (_, Some(_)) => {}
        (None, None) => {
            let says =
                "the Actions cache is there in workflows only; here the memory is kept in `FRO_MEMORY` or S3";
            return Finding::good(ABOUT, says);
        }
        (Some(_), None) => {
            let says = "this step is no action, so the Actions cache cannot be seen";
            return Finding::doubtful(ABOUT, says, S3);
        }
    }
    if env.text(env::ACTIONS_CACHE_SERVICE_V2).is_none() {
        return Finding::doubtful(ABOUT, "this GitHub server has only version 1 of the cache service", S3);
    }
    match env.text(env::ACTIONS_CACHE_MODE) {
        Some("write") | None => Finding::good(ABOUT, "the Actions cache can be read and written"),
        Some(mode) => Finding::doubtful(
            ABOUT,
            format!("the Actions cache is in the mode `{mode}`, so that nothing new is remembered"),
            "set `cache-mode: write` on the job, or keep the memory in S3 (`s3-backup`)",
        ),
    }
}

/// Puts the walls up around a thread, and what can stand around them around a process.
async fn walls() -> Finding {
    let walls = probe().and_then(|walls| walls.suffice(Strictness::Required).map(|()| walls));
    let enclosure = match settings::own_program() {
        Ok(program) => Enclosure::find(&program).await,
        Err(_) => Enclosure::Open,
    };
    match walls {
        Ok(walls) => Finding::good("walls", walls.within(enclosure).to_string()),
        Err(error) => Finding::bad("walls", &error.fault()),
    }
}
