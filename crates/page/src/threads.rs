//! Threads and links of the daemon: what each is about, how it stands, and what was asked and answered there.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use fro_core::chat::{ChannelId, ChannelLink, Listen, Thread};
use fro_serve::{Store, ThreadLine};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    PageSettings,
    frame::{Leaf, Shown, Trouble, part, time},
    sessions::Wish,
};

/// So many threads are shown on a page.
const THREADS: u32 = 50;

impl PageSettings {
    /// Returns the daemon's store, where there is one.
    pub(crate) fn daemon(&self) -> Result<&Store, Trouble> {
        self.store.as_ref().ok_or_else(Trouble::missing)
    }
}

pub(crate) async fn list(State(page): State<Arc<PageSettings>>, Query(wish): Query<Wish>) -> Shown {
    let body = listed(&page, Leaf::new(wish.page, THREADS)).await;
    page.shown("/threads", "Threads", body)
}

async fn listed(page: &PageSettings, leaf: Leaf) -> Result<Markup, Trouble> {
    let slice = (i64::from(leaf.skip()), i64::from(leaf.ask()));
    let mut lines = page.daemon()?.thread_lines(Timestamp::now(), slice).await?;
    let turn = leaf.turned(&mut lines, "/threads?");
    Ok(html! {
        h1 { "Threads" }
        @if lines.is_empty() { p.quiet { "No thread was opened yet." } }
        @else { ul.list { @for line in &lines { (row(page, line)) } } }
        (turn)
    })
}

fn row(page: &PageSettings, line: &ThreadLine) -> Markup {
    let thread = &line.thread;
    html! {
        li {
            div {
                a.title href={ "/threads/" (thread.id) } { (name(page, thread)) } (state(line))
                p.quiet { (thread.repository) " · " code { (thread.id) } }
            }
            p.side { (time(line.asked_at.unwrap_or(thread.opened_at))) br; span.quiet { (line.done) " answered" } }
        }
    }
}

fn name(page: &PageSettings, thread: &Thread) -> Markup {
    html! { @match &thread.named { Some(name) => (page.beginning(name)), None => "A thread that people began" } }
}

fn state(line: &ThreadLine) -> Markup {
    html! {
        @if line.running > 0 { span.badge.busy { "being answered" } }
        @if line.waiting > 0 { span.badge { (line.waiting) " waiting" } }
    }
}

pub(crate) async fn one(State(page): State<Arc<PageSettings>>, Path(id): Path<String>) -> Shown {
    let body = conversation(&page, &id).await;
    page.shown("", "Thread", body)
}

async fn conversation(page: &PageSettings, id: &str) -> Result<Markup, Trouble> {
    let (store, id) = (page.daemon()?, id.parse::<ChannelId>().map_err(|_| Trouble::missing())?);
    let thread = store.thread(id).await?.ok_or_else(Trouble::missing)?;
    let said = store.conversation(id).await?;
    let discord = format!("https://discord.com/channels/{}/{}", thread.guild, thread.id);
    let session = thread.session.as_deref().map(|session| {
        let of = part(&thread.repository.to_string());
        (format!("/sessions/{}?of={of}", part(session)), session)
    });
    Ok(html! {
        h1 { (name(page, &thread)) }
        p.quiet {
            (thread.repository) " · opened " (time(thread.opened_at)) " · " a href=(discord) rel="noreferrer noopener" { "on Discord" }
            @if let Some((address, session)) = &session { " · session " a href=(address) { code { (page.words(session)) } } }
        }
        @for (words, answer) in &said {
            article.said.asked { p.by { b { (page.words(&words.name)) } } pre { (page.words(&words.text)) } }
            @if !answer.trim().is_empty() { article.said { p.by { b { "fro-bot" } } pre { (page.words(answer)) } } }
        }
        @if said.is_empty() { p.quiet { "What was said here is not kept any more." } }
    })
}

pub(crate) async fn links(State(page): State<Arc<PageSettings>>) -> Shown {
    let body = linked(&page).await;
    page.shown("/links", "Links", body)
}

async fn linked(page: &PageSettings) -> Result<Markup, Trouble> {
    let links = page.daemon()?.all_links().await?;
    Ok(html! {
        h1 { "Links" }
        @if links.is_empty() { p.quiet { "No channel is linked." } }
        @else { div.wide { table {
            thead { tr { th { "Repository" } th { "Channel" } th { "Opened by" } th { "Model" } th { "Linked" } } }
            tbody { @for link in &links { (link_row(page, link)) } }
        } } }
    })
}

fn link_row(page: &PageSettings, link: &ChannelLink) -> Markup {
    let opened_by = match link.settings.listen {
        Listen::Mentions => "mentions",
        Listen::Everything => "every message",
    };
    html! {
        tr {
            td { (link.repository) }
            td { a href={ "https://discord.com/channels/" (link.guild) "/" (link.channel) } rel="noreferrer noopener" { code { (link.channel) } } }
            td { (opened_by) }
            td { @match &link.settings.model { Some(model) => code { (page.words(model)) }, None => span.quiet { "the usual one" } } }
            td { (time(link.linked_at)) span.quiet { " by " code { (link.linked_by) } } }
        }
    }
}
