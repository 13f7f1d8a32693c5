//! What came of a run.

use std::sync::LazyLock;

use regex::Regex;

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub log: String,
    /// What it complained about.
    pub errors: String,
    /// The comment that started it.
    pub comment: u64,
    /// The comments of the bot after it.
    pub answers: Vec<String>,
    /// The reactions on the comment that started it, as `login: content`.
    pub reactions: Vec<String>,
}

impl Run {
    /// Returns the only answer there is, with what differs from run to run written as `…`.
    pub fn only_comment(&self) -> String {
        let [only] = self.answers.as_slice() else {
            panic!("{} answers, not one:\n{self}", self.answers.len());
        };
        normal(only)
    }

    /// Returns the log and the complaints.
    pub fn log_and_errors(&self) -> String {
        format!("{}{}", self.log, self.errors)
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\n{}\n{}", self.code, self.log, self.errors)
    }
}

/// Replaces what differs from run to run: ids, times, counts, the colour of the peace sign.
pub fn normal(text: &str) -> String {
    static CHANGING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"ses_[0-9A-Za-z]+", "ses_…"),
            (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", "… UTC"),
            (r"event=((?:review-|discussion-)?comment)-\d+", "event=$1-…"),
            (r"\| Duration \| [^|]+ \|", "| Duration | … |"),
            (r"\| Tokens \| [^|]+ \|", "| Tokens | … |"),
            (r"\| Cost \| [^|]+ \|", "| Cost | … |"),
            (r"saved: (\d+ sessions?), [^;\n]+ written", "saved: $1, …"),
            (r"hit, (\d+ sessions?), [0-9.]+ [kM]B", "hit, $1, …"),
            (r"\| Walls \| [^|]+ \|", "| Walls | … |"),
            (r"(✌️|✌🏻|✌🏼|✌🏽|✌🏾|✌🏿|☮️)", "✌"),
            (r"request [0-9A-F]+:[0-9A-F:]+", "request …"),
            (r"http://127\.0\.0\.1:\d+/octo/garden/actions", "https://github.com/octo/garden/actions"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:…"),
        ]
        .map(|(pattern, mark)| (Regex::new(pattern).expect("the pattern is sound"), mark))
        .into()
    });
    CHANGING
        .iter()
        .fold(text.to_owned(), |text, (pattern, mark)| pattern.replace_all(&text, *mark).into_owned())
}
