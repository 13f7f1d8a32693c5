//! What the daemon says by itself, and how tools and costs look in a thread.

pub mod command;

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Button, ChannelId, Click, Denial, Menu, Pick, Style};
use crate::{
    continuity::Fresh,
    conversation::heard::{Ask, AskKind},
    names::RepoName,
    say::summary::{self, Link},
};

/// Discord's limit for the name of a thread.
const LONGEST_NAME: usize = 100;
/// So much of what a tool does fits on a line.
const LONGEST_TOOL: usize = 120;
/// So much of what the agent asks is shown.
const LONGEST_ASK: usize = 1_500;
/// So many choices Discord shows in a menu.
const MOST_CHOICES: usize = 25;

/// How much of the agent's work is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verbosity {
    /// Words only.
    Text,
    /// Words, and tools that do more than look.
    #[default]
    Essential,
    /// Words and every tool.
    All,
}

/// What a turn came to, for the line below its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// The repository.
    pub repository: RepoName,
    /// The branch, if something was pushed.
    pub branch: Option<String>,
    /// How long it took.
    pub took: Duration,
    /// Tokens, in and out.
    pub tokens: u64,
    /// What it cost, in millionths of a dollar.
    pub cost: u64,
    /// The model that was asked.
    pub model: String,
}

impl Footer {
    /// Writes the line.
    pub fn line(&self) -> String {
        let tokens = match self.tokens {
            few @ 0..1000 => format!("{few} tokens"),
            many => format!("{}.{}k tokens", many / 1000, many % 1000 / 100),
        };
        let cents = self.cost.div_ceil(10_000);
        let cost = (self.cost > 0).then(|| format!("${}.{:02}", cents / 100, cents % 100));
        let took = match self.took.as_secs() {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds => format!("{} min {} s", seconds / 60, seconds % 60),
        };
        let branch = self.branch.as_deref().map(code);
        let parts = [
            Some(self.repository.to_string()),
            branch,
            Some(took),
            Some(tokens),
            cost,
            Some(code(&self.model)),
        ];
        format!("-# {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
    }
}

/// Writes the line that shows a tool at work, if it is to be shown.
pub fn tool(name: &str, title: &str, verbosity: Verbosity) -> Option<String> {
    const LOOKS: [&str; 8] = ["read", "grep", "glob", "list", "todowrite", "todoread", "webfetch", "skill"];
    let shown = match verbosity {
        Verbosity::Text => false,
        Verbosity::Essential => !LOOKS.contains(&name),
        Verbosity::All => true,
    };
    let title = bounded(&one_line(title), LONGEST_TOOL);
    let title = if title.is_empty() { String::new() } else { format!(" {}", code(&title)) };
    shown.then(|| format!("-# ⚙ {}{title}", code(&bounded(&one_line(name), 40))))
}

/// Says how many tools are not shown any more.
pub fn earlier_tools(many: usize) -> String {
    format!("-# ⚙ {many} tools before")
}

/// Writes the line with what a turn hands over: Discord knows no numbers of pull requests.
pub fn handed_over(links: &[Link]) -> Option<String> {
    let links: Vec<_> =
        links.iter().map(|link| format!("{} [{}](<{}>)", link.what, link.name, link.url)).collect();
    (!links.is_empty()).then(|| format!("-# {}", links.join(" · ")))
}

/// Names a thread after the words that it begins with.
pub fn thread_name(text: &str) -> String {
    let line = text.lines().map(one_line).find(|line| !line.is_empty());
    // Discord shows names as they are: markup would only be noise, and a mention a number.
    let plain = line.unwrap_or_default().replace(['*', '`', '_', '#', '>', '~', '|', '<'], "");
    match bounded(plain.trim(), LONGEST_NAME) {
        name if name.is_empty() => "A new thread".to_owned(),
        name => name,
    }
}

/// Says that a channel is nobody's.
pub fn not_linked() -> String {
    "This channel is linked to no repository. Whoever may link channels can do so with `/link owner/repo`."
        .to_owned()
}

/// Says that a thread's channel was unlinked.
pub fn unlinked(repository: &RepoName) -> String {
    format!(
        "This thread was about {repository}, but its channel is linked to it no longer, so I cannot go on here. \
         `/link {repository}` brings it back."
    )
}

/// Says that a thread's channel is another repository's by now.
pub fn other_repository(was: &RepoName, is: &RepoName) -> String {
    format!(
        "This thread is about {was}, but its channel is {is}'s now. Open a new thread in the channel to talk about {is}."
    )
}

/// Says no.
pub fn refused(denial: Denial) -> String {
    format!("I cannot do that: {denial}.")
}

/// Answers a bare mention.
pub fn no_words() -> String {
    "What can I do for you? Mention me together with a question, or see `/help`.".to_owned()
}

/// Says that something comes first.
pub fn queued(ahead: usize) -> String {
    match ahead {
        0 | 1 => {
            "Noted; I answer it after this turn. Edit or delete your message until then to change or drop it."
                .to_owned()
        }
        many => format!(
            "Noted; {many} turns come first. Edit or delete your message until then to change or drop it."
        ),
    }
}

/// Says that a turn was tried too often.
pub fn given_up(tries: i64) -> String {
    format!(
        "❌ I began this {tries} times and could not finish it; my log says why. Ask again if it is still wanted."
    )
}

/// Says that a turn could not even be begun.
pub fn not_begun() -> String {
    "❌ I could not begin with this: GitHub or my settings are in the way, and my log says how. Ask again in a few minutes."
        .to_owned()
}

/// Says that nobody could tell in time what somebody is in the guild.
pub fn standing_unknown() -> String {
    "❌ Your words have waited, and I could not find out which roles you have now. Ask again if it is still wanted.".to_owned()
}

/// Says why a thread goes on in a new session.
pub fn begun_anew(why: Fresh) -> String {
    format!("-# I began a new session here, because {why}.")
}

/// Names the files of the agent's that come with an answer, with their sizes, and says why others do not.
pub fn handed<'a>(files: impl Iterator<Item = (&'a str, usize)>, troubles: &[String]) -> String {
    let file = |(name, bytes): (&str, usize)| {
        format!("{} {}", code(&bounded(&one_line(name), 60)), summary::size(bytes as u64))
    };
    let files: Vec<_> = files.map(file).collect();
    let files = (!files.is_empty()).then(|| format!("-# 📎 {}", files.join(" · ")));
    let troubles = troubles.iter().map(|why| format!("-# {}", bounded(&one_line(why), 300)));
    files.into_iter().chain(troubles).collect::<Vec<_>>().join("\n")
}

/// Says why a file of the agent's does not come with its answer.
pub fn not_handed(path: &str, why: &str) -> String {
    format!("Not attached: {}: {}", code(&bounded(&one_line(path), 60)), one_line(why))
}

/// Says that the engine was ended because it took too much memory.
pub fn too_heavy(most: u64) -> String {
    format!(
        "-# My engine needed more than {}, so I ended it. Ask for less at once, or let whoever runs me raise `--engine-memory`.",
        summary::size(most)
    )
}

/// So long people have for a word on what the agent asks.
pub const APPROVAL_TIME: Duration = Duration::from_mins(10);

/// Says what the agent wants leave for, or to know, and until when.
pub fn asks(ask: &Ask, deadline: Timestamp) -> String {
    let about = code(&bounded(&one_line(&ask.about), LONGEST_ASK));
    let wish = match ask.kind {
        AskKind::Permission => format!("**May I?** {about}"),
        AskKind::Question => format!("**A question:** {about}"),
    };
    format!("{wish}\nWhoever may approve can answer until <t:{}:t>; silence is a no.", deadline.as_second())
}

/// What can be clicked below what the agent asks.
pub fn leave_buttons(ask: &Ask, request: i64) -> Vec<Button> {
    let button = |answer: &str, label: &str, style| {
        Click::Rule { approval: request, answer: answer.to_owned() }.button(label, style)
    };
    match ask.kind {
        AskKind::Permission => vec![
            button("once", "Allow once", Style::Usual),
            button("always", "Allow in this turn", Style::Other),
            button("reject", "Refuse", Style::Danger),
        ],
        AskKind::Question => vec![button("reject", "No answer", Style::Danger)],
    }
}

/// What a question can be answered with.
pub fn answers(ask: &Ask, request: i64) -> Option<Menu> {
    let fits = |choice: &String| (1..=LONGEST_NAME).contains(&super::length(choice));
    let mut named = BTreeSet::new();
    // Discord refuses a menu that names a choice twice.
    let choices = ask.choices.iter().filter(|choice| fits(choice) && named.insert(*choice));
    let choices: Vec<_> = choices.take(MOST_CHOICES).cloned().collect();
    (!choices.is_empty()).then(|| Menu { id: Pick::Answer(request).to_string(), choices })
}

/// Says that nobody answered in time.
pub fn unanswered() -> String {
    "-# Nobody answered in time, so I go on without it.".to_owned()
}

/// The button that ends what is under way.
pub fn interrupt(thread: ChannelId) -> Button {
    Click::Stop(thread).button("Interrupt", Style::Danger)
}

/// Sets words apart as they are; a backtick in them would end that.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "ˋ"))
}

fn one_line(text: &str) -> String {
    let visible = |c: char| if c.is_control() || c.is_whitespace() { ' ' } else { c };
    let text: String = text.chars().map(visible).collect();
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns as much of a text as one message takes. Nothing is cut that was made to fit.
pub fn fitting(text: &str) -> String {
    bounded(text, super::LONGEST)
}

fn bounded(text: &str, limit: usize) -> String {
    let whole = super::length(text) <= limit;
    if whole {
        return text.to_owned();
    }
    let mut cut = String::new();
    for grapheme in text.graphemes(true) {
        if super::length(&cut) + super::length(grapheme) + 1 > limit {
            break;
        }
        cut.push_str(grapheme);
    }
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_says_reads_like_this() {
        let [garden, cellar] = ["octo/garden", "octo/cellar"].map(|name| RepoName::parse(name).unwrap());
        let texts = [
            not_linked(),
            unlinked(&garden),
            other_repository(&garden, &cellar),
            refused(Denial::NoAccount),
            no_words(),
            queued(1),
            queued(3),
            given_up(3),
            not_begun(),
            standing_unknown(),
            begun_anew(Fresh::LessTrusted),
            too_heavy(4_000_000_000),
            handed([("tap.png", 12_345)].into_iter(), &[not_handed("a`b\n@here", "too large")]),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn what_the_agent_asks_reads_like_this_and_cannot_break_out() {
        let ask = |kind, about: &str, choices: &[&str]| Ask {
            id: "per_1".to_owned(),
            kind,
            about: about.to_owned(),
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
        };
        let permission = ask(AskKind::Permission, "bash: echo `id`\n@everyone", &[]);
        let question = ask(AskKind::Question, "Which?", &["A", "B", "A", &"x".repeat(101), ""]);
        let shown = [permission, question].map(|ask| {
            let labels: Vec<_> = leave_buttons(&ask, 7)
                .into_iter()
                .map(|button| format!("[{}] {}", button.label, button.id))
                .collect();
            let told = asks(&ask, Timestamp::UNIX_EPOCH);
            format!("{told}\n{}\n{:?}", labels.join("\n"), answers(&ask, 7))
        });
        insta::assert_snapshot!(shown.join("\n\n"));
    }

    #[test]
    fn a_footer_reads_like_this() {
        let footer = |branch: Option<&str>, tokens, cost, seconds| {
            let repository = RepoName::parse("octo/garden").unwrap();
            let (branch, took) = (branch.map(str::to_owned), Duration::from_secs(seconds));
            Footer { repository, branch, took, tokens, cost, model: "anthropic/claude".to_owned() }.line()
        };
        let lines = [footer(None, 950, 0, 9), footer(Some("opencode/issue7-1"), 12_345, 41_000, 75)];
        insta::assert_snapshot!(lines.join("\n"), @r"
        -# octo/garden · 9 s · 950 tokens · `anthropic/claude`
        -# octo/garden · `opencode/issue7-1` · 1 min 15 s · 12.3k tokens · $0.05 · `anthropic/claude`
        ");
    }

    #[test]
    fn what_is_handed_over_is_a_line_of_links() {
        let link = |what, name: &str, path: &str| Link {
            what,
            name: name.to_owned(),
            url: format!("https://github.com/octo/garden/{path}"),
        };
        assert_eq!(handed_over(&[]), None);
        let links = [link("Pull request", "#4", "pull/4"), link("Commit", "abcdef0", "commit/abcdef0")];
        insta::assert_snapshot!(handed_over(&links).unwrap(), @"-# Pull request [#4](<https://github.com/octo/garden/pull/4>) · Commit [abcdef0](<https://github.com/octo/garden/commit/abcdef0>)");
    }

    #[test]
    fn tools_are_shown_by_verbosity_and_their_titles_cannot_break_out() {
        let lines: Vec<_> = [Verbosity::Text, Verbosity::Essential, Verbosity::All]
            .into_iter()
            .map(|verbosity| {
                (tool("read", "tap.rs", verbosity), tool("bash", "a`b\n@everyone\n# x", verbosity))
            })
            .collect();
        let read = || Some("-# ⚙ `read` `tap.rs`".to_owned());
        let bash = || Some("-# ⚙ `bash` `aˋb @everyone # x`".to_owned());
        assert_eq!(lines, [(None, None), (None, bash()), (read(), bash())]);
    }

    #[test]
    fn a_thread_is_named_after_its_first_words() {
        assert_eq!(thread_name("\n  **Why** is the `floor` wet?\nMore."), "Why is the floor wet?");
        assert_eq!(thread_name("```"), "A new thread");
        let long = thread_name(&"👩‍👩‍👧 family ".repeat(40));
        assert!(super::super::length(&long) <= 100 && long.ends_with('…'), "{long}");
    }
}
