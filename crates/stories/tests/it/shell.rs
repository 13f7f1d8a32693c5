//! What the engine's own shell can see and do behind the wall, as root and as a plain user.

use fro_stories::{Mention, Sim};
use serde_json::json;

/// Looks for planted values and tries to break out; prints one line for each attempt.
const PROBE: &str = r#"
grep -l plante[d] /proc/[0-9]*/environ 2>/dev/null | sed 's/^/LEAK environ /'
env | grep -q plante[d] && echo 'LEAK env'
cat /proc/[0-9]*/cmdline 2>/dev/null | grep -aq plante[d] && echo 'LEAK argv'
cat STORY/secret 2>/dev/null && echo 'LEAK file'
cat STORY/event-*.json 2>/dev/null | grep -q action && echo 'LEAK event'
(echo x > STORY/outside) 2>/dev/null && echo 'LEAK write beside the checkout'
cat STORY/garden/tap.rs 2>/dev/null && echo 'LEAK checkout'
(echo x > STORY/garden/tap.rs) 2>/dev/null && echo 'LEAK write to the checkout'
(echo x > /tmp/fro-bot-outside) 2>/dev/null && echo 'LEAK write to tmp'
(echo x > /usr/local/bin/fro-bot-outside) 2>/dev/null && echo 'LEAK write to bin'
echo "caps $(grep CapEff /proc/self/status | tr -d '\t ')"
echo "setuid $(./suid-id -u 2>&1)"
echo x > inside && echo 'inside works'
echo x > "$HOME/inside" && echo 'home works'
"#;

/// A plain user, and whom the engine becomes where the harness is root.
const NOBODY: u32 = 65534;

async fn probe(sim: Sim, user: u32, mention: impl for<'a> FnOnce(Mention<'a>) -> Mention<'a>) {
    fs_err::write(sim.folder().join("secret"), "planted-file-secret").unwrap();
    let script = PROBE.replace("STORY", &sim.folder().display().to_string());
    fs_err::write(sim.checkout().join("probe.sh"), script).unwrap();
    sim.model().calls("bash", json!({"command": "sh probe.sh", "description": "Probes the wall"}));
    sim.model().says("Probed.");
    let run = mention(sim.mention("@fro-bot probe")).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told = sim.model().seen()[1].tool_results().concat();
    let user = if run.log.contains(", another user") { NOBODY } else { user };
    let expect = format!("caps CapEff:0000000000000000\nsetuid {user}\ninside works\nhome works\n");
    assert_eq!(told, expect);
    sim.finish().await;
}

/// Puts a setuid-root copy of `id` into the checkout.
fn plant_setuid(sim: &Sim) {
    use std::os::unix::fs::PermissionsExt as _;
    let copy = sim.checkout().join("suid-id");
    fs_err::copy("/usr/bin/id", &copy).unwrap();
    fs_err::set_permissions(copy, std::fs::Permissions::from_mode(0o4755)).unwrap();
}

#[tokio::test]
async fn the_shell_of_this_user_finds_nothing_and_gains_nothing() {
    let sim = Sim::new().await;
    plant_setuid(&sim);
    probe(sim, rustix::process::getuid().as_raw(), |mention| mention).await;
}

#[tokio::test]
async fn the_shell_of_a_plain_user_finds_nothing_and_gains_nothing() {
    let sim = Sim::new().await;
    plant_setuid(&sim);
    let own = rustix::process::getuid();
    if own.is_root() {
        sim.give_to(NOBODY);
        probe(sim, NOBODY, |mention| mention.as_user(NOBODY)).await;
    } else {
        probe(sim, own.as_raw(), |mention| mention).await;
    }
}
