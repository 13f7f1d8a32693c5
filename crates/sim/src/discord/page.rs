//! The web page of a channel: what a person sees who opens it in a browser.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    middleware::map_response,
    response::Html,
    routing::get,
};
use maud::{DOCTYPE, Markup, html};

use super::{
    chat::Chat,
    permission::VIEW_CHANNEL,
    shape,
    switchboard::Switchboard,
    things::{Channel, ChatMessage},
};
use crate::page;

type Shown10 = Result<Html<String>, (StatusCode, Html<String>)>;

pub(crate) fn routes() -> Router<Arc<Switchboard>> {
    Router::new()
        .route("/", get(home))
        .route("/channels/{channel}", get(channel))
        .merge(page::assets())
        .layer(map_response(page::guarded))
}

async fn home(State(board): State<Arc<Switchboard>>) -> Html<String> {
    board.read(|chat| {
        let open = |channel: &&Channel| channel.thread.is_none() && everybody_sees(chat, channel);
        let list = html! {
            ul.list { @for channel in chat.channels.iter().filter(open) { li { (link(channel)) } } }
        };
        shown("The little Discord", &list)
    })
}

async fn channel(State(board): State<Arc<Switchboard>>, Path(id): Path<u64>) -> Shown10 {
    board.read(|chat| {
        let missing = || (StatusCode::NOT_FOUND, shown("Not found", &html! { h1 { "There is nothing here" } }));
        let place = chat.channel(id).filter(|place| everybody_sees(chat, place)).ok_or_else(missing)?;
        let body = html! {
            h1 { "# " (place.name) }
            @if let Some(thread) = &place.thread {
                p.quiet { "a thread of " @if let Some(parent) = chat.channel(thread.parent) { (link(parent)) } }
            }
            @for message in chat.messages_in(id).filter(|message| !message.ephemeral()) { (said(chat, message)) }
        };
        Ok(shown(&place.name, &body))
    })
}

fn said(chat: &Chat, message: &ChatMessage) -> Markup {
    let author = chat.account(message.author).map_or("somebody", |account| account.name.as_str());
    let rows = message.components.iter().flat_map(|row| row["components"].as_array().into_iter().flatten());
    html! {
        article.comment {
            p.quiet { strong { (author) } " " (shape::time(shape::made_at(message.id)).get(11..19).unwrap_or_default()) }
            div.said { (readable(chat, &message.content)) }
            @for file in &message.files {
                p { a href={ "/attachments/" (message.channel) "/" (file.id) "/" (file.name) } { "📎 " (file.name) } }
            }
            @for button in rows { button disabled { (button["label"].as_str().unwrap_or("…")) } }
            @if let Some(thread) = chat.channel(message.id) { p { "🧵 " (link(thread)) } }
        }
    }
}

/// A text with names in the place of ids.
fn readable(chat: &Chat, text: &str) -> String {
    chat.accounts.iter().fold(text.to_owned(), |text, account| {
        text.replace(&format!("<@{}>", account.id), &format!("@{}", account.name))
    })
}

fn link(channel: &Channel) -> Markup {
    html! { a href={ "/channels/" (channel.id) } { "# " (channel.name) } }
}

/// Who looks at a page shows no token.
fn everybody_sees(chat: &Chat, channel: &Channel) -> bool {
    let nobody = chat.accounts.iter().find(|account| account.name == "sam").map_or(0, |account| account.id);
    chat.permissions(nobody, channel.id) & VIEW_CHANNEL != 0
}

fn shown(title: &str, body: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/refresh.js" defer {}
            }
            body {
                header { a.home href="/" { "🌱 The little Discord" } }
                main { (body) }
                footer { "A simulated Discord on this machine. Nothing here leaves it." }
            }
        }
    };
    Html(page.into_string())
}
