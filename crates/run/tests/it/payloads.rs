//! Every example payload that GitHub's own libraries are tested with: none breaks us, each supported one is decided.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use fro_core::{
    Login, RepoName,
    event::{self, Event, Reading},
    gate::{self, Policy},
};
use serde::Deserialize;
use serde_json::Value;

/// The collection, pinned: another version has other examples.
const PACKAGE: &str = "@octokit/webhooks-examples";
const VERSION: &str = "7.6.1";

#[derive(Deserialize)]
struct Kind {
    name: String,
    examples: Vec<Value>,
}

/// Returns the folder that cargo builds into.
fn target() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(3).unwrap().to_owned()
}

/// Installs the examples once, under the target folder.
fn kinds() -> Vec<Kind> {
    let home = target().join("tools").join(format!("webhooks-{VERSION}"));
    let index = home.join("node_modules").join(PACKAGE).join("api.github.com/index.json");
    if !index.exists() {
        install(&home);
    }
    serde_json::from_str(&std::fs::read_to_string(index).unwrap()).unwrap()
}

fn install(home: &Path) {
    std::fs::create_dir_all(home).unwrap();
    let done = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"])
        .arg(home)
        .arg(format!("{PACKAGE}@{VERSION}"))
        .status();
    assert!(done.unwrap().success(), "npm cannot install {PACKAGE}@{VERSION}");
}

fn decided(name: &str, payload: &Value) -> String {
    let event = Event {
        name: name.to_owned(),
        payload: payload.to_string(),
        repo: RepoName::parse("octo/garden").unwrap(),
        actor: Login::new("maya"),
        prompt: Some("Water the beds.".to_owned()),
    };
    match event::read(&event) {
        Ok(Reading::Trigger(trigger)) => match gate::glance(&trigger, &Policy::usual()) {
            Ok(()) => format!("may be for us: {} by @{}", trigger.subject(), trigger.asker()),
            Err(reason) => format!("{}: {reason}", reason.word()),
        },
        Ok(Reading::Skip(reason)) => format!("{}: {reason}", reason.word()),
        Err(fault) => format!("fault: {fault}"),
    }
}

#[test]
fn every_example_is_decided_and_each_supported_one_as_pinned() {
    let mut table: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for kind in kinds() {
        for payload in &kind.examples {
            total += 1;
            let decision = decided(&kind.name, payload);
            assert!(!decision.starts_with("fault"), "{}: {decision}", kind.name);
            if !decision.starts_with("unsupported_event") {
                *table.entry(format!("{}: {decision}", kind.name)).or_default() += 1;
            }
        }
    }
    let rows: Vec<_> = table.iter().map(|(row, count)| format!("{count} × {row}")).collect();
    insta::assert_snapshot!(format!("{total} examples\n{}", rows.join("\n")));
}

#[test]
fn whatever_an_example_lacks_is_a_fault_and_no_panic() {
    for kind in kinds() {
        for payload in kind.examples.iter().filter_map(Value::as_object) {
            for field in payload.keys() {
                let mut broken = payload.clone();
                broken.remove(field);
                decided(&kind.name, &Value::Object(broken.clone()));
                broken.insert(field.clone(), Value::Null);
                decided(&kind.name, &Value::Object(broken));
            }
        }
    }
}
