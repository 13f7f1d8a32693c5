//! Linking: a role, the App, and the linker's own account, as GitHub itself tells.

use fro_core::chat::AuditAction;
use fro_github::{Address, DeviceFlow};
use fro_http::{Client, ClientSettings};
use fro_serve::SignIn;
use fro_sim::World;
use serde_json::json;

use super::stage::Stage;

fn sign_in(github: &World) -> SignIn {
    let client = Client::new(ClientSettings::loopback()).unwrap();
    let api = github.api_url();
    let address = Address { web: api.clone(), api, graphql: github.graphql_url(), stores: Vec::new() };
    let client_id = github.state(|state| state.apps[0].client_id());
    SignIn { flow: DeviceFlow::new(&address, &client_id, client.clone()), address, client }
}

/// Types the code that the bot shows, as somebody on GitHub.
async fn type_code(github: &World, login: &str, answer: &str) {
    let code = github.state(|state| state.devices.last().unwrap().user_code.clone());
    let client = Client::new(ClientSettings::loopback()).unwrap();
    let request = client.post(format!("{}/login/device", github.api_url()));
    let token = fro_core::Secret::new(github.token(login));
    let form = json!({ "user_code": code, "answer": answer });
    request.bearer(&token).json(&form).send().await.unwrap();
}

async fn linked(by: &str, on: &str, answer: &str) -> (String, Stage) {
    linked_although((by, on, answer), |_| {}).await
}

/// Links with something that happens while the code is typed.
async fn linked_although(
    (by, on, answer): (&str, &str, &str),
    meanwhile: impl FnOnce(&Stage),
) -> (String, Stage) {
    let github = World::start().await.unwrap();
    // The App is there on these repositories, and on no other.
    github.change(|state| state.apps[0].installations[0].repos = vec![on.to_owned()]);
    let mut stage = Stage::unlinked().await;
    stage.allow_maintainers().await;
    stage.sign_in = Some(sign_in(&github));
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    let asked = stage.world.commands("maya", garden, "link", &json!({ "repo": "octo/garden" }));
    stage.until(|chat| chat.messages.iter().any(|it| it.content.contains("enter the code"))).await;
    meanwhile(&stage);
    type_code(&github, by, answer).await;
    let told = |chat: &fro_sim::discord::Chat| {
        let found = chat.messages.iter().find(|it| it.interaction == Some(asked));
        found.map(|it| it.content.clone()).filter(|text| !text.is_empty() && !text.contains("enter the code"))
    };
    stage.until(|chat| told(chat).is_some()).await;
    let text = stage.world.state(|chat| told(chat).unwrap());
    serving.stop().await;
    (text, stage)
}

#[tokio::test]
async fn a_maintainer_whose_account_can_push_links_a_channel() {
    let (text, stage) = linked("maya", "octo/garden", "allow").await;
    assert_eq!(text, "This channel is now linked to **octo/garden**. Mention me here to open a thread.");
    let link = stage.store.link_of(stage.garden()).await.unwrap().unwrap();
    assert_eq!((link.repository.to_string().as_str(), link.linked_by), ("octo/garden", stage.person("maya")));
    assert_eq!(stage.store.account(stage.person("maya")).await.unwrap().unwrap().login.as_str(), "maya");
    let audited = stage.store.audited(stage.guild(), 9).await.unwrap();
    let told: Vec<_> = audited.iter().map(|it| it.entry.action).collect();
    assert_eq!(told, [AuditAction::Link, AuditAction::ProveAccount]);
}

#[tokio::test]
async fn without_write_permission_the_app_or_a_yes_nothing_is_linked() {
    for (by, on, answer, told) in [
        ("rita", "octo/garden", "allow", "I cannot do that: this needs write permission on the repository"),
        ("maya", "octo/cellar", "allow", "I cannot do that: my GitHub App is not installed"),
        ("maya", "octo/garden", "deny", "The code was not used in time, or you said no on GitHub."),
    ] {
        let (text, stage) = linked(by, on, answer).await;
        assert!(text.starts_with(told), "{by} {on}: {text}");
        assert_eq!(stage.store.link_of(stage.garden()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_role_that_was_taken_away_while_the_code_was_typed_does_not_link() {
    let role_is_gone = |stage: &Stage| {
        stage.world.takes_role("maya", stage.guild().number(), stage.guild().number() + 2);
    };
    let (text, stage) = linked_although(("maya", "octo/garden", "allow"), role_is_gone).await;
    assert_eq!(text, "I cannot do that: this needs a role that may link channels.");
    assert_eq!(stage.store.link_of(stage.garden()).await.unwrap(), None);
}

#[tokio::test]
async fn nobody_is_sent_to_github_who_would_be_refused_afterwards() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    for (name, repo, told) in [
        ("sam", "octo/garden", "I cannot do that: this needs a role that may link channels."),
        ("maya", "octo", "`octo` is no repository; write it as `owner/name`."),
        ("maya", "octo/cellar", "This channel is linked to octo/garden already. `/unlink` it first."),
    ] {
        let asked = stage.world.commands(name, garden, "link", &json!({ "repo": repo }));
        assert_eq!(stage.answer_to(asked).await, told);
    }
    serving.stop().await;
}

#[tokio::test]
async fn a_thread_is_no_channel_that_can_be_linked() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let asked = stage.world.commands("maya", thread, "link", &json!({ "repo": "octo/cellar" }));
    let answer = stage.answer_to(asked).await;
    assert!(answer.starts_with("Only a text channel can be linked"), "{answer}");
    stage.finish(&claimed, "Done.").await;
    serving.stop().await;
}
