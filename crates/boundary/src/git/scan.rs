//! Looks for credentials in what a push would publish: pure, over the bytes that git told.

use std::collections::BTreeMap;

use fro_core::Redactor;

use crate::git::{
    rules::{Change, Refused},
    unpacked::{Budget, TooMuch},
};

/// How much is searched at once; a credential at the edge is seen by the next piece.
const PIECE: usize = 1 << 20;
const OVERLAP: usize = 16 << 10;

/// An object as `git cat-file --batch` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object<'a> {
    pub(super) id: String,
    pub(super) content: &'a [u8],
}

/// Reads what `git cat-file --batch` prints: a line with id, type and size, the content, and the end of a line.
pub(super) fn objects(mut told: &[u8]) -> Option<Vec<Object<'_>>> {
    let mut objects = Vec::new();
    while !told.is_empty() {
        let end = told.iter().position(|byte| *byte == b'\n')?;
        let mut words = std::str::from_utf8(&told[..end]).ok()?.split(' ');
        let (id, _kind, size) = (words.next()?, words.next()?, words.next()?.parse::<usize>().ok()?);
        let rest = &told[end + 1..];
        let content = rest.get(..size)?;
        told = rest.get(size..)?.strip_prefix(b"\n")?;
        objects.push(Object { id: id.to_owned(), content });
    }
    Some(objects)
}

/// Refuses a commit whose names, headers or message hold a credential.
pub(super) fn commit(redactor: &Redactor, commit: &Object<'_>) -> Result<(), Refused> {
    if found(redactor, commit.content) == Found::Nothing {
        return Ok(());
    }
    Err(Refused::Secret { commit: short(&commit.id), place: "its message or names".to_owned() })
}

/// Refuses a change that adds a credential: one that the run knows anywhere, and one that only looks like one where the
/// file had fewer of them before.
///
/// What is packed in a file counts as if it stood there; `unpacked` is the most that may come out of all files.
pub(super) fn changes(
    redactor: &Redactor,
    changes: &[Change],
    contents: &BTreeMap<String, Vec<u8>>,
    unpacked: u64,
) -> Result<(), Refused> {
    let budget = Budget::new(unpacked);
    let of = |id: &str| match contents.get(id) {
        Some(content) => {
            found_within(redactor, content, &budget).map_err(|TooMuch| Refused::TooLarge(unpacked >> 20))
        }
        None => Ok(Found::Nothing),
    };
    for change in changes {
        let commit = || change.commit.clone();
        if found(redactor, change.path.as_bytes()) != Found::Nothing {
            return Err(Refused::Secret { commit: commit(), place: "the name of a file".to_owned() });
        }
        let refused = match (of(&change.new)?, of(&change.old)?) {
            (Found::Shapes(new), Found::Shapes(old)) => new > old,
            (Found::Known | Found::Shapes(_), _) => true,
            (Found::Nothing, _) => false,
        };
        if refused {
            return Err(Refused::Secret { commit: commit(), place: format!("`{}`", change.path) });
        }
    }
    Ok(())
}

/// What a redactor finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// So many things that look like credentials.
    Shapes(usize),
    /// A secret of this run.
    Known,
}

/// Looks at a file and at all that is packed in it.
fn found_within(redactor: &Redactor, bytes: &[u8], budget: &Budget) -> Result<Found, TooMuch> {
    let within = budget.unpack(bytes)?;
    let each = within.iter().map(|one| found(redactor, one));
    Ok(each.fold(found(redactor, bytes), Found::and))
}

impl Found {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known, _) | (_, Self::Known) => Self::Known,
            (Self::Shapes(one), Self::Shapes(two)) => Self::Shapes(one + two),
            (Self::Nothing, some) | (some, Self::Nothing) => some,
        }
    }
}

fn found(redactor: &Redactor, bytes: &[u8]) -> Found {
    let mut shapes = 0;
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes.len().min(start + PIECE);
        let piece = String::from_utf8_lossy(&bytes[start..end]);
        if redactor.knows(&piece) {
            return Found::Known;
        }
        shapes += redactor.count_shapes(&piece);
        start = if end == bytes.len() { end } else { end - OVERLAP };
    }
    if shapes == 0 { Found::Nothing } else { Found::Shapes(shapes) }
}

fn short(id: &str) -> String {
    id.chars().take(7).collect()
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const KNOWN: &str = "planted-known-secret";

    fn check(old: &str, new: &str, expected: Option<&str>) {
        let redactor = Redactor::knowing([&Secret::new(KNOWN)]);
        let change = Change {
            commit: "0123456".to_owned(),
            path: "a.txt".to_owned(),
            old: "o".to_owned(),
            new: "n".to_owned(),
        };
        let contents = [("o", old), ("n", new)].map(|(id, text)| (id.to_owned(), text.as_bytes().to_vec()));
        let refused =
            changes(&redactor, &[change], &contents.into(), 1 << 20).err().map(|refused| refused.to_string());
        assert_eq!(refused.as_deref(), expected);
    }

    #[test]
    fn a_new_credential_is_refused_and_one_that_stood_there_is_not() {
        let key = format!("ghp_{}", "a1".repeat(18));
        let refused =
            Some("commit 0123456 has a credential in `a.txt`; take it out of every commit of the push");
        check("", "harmless", None);
        check("", KNOWN, refused);
        check("", &KNOWN.chars().rev().collect::<String>(), refused);
        check("", &KNOWN.replace('-', "-\" + \""), refused);
        check(KNOWN, &format!("{KNOWN} again"), refused);
        check("", &key, refused);
        check(&key, &format!("// a comment\n{key}"), None);
        check(&key, &format!("{key} {key}x"), refused);
    }

    #[test]
    fn a_credential_at_the_edge_of_a_piece_is_found() {
        let text = format!("{}{KNOWN}", "x".repeat(PIECE - 5));
        check(
            "",
            &text,
            Some("commit 0123456 has a credential in `a.txt`; take it out of every commit of the push"),
        );
    }

    #[test]
    fn objects_are_read_as_git_prints_them() {
        let told = b"aa blob 3\na\nb\nbb commit 0\n\n";
        let read = objects(told).unwrap();
        let expected = [("aa", &b"a\nb"[..]), ("bb", b"")];
        assert_eq!(read, expected.map(|(id, content)| Object { id: id.to_owned(), content }));
        assert_eq!(objects(b"aa missing\n"), None);
        assert_eq!(objects(b"aa blob 9\nshort\n"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..64)) {
            drop(objects(&bytes));
        }
    }
}
