//! What git writes about the difference between two commits, read into the files that changed.

use crate::state::{Change, ChangedFile};

/// Reads the output of `git diff --full-index`, with renames found and no path quoted.
pub(crate) fn changed_files(diff: &str) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    for line in diff.split_inclusive('\n') {
        match line.strip_prefix("diff --git ") {
            Some(paths) => files.push((paths, String::new())),
            None => {
                if let Some((_, text)) = files.last_mut() {
                    text.push_str(line);
                }
            }
        }
    }
    files.into_iter().map(|(paths, text)| changed_file(paths.trim_end(), &text)).collect()
}

/// Reads one file: a header of extended lines, then the hunks.
fn changed_file(paths: &str, text: &str) -> ChangedFile {
    let hunks = text.find("\n@@ ").map(|at| at + 1);
    let (header, body) = text.split_at(hunks.unwrap_or(text.len()));
    let said = |start: &str| header.lines().find_map(|line| line.strip_prefix(start));
    let previous_path = said("rename from ").map(unquoted);
    let change = match (said("new file"), said("deleted file"), &previous_path) {
        (Some(_), ..) => Change::Added,
        (_, Some(_), _) => Change::Deleted,
        (.., Some(_)) => Change::Renamed,
        _ => Change::Modified,
    };
    // Without a rename both halves of `a/PATH b/PATH` are the same.
    let halves = || {
        let second = paths.get(paths.len() / 2 + 1..).unwrap_or(paths);
        unquoted(second).strip_prefix("b/").map(str::to_owned).unwrap_or_default()
    };
    let path = said("rename to ").map_or_else(halves, unquoted);
    let (before, after) = said("index ").and_then(|line| line.split_once("..")).unwrap_or_default();
    let blob = if change == Change::Deleted { before } else { after };
    let count = |sign| u64::try_from(body.lines().filter(|line| line.starts_with(sign)).count());
    ChangedFile {
        path,
        additions: count('+').unwrap_or_default(),
        deletions: count('-').unwrap_or_default(),
        change,
        previous_path,
        blob: blob.split(' ').next().unwrap_or_default().to_owned(),
        patch: hunks.map(|_| body.trim_end_matches('\n').to_owned()),
    }
}

/// Reads a path that git has put into quotes, since it has a quote, a backslash or a control character in it.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return path.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        bytes.push(match escaped {
            None => byte,
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'7') => {
                let more = [rest.next(), rest.next()].into_iter().flatten();
                more.fold(digit - b'0', |sum, digit| {
                    sum.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0'))
                })
            }
            Some(other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_quotes_is_read() {
        let diff = "diff --git \"a/a \\\"b\\\"\\t\\303\\244\" \"b/a \\\"b\\\"\\t\\303\\244\"\nnew file mode 100644\nindex 0..1\n";
        assert_eq!(changed_files(diff)[0].path, "a \"b\"\tä");
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let diff = "diff --git a/new bed b/new bed\nnew file mode 100644\nindex 000..111\n--- /dev/null\n+++ b/new bed\n@@ -0,0 +1 @@\n+--- roses\n\
                    diff --git a/old b/old\ndeleted file mode 100644\nindex 222..000\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-weeds\n\
                    diff --git a/hose b/pipe\nsimilarity index 100%\nrename from hose\nrename to pipe\n\
                    diff --git a/photo.png b/photo.png\nindex 333..444 100644\nBinary files a/photo.png and b/photo.png differ\n";
        let file = |path: &str, change, blob: &str| ChangedFile {
            path: path.to_owned(),
            additions: 0,
            deletions: 0,
            change,
            previous_path: None,
            blob: blob.to_owned(),
            patch: None,
        };
        let added = ChangedFile {
            additions: 1,
            patch: Some("@@ -0,0 +1 @@\n+--- roses".to_owned()),
            ..file("new bed", Change::Added, "111")
        };
        let deleted = ChangedFile {
            deletions: 1,
            patch: Some("@@ -1 +0,0 @@\n-weeds".to_owned()),
            ..file("old", Change::Deleted, "222")
        };
        let renamed =
            ChangedFile { previous_path: Some("hose".to_owned()), ..file("pipe", Change::Renamed, "") };
        let binary = file("photo.png", Change::Modified, "444");
        assert_eq!(changed_files(diff), [added, deleted, renamed, binary]);
    }
}
