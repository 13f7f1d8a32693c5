//! Who owns a file, as `CODEOWNERS` of the base commit says.
//!
//! Patterns are those of `.gitignore` with GitHub's exceptions: the last line that fits counts, nothing is excluded by
//! `!`, there are no classes in brackets, and `docs/*` does not reach into folders.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Where GitHub looks for the file; the first one that is there counts.
pub const PLACES: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// The owners of every file.
#[derive(Debug, Clone, Default)]
pub struct CodeOwners {
    rules: Vec<(GlobSet, Vec<String>)>,
}

impl CodeOwners {
    /// Reads the file. A line that GitHub would not understand is left out, as GitHub does.
    pub fn parse(text: &str) -> Self {
        Self { rules: text.lines().filter_map(rule).collect() }
    }

    /// Returns the people and teams that own a file, as they are mentioned: `octocat`, `octo/reviewers`.
    pub fn owners(&self, path: &str) -> &[String] {
        let last = self.rules.iter().rev().find(|(pattern, _)| pattern.is_match(path));
        last.map_or(&[], |(_, owners)| owners)
    }
}

fn rule(line: &str) -> Option<(GlobSet, Vec<String>)> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    let mut words = line.split_whitespace();
    let mut pattern = words.next().filter(|first| !first.starts_with(['#', '!']))?.to_owned();
    // A space of the path itself has a backslash before it.
    while pattern.ends_with('\\') {
        pattern.pop();
        pattern = format!("{pattern} {}", words.next()?);
    }
    // Who is named by an address of mail cannot be called in a comment.
    let owners = words.filter_map(|owner| owner.strip_prefix('@')).map(str::to_owned).collect();
    Some((globs(&pattern)?, owners))
}

/// Returns what a pattern fits: files of its name, and everything in folders of its name.
fn globs(pattern: &str) -> Option<GlobSet> {
    if pattern.contains(['[', ']']) {
        return None;
    }
    let name = pattern.trim_start_matches('/').trim_end_matches('/').replace('{', "\\{").replace('}', "\\}");
    let anchored = pattern.trim_end_matches('/').contains('/');
    let name = if anchored { name } else { format!("**/{name}") };
    let mut globs = GlobSetBuilder::new();
    if !pattern.ends_with('/') {
        globs.add(glob(&name)?);
    }
    if !(anchored && name.ends_with('*') && !name.ends_with("**")) {
        globs.add(glob(&format!("{name}/**"))?);
    }
    globs.build().ok()
}

fn glob(pattern: &str) -> Option<globset::Glob> {
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, path: &str, expect: &[&str]) {
        assert_eq!(CodeOwners::parse(text).owners(path), expect, "{text} {path}");
    }

    #[test]
    fn the_last_line_that_fits_counts() {
        let text = "# Everything\n* @octo/all\n*.rs @ada @grace # Rust\n/docs/ docs@octo.example @lin\n/docs/open/\n";
        check(text, "README.md", &["octo/all"]);
        check(text, "crates/tap/src/lib.rs", &["ada", "grace"]);
        check(text, "docs/a/b.md", &["lin"]);
        check(text, "docs/tap.rs", &["lin"]);
        check(text, "docs/open/b.md", &[]);
        check("", "README.md", &[]);
    }

    #[test]
    fn patterns_reach_as_far_as_github_says() {
        for (pattern, inside, outside) in [
            ("/build/logs/", "build/logs/a/b.log", "x/build/logs/b.log"),
            ("docs/*", "docs/getting-started.md", "docs/build-app/troubleshooting.md"),
            ("apps/", "x/apps/y/z.js", "x/apps"),
            ("**/logs", "build/logs/b.log", "build/log"),
            ("/*", "README.md", "docs/README.md"),
            ("tap.rs", "a/b/tap.rs", "a/b/tap.rs2"),
            ("/src/tap.rs", "src/tap.rs", "a/src/tap.rs"),
            ("/src/**", "src/a/b.rs", "a/src/b.rs"),
            ("my\\ docs/", "my docs/a.md", "my/a.md"),
            ("a{b}.rs", "a{b}.rs", "ab.rs"),
        ] {
            check(&format!("{pattern} @ada"), inside, &["ada"]);
            check(&format!("{pattern} @ada"), outside, &[]);
        }
    }

    #[test]
    fn what_github_does_not_understand_fits_nothing() {
        for line in ["!tap.rs @ada", "[a-z].rs @ada", "#tap.rs @ada", "   ", "my\\ "] {
            check(line, "tap.rs", &[]);
            check(line, "a.rs", &[]);
        }
    }
}
