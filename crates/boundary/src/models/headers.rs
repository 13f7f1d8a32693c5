//! What a request may say besides its body: by a list, and by value where a value opens something.

use fro_core::Secret;
use hyper::HeaderMap;

/// What may be said under a name.
enum Rule {
    /// Whatever names who asks.
    Name,
    /// Some of these words.
    Words(&'static [&'static str]),
}

/// What is not here could be a credential, change where a request goes, or open what the provider is still trying out.
const PASSED: [(&str, Rule); 13] = [
    ("accept", Rule::Words(&["*/*", "application/json", "text/event-stream"])),
    (
        "anthropic-beta",
        Rule::Words(&[
            "claude-code-20250219",
            "effort-2025-11-24",
            "fine-grained-tool-streaming-2025-05-14",
            "interleaved-thinking-2025-05-14",
            "pdfs-2024-09-25",
            "structured-outputs-2025-11-13",
        ]),
    ),
    ("anthropic-version", Rule::Words(&["2023-06-01"])),
    ("copilot-integration-id", Rule::Name),
    ("editor-version", Rule::Name),
    ("openai-intent", Rule::Words(&["conversation-edits", "conversation-panel"])),
    ("originator", Rule::Name),
    ("session-id", Rule::Name),
    ("user-agent", Rule::Name),
    ("x-initiator", Rule::Words(&["agent", "user"])),
    ("x-session-affinity", Rule::Name),
    ("x-session-id", Rule::Name),
    ("x-title", Rule::Words(&["opencode"])),
];

/// Longer than any name.
const LONGEST: usize = 200;

/// Returns the headers that are passed on, but for those that the operator sets.
pub(super) fn passed<'a>(
    said: &'a HeaderMap,
    operator: &'a [(String, Secret)],
) -> impl Iterator<Item = (&'static str, String)> + 'a {
    let is_set = |name: &str| operator.iter().any(|(set, _)| set.eq_ignore_ascii_case(name));
    PASSED.iter().filter(move |(name, _)| !is_set(name)).filter_map(|(name, rule)| {
        let value = said.get(*name)?.to_str().ok()?;
        let value = match rule {
            Rule::Name => value.get(..LONGEST).unwrap_or(value).to_owned(),
            Rule::Words(words) => {
                let given = value.split(',').map(str::trim).filter(|word| words.contains(word));
                given.collect::<Vec<_>>().join(",")
            }
        };
        (!value.is_empty()).then_some((*name, value))
    })
}
