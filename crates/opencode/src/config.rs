//! The engine's configuration: what the operator gave, with everything settled that is ours to settle.

use serde_json::{Map, Value, json};

use crate::people::AskPolicy;

/// A program that the engine starts for tools of ours, and speaks MCP with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Stands before the name of each of its tools: `session` makes `session_search` of `search`.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl McpServer {
    fn config(&self) -> Value {
        json!({ "type": "local", "command": self.command, "enabled": true, "timeout": PATIENCE })
    }
}

/// Milliseconds that a tool may take; a search over a large memory reads it first.
const PATIENCE: u64 = 60_000;

/// Returns the configuration as the engine gets it: the given one, with everything settled that could wait for a person,
/// unless there are people who can be asked for policy.
pub(crate) fn settle(given: Value, tools: &[McpServer], policy: Option<AskPolicy>) -> Value {
    let mut config = object(given);
    let permission = config.remove("permission").unwrap_or_default();
    let permission = match policy {
        Some(policy) => attended(permission, policy),
        None => unattended(permission),
    };
    config.insert("permission".to_owned(), Value::Object(permission));
    let mut servers = object(config.remove("mcp").unwrap_or_default());
    servers.extend(tools.iter().map(|server| (server.name.clone(), server.config())));
    config.insert("mcp".to_owned(), Value::Object(servers));
    offer(&mut config, tools);
    if let Some(Value::Object(agents)) = config.get_mut("agent") {
        for agent in agents.values_mut().filter_map(Value::as_object_mut) {
            if let Some(permission) = agent.get_mut("permission") {
                match policy {
                    Some(policy) => *permission = Value::Object(attended(permission.take(), policy)),
                    None => deny_asking(permission),
                }
            }
            offer(agent, tools);
        }
    }
    config.insert("share".to_owned(), json!("disabled"));
    config.insert("autoupdate".to_owned(), json!(false));
    Value::Object(config)
}

/// Lets our tools through whatever rules there are; among several that match, the last one counts.
fn offer(rules: &mut Map<String, Value>, tools: &[McpServer]) {
    for (name, yes) in [("permission", json!("allow")), ("tools", json!(true))] {
        let Some(given) = rules.remove(name) else { continue };
        let mut given = spread(given);
        for server in tools {
            let own = format!("{}_", server.name);
            given.retain(|rule, _| !rule.starts_with(&own));
            given.insert(format!("{own}*"), yes.clone());
        }
        rules.insert(name.to_owned(), Value::Object(given));
    }
}

/// The engine's own rules ask a person in these cases; nobody is there, so they are refused unless the caller decided.
fn unattended(given: Value) -> Map<String, Value> {
    let mut rules = spread(given);
    rules.values_mut().for_each(deny_asking);
    rules.insert("question".to_owned(), json!("deny"));
    rules.entry("doom_loop").or_insert_with(|| json!("deny"));
    rules.entry("external_directory").or_insert_with(|| json!("deny"));
    rules.entry("read").or_insert_with(|| json!({ "*.env": "deny", "*.env.*": "deny" }));
    rules
}

/// Lets the engine ask people: what the rules say, and whatever changes something where that is wanted.
fn attended(given: Value, policy: AskPolicy) -> Map<String, Value> {
    let mut rules = spread(given);
    rules.insert("question".to_owned(), json!("allow"));
    if policy == AskPolicy::Changes {
        for changes in ["edit", "bash", "webfetch"] {
            // What was refused stays refused.
            let refused = rules.get(changes) == Some(&json!("deny"));
            if !refused {
                // The last rule that matches counts.
                rules.remove(changes);
                rules.insert(changes.to_owned(), json!("ask"));
            }
        }
    }
    rules
}

/// Writes one rule for everything as rules.
fn spread(given: Value) -> Map<String, Value> {
    match given {
        Value::String(action) => Map::from_iter([("*".to_owned(), Value::String(action))]),
        given => object(given),
    }
}

fn deny_asking(rule: &mut Value) {
    match rule {
        Value::String(action) if action == "ask" => "deny".clone_into(action),
        Value::Object(rules) => rules.values_mut().for_each(deny_asking),
        _ => {}
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_people_are_asked_changes_wait_for_leave_and_what_is_refused_stays_refused() {
        let given =
            json!({ "permission": { "bash": { "git *": "allow" }, "webfetch": "deny", "read": "ask" } });
        let settled = |policy| settle(given.clone(), &[], Some(policy))["permission"].clone();
        assert_eq!(
            settled(AskPolicy::Rules),
            json!({ "bash": { "git *": "allow" }, "webfetch": "deny", "read": "ask", "question": "allow" })
        );
        let asks =
            json!({ "bash": "ask", "edit": "ask", "webfetch": "deny", "read": "ask", "question": "allow" });
        assert_eq!(settled(AskPolicy::Changes), asks);
    }

    #[test]
    fn nothing_can_wait_for_a_person() {
        let given = json!({
            "permission": { "*": "ask", "bash": { "*": "ask", "git *": "allow" }, "question": "allow", "doom_loop": "allow" },
            "agent": { "ro": { "permission": { "edit": "ask" } } },
            "share": "auto",
        });
        insta::assert_json_snapshot!(settle(given, &[], None), @r#"
        {
          "agent": {
            "ro": {
              "permission": {
                "edit": "deny"
              }
            }
          },
          "autoupdate": false,
          "mcp": {},
          "permission": {
            "*": "deny",
            "bash": {
              "*": "deny",
              "git *": "allow"
            },
            "doom_loop": "allow",
            "external_directory": "deny",
            "question": "deny",
            "read": {
              "*.env": "deny",
              "*.env.*": "deny"
            }
          },
          "share": "disabled"
        }
        "#);
        insta::assert_json_snapshot!(settle(json!({ "permission": "allow" }), &[], None), @r#"
        {
          "autoupdate": false,
          "mcp": {},
          "permission": {
            "*": "allow",
            "doom_loop": "deny",
            "external_directory": "deny",
            "question": "deny",
            "read": {
              "*.env": "deny",
              "*.env.*": "deny"
            }
          },
          "share": "disabled"
        }
        "#);
    }

    #[test]
    fn our_tools_cannot_be_taken_away() {
        let ours =
            McpServer { name: "session".to_owned(), command: vec!["fro-bot".to_owned(), "mcp".to_owned()] };
        let given = json!({
            "mcp": { "session": { "type": "local", "command": ["evil"] }, "other": { "type": "remote", "url": "x" } },
            "permission": "deny",
            "tools": { "session_*": false, "bash": false },
            "agent": {
                "ro": { "permission": { "*": "deny", "session_search": "deny" }, "tools": { "*": false } },
                "plain": { "mode": "primary" },
            },
        });
        let settled = settle(given, &[ours], None);
        let kept = |name: &str| settled[name].clone();
        insta::assert_json_snapshot!([kept("mcp"), kept("permission")["session_*"].clone(), kept("tools"), kept("agent")], @r#"
        [
          {
            "other": {
              "type": "remote",
              "url": "x"
            },
            "session": {
              "command": [
                "fro-bot",
                "mcp"
              ],
              "enabled": true,
              "timeout": 60000,
              "type": "local"
            }
          },
          "allow",
          {
            "bash": false,
            "session_*": true
          },
          {
            "plain": {
              "mode": "primary"
            },
            "ro": {
              "permission": {
                "*": "deny",
                "session_*": "allow"
              },
              "tools": {
                "*": false,
                "session_*": true
              }
            }
          }
        ]
        "#);
    }
}
