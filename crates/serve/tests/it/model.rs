//! The queue held against a model that is written apart: random words, claims, deaths and clocks.
//!
//! The model is a list of turns in the order in which they came; it knows no statement and no lease table. It says which
//! turns may be claimed, and whether an ending counts.

use std::collections::BTreeMap;

use fro_core::{
    RepoName,
    chat::{Follow, Thread},
};
use fro_serve::{Caps, Claimed, Error, Lease, Store};
use proptest::prelude::*;

use crate::{
    contract::{LEASE, asked, at, channel, spent, thread},
    databases::{Database, file, server},
};

const CAPS: Caps = Caps { all: 4, repository: 2 };
const REPOSITORIES: [&str; 3] = ["octo/garden", "octo/cellar", "octo/roof"];

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Somebody says something in this thread.
    Say(u64),
    /// A worker asks for a turn.
    Claim,
    /// Whoever made this claim says that it is done, however old the claim is.
    Finish(usize),
    /// Whoever made this claim shows that it lives.
    Renew(usize),
    /// So many seconds pass.
    Wait(i64),
    /// The message of this turn is deleted.
    Withdraw(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..12_u64).prop_map(Step::Say),
        6 => Just(Step::Claim),
        4 => (0..40_usize).prop_map(Step::Finish),
        2 => (0..40_usize).prop_map(Step::Renew),
        2 => (1..45_i64).prop_map(Step::Wait),
        1 => (0..40_usize).prop_map(Step::Withdraw),
    ];
    prop::collection::vec(step, 1..60)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    /// By which claim, until when.
    Running(usize, i64),
    Done,
    Gone,
}

#[derive(Default)]
struct Model {
    now: i64,
    /// Thread and state of each turn, as they came.
    turns: Vec<(u64, State)>,
    /// When each repository was last served: the number of the claim.
    served: BTreeMap<&'static str, usize>,
    claims: Vec<(Lease, usize)>,
}

fn repository(thread: u64) -> &'static str {
    REPOSITORIES[usize::try_from(thread % 3).unwrap()]
}

impl Model {
    fn live(&self, state: State) -> bool {
        matches!(state, State::Running(_, until) if until > self.now)
    }

    /// Returns the turn that is to be claimed next.
    fn next(&self) -> Option<usize> {
        let live = |repository: Option<&str>| {
            let counted = self.turns.iter().filter(|(thread, state)| {
                self.live(*state) && repository.is_none_or(|wanted| wanted == self::repository(*thread))
            });
            i64::try_from(counted.count()).unwrap()
        };
        if live(None) >= CAPS.all {
            return None;
        }
        let unfinished = |state: State| matches!(state, State::Waiting | State::Running(..));
        let first = |at: &usize| {
            let (thread, state) = self.turns[*at];
            let before = self.turns[..*at].iter();
            unfinished(state)
                && !self.live(state)
                && !before.into_iter().any(|(other, state)| *other == thread && unfinished(*state))
        };
        let free = (0..self.turns.len()).filter(first);
        let free = free.filter(|at| live(Some(repository(self.turns[*at].0))) < CAPS.repository);
        free.min_by_key(|at| {
            (self.served.get(repository(self.turns[*at].0)).map_or(0, |claim| claim + 1), *at)
        })
    }

    fn claimed(&mut self, claimed: &Claimed, until: i64) {
        let turn = usize::try_from(claimed.turn.source.number() - 100).unwrap();
        self.turns[turn].1 = State::Running(self.claims.len(), until);
        self.served.insert(repository(self.turns[turn].0), self.claims.len());
        self.claims.push((claimed.lease, turn));
    }

    /// Tells whether a claim still counts: nobody claimed the turn after it, and it was not ended.
    fn counts(&self, claim: usize) -> bool {
        let (_, turn) = self.claims[claim];
        matches!(self.turns[turn].1, State::Running(by, _) if by == claim)
    }
}

async fn play(store: &Store, steps: &[Step]) {
    let mut model = Model::default();
    for number in 0..12 {
        let repository = RepoName::parse(repository(number)).unwrap();
        let thread = Thread { repository, ..thread(10 + number, "octo/garden") };
        store.take_in(format!("thread {number}"), &[Follow::OpenThread(thread)], at(0)).await.unwrap();
    }
    for (number, step) in steps.iter().enumerate() {
        one(store, &mut model, *step, number).await;
    }
    finish_all(store, &mut model).await;
    let left: Vec<_> =
        model.turns.iter().filter(|(_, state)| !matches!(state, State::Done | State::Gone)).collect();
    assert!(left.is_empty(), "lost: {left:?}");
}

async fn one(store: &Store, model: &mut Model, step: Step, number: usize) {
    match step {
        Step::Say(thread) => {
            let source = 100 + u64::try_from(model.turns.len()).unwrap();
            let follow = Follow::Queue(asked(10 + thread, source, "words"));
            store.take_in(source, &[follow], at(model.now)).await.unwrap();
            model.turns.push((thread, State::Waiting));
        }
        Step::Claim => claim(store, model).await,
        Step::Wait(seconds) => model.now += seconds,
        Step::Finish(claim) if claim < model.claims.len() => {
            let done = store.finish(model.claims[claim].0, &spent(), at(model.now)).await;
            assert_eq!(settled(&done), model.counts(claim), "finish of claim {claim}");
            if model.counts(claim) {
                let turn = model.claims[claim].1;
                model.turns[turn].1 = State::Done;
            }
        }
        Step::Renew(claim) if claim < model.claims.len() => {
            let done = store.renew(model.claims[claim].0, at(model.now), LEASE).await;
            assert_eq!(settled(&done), model.counts(claim), "renewal of claim {claim}");
            if model.counts(claim) {
                let turn = model.claims[claim].1;
                model.turns[turn].1 = State::Running(claim, model.now + 30);
            }
        }
        Step::Withdraw(turn) if turn < model.turns.len() => {
            let source = fro_core::chat::MessageId::new(100 + u64::try_from(turn).unwrap()).unwrap();
            store
                .take_in(format!("step {number}"), &[Follow::Withdraw(source)], at(model.now))
                .await
                .unwrap();
            if model.turns[turn].1 == State::Waiting {
                model.turns[turn].1 = State::Gone;
            }
        }
        Step::Finish(_) | Step::Renew(_) | Step::Withdraw(_) => {}
    }
}

async fn claim(store: &Store, model: &mut Model) {
    let expected = model.next();
    let claimed = store.claim("w", CAPS, at(model.now), LEASE).await.unwrap();
    let got = claimed.as_ref().map(|claimed| usize::try_from(claimed.turn.source.number() - 100).unwrap());
    assert_eq!(got, expected, "{:?}", model.turns);
    if let Some(claimed) = &claimed {
        assert_eq!(claimed.turn.thread, channel(10 + model.turns[got.unwrap()].0));
        model.claimed(claimed, model.now + 30);
    }
}

fn settled<T>(done: &Result<T, Error>) -> bool {
    match done {
        Ok(_) => true,
        Err(Error::Stale { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Lets a worker that never dies do all that is left.
async fn finish_all(store: &Store, model: &mut Model) {
    model.now += 100;
    while model.next().is_some() {
        claim(store, model).await;
        let (lease, turn) = *model.claims.last().unwrap();
        store.finish(lease, &spent(), at(model.now)).await.unwrap();
        model.turns[turn].1 = State::Done;
    }
}

fn check(cases: u32, database: impl AsyncFn() -> Database) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in steps())| {
        runtime.block_on(async {
            let database = database().await;
            play(&database.open().await, &steps).await;
        });
    });
}

#[test]
fn on_sqlite_nothing_is_lost_doubled_or_out_of_order_whatever_happens() {
    check(40, async || file());
}

#[test]
fn on_postgres_nothing_is_lost_doubled_or_out_of_order_whatever_happens() {
    check(16, server);
}
