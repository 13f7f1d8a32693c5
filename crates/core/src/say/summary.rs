//! The run summary: what was done, with what, how long and at what price.

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

use super::published::published;
use crate::{conversation::outcome::Usage, fence, names::RepoName};

/// What a run accounts for.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The event that started it.
    pub event: String,
    /// The repository it worked on.
    pub repo: RepoName,
    /// The branch or tag it ran on, if any.
    pub git_ref: Option<String>,
    /// Where its log can be read.
    pub run: RunLink,
    /// What became of the memory.
    pub memory: String,
    /// What was recalled and asked of it.
    pub recalled: Option<String>,
    /// The engine's sessions that served the run.
    pub sessions: Vec<Served>,
    /// From the start to the moment of writing this.
    pub duration: Duration,
    /// From the first step of the job to the same moment, if it is one of a workflow.
    pub since_job: Option<Duration>,
    /// What the model took.
    pub usage: Usage,
    /// The agent that was asked.
    pub agent: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// What stood between the agent and the machine.
    pub walls: String,
    /// How often the agent's `gh` asked, if it did.
    pub gh: Option<String>,
    /// How often its tools went out to the network, if that was open.
    pub network: Option<String>,
    /// What was pushed and opened.
    pub work: Vec<Link>,
    /// Where the session can be read by everybody, if it was shared.
    pub share: Option<Share>,
    /// What a maintainer should know.
    pub warnings: Vec<String>,
}

/// A session that served a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// Its id.
    pub id: String,
    /// Whether it was there before.
    pub origin: Origin,
}

/// Whether a session was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An earlier session went on.
    Continued,
    /// The session is new.
    Created,
}

/// Something that the run left on GitHub besides its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What it is.
    pub what: &'static str,
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// A session that everybody can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Its page.
    pub url: String,
    /// A picture of it, if one is wanted.
    pub card: Option<String>,
}

impl Share {
    /// Returns the link as it stands below an answer.
    pub fn footer(&self) -> String {
        let url = &self.url;
        match &self.card {
            Some(card) => {
                format!(
                    "[session]({url})\n\n<a href=\"{url}\"><img width=\"200\" alt=\"session\" src=\"{card}\"></a>"
                )
            }
            None => format!("[session]({url})"),
        }
    }
}

/// The run's id, and its page if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLink {
    /// The workflow run's id, or `local`.
    pub id: String,
    /// The page of the run.
    pub url: Option<String>,
}

/// Returns the summary as a block that is folded until somebody opens it.
pub fn folded(account: &Account) -> String {
    format!("{OPENS}\n\n{}\n</details>", open(account))
}

/// Returns a comment with more warnings in its summary, if it has one, does not say them yet and has room for them.
pub fn amended(body: &str, warnings: &[String]) -> Option<String> {
    let lines: Vec<_> = warnings.iter().map(|warning| warned(warning)).collect();
    let new: String = lines.into_iter().filter(|line| !body.contains(line.trim())).collect();
    let (before, after) = body.rsplit_once("\n</details>")?;
    let summary = before.rfind(OPENS)?;
    let is_last = !before[summary..].contains("</details>");
    let fits = body.len() + new.len() < FITS;
    (is_last && fits && !new.is_empty()).then(|| format!("{before}{new}\n</details>{after}"))
}

fn warned(warning: &str) -> String {
    format!("\n> ⚠️ {}\n", dead(&without_folders(warning)))
}

/// Cuts absolute paths to their last part. Everybody reads the summary; the log of the run has the whole path.
fn without_folders(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "'\"`,;()".contains(c);
    let short = |word: &str| match word.strip_prefix('/').and_then(|path| path.rsplit_once('/')) {
        Some((_, name)) => format!("…/{name}"),
        None => word.to_owned(),
    };
    text.split_inclusive(ends)
        .map(|piece| {
            let word = piece.trim_end_matches(ends);
            short(word) + &piece[word.len()..]
        })
        .collect()
}

/// How the summary begins.
const OPENS: &str = "<details>\n<summary>Run summary</summary>";

/// GitHub takes 65,536 characters; a character has at least one byte.
const FITS: usize = 65_000;

/// Returns the summary as everybody sees it: the table, and what a maintainer should know.
pub fn open(account: &Account) -> String {
    let mut text = table(account);
    for warning in &account.warnings {
        text.push_str(&warned(warning));
    }
    text
}

/// Returns a line in which no name of a file, branch or host becomes a link, a picture, a tag or a call.
fn dead(line: &str) -> String {
    let words = fence::inline(line).replace('\\', "\\\\").replace('[', "\\[").replace('<', "&lt;");
    published(&words, &[])
}

/// Returns the summary as a table.
pub fn table(account: &Account) -> String {
    let mut text = "| | |\n|---|---|\n".to_owned();
    for (name, value) in rows(account) {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text
}

fn rows(account: &Account) -> Vec<(&'static str, String)> {
    let code = |text: &str| format!("`{}`", fence::inline(text).replace('|', "\\|"));
    let mut rows = vec![("Event", code(&account.event)), ("Repository", account.repo.to_string())];
    rows.extend(account.git_ref.as_ref().map(|git_ref| ("Ref", code(git_ref))));
    let run = match &account.run.url {
        Some(url) => format!("[{}]({url})", account.run.id),
        None => code(&account.run.id),
    };
    rows.push(("Run", run));
    rows.push(("Memory", account.memory.clone()));
    rows.extend(account.recalled.as_ref().map(|recalled| ("Recall", recalled.clone())));
    rows.extend(account.sessions.iter().map(|session| ("Session", served(session))));
    let job = account.since_job.map(|job| format!(", {} since the job's first step", duration(job)));
    rows.push(("Duration", format!("{}{}", duration(account.duration), job.unwrap_or_default())));
    rows.push(("Tokens", tokens(&account.usage)));
    // Zero is what the engine says of a model whose price it does not know, or that is paid for otherwise.
    let is_priced = account.usage.cost > 0.0;
    rows.extend(is_priced.then(|| ("Cost", format!("${:.4}", account.usage.cost))));
    rows.extend(account.agent.as_ref().map(|agent| ("Agent", code(agent))));
    rows.extend(account.model.as_ref().map(|model| ("Model", code(model))));
    rows.push(("Walls", account.walls.clone()));
    rows.extend(account.gh.as_ref().map(|calls| ("gh", calls.clone())));
    rows.extend(account.network.as_ref().map(|calls| ("Network", calls.clone())));
    rows.extend(account.share.as_ref().map(|share| ("Shared", share.url.clone())));
    rows.extend(
        account.work.iter().map(|link| (link.what, format!("[{}]({})", fence::inline(&link.name), link.url))),
    );
    rows
}

fn served(session: &Served) -> String {
    let origin = match session.origin {
        Origin::Continued => "continued",
        Origin::Created => "new",
    };
    format!("`{}`, {origin}", fence::inline(&session.id))
}

/// Returns a number of things as people say it.
pub fn counted<N: fmt::Display + PartialEq + From<u8> + Copy>(n: N, thing: &str) -> String {
    let ending = if n == N::from(1) { "" } else { "s" };
    format!("{n} {thing}{ending}")
}

/// Returns a size as people say it.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000.. => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Returns a duration as people say it.
pub fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Returns token counts as people read them.
pub fn tokens(usage: &Usage) -> String {
    let cache = usage.cache_read + usage.cache_write;
    format!(
        "{} in / {} out / {} reasoning / {} cache",
        grouped(usage.input),
        grouped(usage.output),
        grouped(usage.reasoning),
        grouped(cache)
    )
}

/// Writes a number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the account of a small run.
    pub(crate) fn an_account() -> Account {
        Account {
            event: "issue_comment".to_owned(),
            repo: RepoName::parse("octo/garden").unwrap(),
            git_ref: Some("main".to_owned()),
            run: RunLink {
                id: "42".to_owned(),
                url: Some("https://github.com/octo/garden/actions/runs/42".to_owned()),
            },
            memory: "none yet (first run)".to_owned(),
            recalled: Some("2 places of earlier sessions; the agent searched 1 time".to_owned()),
            sessions: vec![Served { id: "ses_1".to_owned(), origin: Origin::Continued }],
            duration: Duration::from_millis(7_340),
            since_job: Some(Duration::from_secs(31)),
            usage: Usage {
                calls: 2,
                input: 12_345,
                output: 67,
                reasoning: 8,
                cache_read: 9,
                cache_write: 0,
                cost: 0.0123,
            },
            agent: Some("build".to_owned()),
            model: Some("scripted/m1".to_owned()),
            walls: "Landlock 7, seccomp".to_owned(),
            gh: Some("2 passed".to_owned()),
            network: Some("1 passed, 0 refused".to_owned()),
            work: vec![Link {
                what: "Pull request",
                name: "#8".to_owned(),
                url: "https://github.com/octo/garden/pull/8".to_owned(),
            }],
            share: Some(Share { url: "https://opncd.ai/share/abc12345".to_owned(), card: None }),
            warnings: vec!["memory was not saved: `disk | full`".to_owned()],
        }
    }

    #[test]
    fn a_warning_names_no_folder_of_the_machine() {
        let check = |text: &str, expect: &str| assert_eq!(without_folders(text), expect);
        let failed =
            "failed to write to file '/tmp/fro-bot-x/quarantine/opencode.db': No space left (os error 28)";
        check(failed, "failed to write to file '…/opencode.db': No space left (os error 28)");
        check("cannot make `/home/maya/x`, (/a/b) and /c/d/", "cannot make `…/x`, (…/b) and …/");
        let same = "GET https://api.github.com/repos/octo/garden: and/or, src/tap.rs:12, /fix, a / b";
        check(same, same);
        let warned = Account { warnings: vec![failed.to_owned()], ..an_account() };
        assert!(!folded(&warned).contains("/tmp"), "{}", folded(&warned));
    }

    #[test]
    fn a_name_in_a_warning_is_no_markup() {
        let names = [
            "![x](https://x.example/p.png)",
            "\\![x](https://x.example/p.png)",
            "<img src=\"https://x.example/p.png\">",
            "@maya and @octo/gardeners",
            "<!-- hidden",
            "a\n\n</details>\n# b",
            "\u{202e}exe.\u{1b}[8m",
            "[Approve](https://x.example)",
        ];
        let warnings = names.map(|name| format!("not looked at: `{name}` (too large)"));
        let account = Account { warnings: warnings.into(), ..an_account() };
        let told = open(&account);
        insta::assert_snapshot!(told.split_once("⚠️").unwrap().1);
    }

    #[test]
    fn a_summary_reads_like_this() {
        insta::assert_snapshot!(folded(&an_account()));
    }

    #[test]
    fn what_is_learned_after_the_answer_is_added_to_its_summary_once() {
        let body = format!("<!-- marker -->\nSee </details> and:\n\n{}\n", folded(&an_account()));
        let trouble = ["the memory was not saved".to_owned()];
        let more = amended(&body, &trouble).unwrap();
        assert!(more.ends_with("\n> ⚠️ the memory was not saved\n\n</details>\n"), "{more}");
        assert_eq!(amended(&more, &trouble), None, "it is said already");
        assert_eq!(amended("no summary\n</details>", &trouble), None);
        assert_eq!(amended(&format!("{body}{}", "x".repeat(FITS)), &trouble), None, "there is no room");
        let open = format!("{OPENS}\n\nmine</details>\n<details>theirs\n</details>");
        assert_eq!(amended(&open, &trouble), None, "the last block is not ours");
    }

    #[test]
    fn durations_and_numbers_read_naturally() {
        let told = [100, 9_900, 59_000, 125_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(told, ["0.1 s", "9.9 s", "59 s", "2 min 5 s"]);
        assert_eq!([1, 999_999, 1_250_000].map(size), ["1 kB", "1000 kB", "1.2 MB"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
