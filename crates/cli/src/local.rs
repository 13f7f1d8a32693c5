//! Fills in on a developer's machine what a runner's environment would have: token, keys and repository.

use std::path::{Path, PathBuf};

use fro_core::{Fault, RepoName};

use crate::env::{self, Env};

/// Returns the environment with the token, the providers' keys and these variables, as far as it does not have them.
pub(crate) fn completed(env: &Env, more: &[(&str, String)]) -> Env {
    let token =
        [env::MOCK_TOKEN, env::GITHUB_TOKEN, env::GH_TOKEN].into_iter().find_map(|name| env.text(name));
    let keys = auth_json(env).and_then(|file| fs_err::read_to_string(file).ok());
    let found = [("INPUT_GITHUB-TOKEN", token.map(str::to_owned)), ("INPUT_AUTH-JSON", keys)];
    let found = found.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let all = found.chain(more.iter().map(|(name, value)| (*name, value.clone())));
    env.with(all.filter(|(name, _)| env.text(name).is_none()).collect::<Vec<_>>())
}

/// Returns the environment with the App's private key, if a file is named that has it.
pub(crate) fn with_key_file(env: &Env) -> Result<Env, Fault> {
    let Some(path) = env.text(env::PRIVATE_KEY_FILE) else { return Ok(env.clone()) };
    let key = fs_err::read_to_string(path).map_err(|error| {
        Fault::yours(
            format!("cannot read the App's private key: {error}"),
            format!("let `{}` name a file that this user can read", env::PRIVATE_KEY_FILE),
        )
    })?;
    Ok(env.with([("INPUT_PRIVATE-KEY", key)]))
}

/// Returns where OpenCode keeps the providers' keys of this user.
pub(crate) fn auth_json(env: &Env) -> Option<PathBuf> {
    let data = env.text(env::XDG_DATA_HOME).map(PathBuf::from);
    let data = data.or_else(|| env.text(env::HOME).map(|home| Path::new(home).join(".local/share")));
    data.map(|data| data.join("opencode/auth.json"))
}

/// Returns the address that the checkout came from, if it is one and came from anywhere.
pub(crate) async fn remote(env: &Env) -> Option<String> {
    let folder = env.text(env::GITHUB_WORKSPACE).unwrap_or(".");
    let mut git = tokio::process::Command::new("git");
    let printed = git.args(["-C", folder, "remote", "get-url", "origin"]).output().await.ok()?;
    let url = String::from_utf8(printed.stdout).ok()?.trim().to_owned();
    (printed.status.success() && !url.is_empty()).then_some(url)
}

/// Returns owner and name as an address ends with them; the owner of a bare name is empty.
pub(crate) fn owner_and_name(remote: &str) -> (&str, &str) {
    let path = remote.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = path.rsplit(['/', ':']);
    let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (owner, name)
}

/// Returns the repository that the checkout came from.
pub(crate) async fn repo(env: &Env) -> Option<RepoName> {
    let remote = remote(env).await?;
    let (owner, name) = owner_and_name(&remote);
    RepoName::parse(&format!("{owner}/{name}")).ok()
}
