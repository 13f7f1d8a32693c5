//! Where changes go, with which credential, and who opens the pull request: held against a little GitHub.

use std::sync::Arc;

use fro_boundary::{Deed, Tip, Untracked};
use fro_core::{
    Drafts, Reach, Secret,
    delegation::NoWork,
    prompt::Workbench,
    sorting::{GhDeeds, Sorting},
};
use fro_github::App;
use serde_json::json;

use super::{
    garden::{Garden, REPO},
    job, permit,
};
use crate::{
    callers::Callers,
    commits,
    delegate::{Assignment, Branch},
    job::Job,
    models,
    propose::{self, Proposer},
    repository::untracked,
    settings::Elevated,
    sorter::Sorter,
};

const FIX: &str = "@fro-bot fix the tap";
const MINTING: &str = "/access_tokens";

async fn assign(garden: &Garden, job: &Job) -> Assignment {
    let models = models::open(&garden.process).await.unwrap();
    Assignment::decide(garden.scope(job), &models, &garden.credentials()).await.unwrap()
}

async fn branch(garden: &Garden, job: &Job) -> Branch {
    match assign(garden, job).await {
        Assignment::Branch(branch) => *branch,
        other => panic!("{:?}", other.workbench()),
    }
}

/// Pushes a branch with one commit, as the agent's push arrives.
async fn push(garden: &Garden, name: &str) {
    let token = garden.world.token("fro-bot");
    let url = garden.world.clone_url(REPO).replace("://", &format!("://x-access-token:{token}@"));
    let folder = tempfile::tempdir().unwrap();
    let git = async |arguments: &[&str]| {
        // The simulated GitHub answers on this thread, so that nobody may block it.
        let mut git = tokio::process::Command::new("git");
        git.args(["-c", "user.name=Fro", "-c", "user.email=fro@garden.example"]).args(arguments);
        let done = git.current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").status().await;
        assert!(done.unwrap().success(), "git {arguments:?}");
    };
    git(&["clone", "--quiet", &url, "."]).await;
    git(&["checkout", "--quiet", "-b", name]).await;
    fs_err::write(folder.path().join("tap.rs"), "fn tap() {}\n").unwrap();
    git(&["commit", "--quiet", "--all", "-m", "Mend the tap"]).await;
    git(&["push", "--quiet", "origin", name]).await;
}

fn app(garden: &fro_sim::World) -> App {
    App::new("482113", garden.app_key()).unwrap()
}

#[tokio::test]
async fn who_asks_for_a_change_on_an_issue_gets_a_branch_of_ours() {
    let garden = Garden::new().await;
    let job = garden.job(1, FIX);
    let branch = branch(&garden, &job).await;
    assert!(branch.name.starts_with(branch.commission.prefix()), "{}", branch.name);
    assert_eq!((branch.base.as_str(), branch.tip.clone(), branch.stands), ("main", Tip::Checkout, false));
    assert_eq!((branch.repo.as_str(), branch.closed.as_slice()), (REPO, ["main".to_owned()].as_slice()));
    assert_eq!(branch.account.login.as_str(), "fro-bot");
    let Workbench::Branch { pull: None, name, .. } = Assignment::Branch(Box::new(branch)).workbench() else {
        panic!("the agent is not told of its branch")
    };
    assert!(name.contains('1'), "{name}");
}

#[tokio::test]
async fn commits_bear_the_name_of_whoever_pushes_and_the_name_of_whoever_asked() {
    let garden = Garden::new().await;
    let check = |job: &Job, assigned: &Assignment, email: &str| {
        let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name.into(), "fro-bot".into()));
        let emails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name.into(), email.into()));
        assert_eq!(commits::identity(garden.scope(job), assigned), [names, emails].concat());
    };
    let clone = tempfile::tempdir().unwrap();
    let hook = clone.path().join(".git/hooks/prepare-commit-msg");

    let look = Assignment::Look(NoWork::Question);
    check(&garden.job(1, "@fro-bot why?"), &look, "fro-bot@users.noreply.github.com");
    commits::sign(clone.path(), &look).unwrap();
    assert!(!hook.exists(), "nobody asked for a commit");

    let job = garden.job(1, FIX);
    let own = branch(&garden, &job).await;
    let email = format!("{}+fro-bot@users.noreply.github.com", own.account.id);
    let assigned = Assignment::Branch(Box::new(own));
    check(&job, &assigned, &email);
    commits::sign(clone.path(), &assigned).unwrap();
    let script = fs_err::read_to_string(&hook).unwrap();
    assert!(script.contains("--trailer 'Co-authored-by: maya <maya@users.noreply.github.com>'"), "{script}");
}

#[tokio::test]
async fn the_branch_of_an_earlier_run_is_gone_on_with_while_its_pull_request_is_open() {
    let garden = Garden::new().await;
    let job = garden.job(1, FIX);
    let earlier = branch(&garden, &job).await.name;
    push(&garden, &earlier).await;
    let credentials = Arc::new(garden.credentials());
    let first = branch(&garden, &job).await;
    Proposer::new(garden.scope(&job), &first, &credentials).open("Mend the tap", "It drips.").await.unwrap();
    let again = branch(&garden, &job).await;
    assert_eq!((again.name.as_str(), again.stands), (earlier.as_str(), true));
    assert_eq!(again.tip, Tip::Remote(format!("refs/heads/{earlier}")));
    assert!(again.pull.is_some());
}

#[tokio::test]
async fn a_pull_request_of_this_repository_is_worked_on_in_its_own_branch() {
    let garden = Garden::new().await;
    let job = garden.job(2, FIX);
    let own = branch(&garden, &job).await;
    assert_eq!((own.name.as_str(), own.stands), ("new-seal", true));
    assert_eq!(own.tip, Tip::Remote("refs/pull/2/head".to_owned()));
    assert_eq!(own.pull.map(|pull| pull.number), Some(2));

    garden.world.change(|state| state.repo_mut(REPO).unwrap().protected.push("new-seal".to_owned()));
    let beside = branch(&garden, &job).await;
    assert_ne!(beside.name, "new-seal");
    assert_eq!(
        (beside.base.as_str(), beside.pull),
        ("new-seal", None),
        "a protected branch gets a pull request"
    );
    assert!(beside.closed.contains(&"new-seal".to_owned()) && beside.closed.contains(&"main".to_owned()));
}

#[tokio::test]
async fn a_fork_is_pushed_to_only_by_a_person_and_where_its_owner_lets_them() {
    let fork = |open: bool| {
        move |pull: &mut fro_sim::state::Pull| {
            pull.head_repo = Some("rita/garden".to_owned());
            pull.open_to_maintainers = open;
        }
    };
    let person = |world: &fro_sim::World, settings: &mut crate::Settings| {
        settings.elevated = Elevated::Token(Secret::new(world.token("maya")));
    };
    let fork_of = |garden: &Garden, open: bool| {
        garden.world.change(|state| {
            let mut copy = state.repo_mut(REPO).unwrap().clone();
            (copy.owner, copy.id) = ("rita".to_owned(), copy.id + 1);
            state.repos.push(copy);
        });
        garden.change_pull(fork(open));
    };
    let closed = Garden::with(person).await;
    fork_of(&closed, false);
    let job = closed.job(2, FIX);
    let patch = assign(&closed, &job).await;
    assert!(matches!(&patch, Assignment::Patch { fork } if fork.contains("rita/garden")));
    assert!(patch.closed().unwrap().contains("handed on as a patch"));

    let plain = Garden::new().await;
    fork_of(&plain, true);
    let job = plain.job(2, FIX);
    assert!(matches!(assign(&plain, &job).await, Assignment::Patch { .. }), "the job's token opens no fork");

    let open = Garden::with(person).await;
    fork_of(&open, true);
    let job = open.job(2, FIX);
    let branch = branch(&open, &job).await;
    assert_eq!((branch.repo.as_str(), branch.name.as_str()), ("rita/garden", "new-seal"));
    assert_eq!(branch.closed, [""; 0]);
}

#[tokio::test]
async fn what_no_fixed_word_tells_a_model_is_asked_and_only_a_yes_opens_anything() {
    let words = "@fro-bot the tap drips, could you see to it?";
    for (answer, expect) in
        [("yes", None), ("No.", Some(NoWork::Question)), ("Perhaps, if maya agrees", Some(NoWork::Unclear))]
    {
        let garden = Garden::new().await;
        garden.world.model().answers_aside(answer);
        let job = garden.job(1, words);
        let assigned = assign(&garden, &job).await;
        let no = match &assigned {
            Assignment::Look(no) => Some(no.clone()),
            Assignment::Branch(_) => None,
            Assignment::Patch { fork } => panic!("{fork}"),
        };
        assert_eq!(no, expect, "{answer}");
        let [asked] = garden.world.model().asides().try_into().unwrap();
        let asked = asked.body.to_string();
        assert!(asked.contains("could you see to it?") && !asked.contains("puddle"), "{asked}");
    }
    let silent = Garden::new().await;
    silent.world.model().accepts_only("another-key");
    let job = silent.job(1, words);
    assert!(matches!(assign(&silent, &job).await, Assignment::Look(NoWork::Unclear)));
}

#[tokio::test]
async fn what_git_does_not_know_comes_along_only_in_a_workflow_of_somebody_who_may_ask() {
    let event = ("GITHUB_EVENT_PATH".into(), "event.json".into());
    for (in_workflow, reach, comes) in [
        (true, Reach::Work, true),
        (true, Reach::Answer, true),
        (true, Reach::ReadOnly, false),
        (false, Reach::Work, false),
        (false, Reach::ReadOnly, false),
    ] {
        let garden = Garden::with(|_, settings| {
            settings.engine.environment.extend(in_workflow.then(|| event.clone()));
        })
        .await;
        let job = job(permit(reach));
        let decided = untracked(garden.scope(&job));
        assert_eq!(matches!(decided, Untracked::Come(_)), comes, "in a workflow: {in_workflow}, {reach:?}");
    }
}

#[tokio::test]
async fn a_question_asks_nobody_and_nothing_is_pushed() {
    let garden = Garden::new().await;
    let job = Job { work: Err(NoWork::Unasked), ..garden.job(1, "@fro-bot why?") };
    let assigned = assign(&garden, &job).await;
    assert!(matches!(assigned, Assignment::Look(NoWork::Unasked)));
    assert_eq!(assigned.workbench(), Workbench::Closed);
    assert_eq!((garden.world.calls().len(), garden.world.model().asides().len()), (0, 0));
}

#[tokio::test]
async fn work_is_done_with_the_app_else_with_a_person_s_token_else_with_the_job_s() {
    let plain = Garden::new().await;
    let credentials = plain.credentials();
    assert_eq!(credentials.token().await.unwrap().expose(), plain.process.settings.token.expose());
    assert!(credentials.is_plain() && !credentials.reaches_forks());

    let person = Garden::with(|world, settings| {
        settings.elevated = Elevated::Token(Secret::new(world.token("maya")));
    })
    .await;
    let credentials = person.credentials();
    assert_eq!(credentials.account().await.unwrap().login.as_str(), "maya");
    assert!(!credentials.is_plain() && credentials.reaches_forks());

    let both = Garden::with(|world, settings| {
        let token = Secret::new(world.token("maya"));
        settings.elevated = Elevated::App(app(world), Some(token));
    })
    .await;
    let credentials = both.credentials();
    assert_eq!(credentials.account().await.unwrap().login.as_str(), "garden-helper[bot]");
    let [here, there] =
        [credentials.token_for(REPO).await.unwrap(), credentials.token_for("rita/garden").await.unwrap()];
    assert_ne!(here.expose(), there.expose());
    assert!(credentials.reaches_forks(), "the person's token beside the App is for forks");
    assert_eq!(
        (credentials.exception(REPO), credentials.exception("rita/garden")),
        (
            None,
            Some(
                "rita/garden was pushed to with `elevated-token`: the App gives access to octo/garden alone"
                    .to_owned()
            )
        )
    );
}

#[tokio::test]
async fn a_token_of_the_app_is_minted_once_and_only_if_it_is_needed() {
    let garden = Garden::with(|world, settings| settings.elevated = Elevated::App(app(world), None)).await;
    let credentials = garden.credentials();
    assert_eq!(garden.asked(MINTING), 0);
    let [first, second] = [credentials.token().await.unwrap(), credentials.token().await.unwrap()];
    assert_eq!((first.expose(), garden.asked(MINTING)), (second.expose(), 1));
    assert!(!credentials.reaches_forks(), "an App alone opens this repository only");
    assert_eq!(credentials.token_for("rita/garden").await.unwrap().expose(), first.expose());
}

#[tokio::test]
async fn a_process_without_a_token_signs_in_as_its_app() {
    let garden = Garden::with(|world, settings| {
        settings.token = Secret::new("");
        settings.elevated = Elevated::App(app(world), None);
    })
    .await;
    let repo = fro_core::RepoName::parse(REPO).unwrap();
    let signed_in = garden.process.clone().signed_in(&repo).await.unwrap();
    assert!(!signed_in.settings.token.expose().is_empty());
    let shown = signed_in.redactor.clean(&format!("token: {}", signed_in.settings.token.expose()));
    assert!(!shown.as_str().contains(signed_in.settings.token.expose()), "the redactor knows it");
    let again = signed_in.clone().signed_in(&repo).await.unwrap();
    assert_eq!(again.settings.token.expose(), signed_in.settings.token.expose());
    assert_eq!(garden.asked(MINTING), 1);
}

#[tokio::test]
async fn the_pull_request_of_a_run_is_opened_once_with_what_it_closes() {
    let garden = Garden::new().await;
    let job = garden.job(1, FIX);
    let branch = branch(&garden, &job).await;
    push(&garden, &branch.name).await;
    let proposer = Arc::new(Proposer::new(garden.scope(&job), &branch, &Arc::new(garden.credentials())));
    let drafts = Drafts::default();
    let sorter = Arc::new(Sorter::new(garden.scope(&job)));
    let deeds = propose::deeds(
        (1, "page".to_owned()),
        (drafts, Arc::<Callers>::default()),
        (Ok(Arc::clone(&proposer)), sorter),
    );
    let propose = |head: &str| {
        let (title, body) = ("Mend   the\ntap".to_owned(), "It drips, says @maya and @mallory.".to_owned());
        deeds(Deed::Propose { title, body, head: head.to_owned() })
    };
    let why = propose("another").await.unwrap_err();
    assert!(why.contains(&branch.name), "{why}");
    let opened = propose(&branch.name).await.unwrap();
    assert_eq!(proposer.opened().map(|pull| pull.number), Some(opened.number));
    let why = propose(&branch.name).await.unwrap_err();
    assert!(why.contains("is open already"), "{why}");
    let (title, body) = garden.world.state(|state| {
        let issue = state.issue(REPO, opened.number).unwrap();
        (issue.title.clone(), issue.body.clone())
    });
    assert_eq!(title, "Mend the tap");
    assert!(body.contains("Closes #1.") && body.contains("Asked for by @maya."), "{body}");
    assert!(body.contains("says @maya and <code>@mallory</code>"), "only who asked is called: {body}");
}

#[tokio::test]
async fn what_gh_does_is_done_as_long_as_it_can_be_nobody_else_s() {
    let garden = Garden::new().await;
    let job = garden.job(1, "@fro-bot why?");
    let (drafts, callers) = (Drafts::default(), Arc::<Callers>::default());
    let deeds = propose::deeds(
        (1, "https://example.org/1".to_owned()),
        (drafts.clone(), Arc::clone(&callers)),
        (Err("nothing is pushed here".to_owned()), Arc::new(Sorter::new(garden.scope(&job)))),
    );
    let said = deeds(Deed::Say(json!({ "body": "It is the tap." }))).await.unwrap();
    assert_eq!(said.url, "https://example.org/1#draft-1");
    assert_eq!(drafts.last().unwrap().body, "It is the tap.");
    let _seats = ["ses_1", "ses_2"].map(|id| callers.register(id, Vec::new()));
    let why = deeds(Deed::Say(json!({ "body": "Whose is this?" }))).await.unwrap_err();
    assert!(why.contains("by the tool `answer_draft`"), "{why}");
    let (title, body, head) = (String::new(), String::new(), String::new());
    let label = Sorting::Label(vec!["help wanted".to_owned()]);
    for deed in [Deed::Propose { title, body, head }, Deed::Sort(label)] {
        assert_eq!(deeds(deed).await.unwrap_err(), why, "each would be done on the engine's own subject");
    }
}

#[tokio::test]
async fn the_subject_is_sorted_where_the_operator_lets_it_and_the_summary_hears_of_it() {
    let label = Sorting::Label(vec!["help wanted".to_owned()]);
    let off = Garden::new().await;
    let job = off.job(1, FIX);
    let why = Sorter::new(off.scope(&job)).sort(&label, "page").await.unwrap_err();
    assert!(why.contains("gh-deeds"), "{why}");

    let on = Garden::with(|_, settings| settings.delegation.gh_deeds = GhDeeds::On).await;
    let job = on.job(1, FIX);
    let sorter = Sorter::new(on.scope(&job));
    let done = sorter.sort(&label, "page").await.unwrap();
    assert_eq!((done.url.as_str(), done.number), ("page", 1));
    let labels = on.world.state(|state| state.issue(REPO, 1).unwrap().labels.clone());
    assert_eq!(labels, ["bug", "help wanted"]);
    assert_eq!(sorter.done(), ["labelled `help wanted`"]);
}
