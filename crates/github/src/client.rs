//! Where GitHub is, who we are there, and which repository we speak of.

use std::time::Duration;

use fro_core::{RepoName, Secret};
use fro_http::{Client, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// GitHub's doors, as a workflow names them; they differ on GitHub Enterprise Server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The REST API, `https://api.github.com` on github.com.
    pub api: String,
    /// The GraphQL API, `https://api.github.com/graphql` on github.com.
    pub graphql: String,
    /// The pages that people read, `https://github.com` on github.com.
    pub web: String,
    /// Where attached files are kept, beyond GitHub's own stores: schemes and hosts.
    pub stores: Vec<String>,
}

/// One repository on GitHub, seen with one token. Clones are cheap.
#[derive(Debug, Clone)]
pub struct GitHub {
    address: Address,
    token: Secret,
    repo: RepoName,
    client: Client,
}

impl GitHub {
    /// Begins to speak with GitHub; nothing is sent yet.
    pub fn new(address: Address, token: Secret, repo: RepoName, client: Client) -> Self {
        Self { address, token, repo, client }
    }

    /// Returns the repository that questions are about.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// Returns the pauses after which something is tried again that failed.
    pub fn pauses(&self) -> &[Duration] {
        self.client.pauses()
    }

    /// Returns where the pages are that people read.
    pub fn web(&self) -> &str {
        &self.address.web
    }

    /// Returns where attached files are kept, beyond GitHub's own stores.
    pub(crate) fn stores(&self) -> &[String] {
        &self.address.stores
    }

    /// Begins to read something that is not behind the API.
    pub(crate) fn fetch(&self, url: &str) -> Request {
        self.client.get(url)
    }

    /// Begins to read something that is not behind the API, but only for those who may.
    pub(crate) fn fetch_signed(&self, url: &str) -> Request {
        self.client.get(url).bearer(&self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Request {
        self.signed(self.client.get(self.rest(path)))
    }

    pub(crate) fn post(&self, path: &str) -> Request {
        self.signed(self.client.post(self.rest(path)))
    }

    pub(crate) fn patch(&self, path: &str) -> Request {
        self.signed(self.client.patch(self.rest(path)))
    }

    pub(crate) fn put(&self, path: &str) -> Request {
        self.signed(self.client.put(self.rest(path)))
    }

    pub(crate) fn delete(&self, path: &str) -> Request {
        self.signed(self.client.delete(self.rest(path)))
    }

    /// Begins a GraphQL request that only reads.
    pub(crate) fn query(&self) -> Request {
        self.signed(self.client.post(&self.address.graphql)).idempotent()
    }

    /// Begins a GraphQL request that changes something.
    pub(crate) fn mutation(&self) -> Request {
        self.signed(self.client.post(&self.address.graphql))
    }

    fn rest(&self, path: &str) -> String {
        format!("{}{path}", self.address.api.trim_end_matches('/'))
    }

    fn signed(&self, request: Request) -> Request {
        request
            .bearer(&self.token)
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
    }
}

/// What may stand in a segment of a path as it is; a dot may not, or two of them would lead up.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Writes a text as one segment of a path, so that it cannot become two.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_segment() {
        assert_eq!(segment("fro-bot[bot]"), "fro-bot%5Bbot%5D");
        assert_eq!(segment("agent: working"), "agent%3A%20working");
        assert_eq!(segment("../é?"), "%2E%2E%2F%C3%A9%3F");
    }
}
