//! The agent's own processes swap files under the harness's hands while it hands the work over.

use std::{
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use fro_stories::{Mention, Sim};
use serde_json::json;

const OURS: &str = "planted-file-secret-0123456789";

/// Stays behind when its shell ends: swaps files for links to what only the harness can read, for pipes and for files
/// without an end, and back.
const SWAP: &str = r"
import os, sys
ours = sys.argv[1]
names = ['tap.rs'] + ['swap%d.txt' % n for n in range(20)]
targets = ['/proc/self/environ', ours, '/etc/shadow']
n = 0
while True:
    for name in names:
        n += 1
        made = '../made%d' % n
        os.symlink(targets[n % 3], made)
        os.rename(made, name)
        # Who looks first and reads then takes as many bytes as there were at the look.
        with open(made, 'w') as f: f.write('h' * (300 if n % 3 == 0 else 30))
        os.rename(made, name)
        if n % 50 == 0:
            os.mkfifo(made)
            os.rename(made, name)
            with open(made, 'w') as f: f.truncate(7 << 30)
            os.rename(made, name)
";

/// Reads every object that the agent could, for as long as the run takes.
const WATCH: &str = r"
import glob, os, sys, zlib
folder, stop, needles = sys.argv[1], sys.argv[2], os.environ['NEEDLES'].encode().split(b';')
seen, found = set(), set()
while not os.path.exists(stop):
    for path in glob.glob(folder + '/**/store.git/objects/??/*', recursive=True):
        if path in seen: continue
        seen.add(path)
        try: text = zlib.decompress(open(path, 'rb').read())
        except Exception: continue
        found.update(needle for needle in needles if needle in text)
print('looked at', len(seen))
for needle in found: print('LEAKED', needle.decode())
";

async fn swapped(user: u32, mention: impl for<'a> FnOnce(Mention<'a>) -> Mention<'a>) {
    let sim = Sim::cloned().await;
    let ours = sim.folder().join("ours");
    fs_err::write(&ours, OURS).unwrap();
    fs_err::set_permissions(&ours, std::fs::Permissions::from_mode(0o600)).unwrap();
    sim.give_to(user);
    let start = format!(
        "cat > ../swap.py <<'E'\n{SWAP}E\nsetsid -f python3 ../swap.py {} > /dev/null 2>&1",
        ours.display()
    );
    sim.model().calls("bash", json!({ "command": start, "description": "Stays" }));
    sim.model().calls("bash", json!({ "command": "sleep 1; ls -l | head -3", "description": "Looks" }));
    sim.model().says("Mended.");
    let stop = sim.folder().join("stop");
    let mut watch = Command::new("python3");
    // Not as an argument: another story looks for planted words in all that it sees of the machine's processes.
    watch.args(["-c", WATCH]).arg(sim.folder()).arg(&stop);
    watch.env("NEEDLES", ["Authorization: basic", OURS, "root:"].join(";"));
    let watching = watch.stdout(Stdio::piped()).spawn().unwrap();

    let run = mention(sim.mention("@fro-bot fix it")).run().await;

    fs_err::write(&stop, "").unwrap();
    let seen = String::from_utf8(watching.wait_with_output().unwrap().stdout).unwrap();
    assert!(!seen.contains("LEAKED"), "{seen}\n{run}");
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("Mended."), "{comment}");
    for secret in [OURS, "Authorization: basic"] {
        assert!(!comment.contains(secret) && !run.log_and_errors().contains(secret), "{run}");
    }
    sim.finish().await;
}

#[tokio::test]
async fn nothing_of_the_harness_is_read_by_a_link_that_is_swapped_in() {
    swapped(rustix::process::getuid().as_raw(), |mention| mention).await;
}

#[tokio::test]
async fn nothing_of_a_plain_user_s_harness_is_read_by_a_link_that_is_swapped_in() {
    let own = rustix::process::getuid();
    if own.is_root() {
        swapped(65534, |mention| mention.as_user(65534)).await;
    } else {
        swapped(own.as_raw(), |mention| mention).await;
    }
}
