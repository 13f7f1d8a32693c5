//! Bytes that the agent writes in order to trip up whoever reads them: names, rows, folders, drafts.

use fro_stories::Sim;
use serde_json::json;

/// A name that would be a line of its own, a command to the runner, a picture, a call and a tag.
const NAME: &str = "a\n::add-mask::x ![p](x.png) @everyone <img src=x> \u{202e}\u{1b}[8m.txt";

/// Makes a file that is too large to be looked at, a deep tree, and a folder that is closed.
const FILES: &str = r"
import os, sys
with open(sys.argv[1], 'w') as file: file.truncate(40 << 20)
os.makedirs('closed/inner'); open('closed/inner/x', 'w'); os.chmod('closed/inner', 0); os.chmod('closed', 0)
os.chdir(os.environ['HOME'])
for _ in range(3000):
    os.mkdir('d'); os.chdir('d')
";

/// Gives the run's own session a child with a message of 300 MB.
const ROW: &str = r"
import os, sqlite3
path = os.path.join(os.environ['XDG_DATA_HOME'], 'opencode', 'opencode.db')
database = sqlite3.connect(path, timeout=20)
def copy(table, **changes):
    names = [row[1] for row in database.execute(f'PRAGMA table_info({table})')]
    values = ', '.join(changes.get(name, name) for name in names)
    database.execute(f'INSERT INTO {table} SELECT {values} FROM {table} LIMIT 1')
copy('session', id='\'ses_giant\'', parent_id='id', slug='\'giant\'')
copy('message', id='\'msg_giant\'', session_id='\'ses_giant\'')
copy('part', id='\'prt_giant\'', message_id='\'msg_giant\'', session_id='\'ses_giant\'', data='hex(zeroblob(150000000))')
database.commit()
print('rows are there')
";

#[tokio::test]
async fn what_is_made_to_trip_the_harness_costs_the_run_its_memory_and_no_more() {
    let sim = Sim::cloned().await;
    for (name, text) in [("files.py", FILES), ("row.py", ROW)] {
        fs_err::write(sim.checkout().join(name), text).unwrap();
    }
    let command = format!("/usr/bin/python3 files.py '{NAME}' && /usr/bin/python3 row.py 2>&1");
    sim.model().calls("bash", json!({ "command": command, "description": "Works" }));
    sim.model().calls("answer_draft", json!({ "body": "It is\0 wet.\u{1b}[8m Really." }));
    sim.model().says("Done.");

    let run = sim.mention("@fro-bot fix it").run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let told = sim.model().seen()[1].tool_results().concat();
    assert!(told.contains("rows are there"), "{told}");
    let comment = run.only_comment();
    assert!(comment.contains("It is wet.[8m Really."), "{comment}");
    assert!(
        comment.contains("of the agent's files were not looked at: 'a ::add-mask::x !\\[p]"),
        "{comment}"
    );
    assert!(comment.contains("<code>@everyone</code>") && !comment.contains("<img"), "{comment}");
    let log = run.log_and_errors();
    assert!(!log.lines().any(|line| line.starts_with("::add-mask::x")) && !log.contains('\u{1b}'), "{log}");
    assert!(log.contains("it printed more than 256 MiB"), "{log}");
    sim.finish().await;
}
