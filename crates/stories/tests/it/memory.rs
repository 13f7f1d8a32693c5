//! What one run learned, the next one knows.

use fro_stories::{Mention, Person, REPO, Sim, normal};
use serde_json::json;

/// A user of the machine who may not write what is locked, as root may.
const NOBODY: u32 = 65534;

/// Somebody asks on the pull request beside the issue.
fn on_another(sim: &Sim, text: &str) -> u64 {
    sim.world().write_comment(REPO, 2, "maya", text)
}

fn second(mention: Mention<'_>) -> Mention<'_> {
    mention.variable("GITHUB_RUN_ID", "43")
}

#[tokio::test]
async fn a_server_whose_cache_cannot_be_used_is_told_once() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    // As on GitHub Enterprise Server: there is a cache service, and only in its first version.
    let run = sim.mention("@fro-bot why is the floor wet?").variable("FRO_MEMORY", "");
    let run = run.variable("ACTIONS_RESULTS_URL", sim.world().api_url()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told = "this GitHub server has only the first version of its cache service";
    assert_eq!(run.log.matches(told).count(), 1, "{run}");
    assert!(run.only_comment().contains("| Memory | none is kept |"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_second_mention_goes_on_in_the_same_session() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    sim.model().says("Still the coupling.");
    let next = second(sim.mention("@fro-bot and today?")).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    let history = seen[1].render();
    assert!(history.contains("The hose leaks at the brass coupling."), "{history}");
    assert!(
        history.contains("Note of the harness, nothing to answer: the run for `issue_comment`"),
        "{history}"
    );
    assert!(first.answers[0].contains("| Memory | miss (first run) |"), "{first}");
    let told = normal(&next.answers[1]);
    assert!(told.contains("| Memory | hit, 1 session, "), "{told}");
    assert!(told.contains("| Session | `ses_…`, continued |"), "{told}");
    assert!(next.log.contains("memory: going on in session ses_"), "{next}");
    sim.finish().await;
}

#[tokio::test]
async fn another_subject_is_reminded_and_the_agent_can_ask_for_more() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().calls("session_search", json!({ "query": "the coupling of brass" }));
    sim.model().calls("session_list", json!({}));
    sim.model().calls("session_read", json!({ "session_id": "ses_nobody" }));
    sim.model().says("The coupling again.");
    let asked = on_another(&sim, "@fro-bot does this help the brass coupling?");
    let next = second(sim.mention("").again(asked)).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    let offered = seen[1].offered_tools();
    for tool in ["session_list", "session_search", "session_read", "session_info", "answer_draft"] {
        assert!(offered.iter().any(|name| name == tool), "{offered:?}");
    }
    let prompt = seen[1].last_user();
    assert!(
        prompt.contains("From another session, which has these words too: ") && prompt.contains("`brass`"),
        "{prompt}"
    );
    assert!(prompt.contains("The hose leaks at the brass coupling."), "{prompt}");
    assert_ne!(seen[0].session, seen[1].session);
    let results = seen[4].tool_results();
    assert!(
        results[0].contains("which has these words too: ") && results[0].contains("`brass`"),
        "{results:?}"
    );
    assert!(results[1].contains("octo/garden#1") && results[1].contains("(octo/garden#1)`"), "{results:?}");
    assert!(results[2].contains("there is no session `ses_nobody`"), "{results:?}");
    let answer = sim.world().comments_by(REPO, 2, "fro-bot").concat();
    assert!(
        answer.contains("| Recall | 1 earlier session; the agent searched once and read once |"),
        "{answer}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn the_same_question_elsewhere_recalls_its_answer() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the carpet wet in the hallway?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().says("As before.");
    let asked = on_another(&sim, "@fro-bot why is the carpet wet in the hallway?");
    let next = second(sim.mention("").again(asked)).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let prompt = sim.model().seen()[1].last_user();
    assert!(prompt.contains("From another session, which has these words too: "), "{prompt}");
    assert!(prompt.contains("The hose leaks at the brass coupling."), "{prompt}");
    sim.finish().await;
}

#[tokio::test]
async fn a_schedule_recalls_what_it_found_the_last_time() {
    let sim = Sim::new().await;
    let order = json!({ "schedule": "0 6 * * *" });
    let watered = || sim.event("schedule", &order, 0).with("prompt", "Look after the greenhouse.");
    sim.model().says("Two beds were dry: roses and thyme.");
    let first = watered().run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().says("All is wet.");
    let next = second(watered()).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let prompt = sim.model().seen()[1].last_user();
    assert!(prompt.contains("Two beds were dry: roses and thyme."), "{prompt}");
    sim.finish().await;
}

#[tokio::test]
async fn a_maintainer_does_not_go_on_in_a_stranger_s_session() {
    let sim = Sim::new().await;
    sim.model().says("There is a puddle.");
    let opened = sim.world().issue_event(REPO, 1, "opened", "mallory");
    let first = sim.event("issues", &opened, 0).run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().says("Mopped.");
    let next = second(sim.mention("@fro-bot mop it up").by(Person::Maintainer)).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    assert_ne!(seen[0].session, seen[1].session);
    let prompt = seen[1].last_user();
    assert!(
        prompt.contains("begin anew, because the last session has words that are trusted less"),
        "{prompt}"
    );
    assert!(prompt.contains("trust=\"stranger\">\nThere is a puddle."), "{prompt}");
    sim.finish().await;
}

#[tokio::test]
async fn what_was_said_in_private_stays_there() {
    let sim = Sim::new().await;
    sim.model().says("The safe is behind the brass coupling.");
    let asked = sim.world().write_comment(REPO, 1, "maya", "@fro-bot where is the safe?");
    let mut private = sim.world().comment_event(REPO, asked);
    private["repository"]["private"] = json!(true);
    let first = sim.event("issue_comment", &private, asked).run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().calls("session_search", json!({ "query": "safe coupling" }));
    sim.model().calls("session_list", json!({}));
    sim.model().says("I do not know.");
    let next = second(sim.mention("@fro-bot where is the safe, at the brass coupling?")).run().await;
    assert!(next.log.contains("memory: a new session, because"), "{next}");
    let seen = sim.model().seen();
    assert!(!seen[1].last_user().contains("From another session"), "{}", seen[1].last_user());
    let results = seen[3].tool_results();
    assert!(results[0].contains("Nothing was said about `safe coupling`"), "{results:?}");
    assert!(!results[1].contains("ses_") || results[1].lines().count() == 1, "{results:?}");
    sim.finish().await;
}

#[tokio::test]
async fn people_can_look_at_the_memory_and_make_it_forget() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let run = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let (listed, code) = sim.command(&["sessions", "list"]);
    assert!(code == Some(0) && listed.contains("octo/garden#1"), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();
    let (found, _) = sim.command(&["sessions", "search", "brass", "coupling", "--json"]);
    assert!(found.contains(&id) && found.contains("leaks at the brass coupling"), "{found}");
    let (read, _) = sim.command(&["sessions", "read", &id]);
    assert!(read.contains("The hose leaks at the brass coupling."), "{read}");
    let (info, _) = sim.command(&["sessions", "info", &id]);
    assert!(info.contains("`issue_comment` by @maya: answered http"), "{info}");
    let needles = sim.folder().join("needles");
    fs_err::write(&needles, "no-such-value\nbrass coupling\n").unwrap();
    let (verified, code) = sim.command(&["memory", "verify", "--secrets", needles.to_str().unwrap()]);
    assert!(code == Some(1) && verified.contains("value 2 in "), "{verified}");
    let (stats, _) = sim.command(&["memory", "stats"]);
    assert!(stats.contains("(goal: at least 60 %)") && stats.starts_with("runs "), "{stats}");
    let (forgotten, code) = sim.command(&["memory", "forget", "--subject", "octo/garden#1"]);
    assert!(code == Some(0) && forgotten.contains("1 forgotten"), "{forgotten}");
    let (listed, _) = sim.command(&["sessions", "list", "--json"]);
    assert_eq!(listed.trim(), "[]");
    let (unknown, code) = sim.command(&["sessions", "read", &id]);
    assert!(code == Some(2) && unknown.contains("hint: `fro-bot sessions list`"), "{unknown}");
    sim.finish().await;
}

#[tokio::test]
async fn a_maintainer_asks_for_the_status_and_makes_it_forget() {
    let sim = Sim::new().await;
    let last_answer = || normal(sim.world().comments_by(REPO, 1, "fro-bot").last().unwrap());
    sim.model().says("The hose leaks at the brass coupling.");
    let asked = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(asked.code, Some(0), "{asked}");
    let status = second(sim.mention("@fro-bot status")).run().await;
    assert_eq!((status.code, sim.model().seen().len()), (Some(0), 1), "{status}");
    insta::assert_snapshot!(last_answer());
    let reader = sim.mention("@fro-bot forget").by(Person::Reader).with("trigger-permission", "read");
    let refused = reader.variable("GITHUB_RUN_ID", "44").run().await;
    assert!(refused.code == Some(0) && last_answer().contains("Only those who may push"), "{refused}");
    assert!(sim.command(&["sessions", "list"]).0.contains("octo/garden#1"));
    let forgot = sim.mention("@fro-bot forget").variable("GITHUB_RUN_ID", "45").run().await;
    assert!(forgot.code == Some(0) && last_answer().contains("I have forgotten"), "{forgot}");
    assert_eq!(sim.command(&["sessions", "list", "--json"]).0.trim(), "[]");
    let again = sim.mention("@fro-bot forget").variable("GITHUB_RUN_ID", "46").run().await;
    assert!(again.code == Some(0) && last_answer().contains("nothing to forget"), "{again}");
    assert_eq!(sim.model().seen().len(), 1);
    sim.finish().await;
}

#[tokio::test]
async fn what_cannot_be_forgotten_is_a_red_run() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let asked = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(asked.code, Some(0), "{asked}");
    let memory = sim.folder().join("memory");
    let lock = |mode: &str| {
        let done = std::process::Command::new("chmod").args(["-R", mode]).arg(&memory).status().unwrap();
        assert!(done.success());
    };
    let request = second(sim.mention("@fro-bot forget"));
    // To root everything can be written, so root becomes somebody else.
    let request = if rustix::process::getuid().is_root() {
        sim.give_to(NOBODY);
        request.as_user(NOBODY)
    } else {
        request
    };
    lock("a-w");
    let forgot = request.run().await;
    lock("u+w");
    assert_ne!(forgot.code, Some(0), "{forgot}");
    let told = sim.world().comments_by(REPO, 1, "fro-bot").pop().unwrap();
    assert!(told.contains("The memory could not be changed.") && told.contains("(`memory`)"), "{told}");
    assert!(sim.command(&["sessions", "list"]).0.contains("octo/garden#1"));
    sim.finish().await;
}

#[tokio::test]
async fn a_memory_that_cannot_be_read_is_not_said_to_be_forgotten() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let asked = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(asked.code, Some(0), "{asked}");
    let manifests = fs_err::read_dir(sim.folder().join("memory/3/manifests")).unwrap();
    for manifest in manifests {
        fs_err::write(manifest.unwrap().path(), "not a manifest").unwrap();
    }
    let forgot = second(sim.mention("@fro-bot forget")).run().await;
    assert_ne!(forgot.code, Some(0), "{forgot}");
    let told = sim.world().comments_by(REPO, 1, "fro-bot").pop().unwrap();
    assert!(told.contains("(`memory`)"), "{told}");
    sim.finish().await;
}

#[tokio::test]
async fn the_last_draft_is_the_answer() {
    let sim = Sim::new().await;
    sim.model().calls("answer_draft", json!({ "body": "The tap." }));
    sim.model().calls("answer_draft", json!({ "body": "" }));
    sim.model().calls("answer_draft", json!({ "body": "The hose." }));
    sim.model().says("I have handed in my answer.");
    // An operator's configuration cannot take the tools away.
    let mut config = sim.model().provider();
    config["mcp"] = json!({ "answer": { "type": "local", "command": ["false"], "enabled": false } });
    config["permission"] = json!({ "answer_*": "deny", "session_*": "deny" });
    config["tools"] = json!({ "answer_draft": false });
    let run = sim.mention("@fro-bot why?").with("opencode-config", &config.to_string()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("\nThe hose.\n") && !comment.contains("handed in"), "{run}");
    let results = sim.model().seen()[3].tool_results();
    insta::assert_snapshot!(results.join("\n"), @"
    `draft-1` is your answer now. It is posted when you are done; another draft replaces it.
    `body` is empty; it is the whole answer, in GitHub Markdown
    `draft-2` is your answer now. It is posted when you are done; another draft replaces it.
    ");
    sim.finish().await;
}

/// Makes what was saved look as if the machine that saved it were two hours ahead of this one.
fn two_hours_ahead(sim: &Sim) {
    const SCRIPT: &str = "
import json, sqlite3, sys
ahead = 7_200_000
db = sqlite3.connect(sys.argv[1] + '/opencode/opencode.db')
for table in ['session', 'message', 'part']:
    db.execute(f'UPDATE {table} SET time_created = time_created + ?, time_updated = time_updated + ?', [ahead, ahead])
for id, data in db.execute('SELECT id, data FROM message').fetchall():
    data = json.loads(data)
    data['time'] = {name: at + ahead for name, at in data['time'].items()}
    db.execute('UPDATE message SET data = ? WHERE id = ?', [json.dumps(data), id])
db.commit()
";
    let folder = sim.folder().join("ahead");
    let folder = folder.to_str().unwrap();
    assert_eq!(sim.command(&["memory", "pull", folder]).1, Some(0));
    let python = std::process::Command::new("python3").args(["-c", SCRIPT, folder]).status().unwrap();
    assert!(python.success());
    let (pushed, code) = sim.command(&["memory", "push", folder]);
    assert!(code == Some(0) && pushed.contains("saved: 1 session"), "{pushed}");
}

/// Takes away some of the rows by which the engine knows what it did to its schema.
fn without_some_migrations(sim: &Sim) {
    const SCRIPT: &str = "
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + '/opencode/opencode.db')
db.execute('DELETE FROM migration WHERE id IN (SELECT id FROM migration ORDER BY id DESC LIMIT 3)')
db.commit()
";
    let folder = sim.folder().join("wanting");
    let folder = folder.to_str().unwrap();
    assert_eq!(sim.command(&["memory", "pull", folder]).1, Some(0));
    let python = std::process::Command::new("python3").args(["-c", SCRIPT, folder]).status().unwrap();
    assert!(python.success());
    fs_err::remove_dir_all(sim.folder().join("memory")).unwrap();
    fs_err::create_dir(sim.folder().join("memory")).unwrap();
    fs_err::remove_file(sim.folder().join("wanting/fro-bot-parent")).ok();
    let (pushed, code) = sim.command(&["memory", "push", folder]);
    assert!(code == Some(0) && pushed.contains("saved: 1 session"), "{pushed}");
}

#[tokio::test]
async fn a_whole_database_that_the_engine_cannot_open_fails_no_run_and_is_mended() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    without_some_migrations(&sim);
    sim.model().says("Still the coupling.");
    let next = second(sim.mention("@fro-bot and today?")).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    assert!(next.log_and_errors().contains("the engine could not open the database of the memory"), "{next}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session, "the session went on");
    assert!(seen[1].render().contains("The hose leaks at the brass coupling."), "{}", seen[1].render());

    sim.model().says("The coupling.");
    let third = sim.mention("@fro-bot and now?").variable("GITHUB_RUN_ID", "44").run().await;
    assert_eq!(third.code, Some(0), "{third}");
    assert!(!third.log_and_errors().contains("could not open"), "the save mended it: {third}");
    sim.finish().await;
}

#[tokio::test]
async fn a_new_machine_with_a_slower_clock_goes_on_with_the_history() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    two_hours_ahead(&sim);

    let there = sim.folder().join("another/machine");
    for folder in ["temp", "home"] {
        fs_err::create_dir_all(there.join(folder)).unwrap();
    }
    fs_err::rename(sim.checkout(), there.join("garden")).unwrap();
    fs_err::create_dir(sim.checkout()).unwrap();
    sim.model().says("Still the coupling.");
    let mut mention = second(sim.mention("@fro-bot and today?"));
    for (name, folder) in [("GITHUB_WORKSPACE", "garden"), ("RUNNER_TEMP", "temp"), ("HOME", "home")] {
        mention = mention.variable(name, there.join(folder));
    }
    let next = mention.run().await;
    assert_eq!(next.code, Some(0), "{next}");
    assert!(next.answers[1].contains("Still the coupling."), "{next}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    let history = seen[1].render();
    assert!(history.contains("The hose leaks at the brass coupling."), "{history}");
    assert!(seen[1].last_user().contains("and today?"), "{}", seen[1].last_user());
    sim.finish().await;
}

#[tokio::test]
async fn the_engine_itself_lists_searches_reads_and_tells_of_sessions() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    let output = fs_err::read_to_string(sim.folder().join("output")).unwrap();
    let id = output.lines().find_map(|line| line.strip_prefix("session-id=")).unwrap().to_owned();
    sim.model().calls("session_list", json!({ "limit": 5 }));
    sim.model().calls("session_search", json!({ "query": "brass coupling" }));
    sim.model().calls("session_read", json!({ "session_id": id }));
    sim.model().calls("session_info", json!({ "session_id": id }));
    sim.model().says("The coupling again.");
    let asked = on_another(&sim, "@fro-bot does this help?");
    let next = second(sim.mention("").again(asked)).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let results = sim.model().seen().last().unwrap().tool_results();
    let [list, search, read, info] = results.as_slice() else { panic!("{results:?}") };
    for result in &results {
        assert!(result.contains(&id) && result.contains("octo/garden#1"), "{result}");
    }
    assert!(list.starts_with("- "), "{list}");
    assert!(search.contains("The hose leaks at the brass coupling."), "{search}");
    assert!(read.contains("why is the floor wet?") && read.contains("That is all of it."), "{read}");
    assert!(info.contains("- Began ") && info.contains("maya"), "{info}");
    let answer = sim.world().comments_by(REPO, 2, "fro-bot").concat();
    assert!(answer.contains("the agent searched once and read once"), "{answer}");
    sim.finish().await;
}

#[tokio::test]
async fn a_memory_is_stamped_with_the_engine_that_wrote_it_and_an_older_one_leaves_it_alone() {
    const OLDER: &str = "1.17.19";
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let newer = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(newer.code, Some(0), "{newer}");

    sim.model().says("I do not know.");
    let older = second(sim.mention("@fro-bot and today?")).with("opencode-version", OLDER).run().await;
    assert_eq!(older.code, Some(0), "{older}");
    assert!(
        older.log_and_errors().contains("the memory is of engine 1.18.33, which knows more than 1.17.19"),
        "{older}"
    );

    sim.model().says("The coupling.");
    let again = sim.mention("@fro-bot and now?").variable("GITHUB_RUN_ID", "44").run().await;
    assert_eq!(again.code, Some(0), "{again}");
    let sessions: Vec<_> = sim.model().seen().into_iter().map(|seen| seen.session).collect();
    assert!(sessions[0] != sessions[1], "the older engine began anew: {sessions:?}");
    assert!(again.answers[2].contains("| Memory | hit, 2 sessions"), "{again}");
    sim.finish().await;
}
