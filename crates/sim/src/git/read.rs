//! What stands in a repository, read by git.

use std::io;

use jiff::Timestamp;

use crate::{
    git::{Bare, diff},
    state::ChangedFile,
};

/// A commit as git has it.
pub(crate) struct CommitObject {
    pub(crate) oid: String,
    pub(crate) tree: String,
    pub(crate) parents: Vec<String>,
    pub(crate) author: Signature,
    pub(crate) committer: Signature,
    pub(crate) message: String,
}

/// Who and when.
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) date: String,
}

/// An entry of a tree.
pub(crate) struct Entry {
    pub(crate) mode: String,
    pub(crate) kind: String,
    pub(crate) oid: String,
    pub(crate) size: Option<u64>,
    pub(crate) path: String,
}

/// How deep a tree is read.
#[derive(Clone, Copy)]
pub(crate) enum Depth {
    One,
    All,
}

impl Bare {
    /// The newest commits that something leads to.
    pub(crate) async fn commits(&self, from: &str, most: usize) -> io::Result<Vec<CommitObject>> {
        self.commits_that(from, most, &[], None).await
    }

    /// The newest of these that `git log` finds with further options, and that change a path.
    pub(crate) async fn commits_that(
        &self,
        from: &str,
        most: usize,
        options: &[String],
        path: Option<&str>,
    ) -> io::Result<Vec<CommitObject>> {
        let format = "--format=%H%n%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B%x00";
        let limit = format!("--max-count={most}");
        let options = options.iter().map(String::as_str);
        let wanted = ["log", format, &limit].into_iter().chain(options);
        let wanted = wanted.chain(["--end-of-options", from, "--"]).chain(path);
        let log = self.text(&wanted.collect::<Vec<_>>()).await?;
        Ok(log.split('\0').filter_map(|entry| commit(entry.trim_start_matches('\n'))).collect())
    }

    /// The commit that a name stands for.
    pub(crate) async fn commit(&self, name: &str) -> io::Result<CommitObject> {
        self.commits(name, 1).await?.pop().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What a commit changes against its first parent; of a first commit, all of it.
    pub(crate) async fn changes(&self, commit: &CommitObject) -> io::Result<Vec<ChangedFile>> {
        let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned();
        let before = commit.parents.first().unwrap_or(&empty);
        let patch = self.text(&["diff", "--full-index", "-M", before, &commit.oid]).await?;
        Ok(diff::changed_files(&patch))
    }

    /// The entries of a tree, or of the tree of a commit.
    pub(crate) async fn tree(&self, name: &str, depth: Depth) -> io::Result<Vec<Entry>> {
        let mut arguments = vec!["ls-tree", "-l", "-z"];
        if matches!(depth, Depth::All) {
            arguments.extend(["-r", "-t"]);
        }
        arguments.push(name);
        let listing = self.text(&arguments).await?;
        Ok(listing.split('\0').filter_map(entry).collect())
    }

    /// The entry of a path.
    pub(crate) async fn entry(&self, name: &str, path: &str) -> io::Result<Entry> {
        let listing = self.text(&["ls-tree", "-l", "-z", name, "--", path]).await?;
        listing.split('\0').find_map(entry).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// All branches and tags below a name, with what they stand for: name, kind, hash.
    pub(crate) async fn references(&self, below: &str) -> io::Result<Vec<(String, String, String)>> {
        let format = "--format=%(refname) %(objecttype) %(objectname)";
        let listing = self.text(&["for-each-ref", format, below]).await?;
        let read = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            Some((words.next()?, words.next()?, words.next()?))
        };
        Ok(listing.lines().filter_map(read).collect())
    }
}

fn commit(entry: &str) -> Option<CommitObject> {
    let mut lines = entry.splitn(10, '\n').map(str::to_owned);
    let (oid, tree, parents) = (lines.next()?, lines.next()?, lines.next()?);
    let mut signature = || {
        let (name, email, date) = (lines.next()?, lines.next()?, lines.next()?);
        let date = Timestamp::from_second(date.parse().ok()?).ok()?;
        Some(Signature { name, email, date: date.strftime("%Y-%m-%dT%H:%M:%SZ").to_string() })
    };
    let (author, committer) = (signature()?, signature()?);
    let parents = parents.split(' ').filter(|parent| !parent.is_empty()).map(str::to_owned).collect();
    Some(CommitObject { oid, tree, parents, author, committer, message: lines.next()?.trim_end().to_owned() })
}

/// Reads `MODE KIND HASH SIZE\tPATH`.
fn entry(line: &str) -> Option<Entry> {
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split_whitespace().map(str::to_owned);
    let (mode, kind, oid) = (facts.next()?, facts.next()?, facts.next()?);
    let size = facts.next().and_then(|size| size.parse().ok());
    Some(Entry { mode, kind, oid, size, path: path.to_owned() })
}
