//! Measures saving and restoring on large memories.
//!
//! ```text
//! bench grow DATA SESSIONS PARTS BYTES   makes a data folder with a database in OpenCode's schema
//! bench list DATA SESSIONS     the same with one short message in each: what is known of sessions, and little else
//! bench work DATA               one typical run: a new session of 14 messages, one turn in an old one
//! bench scatter DATA            changes one message in a hundred, all over the file
//! bench adopt DATA              makes the mixed set of another generator acceptable as a memory
//! bench save STORE DATA KEEP    saves after the head, pruned to so many sessions, and says what it cost
//! bench restore STORE DATA      restores everything into a new data folder, as `memory pull` does
//! bench run STORE DATA NUMBER KEEP   one run about the subject of a session: restore, work, save
//! bench s3 STORE DATA NUMBER    the same through a bucket that the store was copied to, and how many bytes moved
//! bench recall DATA             what a run pays before its prompt, on what `restore` brought
//! bench search DATA INDEX       reads all messages into an index and asks 200 questions of three words
//! bench chunks OLD NEW          compares lengths of chunks: what would travel from one database to the next
//! ```

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails has nothing to say")]

#[expect(dead_code, reason = "the bucket of the tests can do more than is needed here")]
#[path = "../tests/it/bucket/server.rs"]
mod server;

use std::{
    collections::HashSet,
    env, fs,
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use fro_core::{Secret, remembered::Audience};
use fro_memory::{
    Encryption, Endpoint, ExcerptKind, Index, Keep, Kept, Ledger, Page, Patience, Provenance, Question,
    RecallTarget, Retention, S3Settings, SessionSelection, Sessions, Store, StoreSettings, Stores, recall_to,
};
use rusqlite::{Connection, params};
use serde_json::json;

const DAY: i64 = 86_400_000;
const START: i64 = 1_794_744_000_000;

/// Where a restored search index lies.
const INDEX: &str = "saved-index.db";

/// Where a ledger lies.
const LEDGER: &str = "ledger.db";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["grow", data, sessions, parts, bytes] => {
            let text = Text { state: 7, parts: parts.parse().unwrap(), bytes: bytes.parse().unwrap() };
            grow(Path::new(data), sessions.parse().unwrap(), 20, text);
        }
        ["list", data, sessions] => {
            grow(Path::new(data), sessions.parse().unwrap(), 1, Text { state: 7, parts: 1, bytes: 50 });
        }
        ["work", data] => work(&open(Path::new(data))),
        ["scatter", data] => scatter(&open(Path::new(data))),
        ["adopt", data] => adopt(&open(Path::new(data))),
        ["save", store, data, keep] => save(Path::new(store), Path::new(data), keep.parse().unwrap()),
        ["run", store, data, number, keep] => {
            let settings = StoreSettings::folder(store);
            run(
                &settings,
                Path::new(data),
                number.parse().unwrap(),
                keep.parse().unwrap(),
                &Moved::default(),
            );
        }
        ["s3", store, data, number] => through_s3(Path::new(store), Path::new(data), number.parse().unwrap()),
        ["restore", store, data] => restore(Path::new(store), Path::new(data)),
        ["recall", data] => recall_into_prompt(Path::new(data)),
        ["search", data, index] => search(Path::new(data), Path::new(index)),
        ["chunks", old, new] => chunks(Path::new(old), Path::new(new)),
        other => panic!("no such measurement: {other:?}"),
    }
}

fn open(data: &Path) -> Connection {
    Connection::open(data.join("opencode/opencode.db")).unwrap()
}

/// Words as people use them: few often, most rarely.
struct Text {
    state: u64,
    /// How many parts a message has.
    parts: u32,
    /// How long a part may get.
    bytes: u64,
}

impl Text {
    fn number(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn write(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let scale = 1 << self.number(15);
            let rank = scale + self.number(scale);
            for digit in format!("{:o}", rank * 7919 % 1_000_003).bytes() {
                text.push(char::from(b"etaoinsh"[usize::from(digit - b'0')]));
            }
            text.push(' ');
        }
        text
    }
}

fn grow(data: &Path, sessions: u32, messages: u32, mut text: Text) {
    fs::create_dir_all(data.join("opencode")).unwrap();
    let mut connection = open(data);
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(include_str!("../tests/it/schema.sql")).unwrap();
    for number in 0..sessions {
        let transaction = connection.transaction().unwrap();
        let at = START - i64::from(sessions - number) * DAY / 10;
        session(&transaction, &mut text, number, at, messages);
        transaction.commit().unwrap();
    }
    let ledger = Ledger::open(data.join(LEDGER)).unwrap();
    let connection = Connection::open(ledger.path()).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    for number in 0..sessions {
        let data = json!({ "surface": "github", "event": "issue_comment", "actor": "mara", "trust": "maintainer",
            "visibility": "public", "outcome": "answered", "duration": 61_234 + number, "first_output": 61_234,
            "links": [format!("https://github.com/octo/garden/issues/{number}#issuecomment-{}", 4_000_000 + number)],
            "cost": 41_000, "tokens": { "input": 120_000, "output": 3_400 }, "recalled": [], "memory_calls": 1,
            "exploration_calls": 12, "is_warm": true });
        let at = START - i64::from(sessions - number) * DAY / 10;
        let (run, subject) = (format!("{number}-1-issue_comment"), subject(number));
        let row = params![run, subject, format!("ses_{number:012x}"), at, data.to_string()];
        connection.execute("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn subject(number: u32) -> String {
    format!("octo/garden#{number}")
}

/// Bytes that went through a door.
#[derive(Debug, Clone, Default)]
struct Moved {
    down: Arc<AtomicU64>,
    up: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
}

impl Moved {
    fn describe(&self) -> String {
        let [down, up, asked] =
            [&self.down, &self.up, &self.asked].map(|count| count.swap(0, Ordering::SeqCst));
        format!("{down} bytes down, {up} up, {asked} requests")
    }

    /// Opens a door to a server and counts what goes through.
    fn door(&self, server: &str) -> String {
        let (listener, server, moved) =
            (TcpListener::bind("127.0.0.1:0").unwrap(), server.to_owned(), self.clone());
        let door = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let server = TcpStream::connect(server.trim_start_matches("http://")).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (up, down) = (moved.clone(), moved.clone());
                thread::spawn(move || pass_on(from, to, &up.up, Some(&up.asked)));
                thread::spawn(move || pass_on(server, client, &down.down, None));
            }
        });
        door
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, count: &AtomicU64, asked: Option<&AtomicU64>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        count.fetch_add(length as u64, Ordering::SeqCst);
        let begins = ["GET ", "PUT ", "HEAD ", "POST ", "DELETE "]
            .iter()
            .any(|verb| buffer.starts_with(verb.as_bytes()));
        if let Some(asked) = asked.filter(|_| begins) {
            asked.fetch_add(1, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
}

/// Copies a store into a bucket, and does there what a run does.
fn through_s3(store: &Path, data: &Path, number: u32) {
    let (bucket, moved) = (server::Bucket::open(), Moved::default());
    let keys = [("AWS_ACCESS_KEY_ID", server::KEY), ("AWS_SECRET_ACCESS_KEY", server::SECRET)];
    let direct = S3Settings {
        bucket: server::BUCKET.to_owned(),
        region: "us-east-1".to_owned(),
        endpoint: Endpoint::Insecure(bucket.endpoint().to_owned()),
        prefix: "octo/garden".to_owned(),
        encryption: Encryption::AsTheBucket,
        expected_owner: None,
        credentials: keys.map(|(name, value)| (name.to_owned(), Secret::new(value))).into(),
        extra_ca: Vec::new(),
        patience: Patience::default(),
    };
    let both = StoreSettings { s3: Some(direct.clone()), ..StoreSettings::folder(store) };
    let scratch = tempfile::tempdir().unwrap();
    let about = subject(number);
    let to = RecallTarget { given: SessionSelection::About(&about), ..everything(scratch.path()) };
    let now = jiff::Timestamp::from_millisecond(START).unwrap();
    println!("{:?}", Stores::open(&both).recall(to, now).warnings);
    let endpoint = Endpoint::Insecure(moved.door(bucket.endpoint()));
    let s3 = Some(S3Settings { endpoint, ..direct });
    run(&StoreSettings { s3, ..StoreSettings::default() }, data, number, 1_000_000, &moved);
}

fn everything(data: &Path) -> RecallTarget<'_> {
    RecallTarget {
        engine_data: data,
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    }
}

/// Does what a run does with its memory: is given one session, asks a question, says something in its session and in a
/// new one, saves.
fn run(settings: &StoreSettings, data: &Path, number: u32, keep: usize, moved: &Moved) {
    let mut stores = Stores::open(settings);
    let (ledger, index, about) = (data.join(LEDGER), data.join(INDEX), subject(number));
    let now = jiff::Timestamp::from_millisecond(START).unwrap();
    let before = Cost::now();
    let given = SessionSelection::About(&about);
    let to = RecallTarget { ledger: Some(&ledger), index: Some(&index), given, ..everything(data) };
    let recollection = stores.recall(to, now);
    assert!(recollection.warnings.is_empty(), "{:?}", recollection.warnings);
    println!("restore: {}, {}", before.until_now(), moved.describe());
    let before = Cost::now();
    let archive = recollection.archive.as_ref().unwrap();
    let sessions = Sessions::open_all(data, archive, data).unwrap();
    let words = some_words(&sessions, &mut Text { state: 7, parts: 0, bytes: 0 });
    let own = data.join("own-index.db");
    let found = Index::saved_or_made(&index, &own, &sessions, &Ledger::open(&ledger).unwrap()).unwrap();
    let question = Question { show: ExcerptKind::Answer, ..Question::typed(&words) };
    let hits = found.search(&sessions, &question, 4).unwrap().len();
    let rows = found.rows_read();
    println!("question: {}, {rows} rows, {hits} found, {}", before.until_now(), moved.describe());
    drop((sessions, found));
    let connection = open(data);
    let (own, new) = (format!("ses_{number:012x}"), format!("ses_{:012x}", number + 100_000));
    let mut text = Text { state: u64::from(number), parts: 2, bytes: 1_800 };
    connection.execute_batch("BEGIN").unwrap();
    session(&connection, &mut text, number + 100_000, START + DAY, 14);
    message(&connection, &mut text, &own, START + DAY);
    connection.execute_batch("COMMIT").unwrap();
    drop(connection);
    let before = Cost::now();
    let parent = recollection.recall.head().cloned();
    let provenance = Provenance { now, engine_version: "1.18.33".to_owned(), parent };
    let retention = Retention { sessions: keep, age: jiff::SignedDuration::ZERO, bytes: None };
    let keep = Keep::new(data, provenance).only([own, new]).with_ledger(&ledger).with_index(&index);
    let keeping = stores.keep(&keep.pruning(retention).without(secrets()));
    let Some(Kept::Saved { uploaded, sessions, .. }) = keeping.kept else { panic!("not saved: {keeping:?}") };
    println!(
        "save: {}, {uploaded} bytes written, {sessions} sessions, {}",
        before.until_now(),
        moved.describe()
    );
    println!("{} MB at most in memory", peak());
}

/// What this process has taken so far.
struct Cost {
    clock: Instant,
    ticks: u64,
    read: u64,
}

impl Cost {
    fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let io = fs::read_to_string("/proc/self/io").unwrap();
        Self {
            clock: Instant::now(),
            ticks: [11, 12].map(|place: usize| fields[place].parse::<u64>().unwrap()).iter().sum(),
            read: io.lines().next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap(),
        }
    }

    fn until_now(&self) -> String {
        let now = Self::now();
        let (cpu, read) = ((now.ticks - self.ticks) * 10, now.read - self.read);
        format!("{:.3} s, {cpu} ms of CPU, {read} bytes read", self.clock.elapsed().as_secs_f64())
    }
}

fn session(connection: &Connection, text: &mut Text, number: u32, at: i64, messages: u32) {
    let id = format!("ses_{number:012x}");
    connection
        .execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
             VALUES (?1, 'prj', 'slug', '/repo', ?2, '1.18.33', ?3, ?3)",
            params![id, text.write(40), at],
        )
        .unwrap();
    connection.execute("INSERT INTO event_sequence VALUES (?1, 100, NULL)", [&id]).unwrap();
    for turn in 0..messages {
        message(connection, text, &id, at + i64::from(turn) * 60_000);
    }
}

fn message(connection: &Connection, text: &mut Text, session: &str, at: i64) {
    let id = format!("msg_{at:012x}{:08x}", text.number(u64::from(u32::MAX)));
    let data = json!({ "role": "assistant", "cost": 0.01, "time": { "created": at, "completed": at + 900 },
        "path": { "cwd": "/repo" }, "tokens": { "input": text.number(99_999), "output": text.number(9_999) } });
    let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
    connection.execute(sql, params![id, session, at, data.to_string()]).unwrap();
    for part in 0..text.parts {
        let bytes = 200 + usize::try_from(text.number(text.bytes)).unwrap();
        let data = match part {
            0 => json!({ "type": "text", "text": text.write(bytes.min(1_000)) }),
            _ => {
                json!({ "type": "tool", "tool": "read", "state": { "status": "completed", "output": text.write(bytes) } })
            }
        };
        let sql = "INSERT INTO part VALUES (?1 || ?2, ?1, ?3, ?4, ?4, ?5)";
        connection.execute(sql, params![id, part, session, at, data.to_string()]).unwrap();
    }
}

fn work(connection: &Connection) {
    let newest: i64 =
        connection.query_one("SELECT max(time_updated) FROM session", [], |row| row.get(0)).unwrap();
    let count: u32 = connection.query_one("SELECT max(rowid) FROM session", [], |row| row.get(0)).unwrap();
    let mut text = Text { state: u64::from(count), parts: 4, bytes: 16_000 };
    connection.execute_batch("BEGIN").unwrap();
    session(connection, &mut text, count + 100_000, newest + DAY / 10, 14);
    let old: String = connection
        .query_one("SELECT id FROM session ORDER BY time_updated LIMIT 1 OFFSET ?1", [count / 2], |row| {
            row.get(0)
        })
        .unwrap();
    for turn in 0..2 {
        message(connection, &mut text, &old, newest + DAY / 10 + turn);
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn adopt(connection: &Connection) {
    connection.execute_batch("CREATE TABLE session (id text PRIMARY KEY)").unwrap();
}

fn scatter(connection: &Connection) {
    let changed = connection
        .execute("UPDATE part SET data = replace(data, '\"completed\"', '\"completed\" ') WHERE abs(random()) % 100 = 0", [])
        .unwrap();
    println!("{changed} parts changed");
}

fn save(store: &Path, data: &Path, keep: usize) {
    let store = Store::folder(store).unwrap();
    let provenance = Provenance {
        now: jiff::Timestamp::from_millisecond(START).unwrap(),
        engine_version: "1.18.33".to_owned(),
        parent: store.head().unwrap(),
    };
    let begun = Instant::now();
    let retention = Retention { sessions: keep, age: jiff::SignedDuration::ZERO, bytes: None };
    let index = data.join(INDEX);
    let ledger = data.join(LEDGER);
    let keep = Keep::new(data, provenance).pruning(retention).with_index(&index).without(secrets());
    let keep = keep.with_ledger(&ledger);
    let kept = keep.save(&store).unwrap();
    println!("{:.2} s, {} MB at most in memory\n{kept:?}", begun.elapsed().as_secs_f64(), peak());
}

/// Returns as many secrets as a run knows, of all kinds; none of them is there.
fn secrets() -> impl Iterator<Item = Secret> {
    let tokens = (0..10).map(|number| format!("ghs_{}", format!("{number}Qx").repeat(12)));
    let lines: Vec<_> = (0..25).map(|number| format!("M{number:02}xQvb7").repeat(8)).collect();
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"));
    tokens.chain([key, "p@ss \"word\" with/étrange$igns".to_owned()]).map(Secret::new)
}

fn restore(store: &Path, data: &Path) {
    let store = Store::folder(store).unwrap();
    let begun = Instant::now();
    let index = data.join(INDEX);
    let to = RecallTarget {
        engine_data: data,
        ledger: None,
        index: Some(&index),
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    let recalled = recall_to(&store, to).unwrap();
    println!("{:.2} s, {} MB at most in memory\n{recalled:?}", begun.elapsed().as_secs_f64(), peak());
}

/// Does what a run does before its prompt: opens the index as it was saved, and searches once for words that stand in
/// one session.
fn recall_into_prompt(data: &Path) {
    let sessions = Sessions::open(data).unwrap().unwrap();
    let words = some_words(&sessions, &mut Text { state: 7, parts: 0, bytes: 0 });
    let begun = Instant::now();
    let ledger = Ledger::open(data.join("own-ledger.db")).unwrap();
    let index =
        Index::saved_or_made(&data.join(INDEX), &data.join("own-index.db"), &sessions, &ledger).unwrap();
    let question = Question { show: ExcerptKind::Answer, ..Question::typed(&words) };
    let found = index.search(&sessions, &question, 5).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert!(!found.is_empty(), "{words}");
    println!(
        "{seconds:.3} s, {} rows read, {} sessions found, {} MB at most in memory",
        index.rows_read(),
        found.len(),
        peak()
    );
}

/// Asks for words that stand together somewhere.
fn search(data: &Path, index: &Path) {
    let sessions = Sessions::open(data).unwrap().unwrap();
    let begun = Instant::now();
    let mut index = Index::open(index).unwrap();
    let read = index.refresh(&sessions, None).unwrap();
    println!("{read} sessions read in {:.1} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let read = index.refresh(&sessions, None).unwrap();
    println!("{read} sessions read again in {:.3} s", begun.elapsed().as_secs_f64());
    let mut text = Text { state: 99, parts: 0, bytes: 0 };
    let before = index.rows_read();
    let mut times: Vec<_> = (0..200)
        .map(|_| {
            let words = some_words(&sessions, &mut text);
            let begun = Instant::now();
            assert!(!index.search(&sessions, &Question::typed(&words), 10).unwrap().is_empty());
            begun.elapsed()
        })
        .collect();
    times.sort();
    let rows = (index.rows_read() - before) / 200;
    println!("p50 {:?}, p95 {:?}, {rows} rows each, {} MB at most in memory", times[100], times[190], peak());
}

/// Returns a few words of a title.
fn some_words(sessions: &Sessions, text: &mut Text) -> String {
    let all = sessions.list(Page { skip: 0, limit: 10_000 }).unwrap();
    let session = &all[usize::try_from(text.number(all.len() as u64)).unwrap()];
    session.title.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}

/// Returns the most memory this process ever had, in megabytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1000
}

fn chunks(old: &Path, new: &Path) {
    let (old, new) = (fs::read(old).unwrap(), fs::read(new).unwrap());
    println!("chunk   new chunks   packed   index");
    for length in [4096, 8192, 16_384, 65_536, 262_144] {
        let known: HashSet<_> = old.chunks(length).map(blake3::hash).collect();
        let mut seen = HashSet::new();
        let fresh: Vec<u8> = new
            .chunks(length)
            .filter(|chunk| {
                let hash = blake3::hash(chunk);
                !known.contains(&hash) && seen.insert(hash)
            })
            .flatten()
            .copied()
            .collect();
        let packed = zstd::encode_all(fresh.as_slice(), 3).unwrap().len();
        println!("{:>3} KiB {:>8} {packed:>12} {:>9}", length / 1024, seen.len(), seen.len() * 36);
    }
}
