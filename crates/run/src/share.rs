//! Shares the session with everybody, if that is wanted and nothing in it is secret.
//!
//! The engine could do that itself, but it has no way out, and nobody would look at what it sends.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use fro_agent::{Agent, Session};
use fro_core::{gate::Response, remembered::Audience, say::summary::Share};
use fro_http::Url;
use fro_opencode::random_hex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    answer::Request,
    progress::Progress,
    settings::{Card, Sharing},
};

/// The largest session that is shared.
const LARGEST: usize = 16 << 20;

/// How long the host may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Where pictures of sessions are drawn.
const CARDS: &str = "https://social-cards.sst.dev/opencode-share";

#[derive(Deserialize)]
struct ShareReply {
    id: String,
    url: String,
    secret: String,
}

/// Shares the session; where that cannot be, a maintainer is told why.
pub(crate) async fn share(
    request: &Request<'_>,
    agent: &mut Agent<'_>,
    session: Option<&Session<'_>>,
) -> Option<Share> {
    let session = session.filter(|_| is_wanted(request))?;
    let shared = match session.export().await {
        Ok(data) => post(request, (session.id(), agent.engine_version()), data).await,
        Err(why) => Err(why),
    };
    match shared {
        Ok(share) => {
            (request.tell)(Progress::Shared { url: share.url.clone() });
            Some(share)
        }
        Err(why) => {
            let warning = format!("the session was not shared: {why}");
            (request.tell)(Progress::Warning(warning.clone()));
            agent.note(vec![warning]);
            None
        }
    }
}

/// Tells whether the session is to be shared. Where nobody knows who can read the repository, it is not, and neither
/// where nothing is to be seen of the run.
pub(crate) fn is_wanted(request: &Request<'_>) -> bool {
    if request.process.policy.response == Response::None {
        return false;
    }
    match request.process.share.sharing {
        Sharing::Always => true,
        Sharing::Never => false,
        Sharing::Public => request.occasion.audience == Some(Audience::Everyone),
    }
}

pub(crate) async fn post(
    request: &Request<'_>,
    (session, version): (&str, Option<&str>),
    data: Vec<Value>,
) -> Result<Share, String> {
    let text = json!(data).to_string();
    if text.len() > LARGEST {
        return Err(format!("it is larger than {} MB", LARGEST >> 20));
    }
    let found = request.process.redactor().clean(&text).found();
    if found > 0 {
        return Err(format!("there are {found} secrets in it"));
    }
    let told = |error: fro_http::Error| error.to_string();
    // The answer waits for this: one try is enough.
    let client = request.process.agent.client().map_err(|fault| fault.what().to_owned())?;
    let send =
        |path: String| client.post(format!("{}{path}", request.process.share.host)).once().timeout(PATIENCE);
    // The host knows a share by the last eight letters and refuses a second one: each run has its own.
    let letters = random_hex::<4>().map_err(|error| format!("there is no randomness: {error}"))?;
    let name = json!({ "sessionID": format!("{session}{letters}") });
    let made = send("/api/share".to_owned()).json(&name).send().await;
    let made: ShareReply = made.and_then(|answer| answer.json()).map_err(told)?;
    if !is_plain(&made) {
        return Err("the host's answer is no address".to_owned());
    }
    let filled = json!({ "secret": made.secret, "data": data });
    let filled = send(format!("/api/share/{}/sync", made.id)).idempotent().json(&filled).send().await;
    filled.map_err(told)?;
    let card = match request.process.share.card {
        Card::Link => None,
        Card::Picture => Some(card(request, &made.id, version.unwrap_or_default())),
    };
    Ok(Share { url: made.url, card })
}

/// Tells whether what the host said can stand in a comment and in a path.
fn is_plain(made: &ShareReply) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'*+,;=%".contains(c);
    let web = Url::parse(&made.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let id = made.id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    web && id && !made.id.is_empty() && made.url.len() < 500 && made.url.chars().all(known)
}

/// Returns the address of a picture that names the request, the model and the engine that ran.
fn card(request: &Request<'_>, id: &str, version: &str) -> String {
    let title = format!("{} of {}", request.permit.subject(), request.permit.repo());
    picture(&title, &request.process.agent.settings.model().unwrap_or_default(), version, id)
}

fn picture(title: &str, model: &str, version: &str, id: &str) -> String {
    let title = BASE64URL_NOPAD.encode(title.as_bytes());
    let known = |c: &char| c.is_ascii_alphanumeric() || "-._/:".contains(*c);
    let [model, version] = [model, version].map(|text| text.chars().filter(known).collect::<String>());
    format!("{CARDS}/{title}.png?model={model}&version={version}&id={id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_names_the_engine_that_ran() {
        assert_eq!(
            picture("#1 of octo/garden", "scripted/m1 & more", "1.17.19&id=2", "abc"),
            "https://social-cards.sst.dev/opencode-share/IzEgb2Ygb2N0by9nYXJkZW4.png?model=scripted/m1more\
             &version=1.17.19id2&id=abc"
        );
    }

    #[test]
    fn only_an_address_can_stand_below_an_answer() {
        let check = |id: &str, url: &str, expect: bool| {
            let made = ShareReply { id: id.to_owned(), url: url.to_owned(), secret: String::new() };
            assert_eq!(is_plain(&made), expect, "{id} {url}");
        };
        check("abc12345", "https://opncd.ai/share/abc12345", true);
        check("../x", "https://opncd.ai/share/abc12345", false);
        check("", "https://opncd.ai/share/abc12345", false);
        check("abc12345", "javascript:alert(1)", false);
        check("abc12345", "https://opncd.ai/x) [y](z", false);
        check("abc12345", "https://opncd.ai/\"><b>", false);
    }
}
