//! A pull request's change as hunks: which lines of which file a remark can stand beside.

use std::ops::Range;

use diffy::{
    Line, Patch,
    patch_set::{FileOperation, ParseOptions, PatchKind, PatchSet},
};
use fro_core::Side;

/// A change, file by file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    files: Vec<FileDiff>,
}

/// What a change does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path: the new one, or the last one of a file that is gone.
    pub path: String,
    /// Where it was before, if it was moved.
    pub moved_from: Option<String>,
    /// Its hunks in order; none if it is binary, too large or only moved.
    pub hunks: Vec<Hunk>,
}

/// A piece of a file that is shown in the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The lines of the new file, changed or not.
    new: Range<usize>,
    /// The lines of the old file that are gone.
    deleted: Vec<usize>,
}

/// A diff that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The diff of several files.
    #[error("cannot read the diff")]
    Set(#[source] diffy::patch_set::PatchSetParseError),
    /// The patch of one file.
    #[error("cannot read the patch of `{path}`")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        #[source]
        source: diffy::ParsePatchError,
    },
}

impl Diff {
    /// Puts files together.
    pub fn new(files: Vec<FileDiff>) -> Self {
        Self { files }
    }

    /// Reads a whole diff, as `git diff` writes it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let files = PatchSet::parse(text, ParseOptions::gitdiff()).map(|file| {
            let file = file.map_err(Error::Set)?;
            let (path, moved_from) = paths(file.operation());
            let hunks = match file.patch() {
                PatchKind::Text(text) => hunks(text),
                PatchKind::Binary(_) => Vec::new(),
            };
            Ok(FileDiff { path, moved_from, hunks })
        });
        files.collect::<Result<_, _>>().map(Self::new)
    }

    /// Returns the files.
    pub fn files(&self) -> &[FileDiff] {
        &self.files
    }

    /// Finds a file by its path, or by the one that it was moved from.
    pub fn file(&self, path: &str) -> Option<&FileDiff> {
        let moved = |file: &&FileDiff| file.moved_from.as_deref() == Some(path);
        self.files.iter().find(|file| file.path == path).or_else(|| self.files.iter().find(moved))
    }
}

impl FileDiff {
    /// Reads one file's patch as GitHub tells it: hunks without a header, nothing if it is binary or too large.
    pub fn from_patch(path: &str, moved_from: Option<String>, shown: Option<&str>) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let hunks = match shown.filter(|shown| !shown.is_empty()) {
            // GitHub leaves out the end of the last line.
            Some(shown) => hunks(&Patch::from_str(&format!("{shown}\n")).map_err(failed)?),
            None => Vec::new(),
        };
        Ok(Self { path: path.to_owned(), moved_from, hunks })
    }
}

impl Hunk {
    /// Tells whether a remark can stand beside this line.
    pub fn has(&self, side: Side, line: usize) -> bool {
        match side {
            Side::Right => self.new.contains(&line),
            Side::Left => self.deleted.contains(&line),
        }
    }

    /// Returns the lines that a remark can stand beside.
    pub fn lines(&self, side: Side) -> Vec<usize> {
        match side {
            Side::Right => self.new.clone().collect(),
            Side::Left => self.deleted.clone(),
        }
    }
}

/// Returns the path of a file and, if it was moved, the one before.
///
/// `a/` and `b/` are git's; the lines about a move come without them.
fn paths(operation: &FileOperation<'_, str>) -> (String, Option<String>) {
    let bare = operation.strip_prefix(1);
    match (operation, bare) {
        (FileOperation::Rename { from, to }, _) => (to.to_string(), Some(from.to_string())),
        (FileOperation::Copy { to, .. }, _) => (to.to_string(), None),
        (_, FileOperation::Delete(path) | FileOperation::Create(path)) => (path.into_owned(), None),
        (_, FileOperation::Modify { modified, .. }) => (modified.into_owned(), None),
        (_, FileOperation::Rename { to, .. } | FileOperation::Copy { to, .. }) => (to.into_owned(), None),
    }
}

fn hunks(patch: &Patch<'_, str>) -> Vec<Hunk> {
    patch.hunks().iter().map(hunk).collect()
}

fn hunk(hunk: &diffy::Hunk<'_, str>) -> Hunk {
    let mut old = hunk.old_range().start();
    let mut deleted = Vec::new();
    for line in hunk.lines() {
        match line {
            Line::Context(_) => old += 1,
            Line::Delete(_) => {
                deleted.push(old);
                old += 1;
            }
            Line::Insert(_) => {}
        }
    }
    Hunk { new: hunk.new_range().range(), deleted }
}
