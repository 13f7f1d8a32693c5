//! What only the reviewer is told: how it judges, and with whose key.

use fro_boundary::Keys;
use fro_core::{
    Login, Secret,
    gate::{Policy, Role},
};
use fro_review::{scoring::Thresholds, sensitivity::Declared, shown_change::Generated, web::SearchAddress};
use fro_run::{CheckRuns, ReviewSettings, WebSettings};
use serde_json::{Map, Value, json};

use super::{
    parse::{self, Instead},
    typed::Typed,
};
use crate::env::{self, Env};

/// What the reviewer is called if nobody says otherwise.
const NAME: &str = "review-my-code-bot";

/// Returns what we are: the launchers of `review/action.yaml` say so.
pub(crate) fn role(env: &Env) -> Role {
    match env.text(env::FRO_ROLE) {
        Some("review") => Role::Reviewer,
        Some(_) | None => Role::Agent,
    }
}

impl Typed<'_> {
    /// Returns what we are.
    pub(super) fn role(&self) -> Role {
        role(self.env)
    }

    /// Returns what holds for this role if nobody says otherwise.
    pub(super) fn usual_policy(&self) -> Policy {
        match self.role() {
            Role::Agent => Policy::usual(),
            Role::Reviewer => Policy { role: Role::Reviewer, mention: Login::new(NAME), ..Policy::usual() },
        }
    }

    /// Reads how the reviewer judges.
    pub(super) fn review(&mut self) -> ReviewSettings {
        let usual = Thresholds::default();
        let older = self.input("problem_threshold", u64::from(usual.problem.get()), number);
        let problem = self.input("problem_score_threshold", older, number);
        let elevation = self.input("score_elevation_threshold", usual.elevation as u64, number);
        let blocking = u64::from(usual.blocking.get()).max(problem.min(10));
        let blocking = self.input("blocking_score_threshold", blocking, number);
        let thresholds = Thresholds::new(problem, elevation, blocking).unwrap_or_else(|wrong| {
            self.complain(wrong);
            usual
        });
        ReviewSettings {
            thresholds,
            state_key: self.env.input("state_key").map(Secret::new),
            declared: self.input("sensitive_data", Declared::Unsaid, declared),
            generated: self.input("generated_files", Generated::Named, generated),
            check_runs: self.input("check_run", CheckRuns::Off, check_runs),
            web: self.web(),
        }
    }

    /// Reads what the model may read of the web.
    fn web(&mut self) -> Option<WebSettings> {
        let search = self.input("web_search_url", None, |text| SearchAddress::parse(text).map(Some));
        let enabled = self.input("enable_web", false, parse::yes_or_no);
        if search.is_some() && !enabled {
            self.complain("the input `web_search_url` needs `enable_web: true` beside it");
        }
        enabled.then_some(WebSettings { search })
    }

    /// Reads the one key that the reviewer may be given in place of a whole `auth-json`.
    pub(super) fn key_of_model(&mut self) -> Keys {
        let Some(key) = self.env.input("opencode_api_key") else { return Keys::default() };
        let model = self.text("model").unwrap_or_default();
        let Some((provider, _)) = model.split_once('/') else {
            self.complain(
                "the input `opencode_api_key` needs `model` beside it, such as `anthropic/claude-sonnet-4-5`: its first \
                 part says whose key it is",
            );
            return Keys::default();
        };
        let entry = json!({ "type": "api", "key": key });
        let file = Value::Object(Map::from_iter([(provider.to_owned(), entry)])).to_string();
        Keys::parse(&file).unwrap_or_else(|error| {
            self.complain(format!("the input `opencode_api_key`: {error}"));
            Keys::default()
        })
    }
}

fn number(text: &str) -> Result<u64, Instead> {
    text.parse().map_err(|_| "write a whole number, such as `5`")
}

fn declared(text: &str) -> Result<Declared, Instead> {
    match text {
        "auto" => Ok(Declared::Unsaid),
        "true" => Ok(Declared::Sensitive),
        "false" => Ok(Declared::Plain),
        _ => Err("write `auto`, `true` or `false`"),
    }
}

fn generated(text: &str) -> Result<Generated, Instead> {
    match text {
        "named" => Ok(Generated::Named),
        "shown" => Ok(Generated::Shown),
        _ => Err("write `named` or `shown`"),
    }
}

fn check_runs(text: &str) -> Result<CheckRuns, Instead> {
    parse::yes_or_no(text).map(|wanted| if wanted { CheckRuns::On } else { CheckRuns::Off })
}

#[cfg(test)]
mod tests;
