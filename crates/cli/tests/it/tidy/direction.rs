//! Which crate may know which: arrows point down only, and the world outside knows nobody.

use super::Complaint;

/// Each crate with all that it may depend on.
const HOUSE: [(&str, &[&str]); 15] = [
    ("core", &[]),
    ("review", &["core"]),
    ("http", &["core"]),
    ("github", &["core", "http"]),
    ("discord", &["core", "http"]),
    ("opencode", &["core", "http"]),
    ("memory", &["core", "http"]),
    ("boundary", &["core", "http"]),
    ("agent", &["core", "http", "github", "opencode", "memory", "boundary"]),
    ("run", &["core", "review", "http", "github", "opencode", "memory", "boundary", "agent"]),
    ("serve", &["core", "http", "github", "discord", "agent"]),
    ("page", &["core", "memory", "serve"]),
    (
        "cli",
        &[
            "core", "review", "http", "github", "opencode", "memory", "boundary", "agent", "run", "serve",
            "page", "discord", "sim",
        ],
    ),
    ("sim", &[]),
    ("stories", &["sim"]),
];

/// Complains of dependencies that are not in the table.
pub(crate) fn check(path: &str, manifest: &str) -> Vec<Complaint> {
    let name = path.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
    let Some((_, below)) = HOUSE.iter().find(|(known, _)| *known == name) else {
        return vec![(1, format!("`{name}` has no place in the house; give it one in `tidy/direction.rs`"))];
    };
    let mut complaints = Vec::new();
    let mut section = Section::Other;
    for (number, line) in (1..).zip(manifest.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            section = Section::named(header);
        }
        for ours in crates_in(line).filter(|_| section != Section::Other) {
            // Tests of an adapter talk to the world outside.
            let by_test = section == Section::Dev && ours == "sim" && name != "sim";
            if !below.contains(&ours) && !by_test {
                let what = format!(
                    "`{name}` may not know `{ours}`; move what both need below them, or let `run` bring them together"
                );
                complaints.push((number, what));
            }
        }
    }
    complaints
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Normal,
    Dev,
    Other,
}

impl Section {
    fn named(header: &str) -> Self {
        match header {
            _ if header.contains("dev-dependencies") => Self::Dev,
            _ if header.contains("dependencies") => Self::Normal,
            _ => Self::Other,
        }
    }
}

/// Returns our crates that a line of a manifest speaks of, without their prefix.
fn crates_in(line: &str) -> impl Iterator<Item = &str> {
    let end_of_name = |character: char| !character.is_ascii_alphanumeric() && character != '-';
    line.split(end_of_name).filter_map(|word| word.strip_prefix("fro-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn complaints(name: &str, manifest: &str, lines: &[usize]) {
        let complaints = check(&format!("crates/{name}/Cargo.toml"), manifest);
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{complaints:?}");
    }

    #[test]
    fn what_is_below_may_be_known() {
        complaints(
            "github",
            "[package]\nname = \"fro-github\"\n[dependencies]\nfro-http.workspace = true",
            &[],
        );
        complaints("cli", "[dependencies]\nfro-sim = { workspace = true, optional = true }", &[]);
    }

    #[test]
    fn what_is_above_or_beside_may_not() {
        complaints("core", "[dependencies]\nserde = \"1\"\nfro-http.workspace = true", &[3]);
        complaints("memory", "[dependencies]\nfro-opencode = { path = \"../opencode\" }", &[2]);
        complaints("memory", "[dependencies]\nengine = { package = \"fro-opencode\", path = \"x\" }", &[2]);
        complaints("memory", "[dependencies.fro-opencode]\nworkspace = true", &[1]);
        complaints("http", "[target.'cfg(unix)'.build-dependencies]\nfro-run.workspace = true", &[2]);
        complaints("http", "[dependencies]\n# fro-run.workspace = true", &[]);
    }

    #[test]
    fn tests_may_use_the_world_outside_and_it_knows_nobody() {
        complaints("github", "[dev-dependencies]\nfro-sim.workspace = true", &[]);
        complaints("github", "[dependencies]\nfro-sim.workspace = true", &[2]);
        complaints("github", "[dev-dependencies]\nfro-memory.workspace = true", &[2]);
        complaints("sim", "[dev-dependencies]\nfro-core.workspace = true", &[2]);
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        complaints("helpers", "[dependencies]", &[1]);
    }
}
