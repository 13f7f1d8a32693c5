//! Sessions: which there are, which of them have certain words, and what was said in one.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use fro_core::{Fault, RepoName, remembered::Audience};
use fro_memory::{Found, Info, Page as Slice, Question, Run, SessionMessage};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    OpenMemory, PageSettings,
    frame::{Leaf, Shown, Trouble, clean_words, part, time},
};

/// So many sessions are shown on a page.
const SESSIONS: u32 = 50;
/// So many sessions are found.
const FOUND: u32 = 30;
/// So many messages are shown on a page.
const MESSAGES: u32 = 50;
/// So many bytes of a message are shown.
const LONGEST: usize = 100_000;

/// What is asked of a memory.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wish {
    /// The repository, where there are several memories.
    pub(crate) of: Option<String>,
    /// Words that are looked for.
    search: Option<String>,
    /// Which page.
    pub(crate) page: Option<u32>,
}

/// The memory that is looked into, and those that could be.
pub(crate) struct Choice {
    pub(crate) of: Option<RepoName>,
    others: Vec<RepoName>,
}

impl Choice {
    /// Finds out which memory is meant. One that nothing is linked to is none.
    pub(crate) async fn read(page: &PageSettings, of: Option<&str>) -> Result<Self, Trouble> {
        let mut others: Vec<RepoName> = match &page.store {
            Some(store) => store.all_links().await?.into_iter().map(|link| link.repository).collect(),
            None => Vec::new(),
        };
        others.dedup();
        let of = of.filter(|of| !of.is_empty());
        let meant = match of {
            Some(of) => others.iter().find(|repo| repo.to_string() == of).cloned().map(Some),
            None if page.memories.has_one => Some(None),
            None => others.first().cloned().map(Some),
        };
        match meant {
            Some(of) if page.memories.has_one => Ok(Self { of, others: Vec::new() }),
            Some(of) => Ok(Self { of, others }),
            None if of.is_some() => Err(Trouble::missing()),
            None => Err(Fault::yours(
                "no channel is linked, so there is no memory yet",
                "`/link owner/repo` links one",
            )
            .into()),
        }
    }

    /// What an address ends with, so that it is about this memory.
    pub(crate) fn query(&self) -> String {
        self.of.as_ref().map(|of| format!("of={}&", part(&of.to_string()))).unwrap_or_default()
    }

    /// Writes the way to the other memories.
    pub(crate) fn ways(&self, path: &str) -> Markup {
        html! {
            @if self.others.len() > 1 {
                p.ways { @for repo in &self.others {
                    a href={ (path) "?of=" (part(&repo.to_string())) } aria-current=[(Some(repo) == self.of.as_ref()).then_some("true")] { (repo) }
                } }
            }
        }
    }
}

/// A session with what the ledger knows of it.
struct Line {
    info: Info,
    runs: Vec<Run>,
}

pub(crate) async fn list(State(page): State<Arc<PageSettings>>, Query(wish): Query<Wish>) -> Shown {
    let body = listed(&page, &wish).await;
    page.shown("/sessions", "Sessions", body)
}

async fn listed(page: &PageSettings, wish: &Wish) -> Result<Markup, Trouble> {
    let choice = Choice::read(page, wish.of.as_deref()).await?;
    let words = wish.search.clone().unwrap_or_default();
    let form = html! {
        form method="get" action="/sessions" role="search" {
            @if let Some(of) = &choice.of { input type="hidden" name="of" value=(of); }
            input type="search" name="search" value=(words) placeholder="Words that were said" aria-label="Words that were said";
            button { "Search" }
        }
    };
    let list = if words.trim().is_empty() {
        newest(page, &choice, Leaf::new(wish.page, SESSIONS)).await?
    } else {
        found(page, &choice, words).await?
    };
    Ok(html! { h1 { "Sessions" } (choice.ways("/sessions")) (form) (list) })
}

async fn newest(page: &PageSettings, choice: &Choice, leaf: Leaf) -> Result<Markup, Trouble> {
    let slice = Slice { skip: leaf.skip(), limit: leaf.ask() };
    let read = move |memory: &OpenMemory| {
        let line = |info: Info| Ok(Line { runs: memory.ledger.runs_of(&info.id)?, info });
        memory.sessions.list(slice)?.into_iter().map(line).collect::<Result<Vec<_>, Fault>>()
    };
    let mut lines = page.memories.ask(choice.of.clone(), read).await?;
    let turn = leaf.turned(&mut lines, &format!("/sessions?{}", choice.query()));
    Ok(html! {
        @if lines.is_empty() { p.quiet { "Nothing is remembered yet." } }
        @else { ul.list { @for line in &lines { (row(page, choice, line)) } } }
        (turn)
    })
}

fn row(page: &PageSettings, choice: &Choice, line: &Line) -> Markup {
    let Line { info, runs } = line;
    let about = runs.last().map(|run| run.subject.as_str()).unwrap_or_default();
    html! {
        li {
            div {
                a.title href=(address(choice, &info.id)) { (page.beginning(&info.title)) } (badges(runs))
                p.quiet { (page.words(about)) @if !about.is_empty() { " · " } code { (page.words(&info.id)) } }
            }
            p.side { (time(info.updated)) br; span.quiet { (info.messages) @if info.messages == 1 { " message" } @else { " messages" } } }
        }
    }
}

/// Says who besides the operator may be told of a session.
fn badges(runs: &[Run]) -> Markup {
    let is_private = runs.iter().any(|run| run.visibility == Audience::Insiders);
    let is_hidden = runs.iter().any(|run| run.surface.contains(':'));
    let by_stranger = runs.iter().any(|run| run.trust == "stranger");
    html! {
        @if is_private { span.badge title="never told where everybody can read" { "private" } }
        @if is_hidden { span.badge title="told in its own channel alone" { "hidden channel" } }
        @if by_stranger { span.badge title="words of somebody who may not push are in it" { "stranger" } }
    }
}

fn address(choice: &Choice, id: &str) -> String {
    format!("/sessions/{}?{}", part(id), choice.query())
}

async fn found(page: &PageSettings, choice: &Choice, words: String) -> Result<Markup, Trouble> {
    let search = move |memory: &OpenMemory| {
        Ok(memory.index.search(&memory.sessions, &Question::typed(&words), FOUND)?)
    };
    let found = page.memories.ask(choice.of.clone(), search).await?;
    let one = |hit: &Found| {
        html! {
            li { div {
                a.title href=(address(choice, &hit.session)) { (page.beginning(&hit.title)) }
                p { (page.beginning(&hit.excerpt)) }
                p.quiet { @for word in &hit.words { code { (page.words(word)) } " " } }
            } }
        }
    };
    Ok(html! {
        @if found.is_empty() { p.quiet { "No session has any of these words." } }
        @else { ul.list { @for hit in &found { (one(hit)) } } }
    })
}

pub(crate) async fn one(
    State(page): State<Arc<PageSettings>>,
    Path(id): Path<String>,
    Query(wish): Query<Wish>,
) -> Shown {
    let body = transcript(&page, id, &wish).await;
    page.shown("", "Session", body)
}

async fn transcript(page: &PageSettings, id: String, wish: &Wish) -> Result<Markup, Trouble> {
    let choice = Choice::read(page, wish.of.as_deref()).await?;
    let leaf = Leaf::new(wish.page, MESSAGES);
    let slice = Slice { skip: leaf.skip(), limit: leaf.ask() };
    let redactor = page.redactor.clone();
    let read = move |memory: &OpenMemory| {
        let Some(info) = memory.sessions.info(&id)? else { return Ok(None) };
        let (mut said, runs) = (memory.sessions.read(&id, slice)?, memory.ledger.runs_of(&id)?);
        // Whatever tools printed is in there: it is searched for secrets here, where nobody else waits.
        for message in &mut said {
            message.text = shortened(redactor.clean(&message.text).as_str());
        }
        Ok(Some((Line { info, runs }, said)))
    };
    let read = page.memories.ask(choice.of.clone(), read).await?;
    let (Line { info, runs }, mut said) = read.ok_or_else(Trouble::missing)?;
    // It is read from its beginning, so the next page is a later one.
    let has_more = said.len() > MESSAGES as usize;
    said.truncate(MESSAGES as usize);
    let next = wish.page.unwrap_or(1).max(1) + 1;
    Ok(html! {
        h1 { (page.words(&info.title)) (badges(&runs)) }
        p.quiet { code { (page.words(&info.id)) } " · " (info.messages) @if info.messages == 1 { " message" } @else { " messages" } " · began " (time(info.created)) " · last words " (time(info.updated)) }
        @if !runs.is_empty() { details { summary { (runs.len()) @if runs.len() == 1 { " run" } @else { " runs" } } (crate::runs::table(page, &runs)) } }
        @for message in &said { (bubble(page, message)) }
        @if said.is_empty() { p.quiet { "Nothing is written down here." } }
        @if has_more { p.turn { a rel="next" href={ (address(&choice, &info.id)) "page=" (next) } { "later →" } } }
    })
}

fn bubble(page: &PageSettings, message: &SessionMessage) -> Markup {
    html! {
        article class={ "said " @if message.role == "user" { "asked" } } {
            p.by { b { (page.words(&message.role)) } " " span.quiet { (time(message.at)) } }
            pre { (clean_words(&message.text)) }
        }
    }
}

/// Returns as much of a message as a page takes.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    match text.len() - end {
        0 => text.to_owned(),
        more => format!("{}\n… and {more} bytes more", &text[..end]),
    }
}
