//! Packages by their own clients: npm finds its registry in the operator's settings, pip on the list, a company's proxy
//! lies between, and a stranger gets none of it.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

use fro_stories::{Mention, REPO, Registry, Sim};
use serde_json::json;

const NPM: &str = "npm install --silent --no-audit --no-fund --fetch-retries=0 dry >/dev/null 2>&1; \
                   node node_modules/dry/index.js 2>/dev/null || echo 'not installed'";

fn pip(index: &str, host: &str) -> String {
    format!(
        "python3 -m pip install --quiet --disable-pip-version-check --retries 0 --target here --index-url {index} \
         --trusted-host {host} dry >/dev/null 2>&1; PYTHONPATH=here python3 -m dry 2>/dev/null || echo 'not installed'"
    )
}

/// Lets the agent's shell run a command, and returns what it printed.
async fn ran(sim: &Sim, command: &str, happening: impl for<'a> FnOnce(&'a Sim) -> Mention<'a>) -> String {
    sim.model().calls("bash", json!({ "command": command, "description": "Installs" }));
    sim.model().says("Tried.");
    let run = happening(sim).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    sim.model().seen()[1].tool_results().concat().trim().to_owned()
}

fn by_maintainer(sim: &Sim) -> Mention<'_> {
    sim.mention("@fro-bot is it dry?")
}

fn by_stranger(sim: &Sim) -> Mention<'_> {
    sim.event("issues", &sim.world().issue_event(REPO, 1, "opened", "mallory"), 0)
}

#[tokio::test]
async fn npm_installs_from_the_registry_of_the_operator_s_settings() {
    for (who, expected) in
        [(by_maintainer as fn(&Sim) -> Mention<'_>, "dry as dust"), (by_stranger, "not installed")]
    {
        let sim = Sim::new().await;
        let registry = Registry::open(sim.folder());
        let settings = format!("registry=http://{}/\n", registry.place());
        fs_err::write(sim.folder().join("home/.npmrc"), settings).unwrap();

        let said = ran(&sim, NPM, |sim| who(sim).with("network", "npm")).await;

        assert_eq!(said, expected);
        sim.finish().await;
    }
}

#[tokio::test]
async fn pip_installs_from_a_host_of_the_list() {
    for (who, expected) in
        [(by_maintainer as fn(&Sim) -> Mention<'_>, "dry as bone"), (by_stranger, "not installed")]
    {
        let sim = Sim::new().await;
        let registry = Registry::open(sim.folder());
        let command = pip(&format!("http://{}/simple", registry.place()), "127.0.0.2");

        let said = ran(&sim, &command, |sim| who(sim).with("network", registry.place())).await;

        assert_eq!(said, expected);
        sim.finish().await;
    }
}

/// A proxy as a company has it: it alone knows where `packages.example` is, and wants a password.
fn company_proxy(registry: &str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let (tell, asked) = mpsc::channel();
    let registry = registry.to_owned();
    thread::spawn(move || {
        for mut here in listener.incoming().flatten() {
            let (tell, registry) = (tell.clone(), registry.clone());
            thread::spawn(move || {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    here.read_exact(&mut byte).unwrap();
                    head.extend(byte);
                }
                tell.send(String::from_utf8(head).unwrap()).unwrap();
                here.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let there = TcpStream::connect(registry).unwrap();
                let (mut from, mut to) = (here.try_clone().unwrap(), there.try_clone().unwrap());
                thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
                drop(std::io::copy(&mut { there }, &mut here));
                drop(here.shutdown(std::net::Shutdown::Both));
            });
        }
    });
    (place, asked)
}

#[tokio::test]
async fn a_company_s_proxy_is_the_way_to_what_is_outside() {
    let sim = Sim::new().await;
    let registry = Registry::open(sim.folder());
    let (proxy, asked) = company_proxy(registry.place());
    let command = pip("http://packages.example:8080/simple", "packages.example");
    // The registry names its files by its own paths, which pip resolves against the index.

    let said = ran(&sim, &command, |sim| {
        by_maintainer(sim)
            .with("network", "packages.example:8080")
            .variable("HTTPS_PROXY", format!("http://ada:pass@{proxy}"))
            .variable("NO_PROXY", "127.0.0.1")
    })
    .await;

    assert_eq!(said, "dry as bone");
    let asked = asked.try_iter().next().unwrap();
    assert_eq!(
        asked,
        "CONNECT packages.example:8080 HTTP/1.1\r\nHost: packages.example:8080\r\n\
         Proxy-Authorization: Basic YWRhOnBhc3M=\r\n\r\n"
    );
    sim.finish().await;
}
