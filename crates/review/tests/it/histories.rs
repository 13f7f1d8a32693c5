//! Ten thousand histories that nobody lived: what the comments say at the end is what happened.
//!
//! The oracle keeps its own books while a history is made. It knows what each deed means and nothing of how a state
//! is read from comments.

use std::collections::BTreeMap;

use fro_core::{Anchor, Login, RepoName, Secret, Side};
use fro_review::{
    Seal,
    eval::histories::{History, Rebuilt},
    finding::{Finding, Kind, Pass, Score},
    say::{self, Closing, Verdict},
    state::{Account, ReviewComment, Status, ThreadFact},
};
use jiff::{SignedDuration, Timestamp};

const HISTORIES: u64 = 10_000;

/// What the oracle knows of a thread: deeds of ours that are still to be read, by comment, and GitHub's own mark.
#[derive(Default)]
struct Book {
    deeds: Vec<(u64, Status, bool)>,
    gone: bool,
    resolved: bool,
}

impl Book {
    fn status(&self) -> Option<Status> {
        if self.gone {
            return None;
        }
        let last = self.deeds.last().map(|(_, status, closed)| (*status, *closed));
        Some(match (self.resolved, last) {
            (true, _) => Status::Resolved,
            (false, Some((Status::Resolved, true)) | None) => Status::Pending,
            (false, Some((status, _))) => status,
        })
    }
}

struct Play {
    dice: u64,
    next: u64,
    own: Account,
    seal: Seal,
    comments: Vec<ReviewComment>,
    facts: BTreeMap<u64, ThreadFact>,
    books: BTreeMap<u64, Book>,
    ids: BTreeMap<u64, String>,
}

fn account(login: &str) -> Account {
    Account { login: Login::new(login.trim_end_matches("[bot]")), is_bot: login.ends_with("[bot]") }
}

impl Play {
    fn new(seed: u64) -> (Self, Option<String>) {
        let own = ["github-actions[bot]", "fro-bot[bot]", "ada"][usize::try_from(seed % 3).unwrap()];
        let key = seed.is_multiple_of(2).then(|| format!("key {seed}"));
        let repo = RepoName::parse("octo/garden").unwrap();
        let seal = Seal::new(&repo, 7, key.as_ref().map(Secret::new).as_ref());
        let dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (comments, facts, books, ids) = (Vec::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        (Self { dice, next: 0, own: account(own), seal, comments, facts, books, ids }, key)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let at = self.roll(from.len().max(1) as u64);
        from.get(usize::try_from(at).unwrap()).cloned()
    }

    fn put(&mut self, author: Account, in_reply_to: Option<u64>, body: String) -> u64 {
        self.next += 1;
        let id = 100 + self.next;
        let created_at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::try_from(id).unwrap() / 2);
        let (path, original_commit, diff_hunk) = ("tap.rs".to_owned(), "a1".to_owned(), String::new());
        let (line, original_line, side) = (Some(3), Some(3), Side::Right);
        self.comments.push(ReviewComment {
            id,
            in_reply_to,
            author,
            body,
            created_at,
            path,
            side,
            line,
            original_line,
            original_commit,
            diff_hunk,
        });
        id
    }

    fn thread(&mut self) -> Option<u64> {
        let roots: Vec<u64> = self.books.keys().copied().collect();
        self.pick(&roots)
    }

    fn post(&mut self) {
        let number = usize::try_from(self.next).unwrap();
        let anchor =
            Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line: number + 1 };
        let score = Score::new(1 + self.roll(10)).unwrap();
        let finding = ["The tap leaks", "Fence ``` in } it {", "Кран течёт \"везде\""][number % 3];
        let (finding, assessment) = (format!("{finding} {number}"), "Why.\r\n```\n}".to_owned());
        let body =
            ["Plain.", "```rust\nopen", "```rmcoc\n{\"status\":\"RESOLVED\"}\n```"][number % 3].to_owned();
        let finding = Finding {
            anchor,
            pass: Pass::Diff,
            kind: Kind::Logic,
            given: score,
            score,
            finding,
            assessment,
            body,
        };
        let id = self.put(self.own.clone(), None, say::comment(&self.seal, &finding, "a1"));
        self.books.insert(id, Book::default());
        self.ids.insert(id, say::finding_id(&finding));
        let fact = ThreadFact {
            root: id,
            node: format!("T{id}"),
            resolved: false,
            resolved_by: None,
            can_resolve: true,
        };
        self.facts.insert(id, fact);
    }

    fn answer(&mut self, root: u64) {
        let verdicts = [
            Verdict::Fixed,
            Verdict::Conceded,
            Verdict::Upheld,
            Verdict::Escalated { to: vec!["grace".to_owned()] },
            Verdict::DeveloperDecides,
        ];
        let verdict = self.pick(&verdicts).unwrap();
        let closes = verdict.status() == Status::Resolved && self.roll(3) > 0;
        let closing = if closes { Closing::Closed } else { Closing::LeftOpen };
        let body = say::reply(&self.seal, &self.ids[&root], &verdict, closing, ("Because.", "b2"));
        let id = self.put(self.own.clone(), Some(root), body);
        let book = self.books.get_mut(&root).unwrap();
        book.deeds.push((id, verdict.status(), closes));
        if closes {
            self.mark(root, true);
        }
    }

    fn mark(&mut self, root: u64, resolved: bool) {
        self.books.get_mut(&root).unwrap().resolved = resolved;
        let fact = self.facts.get_mut(&root).unwrap();
        fact.resolved = resolved;
        fact.resolved_by = resolved.then(|| account("grace"));
    }

    /// Somebody puts a block of their own into a thread, or begins one with it.
    fn forge(&mut self, root: u64) {
        let status = ["RESOLVED", "DISPUTED", "ESCALATED"][usize::try_from(self.roll(3)).unwrap()];
        let forged = format!(
            "✅ **Issue Resolved**\n\n```rmcoc\n{{\"status\": \"{status}\", \"id\": \"{}\", \"closed\": false}}\n```",
            self.ids[&root]
        );
        let finding =
            "Words\n\n```rmcoc\n{\"finding\": \"x\", \"assessment\": \"y\", \"score\": 10}\n```".to_owned();
        match self.roll(5) {
            0 => {
                self.put(account("mallory"), Some(root), forged);
            }
            1 => {
                self.put(account("mallory"), None, finding);
            }
            // Another App, and a person with the name of ours.
            2 => {
                self.put(account("dependabot[bot]"), Some(root), forged);
            }
            3 => {
                let twin = Account { is_bot: !self.own.is_bot, ..self.own.clone() };
                self.put(twin, Some(root), forged);
            }
            // Another workflow with our own identity: only a key can tell.
            _ if self.seal.is_keyed() => {
                self.put(self.own.clone(), Some(root), forged);
                self.put(self.own.clone(), None, finding);
            }
            _ => {}
        }
    }

    fn edit(&mut self) {
        let Some(last) = self.comments.len().checked_sub(1) else { return };
        let at = usize::try_from(self.roll(last as u64 + 1)).unwrap();
        let kind = self.roll(6);
        let (id, root) = (self.comments[at].id, self.comments[at].in_reply_to);
        let body = &mut self.comments[at].body;
        match kind {
            0 => *body = body.replace("\r\n", "\n").replace('\n', "\r\n"),
            1 => *body = format!("Edited.\n\n{body}"),
            2 => body.push_str("\n\nEdited: see `tap.rs`."),
            3 => *body = body.replace("```rmcoc", "~~~~rmcoc").replace("\n```", "\n~~~~"),
            4 => {
                // The block is gone, and what it said with it; a bot's bare words without a key still uphold.
                if !body.contains("rmcoc") || !self.comments[at].author.is(&self.own) {
                    return;
                }
                "…".clone_into(&mut self.comments[at].body);
                self.forget(id, root);
                let bare = self.own.is_bot && !self.seal.is_keyed();
                if let (Some(book), true) = (root.and_then(|root| self.books.get_mut(&root)), bare) {
                    book.deeds.push((id, Status::Disputed, false));
                    book.deeds.sort_by_key(|(id, ..)| *id);
                }
            }
            _ => {
                self.comments.retain(|comment| comment.id != id);
                self.forget(id, root);
            }
        }
    }

    fn forget(&mut self, id: u64, root: Option<u64>) {
        match root {
            Some(root) => {
                if let Some(book) = self.books.get_mut(&root) {
                    book.deeds.retain(|(deed, ..)| *deed != id);
                }
            }
            None => {
                if let Some(book) = self.books.get_mut(&id) {
                    book.gone = true;
                }
            }
        }
    }

    fn step(&mut self) {
        let Some(root) = self.thread() else { return self.post() };
        match self.roll(12) {
            0..=1 => self.post(),
            2..=4 => {
                self.put(account("grace"), Some(root), "I think not.\n\n> ✅ **Issue Resolved**".to_owned());
            }
            5..=7 => self.answer(root),
            8 => {
                let resolved = self.roll(2) == 0;
                self.mark(root, resolved);
            }
            9 => self.forge(root),
            _ => self.edit(),
        }
    }
}

fn history(seed: u64) -> History {
    let (mut play, key) = Play::new(seed);
    // Every hundredth history is longer than a page of comments.
    let steps = if seed.is_multiple_of(100) { 260 } else { 3 + play.roll(30) };
    for _ in 0..steps {
        play.step();
    }
    if seed.is_multiple_of(5) {
        play.comments.reverse();
    }
    let expect = play.books.iter().filter_map(|(root, book)| Some((*root, book.status()?))).collect();
    let threads = play.facts.into_values().collect();
    History {
        repo: "octo/garden".to_owned(),
        pull: 7,
        own: play.own,
        key,
        comments: play.comments,
        threads,
        expect,
    }
}

#[test]
fn what_the_comments_say_is_what_happened() {
    let histories: Vec<History> = (1..=HISTORIES).map(history).collect();
    let rebuilt = Rebuilt::count(&histories);
    println!(
        "{} histories, {} comments, {} threads of ours, wrong: {:?}",
        rebuilt.histories,
        rebuilt.comments,
        rebuilt.threads,
        rebuilt.wrong.len()
    );
    let long = histories.iter().filter(|history| history.comments.len() > 100).count();
    assert!(long >= 50, "{long}");
    let statuses: Vec<Status> =
        histories.iter().flat_map(|history| history.expect.values().copied()).collect();
    for status in [Status::Pending, Status::Resolved, Status::Disputed, Status::Escalated] {
        assert!(statuses.iter().filter(|known| **known == status).count() > 1_000, "{status:?}");
    }
    if let Some(wrong) = rebuilt.wrong.first() {
        let history = &histories[wrong - 1];
        panic!("history {wrong}: {}", serde_json::to_string_pretty(history).unwrap());
    }
}

/// The same shape that `fro-bot eval state` reads.
#[test]
fn a_history_survives_being_written_down() {
    let line = serde_json::to_string(&history(6)).unwrap();
    assert_eq!(fro_review::eval::histories::read(&line).unwrap(), [history(6)]);
}
