//! A request on octo/garden, a process that answers it and the little GitHub where both are: for modules that ask GitHub
//! or a model.

use fro_core::{Trigger, delegation::Claim};
use fro_sim::{World, state::Pull};
use tempfile::TempDir;

use super::*;
use crate::{job::Scope, process::Process, push_credentials::PushCredentials, step::Step};

pub(crate) const REPO: &str = "octo/garden";

/// Everything that is around one request.
pub(crate) struct Garden {
    pub(crate) world: World,
    pub(crate) folder: TempDir,
    pub(crate) process: Process,
}

impl Garden {
    pub(crate) async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    /// Makes one whose operator says something else than usual.
    pub(crate) async fn with(change: impl FnOnce(&World, &mut Settings)) -> Self {
        let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
        let api = world.api_url();
        let mut settings = Settings {
            github: fro_github::Address {
                api: api.clone(),
                graphql: world.graphql_url(),
                web: api.clone(),
                stores: Vec::new(),
            },
            server: api,
            token: Secret::new(world.token("fro-bot")),
            elevated: Elevated::None,
            memory: StoreSettings::folder(folder.path().join("memory")),
            scratch: folder.path().to_owned(),
            ..settings(world.model().provider())
        };
        change(&world, &mut settings);
        Self { world, folder, process: Process::new(settings) }
    }

    /// Returns the job of an engine that serves maya, who says this on an issue or a pull request.
    pub(crate) fn job(&self, number: u64, words: &str) -> Job {
        let comment = self.world.write_comment(REPO, number, "maya", words);
        let (trigger, permit) = decide(&self.world.comment_event(REPO, comment));
        let Delegation { work, output, .. } = &self.process.settings.delegation;
        let work = Claim::decide(&trigger, &permit, *work, *output);
        Job { work, audience: Some(Audience::Everyone), ..job(permit) }
    }

    /// Returns what the modules of an engine for this job get.
    pub(crate) fn scope<'a>(&'a self, job: &'a Job) -> Scope<'a> {
        Scope { process: &self.process, job, tell: &|_: Step| {} }
    }

    pub(crate) fn credentials(&self) -> PushCredentials {
        PushCredentials::new(&self.process, &RepoName::parse(REPO).unwrap())
    }

    /// Changes pull request 2.
    pub(crate) fn change_pull(&self, change: impl FnOnce(&mut Pull)) {
        self.world.change(|state| {
            let repo = state.repos.iter_mut().find(|repo| repo.full_name() == REPO).unwrap();
            change(repo.issue_mut(2).unwrap().pull.as_mut().unwrap());
        });
    }

    /// Returns how often a route was asked whose name has this in it.
    pub(crate) fn asked(&self, route: &str) -> usize {
        self.world.calls().iter().filter(|call| call.contains(route)).count()
    }
}

fn decide(payload: &Value) -> (Trigger, Permit) {
    let event = Event {
        name: "issue_comment".to_owned(),
        payload: payload.to_string(),
        repo: RepoName::parse(REPO).unwrap(),
        actor: Login::new("maya"),
        prompt: None,
    };
    let Ok(Reading::Trigger(trigger)) = event::read(&event) else { panic!("no trigger: {payload}") };
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    match gate::decide(&trigger, &facts, &Policy::usual()) {
        Decision::Run(permit, _) => (trigger, *permit),
        Decision::Skip(reason) => panic!("{reason}"),
    }
}
