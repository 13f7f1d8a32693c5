//! Files that people attach: each kind arrives at the model, and what is not what it says does not.

use fro_stories::{Mention, REPO, Sim};
use insta::assert_snapshot;

const PNG: &[u8] = include_bytes!("files/tap.png");
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n";

/// Attaches a file and returns its address.
fn attach(sim: &Sim, name: &str, mime: &str, bytes: &[u8]) -> String {
    sim.world().attach(REPO, name, mime, bytes.to_vec())
}

fn asked<'a>(sim: &'a Sim, text: &str) -> Mention<'a> {
    let store = sim.world().api_url().replace("127.0.0.1", "localhost");
    elsewhere(sim, text).variable("FRO_ATTACHMENT_STORES", store)
}

/// Asks where the store of files is a host that nobody named.
fn elsewhere<'a>(sim: &'a Sim, text: &str) -> Mention<'a> {
    sim.mention(text).variable("GITHUB_SERVER_URL", sim.world().api_url())
}

/// Returns the part of the prompt about the request and the one about files.
fn request_and_files(sim: &Sim) -> String {
    let told = sim.model().seen()[0].last_user();
    let request = &told[told.find("## The request").unwrap()..told.find("## How to read").unwrap()];
    let files = &told[told.find("## Attached files").unwrap()..told.find("## Your tools").unwrap()];
    let rest = told.split("## How to answer").nth(1).unwrap();
    let with_it = rest.split("and say why.").nth(1).unwrap_or_default();
    fro_stories::normal(&format!("{request}{files}── with it ──{with_it}"))
}

#[tokio::test]
async fn each_kind_of_file_arrives_at_the_model() {
    let sim = Sim::new().await;
    let shot = attach(&sim, "tap.png", "image/png", PNG);
    let log = attach(&sim, "tap.log", "text/plain; charset=utf-8", b"drip\ndrip\n");
    let data = attach(&sim, "tap.json", "application/json", b"{\"drips\": 2}");
    let manual = attach(&sim, "manual.pdf", "application/pdf", PDF);
    let plan = attach(&sim, "plan.svg", "image/svg+xml", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    sim.model().says("I see.");
    let text = format!(
        "@fro-bot look: ![the tap]({shot}), [tap.log]({log}), [tap.json]({data}), [manual.pdf]({manual}) \
         <img alt=\"plan\" src=\"{plan}\">"
    );
    let run = asked(&sim, &text).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(request_and_files(&sim));
    assert!(run.log.contains("attached file the-tap.png: image/png, 74 bytes, with this message"), "{run}");
    assert!(!run.log_and_errors().contains("drip"), "{run}");
    let to_store = sim.world().traffic();
    let to_store: Vec<_> = to_store.iter().filter(|call| call.path.starts_with("/stored-files")).collect();
    assert_eq!(to_store.len(), 5);
    assert!(to_store.iter().all(|call| call.login.is_none() && call.status == Some(200)), "{to_store:#?}");
    sim.finish().await;
}

#[tokio::test]
async fn what_is_not_what_it_says_is_left_out_with_the_reason() {
    let sim = Sim::new().await;
    let lie = attach(&sim, "shot.png", "image/png", b"#!/bin/sh\n");
    let zip = attach(&sim, "all.zip", "application/zip", b"PK\x03\x04");
    let large = attach(&sim, "large.txt", "text/plain", &vec![b'x'; 5_000_001]);
    let gone = format!("{}/user-attachments/assets/gone", sim.world().api_url());
    sim.model().says("I cannot see them.");
    let text =
        format!("@fro-bot look: ![shot]({lie}) [all.zip]({zip}) [large.txt]({large}) [gone.txt]({gone})");
    let run = asked(&sim, &text).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(request_and_files(&sim));
    sim.finish().await;
}

#[tokio::test]
async fn a_model_without_eyes_is_told_so() {
    let sim = Sim::new().await;
    let shot = attach(&sim, "tap.png", "image/png", PNG);
    sim.model().says("I cannot see it.");
    let mut config = sim.model().provider();
    config["provider"]["scripted"]["models"]["m1"]["modalities"]["input"] = serde_json::json!(["text"]);
    let run = asked(&sim, &format!("@fro-bot look: ![tap]({shot})"))
        .with("opencode-config", &config.to_string())
        .run()
        .await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(request_and_files(&sim));
    sim.finish().await;
}

#[tokio::test]
async fn a_picture_that_the_engine_cannot_read_does_not_cost_the_answer() {
    let sim = Sim::new().await;
    let broken = attach(&sim, "tap.png", "image/png", &PNG[..40]);
    sim.model().says("I cannot see it.");
    let run = asked(&sim, &format!("@fro-bot look: ![tap]({broken})")).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("I cannot see it."), "{run}");
    assert!(sim.model().seen()[0].last_user().contains("@fro-bot look: @tap.png"));
    sim.finish().await;
}

#[tokio::test]
async fn a_store_that_nobody_named_is_not_asked() {
    let sim = Sim::new().await;
    let shot = attach(&sim, "tap.png", "image/png", PNG);
    sim.model().says("I cannot see it.");
    let run = elsewhere(&sim, &format!("@fro-bot look: ![tap]({shot})")).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.log.contains("attached file tap.bin: left out: it leads away from GitHub"), "{run}");
    assert!(!sim.world().traffic().iter().any(|call| call.path.starts_with("/stored-files")));
    sim.finish().await;
}
