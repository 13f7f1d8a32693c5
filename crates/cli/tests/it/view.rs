//! The operators' page over HTTP: who is let in, what strangers' words become there, and that a change is told.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use fro_core::{
    RepoName,
    chat::{
        AuditAction, AuditEntry, ChannelId, ChannelLink, ChannelSettings, Follow, GuildId, MessageId, Ruling,
        Thread, ThreadRequest, UserId, Words,
    },
    remembered::Audience,
};
use fro_memory::{Ledger, Run};
use fro_serve::{Address, Store};
use fro_sim::discord::Discord;
use jiff::Timestamp;
use tempfile::TempDir;

use crate::memory::{
    engine::{Engine, add_message},
    run,
};

const TOKEN: &str = "planted-token-of-the-page";
/// Markup, a quote that would end an attribute, a letter that turns around what follows, and the shape of a credential.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";

/// A daemon's store and a memory in which everything that people write is hostile.
struct Stage {
    folder: TempDir,
    store: Store,
}

/// A page that is shown.
struct Shown {
    process: Child,
    address: String,
}

/// What a page answered.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Stage {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        remember(&folder.path().join("memory/octo/garden"));
        let store = Store::open(&Address::File(folder.path().join("serve.db"))).await.unwrap();
        let stage = Self { folder, store };
        stage.link().await;
        stage.asks(1).await;
        stage
    }

    async fn link(&self) {
        let link = ChannelLink {
            channel: ChannelId::new(1).unwrap(),
            guild: GuildId::new(9).unwrap(),
            repository: RepoName::parse("octo/garden").unwrap(),
            settings: ChannelSettings { model: Some(HOSTILE.to_owned()), ..ChannelSettings::default() },
            linked_by: UserId::new(7).unwrap(),
            linked_at: Timestamp::UNIX_EPOCH,
        };
        self.store.link(&link, decision()).await.unwrap();
    }

    /// Somebody asks something in a thread of their own.
    async fn asks(&self, number: u64) {
        let thread = Thread {
            id: ChannelId::new(100 + number).unwrap(),
            channel: ChannelId::new(1).unwrap(),
            guild: GuildId::new(9).unwrap(),
            repository: RepoName::parse("octo/garden").unwrap(),
            session: Some("ses_00000001".to_owned()),
            forked_from: None,
            named: Some(HOSTILE.to_owned()),
            opened_at: Timestamp::UNIX_EPOCH,
        };
        let words = Words {
            name: HOSTILE.to_owned(),
            roles: Vec::new(),
            text: HOSTILE.to_owned(),
            seen_by: None,
            files: Vec::new(),
            quoted: None,
        };
        let (source, asker) = (MessageId::new(100 + number).unwrap(), UserId::new(7).unwrap());
        let request = ThreadRequest { thread: thread.id, source, asker, words };
        let follows = [Follow::OpenThread(thread), Follow::Queue(request)];
        self.store.take_in(number, &follows, Timestamp::now()).await.unwrap();
        self.store.greet(HOSTILE, Timestamp::now()).await.unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
        command.args(arguments).env_clear().current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.env("FRO_STORE", self.folder.path().join("serve.db"));
        command.env("FRO_PAGE_TOKEN", TOKEN);
        command
    }
}

/// Puts a memory into a folder.
fn remember(folder: &Path) {
    fs_err::create_dir_all(folder).unwrap();
    let engine = Engine::with_sessions(3);
    let hostile = HOSTILE.replace('\'', "''");
    engine.change(&format!("UPDATE session SET title = '{hostile}' WHERE id = 'ses_00000001'"));
    add_message(
        &engine.connect(),
        "ses_00000001",
        "msg_more",
        2_000_000_000_000,
        &format!("The coupling drips. {HOSTILE}"),
    );
    let ledger = Ledger::open(engine.data().join("fro-bot-ledger.db")).unwrap();
    let links = vec!["https://github.com/octo/garden/issues/7".to_owned(), "javascript:alert(1)".to_owned()];
    let told = Run {
        actor: HOSTILE.to_owned(),
        visibility: Audience::Insiders,
        links,
        ..run(HOSTILE, "ses_00000001", "x")
    };
    ledger.record(&told).unwrap();
    let mut push = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    push.args(["memory", "push"]).arg(engine.data()).arg("--memory").arg(folder).env_clear();
    let pushed = push.output().unwrap();
    assert!(pushed.status.success(), "{pushed:?}");
}

fn decision() -> AuditEntry {
    AuditEntry {
        at: Timestamp::UNIX_EPOCH,
        guild: GuildId::new(9).unwrap(),
        actor: None,
        roles: Vec::new(),
        action: AuditAction::Link,
        target: HOSTILE.to_owned(),
        before: None,
        after: Some(HOSTILE.into()),
        ruling: Ruling::Denied(HOSTILE.to_owned()),
    }
}

impl Shown {
    /// Starts a command, and waits until it shows a page.
    fn start(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address =
            lines.by_ref().find_map(|line| Some(line.split_once("page is at http://")?.1.to_owned()));
        let address = address.unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address }
    }

    /// Opens a connection and asks for something.
    fn ask(&self, line: &str, headers: &[&str]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{line} HTTP/1.1\r\nconnection: close\r\n").unwrap();
        for header in headers {
            write!(stream, "{header}\r\n").unwrap();
        }
        write!(stream, "\r\n").unwrap();
        stream
    }

    fn answer(&self, line: &str, headers: &[&str]) -> Answer {
        let mut text = String::new();
        self.ask(line, headers).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn host(&self) -> String {
        format!("host: {}", self.address)
    }

    /// Asks for a page as its operator.
    fn page(&self, path: &str) -> Answer {
        self.answer(&format!("GET {path}"), &[&self.host(), &format!("authorization: Bearer {TOKEN}")])
    }

    /// Reads the next event of a stream: its name and its number.
    fn event(lines: &mut impl Iterator<Item = String>) -> (String, String) {
        let mut told = lines
            .by_ref()
            .skip_while(|line| line.is_empty() || line.starts_with(':'))
            .take_while(|line| !line.is_empty());
        let (mut name, mut id) = (String::new(), String::new());
        for line in &mut told {
            match line.split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("id", text)) => text.clone_into(&mut id),
                _ => {}
            }
        }
        (name, id)
    }

    /// Listens to what changes, as somebody who saw this last.
    fn listen(&self, last: &str) -> impl Iterator<Item = String> + use<> {
        let headers =
            [self.host(), format!("authorization: Bearer {TOKEN}"), format!("last-event-id: {last}")];
        let headers: Vec<&str> =
            headers.iter().map(String::as_str).take(if last.is_empty() { 2 } else { 3 }).collect();
        let mut lines = BufReader::new(self.ask("GET /events", &headers)).lines().map_while(Result::ok);
        let head: Vec<_> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        assert!(
            head.iter().any(|line| line.eq_ignore_ascii_case("content-type: text/event-stream")),
            "{head:?}"
        );
        // What is left are chunks: lines with their length, and lines of events.
        lines.filter(|line| line.is_empty() || line.starts_with(':') || line.contains(": "))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

const PAGES: [&str; 12] = [
    "/",
    "/sessions",
    "/sessions?search=coupling",
    "/sessions?search=%3Cscript%3Ealert(1)%3C/script%3E",
    "/sessions/ses_00000001",
    "/sessions/ses_00000001?of=octo%2Fgarden",
    "/runs",
    "/threads",
    "/threads/101",
    "/links",
    "/queue",
    "/audit",
];

/// Checks that a page has somebody's words, and nothing of them but as words.
fn is_harmless(path: &str, answer: &Answer) {
    let body = &answer.body;
    assert_eq!(answer.status, 200, "{path}: {body}");
    for markup in ["<script>", "<img", "onerror=alert(1)>", "\u{202e}", "ghp_", "href=\"javascript:"] {
        assert!(!body.contains(markup), "{path} has {markup}: {body}");
    }
    assert!(body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{path} has none of the words: {body}");
    assert!(path.contains("%3C") || body.contains("[redacted]"), "{path}: {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_people_write_is_shown_as_words_and_without_secrets() {
    let stage = Stage::new().await;
    let shown = Shown::start(stage.command(&["view", "--memory", "memory/octo/garden"]));
    for path in PAGES {
        is_harmless(path, &shown.page(path));
    }
    assert!(
        shown.page("/sessions").body.contains(">private<"),
        "the operator sees what is private, and that it is"
    );
    assert!(shown.page("/audit").body.contains("The chain holds: 1 decision,"));
    let queue = shown.page("/queue").body;
    assert!(queue.contains("octo/garden") && queue.contains("waits"), "{queue}");
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_shows_the_same_pages_with_the_memory_of_each_repository() {
    let (stage, world) = (Stage::new().await, Discord::start().await.unwrap());
    let mut command = stage.command(&["serve", "--no-worker", "--page", "0"]);
    command.env("FRO_DISCORD_TOKEN", world.token());
    command.env("FRO_DISCORD_API", world.api_url()).env("FRO_DISCORD_GATEWAY", world.gateway_url());
    let shown = Shown::start(command);
    for path in PAGES {
        is_harmless(path, &shown.page(path));
    }
    for path in [
        "/sessions?of=octo/cellar",
        "/sessions?of=../..",
        "/sessions/ses_9",
        "/threads/999",
        "/threads/x",
        "/none",
    ] {
        assert_eq!(shown.page(path).status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_has_the_token_and_asks_by_the_page_s_own_name_is_let_in() {
    let stage = Stage::new().await;
    let shown = Shown::start(stage.command(&[
        "view",
        "--memory",
        "memory/octo/garden",
        "--page-host",
        "fro.example",
    ]));
    let (host, bearer) = (shown.host(), format!("authorization: Bearer {TOKEN}"));
    for (line, headers, status) in [
        ("GET /", vec![&*host], 401),
        ("GET /assets/page.css", vec![&*host], 401),
        ("GET /events", vec![&*host], 401),
        ("GET /nowhere", vec![&*host], 401),
        ("GET /", vec![&*host, "authorization: Bearer planted-token-of-the-pag"], 401),
        ("GET /?token=planted-token-of-the-page", vec![&*host], 401),
        ("GET /", vec![&*host, "cookie: token=planted-token-of-the-page"], 401),
        ("GET /", vec!["host: evil.example", &*bearer], 421),
        ("GET /", vec!["host: evil.example"], 421),
        ("GET /", vec!["host: fro.example", &*bearer], 200),
        ("GET /assets/page.css", vec![&*host, &*bearer], 200),
        ("GET /assets/page.js", vec![&*host, &*bearer], 200),
        ("HEAD /sessions", vec![&*host, &*bearer], 200),
        ("POST /sessions", vec![&*host, &*bearer, "content-length: 0"], 405),
        ("DELETE /sessions/ses_00000001", vec![&*host, &*bearer], 405),
    ] {
        let answer = shown.answer(line, &headers);
        assert_eq!(answer.status, status, "{line} {headers:?}");
        for header in [
            "content-security-policy: default-src 'none'",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
        ] {
            assert!(answer.head.contains(header), "{line} without {header}: {}", answer.head);
        }
        let is_closed = status != 401 && status != 421 || !answer.body.contains("garden");
        assert!(is_closed, "{line} tells something: {}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_and_who_comes_back_is_told_what_they_missed() {
    let stage = Stage::new().await;
    let shown = Shown::start(stage.command(&["view", "--memory", "memory/octo/garden"]));
    let mut lines = shown.listen("");
    let (name, first) = Shown::event(&mut lines);
    assert_eq!(name, "begun");
    stage.asks(2).await;
    let (name, second) = Shown::event(&mut lines);
    assert_eq!(name, "changed");
    assert_ne!(first, second);
    // Somebody who was away.
    assert_eq!(Shown::event(&mut shown.listen(&first)), ("changed".to_owned(), second.clone()));
    // Somebody who missed nothing is told the next change only.
    let mut lines = shown.listen(&second);
    stage.asks(3).await;
    let (name, third) = Shown::event(&mut lines);
    assert_eq!(name, "changed");
    assert!(third != second && third != first, "{third}");
    assert!(shown.page("/threads").body.matches("/threads/10").count() >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_a_password_is_not_shown_to_anybody() {
    let stage = Stage::new().await;
    let told = |arguments: &[&str], token: Option<&str>| {
        let mut command = stage.command(arguments);
        command.env("FRO_DISCORD_TOKEN", "planted-bot-token").env_remove("FRO_PAGE_TOKEN");
        command.envs(token.map(|token| ("FRO_PAGE_TOKEN", token)));
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        format!("{err}exit code {}", output.status.code().unwrap())
    };
    let all = [
        told(&["serve", "--no-worker", "--page", "0"], None),
        told(&["serve", "--no-worker", "--page", "0"], Some("short")),
        told(&["view", "--page", "nowhere"], Some(TOKEN)),
        told(&["view", "--memory", "not-there"], Some(TOKEN)),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}
