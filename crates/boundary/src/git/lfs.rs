//! Files that Git LFS keeps: a clone here has their pointers, and nothing uploads what a new pointer would point to.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::rules::{Change, Refused};

/// How every pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// Refuses changes to such files. `kept` are the paths of which the attributes say that LFS keeps them.
///
/// A file that is moved or put back as it was keeps its pointer, and that passes.
pub(super) fn check(
    changes: &[Change],
    contents: &BTreeMap<String, Vec<u8>>,
    kept: &BTreeSet<String>,
) -> Result<(), Refused> {
    let before: BTreeSet<&str> = changes.iter().map(|change| change.old.as_str()).collect();
    let is_pointer = |id: &str| contents.get(id).is_some_and(|content| content.starts_with(POINTER));
    for Change { commit, path, old, new } in changes {
        let is_new = contents.contains_key(new) && !before.contains(new.as_str());
        if is_new && (is_pointer(new) || is_pointer(old) || kept.contains(path)) {
            return Err(Refused::Lfs { commit: commit.clone(), path: path.clone() });
        }
    }
    Ok(())
}

/// Reads what `git check-attr -z filter` says: path, attribute and value, each ended by a zero.
pub(super) fn kept(told: &[u8]) -> BTreeSet<String> {
    let words: Vec<_> = told.split(|byte| *byte == 0).collect();
    let lfs = words.chunks_exact(3).filter(|row| row[2] == b"lfs");
    lfs.map(|row| String::from_utf8_lossy(row[0]).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, old: &str, new: &str) -> Change {
        let [commit, path, old, new] = ["c0ffee1", path, old, new].map(str::to_owned);
        Change { commit, path, old, new }
    }

    #[track_caller]
    fn check_one(changes: &[Change], passes: bool) {
        let pointer = |oid: &str| [POINTER, oid.as_bytes()].concat();
        let contents = [("p1", pointer("1")), ("p2", pointer("2")), ("t1", b"plain".to_vec())];
        let contents = contents.map(|(id, content)| (id.to_owned(), content)).into();
        let kept = kept(b"tap.psd\0filter\0lfs\0tap.rs\0filter\0unspecified\0");
        assert_eq!(check(changes, &contents, &kept).is_ok(), passes, "{changes:?}");
    }

    #[test]
    fn what_lfs_keeps_is_left_as_it_is() {
        check_one(&[change("tap.rs", "", "t1")], true);
        check_one(&[change("tap.psd", "", "t1")], false);
        check_one(&[change("tap.bin", "p1", "t1")], false);
        check_one(&[change("tap.bin", "p1", "p2")], false);
        check_one(&[change("new.bin", "", "p2")], false);
        check_one(&[change("tap.psd", "p1", "")], true);
        check_one(&[change("tap.psd", "p1", ""), change("hose.psd", "", "p1")], true);
    }
}
