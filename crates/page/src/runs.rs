//! Runs, as the ledger has them: who asked where, what came of it, and what it cost.

use std::sync::Arc;

use axum::extract::{Query, State};
use fro_core::say::summary::duration;
use fro_memory::{Run, Stats};
use maud::{Markup, html};

use crate::{
    OpenMemory, PageSettings,
    frame::{Leaf, Shown, Trouble, money, time},
    sessions::{Choice, Wish},
};

/// So many runs are shown on a page.
const RUNS: u32 = 100;

pub(crate) async fn list(State(page): State<Arc<PageSettings>>, Query(wish): Query<Wish>) -> Shown {
    let body = listed(&page, &wish).await;
    page.shown("/runs", "Runs", body)
}

async fn listed(page: &PageSettings, wish: &Wish) -> Result<Markup, Trouble> {
    let choice = Choice::read(page, wish.of.as_deref()).await?;
    let leaf = Leaf::new(wish.page, RUNS);
    let read = |memory: &OpenMemory| {
        let mut runs = memory.ledger.newest(u32::MAX)?;
        runs.reverse();
        let stats = Stats::sum_up(&runs);
        runs.reverse();
        Ok((runs, stats))
    };
    let (runs, stats) = page.memories.ask(choice.of.clone(), read).await?;
    let mut shown: Vec<_> = runs.into_iter().skip(leaf.skip() as usize).take(leaf.ask() as usize).collect();
    let turn = leaf.turned(&mut shown, &format!("/runs?{}", choice.query()));
    Ok(html! {
        h1 { "Runs" }
        (choice.ways("/runs"))
        p.quiet {
            (stats.runs) " in all · $" (format!("{:.4}", stats.cost)) " · " (stats.tokens) " tokens · "
            (format!("{:.0} %", stats.reuse * 100.0)) " looked into earlier sessions"
        }
        @if shown.is_empty() { p.quiet { "There was no run yet." } } @else { (table(page, &shown)) }
        (turn)
    })
}

/// Writes runs as a table.
pub(crate) fn table(page: &PageSettings, runs: &[Run]) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "Ended" } th { "About" } th { "Asked by" } th { "Outcome" } th.number { "Took" } th.number { "Tokens" } th.number { "Cost" } } }
            tbody { @for run in runs { (row(page, run)) } }
        } }
    }
}

fn row(page: &PageSettings, run: &Run) -> Markup {
    let figures = &run.figures;
    let took = std::time::Duration::from_millis(figures.duration);
    html! {
        tr {
            td { (time(run.ended_at)) }
            td { (page.words(&run.subject)) " " span.quiet { (page.words(&run.surface)) " " (page.words(&run.event)) } }
            td { (page.words(&run.actor)) " " span.quiet { (page.words(&run.trust)) } }
            td { (page.words(&run.outcome)) @for link in &run.links { " " (leads(page, link)) } }
            td.number { (duration(took)) }
            td.number { (figures.tokens.input + figures.tokens.output) }
            td.number { (money(figures.cost)) }
        }
    }
}

/// Writes where an answer is. Only what is surely a page of the web can be followed.
fn leads(page: &PageSettings, link: &str) -> Markup {
    html! {
        @if link.starts_with("https://") { a href=(link) rel="noreferrer noopener" title=(link) { "answer" } }
        @else { code { (page.beginning(link)) } }
    }
}
