//! `fro-bot run`: answers an event of your own, from this machine, as the action would.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use fro_core::{Fault, RepoName, say::log::harmless};
use tempfile::NamedTempFile;

use crate::{
    action,
    env::{self, Env},
    event_source::EventSource,
    inputs, local,
};

/// What is answered, and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    /// The event: JSON with `eventName`, `payload`, `repo` and `actor`
    #[arg(long, value_name = "FILE")]
    event: PathBuf,
    /// Set an input of the action; may be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::assignment)]
    inputs: Vec<(String, String)>,
}

const AFTER: &str = r#"The token is taken from MOCK_TOKEN, GITHUB_TOKEN or GH_TOKEN, the providers'
keys from OpenCode's own `auth.json`. What a workflow shows on the run's page is
printed here. Nothing is shared without `--input share=…`.

An event looks like this:

  {"eventName": "issue_comment", "actor": "maya",
   "repo": {"owner": "octo", "repo": "garden"},
   "payload": {"action": "created", "issue": {"number": 7},
               "comment": {"id": 99, "body": "@fro-bot why?",
                           "user": {"login": "maya"}}}}

Without writing anything on GitHub:

  fro-bot run --event event.json --input response-mode=none"#;

/// Runs once, as the action does.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let text = fs_err::read_to_string(&options.event)
        .map_err(|error| Fault::yours(error.to_string(), "`--event` names the file with the event"))?;
    let page = NamedTempFile::new()
        .map_err(|error| Fault::in_temporary_folder("cannot make a file for the run's page", &error))?;
    let inputs = options.inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env = surroundings(env, page.path()).with_inputs(inputs);
    if env.input("github-token").is_none() {
        return Err(Fault::yours(
            "there is no token to ask GitHub with",
            "set `GITHUB_TOKEN`, for instance to what `gh auth token` prints",
        ));
    }
    let origin = format!("the file `{}`", options.event.display());
    let happened = EventSource::made_up(&env, &origin, &text)?;
    if let (Some(repo), Some(remote)) = (happened.repo(), local::remote(&env).await) {
        belongs(&remote, &repo)?;
    }
    let ended = action::answer(happened).await;
    for line in fs_err::read_to_string(page.path()).unwrap_or_default().lines() {
        anstream::println!("{}", harmless(line));
    }
    ended
}

/// Checks that a checkout from this address is one of the event's repository: an agent that reads other files than
/// those it is asked about would answer in all good faith, and push them.
fn belongs(remote: &str, repo: &RepoName) -> Result<(), Fault> {
    let (owner, name) = local::owner_and_name(remote);
    if format!("{owner}/{name}").eq_ignore_ascii_case(&repo.to_string()) {
        return Ok(());
    }
    let here = if owner.is_empty() { name.to_owned() } else { format!("{owner}/{name}") };
    Err(Fault::yours(
        format!("the event is of {repo}, and this folder is a checkout of {}", harmless(&here)),
        format!(
            "run it in a clone of {repo}: `gh repo clone {repo}`, or name that folder in `GITHUB_WORKSPACE`"
        ),
    ))
}

/// Returns the environment as a runner would have it.
fn surroundings(env: &Env, page: &Path) -> Env {
    // What is tried out on somebody's machine is published only if they say so.
    let more = [("INPUT_SHARE", "false".to_owned()), (env::GITHUB_STEP_SUMMARY, page.display().to_string())];
    local::completed(env, &more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shared_from_this_machine_unless_somebody_asks() {
        let told = |asked: &[(&str, &str)]| {
            let env = Env::from_variables([("HOME", "/nowhere")]);
            let env = surroundings(&env, Path::new("page")).with_inputs(asked.iter().copied());
            env.input("share").map(str::to_owned)
        };
        assert_eq!(told(&[]).as_deref(), Some("false"));
        assert_eq!(told(&[("share", "auto")]).as_deref(), Some("auto"));
    }

    #[test]
    fn a_folder_of_another_repository_is_known_by_its_origin() {
        let garden = RepoName::parse("octo/garden").unwrap();
        for own in [
            "https://github.com/octo/garden.git",
            "https://maya@github.com/Octo/Garden/",
            "git@github.com:octo/garden.git",
            "ssh://git@ghe.example:2222/octo/garden",
            "/srv/git/octo/garden.git",
        ] {
            assert!(belongs(own, &garden).is_ok(), "{own}");
        }
        for other in ["git@github.com:maya/garden.git", "https://github.com/octo/gardener", "garden"] {
            assert!(belongs(other, &garden).is_err(), "{other}");
        }
    }
}
