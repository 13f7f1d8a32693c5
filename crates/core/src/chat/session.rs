//! Sessions that people can go on with in a channel: those of its threads, and those that the memory tells of there.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ChannelId, Thread};

/// A session of the memory that may be told of in a channel, such as that of a run on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldSession {
    /// The engine's id.
    pub id: String,
    /// What it is called. It has words of whoever asked: data, never markup.
    pub title: String,
    /// When something was last said in it.
    pub updated: Timestamp,
}

/// A session that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choosable {
    /// The engine's id.
    pub session: String,
    /// What it is called.
    pub name: String,
    /// The channel's thread about it, if there is one.
    pub thread: Option<ChannelId>,
    /// When something was last said in it, as far as is known.
    pub at: Timestamp,
}

/// Brings threads and what the memory tells together: each session once, the last spoken in first.
pub fn choosable(threads: &[Thread], told: &[ToldSession]) -> Vec<Choosable> {
    let mut known = BTreeSet::new();
    let of_thread = |thread: &Thread| {
        let session = thread.session.clone()?;
        let told = told.iter().find(|told| told.id == session);
        let name = thread.named.clone().or_else(|| told.map(|told| told.title.clone()));
        Some(Choosable {
            name: name.unwrap_or_else(|| session.clone()),
            thread: Some(thread.id),
            at: told.map_or(thread.opened_at, |told| told.updated.max(thread.opened_at)),
            session,
        })
    };
    let of_memory = |told: &ToldSession| Choosable {
        session: told.id.clone(),
        name: told.title.clone(),
        thread: None,
        at: told.updated,
    };
    let all = threads.iter().filter_map(of_thread).chain(told.iter().map(of_memory));
    let mut each: Vec<_> = all.filter(|it| known.insert(it.session.clone())).collect();
    each.sort_by_key(|it| std::cmp::Reverse(it.at));
    each
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chat::GuildId, names::RepoName};

    fn thread(number: u64, session: Option<&str>, named: Option<&str>, second: i64) -> Thread {
        Thread {
            id: ChannelId::new(number).unwrap(),
            channel: ChannelId::new(1).unwrap(),
            guild: GuildId::new(9).unwrap(),
            repository: RepoName::parse("octo/garden").unwrap(),
            session: session.map(str::to_owned),
            forked_from: None,
            named: named.map(str::to_owned),
            opened_at: Timestamp::from_second(second).unwrap(),
        }
    }

    #[test]
    fn each_session_is_there_once_and_the_last_spoken_in_comes_first() {
        let told = |id: &str, second| ToldSession {
            id: id.to_owned(),
            title: format!("title of {id}"),
            updated: Timestamp::from_second(second).unwrap(),
        };
        let threads = [
            thread(4, Some("ses_a"), Some("hose"), 40),
            thread(3, Some("ses_a"), Some("hose again"), 30),
            thread(2, None, Some("empty"), 20),
            thread(1, Some("ses_b"), None, 10),
        ];
        let all = choosable(&threads, &[told("ses_b", 50), told("ses_c", 45), told("ses_a", 5)]);
        let lines = all.iter().map(|it| {
            let thread = it.thread.map(ChannelId::number);
            format!("{} {} {thread:?} {}", it.session, it.name, it.at.as_second())
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            ["ses_b title of ses_b Some(1) 50", "ses_c title of ses_c None 45", "ses_a hose Some(4) 40"]
        );
    }
}
