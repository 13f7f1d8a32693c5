//! An agent that can only look: with instructions of its own, without a shell, without writing, without the web.

use serde_json::{Map, Value, json};

/// The engine's own tools that change nothing and reach nowhere, by the names of their permissions.
const LOOKING: [&str; 5] = ["glob", "grep", "list", "todoread", "todowrite"];

/// Returns a configuration whose only agent is this one. Whatever else it says about agents and permissions is overruled;
/// tools of ours are let through by the one who starts the engine.
pub fn read_only(given: Value, agent: &str, instructions: &str) -> Value {
    let mut config = match given {
        Value::Object(config) => config,
        _ => Map::new(),
    };
    let permission = permission();
    let mut agents: Map<String, Value> = ["build", "plan", "general", "explore"]
        .map(|name| (name.to_owned(), json!({ "disable": true })))
        .into_iter()
        .collect();
    // The small agents that write titles and summaries stay as they were set.
    if let Some(Value::Object(told)) = config.remove("agent") {
        let small = |name: &String| ["title", "summary", "compaction"].contains(&name.as_str());
        agents.extend(told.into_iter().filter(|(name, _)| small(name)));
    }
    let own = json!({ "mode": "primary", "prompt": instructions, "permission": permission });
    agents.insert(agent.to_owned(), own);
    for (name, value) in [
        ("agent", Value::Object(agents)),
        ("permission", permission),
        ("default_agent", json!(agent)),
        ("mcp", json!({})),
        ("plugin", json!([])),
        ("command", json!({})),
        ("instructions", json!([])),
    ] {
        config.insert(name.to_owned(), value);
    }
    config.remove("tools");
    config.remove("mode");
    Value::Object(config)
}

fn permission() -> Value {
    let mut rules = Map::from_iter([("*".to_owned(), json!("deny"))]);
    rules.extend(LOOKING.map(|name| (name.to_owned(), json!("allow"))));
    rules.insert("read".to_owned(), json!({ "*": "allow", "*.env": "deny", "*.env.*": "deny" }));
    Value::Object(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_configured_the_agent_only_looks() {
        let given = json!({
            "model": "scripted/m1",
            "permission": "allow",
            "tools": { "bash": true },
            "mcp": { "evil": { "type": "remote", "url": "x" } },
            "plugin": ["evil"],
            "instructions": ["evil.md"],
            "agent": { "build": { "permission": "allow" }, "reviewer": { "prompt": "evil" }, "title": { "disable": true } },
        });
        insta::assert_json_snapshot!(read_only(given, "reviewer", "Look closely."));
    }
}
