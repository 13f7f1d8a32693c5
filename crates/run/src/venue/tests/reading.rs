//! What is read before anybody is answered: facts for the gate, the conversation, attached files, the word `stop`.

use fro_core::{Reach, context::Extent, say::stop};

use super::{super::stop as listening, *};

const GRAPHQL: &str = "POST /graphql";

/// Lets the owner push a file to the default branch.
async fn publish(world: &World, path: &str, text: &str) {
    world.change(|state| state.repo_mut(REPO).unwrap().protected.clear());
    let url = world.clone_url(REPO).replace("://", &format!("://x-access-token:{}@", world.token("octo")));
    let folder = tempfile::tempdir().unwrap();
    let git = async |arguments: &[&str]| {
        // The simulated GitHub answers on this thread, so that nobody may block it.
        let mut git = tokio::process::Command::new("git");
        git.args(["-c", "user.name=Octavia", "-c", "user.email=octo@garden.example"]).args(arguments);
        let done = git.current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").status().await;
        assert!(done.unwrap().success(), "git {arguments:?}");
    };
    git(&["clone", "--quiet", &url, "."]).await;
    let file = folder.path().join(path);
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    fs_err::write(file, text).unwrap();
    git(&["add", "."]).await;
    git(&["commit", "--quiet", "-m", path]).await;
    git(&["push", "--quiet", "origin", "main"]).await;
}

async fn hydrate(called: &Called) -> Hydrated {
    let marker = Marker::new("42", &called.trigger);
    called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await.unwrap()
}

async fn answered(called: &Called, policy: &Policy) -> Answered {
    called.host.facts(&called.trigger, policy, &called.occasion).await.unwrap().answered
}

#[tokio::test]
async fn what_happens_by_itself_is_answered_once_within_the_window() {
    let policy = Policy::usual();
    let called = Called::by_push(&policy).await;
    assert_eq!(answered(&called, &policy).await, Answered::No);
    let Trigger::Pull(pull) = &called.trigger else { panic!("not a pull request") };
    let body = format!("<!-- fro-bot run=7 event=pull-2-{} -->\nLooks good.", pull.sha);
    called.world.write_comment(REPO, 2, "mallory", &body);
    assert_eq!(answered(&called, &policy).await, Answered::No, "mallory only imitates us");
    called.world.write_comment(REPO, 2, "fro-bot", &body);
    assert_eq!(answered(&called, &policy).await, Answered::Lately);
    let at_once = Policy { dedup_window: Duration::ZERO, ..Policy::usual() };
    assert_eq!(answered(&called, &at_once).await, Answered::No, "no window, no question");
}

#[tokio::test]
async fn a_second_attempt_of_the_same_run_is_no_second_answer() {
    let policy = Policy::usual();
    let called = Called::by_push(&policy).await;
    let marker = Marker::new("42", &called.trigger);
    called.world.write_comment(REPO, 2, "fro-bot", &format!("{marker}\nLooks good."));
    assert_eq!(answered(&called, &policy).await, Answered::No);
}

#[tokio::test]
async fn a_pull_request_that_the_reviewer_looks_at_is_left_to_it() {
    let policy = Policy::usual();
    let called = Called::by_push(&policy).await;
    publish(&called.world, ".github/workflows/ci.yaml", "on: pull_request\njobs: {}\n").await;
    assert_eq!(answered(&called, &policy).await, Answered::No);
    let workflow = "on: pull_request\njobs:\n  review:\n    steps:\n      - uses: fro-bot/agent/review@v0\n";
    publish(&called.world, ".github/workflows/review.yaml", workflow).await;
    assert_eq!(answered(&called, &policy).await, Answered::ByReviewer);
    let asked = Called::by_comment(&policy).await;
    assert_eq!(answered(&asked, &policy).await, Answered::No, "who asks in a comment means us");
}

#[tokio::test]
async fn who_asks_is_asked_about_and_who_comes_by_is_not() {
    let (asked, happened) =
        (Called::by_comment(&Policy::usual()).await, Called::by_push(&Policy::usual()).await);
    let permission = async |called: &Called| {
        let before = called.requests();
        let facts = called.host.facts(&called.trigger, &Policy::usual(), &called.occasion).await.unwrap();
        let new = called.world.calls().split_off(before);
        (facts.permission, new.iter().any(|call| call.contains("/permission")))
    };
    assert_eq!(permission(&asked).await, (Permission::Write, true));
    assert_eq!(permission(&happened).await, (Permission::None, false));
}

#[tokio::test]
async fn a_private_repository_is_for_insiders_and_silence_is_no_answer() {
    let called = Called::by_comment(&Policy::usual()).await;
    called.world.change(|state| state.repo_mut(REPO).unwrap().private = true);
    assert_eq!(called.host.audience(&called.occasion).await, Some(Audience::Insiders));
    called.world.faults().on("GET /repos/{owner}/{repo}", FaultKind::Status(500)).always();
    assert_eq!(called.host.audience(&called.occasion).await, None, "nobody knows");
}

#[tokio::test]
async fn settings_of_the_repository_that_cannot_be_read_may_forbid_something() {
    let called = Called::by_comment(&Policy::usual()).await;
    publish(&called.world, REPO_SETTINGS, "mention = \"gardener\"\n").await;
    assert_eq!(called.host.repo_settings().await, Ok(Some("mention = \"gardener\"\n".to_owned())));
    let contents = "GET /repos/{owner}/{repo}/contents/{*name}";
    called.world.faults().on(contents, FaultKind::Status(500)).always();
    assert!(called.host.repo_settings().await.is_err());
}

#[tokio::test]
async fn where_graphql_fails_the_conversation_is_read_in_parts_and_the_run_says_so() {
    let called = Called::by_comment(&Policy::usual()).await;
    called.world.faults().on(GRAPHQL, FaultKind::Status(502)).always();
    let hydrated = hydrate(&called).await;
    assert_eq!(hydrated.context.extent, Extent::Degraded);
    assert_eq!(hydrated.context.title.value(), "The floor is wet every morning");
    let [warning] = hydrated.warnings.as_slice() else { panic!("{:?}", hydrated.warnings) };
    assert!(warning.starts_with("degraded: "), "{warning}");
    assert_eq!(called.warnings(), [warning.as_str()]);
}

#[tokio::test]
async fn a_conversation_that_nobody_can_read_is_a_fault() {
    let called = Called::by_comment(&Policy::usual()).await;
    for route in [GRAPHQL, "GET /repos/{owner}/{repo}/issues/{number}"] {
        called.world.faults().on(route, FaultKind::Status(502)).always();
    }
    let marker = Marker::new("42", &called.trigger);
    let read = called.at_venue(async |venue| venue.hydrate(&called.trigger, &marker).await).await;
    assert!(read.is_err_and(|fault| fault.what().contains("octo/garden")));
}

#[tokio::test]
async fn the_rules_for_agents_are_those_of_the_branch_that_a_change_goes_into() {
    let called = Called::by_push(&Policy::usual()).await;
    assert_eq!(hydrate(&called).await.context.rules, None);
    publish(&called.world, "AGENTS.md", "Water is measured in litres.\n").await;
    let rules = hydrate(&called).await.context.rules.expect("the branch has rules now");
    assert!(format!("{rules:?}").contains("Water is measured in litres."), "{rules:?}");
    let contents = "GET /repos/{owner}/{repo}/contents/{*name}";
    called.world.faults().on(contents, FaultKind::Status(500)).always();
    assert_eq!(hydrate(&called).await.context.rules, None, "a run goes on without them");
}

#[tokio::test]
async fn attached_files_come_along_once_and_what_is_not_there_is_told() {
    let world = World::start().await.unwrap();
    let picture = world.attach(REPO, "tap.png", "image/png", PNG.to_vec());
    let (folder, _) = picture.rsplit_once('/').unwrap();
    let gone = format!("{folder}/00000000-5eed-4a11-8bad-000000000000");
    let words = format!("@fro-bot why? ![tap]({picture}) and again ![tap]({picture}) and [x]({gone})");
    let called = Called::saying(world, &words, &Policy::usual()).await;
    let hydrated = hydrate(&called).await;
    let told = called.told.lock().unwrap();
    let notes: Vec<_> = told
        .iter()
        .filter_map(|told| if let Progress::Attached { note, .. } = told { Some(note.clone()) } else { None })
        .collect();
    assert_eq!(notes, ["image/png, 33 bytes, with this message", "left out: GitHub answered 404"]);
    let given: Vec<_> = hydrated.files.iter().map(|file| (file.mime, file.bytes.as_slice())).collect();
    assert_eq!(given, [("image/png", PNG)]);
}

/// The smallest picture: its signature and an empty header.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde";

#[tokio::test]
async fn an_earlier_answer_is_found_among_more_comments_than_one_page_shows() {
    let called = Called::by_comment(&Policy::usual()).await;
    let marker = Marker::new("42", &called.trigger);
    let own = called.world.write_comment(REPO, 1, "fro-bot", &format!("{marker}\nIt is the tap."));
    for n in 0..130 {
        called.world.write_comment(REPO, 1, "rita", &format!("Me too, {n}."));
    }
    let hydrated = hydrate(&called).await;
    assert_eq!(hydrated.earlier.answer, Some(Target::Comment(own)));
}

#[tokio::test]
async fn only_the_stop_of_somebody_who_may_push_counts() {
    let called = Called::by_comment(&Policy::usual()).await;
    let since = Timestamp::UNIX_EPOCH;
    let mut refused = Vec::new();
    let mut heard = async || {
        called
            .at_venue(async |venue| {
                listening::find_word(venue.github, venue.permit, since, &mut refused).await
            })
            .await
            .unwrap()
    };
    assert_eq!(heard().await, None);
    called.world.write_comment(REPO, 1, "mallory", "@fro-bot stop");
    called.world.write_comment(REPO, 1, "fro-bot", "@fro-bot stop");
    called.world.write_comment(REPO, 1, "maya", "It should stop dripping, @fro-bot.");
    assert_eq!(heard().await, None);
    let asked = called.requests();
    assert_eq!(heard().await, None);
    let again = called.world.calls().split_off(asked);
    assert!(!again.iter().any(|call| call.contains("/permission")), "who was refused is not asked for again");
    called.world.write_comment(REPO, 1, "maya", "@fro-bot stop");
    assert_eq!(heard().await, Some(Login::new("maya")));
}

#[tokio::test]
async fn who_says_stop_hears_what_came_of_it() {
    let called = Called::by_comment(&Policy::usual()).await;
    assert_eq!(called.permit.reach(), Reach::Work);
    let told = called.at_venue(async |venue| venue.stopped().await).await.unwrap();
    assert_eq!(told, stop::stopped(stop::Stopped::Nothing));
    let world = World::start().await.unwrap();
    let reader = Policy { needed: Permission::Read, ..Policy::usual() };
    let reader = Called::said_by("rita", world, "@fro-bot stop", &reader).await;
    let told = reader.at_venue(async |venue| venue.stopped().await).await.unwrap();
    assert_eq!(told, stop::NOT_YOURS_TO_STOP);
}
