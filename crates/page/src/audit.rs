//! Who decided what, newest first, and whether the chain of it still holds.

use std::sync::Arc;

use axum::extract::{Query, State};
use fro_core::chat::Ruling;
use fro_serve::Audited;
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    PageSettings,
    frame::{Shown, Trouble, time},
};

/// So many decisions are shown on a page.
const ENTRIES: i64 = 100;

/// Which decisions are meant.
#[derive(Debug, Deserialize)]
pub(crate) struct Before {
    /// Those before this one.
    below: Option<i64>,
}

pub(crate) async fn show(State(page): State<Arc<PageSettings>>, Query(before): Query<Before>) -> Shown {
    let body = shown(&page, before.below.unwrap_or(i64::MAX)).await;
    page.shown("/audit", "Audit", body)
}

async fn shown(page: &PageSettings, below: i64) -> Result<Markup, Trouble> {
    let store = page.daemon()?;
    let (checked, entries) = (store.verify_audit(None).await?, store.audit_tail(below, ENTRIES).await?);
    let older = entries.last().map(|last| last.number).filter(|number| *number > 1);
    Ok(html! {
        h1 { "Audit" }
        @match &checked {
            Ok(head) if head.entries == 0 => p.quiet { "Nothing was decided yet." },
            Ok(head) => p.sound { "The chain holds: " (head.entries) @if head.entries == 1 { " decision" } @else { " decisions" } ", the last one is " code { (head.hash) } },
            Err(broken) => p.warning { "The chain does not hold: " (broken) ". Compare the database with a backup, and change its password." },
        }
        div.wide { table {
            thead { tr { th { "No." } th { "When" } th { "Who" } th { "What" } th { "On" } th { "Ruling" } } }
            tbody { @for audited in &entries { (row(page, audited)) } }
        } }
        @if let Some(older) = older { p.turn { a rel="next" href={ "/audit?below=" (older) } { "older →" } } }
    })
}

fn row(page: &PageSettings, audited: &Audited) -> Markup {
    let entry = &audited.entry;
    let action = format!("{:?}", entry.action);
    html! {
        tr {
            td { (audited.number) }
            td { (time(entry.at)) }
            td { @match &entry.actor { Some(actor) => code { (actor) }, None => "the operator" } }
            td { (action) }
            td { code { (page.beginning(&entry.target)) } @if let Some(after) = &entry.after { " → " (page.beginning(&after.to_string())) } }
            td { @match &entry.ruling {
                Ruling::Granted => "granted",
                Ruling::Denied(why) => { span.badge { "denied" } " " (page.beginning(why)) }
            } }
        }
    }
}
