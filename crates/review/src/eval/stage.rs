//! Plays a history that nobody lived as plain data, and compares what is read with what was done.

use std::collections::BTreeMap;

use fro_core::{Login, RepoName, Secret, Side};
use jiff::{SignedDuration, Timestamp};

use super::{
    histories::History,
    plot::{Happening, Identity, Outcome, Plot, Who, Words},
};
use crate::{
    Seal,
    state::{Account, ReviewComment, Settlement, State, Status, ThreadFact},
};

const REPO: &str = "octo/garden";
const PULL: u64 = 7;

/// The comment of a number has this id, and so on.
const FIRST_ID: u64 = 100;

impl History {
    /// Plays the history of a seed.
    pub fn played(seed: u64) -> Self {
        let plot = Plot::make(seed);
        let mut stage = Stage::new(&plot);
        for deed in &plot.deeds {
            stage.play(deed);
        }
        let expect = plot.outcomes.iter().filter_map(|(root, outcome)| Some((id(*root), status(outcome)?)));
        let mut comments: Vec<ReviewComment> = stage.comments.into_iter().flatten().collect();
        if seed.is_multiple_of(5) {
            comments.reverse();
        }
        let (repo, threads) = (REPO.to_owned(), stage.facts.into_values().collect());
        Self { repo, pull: PULL, own: stage.own, key: plot.key, comments, threads, expect: expect.collect() }
    }
}

impl Plot {
    /// Tells what a state makes of the history, for comments with these ids.
    pub fn as_read(state: &State, ids: &[u64]) -> BTreeMap<usize, Outcome> {
        let threads = state.threads.iter();
        let at = |root: u64| ids.iter().position(|id| *id == root);
        threads
            .filter_map(|thread| {
                let settled = match thread.settlement {
                    Settlement::Open => "open",
                    Settlement::Fixed => "fixed",
                    Settlement::Conceded => "conceded",
                    Settlement::Dismissed => "dismissed",
                };
                let (status, replies, unanswered) =
                    (thread.status.word(), thread.replies.len(), thread.unanswered().count());
                Some((at(thread.root.id)?, Outcome { status, settled, replies, unanswered }))
            })
            .collect()
    }
}

fn id(number: usize) -> u64 {
    FIRST_ID + number as u64
}

fn status(outcome: &Outcome) -> Option<Status> {
    [Status::Pending, Status::Resolved, Status::Disputed, Status::Escalated]
        .into_iter()
        .find(|status| status.word() == outcome.status)
}

struct Stage {
    own: Account,
    seal: Option<Seal>,
    /// Comments by their numbers; none if one was deleted.
    comments: Vec<Option<ReviewComment>>,
    facts: BTreeMap<usize, ThreadFact>,
}

impl Stage {
    fn new(plot: &Plot) -> Self {
        let own = match plot.identity {
            Identity::Bot => Account { login: Login::new("garden-helper"), is_bot: true },
            Identity::Person => Account { login: Login::new("fro-bot"), is_bot: false },
        };
        let key = plot.key.as_ref().map(Secret::new);
        let seal = RepoName::parse(REPO).ok().map(|repo| Seal::new(&repo, PULL, key.as_ref()));
        Self { own, seal, comments: Vec::new(), facts: BTreeMap::new() }
    }

    fn play(&mut self, deed: &Happening) {
        match deed {
            Happening::Begin(who, words) => {
                let root = self.comments.len();
                self.write(*who, None, words);
                let (node, resolved_by) = (format!("T{root}"), None);
                let fact =
                    ThreadFact { root: id(root), node, resolved: false, resolved_by, can_resolve: true };
                self.facts.insert(root, fact);
            }
            Happening::Reply(who, root, words) => self.write(*who, Some(id(*root)), words),
            Happening::Resolve(who, root) => self.mark(*root, Some(self.account(*who))),
            Happening::Unresolve(root) => self.mark(*root, None),
            Happening::Edit(comment, edit) => {
                if let Some(comment) = &mut self.comments[*comment] {
                    comment.body = edit.apply(&comment.body);
                }
            }
            Happening::Delete(comment) => self.comments[*comment] = None,
        }
    }

    fn mark(&mut self, root: usize, by: Option<Account>) {
        if let Some(fact) = self.facts.get_mut(&root) {
            (fact.resolved, fact.resolved_by) = (by.is_some(), by);
        }
    }

    fn account(&self, who: Who) -> Account {
        let named = |login: &str, is_bot| Account { login: Login::new(login), is_bot };
        match who {
            Who::Us => self.own.clone(),
            Who::Writer => named("maya", false),
            Who::Stranger => named("mallory", false),
            Who::OtherBot => named("dependabot", true),
            Who::Twin => Account { is_bot: !self.own.is_bot, ..self.own.clone() },
        }
    }

    fn write(&mut self, who: Who, in_reply_to: Option<u64>, words: &Words) {
        let body = |comment: &Option<ReviewComment>| {
            comment.as_ref().map(|comment| comment.body.clone()).unwrap_or_default()
        };
        let written: Vec<(u64, String)> =
            self.comments.iter().enumerate().map(|(number, comment)| (id(number), body(comment))).collect();
        let Some(seal) = &self.seal else { return };
        let id = id(self.comments.len());
        // Two comments share a second, so that ids have to decide.
        let seconds = i64::try_from(id / 2).unwrap_or_default();
        self.comments.push(Some(ReviewComment {
            id,
            in_reply_to,
            author: self.account(who),
            body: words.body(seal, &written),
            created_at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds),
            path: "tap.rs".to_owned(),
            side: Side::Right,
            line: Some(6),
            original_line: Some(6),
            original_commit: "a1".to_owned(),
            diff_hunk: String::new(),
        }));
    }
}
