//! Settings of a repository that nobody else has written to yet.

use std::{io::Write as _, path::Path};

use fs_err::OpenOptions;

use crate::git::GitError;

/// A section as it stands in brackets, a key in it, and the value.
pub(super) type Setting<'a> = (&'static str, &'static str, &'a str);

/// Adds settings to those that `git init` wrote. `git config` takes one at a time, and each start of git takes
/// milliseconds that somebody waits for.
pub(super) fn add(repository: &Path, settings: &[Setting<'_>]) -> Result<(), GitError> {
    let file = repository.join("config");
    let lines: String = settings.iter().map(|(section, key, value)| line(section, key, value)).collect();
    let written = OpenOptions::new().append(true).open(&file);
    written.and_then(|mut config| config.write_all(lines.as_bytes())).map_err(GitError::prepare(file))
}

/// Between quotes, two characters mean something else than themselves; a line's end is written as git writes it.
fn line(section: &str, key: &str, value: &str) -> String {
    let quoted = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("[{section}]\n\t{key} = \"{quoted}\"\n")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn git_reads_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let said = Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(said.status.success(), "{arguments:?}");
            String::from_utf8(said.stdout).unwrap()
        };
        git(&["init", "--quiet", "--bare", "."]);
        let strange = "http://host/a b\"c\\d;e#f\n[core]\n\tbare = false";
        let settings = [
            ("remote \"origin\"", "url", strange),
            ("push", "default", "current"),
            ("receive", "maxInputSize", "33554432"),
        ];
        add(folder.path(), &settings).unwrap();

        assert_eq!(git(&["config", "--null", "remote.origin.url"]), format!("{strange}\0"));
        assert_eq!(git(&["config", "push.default"]), "current\n");
        assert_eq!(git(&["config", "--type=int", "receive.maxInputSize"]), "33554432\n");
        assert_eq!(git(&["config", "core.bare"]), "true\n");
    }
}
