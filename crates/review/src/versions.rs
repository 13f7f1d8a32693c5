//! The files of a pull request as several of its commits have them, and what that says about threads: where their lines are
//! now, and what became of the change that fixed them.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::Anchor;

use crate::{
    Diff,
    code_owners::{self, CodeOwners},
    duplicate::{Aftermath, Whereabouts},
    sensitivity::Sensitivity,
    state::{Fix, Thread},
    track::{Track, refind, was_rewritten},
};

/// The project's rules for whoever writes code.
const RULES: &str = "AGENTS.md";

/// A commit and a file of it.
pub type Version = (String, String);

/// The commits that a review compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedCommits {
    /// What the change is made against: its rules and owners count.
    pub base: String,
    /// The newest commit of the change.
    pub head: String,
    /// The commit of the last review, if there was one.
    pub last: Option<String>,
}

/// Files of several commits.
#[derive(Debug, Clone)]
pub struct Versions<'a> {
    commits: ComparedCommits,
    diff: &'a Diff,
    texts: BTreeMap<Version, String>,
}

impl ComparedCommits {
    /// Lists every file of every commit that the threads and the rules of a review hang on.
    pub fn wanted<'t>(&self, diff: &Diff, threads: impl IntoIterator<Item = &'t Thread>) -> Vec<Version> {
        let Self { base, head, last } = self;
        let mut wanted: BTreeSet<Version> = BTreeSet::new();
        wanted.extend(diff.files().iter().map(|file| (head.clone(), file.path.clone())));
        for thread in threads {
            let path = thread.path();
            let fixed_in = thread.fix.as_ref().and_then(|fix| fix.path.as_deref()).unwrap_or(path);
            let fix = thread.fix.as_ref().map(|fix| (fix.commit.as_str(), fixed_in));
            wanted.insert((thread.root.original_commit.clone(), path.to_owned()));
            wanted.insert((head.clone(), newest(diff, path)));
            wanted.insert((head.clone(), newest(diff, fixed_in)));
            // A file may have got another name before or after.
            for (commit, path) in last.as_deref().map(|last| (last, path)).into_iter().chain(fix) {
                wanted.insert((commit.to_owned(), path.to_owned()));
                wanted.insert((commit.to_owned(), newest(diff, path)));
            }
        }
        let of_base = Sensitivity::at_root().chain([RULES]).chain(code_owners::PLACES);
        wanted.extend(of_base.map(|path| (base.clone(), path.to_owned())));
        wanted.into_iter().collect()
    }
}

impl<'a> Versions<'a> {
    /// Takes the files as they were read; one that is not there was not in its commit.
    pub fn new(commits: ComparedCommits, diff: &'a Diff, texts: BTreeMap<Version, String>) -> Self {
        Self { commits, diff, texts }
    }

    /// Returns what the files say in the newest commit.
    pub fn of_head(&self) -> BTreeMap<String, String> {
        self.list(&self.commits.head).map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
    }

    /// Returns what the files say in the base.
    pub fn of_base(&self) -> Vec<(&str, &str)> {
        self.list(&self.commits.base).collect()
    }

    /// Returns the project's rules as the base has them: those of the change are the author's words.
    pub fn rules(&self) -> Option<&str> {
        self.text(&self.commits.base, RULES)
    }

    /// Returns who owns which file, as the base has it: a change cannot name its own judges.
    pub fn code_owners(&self) -> CodeOwners {
        let text = code_owners::PLACES.iter().find_map(|path| self.text(&self.commits.base, path));
        text.map(CodeOwners::parse).unwrap_or_default()
    }

    /// Finds where the lines of a thread are now.
    pub fn whereabouts(&self, thread: &Thread) -> Whereabouts {
        let root = &thread.root;
        let path = newest(self.diff, thread.path());
        let Some(new) = self.text(&self.commits.head, &path) else { return Whereabouts::Gone { path } };
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
    pub fn aftermath(&self, thread: &Thread) -> Aftermath {
        let changed = match &thread.fix {
            Some(Fix { commit, path: None }) => self.was_rewritten_since(commit, thread),
            Some(Fix { commit, path: Some(path) }) => {
                let now = self.text(&self.commits.head, &newest(self.diff, path));
                match self.then(commit, path) {
                    Some(then) => now != Some(then),
                    None => true,
                }
            }
            None => matches!(self.whereabouts(thread), Whereabouts::Gone { .. }),
        };
        if changed { Aftermath::Changed } else { Aftermath::Stands }
    }

    /// Tells whether the lines of a thread, or what took their place, were changed since the last review.
    pub fn was_rewritten(&self, thread: &Thread) -> bool {
        self.commits.last.as_ref().is_some_and(|last| self.was_rewritten_since(last, thread))
    }

    /// The same since any commit. Lines count as changed where that cannot be known.
    fn was_rewritten_since(&self, commit: &str, thread: &Thread) -> bool {
        let (original, path) = (&thread.root.original_commit, thread.path());
        let Some(stood) = thread.said_of() else { return false };
        let now = self.text(&self.commits.head, &newest(self.diff, path));
        match (self.text(original, path), self.then(commit, path), now) {
            (Some(original), Some(then), Some(now)) => was_rewritten(&stood, original, then, now),
            (None, Some(then), Some(now)) => then != now,
            _ => true,
        }
    }

    /// Returns what a file said in an earlier commit, by the name that it had or by the one that it has.
    fn then(&self, commit: &str, path: &str) -> Option<&str> {
        self.text(commit, path).or_else(|| self.text(commit, &newest(self.diff, path)))
    }

    fn list<'s>(&'s self, commit: &str) -> impl Iterator<Item = (&'s str, &'s str)> {
        let texts = self.texts.iter().filter(move |((of, _), _)| of == commit);
        texts.map(|((_, path), text)| (path.as_str(), text.as_str()))
    }

    fn text(&self, commit: &str, path: &str) -> Option<&str> {
        self.texts.get(&(commit.to_owned(), path.to_owned())).map(String::as_str)
    }
}

/// Returns what a file is called now.
fn newest(diff: &Diff, path: &str) -> String {
    diff.file(path).map_or_else(|| path.to_owned(), |file| file.path.clone())
}

#[cfg(test)]
mod tests;
