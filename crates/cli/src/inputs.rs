//! The inputs and outputs of the action, said once: `action.yaml` and the reference page are written from here.

mod table;

use std::fmt::Write as _;

/// How alike two names are before one may be meant by the other.
const ALIKE: f64 = 0.8;

/// Inputs that belong together.
pub(crate) struct Part {
    title: &'static str,
    inputs: &'static [Input],
}

/// One input.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    meaning: &'static str,
    default: Option<&'static str>,
    secret: bool,
    /// Whether the repository's own file may set it, too.
    pub(crate) in_file: bool,
}

/// The outputs, each with its meaning.
const OUTPUTS: &[(&str, &str)] = &[
    ("comment-url", "Where the answer is."),
    ("session-id", "The engine's session."),
    ("cache-status", "What was found of the memory: `hit`, `miss` or `corrupted`."),
    ("memory-saved", "`true` if this run's memory was saved."),
    ("share-url", "Where everybody can read the session, if it was shared."),
    ("duration", "Seconds from the start to the answer."),
    (
        "tokens",
        "What the models read and wrote, as JSON: `input`, `output`, `reasoning`, `cache_read`, `cache_write`.",
    ),
    ("cost", "What they cost, in US dollars by the engine's price list."),
];

impl Input {
    const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, default: None, secret: false, in_file: false }
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    const fn in_file(self) -> Self {
        Self { in_file: true, ..self }
    }

    /// Returns the default that the runner fills in. Where the file has a word, only the program itself can tell what
    /// was left out.
    fn filled_in(&self) -> Option<&'static str> {
        self.default.filter(|_| !self.in_file)
    }

    fn description(&self) -> String {
        match self.default.filter(|_| self.in_file) {
            Some(default) => format!("{} `{default}` if left out.", self.meaning),
            None => self.meaning.to_owned(),
        }
    }
}

/// Returns all inputs.
pub(crate) fn all() -> impl Iterator<Item = &'static Input> {
    table::PARTS.iter().flat_map(|part| part.inputs)
}

/// Returns the name that another comes nearest to.
pub(crate) fn meant(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.replace('_', "-").to_lowercase();
    let likeness = |known: &&str| strsim::jaro_winkler(&name, known);
    let nearest = known.max_by(|left, right| likeness(left).total_cmp(&likeness(right)));
    nearest.filter(|known| likeness(known) >= ALIKE)
}

/// Writes `action.yaml`.
pub(crate) fn action() -> String {
    let mut yaml = String::from(
        "# Written by `fro-bot reference action`; its source is crates/cli/src/inputs.\n\
         name: fro-bot\n\
         description: An agent on your repository that remembers, answers exactly once and never holds a credential\n\
         author: fro-bot\n\
         branding:\n  icon: message-circle\n  color: green\n\
         inputs:\n",
    );
    for input in all() {
        let _ = writeln!(yaml, "  {}:\n    description: {}", input.name, quoted(&input.description()));
        if let Some(default) = input.filled_in() {
            let _ = writeln!(yaml, "    default: {}", quoted(default));
        }
    }
    yaml.push_str("outputs:\n");
    for (name, meaning) in OUTPUTS {
        let _ = writeln!(yaml, "  {name}:\n    description: {}", quoted(meaning));
    }
    yaml.push_str("runs:\n  using: node24\n  main: launch/main.mjs\n  post: launch/post.mjs\n");
    yaml
}

/// Writes the reference page of inputs and outputs.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "# Inputs and outputs\n\n\
         <!-- Written by `fro-bot reference inputs`; its source is crates/cli/src/inputs. -->\n\n\
         Every input is optional; a model needs `auth-json`, and a run by schedule or by hand needs `prompt`. All\n\
         mistakes are told at once, each with the input it is in. What has a ¶ may also stand in\n\
         [`.github/fro-bot.toml`](repo-settings.md).\n",
    );
    for part in table::PARTS {
        let _ = write!(page, "\n## {}\n\n| input | default | |\n|---|---|---|\n", part.title);
        for input in part.inputs {
            let default = input.default.map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
            let secret = if input.secret { " From a secret." } else { "" };
            let mark = if input.in_file { " ¶" } else { "" };
            let _ = writeln!(page, "| `{}`{mark} | {default} | {}{secret} |", input.name, input.meaning);
        }
    }
    page.push_str("\n## Outputs\n\n| output | |\n|---|---|\n");
    for (name, meaning) in OUTPUTS {
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
    page
}

/// Writes a YAML string that nothing in it can end.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;

    use super::*;
    use crate::{env::Env, settings::of_action};

    fn in_project(path: &str) -> String {
        fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
    }

    #[test]
    fn the_action_file_is_fresh() {
        assert_eq!(in_project("action.yaml"), action(), "run `cargo run -- reference action > action.yaml`");
    }

    #[test]
    fn the_reference_page_is_fresh() {
        let told = "run `cargo run -- reference inputs > docs/inputs.md`";
        assert_eq!(in_project("docs/inputs.md"), page(), "{told}");
    }

    #[test]
    fn the_page_for_those_who_come_from_elsewhere_names_every_input() {
        let page = in_project("docs/migration.md");
        let names = all().map(|input| input.name);
        let missing: Vec<_> = names.filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn the_page_about_the_file_says_of_every_input_whether_it_may_stand_there() {
        let page = in_project("docs/repo-settings.md");
        let column =
            |number| -> String { page.lines().filter_map(|row| row.split('|').nth(number)).collect() };
        let (left, right) = (column(1), column(2));
        for input in all() {
            let named = |cell: &str| cell.contains(&format!("`{}`", input.name));
            let is_s3 = input.name.starts_with("s3-");
            assert_eq!(
                (named(&left), named(&right) || is_s3),
                (input.in_file, !input.in_file),
                "{}",
                input.name
            );
        }
    }

    #[test]
    fn every_input_is_read_somewhere() {
        let files = ["launch/binary.mjs", "crates/cli/src/settings.rs", "crates/cli/src/event_source.rs"];
        let mut code: String = files.map(in_project).concat();
        for module in ["answers", "stores"] {
            code += &in_project(&format!("crates/cli/src/settings/{module}.rs"));
        }
        let names = all().map(|input| input.name);
        let unread: Vec<_> = names.filter(|name| !code.contains(&format!("\"{name}\""))).collect();
        assert_eq!(unread, Vec::<&str>::new());
    }

    #[test]
    fn every_default_can_be_read() {
        let defaults =
            all().filter_map(|input| Some((format!("INPUT_{}", input.name.to_uppercase()), input.default?)));
        let given = [("GITHUB_REPOSITORY", "octo/garden"), ("GITHUB_STEP_SUMMARY", "page.md")];
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        let env = Env::of(given.chain(defaults));
        let settings = of_action(&env, "schedule", String::new(), Timestamp::UNIX_EPOCH);
        assert!(settings.is_ok(), "{:?}", settings.err());
    }
}
