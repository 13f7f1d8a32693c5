//! What a review stands on: the change from the harness's own store, where earlier threads are now, and what the model is
//! told of all that.

use std::collections::{BTreeMap, BTreeSet};

use fro_boundary::{PullDiff, Store};
use fro_core::{
    Anchor, Bounded, Fault, Login, RepoName, Trust, continuity::Reminder, gate::ReviewWish,
    say::sessions as say, trust::Spoken,
};
use fro_review::{
    Diff, FileDiff,
    code_owners::{self, CodeOwners},
    dispute::Deciders,
    duplicate::Whereabouts,
    parcel::{Parcel, Part},
    passes::Briefing,
    review::{Ground, Known},
    rubric,
    say::rated,
    sensitivity::Sensitivity,
    since::{Since, Written},
    state::Thread,
    track::{Track, refind},
};

use super::Scene;
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
pub(crate) struct Beginning {
    pub(crate) ground: Ground,
    pub(crate) briefing: Briefing,
    /// What the model is told before anything else.
    pub(crate) instructions: String,
    /// What the changed files say in the newest commit.
    pub(crate) texts: BTreeMap<String, String>,
}

/// Reads everything that the store can tell.
pub(crate) async fn begin(
    scene: Scene<'_>,
    pull: &PullSoFar,
    store: &Store,
    wish: ReviewWish,
) -> Result<Beginning, Fault> {
    let (settings, repo) = (&scene.process.review, scene.permit.repo());
    let url = fro_agent::address_of(&scene.process.agent.settings, &repo.to_string());
    let change =
        store.pull_diff(&url, &pull.told.base, &pull.told.head).await.map_err(|error| error.fault())?;
    let before = match pull.seen_before() {
        Some(commit) => before(store, &url, &pull.told.base, &commit).await,
        None => None,
    };
    let since = Since::between(before.as_ref(), &Written::read(&change.diff));
    let parts = Parcel::split(&change.diff);
    let diff = read(&parts);
    let files = Files::read(store, pull, &diff).await?;
    let sensitivity = Sensitivity::judge(settings.declared, &files.of_base(pull));
    let rules = files.rules(pull, repo);
    let instructions = rubric::system_prompt(&settings.thresholds, &sensitivity, rules.as_ref());
    let code_owners = files.code_owners(pull);
    let known = pull.state.threads.iter().map(|thread| {
        let (place, unanswered) = (files.whereabouts(pull, &diff, thread), pull.unanswered(thread));
        let owners = pull.others(code_owners.owners(&thread.root.path));
        let deciders = Deciders { reviewers: pull.reviewers(), code_owners: owners };
        Known { place, unanswered, deciders, thread: thread.clone() }
    });
    let known: Vec<Known> = known.collect();
    // Who asks for a review wants one of everything.
    let shown = if wish == ReviewWish::Asked { &Since::Beginning } else { &since };
    let parcel = Parcel::pack_new(parts, shown, SHOWN, settings.generated);
    let briefing = briefing(pull, parcel, &known);
    let ground = Ground { thresholds: settings.thresholds, sensitivity, diff, since, known };
    Ok(Beginning { ground, briefing, instructions, texts: files.of_head(pull) })
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

/// Reads the hunks file by file: one that cannot be read has none, and hides no other.
fn read(parts: &[Part]) -> Diff {
    let file = |part: &Part| match Diff::parse(&part.text) {
        Ok(diff) => diff.files().to_vec(),
        Err(_) => vec![FileDiff { path: part.path.clone(), moved_from: None, hunks: Vec::new() }],
    };
    Diff::new(parts.iter().flat_map(file).collect())
}

fn briefing(pull: &PullSoFar, parcel: Parcel, known: &[Known]) -> Briefing {
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
        parcel,
        known: known.iter().map(line).collect(),
        recalled: Vec::new(),
    }
}

/// Tells of a thread on one line.
fn line(known: &Known) -> String {
    let thread = &known.thread;
    let place = match &known.place {
        Whereabouts::At(anchor) => anchor.to_string(),
        Whereabouts::Gone { path } => format!("{path}, lines changed since"),
    };
    let rated = rated(thread.assessment.score, &thread.assessment.finding);
    let new = if known.unanswered.is_empty() { "" } else { ", with a new reply" };
    format!("thread {}: {rated} ({}{new}) at {place}", thread.root.id, thread.status.word())
}

/// Files of several commits.
struct Files {
    texts: BTreeMap<(String, String), String>,
}

impl Files {
    async fn read(store: &Store, pull: &PullSoFar, diff: &Diff) -> Result<Self, Fault> {
        let (head, base) = (&pull.told.head, &pull.told.base);
        let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
        wanted.extend(diff.files().iter().map(|file| (head.clone(), file.path.clone())));
        for root in pull.state.threads.iter().map(|thread| &thread.root) {
            wanted.insert((head.clone(), newest(diff, &root.path)));
            wanted.insert((root.original_commit.clone(), root.path.clone()));
        }
        let of_base = Sensitivity::at_root().chain(["AGENTS.md"]).chain(code_owners::PLACES);
        wanted.extend(of_base.map(|path| (base.clone(), path.to_owned())));
        let wanted: Vec<_> = wanted.into_iter().collect();
        let texts = store.texts(&wanted).await.map_err(|error| error.fault())?;
        let texts = wanted.into_iter().zip(texts).filter_map(|(name, text)| Some((name, text?)));
        Ok(Self { texts: texts.collect() })
    }

    fn text(&self, commit: &str, path: &str) -> Option<&str> {
        self.texts.get(&(commit.to_owned(), path.to_owned())).map(String::as_str)
    }

    fn of_head(&self, pull: &PullSoFar) -> BTreeMap<String, String> {
        let of_head = self.texts.iter().filter(|((commit, _), _)| *commit == pull.told.head);
        of_head.map(|((_, path), text)| (path.clone(), text.clone())).collect()
    }

    fn of_base(&self, pull: &PullSoFar) -> Vec<(&str, &str)> {
        let of_base = self.texts.iter().filter(|((commit, _), _)| *commit == pull.told.base);
        of_base.map(|((_, path), text)| (path.as_str(), text.as_str())).collect()
    }

    /// Returns the project's rules as the base has them: those of the change are the author's words.
    fn rules(&self, pull: &PullSoFar, repo: &RepoName) -> Option<Spoken> {
        let text = self.text(&pull.told.base, "AGENTS.md")?;
        let who = Login::new(repo.owner());
        Some(Spoken { who, trust: Trust::Maintainer, text: Bounded::text(text, RULES).noted() })
    }

    /// Returns who owns which file, as the base has it: a change cannot name its own judges.
    fn code_owners(&self, pull: &PullSoFar) -> CodeOwners {
        let text = code_owners::PLACES.iter().find_map(|path| self.text(&pull.told.base, path));
        text.map(CodeOwners::parse).unwrap_or_default()
    }

    /// Finds where the lines of a thread are now.
    fn whereabouts(&self, pull: &PullSoFar, diff: &Diff, thread: &Thread) -> Whereabouts {
        let root = &thread.root;
        let path = newest(diff, &root.path);
        let Some(new) = self.text(&pull.told.head, &path) else { return Whereabouts::Gone { path } };
        let Some(stood) = root.original() else {
            // It is about the file as a whole.
            let (side, start_line, line) = (root.side, None, 1);
            return Whereabouts::At(Anchor { path, side, start_line, line });
        };
        let found = match self.text(&root.original_commit, &root.path) {
            Some(old) => Track::new(old, new).anchor(&stood),
            None => refind(&root.diff_hunk, new).map(|line| Anchor { line, start_line: None, ..stood }),
        };
        match found {
            Some(anchor) => Whereabouts::At(Anchor { path, ..anchor }),
            None => Whereabouts::Gone { path },
        }
    }
}

/// Returns what a file is called now.
fn newest(diff: &Diff, path: &str) -> String {
    diff.file(path).map_or_else(|| path.to_owned(), |file| file.path.clone())
}
