//! Which memory is meant, by options or by the environment of a run.

use std::path::PathBuf;

use anstream::println;
use clap::Args;
use fro_core::Fault;
use fro_memory::{StoreSettings, Stores};
use serde_json::Value;

use crate::{
    env::{self, Env},
    settings,
};

const WHERE: &str = "Where the memory is kept";
const BUCKET: &str = "In an S3 bucket";

/// Which memory, and how it is shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// This folder alone; without any of these options, every store that a run on this machine would use
    #[arg(long, value_name = "FOLDER", global = true, help_heading = WHERE)]
    memory: Option<PathBuf>,
    /// The repository whose memory it is
    #[arg(long, value_name = "OWNER/NAME", global = true, help_heading = WHERE)]
    repo: Option<String>,
    /// `repo`, or `org` for the memory of all repositories of an owner
    #[arg(long, value_name = "SCOPE", global = true, help_heading = WHERE)]
    memory_scope: Option<String>,
    /// A bucket; its keys come from `AWS_…` variables or the machine's role
    #[arg(long, value_name = "NAME", global = true, help_heading = BUCKET)]
    s3_bucket: Option<String>,
    /// Where the bucket answers, if not at AWS
    #[arg(long, value_name = "URL", global = true, help_heading = BUCKET)]
    s3_endpoint: Option<String>,
    /// Allow an endpoint without `https`
    #[arg(long, global = true, help_heading = BUCKET)]
    s3_allow_insecure_endpoint: bool,
    /// What all keys of the bucket begin with
    #[arg(long, value_name = "PREFIX", global = true, help_heading = BUCKET)]
    s3_prefix: Option<String>,
    /// The account that must own the bucket
    #[arg(long, value_name = "ACCOUNT", global = true, help_heading = BUCKET)]
    s3_expected_bucket_owner: Option<String>,
    /// How the bucket encrypts: `AES256` or `aws:kms`
    #[arg(long, value_name = "KIND", global = true, help_heading = BUCKET)]
    s3_sse: Option<String>,
    /// The key for `aws:kms`
    #[arg(long, value_name = "ID", global = true, help_heading = BUCKET)]
    s3_kms_key_id: Option<String>,
    /// The bucket's region
    #[arg(long, value_name = "REGION", global = true, help_heading = BUCKET)]
    aws_region: Option<String>,
}

impl Which {
    /// Prints a value as JSON, or the text for people.
    pub(crate) fn show(
        &self,
        value: &Value,
        text: impl FnOnce() -> Result<String, Fault>,
    ) -> Result<(), Fault> {
        if self.json {
            println!("{value:#}");
        } else {
            println!("{}", text()?);
        }
        Ok(())
    }

    /// Tells whether an option names a memory.
    pub(crate) fn names_one(&self) -> bool {
        self.memory.is_some() || self.s3_bucket.is_some() || self.repo.is_some()
    }

    /// Opens the stores that are meant.
    pub(crate) fn stores(&self, env: &Env) -> Result<Stores, Fault> {
        let stores = Stores::open(&self.settings(env)?);
        if stores.iter().next().is_none()
            && let [why, ..] = stores.unusable()
        {
            let hint = "`fro-bot memory --help` shows how to name another place";
            return Err(Fault::yours(why.clone(), hint));
        }
        Ok(stores)
    }

    fn settings(&self, env: &Env) -> Result<StoreSettings, Fault> {
        if let Some(folder) = &self.memory {
            return existing(folder.clone()).map(StoreSettings::folder);
        }
        let mut settings = settings::of_memory(&self.add_inputs_to(env))?;
        if self.s3_bucket.is_some() {
            return Ok(StoreSettings { s3: settings.s3, ..StoreSettings::default() });
        }
        if settings.is_empty() {
            let hint = "give `--memory FOLDER` or `--s3-bucket NAME`, or set `FRO_MEMORY`";
            return Err(Fault::yours("no memory is named", hint));
        }
        settings.folder = settings.folder.map(existing).transpose()?;
        Ok(settings)
    }

    /// Returns the environment with the options as inputs, so that both mean the same.
    fn add_inputs_to(&self, env: &Env) -> Env {
        let yes = |holds: bool| holds.then(|| "true".to_owned());
        let inputs = [
            ("s3-backup", yes(self.s3_bucket.is_some())),
            ("s3-bucket", self.s3_bucket.clone()),
            ("s3-endpoint", self.s3_endpoint.clone()),
            ("s3-allow-insecure-endpoint", yes(self.s3_allow_insecure_endpoint)),
            ("s3-prefix", self.s3_prefix.clone()),
            ("s3-expected-bucket-owner", self.s3_expected_bucket_owner.clone()),
            ("s3-sse", self.s3_sse.clone()),
            ("s3-kms-key-id", self.s3_kms_key_id.clone()),
            ("aws-region", self.aws_region.clone()),
            ("memory-scope", self.memory_scope.clone()),
        ];
        let given = inputs.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        let repo = self.repo.as_deref().map(|repo| (env::GITHUB_REPOSITORY, repo));
        env.with_inputs(given).with(repo)
    }
}

fn existing(folder: PathBuf) -> Result<PathBuf, Fault> {
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Fault::yours(
        format!("there is no memory in `{}`", folder.display()),
        "name the folder that runs keep their memory in; `FRO_MEMORY` has it in a workflow",
    ))
}
