//! The network of a run: a maintainer's may install packages from the hosts on the list, a stranger's reaches nothing.

use fro_stories::{Person, REPO, Registry, Sim, forms};
use regex::Regex;
use serde_json::json;

/// The script of an agent that installs the package, and then tries to go elsewhere.
fn script(registry: &Registry) -> String {
    let place = registry.place();
    format!(
        "npm install --silent --no-audit --no-fund --fetch-retries=0 --registry http://{place} dry >/dev/null 2>&1; \
         node node_modules/dry/index.js 2>/dev/null || echo 'not installed'\n\
         curl -sS --max-time 20 --proxytunnel http://{place}/dry.tgz -o /dev/null -w '%{{http_code}}\\n' 2>&1\n\
         curl -sS --max-time 20 http://127.0.0.2:9/ 2>&1; echo\n\
         curl -sS --max-time 20 --proxytunnel -o /dev/null http://elsewhere.example:80/ 2>&1\n\
         curl -sS --max-time 20 --noproxy '*' http://{place}/ 2>&1\n\
         python3 -c 'import socket; socket.getaddrinfo(\"elsewhere.example\", 80)' 2>&1 | tail -n 1\n"
    )
}

/// Lets the agent try its script and returns what that came to, with the registry's address taken out.
fn tries(sim: &Sim, registry: &Registry) {
    // Only what is committed gets into a run that anybody can set off.
    sim.commit("try.sh", &script(registry));
    sim.model().calls("bash", json!({ "command": "sh try.sh", "description": "Goes out" }));
    sim.model().says("Tried.");
}

fn heard(sim: &Sim, registry: &Registry) -> String {
    let port = registry.place().rsplit(':').next().unwrap();
    let told = sim.model().seen()[1].tool_results().concat();
    Regex::new(r"after \d+ ms").unwrap().replace_all(&told.replace(port, "PORT"), "after … ms").into_owned()
}

#[tokio::test]
async fn a_maintainer_s_run_installs_packages_from_the_hosts_on_the_list() {
    let sim = Sim::new().await;
    let registry = Registry::open(sim.folder());
    tries(&sim, &registry);

    let run = sim.mention("@fro-bot is it dry?").with("network", registry.place()).run().await;

    assert_eq!(run.code, Some(0), "{run}");
    insta::assert_snapshot!(heard(&sim, &registry), @r#"
    dry as dust
    200
    {"message":"fro-bot: `127.0.0.2:9` is not on the list of hosts of this run (the input `network`)"}
    curl: (56) CONNECT tunnel failed, response 403
    curl: (7) Failed to connect to 127.0.0.2 port PORT after … ms: Couldn't connect to server
    socket.gaierror: [Errno -3] Temporary failure in name resolution
    "#);
    let comment = run.only_comment();
    assert!(comment.contains("| Network | "), "{comment}");
    assert!(run.log_and_errors().contains("network: CONNECT elsewhere.example:80: refused"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_stranger_s_run_and_one_that_only_answers_reach_nothing() {
    for person in forms([Person::Stranger, Person::Reader]) {
        let sim = Sim::new().await;
        let registry = Registry::open(sim.folder());
        tries(&sim, &registry);
        let happened = match person {
            Person::Stranger => {
                sim.event("issues", &sim.world().issue_event(REPO, 1, "opened", "mallory"), 0)
            }
            _ => sim.mention("@fro-bot is it dry?").by(person).with("trigger-permission", "read"),
        };

        let run = happened.with("network", registry.place()).run().await;

        assert_eq!(run.code, Some(0), "{run}");
        insta::allow_duplicates! { insta::assert_snapshot!(heard(&sim, &registry), @"
        not installed
        curl: (7) Failed to connect to 127.0.0.2 port PORT after … ms: Couldn't connect to server
        000
        curl: (7) Failed to connect to 127.0.0.2 port 9 after … ms: Couldn't connect to server

        curl: (6) Could not resolve host: elsewhere.example
        curl: (7) Failed to connect to 127.0.0.2 port PORT after … ms: Couldn't connect to server
        socket.gaierror: [Errno -3] Temporary failure in name resolution
        "); }
        sim.finish().await;
    }
}

#[tokio::test]
async fn a_name_that_leads_into_the_private_network_is_refused_and_said_so() {
    let sim = Sim::new().await;
    let registry = Registry::open(sim.folder());
    let port = registry.place().rsplit(':').next().unwrap();
    let command = format!(
        "unset NO_PROXY no_proxy; curl -sS --max-time 20 --proxytunnel http://localhost:{port}/ 2>&1; \
         curl -sS --max-time 20 http://localhost:{port}/ 2>&1"
    );
    sim.model().calls("bash", json!({ "command": command, "description": "Goes out" }));
    sim.model().says("Tried.");

    let run = sim.mention("@fro-bot is it dry?").with("network", &format!("localhost:{port}")).run().await;

    assert_eq!(run.code, Some(0), "{run}");
    insta::assert_snapshot!(heard(&sim, &registry), @r#"
    curl: (56) CONNECT tunnel failed, response 403
    {"message":"fro-bot: `localhost` leads into a private network"}
    "#);
    let comment = run.only_comment();
    assert!(comment.contains("'network': 'localhost' leads into a private network"), "{comment}");
    sim.finish().await;
}

#[tokio::test]
async fn a_slip_in_the_list_is_a_failed_run_with_a_hint() {
    let sim = Sim::new().await;
    let run = sim.mention("@fro-bot is it dry?").with("network", "https://packages.example").run().await;
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.errors.contains("write one host per line"), "{run}");
    sim.finish_early().await;
}
