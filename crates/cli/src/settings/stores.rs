//! Where the memory is kept, as the inputs and the runner say.

use fro_core::{Fault, RepoName, Secret};
use fro_http::{ClientSettings, Url};
use fro_memory::{
    CacheMode, CacheSettings, CacheUse, Encryption, Endpoint, EntryNames, Patience, Retention, S3Settings,
    StoreSettings,
};

use super::{Typed, file::File, parse};
use crate::env::{self, Env};

/// The bytes of a memory from which on people are warned.
const WARN_SIZE: u64 = 500_000_000;

/// Reads where a memory is kept, for people who look after it.
pub(crate) fn of_memory(env: &Env) -> Result<StoreSettings, Fault> {
    let mut typed = Typed::new(env, File::default());
    let repo = env.text(env::GITHUB_REPOSITORY).map(RepoName::parse).transpose();
    let repo = repo.unwrap_or_else(|error| {
        typed.complaints.push(format!("the repository: {error}"));
        None
    });
    let (client, _) = typed.client();
    let stores = typed.stores(repo.as_ref(), &client);
    if repo.is_none() && typed.complaints.is_empty() && typed.input("s3-backup", false, parse::yes_or_no) {
        typed.complaints.push("a bucket may keep many memories, and none is named".to_owned());
    }
    if !typed.complaints.is_empty() {
        return Err(
            typed.fault_with("name the memory by `--repo OWNER/NAME`; `--help` shows what else there is")
        );
    }
    Ok(stores)
}

/// Whose memory it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Repository,
    Organisation,
}

impl Typed<'_> {
    /// Reads where the memory is kept.
    pub(super) fn stores(&mut self, repo: Option<&RepoName>, client: &ClientSettings) -> StoreSettings {
        let skip_cache = self.input("skip-cache", false, parse::yes_or_no);
        let extent = self.input("memory-scope", Extent::Repository, |text| match text {
            "repo" => Ok(Extent::Repository),
            "org" => Ok(Extent::Organisation),
            _ => Err("write `repo` or `org`"),
        });
        let warn_size = self.input("memory-warn-size", WARN_SIZE, parse::megabytes);
        let s3 = self.s3(repo, extent, client);
        if extent == Extent::Organisation && s3.is_none() {
            self.complain("`memory-scope: org` needs a bucket: set `s3-backup: true` and `s3-bucket`");
        }
        let cache = match (skip_cache, extent, repo) {
            (false, Extent::Repository, Some(repo)) => cache(self.env, repo, client),
            // The cache of one repository can be read by runs that may not see the others.
            _ => CacheUse::Unused,
        };
        let folder = self.env.text(env::FRO_MEMORY).map(Into::into);
        StoreSettings { s3, folder, cache, warn_size: Some(warn_size) }
    }

    /// Reads how much is kept.
    pub(super) fn retention(&mut self) -> Retention {
        let usual = Retention::default();
        let sessions = self.input("session-retention", usual.sessions, parse::sessions);
        let age = self.input("session-max-age", usual.age, parse::days);
        Retention { sessions, age, ..usual }
    }

    fn s3(&mut self, repo: Option<&RepoName>, extent: Extent, client: &ClientSettings) -> Option<S3Settings> {
        let is_wanted = self.input("s3-backup", false, parse::yes_or_no);
        let endpoint = self.endpoint();
        let encryption = self.encryption();
        let expected_owner = self.input("s3-expected-bucket-owner", None, parse::account);
        if !is_wanted {
            return None;
        }
        let Some(bucket) = self.text("s3-bucket") else {
            self.complain("the input `s3-bucket` is empty, though `s3-backup` is `true`: name the bucket");
            return None;
        };
        let region = [env::AWS_REGION, env::AWS_DEFAULT_REGION].iter().find_map(|name| self.env.text(name));
        let region = self.env.input("aws-region").or(region);
        if region.is_none() && endpoint == Endpoint::Aws {
            self.complain(
                "the input `aws-region` is empty: write the bucket's region, such as `eu-central-1`",
            );
        }
        let repo = repo?;
        let base = self.env.input("s3-prefix").unwrap_or("fro-bot").trim_matches('/');
        let prefix = match extent {
            Extent::Repository => format!("{base}/repo/{repo}"),
            Extent::Organisation => format!("{base}/org/{}", repo.owner()),
        };
        Some(S3Settings {
            bucket,
            region: region.unwrap_or("us-east-1").to_owned(),
            endpoint,
            prefix,
            encryption,
            expected_owner,
            credentials: self
                .env
                .starting_with("AWS_")
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
            extra_ca: client.extra_ca.clone(),
            patience: Patience::default(),
        })
    }

    /// Reads where the bucket answers, and whether that may be without TLS.
    fn endpoint(&mut self) -> Endpoint {
        let insecure = self.input("s3-allow-insecure-endpoint", false, parse::yes_or_no);
        let url = self.input("s3-endpoint", None, |text| parse::address(text).map(Some));
        match url {
            None => Endpoint::Aws,
            Some(url) if insecure => Endpoint::Insecure(url),
            Some(url) => {
                if !url.starts_with("https:") {
                    self.complain(format!(
                        "the input `s3-endpoint` is `{url}`: write an `https://` address, or set \
                         `s3-allow-insecure-endpoint: true` if the way to it is safe"
                    ));
                }
                Endpoint::Custom(url)
            }
        }
    }

    fn encryption(&mut self) -> Encryption {
        let key = self.text("s3-kms-key-id");
        if key.is_some() && self.env.input("s3-sse") != Some("aws:kms") {
            self.complain("the input `s3-kms-key-id` is set, but not used: set `s3-sse: aws:kms` too");
        }
        self.input("s3-sse", Encryption::AsTheBucket, |text| match (text, key) {
            ("AES256", _) => Ok(Encryption::S3),
            ("aws:kms", Some(key)) => Ok(Encryption::Kms(key)),
            ("aws:kms", None) => Err("name the key in `s3-kms-key-id`"),
            _ => Err("write `AES256` or `aws:kms`"),
        })
    }
}

/// Finds the cache service, whose second version is the only one that we speak.
fn cache(env: &Env, repo: &RepoName, client: &ClientSettings) -> CacheUse {
    let (Some(url), Some(token)) = (env.text(env::ACTIONS_RESULTS_URL), env.text(env::ACTIONS_RUNTIME_TOKEN))
    else {
        return CacheUse::Unused;
    };
    let server = env.text(env::GITHUB_SERVER_URL).unwrap_or("https://github.com");
    let host = Url::parse(server).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let is_hosted = host == "github.com" || host.ends_with(".ghe.com") || host.ends_with(".localhost");
    if env.text(env::ACTIONS_CACHE_SERVICE_V2).is_none() || !is_hosted {
        let why = "the memory is not kept in the Actions cache: this GitHub server has only the first version of its \
                   cache service; keep the memory in S3 (`s3-backup`)";
        return CacheUse::Unusable(why.to_owned());
    }
    CacheUse::Service(Box::new(CacheSettings {
        client: client.clone(),
        url: url.to_owned(),
        token: Secret::new(token),
        mode: CacheMode::parse(env.text(env::ACTIONS_CACHE_MODE).unwrap_or_default()),
        names: EntryNames {
            identity: "github".to_owned(),
            repo: repo.to_string(),
            branch: env.text(env::GITHUB_REF_NAME).unwrap_or("none").to_owned(),
            os: env.text(env::RUNNER_OS).unwrap_or("Linux").to_owned(),
            run: env.text(env::GITHUB_RUN_ID).unwrap_or("local").to_owned(),
            attempt: env.text(env::GITHUB_RUN_ATTEMPT).and_then(|text| text.parse().ok()).unwrap_or(1),
        },
        patience: Patience::default(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(server: &str, version: &str) -> CacheUse {
        let env = Env::from_variables([
            ("ACTIONS_RESULTS_URL", "https://results.example/"),
            ("ACTIONS_RUNTIME_TOKEN", "t"),
            ("ACTIONS_CACHE_SERVICE_V2", version),
            ("GITHUB_SERVER_URL", server),
        ]);
        cache(&env, &RepoName::parse("octo/garden").unwrap(), &ClientSettings::default())
    }

    #[test]
    fn a_server_with_only_the_first_cache_service_is_said() {
        for (server, version) in [("https://github.com", ""), ("https://ghes.example", "True")] {
            let CacheUse::Unusable(why) = found(server, version) else { panic!("{server} is not told") };
            assert!(why.contains("only the first version") && why.contains("`s3-backup`"), "{why}");
        }
        for server in ["https://github.com", "https://octo.ghe.com"] {
            assert!(matches!(found(server, "True"), CacheUse::Service(_)), "{server}");
        }
    }
}
