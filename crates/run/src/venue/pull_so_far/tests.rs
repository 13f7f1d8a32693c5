//! Histories that nobody lived, played on the pages of a little GitHub: what is read at the end is what happened.
//!
//! Every deed is a request: ours by the same client that posts reviews, other people's with their own tokens.
//! `FRO_HISTORIES` says how many are played; `./test --all` plays ten thousand.

use std::collections::BTreeMap;

use fro_core::{
    Anchor, Clean, Login, NodeId, Permit, Redactor, RepoName, Secret, Side, Subject,
    gate::{self, Policy},
};
use fro_github::{Address, GitHub, Remark};
use fro_http::{Client, ClientSettings, Request};
use fro_review::{
    Seal,
    eval::plot::{Happening, Identity, Plot, Who, Words},
};
use fro_sim::{
    World,
    state::{Person, PersonKind, ReviewThread},
};
use serde_json::{Value, json};

use super::PullSoFar;
use crate::settings::ReviewSettings;

const REPO: &str = "octo/garden";
const FEW: u64 = 60;

/// The pages of one pull request, and those who write on them.
struct Pages<'a> {
    world: &'a World,
    client: &'a Client,
    own: &'static str,
    github: GitHub,
    permit: Permit,
    pull: u64,
    head: String,
    seal: Seal,
    /// The id and the text of each comment, by its number.
    written: Vec<(u64, String)>,
    /// GitHub's names of threads, by their first comments.
    nodes: BTreeMap<u64, String>,
}

impl<'a> Pages<'a> {
    /// Opens a pull request like #2, on which nothing was said.
    fn open(world: &'a World, client: &'a Client, plot: &Plot, seed: u64) -> Self {
        let own = match plot.identity {
            Identity::Person => "fro-bot",
            Identity::Bot if seed.is_multiple_of(4) => "github-actions[bot]",
            Identity::Bot => "garden-helper[bot]",
        };
        let pull = 1_000 + seed;
        let head = world.change(|state| {
            state.tokens.iter_mut().for_each(|token| token.used = fro_sim::state::Used::default());
            let id = state.next_id();
            let repo = state.repo_mut(REPO).unwrap();
            let mut issue = repo.issue(2).unwrap().clone();
            (issue.id, issue.number) = (id, pull);
            let head = issue.pull.as_ref().unwrap().head_oid.clone();
            repo.issues.push(issue);
            head
        });
        let (api, graphql) = (world.api_url(), world.graphql_url());
        let address = Address { web: api.clone(), api, graphql, stores: Vec::new() };
        let repo = RepoName::parse(REPO).unwrap();
        let github = GitHub::new(address, Secret::new(world.token(own)), repo.clone(), client.clone());
        let policy = Policy::usual();
        let permit = gate::permit_local_review(&repo, Subject::PullRequest(pull), &Login::new(own), &policy);
        let seal = Seal::new(&repo, pull, plot.key.as_ref().map(Secret::new).as_ref());
        let (written, nodes) = (Vec::new(), BTreeMap::new());
        Self { world, client, own, github, permit, pull, head, seal, written, nodes }
    }

    async fn play(&mut self, deed: &Happening) {
        match deed {
            Happening::Begin(who, words) => {
                let body = self.body(words);
                self.begin(*who, &body).await;
            }
            Happening::Reply(who, root, words) => {
                let body = self.body(words);
                self.reply(*who, self.written[*root].0, &body).await;
            }
            Happening::Resolve(Who::Us, root) => {
                let node = NodeId::new(self.node(*root).await);
                self.github.resolve_thread(&self.permit, &node).await.unwrap();
            }
            Happening::Resolve(_, root) => self.mark(*root, "resolveReviewThread").await,
            Happening::Unresolve(root) => self.mark(*root, "unresolveReviewThread").await,
            Happening::Edit(comment, edit) => {
                let (id, body) = &self.written[*comment];
                let (path, body) = (format!("pulls/comments/{id}"), edit.apply(body));
                sent(self.signed(self.client.patch(self.url(&path)), "maya").json(&json!({ "body": body })))
                    .await;
                self.written[*comment].1 = body;
            }
            Happening::Delete(comment) => {
                let path = format!("pulls/comments/{}", self.written[*comment].0);
                let request = self.signed(self.client.delete(self.url(&path)), "maya");
                request.send().await.unwrap();
            }
        }
    }

    fn body(&self, words: &Words) -> String {
        words.body(&self.seal, &self.written)
    }

    /// We begin a thread with a review, others with a remark.
    async fn begin(&mut self, who: Who, body: &str) {
        let id = if who == Who::Us {
            let anchor = Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line: 6 };
            let (text, body) = (clean("One finding."), clean(body));
            let remark = Remark { anchor, body };
            self.github.post_review(&self.permit, &self.head, &text, &[remark]).await.unwrap();
            self.newest(|_| true)
        } else {
            let remark =
                json!({ "body": body, "commit_id": self.head, "path": "tap.rs", "line": 6, "side": "RIGHT" });
            let path = format!("pulls/{}/comments", self.pull);
            let told =
                sent(self.signed(self.client.post(self.url(&path)), self.login(who)).json(&remark)).await;
            told["id"].as_u64().unwrap()
        };
        self.written.push((id, body.to_owned()));
    }

    async fn reply(&mut self, who: Who, root: u64, body: &str) {
        let id = if who == Who::Us {
            self.github.reply_in_thread(&self.permit, root, &clean(body)).await.unwrap();
            self.newest(|thread| thread.comments[0].id == root)
        } else {
            let path = format!("pulls/{}/comments/{root}/replies", self.pull);
            let said = json!({ "body": body });
            let told =
                sent(self.signed(self.client.post(self.url(&path)), self.login(who)).json(&said)).await;
            told["id"].as_u64().unwrap()
        };
        self.written.push((id, body.to_owned()));
    }

    /// The last comment of the last thread like this.
    fn newest(&self, like: impl Fn(&ReviewThread) -> bool) -> u64 {
        self.world.state(|state| {
            let pull = state.issue(REPO, self.pull).unwrap().pull.as_ref().unwrap();
            let thread = pull.threads.iter().rev().find(|thread| like(thread)).unwrap();
            thread.comments.last().unwrap().id
        })
    }

    async fn mark(&mut self, root: usize, mutation: &str) {
        let node = self.node(root).await;
        let query = format!(
            "mutation($id: ID!) {{ {mutation}(input: {{ threadId: $id }}) {{ thread {{ isResolved }} }} }}"
        );
        let asked = json!({ "query": query, "variables": { "id": node } });
        let told = sent(self.signed(self.client.post(self.world.graphql_url()), "maya").json(&asked)).await;
        assert!(told["errors"].is_null(), "{told}");
    }

    async fn node(&mut self, root: usize) -> String {
        let id = self.written[root].0;
        if !self.nodes.contains_key(&id) {
            let threads = self.github.code_threads(self.pull).await.unwrap();
            self.nodes.extend(threads.into_iter().map(|thread| (thread.root, thread.node)));
        }
        self.nodes[&id].clone()
    }

    fn login(&self, who: Who) -> &'static str {
        match (who, self.own) {
            (Who::Us, own) => own,
            (Who::Writer, _) => "maya",
            (Who::Stranger, _) => "mallory",
            (Who::OtherBot, _) => "dependabot[bot]",
            (Who::Twin, "fro-bot") => "fro-bot[bot]",
            (Who::Twin, "github-actions[bot]") => "github-actions",
            (Who::Twin, _) => "garden-helper",
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/repos/{REPO}/{path}", self.world.api_url())
    }

    fn signed(&self, request: Request, login: &str) -> Request {
        request.bearer(&Secret::new(self.world.token(login)))
    }

    /// The pull request goes, so that the next history finds a small world.
    fn close(&self) {
        self.world
            .change(|state| state.repo_mut(REPO).unwrap().issues.retain(|issue| issue.number != self.pull));
        self.world.forget_traffic();
    }
}

async fn sent(request: Request) -> Value {
    request.send().await.unwrap().json().unwrap()
}

fn clean(text: &str) -> Clean {
    Redactor::knowing([]).clean(text)
}

/// A world with everybody in it who lies.
async fn world() -> World {
    let world = World::start().await.unwrap();
    let liars = [
        (900_001, "dependabot[bot]", PersonKind::Bot),
        (900_002, "fro-bot[bot]", PersonKind::Bot),
        (900_003, "github-actions", PersonKind::User),
        (900_004, "garden-helper", PersonKind::User),
    ];
    world.change(|state| {
        for (id, login, kind) in liars {
            let name = String::new();
            state.people.push(Person { id, login: login.to_owned(), name, kind });
        }
    });
    world
}

#[tokio::test]
async fn histories_are_read_from_github_s_pages_as_they_happened() {
    let wanted = std::env::var("FRO_HISTORIES").ok().and_then(|number| number.parse().ok());
    let (world, client) = (world().await, Client::new(ClientSettings::loopback()).unwrap());
    let (mut comments, mut threads, mut requests, mut long) = (0, 0, 0, 0);
    // The hundredth seed is the first one with more than a page of comments.
    for seed in (1..=wanted.unwrap_or(FEW)).map(|seed| seed + 50) {
        let plot = Plot::make(seed);
        let mut pages = Pages::open(&world, &client, &plot, seed);
        for deed in &plot.deeds {
            pages.play(deed).await;
        }
        let state_key = plot.key.as_ref().map(Secret::new);
        let settings = ReviewSettings { state_key, ..ReviewSettings::default() };
        let read = PullSoFar::read(&pages.github, &pages.permit, &settings).await.unwrap();
        let ids: Vec<u64> = pages.written.iter().map(|(id, _)| *id).collect();
        let outcomes = Plot::as_read(&read.state, &ids);
        assert_eq!(outcomes, plot.outcomes, "seed {seed} as {}: {:#?}", pages.own, plot.deeds);
        (comments, threads) = (comments + ids.len(), threads + outcomes.len());
        (requests, long) = (requests + world.traffic().len(), long + usize::from(ids.len() > 100));
        assert_eq!(world.unknown_routes(), Vec::<String>::new());
        pages.close();
    }
    println!(
        "{comments} comments ({long} histories with over 100), {threads} threads of ours, {requests} requests"
    );
    assert!(long > 0);
}
