//! What waits and who works on it: turns with their leases, workers, who speaks to Discord, and what failed there.

use std::sync::Arc;

use axum::extract::State;
use fro_serve::{Status, UnfinishedTurn};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    PageSettings,
    frame::{Shown, Trouble, time},
};

/// So many lines of each kind are shown.
const MOST: i64 = 200;

pub(crate) async fn queue(State(page): State<Arc<PageSettings>>) -> Shown {
    let body = shown(&page).await;
    page.shown("/queue", "Queue", body)
}

async fn shown(page: &PageSettings) -> Result<Markup, Trouble> {
    let (store, now) = (page.daemon()?, Timestamp::now());
    let (turns, workers) = (store.unfinished_turns(MOST).await?, store.worker_lines().await?);
    let (gateway, failed) = (store.gateway_lines().await?, store.failed_deeds(20).await?);
    let lately = now.saturating_sub(Status::LATELY).unwrap_or(Timestamp::MIN);
    Ok(html! {
        h1 { "Queue" }
        @if turns.is_empty() { p.quiet { "Nothing waits, and nobody is being answered." } }
        @else { div.wide { table {
            thead { tr { th { "Turn" } th { "Repository" } th { "Thread" } th { "Asked" } th { "Worker" } th.number { "Begun" } } }
            tbody { @for turn in &turns { (row(page, turn, now)) } }
        } } }
        h2 { "Workers" }
        @if workers.is_empty() { p.warning { "No worker has given a sign of life: what is asked waits." } }
        ul.list { @for worker in &workers { li {
            div { code { (page.words(&worker.name)) } @if worker.seen_at < lately { span.badge { "not seen lately" } } }
            p.side { (time(worker.seen_at)) }
        } } }
        h2 { "Discord" }
        ul.list { @for line in &gateway { li {
            div { @match &line.holder { Some(holder) => code { (page.words(holder)) }, None => "nobody" }
                @if line.lease_until <= now { span.badge { "lease has run out" } } }
            p.side { span.quiet { "shard " (line.shard) " until " } (time(line.lease_until)) }
        } } }
        @if !failed.is_empty() {
            h2 { "Could not be said" }
            ul.list { @for deed in &failed { li {
                div { code { (deed.lane) } " " (page.beginning(&deed.failure)) }
                p.side.quiet { (deed.attempts) " tries" }
            } } }
        }
    })
}

fn row(page: &PageSettings, turn: &UnfinishedTurn, now: Timestamp) -> Markup {
    html! {
        tr {
            td { (turn.id) }
            td { (turn.repository) }
            td { a href={ "/threads/" (turn.thread) } { code { (turn.thread) } } }
            td { (time(turn.arrived_at)) " by " code { (turn.asker) } }
            td { @match &turn.held {
                Some((worker, until)) if *until > now => { code { (page.words(worker)) } span.quiet { " until " (time(*until)) } }
                Some((worker, _)) => { span.badge { "lost" } " " code { (page.words(worker)) } }
                None => span.quiet { "waits" }
            } }
            td.number { (turn.attempts) }
        }
    }
}
