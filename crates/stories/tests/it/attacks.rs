//! Attacks by the engine's own shell, with the harness as root and as a plain user.

use std::{
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::PermissionsExt as _,
            net::{SocketAddr, UnixListener},
            process::CommandExt as _,
        },
    },
    process::{Child, Command},
};

use fro_stories::{ISSUE, Mention, REPO, Sim};
use serde_json::json;

/// What may succeed: two doors that are meant, and four sights that show nothing worth having. The first three are
/// out of sight from namespaces of its own.
const MEANT: [&str; 6] = [
    "/proc/harness/cmdline",
    "process list",
    "/proc/harness/fd",
    "tcp to the model proxy",
    "the broker's unix socket",
    "the engine's password",
];

/// What an attacker would like to reach, held open for the length of a story.
struct Prey {
    _tcp: [TcpListener; 2],
    _udp: UdpSocket,
    _daemon: UnixListener,
    _hidden: UnixListener,
    victim: Child,
    arguments: String,
}

impl Prey {
    fn laid_out(sim: &Sim, user: u32, comment: u64) -> Self {
        let story = sim.folder().display().to_string();
        let runner = sim.folder().join("runner");
        fs_err::create_dir(&runner).unwrap();
        for name in ["state", "command", "output", "temporary", "action.js"] {
            fs_err::write(runner.join(name), "planted-file-secret").unwrap();
        }
        let home = sim.folder().join("home");
        fs_err::create_dir_all(home.join(".ssh")).unwrap();
        fs_err::write(home.join(".ssh/id_rsa"), "planted-file-secret").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let elsewhere = TcpListener::bind(("127.0.0.2", port)).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let daemon = UnixListener::bind(sim.folder().join("docker.sock")).unwrap();
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&story).unwrap()).unwrap();
        let victim = Command::new("sleep").arg("600").uid(user).gid(user).spawn().unwrap();
        let udp_port = udp.local_addr().unwrap().port();
        let event = sim.folder().join(format!("event-{comment}.json"));
        let (event, home) = (event.display(), home.display());
        let arguments = format!("{story} {event} {home} {port} {udp_port} {}", victim.id());
        Self { _tcp: [tcp, elsewhere], _udp: udp, _daemon: daemon, _hidden: hidden, victim, arguments }
    }
}

impl Drop for Prey {
    fn drop(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }
}

async fn attacked(user: u32, mention: impl for<'a> FnOnce(Mention<'a>) -> Mention<'a>) {
    let sim = Sim::new().await;
    let comment = sim.world().write_comment(REPO, ISSUE, "maya", "@fro-bot attack");
    let prey = Prey::laid_out(&sim, user, comment);
    fs_err::write(sim.checkout().join("attacks.py"), include_str!("attacks.py")).unwrap();
    let copy = sim.checkout().join("suid-id");
    fs_err::copy("/usr/bin/id", &copy).unwrap();
    sim.give_to(user);
    fs_err::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let command = format!("/usr/bin/python3 attacks.py {}", prey.arguments);
    sim.model().calls("bash", json!({ "command": command, "description": "Attacks" }));
    sim.model().says("Attacked.");

    let run = mention(sim.mention("").again(comment)).run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let told = sim.model().seen()[1].tool_results().concat();
    #[expect(clippy::print_stdout, reason = "the table is for people, too")]
    {
        println!("as user {user}:\n{told}");
    }
    let lines: Vec<&str> =
        told.lines().filter(|line| line.contains(": OPEN") || line.contains(": closed")).collect();
    assert_eq!(lines.len(), 68, "{told}");
    let open: Vec<&str> = lines.iter().filter_map(|line| line.strip_suffix(": OPEN")).collect();
    let enclosed = run.log_and_errors().contains("own namespaces");
    assert_eq!(enclosed, root_is_at_hand(user).await, "{run}");
    let meant = if enclosed { &MEANT[3..] } else { &MEANT };
    let unmeant: Vec<_> = open.iter().filter(|name| !meant.contains(name)).collect();
    assert!(unmeant.is_empty(), "{unmeant:?}\n{told}");
    assert!(
        open.contains(&MEANT[3]) && open.contains(&MEANT[4]),
        "the doors that are meant are shut: {told}"
    );
    sim.finish().await;
}

/// Tells whether this machine lets a user make namespaces, by itself or by `sudo`.
async fn root_is_at_hand(user: u32) -> bool {
    let own = rustix::process::getuid().as_raw();
    let mut words = tokio::process::Command::new(if user == 0 { "unshare" } else { "/usr/bin/sudo" });
    words.args(if user == 0 { &["--pid", "--mount", "--fork", "true"][..] } else { &["-n", "true"] });
    if user != own {
        words.uid(user).gid(user);
    }
    words.output().await.is_ok_and(|output| output.status.success())
}

#[tokio::test]
async fn of_the_attacks_on_this_user_only_those_that_are_meant_succeed() {
    attacked(rustix::process::getuid().as_raw(), |mention| mention).await;
}

#[tokio::test]
async fn of_the_attacks_on_a_plain_user_only_those_that_are_meant_succeed() {
    let own = rustix::process::getuid();
    if own.is_root() {
        attacked(65534, |mention| mention.as_user(65534)).await;
    } else {
        attacked(own.as_raw(), |mention| mention).await;
    }
}
