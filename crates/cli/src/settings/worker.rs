//! The settings of a worker, which serves many repositories: the same inputs, for one of them at a time.

use std::path::PathBuf;

use fro_agent::Elevated;
use fro_core::{Fault, RepoName, Secret, prompt::Wishes};
use fro_serve::WorkSettings;

use super::{File, Typed, owned};
use crate::env::{self, Env};

/// Reads the settings of a repository: its memory is below `memories`, if there are folders, and what its own file says
/// counts below the inputs.
pub(crate) fn of_worker(
    env: &Env,
    repo: &RepoName,
    (memories, file): (Option<PathBuf>, Option<&str>),
) -> Result<WorkSettings, Fault> {
    let folder = memories.map(|folder| folder.join(repo.owner()).join(repo.name()));
    let env = &env.with(folder.map(|folder| (env::FRO_MEMORY, folder)));
    let mut typed = Typed::new(env, file.map(File::parse).unwrap_or_default());
    let agent = typed.agent(Some(repo))?;
    let token = match (env.input("github-token"), &agent.elevated) {
        // The App gets a token for each repository.
        (None, Elevated::App(..)) => Some(Secret::new("")),
        (Some(_), _) | (None, Elevated::Token(_) | Elevated::None) => typed.token(),
    };
    let policy = typed.policy();
    if agent.memory.is_empty() {
        typed.complain("a thread goes on from the memory, and none is kept: set `FRO_MEMORY` or `s3-backup`");
    }
    let mode_instructions = typed.text("mode-instructions");
    let (Some(token), []) = (token, typed.complaints.as_slice()) else {
        return Err(typed.fault_with("fix them where the worker is started, and start it again"));
    };
    let agent = fro_agent::Settings { token, ..agent };
    let wishes = Wishes { mode_instructions, prompt: owned(env.input("prompt")) };
    Ok(WorkSettings { agent, policy, wishes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<WorkSettings, String> {
        let env = Env::from_variables(variables.iter().copied());
        let repo = RepoName::parse("octo/garden").unwrap();
        of_worker(&env, &repo, (None, None)).map_err(|fault| fault.what().to_owned())
    }

    #[test]
    fn a_worker_without_token_or_memory_says_so() {
        let told = read(&[]).err().unwrap();
        assert!(told.contains("`github-token` is empty") && told.contains("`FRO_MEMORY`"), "{told}");
    }

    #[test]
    fn each_repository_has_a_memory_of_its_own() {
        let variables = [("INPUT_GITHUB-TOKEN", "planted-token"), ("FRO_MEMORY", "elsewhere")];
        let (env, garden) = (Env::from_variables(variables), RepoName::parse("octo/garden").unwrap());
        let settings = of_worker(&env, &garden, (Some("memories".into()), None)).unwrap();
        assert_eq!(settings.agent.memory.folder, Some("memories/octo/garden".into()));
    }

    #[test]
    fn what_the_repository_s_own_file_says_counts() {
        let variables = [("INPUT_GITHUB-TOKEN", "planted-token"), ("FRO_MEMORY", "m")];
        let (env, garden) = (Env::from_variables(variables), RepoName::parse("octo/garden").unwrap());
        let settings = of_worker(&env, &garden, (None, Some("model = \"sim/tulip\""))).unwrap();
        assert_eq!(settings.agent.model().as_deref(), Some("sim/tulip"));
    }
}
