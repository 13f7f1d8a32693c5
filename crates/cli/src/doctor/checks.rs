//! The examinations themselves, each of one thing.

use fro_agent::Settings;
use fro_boundary::{Enclosure, Strictness, probe};
use fro_github::Rights;
use fro_run::{Occasion, Process, REPO_SETTINGS};
use jiff::Timestamp;

use super::{Finding, Health, bucket};
use crate::{
    env::{self, Env},
    settings,
};

/// The event of most runs.
const EVENT: &str = "issue_comment";

/// Examines everything, in the order in which a run would need it.
pub(crate) async fn all(env: &Env) -> Vec<Finding> {
    let mut findings = Vec::new();
    match settings::of_action(env, EVENT, String::new(), Timestamp::now()) {
        Ok((settings, occasion)) => {
            let process = Process::new(settings);
            findings.push(Finding::good("inputs", "all of them can be read"));
            let token = token(&process, &occasion).await;
            let is_good = token.iter().all(|finding| finding.health != Health::Bad);
            findings.extend(token);
            if is_good {
                findings.push(repo_file(env, &process, &occasion).await);
            }
            findings.push(models(&process.agent.settings));
            findings.push(engine(&process, &occasion).await);
            findings.extend(bucket::rights(&process.agent.settings).await);
        }
        Err(fault) => findings.push(Finding::bad("inputs", &fault)),
    }
    findings.push(cache(env));
    findings.push(walls().await);
    findings
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

/// Sees whether the configured model has a key and a way.
fn models(settings: &Settings) -> Finding {
    let model = settings.engine.model.as_deref().unwrap_or("the one of `opencode-config`");
    match settings.models() {
        Ok(_) if settings.engine.keys.secrets().is_empty() => Finding::doubtful(
            "model",
            format!("{model}: no key is given for it, and few providers answer without"),
            "put the provider's key into a secret and that into the input `auth-json`",
        ),
        Ok(_) => Finding::good("model", format!("{model}: its key stays with the harness")),
        Err(fault) => Finding::bad("model", &fault),
    }
}

/// Installs the engine, as a run would.
async fn engine(process: &Process, occasion: &Occasion) -> Finding {
    const ABOUT: &str = "engine";
    let (wanted, cache) = match process.agent.tools(occasion.checkout.clone()) {
        Ok(tools) => tools,
        Err(fault) => return Finding::bad(ABOUT, &fault),
    };
    match fro_opencode::install(&wanted, &cache, &mut |_| {}).await {
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
    if env.text(env::ACTIONS_RESULTS_URL).is_none() {
        return Finding::doubtful(
            ABOUT,
            "this is no step of an action, so the Actions cache cannot be seen",
            S3,
        );
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
