//! A stream that says when something has changed. Whoever comes back says what they saw last, and misses nothing.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::State,
    http::HeaderMap,
    response::sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, stream};

use crate::PageSettings;

/// How the browser says what it saw last.
const LAST: &str = "last-event-id";

/// Tells each change once: its number is a fingerprint of what is shown, so that whoever saw that already is told nothing.
pub(crate) async fn events(
    State(page): State<Arc<PageSettings>>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let seen = headers.get(LAST).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let changes = stream::unfold((page, seen), |(page, mut seen)| async move {
        loop {
            let now = fingerprint(&page).await;
            if let Some(now) = now.filter(|now| seen.as_ref() != Some(now)) {
                // Whoever has just come has seen what there is.
                let name = if seen.is_some() { "changed" } else { "begun" };
                seen = Some(now.clone());
                return Some((Ok(Event::default().event(name).id(now).data(name)), (page, seen)));
            }
            tokio::time::sleep(page.pace).await;
        }
    });
    Sse::new(changes).keep_alive(KeepAlive::default())
}

/// Returns what stands for everything that is shown of the daemon; a database that does not answer is no change.
async fn fingerprint(page: &PageSettings) -> Option<String> {
    let Some(store) = &page.store else { return Some("memory".to_owned()) };
    match store.pulse().await {
        Ok(pulse) => Some(pulse),
        Err(error) => {
            tracing::debug!("the page cannot ask the store: {}", error.fault().what());
            None
        }
    }
}
