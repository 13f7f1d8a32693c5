//! What a review stands on: the change from the harness's own store, where earlier threads are now, and what the model is
//! told of all that.

use std::collections::{BTreeMap, BTreeSet};

use fro_boundary::{PullDiff, Store};
use fro_core::{
    Anchor, Bounded, Fault, Login, RepoName, Trust, continuity::Reminder, gate::ReviewWish,
    say::sessions as say, trust::Spoken,
};
use fro_review::{
    Diff, FileDiff, Look,
    code_owners::{self, CodeOwners},
    dispute::Deciders,
    duplicate::{Aftermath, Whereabouts},
    passes::Briefing,
    review::{Ground, Known},
    rubric,
    say::rated,
    sensitivity::Sensitivity,
    shown_change::{Part, ShownChange},
    since::{Since, Written},
    state::{Fix, Thread},
    track::{Track, refind, was_rewritten},
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
    let (settings, repo) = (&scope.process.review, scope.permit.repo());
    let url = fro_agent::address_of(&scope.process.agent.settings, &repo.to_string());
    let change =
        store.pull_diff(&url, &pull.told.base, &pull.told.head).await.map_err(|error| error.fault())?;
    let (seen, written) = (pull.seen_before(), Written::read(&change.diff));
    // Where no review saw everything, what the last one that broke off said can be proven to be fixed all the same.
    let last = seen.as_ref().map(|look| look.commit.clone()).or_else(|| pull.spoken_before());
    let before = match &last {
        Some(commit) => before(store, &url, &pull.told.base, commit).await,
        None => None,
    };
    let since = Since::between(before.as_ref(), &written);
    let parts = ShownChange::split(&change.diff);
    let unseen = unseen(&since, seen.as_ref(), &parts);
    let diff = parse_hunks(&parts);
    let fixed_in = pull.state.threads.iter().filter_map(|thread| Some(&thread.fix.as_ref()?.commit));
    store.bring_if_there(&url, fixed_in).await;
    let files = Files::read(store, pull, &diff, last.as_deref()).await?;
    let sensitivity = Sensitivity::judge(settings.declared, &files.of_base(pull));
    let rules = files.rules(pull, repo);
    let instructions = rubric::system_prompt(&settings.thresholds, &sensitivity, rules.as_ref());
    let code_owners = files.code_owners(pull);
    let known = pull.state.threads.iter().map(|thread| {
        let (place, unanswered) = (files.whereabouts(pull, &diff, thread), pull.unanswered(thread));
        let owners = pull.others(code_owners.owners(thread.path()));
        let deciders = Deciders { reviewers: pull.reviewers(), code_owners: owners };
        let aftermath = files.aftermath(pull, &diff, thread);
        let rewritten = last.as_ref().is_some_and(|last| files.was_rewritten(pull, &diff, thread, last));
        Known { place, aftermath, rewritten, unanswered, deciders, thread: thread.clone() }
    });
    let known: Vec<Known> = known.collect();
    // Who asks for a review wants one of everything.
    let shown = if wish == ReviewWish::Asked { Since::Beginning } else { unseen };
    let shown_change = ShownChange::pack_new(parts, &shown, SHOWN, settings.generated);
    let briefing = briefing(pull, shown_change, &known);
    let ground = Ground { thresholds: settings.thresholds, sensitivity, diff, since, known };
    Ok(ReviewInput { ground, briefing, instructions, texts: files.of_head(pull) })
}

/// Returns what no review has seen as it is now: what is new since the last whole one, and what that one left out.
fn unseen(since: &Since, seen: Option<&Look>, parts: &[Part]) -> Since {
    match seen {
        Some(look) => {
            let left_out = parts.iter().filter(|part| look.has_left_out(&part.path));
            since.clone().and_unread(left_out.map(|part| part.path.clone()))
        }
        None => Since::Beginning,
    }
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
fn parse_hunks(parts: &[Part]) -> Diff {
    let file = |part: &Part| match Diff::parse(&part.text) {
        Ok(diff) => diff.files().to_vec(),
        Err(_) => vec![FileDiff { path: part.path.clone(), moved_from: None, hunks: Vec::new() }],
    };
    Diff::new(parts.iter().flat_map(file).collect())
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
        known: known.iter().map(describe_thread).collect(),
        recalled: Vec::new(),
    }
}

/// Tells of a thread on one line.
fn describe_thread(known: &Known) -> String {
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
    async fn read(store: &Store, pull: &PullSoFar, diff: &Diff, last: Option<&str>) -> Result<Self, Fault> {
        let (head, base) = (&pull.told.head, &pull.told.base);
        let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
        wanted.extend(diff.files().iter().map(|file| (head.clone(), file.path.clone())));
        for thread in &pull.state.threads {
            let path = thread.path();
            let fixed_in = thread.fix.as_ref().and_then(|fix| fix.path.as_deref()).unwrap_or(path);
            let fix = thread.fix.as_ref().map(|fix| (fix.commit.as_str(), fixed_in));
            wanted.insert((thread.root.original_commit.clone(), path.to_owned()));
            wanted.insert((head.clone(), newest(diff, path)));
            wanted.insert((head.clone(), newest(diff, fixed_in)));
            // A file may have got another name before or after.
            for (commit, path) in last.map(|last| (last, path)).into_iter().chain(fix) {
                wanted.insert((commit.to_owned(), path.to_owned()));
                wanted.insert((commit.to_owned(), newest(diff, path)));
            }
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
        let path = newest(diff, thread.path());
        let Some(new) = self.text(&pull.told.head, &path) else { return Whereabouts::Gone { path } };
        let Some(stood) = thread.said_of() else {
            // It is about the file as a whole.
            let (side, start_line, line) = (root.side, None, 1);
            return Whereabouts::At(Anchor { path, side, start_line, line });
        };
        let found = match (self.text(&root.original_commit, thread.path()), &thread.about) {
            (Some(old), _) => Track::new(old, new).anchor(&stood),
            (None, None) => {
                refind(&root.diff_hunk, new).map(|line| Anchor { line, start_line: None, ..stood })
            }
            // GitHub keeps the piece of the diff beside which it stands, which says nothing about what it means.
            (None, Some(_)) => Some(stood),
        };
        match found {
            Some(anchor) => Whereabouts::At(Anchor { path, ..anchor }),
            None => Whereabouts::Gone { path },
        }
    }

    /// Finds out what became of the change that fixed a finding. Where that cannot be read any more, the problem may be
    /// back: to be silent for ever would be worse than to be asked once more.
    fn aftermath(&self, pull: &PullSoFar, diff: &Diff, thread: &Thread) -> Aftermath {
        let changed = match &thread.fix {
            Some(Fix { commit, path: None }) => self.was_rewritten(pull, diff, thread, commit),
            Some(Fix { commit, path: Some(path) }) => {
                let now = self.text(&pull.told.head, &newest(diff, path));
                match self.then(diff, commit, path) {
                    Some(then) => now != Some(then),
                    None => true,
                }
            }
            None => matches!(self.whereabouts(pull, diff, thread), Whereabouts::Gone { .. }),
        };
        if changed { Aftermath::Changed } else { Aftermath::Stands }
    }

    /// Tells whether the lines of a thread, or what took their place, were changed since a commit. They count as changed
    /// where that cannot be known.
    fn was_rewritten(&self, pull: &PullSoFar, diff: &Diff, thread: &Thread, since: &str) -> bool {
        let (commit, path) = (&thread.root.original_commit, thread.path());
        let Some(stood) = thread.said_of() else { return false };
        let now = self.text(&pull.told.head, &newest(diff, path));
        let texts = (self.text(commit, path), self.then(diff, since, path), now);
        match texts {
            (Some(original), Some(then), Some(now)) => was_rewritten(&stood, original, then, now),
            (None, Some(then), Some(now)) => then != now,
            _ => true,
        }
    }

    /// Returns what a file said in an earlier commit, by the name that it had or by the one that it has.
    fn then(&self, diff: &Diff, commit: &str, path: &str) -> Option<&str> {
        self.text(commit, path).or_else(|| self.text(commit, &newest(diff, path)))
    }
}

/// Returns what a file is called now.
fn newest(diff: &Diff, path: &str) -> String {
    diff.file(path).map_or_else(|| path.to_owned(), |file| file.path.clone())
}
