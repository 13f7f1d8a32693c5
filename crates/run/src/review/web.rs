//! The web as a reviewer's model may read it: by the harness, page by page, and every page is accounted for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fro_agent::{Arguments, ToolList, Tools};
use fro_boundary::{Page, PageRefusal, Web};
use fro_core::{Permission, Redactor, fence};
use fro_review::web::{self, MOST, WebCall};
use futures::future::BoxFuture;

use super::ReviewScope;
use crate::{settings::WebSettings, venue::PullSoFar};

/// The web as it serves one review.
pub(crate) struct WebTools {
    web: Web,
    settings: WebSettings,
    redactor: Redactor,
    calls: Mutex<Calls>,
}

/// Makes what the model is shown of an address, a kind of text and the text.
type Show = fn(&str, &str, &str) -> String;

/// What was asked for.
#[derive(Debug, Default)]
struct Calls {
    asked: usize,
    /// Where pages were read.
    read: Vec<String>,
    refused: usize,
}

impl WebTools {
    /// Opens the web where the operator allows it and the author may push: what a stranger wrote could make the model
    /// carry out what it has read.
    pub(super) fn open(scope: ReviewScope<'_>, pull: &PullSoFar) -> Option<Arc<Self>> {
        let settings = scope.process.review.web.clone()?;
        if pull.author_may < Permission::Write {
            tracing::warn!("the web stays shut: the author of the change may not push");
            return None;
        }
        let web = Web::public(&scope.process.agent.settings.client);
        let redactor = scope.process.redactor().clone();
        Some(Arc::new(Self { web, settings, redactor, calls: Mutex::default() }))
    }

    /// Returns the tools as the model is offered them.
    pub(crate) fn list(&self) -> ToolList {
        ToolList { name: web::SET.to_owned(), tools: web::cards(self.settings.search.as_ref()) }
    }

    /// Returns what the summary says of it, if it was used.
    pub(crate) fn summarize(&self) -> Option<String> {
        let calls = self.calls();
        let mut hosts = calls.read.clone();
        hosts.sort();
        hosts.dedup();
        let (n_read, refused) = (calls.read.len(), calls.refused);
        let hosts = if hosts.is_empty() { String::new() } else { format!(" ({})", hosts.join(", ")) };
        (calls.asked > 0).then(|| format!("{n_read} pages of the web read{hosts}, {refused} refused"))
    }

    async fn answer(&self, tool: &str, arguments: &Arguments) -> Result<String, String> {
        let call = WebCall::read(tool, arguments)?;
        let (url, show): (String, Show) = match (call, &self.settings.search) {
            (WebCall::Fetch(url), _) => (url, web::shown),
            (WebCall::Search(query), Some(search)) => (search.url_for(&query), web::found),
            (WebCall::Search(_), None) => return Err("there is no tool `web_search`".to_owned()),
        };
        self.count()?;
        let read = self.read(&url).await;
        match read {
            Ok(Page { url, kind, text }) => {
                self.calls().read.push(host(&url));
                Ok(show(&url, &kind, &text))
            }
            Err(why) => {
                self.calls().refused += 1;
                Err(why)
            }
        }
    }

    async fn read(&self, url: &str) -> Result<Page, String> {
        if self.redactor.clean(url).as_str() != url {
            return Err("the address carries a secret, so it is not asked".to_owned());
        }
        tracing::info!("web: the model asks for {}", fence::one_line(url));
        self.web.page(url).await.map_err(|why: PageRefusal| why.to_string())
    }

    /// Counts a call, as long as there are any left.
    fn count(&self) -> Result<(), String> {
        let mut calls = self.calls();
        if calls.asked >= MOST {
            return Err(format!("{MOST} pages were asked for in this review, which is all there are"));
        }
        calls.asked += 1;
        Ok(())
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for WebTools {
    fn name(&self) -> &str {
        web::SET
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let tool = tool.to_owned();
        Box::pin(async move { self.answer(&tool, &arguments).await })
    }
}

fn host(url: &str) -> String {
    fence::inline(url.split('/').nth(2).unwrap_or_default())
}
