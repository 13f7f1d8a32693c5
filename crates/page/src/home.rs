//! The first page: how the daemon stands, and what happened last.

use std::sync::Arc;

use axum::extract::State;
use fro_core::say::summary::duration;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    OpenMemory, PageSettings,
    frame::{Shown, Trouble},
    runs,
    sessions::Choice,
};

/// So many runs are shown.
const RUNS: u32 = 10;

pub(crate) async fn show(State(page): State<Arc<PageSettings>>) -> Shown {
    let (daemon, memory) = (standing(&page).await, memory(&page).await);
    // One of both may be out of reach, and the other is still worth a look.
    let body = html! {
        h1 { "Overview" }
        (daemon.unwrap_or_else(|trouble| trouble.as_note(&page)))
        h2 { "Last runs" }
        (memory.unwrap_or_else(|trouble| trouble.as_note(&page)))
    };
    page.shown("/", "Overview", Ok(body))
}

async fn standing(page: &PageSettings) -> Result<Markup, Trouble> {
    let Some(store) = &page.store else { return Ok(html! {}) };
    let status = store.status(Timestamp::now()).await?;
    let waits = status.oldest_waiting.map(|age| format!(", the oldest for {}", duration(age)));
    Ok(html! {
        dl.figures {
            div { dt { "being answered" } dd { (status.running) } }
            div { dt { "waiting" (waits.unwrap_or_default()) } dd { (status.waiting) } }
            div { dt { "to be said" } dd { (status.outbox) } }
            div { dt { "workers" } dd { (status.workers) } }
        }
        @if status.workers == 0 { p.warning { "No worker was seen lately: what is asked waits." } }
    })
}

async fn memory(page: &PageSettings) -> Result<Markup, Trouble> {
    let choice = Choice::read(page, None).await?;
    let read = |memory: &OpenMemory| Ok(memory.ledger.newest(RUNS)?);
    let newest = page.memories.ask(choice.of.clone(), read).await?;
    Ok(html! {
        @if let Some(of) = &choice.of { p.quiet { "of " (of) } }
        @if newest.is_empty() { p.quiet { "There was no run yet." } } @else { (runs::table(page, &newest)) }
    })
}
