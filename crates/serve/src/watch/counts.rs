//! What is counted, and how it is printed for a Prometheus.
//!
//! The values of labels are words of this program: nothing that people wrote can become one.

use std::{fmt, sync::atomic::AtomicU64, time::Duration};

use fro_core::conversation::outcome::Usage;
use prometheus_client::{
    encoding::text::{encode_eof, encode_registry},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

use super::Line;
use crate::store::status::Status;

/// A label with one of a few words.
type LabelPair = [(&'static str, &'static str); 1];

/// What a process counts from its start on.
#[derive(Debug)]
pub(crate) struct Counts {
    gateway: Family<LabelPair, Counter>,
    slowed: Counter,
    deeds: Family<LabelPair, Counter>,
    turns: Family<LabelPair, Counter>,
    took: Histogram,
    engines: Gauge,
    tokens: Family<LabelPair, Counter>,
    dollars: Counter<f64, AtomicU64>,
    saves: Family<LabelPair, Counter>,
    registry: Registry,
}

/// What happened to the line to Discord.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEvent {
    Began,
    Resumed,
    Lost,
    Refused,
}

/// What came of something that was to be done on Discord.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempted {
    Done,
    Later,
    Never,
}

/// Counts an engine for as long as it is held.
pub(crate) struct EngineGuard<'a>(&'a Gauge);

impl Drop for EngineGuard<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Counts {
    /// What the process counts that speaks to Discord.
    pub(super) fn of_serve() -> Self {
        let mut counts = Self::new();
        let all = &mut counts.registry;
        all.register("gateway_events", "What happened to the line to Discord", counts.gateway.clone());
        all.register("discord_slowed", "Answers 429 of Discord", counts.slowed.clone());
        all.register("deeds", "What came of what was to be done on Discord", counts.deeds.clone());
        counts
    }

    /// What a worker counts.
    pub(super) fn of_work() -> Self {
        let mut counts = Self::new();
        let all = &mut counts.registry;
        all.register("turns_ended", "Turns by how they ended", counts.turns.clone());
        let took = counts.took.clone();
        all.register_with_unit("turn_duration", "How long turns took", Unit::Seconds, took);
        all.register("engines", "Engines of this process", counts.engines.clone());
        all.register("tokens", "Tokens that went to models and came from them", counts.tokens.clone());
        all.register("cost_dollars", "What models cost, where their price is known", counts.dollars.clone());
        all.register("memory_saves", "What became of memories after turns", counts.saves.clone());
        counts
    }

    fn new() -> Self {
        Self {
            gateway: Family::default(),
            slowed: Counter::default(),
            deeds: Family::default(),
            turns: Family::default(),
            // From a second to half an hour.
            took: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            engines: Gauge::default(),
            tokens: Family::default(),
            dollars: Counter::default(),
            saves: Family::default(),
            registry: Registry::with_prefix("fro_bot"),
        }
    }

    pub(crate) fn line(&self, event: LineEvent) {
        let word = match event {
            LineEvent::Began => "began",
            LineEvent::Resumed => "resumed",
            LineEvent::Lost => "lost",
            LineEvent::Refused => "refused",
        };
        self.gateway.get_or_create(&[("event", word)]).inc();
    }

    /// Takes over how often Discord has asked for patience since the start.
    pub(crate) fn slowed(&self, times: u64) {
        self.slowed.inc_by(times.saturating_sub(self.slowed.get()));
    }

    pub(crate) fn deed(&self, attempted: Attempted) {
        let word = match attempted {
            Attempted::Done => "done",
            Attempted::Later => "later",
            Attempted::Never => "never",
        };
        self.deeds.get_or_create(&[("came", word)]).inc();
    }

    /// Counts a turn; the ending is a word of this program's.
    pub(crate) fn turn(&self, ending: &'static str, took: Duration) {
        self.turns.get_or_create(&[("ending", ending)]).inc();
        self.took.observe(took.as_secs_f64());
    }

    /// Counts an engine until what is returned is dropped.
    pub(crate) fn engine(&self) -> EngineGuard<'_> {
        self.engines.inc();
        EngineGuard(&self.engines)
    }

    pub(crate) fn spent(&self, usage: &Usage) {
        let read = usage.input + usage.cache_read + usage.cache_write;
        self.tokens.get_or_create(&[("way", "in")]).inc_by(read);
        self.tokens.get_or_create(&[("way", "out")]).inc_by(usage.output + usage.reasoning);
        self.dollars.inc_by(usage.cost.max(0.0));
    }

    pub(crate) fn saved(&self, saved: bool) {
        let word = if saved { "saved" } else { "not saved" };
        self.saves.get_or_create(&[("came", word)]).inc();
    }
}

/// Prints everything. What the database did not tell is left out, so that no old figure is taken for a new one.
pub(super) fn printed(counts: &Counts, line: Option<Line>, status: Option<&Status>) -> String {
    let mut text = String::new();
    let standing = standing(line, status);
    // A string takes everything.
    let _: fmt::Result = encode_registry(&mut text, &counts.registry)
        .and_then(|()| encode_registry(&mut text, &standing))
        .and_then(|()| encode_eof(&mut text));
    text
}

fn standing(line: Option<Line>, status: Option<&Status>) -> Registry {
    let mut all = Registry::with_prefix("fro_bot");
    let gauge = |number: i64| {
        let gauge: Gauge = Gauge::default();
        gauge.set(number);
        gauge
    };
    all.register("store_up", "Whether the database answers", gauge(status.is_some().into()));
    if let Some(line) = line {
        let connected = gauge((line == Line::Connected).into());
        all.register("gateway_up", "Whether this process hears Discord", connected);
    }
    let Some(status) = status else { return all };
    let turns = Family::<LabelPair, Gauge>::default();
    turns.get_or_create(&[("state", "waiting")]).set(status.waiting);
    turns.get_or_create(&[("state", "running")]).set(status.running);
    all.register("turns", "Turns that are not done, of all processes", turns);
    let age = status.oldest_waiting.map_or(0, |age| i64::try_from(age.as_secs()).unwrap_or(i64::MAX));
    let about = "How long the oldest turn has waited that nobody works on";
    all.register_with_unit("queue_age", about, Unit::Seconds, gauge(age));
    all.register("outbox", "What waits to be done on Discord", gauge(status.outbox));
    all.register(
        "workers",
        "Workers that gave a sign of life in the last two minutes",
        gauge(status.workers),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_processes_print_what_they_count_and_how_the_daemon_stands() {
        let serve = Counts::of_serve();
        serve.line(LineEvent::Began);
        serve.line(LineEvent::Lost);
        serve.line(LineEvent::Resumed);
        serve.slowed(2);
        serve.slowed(3);
        serve.deed(Attempted::Later);
        let work = Counts::of_work();
        work.turn("answered", Duration::from_secs(3));
        work.spent(&Usage { input: 70, cache_read: 30, output: 5, cost: 0.25, ..Usage::default() });
        work.saved(true);
        let engine = work.engine();
        drop(work.engine());
        let status = Status {
            waiting: 2,
            running: 1,
            oldest_waiting: Some(Duration::from_secs(61)),
            outbox: 4,
            workers: 1,
            ..Status::default()
        };
        insta::assert_snapshot!("serve", sorted(&printed(&serve, Some(Line::Connected), Some(&status))));
        insta::assert_snapshot!("work", sorted(&printed(&work, None, Some(&status))));
        drop(engine);
    }

    /// The samples of a family come in any order.
    fn sorted(text: &str) -> String {
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    #[test]
    fn a_database_that_does_not_answer_leaves_no_old_figures() {
        let text = printed(&Counts::of_work(), None, None);
        assert!(text.contains("fro_bot_store_up 0\n") && text.ends_with("# EOF\n"), "{text}");
        assert!(!text.contains("fro_bot_turns{") && !text.contains("fro_bot_outbox"), "{text}");
    }
}
