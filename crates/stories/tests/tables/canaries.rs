//! Canaries in everything that the harness can read and the agent must not, while the agent swaps, links, pipes, deletes
//! and floods below every step of the harness that touches its files: none is seen anywhere.
//!
//! A control shows that the mischief finds what can be found: the step that once gave the token away, played by hand below
//! the same agent, is seen by the same look.
//!
//! `FRO_CANARY_SEEDS` (one number, or `from..to`) plays other schedules than the usual ones, or more of them.

use std::{
    io::Read as _,
    ops::Range,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};

use data_encoding::{BASE64, HEXLOWER};
use fro_sim::{model::Reply, state::Token};
use fro_stories::{Mention, REPO, Run, Signal, Sim, signal};
use serde_json::json;
use tokio::{process::Command, time::timeout};

use crate::{posted::posted, table::fill};

/// How many schedules each step meets, unless told otherwise.
const SEEDS: Range<u64> = 0..7;

/// How long the mischief goes on, in seconds: longer than a run takes, unless it is ended.
const MISCHIEF: &str = "45";

/// How long the step of old is played, until a canary is seen.
const AT_MOST: Duration = Duration::from_secs(40);

/// What the harness does with bytes that the agent wrote.
#[derive(Clone, Copy)]
enum Step {
    /// The agent changes files and pushes nothing: the harness compares what lies in the clone.
    Compare,
    /// The agent pushes: the harness reads every object, then compares.
    Receive,
    /// The agent hands its answer in by `answer_draft`.
    Draft,
    /// The agent asks what is remembered, while its database is anything.
    Recall,
    /// The agent only answers: the harness keeps its database and removes its folders.
    Keep,
    /// The run is cancelled in the middle: the same, in a hurry.
    Cancel,
    /// The run is killed, and the step after it does the same.
    Post,
}

const STEPS: [(&str, Step); 7] = [
    ("what lies in the clone is compared", Step::Compare),
    ("a push is received", Step::Receive),
    ("an answer is handed in", Step::Draft),
    ("the memory is asked", Step::Recall),
    ("the memory is kept", Step::Keep),
    ("the run is cancelled", Step::Cancel),
    ("the step after a killed run", Step::Post),
];

/// What was planted: names for people, and values that nothing else has.
struct Canaries {
    planted: Vec<(&'static str, String)>,
    targets: Vec<PathBuf>,
}

impl Canaries {
    /// Plants a canary in every place that the harness reads and the agent must not.
    fn plant(sim: &Sim) -> Self {
        let mut canaries = Self { planted: Vec::new(), targets: Vec::new() };
        let (runner, home) = (sim.folder().join("runner folder"), sim.folder().join("home"));
        fs_err::create_dir_all(&runner).unwrap();
        fs_err::create_dir_all(home.join(".ssh")).unwrap();
        for (name, file) in [
            ("a file of the runner", runner.join("closed")),
            ("a key in the runner's home", home.join(".ssh/id_rsa")),
            ("another's temporary file", sim.folder().join("temporary")),
        ] {
            let value = canaries.add(name);
            fs_err::write(&file, value).unwrap();
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            canaries.targets.push(file);
        }
        canaries.targets.push(runner);
        canaries.targets.push(sim.checkout().join(".git/config"));
        let value = canaries.add("a credential of the checkout");
        let config = sim.checkout().join(".git/config");
        let text = fs_err::read_to_string(&config).unwrap();
        let header = format!("[http]\n\textraheader = Authorization: basic {value}\n");
        fs_err::write(&config, text + &header).unwrap();
        canaries
    }

    fn add(&mut self, name: &'static str) -> String {
        let value = format!("canary-{}", HEXLOWER.encode(&rand()));
        self.planted.push((name, value.clone()));
        value
    }

    fn value(&self, name: &str) -> &str {
        self.planted.iter().find(|(planted, _)| *planted == name).map_or("", |(_, value)| value)
    }

    /// Gives the run its credentials, each of them a canary.
    fn equip<'a>(&mut self, sim: &'a Sim, mention: Mention<'a>) -> Mention<'a> {
        let token = self.add("the job's token");
        let usual = sim.world().token("fro-bot");
        sim.world().change(|state| {
            let own = state.tokens.iter().find(|token| token.text == usual).cloned();
            state.tokens.push(Token { text: token.clone(), ..own.unwrap() });
        });
        let key = self.add("the model's key");
        sim.model().accepts_only(&key);
        let mut provider = sim.model().provider();
        provider["provider"]["scripted"]["options"]["apiKey"] = json!(key);
        let variables = [
            ("AWS_SECRET_ACCESS_KEY", "a cloud key"),
            ("ACTIONS_RUNTIME_TOKEN", "the runtime's token"),
            ("SOMETHING_ELSE", "a variable that no rule knows"),
        ];
        let mention = mention.with("github-token", &token).with("opencode-config", &provider.to_string());
        variables
            .into_iter()
            .fold(mention, |mention, (variable, name)| mention.variable(variable, self.add(name)))
    }

    /// Returns where anybody outside got to see which canaries.
    async fn found(&self, sim: &Sim, run: &Run, got: String) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut places = places(sim, run).await;
        places.push(("the agent's own hands", got));
        let found = places.into_iter().map(|(place, text)| (place, self.seen_in(&text)));
        found.filter(|(_, names)| !names.is_empty()).collect()
    }

    /// Returns the names of the canaries that are in a text.
    fn seen_in(&self, text: &str) -> Vec<&'static str> {
        let seen = self.planted.iter().filter(|(_, value)| text.contains(value.as_str()));
        seen.map(|(name, _)| *name).collect()
    }
}

/// Sixteen bytes that nobody can guess.
fn rand() -> [u8; 16] {
    let mut bytes = [0; 16];
    fs_err::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn no_canary_is_seen_whatever_the_agent_does_below_the_harness() {
    let steps = STEPS.map(|(name, step)| (name.to_owned(), step));
    let seeds: Vec<u64> = seeds().collect();
    let headings: Vec<String> = seeds.iter().map(ToString::to_string).collect();
    let columns: Vec<(&str, u64)> = headings.iter().map(String::as_str).zip(seeds).collect();
    fill("Canaries seen, of those planted", &steps, &columns, cell).await;
}

fn seeds() -> Range<u64> {
    let Ok(wanted) = std::env::var("FRO_CANARY_SEEDS") else { return SEEDS };
    let number = |text: &str| text.parse::<u64>().expect("a seed is a number");
    match wanted.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&wanted)..number(&wanted) + 1,
    }
}

async fn cell(step: Step, seed: u64) -> String {
    let sim = Sim::cloned().await;
    let mut canaries = Canaries::plant(&sim);
    fs_err::write(sim.checkout().join("canaries.py"), include_str!("canaries.py")).unwrap();
    script(&sim, step, seed, &canaries);
    let asks = match step {
        Step::Compare | Step::Receive => "@fro-bot fix it",
        Step::Draft | Step::Recall | Step::Keep | Step::Cancel | Step::Post => {
            "@fro-bot why is the floor wet?"
        }
    };
    let mention = canaries.equip(&sim, sim.mention(asks));
    let played = async {
        match step {
            Step::Cancel => {
                let running = mention.start();
                sim.model().wait_for_calls(2).await;
                running.cancel().await
            }
            Step::Post => {
                let running = mention.start();
                sim.model().wait_for_calls(2).await;
                signal(running.pid(), Signal::KILL);
                let killed = running.end().await;
                let after = canaries.equip(&sim, sim.mention("").again(killed.comment).post());
                let post = after.run().await;
                Run { log: killed.log_and_errors() + &post.log, ..post }
            }
            Step::Compare | Step::Receive | Step::Draft | Step::Recall | Step::Keep => mention.run().await,
        }
    };
    let (run, got) = watched(&sim, played).await;
    let found = canaries.found(&sim, &run, got).await;
    assert!(found.is_empty(), "seed {seed}: {found:?}\n{run}");
    let answers = usize::from(!matches!(step, Step::Cancel | Step::Post));
    assert_eq!(posted(&sim).len(), answers, "seed {seed}: {run}");
    sim.finish_early().await;
    format!("0/{}", canaries.planted.len())
}

#[tokio::test]
async fn what_the_harness_once_did_shows_a_canary_to_the_same_agent() {
    let sim = Sim::cloned().await;
    let mut canaries = Canaries::plant(&sim);
    let running = {
        fs_err::write(sim.checkout().join("canaries.py"), include_str!("canaries.py")).unwrap();
        sim.model().plays(mischief(0, &canaries));
        sim.model().plays(Reply::stall());
        canaries.equip(&sim, sim.mention("@fro-bot fix it")).start()
    };
    sim.model().wait_for_calls(2).await;

    let (begun, mut tries) = (Instant::now(), 0);
    while canaries.seen_in(&loot(&sim)).is_empty() && begun.elapsed() < AT_MOST {
        look_as_of_old(&sim, &canaries).await;
        tries += 1;
    }
    let (took, got) = (begun.elapsed(), loot(&sim));

    let run = running.cancel().await;
    let found = canaries.found(&sim, &run, got).await;
    println!("the step of old, {tries} times in {} ms: {found:?}", took.as_millis());
    assert!(
        found.iter().any(|(place, _)| *place == "the agent's own hands"),
        "{tries} tries: {found:?}\n{run}"
    );
}

/// Plays a run, and returns what the agent got hold of meanwhile: that goes with its folders.
async fn watched(sim: &Sim, run: impl Future<Output = Run>) -> (Run, String) {
    let (mut run, mut got) = (pin!(run), String::new());
    loop {
        if let Ok(run) = timeout(Duration::from_millis(50), &mut run).await {
            return (run, got);
        }
        got.push_str(&loot(sim));
    }
}

/// Returns what the agent has written down as found.
fn loot(sim: &Sim) -> String {
    let written = sim.clone_of_agent().map(|clone| fs_err::read_to_string(clone.join(".git/loot")));
    written.and_then(Result::ok).unwrap_or_default()
}

/// Takes the clone's files down as the harness once did: by a git of its own user, with its credential and without a
/// wall, into objects that the agent can read, while everything of the agent's goes on.
async fn look_as_of_old(sim: &Sim, canaries: &Canaries) {
    let clone = sim.clone_of_agent().expect("the agent has its clone");
    let lenders = fs_err::read_to_string(clone.join(".git/objects/info/alternates")).unwrap();
    let store = PathBuf::from(lenders.lines().next().unwrap()).parent().unwrap().to_owned();
    let token = BASE64.encode(format!("x-access-token:{}", canaries.value("the job's token")).as_bytes());
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "--git-dir"]).arg(store).arg("--work-tree").arg(&clone);
    git.args(["add", "--all", "--ignore-errors", "."]).current_dir(&clone).kill_on_drop(true);
    git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // A git that is ended leaves its index locked.
    let index = sim.folder().join(format!("index {}", HEXLOWER.encode(&rand())));
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_INDEX_FILE", index);
    git.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "http.https://github.com/.extraHeader");
    git.env("GIT_CONFIG_VALUE_0", format!("Authorization: basic {token}"));
    // Files without an end are among the mischief.
    if let Ok(ended) = timeout(Duration::from_secs(10), git.output()).await {
        ended.expect("git starts");
    }
}

/// Lets the agent start its mischief, and then do what makes the harness look at its files.
fn script(sim: &Sim, step: Step, seed: u64, canaries: &Canaries) {
    let model = sim.model();
    model.plays(mischief(seed, canaries));
    match step {
        Step::Compare => model.plays(bash("sleep 0.3; echo '// mended' >> mended.rs")),
        Step::Receive => {
            let commit = "git add mended.rs && git commit -qm 'Mend the tap' && git push origin HEAD 2>&1";
            model.plays(bash(&format!("echo '// mended' > mended.rs; {commit} | tail -n 5")));
        }
        Step::Draft => model.calls("answer_draft", json!({ "body": "It is wet because of the tap." })),
        Step::Recall => {
            model.calls("session_search", json!({ "query": "brass coupling" }));
            model.calls("session_list", json!({}));
        }
        Step::Keep => {}
        Step::Cancel | Step::Post => {
            model.plays(Reply::text("I shall never come to an end.").slowly(Duration::from_millis(500)));
            return;
        }
    }
    model.says("Done.");
}

fn bash(command: &str) -> Reply {
    Reply::tool("bash", json!({ "command": command, "description": "Works" }))
}

fn mischief(seed: u64, canaries: &Canaries) -> Reply {
    let targets: Vec<_> = canaries.targets.iter().map(|path| format!("'{}'", path.display())).collect();
    bash(&format!("/usr/bin/python3 canaries.py {seed} {MISCHIEF} {}", targets.join(" ")))
}

/// Returns all that anybody outside got to see.
async fn places(sim: &Sim, run: &Run) -> Vec<(&'static str, String)> {
    let file = |name: &str| fs_err::read_to_string(sim.folder().join(name)).unwrap_or_default();
    let requests = sim.world().traffic().into_iter().map(|call| call.path + &call.query + &call.request);
    vec![
        ("comments", posted(sim).into_iter().map(|posted| posted.body).collect()),
        ("log", run.log_and_errors()),
        ("page", sim.run_page()),
        ("outputs", file("output")),
        ("requests to GitHub", requests.collect()),
        ("requests to the model", asked_of_the_model(sim)),
        ("pushed objects", pushed(sim).await),
        ("memory", remembered(sim)),
    ]
}

fn asked_of_the_model(sim: &Sim) -> String {
    sim.model().seen().into_iter().map(|seen| seen.body.to_string()).collect()
}

/// Returns every object that stands on GitHub, unpacked.
async fn pushed(sim: &Sim) -> String {
    let script =
        "git clone -q --mirror \"$0\" mirror && cd mirror && git cat-file --batch --batch-all-objects";
    let mut git = Command::new("sh");
    git.args(["-c", script, &sim.world().clone_url(REPO)]).current_dir(sim.folder());
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns every byte of the memory as it is restored; nothing, if nothing was saved.
fn remembered(sim: &Sim) -> String {
    let folder = sim.folder().join("pulled");
    fs_err::create_dir(&folder).unwrap();
    let pulled = sim.command(&["memory", "pull", &folder.display().to_string()]);
    let mut grep = std::process::Command::new("grep");
    let found = grep.args(["-rhaoE", "canary-[0-9a-f]{32}"]).arg(&folder).output().unwrap();
    pulled.0 + &String::from_utf8_lossy(&found.stdout)
}
