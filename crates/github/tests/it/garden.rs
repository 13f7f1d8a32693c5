//! octo/garden, where maya just called us on issue 1, and the permit that she gets.

use std::time::Duration;

use fro_core::{
    Clean, Decision, Login, Permission, Permit, Redactor, RepoName, Secret,
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
};
use fro_github::{Address, GitHub};
use fro_http::{Client, ClientSettings, Retry};
use fro_sim::World;
use serde_json::Value;

pub(crate) const REPO: &str = "octo/garden";

/// A world in which we were called.
pub(crate) struct Garden {
    pub(crate) world: World,
    /// The comment in which maya calls us.
    pub(crate) call: u64,
}

impl Garden {
    pub(crate) async fn new() -> Self {
        let world = World::start().await.unwrap();
        let call = world.write_comment(REPO, 1, "maya", "@fro-bot why is the floor wet?");
        Self { world, call }
    }

    /// Returns GitHub as this account sees octo/garden.
    pub(crate) fn seen_by(&self, login: &str) -> GitHub {
        self.seen_with(&self.world.token(login), REPO)
    }

    /// Returns GitHub as the holder of a token sees a repository. What fails is tried once more, at once.
    pub(crate) fn seen_with(&self, token: &str, repo: &str) -> GitHub {
        let at_once = vec![Duration::ZERO];
        let retry = Retry { limited: at_once.clone(), failing: at_once, longest: Duration::from_secs(1) };
        let address = Address {
            api: self.world.api_url(),
            graphql: self.world.graphql_url(),
            web: self.world.api_url(),
            stores: Vec::new(),
        };
        let client = Client::new(ClientSettings { retry, ..ClientSettings::loopback() }).unwrap();
        GitHub::new(address, Secret::new(token), RepoName::parse(repo).unwrap(), client)
    }

    /// Returns the permit for maya's call.
    pub(crate) fn permit(&self) -> Permit {
        self.permit_for(self.call)
    }

    /// Returns the permit for a comment that calls us.
    pub(crate) fn permit_for(&self, comment: u64) -> Permit {
        self.permit_by("issue_comment", &self.world.comment_event(REPO, comment))
    }

    /// Returns the permit for an event.
    #[expect(clippy::unused_self, reason = "it is a verb of the garden, like its neighbours")]
    pub(crate) fn permit_by(&self, name: &str, payload: &Value) -> Permit {
        let event = Event {
            name: name.to_owned(),
            payload: payload.to_string(),
            repo: RepoName::parse(REPO).unwrap(),
            actor: Login::new("maya"),
            prompt: None,
        };
        let Ok(Reading::Trigger(trigger)) = event::read(&event) else { panic!("not a trigger: {payload}") };
        let facts =
            Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
        match gate::decide(&trigger, &facts, &Policy::usual()) {
            Decision::Run(permit, _) => *permit,
            Decision::Skip(reason) => panic!("{reason}"),
        }
    }

    /// Returns the requests so far, as `METHOD /path`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.world.traffic().iter().map(|exchange| format!("{} {}", exchange.method, exchange.path)).collect()
    }
}

/// Returns a text that may leave.
pub(crate) fn clean(text: &str) -> Clean {
    Redactor::knowing([]).clean(text)
}
