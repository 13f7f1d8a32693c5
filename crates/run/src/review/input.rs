//! What a review stands on: the change from the harness's own store, where earlier threads are now, and what the model is
//! told of all that. What follows from it is decided in `review`.

use std::collections::BTreeMap;

use fro_boundary::{PullDiff, Store};
use fro_core::{
    Bounded, Fault, Login, Trust, continuity::Reminder, gate::ReviewWish, say::sessions as say, trust::Spoken,
};
use fro_review::{
    Diff,
    dispute::Deciders,
    passes::Briefing,
    review::{Ground, Known},
    rubric,
    sensitivity::Sensitivity,
    shown_change::{ShownChange, hunks},
    since::{Since, Written},
    versions::{ComparedCommits, Versions},
};

use super::ReviewScope;
use crate::venue::PullSoFar;

/// Bytes of the change that the model is shown; about fifty thousand tokens.
const SHOWN: usize = 200_000;
/// Bytes of the project's rules.
const RULES: usize = 30_000;
/// Bytes of the author's own words.
const WORDS: usize = 20_000;
/// Bytes of one thing that is remembered.
const RECALLED: usize = 1_500;

/// Everything that a review begins with.
pub(crate) struct ReviewInput {
    pub(crate) ground: Ground,
    pub(crate) briefing: Briefing,
    /// What the model is told before anything else.
    pub(crate) instructions: String,
    /// What the changed files say in the newest commit.
    pub(crate) texts: BTreeMap<String, String>,
}

/// Reads everything that the store can tell.
pub(crate) async fn gather(
    scope: ReviewScope<'_>,
    pull: &PullSoFar,
    store: &Store,
    wish: ReviewWish,
) -> Result<ReviewInput, Fault> {
    let settings = &scope.process.review;
    let url = fro_agent::address_of(&scope.process.agent.settings, &scope.permit.repo().to_string());
    let (base, head) = (&pull.told.base, &pull.told.head);
    let change = store.pull_diff(&url, base, head).await.map_err(|error| error.fault())?;
    let (seen, written) = (pull.seen_before(), Written::read(&change.diff));
    // Where no review saw everything, what the last one that broke off said can be proven to be fixed all the same.
    let last = seen.map(|look| look.commit.as_str()).or_else(|| pull.state.spoken_before(head));
    let before = match last {
        Some(commit) => before(store, &url, base, commit).await,
        None => None,
    };
    let since = Since::between(before.as_ref(), &written);
    let parts = ShownChange::split(&change.diff);
    let shown = since.unseen(seen, &parts).wanted_by(wish);
    let diff = hunks(&parts);
    let commits = ComparedCommits { base: base.clone(), head: head.clone(), last: last.map(str::to_owned) };
    let versions = read_versions(store, (&url, commits), pull, &diff).await?;
    let sensitivity = Sensitivity::judge(settings.declared, &versions.of_base());
    let rules = versions.rules().map(|text| rules(scope, text));
    let instructions = rubric::system_prompt(&settings.thresholds, &sensitivity, rules.as_ref());
    let known = known(pull, &versions);
    let shown_change = ShownChange::pack_new(parts, &shown, SHOWN, settings.generated);
    let (briefing, texts) = (briefing(pull, shown_change, &known), versions.of_head());
    let ground = Ground { thresholds: settings.thresholds, sensitivity, diff, since, known };
    Ok(ReviewInput { ground, briefing, instructions, texts })
}

/// Returns the threads with what has become of their lines, and who may speak in them.
fn known(pull: &PullSoFar, versions: &Versions<'_>) -> Vec<Known> {
    let code_owners = versions.code_owners();
    let known = pull.state.threads.iter().map(|thread| {
        let owners = pull.others(code_owners.owners(thread.path()));
        Known {
            place: versions.whereabouts(thread),
            aftermath: versions.aftermath(thread),
            rewritten: versions.was_rewritten(thread),
            unanswered: pull.unanswered(thread),
            deciders: Deciders { reviewers: pull.reviewers(), code_owners: owners },
            thread: thread.clone(),
        }
    });
    known.collect()
}

/// Returns what is remembered of other reviews, for the last pass.
pub(crate) fn recalled(reminder: &Reminder) -> Vec<(String, Spoken)> {
    let quote = |id: &str, trust: Trust, text: &str| Spoken {
        who: Login::new(id),
        trust,
        text: Bounded::text(text, RECALLED).noted(),
    };
    let places = reminder.elsewhere.iter().map(|place| {
        let lead = format!("From another session, {}", say::because(&place.shared));
        (lead, quote(&place.session.id, place.session.trust, &place.text))
    });
    places.collect()
}

/// Reads the diff of an earlier commit; a commit that is gone has none.
async fn before(store: &Store, url: &str, base: &str, commit: &str) -> Option<Written> {
    match store.pull_diff(url, base, commit).await {
        Ok(PullDiff { diff, .. }) => Some(Written::read(&diff)),
        Err(error) => {
            tracing::warn!("the commit of the last review is gone, so nothing counts as fixed: {error}");
            None
        }
    }
}

fn briefing(pull: &PullSoFar, change: ShownChange, known: &[Known]) -> Briefing {
    let author = pull.told.author.clone();
    let words = |text: &str| Spoken {
        who: author.clone(),
        trust: Trust::Stranger,
        text: Bounded::text(text, WORDS).noted(),
    };
    Briefing {
        title: words(&pull.told.title),
        description: words(&pull.told.body),
        author: author.clone(),
        change,
        known: known.iter().map(Known::describe).collect(),
        recalled: Vec::new(),
    }
}

/// Reads the files that threads and rules hang on. A commit in which something was fixed may be gone.
async fn read_versions<'a>(
    store: &Store,
    (url, commits): (&str, ComparedCommits),
    pull: &PullSoFar,
    diff: &'a Diff,
) -> Result<Versions<'a>, Fault> {
    let threads = &pull.state.threads;
    let fixed_in = threads.iter().filter_map(|thread| Some(&thread.fix.as_ref()?.commit));
    store.bring_if_there(url, fixed_in).await;
    let wanted = commits.wanted(diff, threads);
    let texts = store.texts(&wanted).await.map_err(|error| error.fault())?;
    let texts = wanted.into_iter().zip(texts).filter_map(|(version, text)| Some((version, text?)));
    Ok(Versions::new(commits, diff, texts.collect()))
}

/// Returns the project's rules as what they are: words of whoever may push there.
fn rules(scope: ReviewScope<'_>, text: &str) -> Spoken {
    let who = Login::new(scope.permit.repo().owner());
    Spoken { who, trust: Trust::Maintainer, text: Bounded::text(text, RULES).noted() }
}
