//! What a server says when it does not do what was asked: why, and when to come back.

use std::{fmt, time::Duration};

use bytes::Bytes;
use fro_core::{Redactor, Secret};
use jiff::{Timestamp, fmt::rfc2822};
use reqwest::{StatusCode, header::HeaderMap};

/// The longest message of a server that we pass on.
const LONGEST_MESSAGE: usize = 200;

/// An answer other than a success.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// The server's own words, on one line and without our credential.
    pub(crate) message: Option<String>,
    /// Whether it only wants us to slow down.
    pub(crate) limited: bool,
    /// How long the server wants us to wait.
    pub(crate) wait: Option<Duration>,
    pub(crate) body: Body,
}

/// What came with the refusal. It never prints itself.
pub(crate) struct Body(pub(crate) Bytes);

impl Refusal {
    pub(crate) fn read(
        status: StatusCode,
        headers: &HeaderMap,
        body: Bytes,
        credential: Option<&Secret>,
    ) -> Self {
        let message = message(&body, credential);
        let exhausted = text(headers, "x-ratelimit-remaining") == Some("0");
        let limited = match status {
            StatusCode::TOO_MANY_REQUESTS => true,
            // GitHub says "forbidden" for both of its limits; these three signs tell them from a real one.
            StatusCode::FORBIDDEN => {
                exhausted || headers.contains_key("retry-after") || says(message.as_deref(), "rate limit")
            }
            _ => false,
        };
        let wait =
            retry_after(headers).or_else(|| if exhausted && limited { until_reset(headers) } else { None });
        Self { status, message, limited, wait, body: Body(body) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "answered {}", self.status.as_u16())?;
        match (&self.message, self.status.canonical_reason()) {
            (Some(message), _) => write!(f, " ({message})"),
            (None, Some(reason)) => write!(f, " ({reason})"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} bytes]", self.0.len())
    }
}

fn message(body: &[u8], credential: Option<&Secret>) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let said = body.get("message")?.as_str()?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean = Redactor::knowing(credential).clean(&line);
    Some(clean.as_str().chars().take(LONGEST_MESSAGE).collect())
        .filter(|message: &String| !message.is_empty())
}

fn says(message: Option<&str>, words: &str) -> bool {
    message.is_some_and(|message| message.to_ascii_lowercase().contains(words))
}

/// Reads `Retry-After` in both of its forms, seconds and a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = text(headers, "retry-after")?;
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(between(date(headers)?, read_date(value)?)),
    }
}

/// Returns the time until the limit is lifted, and a second more because the header has no fractions.
fn until_reset(headers: &HeaderMap) -> Option<Duration> {
    let reset = Timestamp::from_second(text(headers, "x-ratelimit-reset")?.parse().ok()?).ok()?;
    Some(between(date(headers)?, reset) + Duration::from_secs(1))
}

/// Returns what time it is for the server. Our own clock may be wrong, so only the difference counts.
fn date(headers: &HeaderMap) -> Option<Timestamp> {
    read_date(text(headers, "date")?)
}

fn read_date(value: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(value).ok()
}

fn between(now: Timestamp, then: Timestamp) -> Duration {
    Duration::try_from(then.duration_since(now)).unwrap_or_default()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    const NOON: &str = "Sat, 15 Nov 2025 12:00:00 GMT";

    fn check(
        status: u16,
        headers: &[(&'static str, &'static str)],
        message: &str,
        expect: (bool, Option<u64>),
    ) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let body = serde_json::json!({ "message": message }).to_string().into();
        let refusal = Refusal::read(StatusCode::from_u16(status).unwrap(), &headers, body, None);
        assert_eq!(
            (refusal.limited, refusal.wait.map(|wait| wait.as_secs())),
            expect,
            "{status} {headers:?}"
        );
    }

    #[test]
    fn a_limit_is_told_from_a_refusal() {
        check(403, &[], "Resource not accessible by integration", (false, None));
        check(403, &[], "You have exceeded a secondary rate limit", (true, None));
        check(403, &[("retry-after", "7")], "Forbidden", (true, Some(7)));
        check(403, &[("x-ratelimit-remaining", "0")], "Forbidden", (true, None));
        check(403, &[("x-ratelimit-remaining", "12")], "Forbidden", (false, None));
        check(429, &[], "Slow down", (true, None));
        check(404, &[("x-ratelimit-remaining", "0")], "Not Found", (false, None));
    }

    #[test]
    fn the_server_says_when_to_come_back() {
        let reset = ("x-ratelimit-reset", "1763208090");
        check(429, &[("date", NOON), ("x-ratelimit-remaining", "0"), reset], "", (true, Some(91)));
        check(429, &[("date", NOON), ("x-ratelimit-remaining", "3"), reset], "", (true, None));
        check(429, &[("x-ratelimit-remaining", "0"), reset], "", (true, None));
        check(
            503,
            &[("retry-after", "Sat, 15 Nov 2025 12:00:20 GMT"), ("date", NOON)],
            "",
            (false, Some(20)),
        );
        check(503, &[("retry-after", "Sat, 15 Nov 2025 11:00:00 GMT"), ("date", NOON)], "", (false, Some(0)));
        check(503, &[("retry-after", "soon"), ("date", NOON)], "", (false, None));
    }

    #[test]
    fn a_message_is_one_short_line_without_our_credential() {
        let token = Secret::new("hunter2hunter2");
        let said =
            serde_json::json!({ "message": format!("no\n\n  entry for hunter2hunter2 {}", "x".repeat(300)) });
        let message = message(said.to_string().as_bytes(), Some(&token)).unwrap();
        assert_eq!((message.starts_with("no entry for [redacted] xxx"), message.len()), (true, 200));
    }
}
