//! Oh My OpenCode, loaded by us rather than by its installer: where it is, and settings that keep it to this run's
//! model, off the network and out of the way of our own session tools.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use fs_err as fs;
use serde_json::{Map, Value, json};

use crate::engine_home::EngineHome;

/// The plugin, as an engine is started with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omo {
    /// The folder it was installed into.
    pub folder: PathBuf,
    /// The model that all of its agents ask; without one it would look for models of its own choice.
    pub model: Option<String>,
}

/// Its agents, as its settings call them.
const AGENTS: [&str; 11] = [
    "sisyphus",
    "hephaestus",
    "sisyphus-junior",
    "prometheus",
    "metis",
    "momus",
    "oracle",
    "librarian",
    "explore",
    "multimodal-looker",
    "atlas",
];

/// Its categories of work, which name models, too.
const CATEGORIES: [&str; 8] = [
    "visual-engineering",
    "ultrabrain",
    "deep",
    "artistry",
    "quick",
    "unspecified-low",
    "unspecified-high",
    "writing",
];

/// What it would make of a repository's files: orders to the agent, or programs to run.
const OBEYING_HOOKS: [&str; 5] = [
    "claude-code-hooks",
    "directory-agents-injector",
    "directory-readme-injector",
    "hephaestus-agents-md-injector",
    "rules-injector",
];

/// What it would download.
const FETCHING_HOOKS: [&str; 4] =
    ["ast-grep-sg-provision", "auto-update-checker", "codegraph-bootstrap", "comment-checker"];

impl Omo {
    /// Where it keeps notes of its own beside the files it works on, as git writes patterns.
    pub const NOTES: [&str; 2] = ["/.omo/", "/.sisyphus/"];

    /// Adds the plugin to the engine's configuration.
    pub(crate) fn join(&self, config: &mut Value) {
        let plugin = json!(self.folder);
        match config.get_mut("plugin").and_then(Value::as_array_mut) {
            Some(plugins) => plugins.push(plugin),
            None => config["plugin"] = json!([plugin]),
        }
    }

    /// Returns the folder that holds all of its code, and nothing else.
    ///
    /// It is the one above `node_modules`: who looks for a package lists that folder, and finds none if it may not.
    pub fn code(&self) -> &Path {
        self.folder.ancestors().nth(2).unwrap_or(&self.folder)
    }

    /// Writes its settings to where it looks for them.
    pub(crate) fn furnish(&self, home: &EngineHome) -> io::Result<()> {
        let folder = home.home().join(".omo");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("omo.jsonc"), json!({ "[opencode]": self.settings() }).to_string())
    }

    fn settings(&self) -> Value {
        let hooks = [OBEYING_HOOKS.as_slice(), &FETCHING_HOOKS].concat();
        let mut settings = json!({
            "auto_update": false,
            "telemetry": false,
            "disabled_mcps": ["websearch", "context7", "grep_app"],
            "disabled_tools": ["session_list", "session_search", "session_read", "session_info"],
            // It serves these on a port of its own, which the wall does not give.
            "disabled_skills": ["security-research", "security-review"],
            "disabled_hooks": hooks,
            "claude_code": {
                "mcp": false, "commands": false, "skills": false, "agents": false, "hooks": false, "plugins": false,
            },
            "codegraph": { "enabled": false },
            "git_master": { "commit_footer": false, "include_co_authored_by": false },
            "model_fallback": false,
        });
        if let Some(model) = &self.model {
            let all = |names: &[&str]| -> Map<String, Value> {
                names.iter().map(|name| ((*name).to_owned(), json!({ "model": model }))).collect()
            };
            settings["agents"] = Value::Object(all(&AGENTS));
            settings["categories"] = Value::Object(all(&CATEGORIES));
        }
        settings
    }

    /// Returns what its environment says about telling others.
    pub(crate) fn environment() -> [(OsString, OsString); 2] {
        [("OMO_DISABLE_POSTHOG", "1"), ("OMO_SEND_ANONYMOUS_TELEMETRY", "0")]
            .map(|(name, value)| (name.into(), value.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_joins_the_plugins_that_are_there() {
        let omo = Omo { folder: "/tools/omo/node_modules/oh-my-opencode".into(), model: None };
        let mut config = json!({ "plugin": ["mine"] });
        omo.join(&mut config);
        assert_eq!(config, json!({ "plugin": ["mine", "/tools/omo/node_modules/oh-my-opencode"] }));
        assert_eq!(omo.code(), Path::new("/tools/omo"));
    }
}
