//! The workflow file that `fro-bot init` writes: one job per kind of event, each with the least it needs.

use std::fmt::Write as _;

/// The released action.
pub const ACTION: &str = "fro-bot/agent@v0";

/// Where people find the pages about it, who have no copy of them.
pub const PAGES: &str = "https://github.com/fro-bot/agent/blob/main/docs";

/// The action that checks the repository out, by the commit of its release.
const CHECKOUT: &str = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1";

/// What is asked on Mondays if nobody says otherwise.
const WEEKLY: &str =
    "List the issues of the last week that nobody answered, with one sentence each on what they need.";

/// A kind of event that the workflow answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Mentions in the conversation of an issue or pull request.
    Mentions,
    /// Mentions in review threads.
    Threads,
    /// Mentions in discussions.
    Discussions,
    /// New issues, and mentions that are added to old ones.
    Issues,
    /// Pull requests that are opened, pushed to, reopened or ready.
    Pulls,
    /// A task for every Monday.
    Schedule,
    /// A task that somebody types in.
    Dispatch,
}

impl Kind {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 7] = [
        Self::Mentions,
        Self::Threads,
        Self::Discussions,
        Self::Issues,
        Self::Pulls,
        Self::Schedule,
        Self::Dispatch,
    ];

    /// What it is called on the command line; the job has the same name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mentions => "mentions",
            Self::Threads => "threads",
            Self::Discussions => "discussions",
            Self::Issues => "issues",
            Self::Pulls => "pulls",
            Self::Schedule => "schedule",
            Self::Dispatch => "dispatch",
        }
    }

    /// Finds one by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What the file says above `jobs`.
    fn event(self) -> &'static str {
        match self {
            Self::Mentions => "  issue_comment:\n    types: [created]\n",
            Self::Threads => "  pull_request_review_comment:\n    types: [created]\n",
            Self::Discussions => {
                "  discussion:\n    types: [created]\n  discussion_comment:\n    types: [created]\n"
            }
            Self::Issues => "  issues:\n    types: [opened, edited]\n",
            Self::Pulls => "  pull_request:\n    types: [opened, synchronize, reopened, ready_for_review]\n",
            Self::Schedule => "  schedule:\n    - cron: \"23 6 * * 1\"\n",
            Self::Dispatch => {
                "  workflow_dispatch:\n    inputs:\n      prompt:\n        description: What should be done?\n        required: true\n"
            }
        }
    }

    /// When the job runs. Anything else does not even start a runner.
    fn condition(self) -> &'static str {
        match self {
            Self::Mentions => {
                "github.event_name == 'issue_comment' && contains(github.event.comment.body, '@fro-bot') && github.event.comment.user.type != 'Bot'"
            }
            Self::Threads => {
                "github.event_name == 'pull_request_review_comment' && contains(github.event.comment.body, '@fro-bot') && github.event.comment.user.type != 'Bot'"
            }
            Self::Discussions => {
                "startsWith(github.event_name, 'discussion') && contains(github.event.comment.body || github.event.discussion.body, '@fro-bot')"
            }
            Self::Issues => {
                "github.event_name == 'issues' && (github.event.action == 'opened' || contains(github.event.issue.body, '@fro-bot'))"
            }
            Self::Pulls => {
                "github.event_name == 'pull_request' && !github.event.pull_request.draft && !github.event.pull_request.head.repo.fork"
            }
            Self::Schedule => "github.event_name == 'schedule' && !github.event.repository.fork",
            Self::Dispatch => {
                "github.event_name == 'workflow_dispatch' && github.ref_name == github.event.repository.default_branch"
            }
        }
    }

    /// Which runs wait for each other. A waiting run is dropped when a third joins its group, and no mention may be lost.
    fn group(self) -> &'static str {
        match self {
            Self::Mentions | Self::Threads => "fro-bot-comment-${{ github.event.comment.id }}",
            Self::Discussions => {
                "fro-bot-discussion-${{ github.event.discussion.number }}-${{ github.event.comment.id }}"
            }
            Self::Issues => "fro-bot-issue-${{ github.event.issue.number }}-${{ github.event.action }}",
            Self::Pulls => "fro-bot-pull-${{ github.event.pull_request.number }}",
            Self::Schedule => "fro-bot-schedule",
            Self::Dispatch => "fro-bot-dispatch-${{ github.run_id }}",
        }
    }

    /// What the job's token may do besides reading the code.
    fn permissions(self) -> &'static [&'static str] {
        match self {
            Self::Mentions => &["issues: write", "pull-requests: write"],
            Self::Threads | Self::Pulls => &["pull-requests: write"],
            Self::Discussions => &["discussions: write"],
            Self::Issues => &["issues: write"],
            Self::Schedule | Self::Dispatch => &["issues: read", "pull-requests: read"],
        }
    }

    /// Whether GitHub gives the job a cache that can only be read unless it is told otherwise: anybody can set these off,
    /// and they run on the default branch. Threads and pull requests run on the merge, which has a cache of its own.
    fn is_given_a_read_only_cache(self) -> bool {
        match self {
            Self::Mentions | Self::Discussions | Self::Issues => true,
            Self::Threads | Self::Pulls | Self::Schedule | Self::Dispatch => false,
        }
    }
}

/// Where the memory is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryChoice {
    /// In the Actions cache.
    Cache,
    /// In a bucket.
    S3 {
        /// Where the bucket is.
        region: String,
    },
}

/// As whom changes are pushed and pull requests opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pusher {
    /// As the job itself.
    Job,
    /// As a GitHub App.
    App,
}

/// What the file is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// The events that it answers.
    pub kinds: Vec<Kind>,
    /// The model, as `provider/model`.
    pub model: String,
    /// Where the memory is kept.
    pub shelf: MemoryChoice,
    /// As whom changes are made.
    pub pusher: Pusher,
    /// The action that answers, as `uses:` has it.
    pub action: String,
}

impl Workflow {
    /// Writes the file.
    pub fn render(&self) -> String {
        let mut file = String::from(
            "# Written by `fro-bot init`. One job per kind of event, each with the least that it needs; remove what you do not want.\n\
             name: fro-bot\non:\n",
        );
        let kinds: Vec<_> = Kind::ALL.into_iter().filter(|kind| self.kinds.contains(kind)).collect();
        file.extend(kinds.iter().map(|kind| kind.event()));
        file.push_str("\npermissions: {}\n\njobs:\n");
        let jobs: Vec<_> = kinds.iter().map(|kind| self.job(*kind)).collect();
        file + &jobs.join("\n")
    }

    /// Finds in a file what [`needs`](Self::needs) depends on; nothing if it names no model. Whoever wrote the file may have
    /// changed the rest.
    pub fn read(file: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = file.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
            line.map(|value| value.trim().to_owned())
        };
        let shelf = match value("s3-bucket") {
            Some(_) => MemoryChoice::S3 { region: value("aws-region").unwrap_or_default() },
            None => MemoryChoice::Cache,
        };
        let pusher = if value("app-id").is_some() { Pusher::App } else { Pusher::Job };
        let is_there = |kind: &Kind| file.contains(&format!("\n  {}:\n", kind.name()));
        let kinds = Kind::ALL.into_iter().filter(is_there).collect();
        Some(Self { kinds, model: value("model")?, shelf, pusher, action: ACTION.to_owned() })
    }

    fn job(&self, kind: Kind) -> String {
        let mut job = format!("  {}:\n    if: ${{{{ {} }}}}\n", kind.name(), kind.condition());
        let replaced = kind == Kind::Pulls;
        let _ = write!(
            job,
            "    concurrency:\n      group: {}\n      cancel-in-progress: {replaced}\n    runs-on: ubuntu-latest\n    timeout-minutes: 45\n",
            kind.group(),
        );
        if self.shelf == MemoryChoice::Cache && kind.is_given_a_read_only_cache() {
            job.push_str("    cache-mode: write\n");
        }
        job.push_str("    permissions:\n      contents: read\n");
        job.extend(kind.permissions().iter().map(|permission| format!("      {permission}\n")));
        let _ = write!(
            job,
            "    steps:\n      - uses: {CHECKOUT}\n        with:\n          persist-credentials: false\n      - uses: {}\n        with:\n",
            self.action
        );
        job.extend(self.inputs(kind).iter().map(|line| format!("          {line}\n")));
        if let MemoryChoice::S3 { .. } = self.shelf {
            job.push_str("        env:\n");
            job.extend(
                ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
                    .map(|name| format!("          {name}: ${{{{ secrets.{name} }}}}\n")),
            );
        }
        job
    }

    fn inputs(&self, kind: Kind) -> Vec<String> {
        let mut lines =
            vec!["auth-json: ${{ secrets.OPENCODE_AUTH_JSON }}".to_owned(), format!("model: {}", self.model)];
        if self.pusher == Pusher::App {
            lines.push("app-id: ${{ vars.FRO_BOT_APP_ID }}".to_owned());
            lines.push("private-key: ${{ secrets.FRO_BOT_PRIVATE_KEY }}".to_owned());
        }
        if let MemoryChoice::S3 { region } = &self.shelf {
            lines.push("s3-backup: true".to_owned());
            lines.push("s3-bucket: ${{ vars.FRO_BOT_BUCKET }}".to_owned());
            lines.push(format!("aws-region: {region}"));
        }
        match kind {
            Kind::Schedule => lines.push(format!("prompt: {WEEKLY}")),
            Kind::Dispatch => lines.push("prompt: ${{ inputs.prompt }}".to_owned()),
            Kind::Mentions | Kind::Threads | Kind::Discussions | Kind::Issues | Kind::Pulls => {}
        }
        lines
    }

    /// Returns what has to be set in the repository before the first run, with how.
    pub fn needs(&self) -> Vec<Need> {
        let provider = self.model.split('/').next().unwrap_or_default();
        let auth = format!("{{\"{provider}\": {{\"type\": \"api\", \"key\": \"…\"}}}}");
        let mut needs = vec![Need::secret("OPENCODE_AUTH_JSON", auth).in_file("auth.json")];
        if self.pusher == Pusher::App {
            needs.push(Need::variable("FRO_BOT_APP_ID", "the App's id".to_owned()));
            let key = Need::secret("FRO_BOT_PRIVATE_KEY", "the App's private key".to_owned());
            needs.push(key.in_file("my-app.private-key.pem"));
        }
        if let MemoryChoice::S3 { .. } = self.shelf {
            needs.push(Need::variable("FRO_BOT_BUCKET", "the bucket's name".to_owned()));
            needs.push(Need::secret(
                "AWS_ACCESS_KEY_ID",
                format!("a key with the rights in {PAGES}/memory.md"),
            ));
            needs.push(Need::secret("AWS_SECRET_ACCESS_KEY", "its secret".to_owned()));
        }
        needs
    }
}

/// Something that has to be set in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub name: &'static str,
    /// What goes into it.
    pub value: String,
    /// `secret` or `variable`, as `gh` calls it.
    pub sort: &'static str,
    /// A name of the file that usually has it, if it has several lines: nobody can type those where `gh` asks for one.
    pub file: Option<&'static str>,
}

impl Need {
    fn secret(name: &'static str, value: String) -> Self {
        Self { name, value, sort: "secret", file: None }
    }

    fn variable(name: &'static str, value: String) -> Self {
        Self { name, value, sort: "variable", file: None }
    }

    fn in_file(self, file: &'static str) -> Self {
        Self { file: Some(file), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow(kinds: &[Kind]) -> Workflow {
        let model = "anthropic/claude-sonnet-4-5".to_owned();
        Workflow {
            kinds: kinds.to_vec(),
            model,
            shelf: MemoryChoice::Cache,
            pusher: Pusher::Job,
            action: ACTION.to_owned(),
        }
    }

    #[test]
    fn the_example_is_what_init_writes() {
        let example = include_str!("../../../docs/examples/fro-bot.yaml");
        assert_eq!(workflow(&Kind::ALL).render(), example, "write it again by `fro-bot init --print`");
    }

    #[test]
    fn a_workflow_with_a_bucket_and_an_app_reads_like_this() {
        let shelf = MemoryChoice::S3 { region: "eu-central-1".to_owned() };
        let workflow = Workflow { shelf, pusher: Pusher::App, ..workflow(&[Kind::Dispatch, Kind::Mentions]) };
        insta::assert_snapshot!(workflow.render());
        insta::assert_debug_snapshot!(workflow.needs());
    }

    #[test]
    fn a_file_that_was_written_is_read_back() {
        let shelf = MemoryChoice::S3 { region: "eu-central-1".to_owned() };
        let written = Workflow { shelf, pusher: Pusher::App, ..workflow(&[Kind::Mentions, Kind::Dispatch]) };
        for written in [written, workflow(&Kind::ALL)] {
            assert_eq!(Workflow::read(&written.render()), Some(written));
        }
        assert_eq!(Workflow::read("name: fro-bot\n"), None);
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        assert_eq!(Kind::ALL.map(|kind| Kind::named(kind.name())), Kind::ALL.map(Some));
        assert_eq!(Kind::named("everything"), None);
    }
}
