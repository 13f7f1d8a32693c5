//! The home of the engine: its own folders, its environment and the settings that no caller can undo.

use std::{
    ffi::{OsStr, OsString},
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use fs_err as fs;
use serde_json::{Value, json};

use crate::{omo::Omo, server::Launch};

/// What the guard says once it stands.
pub(crate) const GUARDED: &str = "fro-bot: the guard stands";

/// The engine's own folders below one root. Nothing of the machine's user is in them.
#[derive(Debug, Clone)]
pub struct EngineHome {
    root: PathBuf,
}

impl EngineHome {
    /// Names the folders; nothing is made yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The engine's home folder.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The engine's `XDG_DATA_HOME`, whose content is what is worth remembering.
    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    fn config(&self) -> PathBuf {
        self.root.join("config").join("opencode")
    }

    fn catalogue(&self) -> PathBuf {
        self.root.join("config").join("models.json")
    }

    fn guard(&self) -> PathBuf {
        self.root.join("config").join("guard.js")
    }

    /// Makes the folders.
    ///
    /// In a fresh configuration folder the engine would install a package of its own from the registry, and there is no
    /// switch against it; it does not if the folder looks as if that had been done.
    pub(crate) fn furnish(&self, launch: &Launch, config: &Value) -> io::Result<()> {
        let (version, omo) = (&launch.engine.version, launch.omo.as_ref());
        for (_, folder) in FOLDERS {
            DirBuilder::new().recursive(true).mode(0o700).create(self.root.join(folder))?;
        }
        fs::create_dir_all(self.config().join("node_modules"))?;
        fs::write(self.guard(), self.guard_text(config, omo))?;
        if let Some(omo) = omo {
            omo.furnish(self)?;
        }
        if let Some(catalogue) = &launch.catalogue {
            fs::write(self.catalogue(), catalogue.to_string())?;
        }
        let config = self.config();
        let package = json!({ "dependencies": { "@opencode-ai/plugin": version } });
        let lock = json!({ "lockfileVersion": 3, "packages": { "": package } });
        fs::write(config.join("package.json"), package.to_string())?;
        fs::write(config.join("package-lock.json"), lock.to_string())
    }

    /// Returns the guard. Where our own configuration names plugins, the engine may load what it installed for itself.
    fn guard_text(&self, config: &Value, omo: Option<&Omo>) -> String {
        let cache = has_plugins(config).then(|| self.root.join("cache"));
        let own = cache.as_deref().into_iter().chain(omo.map(Omo::code));
        let own: Vec<_> = own.map(|folder| format!("{}/", folder.display())).collect();
        include_str!("guard.js").replace("OWN_FOLDERS", &json!(own).to_string())
    }

    /// Returns the engine's whole environment: what it is given, then what is ours to say.
    pub(crate) fn environment(
        &self,
        launch: &Launch,
        config: &Value,
        password: &str,
    ) -> Vec<(OsString, OsString)> {
        let Launch { environment: given, engine, .. } = launch;
        let mut environment: Vec<_> = given.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
        let mut set = |name: &str, value: &OsStr| environment.push((name.into(), value.to_owned()));
        for (name, folder) in FOLDERS {
            set(name, self.root.join(folder).as_os_str());
        }
        set("PATH", &path(given, &engine.rg));
        for name in SWITCHES {
            set(name, OsStr::new("1"));
        }
        if launch.catalogue.is_some() {
            set("OPENCODE_MODELS_PATH", self.catalogue().as_os_str());
        }
        set("BUN_INSPECT_PRELOAD", self.guard().as_os_str());
        // Plugins are code. They load only if our own configuration names one.
        if !has_plugins(config) {
            set("OPENCODE_PURE", OsStr::new("1"));
        }
        // The question tool is offered to the engine's own clients alone.
        set("OPENCODE_CLIENT", OsStr::new("fro-bot"));
        if launch.people.is_some() {
            set("OPENCODE_ENABLE_QUESTION_TOOL", OsStr::new("1"));
        }
        set("OPENCODE_CONFIG_CONTENT", OsStr::new(&config.to_string()));
        set("OPENCODE_SERVER_PASSWORD", OsStr::new(password));
        environment
    }
}

/// The folders, and the variables by which the engine finds them.
const FOLDERS: [(&str, &str); 6] = [
    ("HOME", "home"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CACHE_HOME", "cache"),
    ("TMPDIR", "tmp"),
];

/// What the engine must not do by itself. A repository's own configuration runs code when it is loaded.
const SWITCHES: [&str; 8] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_SHARE",
];

fn has_plugins(config: &Value) -> bool {
    config.get("plugin").and_then(Value::as_array).is_some_and(|plugins| !plugins.is_empty())
}

fn is_ours(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let exactly = ["HOME", "PATH", "TMPDIR", "BUN_INSPECT_PRELOAD"];
    name.starts_with("OPENCODE_") || name.starts_with("XDG_") || exactly.contains(&&*name)
}

/// Puts the search tool in front, or else the engine would download its own.
fn path(given: &[(OsString, OsString)], rg: &Path) -> OsString {
    let folder = rg.parent().unwrap_or(rg);
    let rest = given.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    let mut path = folder.as_os_str().to_owned();
    for rest in rest.into_iter().filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::Engine;

    #[test]
    fn the_environment_is_the_given_one_with_ours_on_top() {
        let given = [
            ("PATH", "/usr/bin"),
            ("LANG", "C"),
            ("HOME", "/users/me"),
            ("OPENCODE_CONFIG", "/users/me/evil"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let engine = Engine {
            binary: "/tools/opencode".into(),
            rg: "/tools/rg/rg".into(),
            version: "1.2.3".to_owned(),
        };
        let home = EngineHome::at("/home");
        let launch = Launch {
            environment: given.to_vec(),
            catalogue: Some(json!({})),
            ..Launch::new(engine, "/clone", home.clone())
        };
        let environment = home.environment(&launch, &json!({}), "hunter2");
        let lines: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        LANG=C
        HOME=/home/home
        XDG_DATA_HOME=/home/data
        XDG_CONFIG_HOME=/home/config
        XDG_STATE_HOME=/home/state
        XDG_CACHE_HOME=/home/cache
        TMPDIR=/home/tmp
        PATH=/tools/rg:/usr/bin
        OPENCODE_DISABLE_PROJECT_CONFIG=1
        OPENCODE_DISABLE_CLAUDE_CODE=1
        OPENCODE_DISABLE_EXTERNAL_SKILLS=1
        OPENCODE_DISABLE_AUTOUPDATE=1
        OPENCODE_DISABLE_MODELS_FETCH=1
        OPENCODE_DISABLE_LSP_DOWNLOAD=1
        OPENCODE_DISABLE_DEFAULT_PLUGINS=1
        OPENCODE_DISABLE_SHARE=1
        OPENCODE_MODELS_PATH=/home/config/models.json
        BUN_INSPECT_PRELOAD=/home/config/guard.js
        OPENCODE_PURE=1
        OPENCODE_CLIENT=fro-bot
        OPENCODE_CONFIG_CONTENT={}
        OPENCODE_SERVER_PASSWORD=hunter2
        ");
    }
}
