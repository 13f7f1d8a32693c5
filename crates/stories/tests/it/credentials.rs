//! Credentials for delegated work: which one is taken, how far it reaches, and that nobody else ever touches it.

use fro_sim::state::{Clock, Commit};
use fro_stories::{Mention, REPO, Sim};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The App of octo/garden and its bot.
const APP: &str = "482113";
const BOT: &str = "garden-helper[bot]";

const CHANGE: &str = "echo '// mended' >> tap.rs && git add -A && git commit -qm 'Mend the tap' && git push -q origin HEAD 2>&1";

fn changes(sim: &Sim) {
    sim.model().calls("bash", json!({ "command": CHANGE, "description": "Mends" }));
    sim.model().says("Mended.");
}

/// Somebody asks where the workflow has the App.
fn with_app<'a>(sim: &'a Sim, text: &str) -> Mention<'a> {
    sim.mention(text).with("app-id", APP).with("private-key", sim.world().app_key())
}

/// Returns the wishes with which tokens of the App were asked for.
fn minted(sim: &Sim) -> Vec<Value> {
    let traffic = sim.world().traffic().into_iter();
    let asked = traffic.filter(|call| call.path.ends_with("/access_tokens") && call.status == Some(201));
    asked.map(|call| serde_json::from_str(&call.request).unwrap()).collect()
}

/// Returns what was asked with somebody's token.
fn asked_by(sim: &Sim, login: &str) -> Vec<String> {
    let traffic = sim.world().traffic().into_iter();
    let own = traffic.filter(|call| call.login.as_deref() == Some(login));
    own.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[tokio::test]
async fn an_app_works_in_its_own_name_with_a_token_for_this_repository_alone() {
    let sim = Sim::cloned().await;
    let person = sim.world().token("octo");
    changes(&sim);

    let run = with_app(&sim, "@fro-bot fix it").with("elevated-token", &person).run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let wish = json!({
        "repositories": ["garden"],
        "permissions": { "contents": "write", "pull_requests": "write", "metadata": "read" },
    });
    assert_eq!(minted(&sim), [wish]);
    let by_app = asked_by(&sim, BOT);
    assert!(by_app.contains(&"POST /octo/garden.git/git-receive-pack".to_owned()), "{by_app:?}");
    assert!(by_app.contains(&"POST /repos/octo/garden/pulls".to_owned()), "{by_app:?}");
    assert!(!by_app.iter().any(|call| call.contains("comments")), "{by_app:?}");
    assert_eq!(asked_by(&sim, "octo"), Vec::<String>::new(), "the App comes before a person's token");

    let (author, commits, id) = sim.world().state(|state| {
        let issue = state.issue(REPO, 4).expect("the pull request is there");
        let id = state.person(BOT).expect("the bot is a person").id;
        (issue.author.clone(), issue.pull.clone().unwrap().commits, id)
    });
    let [Commit { author_name, author_email, .. }] = &commits[..] else { panic!("{commits:?}") };
    let email = format!("{id}+{BOT}@users.noreply.github.com");
    assert_eq!((author.as_str(), author_name.as_str(), author_email.as_str()), (BOT, BOT, email.as_str()));
    assert!(!run.only_comment().contains("checks wait"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_token_that_ends_soon_is_renewed_before_it_is_used() {
    let sim = Sim::cloned().await;
    // By this clock a token that is good for an hour ends in five minutes.
    let slow = Timestamp::now() - SignedDuration::from_mins(55);
    sim.world().change(|state| state.clock = Clock::Counting(slow));
    changes(&sim);

    let run = with_app(&sim, "@fro-bot fix it").run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let times = minted(&sim).len();
    assert!(times >= 3, "for the name, the push and the pull request: {times}");
    sim.finish().await;
}

#[tokio::test]
async fn a_question_mints_nothing_and_sends_nothing_with_more_than_the_run_s_own_token() {
    let sim = Sim::cloned().await;
    let person = sim.world().token("octo");
    changes(&sim);

    let asked = with_app(&sim, "@fro-bot why is the floor wet?").with("elevated-token", &person);
    let run = asked.run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let about_apps: Vec<_> =
        sim.world().traffic().into_iter().filter(|call| call.path.contains("installation")).collect();
    assert_eq!(about_apps, []);
    assert_eq!((asked_by(&sim, BOT), asked_by(&sim, "octo")), (Vec::new(), Vec::new()));
    sim.finish().await;
}
