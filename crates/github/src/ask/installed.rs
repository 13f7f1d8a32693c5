//! Is the App on this repository, as far as the person sees who signed in by it?

use serde::Deserialize;

use crate::{
    ask::rest::RestRepository,
    client::GitHub,
    error::{Attempted, Cause, Error},
};

/// How many are told at once, and how many pages we read.
const PAGE: usize = 100;
const MOST_PAGES: usize = 20;

#[derive(Deserialize)]
struct Installations {
    installations: Vec<SeenInstallation>,
}

#[derive(Deserialize)]
struct SeenInstallation {
    id: u64,
    account: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    login: Option<String>,
}

#[derive(Deserialize)]
struct Repositories {
    repositories: Vec<RestRepository>,
}

impl GitHub {
    /// Tells whether the App that our token was got by is installed on the repository. The token is a person's, so
    /// only what they may see counts.
    pub async fn installed(&self) -> Result<bool, Error> {
        let aim = Attempted::new(format!("find out whether the App is on {}", self.repo()), "metadata: read");
        let owner = self.repo().owner();
        for page in 1..=MOST_PAGES {
            let path = format!("/user/installations?per_page={PAGE}&page={page}");
            let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
            let Installations { installations } = answer.json().map_err(|error| aim.missed(error))?;
            let last = installations.len() < PAGE;
            let named = |it: &SeenInstallation| it.account.as_ref().and_then(|account| account.login.clone());
            let of_owner =
                |it: &SeenInstallation| named(it).is_some_and(|login| login.eq_ignore_ascii_case(owner));
            for installation in installations.into_iter().filter(of_owner) {
                if self.holds(installation.id, &aim).await? {
                    return Ok(true);
                }
            }
            if last {
                return Ok(false);
            }
        }
        Err(aim.missed(Cause::TooLong(MOST_PAGES)))
    }

    async fn holds(&self, installation: u64, aim: &Attempted) -> Result<bool, Error> {
        let wanted = self.repo().to_string();
        for page in 1..=MOST_PAGES {
            let path = format!("/user/installations/{installation}/repositories?per_page={PAGE}&page={page}");
            let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
            let Repositories { repositories } = answer.json().map_err(|error| aim.missed(error))?;
            if repositories.iter().any(|it| it.full_name.eq_ignore_ascii_case(&wanted)) {
                return Ok(true);
            }
            if repositories.len() < PAGE {
                return Ok(false);
            }
        }
        Err(aim.missed(Cause::TooLong(MOST_PAGES)))
    }
}
