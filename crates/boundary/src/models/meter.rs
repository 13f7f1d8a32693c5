//! Counts what the models' answers took, from what the answers themselves say, and knows when it is enough.
//!
//! What a call could cost at most is put aside before it is sent, and what it did cost is counted when it is over. Calls
//! that would pass the limit together wait for each other; one alone may begin as long as something is left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Notify;

use crate::models::request::Admitted;

/// The longest answer of a request that does not say how long it may be.
const USUAL_ANSWER: u64 = 32_000;

/// What a picture counts as: more than any provider takes for an ordinary one.
const PICTURE: u64 = 3_000;

/// What was asked of the models so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Requests that were passed on.
    pub calls: u32,
    /// Requests that were refused by the proxy.
    pub refused: u32,
    /// Tokens read, those from a cache included.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// US dollars, as far as prices are known.
    pub cost: f64,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Price {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl Price {
    /// Reads a model's `cost` as the engine's configuration has it.
    pub(super) fn read(cost: &Value) -> Option<Self> {
        let dollars = |name: &str| cost.get(name).and_then(Value::as_f64);
        let input = dollars("input")?;
        let cached = |name: &str| dollars(name).unwrap_or(input);
        let (cache_read, cache_write) = (cached("cache_read"), cached("cache_write"));
        Some(Self { input, output: dollars("output")?, cache_read, cache_write })
    }

    fn charge(self, tokens: &Tokens) -> f64 {
        million(tokens.input, self.input)
            + million(tokens.output, self.output)
            + million(tokens.cache_read, self.cache_read)
            + million(tokens.cache_write, self.cache_write)
    }

    /// Returns what it costs at most to read so many tokens. Who keeps them for an hour pays twice.
    fn dearest(self, tokens: u64) -> f64 {
        million(tokens, self.cache_write.max(2.0 * self.input))
    }
}

fn million(tokens: u64, price: f64) -> f64 {
    f64::from(u32::try_from(tokens).unwrap_or(u32::MAX)) * price / 1e6
}

/// The account of one run.
#[derive(Debug)]
pub(super) struct Meter {
    account: Mutex<Account>,
    limit: Option<f64>,
    /// Told whenever a call is over.
    settled: Notify,
}

#[derive(Debug, Default)]
struct Account {
    spent: Spent,
    /// US dollars that open calls could take.
    reserved: f64,
    /// Calls that are not over.
    open: u32,
}

/// What a call may take, as far as its request tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    input: u64,
    most_input: u64,
    most_output: u64,
    price: Option<Price>,
}

impl Estimate {
    pub(super) fn from_request(admitted: &Admitted<'_>) -> Self {
        let pictures = PICTURE.saturating_mul(u64::try_from(admitted.sifted.pictures).unwrap_or(u64::MAX));
        let (text, price) = (admitted.sifted.text, admitted.route.prices.get(&admitted.model).copied());
        let input = tokens(text).saturating_add(pictures);
        let most_input = u64::try_from(text).unwrap_or(u64::MAX).saturating_add(pictures);
        Self { input, most_input, most_output: admitted.most_output.unwrap_or(USUAL_ANSWER), price }
    }

    /// Returns what the call could cost at most, if anybody knows: a token for each byte, read in the dearest way.
    fn worst(&self) -> Option<f64> {
        let answer = Tokens { output: self.most_output, ..Tokens::default() };
        self.price.map(|price| price.charge(&answer) + price.dearest(self.most_input))
    }

    /// Returns what an ordinary text and the longest answer cost, if anybody knows.
    fn longest(&self) -> Option<f64> {
        let longest = Tokens { input: self.input, output: self.most_output, ..Tokens::default() };
        self.price.map(|price| price.charge(&longest))
    }
}

/// Returns how many tokens an ordinary text of so many bytes has, about.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

impl Meter {
    pub(super) fn new(limit: Option<f64>) -> Self {
        Self { account: Mutex::default(), limit, settled: Notify::new() }
    }

    pub(super) fn spent(&self) -> Spent {
        self.account().spent
    }

    pub(super) fn refused(&self) {
        self.account().spent.refused += 1;
    }

    /// Waits until a call fits below the limit beside those that are open; the limit, once it is reached.
    pub(super) async fn reserve(self: &Arc<Self>, estimate: Estimate) -> Result<Reservation, f64> {
        loop {
            let settled = self.settled.notified();
            if let Some(reservation) = self.try_reserve(estimate)? {
                return Ok(reservation);
            }
            settled.await;
        }
    }

    fn try_reserve(self: &Arc<Self>, estimate: Estimate) -> Result<Option<Reservation>, f64> {
        let mut account = self.account();
        let mut worst = 0.0;
        if let Some(limit) = self.limit {
            // Without a price it could be anything, so that it goes alone.
            worst = estimate.worst().unwrap_or(limit);
            if account.spent.cost >= limit {
                return Err(limit);
            }
            if account.open > 0 && account.spent.cost + account.reserved + worst > limit {
                return Ok(None);
            }
        }
        account.reserved += worst;
        account.open += 1;
        Ok(Some(Reservation { meter: Arc::clone(self), estimate, worst, sent: true }))
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is put aside for a call.
///
/// Whoever hangs up before the answer is there pays for the longest one: the provider goes on, and nobody hears how long.
#[derive(Debug)]
pub(super) struct Reservation {
    meter: Arc<Meter>,
    estimate: Estimate,
    worst: f64,
    sent: bool,
}

impl Reservation {
    /// Gives it back: the provider was not there or refused, which costs nothing.
    pub(super) fn cancel(mut self) {
        self.sent = false;
    }

    /// Gives it back if the provider never had the request, or answered that it does not do it.
    pub(super) fn return_if_refused(self, error: &fro_http::Error) {
        if error.status().is_some() || !error.ambiguous() {
            self.cancel();
        }
    }

    fn charge(&mut self, tokens: &Tokens) {
        self.sent = false;
        let price = self.estimate.price;
        let mut account = self.meter.account();
        account.spent.calls += 1;
        account.spent.input += tokens.input + tokens.cache_read + tokens.cache_write;
        account.spent.output += tokens.output;
        account.spent.cost +=
            tokens.cost.unwrap_or_else(|| price.map_or(0.0, |price| price.charge(tokens))).max(0.0);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let unanswered = if self.sent { self.estimate.longest().unwrap_or(self.worst) } else { 0.0 };
        let mut account = self.meter.account();
        account.spent.cost += unanswered;
        account.open -= 1;
        account.reserved = if account.open == 0 { 0.0 } else { account.reserved - self.worst };
        drop(account);
        self.meter.settled.notify_waiters();
    }
}

/// Listens to one answer as it passes, and charges it when it is over, however it ends.
pub(super) struct Listening {
    reservation: Reservation,
    coming: Arrival,
    tokens: Tokens,
    told: bool,
    ended: bool,
    /// What of the last line is here.
    line: Vec<u8>,
    answer: usize,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Word by word: what was written until somebody hangs up is known.
    Streamed,
    /// In one piece: the provider may have written all of it by then.
    Whole,
}

/// A longer line is no report of what was used.
const LONGEST_LINE: usize = 1 << 20;

impl Listening {
    pub(super) fn new(reservation: Reservation, coming: Arrival) -> Self {
        let (tokens, line) = (Tokens::default(), Vec::new());
        Self { reservation, coming, tokens, told: false, ended: false, line, answer: 0 }
    }

    /// Hears a piece; an empty one is the end.
    pub(super) fn hear(&mut self, piece: &[u8]) {
        self.ended |= piece.is_empty();
        self.answer += piece.len();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() <= LONGEST_LINE {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.understand();
            }
        }
    }

    /// Reads a line: one event of a stream, or the whole body of an answer that is not streamed.
    fn understand(&mut self) {
        let line = std::mem::take(&mut self.line);
        let data = line.strip_prefix(b"data:").unwrap_or(&line);
        // Most lines say nothing about it, and need not be parsed.
        if !data.windows(5).any(|word| word.eq_ignore_ascii_case(b"usage")) {
            return;
        }
        if let Ok(value) = serde_json::from_slice::<Value>(data) {
            self.told |= self.tokens.learn(&value);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.understand();
        if !self.ended && self.coming == Arrival::Whole {
            // The reservation is charged as it is dropped.
            return;
        }
        // Whoever keeps the answer from telling is charged by its size.
        if !self.told {
            self.tokens.input = self.reservation.estimate.input;
        }
        if !self.told || !self.ended {
            self.tokens.output = self.tokens.output.max(tokens(self.answer));
        }
        self.reservation.charge(&self.tokens);
    }
}

/// What one answer says that it took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Tokens {
    /// Read, and not from a cache.
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: Option<f64>,
}

impl Tokens {
    /// Takes in a report and tells whether it was one. A later one has the last word on what it speaks of.
    fn learn(&mut self, value: &Value) -> bool {
        let places = ["/usage", "/message/usage", "/response/usage", "/usageMetadata"];
        let Some(usage) =
            places.iter().find_map(|place| value.pointer(place).filter(|usage| usage.is_object()))
        else {
            return false;
        };
        let count = |names: &[&str]| names.iter().find_map(|name| usage.pointer(name)?.as_u64());
        let cached = count(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/cachedContentTokenCount",
        ]);
        // Here the cached tokens are a part of all that were read.
        if let Some(all) = count(&["/prompt_tokens", "/promptTokenCount"]) {
            self.cache_read = cached.unwrap_or(0).min(all);
            self.input = all - self.cache_read;
        } else if let Some(input) = count(&["/input_tokens"]) {
            self.input = input.saturating_sub(cached.unwrap_or(0));
            self.cache_read =
                cached.or_else(|| count(&["/cache_read_input_tokens"])).unwrap_or(self.cache_read);
            self.cache_write = count(&["/cache_creation_input_tokens"]).unwrap_or(self.cache_write);
        }
        if let Some(output) = count(&["/completion_tokens", "/output_tokens", "/candidatesTokenCount"]) {
            self.output = output + count(&["/thoughtsTokenCount"]).unwrap_or(0);
        }
        self.cost = usage.get("cost").and_then(Value::as_f64).or(self.cost);
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reserved(meter: &Arc<Meter>, price: Option<Price>) -> Reservation {
        meter.try_reserve(Estimate { input: 100, most_input: 100, most_output: 50, price }).unwrap().unwrap()
    }

    #[track_caller]
    fn check(pieces: &[&str], expected: (u64, u64)) {
        let price = Price::read(&json!({"input": 1, "output": 10, "cache_read": 0.1}));
        let meter = Arc::new(Meter::new(None));
        let mut listening = Listening::new(reserved(&meter, price), Arrival::Streamed);
        for piece in pieces {
            listening.hear(piece.as_bytes());
        }
        listening.hear(b"");
        drop(listening);
        let spent = meter.spent();
        assert_eq!((spent.input, spent.output), expected, "{spent:?}");
    }

    #[test]
    fn every_dialect_is_understood() {
        let chat = r#"{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}}"#;
        check(&["data: {}\n\ndata: ", chat, "\n\ndata: [DONE]\n\n"], (100, 7));
        check(&[chat], (100, 7));
        check(
            &[
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":50,\"cache_read_input_tokens\":20,\"output_tokens\":1}}}\n\n",
                "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n",
            ],
            (70, 9),
        );
        check(
            &[
                "data: {\"response\":{\"usage\":{\"input_tokens\":30,\"output_tokens\":5,\"input_tokens_details\":{\"cached_tokens\":10}}}}\n",
            ],
            (30, 5),
        );
        check(
            &[
                "data: {\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3}}\n",
            ],
            (8, 5),
        );
    }

    #[test]
    fn an_answer_that_does_not_tell_is_charged_by_its_size() {
        check(&["x".repeat(40).as_str()], (100, 10));
        check(&["data: {\"usage\":null}\n"], (100, 6));
    }

    #[test]
    fn an_answer_that_is_broken_off_is_charged_by_its_size() {
        let meter = Arc::new(Meter::new(None));
        let begun = r#"data: {"message":{"usage":{"input_tokens":5,"output_tokens":1}}}"#;
        Listening::new(reserved(&meter, None), Arrival::Streamed).hear(format!("{begun}\n").as_bytes());
        assert_eq!((meter.spent().input, meter.spent().output), (5, 17));
    }

    #[test]
    fn the_limit_is_reached_by_what_answers_cost() {
        let meter = Arc::new(Meter::new(Some(0.001)));
        let price = Price::read(&json!({"input": 1, "output": 10}));
        let answer = |usage: &str| {
            let mut listening = Listening::new(reserved(&meter, price), Arrival::Whole);
            listening.hear(usage.as_bytes());
            listening.hear(b"");
        };
        answer(r#"{"usage":{"prompt_tokens":100,"completion_tokens":10}}"#);
        answer(r#"{"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.01}}"#);
        let estimate = Estimate { input: 0, most_input: 0, most_output: 0, price };
        assert!((meter.try_reserve(estimate).unwrap_err() - 0.001).abs() < 1e-9);
        assert!((meter.spent().cost - 0.0102).abs() < 1e-9, "{:?}", meter.spent());
    }

    #[test]
    fn what_could_pass_the_limit_together_waits() {
        let meter = Arc::new(Meter::new(Some(1.0)));
        let price = Price::read(&json!({"input": 0, "output": 1}));
        let ask = |most_output| {
            meter.try_reserve(Estimate { input: 0, most_input: 0, most_output, price }).unwrap()
        };
        let first = ask(600_000).expect("it fits");
        assert!(ask(600_000).is_none());
        let small = ask(300_000).expect("it fits beside the first");
        first.cancel();
        assert!(ask(800_000).is_none());
        small.cancel();
        assert!(ask(5_000_000).is_some(), "alone it may begin");
    }
}
