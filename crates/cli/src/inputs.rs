//! The inputs and outputs of the action, said once: `action.yaml` and the reference page are written from here.

mod review_table;
mod table;

use std::fmt::Write as _;

use review_table::{REVIEW_OUTPUTS, REVIEW_PARTS, ReviewInput};

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
    (
        "cache-status",
        "What was found of the memory: `hit`, `miss`, `newer` (of a newer engine, left alone) or `corrupted`.",
    ),
    ("memory-saved", "`true` if this run's memory was saved."),
    ("share-url", "Where everybody can read the session, if it was shared."),
    (
        "structured-output",
        "The result as one line of JSON, if `output-schema` is set and the agent handed one in that fits.",
    ),
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

/// Reads `name=value`. A name that no input has is not passed over: it may have meant that nothing is posted.
pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    one_of(all(), "action.yaml", text)
}

/// Reads `name=value` where the name is an input of the reviewer.
pub(crate) fn review_assignment(text: &str) -> Result<(String, String), String> {
    one_of(of_review(), "review/action.yaml", text)
}

fn one_of(
    known: impl Iterator<Item = &'static Input>,
    listed: &str,
    text: &str,
) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it reads `name=value`")?;
    let (name, known) = (name.trim(), known.map(|input| input.name).collect::<Vec<_>>());
    match (known.contains(&name), meant(name, known.iter().copied())) {
        (true, _) => Ok((name.to_owned(), value.to_owned())),
        (false, Some(near)) => Err(format!("there is no input `{name}`; did you mean `{near}`?")),
        (false, None) => Err(format!("there is no input `{name}`; `{listed}` lists them")),
    }
}

/// Returns the inputs of the reviewer.
fn of_review() -> impl Iterator<Item = &'static Input> {
    REVIEW_PARTS.iter().flat_map(|(_, inputs)| *inputs).filter_map(ReviewInput::find_input)
}

impl ReviewInput {
    /// Returns what is said of it. A test sees to it that every name in common is one.
    fn find_input(&'static self) -> Option<&'static Input> {
        match self {
            Self::Own(input) => Some(input),
            Self::Shared(name) => all().find(|input| input.name == *name),
        }
    }
}

/// Writes `action.yaml`.
pub(crate) fn action() -> String {
    let head = "\
        # Written by `fro-bot reference action`; its source is crates/cli/src/inputs.\n\
        name: fro-bot\n\
        description: An agent on your repository that remembers, answers exactly once and never holds a credential\n\
        author: fro-bot\n\
        branding:\n  icon: message-circle\n  color: green\n";
    action_file(head, all(), OUTPUTS, ("launch/main.mjs", "launch/post.mjs"))
}

/// Writes `review/action.yaml`.
pub(crate) fn review_action() -> String {
    let head = "\
        # Written by `fro-bot reference review-action`; its source is crates/cli/src/inputs.\n\
        name: fro-bot review\n\
        description: A reviewer of pull requests that remembers, argues, resolves, and says nothing when the code is good\n\
        author: fro-bot\n\
        branding:\n  icon: check-circle\n  color: green\n";
    action_file(head, of_review(), REVIEW_OUTPUTS, ("main.mjs", "post.mjs"))
}

fn action_file(
    head: &str,
    inputs: impl Iterator<Item = &'static Input>,
    outputs: &[(&str, &str)],
    (main, post): (&str, &str),
) -> String {
    let mut yaml = format!("{head}inputs:\n");
    for input in inputs {
        let _ = writeln!(yaml, "  {}:\n    description: {}", input.name, quoted(&input.description()));
        if let Some(default) = input.filled_in() {
            let _ = writeln!(yaml, "    default: {}", quoted(default));
        }
    }
    yaml.push_str("outputs:\n");
    for (name, meaning) in outputs {
        let _ = writeln!(yaml, "  {name}:\n    description: {}", quoted(meaning));
    }
    let _ = writeln!(yaml, "runs:\n  using: node24\n  main: {main}\n  post: {post}");
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
        write_rows(&mut page, part.title, part.inputs.iter());
    }
    write_outputs(&mut page, OUTPUTS);
    page
}

/// Writes the reference page of the reviewer's inputs and outputs.
pub(crate) fn review_page() -> String {
    let mut page = String::from(
        "# Inputs and outputs of the reviewer\n\n\
         <!-- Written by `fro-bot reference review-inputs`; its source is crates/cli/src/inputs. -->\n\n\
         Every input is optional; a model needs `model` with `opencode_api_key`, or `auth-json`. What has a ¶ may also stand\n\
         in [`.github/fro-bot.toml`](repo-settings.md). What they mean for a review is told in [reviewer.md](reviewer.md).\n",
    );
    for (title, inputs) in REVIEW_PARTS {
        write_rows(&mut page, title, inputs.iter().filter_map(ReviewInput::find_input));
    }
    write_outputs(&mut page, REVIEW_OUTPUTS);
    page
}

fn write_rows(page: &mut String, title: &str, inputs: impl Iterator<Item = &'static Input>) {
    let _ = write!(page, "\n## {title}\n\n| input | default | |\n|---|---|---|\n");
    for input in inputs {
        let default = input.default.map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
        let secret = if input.secret { " From a secret." } else { "" };
        let mark = if input.in_file { " ¶" } else { "" };
        let _ = writeln!(page, "| `{}`{mark} | {default} | {}{secret} |", input.name, input.meaning);
    }
}

fn write_outputs(page: &mut String, outputs: &[(&str, &str)]) {
    page.push_str("\n## Outputs\n\n| output | |\n|---|---|\n");
    for (name, meaning) in outputs {
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
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
    fn the_reviewer_s_files_are_fresh() {
        let told = "run `cargo run -- reference review-action > review/action.yaml`";
        assert_eq!(in_project("review/action.yaml"), review_action(), "{told}");
        let told = "run `cargo run -- reference review-inputs > docs/review-inputs.md`";
        assert_eq!(in_project("docs/review-inputs.md"), review_page(), "{told}");
    }

    #[test]
    fn every_input_of_the_reviewer_is_one_is_read_and_has_a_default_that_can_be_read() {
        let listed = REVIEW_PARTS.iter().map(|(_, inputs)| inputs.len()).sum::<usize>();
        assert_eq!(of_review().count(), listed, "a name in common is none of the agent's inputs");
        let files = ["launch/binary.mjs", "crates/cli/src/settings.rs", "crates/cli/src/event_source.rs"];
        let modules =
            ["answers", "stores", "review"].map(|module| format!("crates/cli/src/settings/{module}.rs"));
        let code: String =
            files.into_iter().map(in_project).chain(modules.iter().map(|path| in_project(path))).collect();
        for input in of_review() {
            assert!(code.contains(&format!("\"{}\"", input.name)), "{} is not read", input.name);
        }
        let defaults = of_review()
            .filter_map(|input| Some((format!("INPUT_{}", input.name.to_uppercase()), input.default?)));
        let given = [("GITHUB_REPOSITORY", "octo/garden"), ("FRO_ROLE", "review")];
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        let settings = of_action(
            &Env::from_variables(given.chain(defaults)),
            "pull_request",
            String::new(),
            Timestamp::UNIX_EPOCH,
        );
        assert!(settings.is_ok(), "{:?}", settings.err());
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
        let env = Env::from_variables(given.chain(defaults));
        let settings = of_action(&env, "schedule", String::new(), Timestamp::UNIX_EPOCH);
        assert!(settings.is_ok(), "{:?}", settings.err());
    }

    #[test]
    fn an_input_that_does_not_exist_is_told() {
        let told = |text| assignment(text).unwrap_err();
        assert_eq!(assignment("response-mode=none"), Ok(("response-mode".to_owned(), "none".to_owned())));
        assert_eq!(told("response-mode"), "it reads `name=value`");
        assert_eq!(
            told("responsemode=none"),
            "there is no input `responsemode`; did you mean `response-mode`?"
        );
        assert_eq!(told("tulips=red"), "there is no input `tulips`; `action.yaml` lists them");
    }
}
