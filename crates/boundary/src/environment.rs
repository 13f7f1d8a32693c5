//! The engine's environment: an allow-list of the host's variables and what the caller adds.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use crate::toolbox::Toolbox;

/// The variables that the engine is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Every variable by its name; the engine gets no other.
    pub variables: BTreeMap<OsString, OsString>,
    /// How many of the host's variables were left out.
    pub removed: usize,
}

/// Returns the variables for an engine that finds its programs in `tools`.
///
/// `extra` is the engine's own, its home and its switches, and wins over everything else. Of the host only what is
/// named in this file goes in: a list of what to keep out would miss the next secret.
pub fn environment(
    host: impl IntoIterator<Item = (OsString, OsString)>,
    tools: &Toolbox,
    extra: impl IntoIterator<Item = (OsString, OsString)>,
) -> Environment {
    let (kept, removed): (Vec<_>, Vec<_>) = host.into_iter().partition(|(name, _)| is_kept(name));
    let mut variables: BTreeMap<OsString, OsString> = tools.variables().collect();
    variables.extend(kept);
    variables.insert("PATH".into(), tools.path());
    variables.extend(GIT.map(|(name, value)| (name.into(), value.into())));
    variables.extend(extra);
    tracing::debug!(removed = removed.len(), "left {} variables of the host out", removed.len());
    Environment { variables, removed: removed.len() }
}

/// The machine's git configuration may hold credentials, and a question at a prompt waits for ever.
const GIT: [(&str, &str); 2] = [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_TERMINAL_PROMPT", "0")];

/// Words about the place, never about its keys.
///
/// The locale categories are spelt out: `LC_` is also the prefix that people smuggle other values
/// through ssh with. Without `RUNNER_TRACKING_ID` the Actions runner does not clean up after the
/// engine when everything else failed.
const KEPT: &[&str] = &[
    "CI",
    "DOTNET_ROOT",
    "GOROOT",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "RUNNER_TRACKING_ID",
    "RUSTUP_HOME",
    "TERM",
    "TZ",
];

fn is_kept(name: &OsStr) -> bool {
    KEPT.iter().any(|kept| name == *kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(OsString, OsString)> {
        text.lines().filter_map(|line| line.split_once('=')).map(|(n, v)| (n.into(), v.into())).collect()
    }

    fn shown(environment: &Environment) -> String {
        let line =
            |(name, value): (&OsString, &OsString)| format!("{}={}\n", name.display(), value.display());
        environment.variables.iter().map(line).collect()
    }

    #[test]
    fn a_job_of_the_actions_runner_keeps_its_secrets() {
        let host = pairs(
            "HOME=/home/runner\nPATH=/usr/bin:/bin\nLANG=C.UTF-8\nLC_ALL=C\nLC_TOKEN=s1\nCI=true\nTERM=xterm\n\
             RUNNER_TRACKING_ID=github_4711\nGITHUB_TOKEN=s2\nGH_TOKEN=s3\nINPUT_AUTH-JSON=s4\nTZ=UTC\n\
             ACTIONS_RUNTIME_TOKEN=s5\nACTIONS_ID_TOKEN_REQUEST_TOKEN=s6\nAWS_SECRET_ACCESS_KEY=s7\n\
             GIT_CONFIG_GLOBAL=/home/runner/.gitconfig\nGIT_ASKPASS=/x\nHTTPS_PROXY=http://user:s8@proxy\n\
             LD_PRELOAD=/x.so\nNODE_OPTIONS=--require=/x.js\nBASH_ENV=/x.sh\nSSH_AUTH_SOCK=/run/agent",
        );
        let tools = Toolbox::from_path("/usr/bin:/bin".as_ref(), &[], |path| Some(path.to_owned()));
        let tools = tools.with_first("/tools/rg");
        let extra = pairs("ENGINE_SWITCH=1");

        let environment = environment(host, &tools, extra);

        insta::assert_snapshot!(shown(&environment), @r"
        CI=true
        ENGINE_SWITCH=1
        GIT_CONFIG_NOSYSTEM=1
        GIT_TERMINAL_PROMPT=0
        LANG=C.UTF-8
        LC_ALL=C
        PATH=/tools/rg:/usr/bin:/bin
        RUNNER_TRACKING_ID=github_4711
        TERM=xterm
        TZ=UTC
        ");
        assert_eq!(environment.removed, 16);
    }

    #[test]
    fn the_engine_s_own_switches_win() {
        let extra = pairs("TERM=dumb\nHOME=/elsewhere");

        let environment = environment(pairs("TERM=xterm"), &Toolbox::default(), extra);

        assert_eq!(environment.variables.get(OsStr::new("TERM")), Some(&"dumb".into()));
        assert_eq!(environment.variables.get(OsStr::new("HOME")), Some(&"/elsewhere".into()));
    }
}
