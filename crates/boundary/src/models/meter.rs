//! Counts what the models' answers took, from what the answers themselves say, and knows when it is enough.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

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

    fn of(self, tokens: &Tokens) -> f64 {
        let million =
            |count: u64, price: f64| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) * price / 1e6;
        million(tokens.input, self.input)
            + million(tokens.output, self.output)
            + million(tokens.cache_read, self.cache_read)
            + million(tokens.cache_write, self.cache_write)
    }
}

/// The account of one run.
#[derive(Debug)]
pub(super) struct Meter {
    spent: Mutex<Spent>,
    limit: Option<f64>,
}

impl Meter {
    pub(super) fn new(limit: Option<f64>) -> Self {
        Self { spent: Mutex::default(), limit }
    }

    pub(super) fn spent(&self) -> Spent {
        *self.account()
    }

    /// Returns the limit if it is reached.
    pub(super) fn reached(&self) -> Option<f64> {
        self.limit.filter(|limit| self.account().cost >= *limit)
    }

    pub(super) fn refused(&self) {
        self.account().refused += 1;
    }

    fn charge(&self, tokens: &Tokens, price: Option<Price>) {
        let mut account = self.account();
        account.calls += 1;
        account.input += tokens.input + tokens.cache_read + tokens.cache_write;
        account.output += tokens.output;
        account.cost += tokens.cost.unwrap_or_else(|| price.map_or(0.0, |price| price.of(tokens)));
    }

    fn account(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Listens to one answer as it passes, and charges it when it is over, however it ends.
pub(super) struct Listening {
    meter: Arc<Meter>,
    price: Option<Price>,
    tokens: Tokens,
    told: bool,
    /// What of the last line is here.
    line: Vec<u8>,
    request: usize,
    answer: usize,
}

/// A longer line is no report of what was used.
const LONGEST_LINE: usize = 1 << 20;

impl Listening {
    /// Begins with a request of so many bytes.
    pub(super) fn new(meter: &Arc<Meter>, price: Option<Price>, request: usize) -> Self {
        let meter = Arc::clone(meter);
        Self { meter, price, tokens: Tokens::default(), told: false, line: Vec::new(), request, answer: 0 }
    }

    pub(super) fn hear(&mut self, piece: &[u8]) {
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

    /// Reads a line: an event of a stream, or all of an answer that is none.
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
        if !self.told {
            // Whoever keeps the answer from telling is charged by its size.
            let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
            self.tokens.input = tokens(self.request);
            self.tokens.output = tokens(self.answer);
        }
        self.meter.charge(&self.tokens, self.price);
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

    #[track_caller]
    fn check(pieces: &[&str], expected: (u64, u64)) {
        let price = Price::read(&json!({"input": 1, "output": 10, "cache_read": 0.1}));
        let meter = Arc::new(Meter::new(None));
        let mut listening = Listening::new(&meter, price, 400);
        for piece in pieces {
            listening.hear(piece.as_bytes());
        }
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
    fn the_limit_is_reached_by_what_answers_cost() {
        let meter = Arc::new(Meter::new(Some(0.001)));
        let price = Price::read(&json!({"input": 1, "output": 10}));
        let answer = |usage: &str| Listening::new(&meter, price, 4).hear(usage.as_bytes());
        answer(r#"{"usage":{"prompt_tokens":100,"completion_tokens":10}}"#);
        let before = meter.reached();
        answer(r#"{"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.01}}"#);
        assert_eq!((before, meter.reached()), (None, Some(0.001)));
        assert!((meter.spent().cost - 0.0102).abs() < 1e-9, "{:?}", meter.spent());
    }
}
