//! What all pages have in common: the frame, what went wrong, and how times, sums and strangers' words are written.

use std::sync::Arc;

use axum::{
    http::StatusCode,
    response::{Html, IntoResponse as _, Response},
};
use fro_core::Fault;
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::PageSettings;

/// A seedling, as a picture that needs no request.
const ICON: &str = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><text y='13' font-size='13'>🌱</text></svg>";

/// So much of a text is shown where it is one of many.
const LONGEST: usize = 300;

/// A page, or why there is none.
pub(crate) type Shown = Response;

/// Why a page cannot be shown.
pub(crate) struct Trouble {
    status: StatusCode,
    what: String,
    hint: String,
}

impl Trouble {
    /// Nothing is at this address.
    pub(crate) fn missing() -> Self {
        let hint = "It may have been removed, or the address is wrong.".to_owned();
        Self { status: StatusCode::NOT_FOUND, what: "There is nothing here".to_owned(), hint }
    }

    /// Tells it in the midst of a page.
    pub(crate) fn as_note(&self, page: &PageSettings) -> Markup {
        html! { p.quiet { (page.words(&self.what)) ". " (page.words(&self.hint)) } }
    }

    /// Shows it, in the frame of all pages.
    pub(crate) fn shown(&self, page: &PageSettings) -> Response {
        let body = html! { h1 { (page.words(&self.what)) } p { (page.words(&self.hint)) } };
        (self.status, page.framed("", &self.what, &body)).into_response()
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        let (what, hint) = (fault.what().to_owned(), fault.hint().clone());
        Self { status: StatusCode::SERVICE_UNAVAILABLE, what, hint }
    }
}

impl From<fro_serve::Error> for Trouble {
    fn from(error: fro_serve::Error) -> Self {
        // What a database says may name its host; the log has it.
        tracing::warn!("the page cannot ask the store: {}", error.fault().what());
        let hint = "The log has the reason.".to_owned();
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            what: "The daemon's database does not answer".to_owned(),
            hint,
        }
    }
}

impl PageSettings {
    /// Shows what came of a question.
    pub(crate) fn shown(self: &Arc<Self>, path: &str, title: &str, body: Result<Markup, Trouble>) -> Shown {
        match body {
            Ok(body) => self.framed(path, title, &body).into_response(),
            Err(trouble) => trouble.shown(self),
        }
    }

    fn framed(&self, path: &str, title: &str, body: &Markup) -> Html<String> {
        let of_daemon =
            [("/threads", "Threads"), ("/queue", "Queue"), ("/links", "Links"), ("/audit", "Audit")];
        let of_memory = [("/", "Overview"), ("/sessions", "Sessions"), ("/runs", "Runs")];
        let places = of_memory.into_iter().chain(of_daemon.into_iter().filter(|_| self.store.is_some()));
        let whole = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (title) " · fro-bot" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href="/assets/page.css";
                    script src="/assets/page.js" defer {}
                }
                body {
                    header {
                        a.home href="/" { "🌱 fro-bot" }
                        nav { @for (address, name) in places {
                            a href=(address) aria-current=[(address == path).then_some("page")] { (name) }
                        } }
                    }
                    main { (body) }
                    footer { "For whoever runs it. Nothing can be changed here." }
                }
            }
        };
        Html(whole.into_string())
    }

    /// Writes words of somebody's, without secrets. They cannot be taken for markup: what makes the page escapes them.
    pub(crate) fn words(&self, text: &str) -> Markup {
        clean_words(self.redactor.clean(text).as_str())
    }

    /// Writes the beginning of words of somebody's.
    pub(crate) fn beginning(&self, text: &str) -> Markup {
        let clean = self.redactor.clean(text);
        match clean.as_str().char_indices().nth(LONGEST) {
            Some((end, _)) => html! { (self.words(&clean.as_str()[..end])) "…" },
            None => self.words(clean.as_str()),
        }
    }
}

/// Writes words from which secrets were taken before.
pub(crate) fn clean_words(text: &str) -> Markup {
    // What does not show, or turns what follows around, would make one name look like another.
    let plain: String = text.chars().map(visible).collect();
    html! { (plain) }
}

fn visible(c: char) -> char {
    let hides = matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    if hides || (c.is_control() && !matches!(c, '\n' | '\t')) { '\u{fffd}' } else { c }
}

/// Writes a time.
pub(crate) fn time(at: Timestamp) -> Markup {
    let whole = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()) title=(whole) { (&whole[..16]) } }
}

/// Writes a sum that is in millionths of a dollar.
pub(crate) fn money(millionths: u64) -> String {
    match millionths {
        0 => "–".to_owned(),
        sum => format!("${}.{:04}", sum / 1_000_000, sum % 1_000_000 / 100),
    }
}

/// Writes a text so that it is one part of an address.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Which page of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaf {
    number: u32,
    length: u32,
}

impl Leaf {
    /// The pages of a list are counted from 1.
    pub(crate) fn new(number: Option<u32>, length: u32) -> Self {
        Self { number: number.unwrap_or(1).clamp(1, 1_000_000), length }
    }

    pub(crate) fn skip(self) -> u32 {
        (self.number - 1).saturating_mul(self.length)
    }

    /// One more is asked for than is shown: then there is a next page.
    pub(crate) fn ask(self) -> u32 {
        self.length + 1
    }

    /// Splits off what is only there to tell of the next page, and writes the way to the others.
    pub(crate) fn turned<T>(self, items: &mut Vec<T>, address: &str) -> Markup {
        let has_next = items.len() > self.length as usize;
        items.truncate(self.length as usize);
        html! {
            @if has_next || self.number > 1 {
                p.turn {
                    @if self.number > 1 { a rel="prev" href={ (address) "page=" (self.number - 1) } { "← newer" } }
                    @if has_next { a rel="next" href={ (address) "page=" (self.number + 1) } { "older →" } }
                }
            }
        }
    }
}
