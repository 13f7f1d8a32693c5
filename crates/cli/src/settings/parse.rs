//! How each kind of input reads. What does not read is answered with what to write instead.

use std::{num::NonZeroU32, time::Duration};

use fro_agent::Destination;
use fro_boundary::BadHost;
use fro_core::{
    Login, Permission,
    delegation::{DelegatedWork, OutputMode},
};
use fro_http::Url;
use jiff::SignedDuration;
use serde_json::Value;

/// What to write instead.
pub(super) type Instead = &'static str;

pub(super) fn yes_or_no(text: &str) -> Result<bool, Instead> {
    text.to_ascii_lowercase().parse().map_err(|_| "write `true` or `false`")
}

/// Reads a span of time as people write it, such as `30m` or `1h 30m`; a bare number is milliseconds, as GitHub's own
/// inputs have it.
pub(super) fn span(text: &str) -> Result<Duration, Instead> {
    let bare = text.parse().map(Duration::from_millis).ok();
    let written = || text.parse::<SignedDuration>().ok().and_then(|span| span.try_into().ok());
    bare.or_else(written).ok_or("write a span of time, such as `10m`, `90s` or `600000` (milliseconds)")
}

/// Reads how long something may take; zero is as long as it likes.
pub(super) fn limit(text: &str) -> Result<Option<Duration>, Instead> {
    let limit = span(text).map(|limit| Some(limit).filter(|limit| !limit.is_zero()));
    limit.map_err(
        |_| "write a span of time, such as `30m`, `1h 30m` or `1800000` (milliseconds), or `0` for no limit",
    )
}

pub(super) fn steps(text: &str) -> Result<Option<u32>, Instead> {
    let steps = text.parse().map(|steps: NonZeroU32| Some(steps.get()));
    steps.map_err(|_| "write a whole number from 1 on, such as `40`")
}

pub(super) fn dollars(text: &str) -> Result<Option<f64>, Instead> {
    if text == "none" {
        return Ok(None);
    }
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.map(Some).ok_or("write an amount of US dollars above zero, such as `0.50`, or `none`")
}

pub(super) fn megabytes(text: &str) -> Result<u64, Instead> {
    let megabytes = text.parse::<u64>().ok().and_then(|number| number.checked_mul(1_000_000));
    megabytes.ok_or("write a whole number of megabytes, such as `500`")
}

pub(super) fn sessions(text: &str) -> Result<usize, Instead> {
    text.parse().map_err(|_| "write a whole number of sessions, such as `50`")
}

pub(super) fn days(text: &str) -> Result<SignedDuration, Instead> {
    let number = text.trim_end_matches("days").trim_end_matches('d').trim().parse::<u32>();
    let days = number.map(|days| SignedDuration::from_hours(i64::from(days) * 24));
    days.map_err(|_| "write a whole number of days, such as `30`")
}

/// Reads a list of hosts; `none` opens nothing.
pub(super) fn destinations(text: &str) -> Result<Vec<Destination>, Instead> {
    let entries = text.split([',', ' ', '\n', '\t']).filter(|entry| !matches!(*entry, "" | "none"));
    let each = entries.map(|entry| match entry {
        "npm" => Ok(Destination::NpmRegistry),
        host => host.parse().map(Destination::Host),
    });
    let all: Result<_, BadHost> = each.collect();
    all.map_err(|_| "write one host per line, such as `packages.example.org` or `10.0.0.7:4873`, or `npm`")
}

/// Reads a name as people write it, with or without `@`.
pub(super) fn login(text: &str) -> Result<Login, Instead> {
    let name = text.trim_start_matches('@');
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let bare = name.strip_suffix("[bot]").unwrap_or(name);
    let is_login = !bare.is_empty() && bare.chars().all(known);
    is_login
        .then(|| Login::new(name))
        .ok_or("write one name of letters, digits and hyphens, such as `fro-bot`")
}

pub(super) fn permission(text: &str) -> Result<Permission, Instead> {
    let permission = Permission::from_word(text).filter(|permission| *permission > Permission::None);
    permission.ok_or("write `read`, `triage`, `write`, `maintain` or `admin`")
}

pub(super) fn model(text: &str) -> Result<Option<String>, Instead> {
    match text.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Some(text.to_owned())),
        _ => Err("write provider and model, such as `anthropic/claude-sonnet-4-5`"),
    }
}

pub(super) fn delegated_work(text: &str) -> Result<DelegatedWork, Instead> {
    match text {
        "on-request" => Ok(DelegatedWork::OnRequest),
        "on-command" => Ok(DelegatedWork::OnCommand),
        "never" => Ok(DelegatedWork::Never),
        _ => Err("write `on-request`, `on-command` or `never`"),
    }
}

/// Reads the words that ask for a change: single ones, by comma or line.
pub(super) fn work_words(text: &str) -> Result<Vec<String>, Instead> {
    let words = text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(str::to_owned).collect();
    let good = |word: &String| {
        let bare = word.strip_prefix('/').unwrap_or(word);
        bare.chars().next().is_some_and(char::is_alphanumeric) && !word.contains(char::is_whitespace)
    };
    if words.iter().all(good) { Ok(words) } else { Err("write single words, such as `fix, implement, /pr`") }
}

pub(super) fn output_mode(text: &str) -> Result<OutputMode, Instead> {
    match text {
        "auto" => Ok(OutputMode::Auto),
        "branch-pr" => Ok(OutputMode::BranchPr),
        "report" => Ok(OutputMode::Report),
        "working-dir" => Err("the agent works in a clone of its own; `branch-pr` hands its changes over"),
        _ => Err("write `auto`, `branch-pr` or `report`"),
    }
}

/// Reads an address of a service; whether it may do without TLS is another question.
pub(super) fn address(text: &str) -> Result<String, Instead> {
    let scheme = Url::parse(text).ok().filter(Url::has_host).map(|url| url.scheme().to_owned());
    let is_web = matches!(scheme.as_deref(), Some("https" | "http"));
    is_web.then(|| text.to_owned()).ok_or("write an address, such as `https://s3.example.com`")
}

pub(super) fn account(text: &str) -> Result<Option<String>, Instead> {
    let is_account = text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_account.then(|| Some(text.to_owned())).ok_or("write the twelve digits of the account")
}

/// Reads a JSON object, and never quotes it: there may be keys in it.
pub(super) fn json_object(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        format!(
            "it is no JSON (line {}, column {}): names and texts stand in double quotes",
            error.line(),
            error.column()
        )
    })?;
    if value.is_object() { Ok(value) } else { Err("it is no JSON object: write it in `{ }`".to_owned()) }
}
