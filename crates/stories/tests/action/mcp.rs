//! MCP servers of the operator's own: started by the engine, behind the same wall.

use std::{path::PathBuf, process::Command};

use fro_stories::{Sim, tool_cache};
use serde_json::json;

/// A server that nobody here wrote, as `docs/tools.md` names it.
const PACKAGE: &str = "@modelcontextprotocol/server-sequential-thinking@2026.8.31";

/// Installs the server as a step before the action would, and returns its program.
fn server() -> PathBuf {
    let folder = tool_cache().join("mcp-server");
    let program = folder.join("node_modules/.bin/mcp-server-sequential-thinking");
    if !program.exists() {
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("package.json"), "{}").unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", PACKAGE]).current_dir(&folder);
        assert!(npm.status().unwrap().success(), "cannot install {PACKAGE}");
    }
    // The wall shows the agent the folder above a `bin`, as it does for every entry of the path.
    let bin = folder.join("bin");
    if !bin.exists() {
        fs_err::create_dir(&bin).unwrap();
        fs_err::os::unix::fs::symlink(
            "../node_modules/.bin/mcp-server-sequential-thinking",
            bin.join("thinks"),
        )
        .unwrap();
    }
    bin.join("thinks")
}

#[tokio::test]
async fn a_server_of_the_operator_s_serves_the_agent_behind_the_wall() {
    let sim = Sim::new().await;
    let program = server();
    let model = sim.model();
    let thought = json!({ "thought": "The seal is worn.", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    model.calls("thinking_sequentialthinking", thought);
    model.says("It is the seal.");
    let mut config = model.provider();
    config["mcp"] = json!({ "thinking": { "type": "local", "command": ["thinks"] } });
    let run = sim.mention("@fro-bot why is the floor wet?").with("opencode-config", &config.to_string());
    let run = run.finding(&program).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told = model.seen().last().unwrap().tool_results().concat();
    assert!(told.contains("\"thoughtNumber\": 1"), "{told}");
    sim.finish().await;
}
