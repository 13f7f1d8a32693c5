//! The reviewer before changes that no prompt can hold: every file is shown or named, and nothing grows without a limit.

use std::time::Instant;

use fro_sim::model::Seen;
use fro_stories::{REPO, Sim};
use serde_json::json;

const PULL: u64 = 2;

/// Bytes that the first question may have: the change, all names, and what the model is told besides.
const PROMPT: usize = 600_000;
/// Kilobytes of memory that the harness may take.
const MEMORY: u64 = 400_000;

/// Reviews the pull request with a model that finds nothing, and returns what it was asked first.
#[expect(clippy::print_stdout, reason = "the figures are shown with `--nocapture`")]
async fn reviewed(sim: &Sim) -> Seen {
    for pass in 1..=4 {
        let results = json!({ "pass_number": pass, "summary": "Looked.", "has_blocking_issues": false });
        sim.model().calls("submit_pass_results", results);
        sim.model().says("Done.");
    }
    let event = sim.world().pull_event(REPO, PULL, "synchronize", "maya");
    let began = Instant::now();
    let running = sim.event("pull_request", &event, 0).variable("FRO_ROLE", "review").start();
    sim.model().wait_for_calls(8).await;
    let status = fs_err::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    let run = running.end().await;
    assert_eq!(run.code, Some(0), "{run}");
    let first = sim.model().seen().into_iter().next().unwrap();
    println!("{} bytes asked first, {peak} kB at most, {:?} in all", first.bytes, began.elapsed());
    assert!(first.bytes < PROMPT, "{} bytes", first.bytes);
    assert!(peak < MEMORY, "{peak} kB");
    first
}

#[tokio::test]
async fn three_thousand_files_are_shown_or_named() {
    let sim = Sim::new().await;
    let file = |at: usize| {
        (format!("beds/bed-{at:04}.rs"), format!("pub fn bed() -> u32 {{\n    {at}\n}}\n").repeat(1 + at % 4))
    };
    sim.publish_all("new-seal", &(0..3_000).map(file).collect::<Vec<_>>()).await;
    let asked = reviewed(&sim).await.last_user();
    let unsaid: Vec<_> = (0..3_000).map(|at| file(at).0).filter(|path| !asked.contains(path)).collect();
    assert_eq!(unsaid, Vec::<String>::new());
    assert!(asked.contains("Not shown because it does not fit"), "all of it cannot fit");
    sim.finish().await;
}

#[tokio::test]
async fn a_file_of_a_hundred_thousand_lines_hides_no_other() {
    let sim = Sim::new().await;
    let lines: Vec<String> = (0..100_000).map(|at| format!("row {at}")).collect();
    sim.publish("new-seal", "ledger.txt", &lines.join("\n")).await;
    let asked = reviewed(&sim).await.last_user();
    assert!(asked.contains("let seal = \"silicone\";"), "the small file is shown");
    assert!(asked.contains("\nledger.txt\n") && !asked.contains("row 99999"), "the large one is named");
    assert!(sim.run_page().contains("- `ledger.txt`"), "{}", sim.run_page());
    sim.finish().await;
}
