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
use maud::{Markup, html};

use super::{
    chat::Chat,
    permission::VIEW_CHANNEL,
    shape,
    switchboard::Switchboard,
    things::{Channel, ChatMessage},
};
use crate::page::{self, markdown};

type Shown = Result<Html<String>, (StatusCode, Html<String>)>;

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
            h1 { "Channels" }
            ul.list { @for channel in chat.channels.iter().filter(open) { li { (link(channel)) } } }
        };
        shown("The simulated Discord", &html! {}, &list)
    })
}

async fn channel(State(board): State<Arc<Switchboard>>, Path(id): Path<u64>) -> Shown {
    board.read(|chat| {
        let nothing = html! { h1 { "There is nothing here" } };
        let missing = || (StatusCode::NOT_FOUND, shown("Not found", &html! {}, &nothing));
        let place = chat.channel(id).filter(|place| everybody_sees(chat, place)).ok_or_else(missing)?;
        let parent = place.thread.as_ref().and_then(|thread| chat.channel(thread.parent));
        // A thread begins with the message that it was opened on, which stands in the channel.
        let first = parent.and_then(|parent| chat.message(parent.id, id));
        let messages: Vec<_> =
            first.into_iter().chain(chat.messages_in(id)).filter(|it| is_shown(it)).collect();
        let trail = html! { @if let Some(parent) = parent { (link(parent)) } span { (place.name) } };
        let body = html! {
            h1 { @if parent.is_some() { "🧵 " } @else { "# " } (place.name) }
            div.room {
                @if messages.is_empty() { p.quiet.empty { "Nobody has said anything yet." } }
                @for message in messages { (said(chat, message, id)) }
            }
        };
        Ok(shown(&place.name, &trail, &body))
    })
}

/// An answer for one person's eyes is on nobody's page, and neither is Discord's own word that a thread was opened.
fn is_shown(message: &ChatMessage) -> bool {
    let is_empty = message.content.is_empty() && message.files.is_empty() && message.components.is_empty();
    !message.ephemeral() && !is_empty
}

fn said(chat: &Chat, message: &ChatMessage, here: u64) -> Markup {
    let account = chat.account(message.author);
    let author = account.map_or("somebody", |account| account.name.as_str());
    let initial: String = author.chars().take(1).flat_map(char::to_uppercase).collect();
    let rows = message.components.iter().flat_map(|row| row["components"].as_array().into_iter().flatten());
    let opened = chat.channel(message.id).filter(|thread| thread.id != here);
    html! {
        article.talk {
            div class={ "avatar hue-" (message.author % 8) } aria-hidden="true" { (initial) }
            div.words {
                p.by {
                    b { (author) }
                    @if account.is_some_and(|account| account.bot) { span.badge { "bot" } }
                    span.quiet { (shape::time(shape::made_at(message.id)).get(11..16).unwrap_or_default()) }
                }
                (markdown::chat(&readable(chat, &message.content)))
                @for file in &message.files {
                    p { a href={ "/attachments/" (message.channel) "/" (file.id) "/" (file.name) } { "📎 " (file.name) } }
                }
                @for button in rows { button disabled { (button["label"].as_str().unwrap_or("…")) } }
                @if let Some(thread) = opened { (preview(chat, thread)) }
            }
        }
    }
}

/// The card below a message on which a thread was opened.
fn preview(chat: &Chat, thread: &Channel) -> Markup {
    let count = chat.messages_in(thread.id).filter(|message| is_shown(message)).count();
    let many = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
    html! {
        a.opened href={ "/channels/" (thread.id) } { b { "🧵 " (thread.name) } span.quiet { (many) " ›" } }
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

fn shown(title: &str, trail: &Markup, body: &Markup) -> Html<String> {
    page::framed("Discord", title, trail, body)
}
