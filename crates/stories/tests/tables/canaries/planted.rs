//! What is planted: a canary in everything that the harness can read and the agent must not.

use std::{
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use fro_sim::state::Token;
use fro_stories::{Mention, REPO, Sim};
use serde_json::json;

/// Names of canaries that are somewhere in their place.
pub(super) const JOB: &str = "the job's token";
pub(super) const PERSON: &str = "a person's token";
pub(super) const APP: &str = "the App's token";
pub(super) const KEY: &str = "the model's key";
pub(super) const HEADER: &str = "a header for the provider";
pub(super) const RUNTIME: &str = "the runtime's token";
pub(super) const PASSWORD: &str = "the engine's password";

/// As what delegated work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elevated {
    App,
    Person,
}

/// What was planted: names for people, and values that nothing else has.
pub(super) struct Canaries {
    planted: Vec<(&'static str, String)>,
    pub(super) targets: Vec<PathBuf>,
}

impl Canaries {
    /// Plants a canary in every file that the harness reads and the agent must not.
    pub(super) fn plant(sim: &Sim) -> Self {
        let mut canaries = Self { planted: Vec::new(), targets: Vec::new() };
        let (runner, home) = (sim.folder().join("runner folder"), sim.folder().join("home"));
        fs_err::create_dir_all(&runner).unwrap();
        fs_err::create_dir_all(home.join(".ssh")).unwrap();
        for (name, file) in [
            ("a file of the runner", runner.join("closed")),
            ("a key in the runner's home", home.join(".ssh/id_rsa")),
            ("another's temporary file", sim.folder().join("temporary")),
        ] {
            let value = canaries.add(name);
            fs_err::write(&file, value).unwrap();
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            canaries.targets.push(file);
        }
        canaries.targets.push(runner);
        canaries.targets.push(sim.checkout().join(".git/config"));
        let value = canaries.add("a credential of the checkout");
        let config = sim.checkout().join(".git/config");
        let text = fs_err::read_to_string(&config).unwrap();
        let header = format!("[http]\n\textraheader = Authorization: basic {value}\n");
        fs_err::write(&config, text + &header).unwrap();
        canaries
    }

    /// Makes a new canary.
    pub(super) fn add(&mut self, name: &'static str) -> String {
        let mut bytes = [0; 16];
        fs_err::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
        let value = format!("canary-{}", HEXLOWER.encode(&bytes));
        self.planted.push((name, value.clone()));
        value
    }

    /// Lets somebody ask where every credential of the run is a canary, and the event holds one.
    pub(super) fn asking<'a>(&mut self, sim: &'a Sim, text: &str, elevated: Elevated) -> Mention<'a> {
        let comment = sim.world().write_comment(REPO, fro_stories::ISSUE, "maya", text);
        let mut event = sim.world().comment_event(REPO, comment);
        event["planted"] = json!(self.add("the event"));
        let file = sim.folder().join(format!("event-{comment}.json"));
        self.targets.push(file);
        self.equip(sim, sim.event("issue_comment", &event, comment), elevated)
    }

    /// Gives the run its credentials, each of them a canary.
    pub(super) fn equip<'a>(
        &mut self,
        sim: &'a Sim,
        mention: Mention<'a>,
        elevated: Elevated,
    ) -> Mention<'a> {
        let token = self.token(sim, JOB, "fro-bot");
        let key = self.add(KEY);
        sim.model().accepts_only(&key);
        let mut provider = sim.model().provider();
        let options = &mut provider["provider"]["scripted"]["options"];
        options["apiKey"] = json!(key);
        options["headers"] = json!({ "x-planted": self.add(HEADER) });
        let keys = json!({ "openai": { "type": "api", "key": self.add("a key of auth-json") } });
        let mention = mention
            .with("github-token", &token)
            .with("opencode-config", &provider.to_string())
            .with("auth-json", &keys.to_string());
        let mention = [
            ("AWS_ACCESS_KEY_ID", "the name of S3's key"),
            ("AWS_SECRET_ACCESS_KEY", "S3's key"),
            ("AWS_SESSION_TOKEN", "S3's session"),
            ("ACTIONS_RUNTIME_TOKEN", RUNTIME),
            ("SOMETHING_ELSE", "a variable that no rule knows"),
        ]
        .into_iter()
        .fold(mention, |mention, (variable, name)| mention.variable(variable, self.add(name)));
        match elevated {
            Elevated::App => {
                let key = sim.world().app_key();
                let line = key.lines().nth(3).unwrap().to_owned();
                self.planted.push(("the App's private key", line));
                mention.with("app-id", "482113").with("private-key", key)
            }
            Elevated::Person => {
                let token = self.token(sim, PERSON, "octo");
                mention.with("elevated-token", &token)
            }
        }
    }

    /// Gives somebody a token that is a canary.
    fn token(&mut self, sim: &Sim, name: &'static str, login: &str) -> String {
        let (text, usual) = (self.add(name), sim.world().token(login));
        sim.world().change(|state| {
            let own = state.tokens.iter().find(|token| token.text == usual).cloned();
            state.tokens.push(Token { text: text.clone(), ..own.unwrap() });
        });
        text
    }

    /// Takes the tokens that the App was given meanwhile for canaries.
    pub(super) fn add_installations(&mut self, sim: &Sim) {
        let given = sim.world().state(|state| {
            let given = state.tokens.iter().filter(|token| token.grant.is_some());
            given.map(|token| token.text.clone()).collect::<Vec<_>>()
        });
        self.planted.extend(given.into_iter().map(|token| (APP, token)));
    }

    /// Takes the engine's password for one, which the agent has told: it is nobody else's.
    pub(super) fn add_password(&mut self, password: &str) {
        self.planted.push((PASSWORD, password.to_owned()));
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.planted.len()
    }

    /// Returns the names of the canaries that are in a text as they are.
    pub(super) fn seen_in(&self, text: &str) -> Vec<&'static str> {
        let seen = self.planted.iter().filter(|(_, value)| text.contains(value.as_str()));
        seen.map(|(name, _)| *name).collect()
    }

    /// Writes all of them down for whoever looks for them.
    pub(super) fn write(&self, file: &Path) {
        let lines: Vec<_> = self.planted.iter().map(|(_, value)| value.as_str()).collect();
        fs_err::write(file, lines.join("\n")).unwrap();
    }
}
