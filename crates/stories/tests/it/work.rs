//! Delegated work: the real engine changes a file and pushes, and a pull request stands on the simulated GitHub.

use std::collections::BTreeMap;

use fro_sim::{
    FaultKind,
    state::{Commit, Pull, Repo},
};
use fro_stories::{Mention, Person, REPO, Sim};
use serde_json::json;

const PUSH: &str = "git add -A && git commit -qm 'Mend the tap' && git push origin HEAD 2>&1";

/// Lets the model read a file, change it and run a command.
fn changes(sim: &Sim, command: &str) {
    let model = sim.model();
    model.calls("read", json!({ "filePath": "tap.rs" }));
    model.calls("bash", json!({ "command": "echo '// mended' >> tap.rs", "description": "Mends" }));
    model.calls("bash", json!({ "command": command, "description": "Hands it in" }));
    model.says("Mended.");
}

/// Returns the pull requests beyond the garden's own, with their titles and descriptions.
fn pulls(sim: &Sim) -> Vec<(String, String, Pull)> {
    sim.world().state(|state| {
        let issues = &state.repo(REPO).unwrap().issues;
        let new = issues.iter().filter(|issue| issue.number > 3);
        new.filter_map(|issue| Some((issue.title.clone(), issue.body.clone(), issue.pull.clone()?))).collect()
    })
}

#[tokio::test]
async fn a_fix_that_a_maintainer_asks_for_becomes_a_pull_request() {
    let sim = Sim::cloned().await;
    changes(&sim, PUSH);

    let run = sim.mention("@fro-bot fix it").run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let [(title, body, pull)] = &pulls(&sim)[..] else { panic!("{run}") };
    assert_eq!((title.as_str(), body.as_str()), ("Mend the tap", "Closes #1.\n\nAsked for by @maya."));
    assert!(pull.head_ref.starts_with("opencode/issue1-20"), "{}", pull.head_ref);
    let [Commit { author_name, author_email, message, .. }] = &pull.commits[..] else { panic!("one commit") };
    let trailer = "Co-authored-by: maya <maya@users.noreply.github.com>";
    assert_eq!(message, &format!("Mend the tap\n\n{trailer}"));
    assert_eq!(
        (author_name.as_str(), author_email.as_str()),
        ("fro-bot", "109017866+fro-bot@users.noreply.github.com")
    );
    let paths: Vec<_> = pull.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["tap.rs"]);
    let comment = run.only_comment();
    assert!(comment.contains("Mended.\n\nI opened #4 from `opencode/issue1-"), "{comment}");
    assert!(comment.contains("Its checks wait for a person"), "{comment}");
    assert!(comment.contains("| Pull request | [#4]("), "{comment}");
    assert!(comment.contains("| Commit | ["), "{comment}");

    // Asked again, the run goes on where it was.
    changes(&sim, "git add -A && git commit -qm 'Mend it better' && git push 2>&1");
    sim.model().answers_aside("yes");
    let again = sim.mention("@fro-bot add another line").variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(again.code, Some(0), "{again}");
    let [(.., pull)] = &pulls(&sim)[..] else { panic!("{again}") };
    assert_eq!(pull.commits.len(), 2);
    assert!(again.answers[1].contains(" to #4."), "{again}");
    sim.finish().await;
}

#[tokio::test]
async fn a_question_pushes_nothing_and_the_agent_is_told_why() {
    let sim = Sim::cloned().await;
    let elevated = sim.world().token("octo");
    changes(&sim, PUSH);

    let run = sim.mention("@fro-bot why is the floor wet?").with("elevated-token", &elevated).run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 0), "{run}");
    let told = sim.model().seen()[3].tool_results().concat();
    assert!(told.contains("fro-bot: the request does not ask for a change, so nothing is pushed"), "{told}");
    let by_elevated = sim.world().traffic().into_iter().filter(|call| call.login.as_deref() == Some("octo"));
    assert_eq!(by_elevated.count(), 0);
    let answer = run.only_comment();
    assert!(
        answer.contains(
            "I took this for a question, so I pushed nothing. To have it done, write `@fro-bot fix`"
        ),
        "{answer}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn a_model_judges_the_asker_s_words_alone_in_any_language() {
    let sim = Sim::cloned().await;
    sim.model().answers_aside("Yes.");
    changes(&sim, PUSH);

    let words = "> fix the roof\n\n@fro-bot dichte den Hahn bitte ab";
    let run = sim.mention(words).run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 1), "{run}");
    let [judged] = &sim.model().asides()[..] else { panic!("{run}") };
    assert_eq!(judged.offered_tools(), Vec::<String>::new());
    insta::assert_snapshot!(judged.render_whole());
    assert!(!run.only_comment().contains("To have it done"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn who_is_not_understood_pushes_nothing_and_is_told_how_to_ask() {
    for (model, faults) in [("Perhaps.", false), ("yes", true)] {
        let sim = Sim::cloned().await;
        sim.model().answers_aside(model);
        if faults {
            sim.world().faults().on("POST /v1/chat/completions", FaultKind::Status(401)).always();
        }
        sim.model().says("It is the seal.");
        let run = sim.mention("@fro-bot the tap, please").run().await;

        assert_eq!(pulls(&sim).len(), 0, "{run}");
        let answer = run.only_comment();
        assert!(answer.contains("I could not tell whether you want something changed"), "{answer}");
        if !faults {
            sim.finish().await;
        }
    }
}

#[tokio::test]
async fn on_command_no_model_is_asked_what_is_meant() {
    let sim = Sim::cloned().await;
    sim.model().answers_aside("yes");
    let mention =
        |text: &str| sim.mention(text).with("delegated-work", "on-command").with("work-words", "mach");
    changes(&sim, PUSH);
    let plain = mention("@fro-bot please mend it").run().await;
    assert_eq!((plain.code, pulls(&sim).len()), (Some(0), 0), "{plain}");
    assert!(
        plain.only_comment().contains("write `@fro-bot mach`, or set the label `agent: implement`."),
        "{plain}"
    );

    changes(&sim, PUSH);
    let told = mention("@fro-bot mach es bitte dicht").variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!((told.code, pulls(&sim).len()), (Some(0), 1), "{told}");
    assert_eq!(sim.model().asides().len(), 0);
    sim.finish().await;
}

#[tokio::test]
async fn work_is_done_with_the_elevated_token_and_answers_with_the_plain_one() {
    let sim = Sim::cloned().await;
    let elevated = sim.world().token("octo");
    changes(&sim, PUSH);

    let run = sim.mention("@fro-bot fix it").with("elevated-token", &elevated).run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 1), "{run}");
    let traffic = sim.world().traffic();
    let used = |login: &str| -> Vec<String> {
        let own = traffic.iter().filter(|call| call.login.as_deref() == Some(login));
        own.map(|call| format!("{} {}", call.method, call.path)).collect()
    };
    let by_elevated = used("octo");
    assert!(by_elevated.contains(&"POST /octo/garden.git/git-receive-pack".to_owned()), "{by_elevated:?}");
    assert!(by_elevated.contains(&"POST /repos/octo/garden/pulls".to_owned()), "{by_elevated:?}");
    assert!(by_elevated.iter().all(|call| !call.contains("comments")), "{by_elevated:?}");
    assert!(!run.only_comment().contains("checks wait"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn what_is_not_pushed_is_named() {
    let sim = Sim::cloned().await;
    changes(&sim, "git push origin HEAD:main 2>&1");

    let run = sim.mention("@fro-bot fix it").run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("> ⚠️ Changed but not pushed: `tap.rs`."), "{comment}");
    sim.finish().await;
}

#[tokio::test]
async fn a_fork_that_cannot_be_pushed_to_gets_a_patch() {
    let sim = Sim::cloned().await;
    fork(&sim, "mallory").await;
    changes(&sim, PUSH);
    let comment = sim.world().write_comment(REPO, 2, "maya", "@fro-bot fix it");
    let event = sim.world().comment_event(REPO, comment);

    let run = sim.event("issue_comment", &event, comment).by(Person::Maintainer).run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let told = sim.model().seen()[3].tool_results().concat();
    assert!(told.contains("comes from the fork mallory/garden, which I may not push to"), "{told}");
    let answers = sim.world().comments_by(REPO, 2, "fro-bot");
    assert!(answers[0].contains("here is the change as a patch"), "{answers:?}");
    assert!(answers[0].contains("+// mended"), "{answers:?}");
    sim.finish().await;
}

#[tokio::test]
async fn a_pull_request_of_ours_takes_the_fix_itself() {
    let sim = Sim::cloned().await;
    changes(&sim, PUSH);
    let comment = sim.world().write_comment(REPO, 2, "maya", "@fro-bot fix it");
    let event = sim.world().comment_event(REPO, comment);

    let run = sim.event("issue_comment", &event, comment).run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 0), "{run}");
    let commits =
        sim.world().state(|state| state.issue(REPO, 2).unwrap().pull.as_ref().unwrap().commits.len());
    assert_eq!(commits, 2, "{run}");
    let answers = sim.world().comments_by(REPO, 2, "fro-bot");
    assert!(answers[0].contains(" to #2."), "{answers:?}");
    sim.finish().await;
}

#[tokio::test]
async fn a_schedule_opens_a_pull_request_if_the_agent_changed_files() {
    let sim = Sim::cloned().await;
    changes(&sim, PUSH);

    let run = sim.event("schedule", &json!({}), 0).with("prompt", "Is the tap tight?").run().await;

    assert_eq!(run.code, Some(0), "{run}");
    let [(.., pull)] = &pulls(&sim)[..] else { panic!("{run}") };
    assert!(pull.head_ref.starts_with("opencode/schedule-"), "{}", pull.head_ref);
    assert_eq!(sim.model().asides().len(), 0, "nobody's words are judged");
    sim.finish().await;
}

#[tokio::test]
async fn a_fork_that_is_open_to_maintainers_takes_the_fix_itself() {
    takes_the_fix_itself(|mention, _| mention).await;
}

/// An App opens one repository alone; what is for the fork is done with the token beside it.
#[tokio::test]
async fn a_fork_takes_the_fix_though_there_is_an_app() {
    takes_the_fix_itself(|mention, sim| {
        mention.with("app-id", "482113").with("private-key", sim.world().app_key())
    })
    .await;
}

async fn takes_the_fix_itself(with: impl for<'a> Fn(Mention<'a>, &Sim) -> Mention<'a>) {
    let sim = Sim::cloned().await;
    fork(&sim, "mallory").await;
    sim.world().change(|state| {
        let pull = state.issue_mut(REPO, 2).unwrap().pull.as_mut().unwrap();
        pull.open_to_maintainers = true;
    });
    let elevated = sim.world().token("maya");
    changes(&sim, PUSH);
    let comment = sim.world().write_comment(REPO, 2, "maya", "@fro-bot fix it");
    let event = sim.world().comment_event(REPO, comment);

    let mention = sim.event("issue_comment", &event, comment).with("elevated-token", &elevated);
    let run = with(mention, &sim).run().await;

    assert_eq!((run.code, pulls(&sim).len()), (Some(0), 0), "{run}");
    let messages: Vec<String> = sim.world().state(|state| {
        let pull = state.issue(REPO, 2).unwrap().pull.as_ref().unwrap();
        pull.commits.iter().map(|commit| commit.message.clone()).collect()
    });
    assert!(messages.last().unwrap().starts_with("Mend the tap"), "{messages:?}\n{run}");
    let pushed = sim.world().traffic().into_iter().filter(|call| call.path.ends_with("/git-receive-pack"));
    let pushed: Vec<_> = pushed.map(|call| (call.path, call.login)).collect();
    let last = ("/mallory/garden.git/git-receive-pack".to_owned(), Some("maya".to_owned()));
    assert_eq!(pushed.last(), Some(&last));
    let answers = sim.world().comments_by(REPO, 2, "fro-bot");
    assert!(answers[0].contains(" to #2.") && answers[0].contains("/mallory/garden/commit/"), "{answers:?}");
    sim.finish().await;
}

/// Makes somebody's fork of the garden, with the branch of the pull request, and lets that come from there.
async fn fork(sim: &Sim, owner: &str) {
    let name = format!("{owner}/garden");
    sim.world().change(|state| {
        let garden = state.repo(REPO).unwrap().clone();
        state.repos.push(Repo {
            id: 7,
            owner: owner.to_owned(),
            issues: Vec::new(),
            roles: BTreeMap::new(),
            protected: Vec::new(),
            ..garden
        });
        state.issue_mut(REPO, 2).unwrap().pull.as_mut().unwrap().head_repo = Some(name.clone());
    });
    let token = sim.world().token(owner);
    let url = sim.world().clone_url(&name).replace("http://", &format!("http://x:{token}@"));
    let script = format!(
        "git fetch -q --unshallow origin && git fetch -q origin new-seal && \
         git push -q {url} origin/main:refs/heads/main FETCH_HEAD:refs/heads/new-seal"
    );
    let mut git = tokio::process::Command::new("sh");
    git.args(["-c", &script]).current_dir(sim.checkout()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.status().await.unwrap().success(), "the fork cannot be made");
}

#[tokio::test]
async fn a_file_that_lfs_keeps_is_refused_with_the_reason() {
    let sim = Sim::cloned().await;
    sim.publish("main", ".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n").await;
    let mut git = tokio::process::Command::new("git");
    let pulled = git.args(["pull", "--quiet"]).current_dir(sim.checkout()).status().await;
    assert!(pulled.unwrap().success(), "the checkout follows");
    let push = "printf 'a picture' > tap.psd && git add -A && git commit -qm 'Draw the tap' && git push -q origin HEAD 2>&1";
    changes(&sim, push);
    let run = sim
        .mention("@fro-bot fix the picture")
        .with("elevated-token", &sim.world().token("maya"))
        .run()
        .await;
    let heard = sim.model().seen()[3].tool_results().concat();
    assert!(heard.contains("changes `tap.psd`, which Git LFS keeps"), "{heard}");
    assert_eq!(pulls(&sim).len(), 0, "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("a push was refused, because commit "), "{comment}");
    sim.finish().await;
}
