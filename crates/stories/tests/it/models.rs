//! The engine asks its models through the harness, which alone has their keys.

use fro_sim::model::{Model, Reply};
use fro_stories::{Mention, Sim};
use serde_json::json;

const KEY: &str = "planted-real-model-key-0123456789";

/// Lets the model accept only the real key, and gives that to the harness.
fn with_key(mention: Mention<'_>) -> Mention<'_> {
    mention.with("auth-json", &json!({ "scripted": { "type": "api", "key": KEY } }).to_string())
}

fn bash(command: &str) -> Reply {
    Reply::tool("bash", json!({ "command": command, "description": "Looks around" }))
}

/// Looks for the key wherever the engine could have it; prints what it has instead.
const LOOK: &str = r#"
grep -l plante[d] /proc/[0-9]*/environ 2>/dev/null | sed 's/^/LEAK environ /'
env | grep -q plante[d] && echo 'LEAK env'
cat /proc/[0-9]*/cmdline 2>/dev/null | grep -aq plante[d] && echo 'LEAK argv'
grep -rlq plante[d] "$HOME/.." 2>/dev/null && echo 'LEAK file'
find / -name auth.json -readable 2>/dev/null | sed 's/^/LEAK /'
echo "$OPENCODE_CONFIG_CONTENT" | grep -o '"apiKey":"[^"]*"'
"#;

#[tokio::test]
async fn the_key_is_the_harness_s_alone() {
    let sim = Sim::new().await;
    sim.model().accepts_only(KEY);
    fs_err::write(sim.checkout().join("look.sh"), LOOK).unwrap();
    sim.model().plays(bash("sh look.sh"));
    sim.model().says(format!("Your key is {KEY}."));
    let run = with_key(sim.mention("@fro-bot look around")).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let seen = sim.model().seen();
    assert_eq!(seen[1].tool_results().concat(), "\"apiKey\":\"placeholder\"\n");
    assert!(seen.iter().all(|seen| seen.key.as_deref() == Some(KEY)), "{seen:?}");
    assert!(run.only_comment().contains("Your key is [redacted]."), "{run}");
    assert!(!run.log_and_errors().contains(KEY), "{run}");
    sim.finish().await;
}

/// Asks the proxy for what is not the engine's to ask, and the model itself past the proxy.
const KNOCK: &str = r#"
const base = JSON.parse(process.env.OPENCODE_CONFIG_CONTENT).provider.scripted.options.baseURL;
const ask = async (name, url, options) => {
  const said = await fetch(url, options).then(answer => answer.status, error => error.cause.code);
  console.log(name, said);
};
const post = model => ({ method: "POST", body: JSON.stringify({ model, messages: [] }) });
(async () => {
  await ask("files", base + "/files", post("m1"));
  await ask("another model", base + "/chat/completions", post("m2"));
  await ask("a list", base + "/models", {});
  await ask("another provider", base.replace("scripted", "openai") + "/responses", post("m1"));
  await ask("past the proxy", process.argv[2] + "/chat/completions", post("m1"));
})();
"#;

#[tokio::test]
async fn the_shell_gets_nothing_else_out_of_the_proxy() {
    let sim = Sim::new().await;
    sim.model().accepts_only(KEY);
    fs_err::write(sim.checkout().join("knock.js"), KNOCK).unwrap();
    sim.model().plays(bash(&format!("node knock.js {}", sim.model().base_url())));
    sim.model().says("Knocked.");
    let run = with_key(sim.mention("@fro-bot knock")).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    insta::assert_snapshot!(sim.model().seen()[1].tool_results().concat(), @"
    files 403
    another model 403
    a list 403
    another provider 403
    past the proxy EACCES
    ");
    assert!(run.only_comment().contains("the model proxy refused 4 requests"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_login_in_place_of_a_key_is_refused_with_the_remedy() {
    let sim = Sim::new().await;
    let login = json!({ "scripted": { "type": "oauth", "refresh": "planted-refresh-0123", "expires": 0 } });
    let run = sim.mention("@fro-bot why?").with("auth-json", &login.to_string()).run().await;
    assert_eq!(run.code, Some(2), "{run}");
    insta::assert_snapshot!(run.errors);
    sim.finish().await;
}

#[tokio::test]
async fn a_spent_budget_ends_the_run_and_says_so() {
    let sim = Sim::new().await;
    sim.model().plays(bash("true").usage(1_000_000, 1_000));
    let run = sim.mention("@fro-bot why?").with("max-cost", "0.50").run().await;
    assert_eq!(run.code, Some(4), "{run}");
    insta::assert_snapshot!(run.only_comment());
    sim.finish().await;
}

/// Returns a configuration in which a second provider serves the subagent, with a key of its own.
fn with_second(first: &Model, second: &Model) -> serde_json::Value {
    let (mut config, other) = (first.provider(), second.provider());
    config["provider"]["second"] = other["provider"]["scripted"].clone();
    config["provider"]["second"]["options"]["apiKey"] = json!("sk-second");
    config["agent"]["general"] = json!({ "model": "second/m1" });
    config
}

#[tokio::test]
async fn two_providers_serve_one_session_each_with_its_own_key() {
    let (sim, second) = (Sim::new().await, Model::start().await);
    second.accepts_only("sk-second");
    let config = with_second(&sim.model(), &second).to_string();
    let task = json!({ "description": "Looks", "prompt": "Look at the tap.", "subagent_type": "general" });
    sim.model().calls("task", task);
    second.says("The second one looked.");
    sim.model().says("Both agree: it is the seal.");
    let run = sim.mention("@fro-bot why is the floor wet?").with("opencode-config", &config).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!((sim.model().seen().len(), second.seen().len(), second.unscripted()), (2, 1, 0), "{run}");
    let keys = [&sim.model().seen()[0], &second.seen()[0]].map(|seen| seen.key.clone().unwrap_or_default());
    assert_eq!(keys, ["sk-scripted", "sk-second"]);
    assert!(sim.model().seen()[1].tool_results().concat().contains("The second one looked."));

    // The next run goes on in the same session with the other provider alone.
    second.says("Still the seal.");
    let mut other = with_second(&sim.model(), &second);
    other["model"] = json!("second/m1");
    let next = sim.mention("@fro-bot and now?").with("opencode-config", &other.to_string());
    second.answers_aside("no");
    let next = next.variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(next.code, Some(0), "{next}");
    assert!(second.seen()[1].render().contains("Both agree: it is the seal."), "{next}");
    sim.finish().await;
}
