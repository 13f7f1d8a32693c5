//! Every environment variable that this program reads, in one place.
//!
//! The environment is captured once, at the start of `main`; everything else gets values.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use fro_core::Secret;

/// The environment at the start.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    variables: Vec<(OsString, OsString)>,
}

macro_rules! variables {
    ($($(#[$about:meta])+ $constant:ident = $name:literal;)+) => {
        $($(#[$about])+ pub(crate) const $constant: &str = $name;)+
    };
}

variables! {
    /// The name of the event that started the workflow.
    GITHUB_EVENT_NAME = "GITHUB_EVENT_NAME";
    /// The file with the event's payload.
    GITHUB_EVENT_PATH = "GITHUB_EVENT_PATH";
    /// Where GitHub's REST API answers.
    GITHUB_API_URL = "GITHUB_API_URL";
    /// Where GitHub's GraphQL API answers.
    GITHUB_GRAPHQL_URL = "GITHUB_GRAPHQL_URL";
    /// Where people find GitHub's pages.
    GITHUB_SERVER_URL = "GITHUB_SERVER_URL";
    /// The repository, `owner/name`.
    GITHUB_REPOSITORY = "GITHUB_REPOSITORY";
    /// The repository of the action that runs, `owner/name`; empty where the action lies in the checkout.
    GITHUB_ACTION_REPOSITORY = "GITHUB_ACTION_REPOSITORY";
    /// Who set the workflow off.
    GITHUB_ACTOR = "GITHUB_ACTOR";
    /// The file behind the run's page.
    GITHUB_STEP_SUMMARY = "GITHUB_STEP_SUMMARY";
    /// The file that takes outputs of the step.
    GITHUB_OUTPUT = "GITHUB_OUTPUT";
    /// The file that takes folders for the `PATH` of later steps.
    GITHUB_PATH = "GITHUB_PATH";
    /// The file that takes what the step after the run should know.
    GITHUB_STATE = "GITHUB_STATE";
    /// What the run left for the step after it: its private folder.
    STATE_PRIVATE = "STATE_private";
    /// The workflow run's id.
    GITHUB_RUN_ID = "GITHUB_RUN_ID";
    /// Which attempt of the workflow run this is.
    GITHUB_RUN_ATTEMPT = "GITHUB_RUN_ATTEMPT";
    /// The branch or tag of the workflow run.
    GITHUB_REF_NAME = "GITHUB_REF_NAME";
    /// The checkout.
    GITHUB_WORKSPACE = "GITHUB_WORKSPACE";
    /// `true` inside a workflow run; log lines then use the runner's commands.
    GITHUB_ACTIONS = "GITHUB_ACTIONS";
    /// Set to anything, it keeps colours out of the log.
    NO_COLOR = "NO_COLOR";
    /// The runner's folder for tools that are kept between runs.
    RUNNER_TOOL_CACHE = "RUNNER_TOOL_CACHE";
    /// The runner's folder for temporary files.
    RUNNER_TEMP = "RUNNER_TEMP";
    /// The runner's operating system.
    RUNNER_OS = "RUNNER_OS";
    /// Where the cache service of GitHub Actions answers.
    ACTIONS_RESULTS_URL = "ACTIONS_RESULTS_URL";
    /// The run's token for the cache service.
    ACTIONS_RUNTIME_TOKEN = "ACTIONS_RUNTIME_TOKEN";
    /// Set where the cache service speaks its second version.
    ACTIONS_CACHE_SERVICE_V2 = "ACTIONS_CACHE_SERVICE_V2";
    /// What the run may do with the cache: `read`, `write-only` or `none`.
    ACTIONS_CACHE_MODE = "ACTIONS_CACHE_MODE";
    /// The region of the bucket, unless an input names it.
    AWS_REGION = "AWS_REGION";
    /// The region of the bucket, unless anything else names it.
    AWS_DEFAULT_REGION = "AWS_DEFAULT_REGION";
    /// The user's cache folder.
    XDG_CACHE_HOME = "XDG_CACHE_HOME";
    /// The proxy for real models in the demo.
    #[cfg(feature = "demo")]
    HTTPS_PROXY = "HTTPS_PROXY";
    /// The same, as most programs write it.
    #[cfg(feature = "demo")]
    HTTPS_PROXY_IN_SMALL = "https_proxy";
    /// The hosts that are met without it.
    #[cfg(feature = "demo")]
    NO_PROXY = "NO_PROXY";
    /// The user's home folder.
    HOME = "HOME";
    /// The folder that keeps the memory between runs; without it there is none.
    FRO_MEMORY = "FRO_MEMORY";
    /// Where the daemon keeps what it knows: a path, or a URL of Postgres.
    FRO_STORE = "FRO_STORE";
    /// The token of the Discord bot, for `fro-bot serve` alone.
    FRO_DISCORD_TOKEN = "FRO_DISCORD_TOKEN";
    /// A file with the first roles of each Discord server, for `fro-bot serve`.
    FRO_ROLES = "FRO_ROLES";
    /// Where Discord's REST API answers, if not at Discord.
    FRO_DISCORD_API = "FRO_DISCORD_API";
    /// Where Discord's gateway answers, if not at Discord.
    FRO_DISCORD_GATEWAY = "FRO_DISCORD_GATEWAY";
    /// Where a process of the daemon answers `/healthz` and `/metrics`: a port of this machine, or `ADDRESS:PORT`.
    FRO_METRICS = "FRO_METRICS";
    /// The same for the worker that `fro-bot serve` starts.
    FRO_WORKER_METRICS = "FRO_WORKER_METRICS";
    /// Where `fro-bot serve` and `fro-bot view` show the operators' page: a port of this machine, or `ADDRESS:PORT`.
    FRO_PAGE = "FRO_PAGE";
    /// What the operators' page asks for as a password.
    FRO_PAGE_TOKEN = "FRO_PAGE_TOKEN";
    /// How many megabytes of memory one engine of a worker may take.
    FRO_ENGINE_MEMORY = "FRO_ENGINE_MEMORY";
    /// The client id of the GitHub App by which people show their account; no secret.
    FRO_GITHUB_CLIENT_ID = "FRO_GITHUB_CLIENT_ID";
    /// How long, in milliseconds, to wait before GitHub or a model that broke off is asked again; a list such as `30000,60000,120000`.
    FRO_RETRY_DELAYS = "FRO_RETRY_DELAYS";
    /// How long, in milliseconds, GitHub may take for one answer.
    FRO_REQUEST_TIMEOUT = "FRO_REQUEST_TIMEOUT";
    /// How long, in milliseconds, a run waits for Oh My OpenCode before it goes on without: a minute if it is not set.
    FRO_OMO_PATIENCE = "FRO_OMO_PATIENCE";
    /// Where attached files are kept on a GitHub of one's own, such as `https://media.ghe.example`; a list.
    FRO_ATTACHMENT_STORES = "FRO_ATTACHMENT_STORES";
    /// What this program is started as: `agent`, which is the usual, or `review`, as `review/main.mjs` says.
    FRO_ROLE = "FRO_ROLE";
    /// `true` on runners; made-up events do not count there.
    CI = "CI";
    /// A made-up event as JSON: `eventName`, `payload`, `repo`, `actor`.
    MOCK_EVENT = "MOCK_EVENT";
    /// The token for a made-up event.
    MOCK_TOKEN = "MOCK_TOKEN";
    /// A token, for `fro-bot run`.
    GITHUB_TOKEN = "GITHUB_TOKEN";
    /// A token, for `fro-bot run`, as `gh` calls it.
    GH_TOKEN = "GH_TOKEN";
    /// The user's data folder, where OpenCode keeps its keys.
    XDG_DATA_HOME = "XDG_DATA_HOME";
    /// How the log is written: `json` is one object per line, everything else lines for people.
    FRO_LOG_FORMAT = "FRO_LOG_FORMAT";
    /// Where sessions are shared; the host of the engine's makers without it.
    FRO_SHARE_URL = "FRO_SHARE_URL";
    /// Set by `--quiet`: only results, warnings and errors are printed.
    FRO_QUIET = "FRO_QUIET";
    /// How much the crates tell of their work, such as `info` or `fro_opencode=debug`; only warnings without it.
    FRO_LOG = "FRO_LOG";
    /// A file with the private key of the App, where a variable of several lines is hard to write.
    PRIVATE_KEY_FILE = "INPUT_PRIVATE_KEY_FILE";
    /// A file with the certificate authorities to trust in place of the machine's, as most programs read it.
    SSL_CERT_FILE = "SSL_CERT_FILE";
    /// A file with certificate authorities to trust beside the others, as node and npm read it.
    NODE_EXTRA_CA_CERTS = "NODE_EXTRA_CA_CERTS";
}

/// How variables begin that are inputs of the action.
const INPUT: &str = "INPUT_";

impl Env {
    /// Takes the environment as it is now.
    pub(crate) fn capture() -> Self {
        Self::from_variables(env::vars_os())
    }

    /// Takes the given variables for the environment.
    pub(crate) fn from_variables<K: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self { variables: variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect() }
    }

    /// Returns the same environment, but for these inputs of the action.
    pub(crate) fn with_inputs<'a>(&self, inputs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.with(inputs.into_iter().map(|(name, value)| (input_variable(name), value)))
    }

    /// Returns the same environment, but for these variables.
    pub(crate) fn with<K: Into<OsString>, V: Into<OsString>>(
        &self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let given = Self::from_variables(variables);
        Self { variables: [given.variables, self.variables.clone()].concat() }
    }

    /// Returns a variable that is set and not empty.
    ///
    /// A runner keeps the hyphens of an input's name. systemd and shells take no such variable, so one that is not there at
    /// all is looked for with underscores.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let in_shells = || name.starts_with(INPUT).then(|| self.os(&name.replace('-', "_"))).flatten();
        self.os(name).or_else(in_shells).and_then(OsStr::to_str).filter(|value| !value.is_empty())
    }

    /// Returns an input of the action. The runner keeps hyphens and writes the name in capitals.
    pub(crate) fn input(&self, name: &str) -> Option<&str> {
        self.text(&input_variable(name)).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Returns the files with certificate authorities that the machine does not have.
    pub(crate) fn authorities(&self) -> Vec<PathBuf> {
        [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS]
            .into_iter()
            .filter_map(|name| self.text(name))
            .map(PathBuf::from)
            .collect()
    }

    /// Returns the variables whose names begin like this, for those that are a family.
    pub(crate) fn starting_with(&self, beginning: &str) -> impl Iterator<Item = (String, String)> {
        let texts = self.variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let family = texts.filter(move |(name, value)| name.starts_with(beginning) && !value.is_empty());
        family.map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// Returns the values of all variables whose names say that they are credentials, ours or not, and the passwords of
    /// all addresses.
    pub(crate) fn credentials(&self) -> Vec<Secret> {
        let named = self.starting_with("").filter(|(name, value)| is_credential(&name.to_uppercase(), value));
        let named = named.map(|(_, value)| value);
        let in_addresses = self.starting_with("").filter_map(|(_, value)| password(&value));
        named.chain(in_addresses.flatten()).map(Secret::new).collect()
    }

    /// Returns all variables.
    pub(crate) fn all(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    fn os(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}

/// Tells whether a variable of this name, in capitals, holds a credential.
fn is_credential(name: &str, value: &str) -> bool {
    const WORDS: [&str; 11] = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "PRIVATE",
        "ACCESS_KEY",
        "APIKEY",
        "CONNECTION_STRING",
        "CONNECTIONSTRING",
    ];
    // Every provider of models has its `…_API_KEY`, and many services a `…_KEY`; a short one names a cache or a field.
    let is_key = name.ends_with("API_KEY")
        || ((name.ends_with("_KEY") || name.ends_with("-KEY")) && value.len() >= 20);
    !name.contains("PUBLIC") && (is_key || WORDS.iter().any(|word| name.contains(word)))
}

/// Returns the password in an address such as `DATABASE_URL`, as it is written and with the address around it.
fn password(value: &str) -> Option<[String; 2]> {
    let (_, rest) = value.split_once("://")?;
    let (signed_in, _) = rest.split_once(['/', '?', '#']).unwrap_or((rest, "")).0.rsplit_once('@')?;
    let (_, password) = signed_in.split_once(':')?;
    (!password.is_empty()).then(|| [password.to_owned(), value.to_owned()])
}

fn input_variable(name: &str) -> String {
    format!("{INPUT}{}", name.replace(' ', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_told_by_its_name() {
        let env = Env::from_variables([
            ("INPUT_GITHUB-TOKEN", "planted-1"),
            ("AWS_SECRET_ACCESS_KEY", "planted-2"),
            ("AWS_ACCESS_KEY_ID", "planted-3"),
            ("npm_config_password", "planted-4"),
            ("OPENAI_API_KEY", "planted-5"),
            ("INPUT_ANTHROPIC-API-KEY", "planted-6-that-is-long"),
            ("AZURE_OPENAI_KEY", "planted-7-that-is-long"),
            ("AWS_REGION", "eu-central-1"),
            ("CACHE_KEY", "linux-stable"),
            ("SSH_PUBLIC_KEY", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"),
        ]);
        let credentials = env.credentials();
        let told: Vec<_> = credentials.iter().map(Secret::expose).collect();
        let [five, six, seven] = ["planted-5", "planted-6-that-is-long", "planted-7-that-is-long"];
        assert_eq!(told, ["planted-1", "planted-2", "planted-3", "planted-4", five, six, seven]);
    }

    #[test]
    fn an_input_may_be_written_as_shells_and_systemd_take_it() {
        let env = Env::from_variables([
            ("INPUT_APP_ID", "12"),
            ("INPUT_AUTH-JSON", "{}"),
            ("INPUT_AUTH_JSON", "ignored"),
            ("INPUT_S3-BUCKET", ""),
            ("INPUT_S3_BUCKET", "ignored"),
        ]);
        let told = ["app-id", "auth-json", "s3-bucket", "private-key"].map(|name| env.input(name));
        // What a runner sets counts, and it sets every input that the action has.
        assert_eq!(told, [Some("12"), Some("{}"), None, None]);
        assert_eq!(env.with_inputs([("app-id", "13")]).input("app-id"), Some("13"));
    }

    #[test]
    fn a_password_in_an_address_is_one_whatever_the_variable_is_called() {
        let told = |value: &str| {
            let credentials = Env::from_variables([("DATABASE_URL", value)]).credentials();
            credentials.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>()
        };
        for address in ["postgres://garden:pl@nted-1@db.example:5432/garden", "amqp://a:pl@nted-1@queue?x=@y"]
        {
            assert_eq!(told(address), ["pl@nted-1", address]);
        }
        for address in
            ["postgres://db.example/garden", "https://maya@github.example/a:b@c", "sqlite:garden.db"]
        {
            assert_eq!(told(address), Vec::<String>::new(), "{address}");
        }
    }
}
